"""Known cells that are unlikely where they were predicted without themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from rapidfuzz.fuzz import ratio
from scipy.special import stdtr

from phcle.answers import Cell
from phcle.arrays import Floats
from phcle.contexts.encoders import Field
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.columns import TAIL, Column, Table, as_number
from phcle.embedding.complete import (
    completable,
    wanted_titles,
    warn_of_unpredicted,
)
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.predictions import Predictions

UNLIKELY, SURPRISING = 0.5, 0.6
"""A value is listed if its chance is below the first, and another value so much more
likely that the second is left. Without it, every rare value would be listed."""

RARE, NEARLY_SPELLED, MISSPELLED = 2, 75.0, 0.3
"""A category that at most so many labels have, and whose letters are this much (in %)
those of the expected one, may be a misspelling: it is so much more suspicious. The rule
was made on the hospitals of `benchmarks/tables.py --errors`."""

LEAST = 0.001
"""Least chance that is said: how thin tails are, few cells cannot tell."""

ERRORS = 0.3
"""How likely a number counts as wrong before it is looked at, beside right."""

TAILS = 3.0
"""Degrees of freedom of errors of numbers: real tables have more large errors than a
normal distribution."""

END = 1.6377
"""Units of that distribution between the prediction and an end of the 80 % interval."""

FAR = 2.0
"""Numbers further from the mean of their column, in standard deviations, count as if
they were this far."""


def suspicious_cells(
    embedding: LabelEmbedding,
    *,
    labels: Iterable[str] | None = None,
    contexts: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    k: int | None = None,
) -> list[Cell]:
    """Find known cells that are unlikely, as the fit predicted them without themselves.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding whose fit predicted gaps, in memory or loaded.
    labels : iterable of str, optional
        Labels to list; by default all.
    contexts : iterable of str, optional
        Tables to look at; by default all with readable columns, but no tags and texts.
    columns : iterable of str, optional
        Columns to list; by default all.
    k : int, optional
        How many cells to list, also of those that are more likely right. By default all
        that are more likely wrong.

    Returns
    -------
    list of Cell
        The cells, the most suspicious first. Before them stand those that were read as
        unknown, such as a word among numbers; they have no chance.

    Examples
    --------
    >>> import numpy as np
    >>> from phcle import DescriptiveContext, PHCLE, suspicious_cells
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 10))
    >>> truth += 0.3 * rng.normal(size=truth.shape)
    >>> truth[7, 3] += 9.0
    >>> labels = [f"label{i}" for i in range(100)]
    >>> table = DescriptiveContext("sizes", labels, list("abcdefghij"), truth)
    >>> found = suspicious_cells(PHCLE().fit(table).embedding_)
    >>> found[0].label, found[0].column
    ('label7', 'd')
    """
    contexts = None if contexts is None else list(contexts)
    tables = completable(embedding, contexts)
    warn_of_unpredicted(embedding, contexts)
    asked = wanted_titles(tables, columns)
    wanted = {embedding.row_of[x] for x in labels or embedding.labels}
    odd: list[Cell] = []
    scored: list[tuple[float, Cell]] = []
    for table in tables:
        odd += [x for x in _odd(table, wanted) if x.column in asked]
        for title, field in table.fields.items():
            if title in asked and isinstance(table.stored, Predictions):
                scored += _of_field(table, field, wanted, k)
    found = odd + [cell for _, cell in sorted(scored, key=lambda x: x[0])]
    return found[:k]


def _odd(table: Table, wanted: set[int]) -> Iterator[Cell]:
    """Cells that are not what their column is, and count as unknown, with a guess."""
    embedding = table.embedding
    for odd in table.context.source.odd:
        row = embedding.row_of.get(odd.label, -1)
        if row in wanted and odd.title in table.fields:
            said = table.column(odd.title, np.array([row]))
            yield said.cell(
                0,
                odd.label,
                embedding.name_of(odd.label),
                value=odd.text,
                observed=True,
                confidence=None,
                expected=said.value_of(0),
                why=odd.why,
            )


def _of_field(
    table: Table, field: Field, wanted: set[int], k: int | None
) -> Iterator[tuple[float, Cell]]:
    """The most suspicious cells of one field, with how likely they are right."""
    embedding, own = table.embedding, table.context.of_field(field)
    rows, known, said = table.known_and_predicted(field)
    if not len(rows):
        return
    chance, right = (_of_numbers if known.is_number else _of_values)(own, known, said)
    is_listed = (chance < UNLIKELY) & (right < SURPRISING) | (k is not None)
    is_listed &= np.isin(rows, list(wanted))
    order = np.argsort(right, kind="stable")
    listed = order[is_listed[order]][:k]
    (family,) = table.family_says(rows[listed], [field])
    for n, i in enumerate(listed.tolist()):
        label = embedding.labels[rows[i]]
        cell = known.cell(
            i,
            label,
            embedding.name_of(label),
            family=family.value_of(n),
            expected=said.value_of(i),
            chance=max(float(chance[i]), LEAST),
            low=as_number(said.low[i]),
            high=as_number(said.high[i]),
        )
        yield float(right[i]), cell


def _of_numbers(
    own: DescriptiveContext, known: Column, said: Column
) -> tuple[Floats, Floats]:
    """Chances of numbers as far off as the known ones, and that these are right."""
    truth, step, low, high = (
        (own.on_fit_scale(x[:, None])[:, 0] - own.offset[0]) / own.scale[0]
        for x in (known.value, said.value, said.low, said.high)
    )
    deviation = float(truth.std()) or 1.0
    reach = np.where(truth < step, step - low, high - step)
    size = np.maximum(reach / END, 1e-9 * deviation)
    far = np.abs(truth - step) / size
    # Densities: of the value as predicted, and in the column. A wrong number may be
    # anywhere, so one far from all others is no less suspicious.
    spread = deviation * TAIL / END
    usual = _density(np.minimum(np.abs(truth), FAR * deviation) / spread) / spread
    right = _density(far) / size
    return 2 * stdtr(TAILS, -far), right / (right + ERRORS * usual)


def _density(far: Floats) -> Floats:
    """Density of errors, up to a factor."""
    return np.asarray((1 + far**2 / TAILS) ** (-(TAILS + 1) / 2))


def _of_values(
    own: DescriptiveContext, known: Column, said: Column
) -> tuple[Floats, Floats]:
    """Chances of the known values, and those beside the likeliest ones."""
    (field,) = own.fields
    shares = said.shares
    chance = shares[np.arange(len(shares)), known.value]
    right = 1 - shares.max(axis=1) + chance
    if field.values:
        is_rare = np.bincount(known.value)[known.value] <= RARE
        for i in np.flatnonzero(is_rare & (known.value != said.value)).tolist():
            words = (field.values[x.value[i]] for x in (known, said))
            if ratio(*words) > NEARLY_SPELLED:
                right[i] *= MISSPELLED
    return chance, right
