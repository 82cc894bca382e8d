"""Known cells that a fit without them finds unlikely: wrong entries, often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy.special import stdtr

from phcle.answers import SuspiciousCell
from phcle.arrays import Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.confidence import Read
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import FamilyValues
from phcle.errors import check_choice
from phcle.solver.calibration import problem_of
from phcle.solver.column_scores import read_cells
from phcle.solver.hidden_trials import Drawn, judged_tables, predict_hidden

FOLDS = 5
"""Fits that each hide another part of the known cells."""

MOST_CELLS = 50_000_000
"""Most cells of a table that are looked at, known or not: 400 MB."""

UNLIKELY, SURPRISING = 0.3, 0.5
"""A value is listed if its chance is below the first, and below the second times how
common it is. Without the second, every rare value would be listed."""

LEAST = 0.001
"""Least chance that is said: how much thinner tails are, the trials cannot tell."""

TAILS = 3.0
"""Degrees of freedom of errors of numbers: real tables have more large errors than a
normal distribution."""

END = 1.6377
"""Units of that distribution between the prediction and an end of the 80 % interval."""

USUAL = 0.78
"""Such a unit of a column as a whole, in its standard deviations."""

FAR = 2.0
"""Numbers further from the mean of their column, in standard deviations, count as if
they were this far."""


def suspicious_cells(
    embedding: LabelEmbedding,
    *,
    contexts: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[SuspiciousCell]:
    """Find known cells that the model, asked without them, finds unlikely.

    The known cells are split into five parts. Five fits each predict the part that they
    do not see, so this takes about as long as five fits.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned, in memory or loaded.
    contexts : iterable of str, optional
        Tables to look at; by default all with readable columns, but no texts.
    columns : iterable of str, optional
        Columns or tags to list; by default all.
    seed : int, default 0
        Seed of the parts.
    progress : callable, optional
        Called after each fit with its number and the number of all fits.

    Returns
    -------
    list of SuspiciousCell
        The cells: the least likely one of every label first, then further ones.

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
    device, state = problem_of(embedding)
    tables = judged_tables(device.problem, state.weights)
    names = {table.name for table in tables.values()}
    if contexts is not None:
        wanted = list(contexts)
        for name in wanted:
            check_choice("a context", name, names)
        tables = {at: x for at, x in tables.items() if x.name in wanted}
    titles = [field.title for table in tables.values() for field in table.fields]
    asked = None if columns is None else list(columns)
    for title in asked or ():
        check_choice("a column", title, titles)
    found: dict[str, HiddenPredictions] = {}
    for fold in range(FOLDS if tables else 0):
        drawn = {}
        for at, table in tables.items():
            rng = np.random.default_rng(seed)
            left, cells = table.hide_cells(
                1 / FOLDS, MOST_CELLS, rng, start=fold / FOLDS
            )
            assert cells is not None
            drawn[at] = Drawn(table, left, cells)
        for name, own in predict_hidden(device, state, drawn, seed=fold).items():
            found[name] = found[name].joined(own) if name in found else own
        progress(fold + 1, FOLDS)
    scored: list[tuple[float, SuspiciousCell]] = []
    groups = FamilyValues.groups_of(embedding)
    for learned in embedding.predicting:
        if learned.name in found and learned.calibration is not None:
            family = FamilyValues(embedding, learned, groups)
            scored += _unlikely(embedding, learned, found[learned.name], family, asked)
    return _in_order(scored)


def _in_order(scored: list[tuple[float, SuspiciousCell]]) -> list[SuspiciousCell]:
    """The most surprising cell of every label first, then the second of each.

    A wrong entry makes the other cells of its label look wrong, too.
    """
    n_before: Counter[str] = Counter()
    found = []
    for surprise, cell in sorted(scored, key=lambda x: x[0]):
        found.append((n_before[cell.label], surprise, cell))
        n_before[cell.label] += 1
    return [cell for *_, cell in sorted(found, key=lambda x: x[:2])]


def _unlikely(
    embedding: LabelEmbedding,
    table: PredictingContext,
    cells: HiddenPredictions,
    family: FamilyValues,
    asked: list[str] | None,
) -> Iterator[tuple[float, SuspiciousCell]]:
    """Unlikely cells of one table, with how surprising they are."""
    read = read_cells(table, cells)
    order = np.lexsort((cells.columns, cells.rows))
    for field in table.fields:
        if asked is not None and field.title not in asked:
            continue
        inside = (cells.columns >= field.at.start) & (cells.columns < field.at.stop)
        at = order[inside[order]]
        if len(at):
            yield from _of_field(embedding, table, field, cells, read, at, family)


def _of_field(
    embedding: LabelEmbedding,
    table: PredictingContext,
    field: Field,
    cells: HiddenPredictions,
    read: Read,
    at: Ints,
    family: FamilyValues,
) -> Iterator[tuple[float, SuspiciousCell]]:
    calibration = table.calibration
    assert calibration is not None
    width = max(len(field.values), 1)
    first = at[::width]
    low = high = None
    if field.kind == "number":
        number = read.number[at]
        spread = calibration.deviation[field.at.start]
        truth = cells.truth[at] * table.scale[field.at.start] / (spread or 1.0)
        ends = np.where(truth < number, number - read.low[at], read.high[at] - number)
        size = np.maximum(ends / END, np.finfo(float).tiny)
        far = np.abs(truth - number) / size
        chance = 2 * stdtr(TAILS, -far)
        # Densities: of the value as predicted, and in the column. A wrong number may be
        # anywhere, so one far from all others is no less suspicious.
        usual = _density(np.minimum(np.abs(truth), FAR) / USUAL)
        surprise = _density(far) / size * USUAL / usual
        values, expected, low, high = (
            _in_units(table, field, x, cells.mean[at])
            for x in (truth, number, read.low[at], read.high[at])
        )
    else:
        shares = read.chance[at].reshape(-1, width)
        usual = np.broadcast_to(calibration.presence[field.at], shares.shape)
        has_it = cells.has_it[at].reshape(-1, width)
        if width == 1 and not field.values:
            chance = np.where(has_it, shares, 1 - shares)[:, 0]
            common = np.where(has_it, usual, 1 - usual)[:, 0]
            values, expected = has_it[:, 0].tolist(), (shares[:, 0] > 0.5).tolist()
        else:
            own, best = has_it.argmax(axis=1), shares.argmax(axis=1)
            rows = np.arange(len(own))
            chance, common = shares[rows, own], usual[rows, own]
            values = [field.values[i] for i in own]
            expected = [field.values[i] for i in best]
        surprise = chance / common
    is_listed = np.flatnonzero((chance < UNLIKELY) & (surprise < SURPRISING))
    rows = cells.rows[first[is_listed]]
    said = family.at(rows, [field])[0] if len(rows) else []
    for n, i in enumerate(is_listed.tolist()):
        yield (
            float(surprise[i]),
            SuspiciousCell(
                embedding.labels[rows[n]],
                table.name,
                field.title,
                field.kind,
                values[i],
                expected[i],
                None if low is None else low[i],
                None if high is None else high[i],
                max(float(chance[i]), LEAST),
                said[n],
            ),
        )


def _density(far: Floats) -> Floats:
    """Density of errors, up to a factor."""
    return np.asarray((1 + far**2 / TAILS) ** (-(TAILS + 1) / 2))


def _in_units(
    table: PredictingContext, field: Field, steps: Floats, mean: Floats
) -> list[float]:
    """Numbers in the user's units, from deviations from the mean."""
    assert table.calibration is not None
    values = steps * table.calibration.deviation[field.at.start] + mean
    if field.title in table.data.log_columns:
        values = np.exp(values)
    return [float(x) for x in values]
