"""Complete tables: a value for every unknown cell, how sure it is, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from phcle.answers import CompletedCell
from phcle.arrays import Flags, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.labels import listed
from phcle.embedding.cell_reasons import CellReasons
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import FamilyValues, Reading, read_predictions
from phcle.errors import OptionError, check_choice

BLOCK = 1_000_000
"""Cells that are predicted at once: a few arrays of 8 MB."""

LIKELY = 0.5
"""Of tags, only those are listed that are more likely than this, unless a lower
confidence is asked for: most labels lack most tags."""


def completed_cells(
    embedding: LabelEmbedding,
    *,
    labels: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    contexts: Iterable[str] | None = None,
    min_confidence: float = 0.0,
    why: bool = True,
    probabilities: bool = False,
    families: Mapping[str, FamilyValues] | None = None,
) -> Iterator[CompletedCell]:
    """Predict unknown cells, label by label, in bounded memory.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    labels : iterable of str, optional
        Labels to complete; by default all.
    columns : iterable of str, optional
        Columns of the user's tables, or tags, to complete; by default all.
    contexts : iterable of str, optional
        Contexts to complete; by default all with readable columns, but no texts.
    min_confidence : float, default 0.0
        Leave out values that are less likely. Numbers have no confidence, and stay. Of
        tags, those that are more likely than not are listed, or more likely than this.
    why : bool, default True
        Whether to give reasons, which takes time.
    probabilities : bool, default False
        Whether to give those of all values of a category.
    families : mapping from str to FamilyValues, optional
        What families say, by name of the context; for many questions about one
        embedding, because it takes time to find.

    Yields
    ------
    CompletedCell
        An unknown cell.

    Examples
    --------
    >>> from phcle import DescriptiveContext, PHCLE
    >>> labels = ("cat", "dog", "wolf", "eel", "carp")
    >>> cells = {"legs": [4, 4, 4, 0, 0], "skin": ["fur", "fur", "", "wet", "wet"]}
    >>> table = DescriptiveContext.from_cells(labels, cells, "looks")
    >>> embedding = PHCLE(dim=2).fit(table).embedding_
    >>> [(cell.label, cell.column, cell.value) for cell in completed_cells(embedding)]
    [('wolf', 'skin', 'fur')]
    """
    if not 0 <= min_confidence <= 1:
        raise OptionError(f"min_confidence must be 0 to 1. Got {min_confidence!r}.")
    tables = completable(embedding, contexts)
    wanted = None if columns is None else set(listed(columns))
    titles = [field.title for table in tables for field in table.fields]
    for title in wanted or ():
        check_choice("a column", title, titles)
    chosen = embedding.labels
    if labels is not None:
        chosen = tuple(map(embedding.resolve, listed(labels)))
    position = embedding.row_of
    if families is None:
        groups = FamilyValues.groups_of(embedding)
        families = {x.name: FamilyValues(embedding, x, groups) for x in tables}
    completers = [
        _Completer(
            embedding,
            table,
            families[table.name],
            CellReasons(embedding, table) if why else None,
            np.array([wanted is None or x.title in wanted for x in table.fields]),
            min_confidence,
            probabilities,
        )
        for table in tables
    ]
    widest = max((len(table.columns) for table in tables), default=1)
    step = max(BLOCK // widest, 1)
    for start in range(0, len(chosen), step):
        part = chosen[start : start + step]
        rows = np.array([position[label] for label in part], dtype=np.int64)
        by_table = [completer.cells(part, rows) for completer in completers]
        for label_cells in zip(*by_table, strict=True):
            for cells in label_cells:
                yield from cells


def completable(
    embedding: LabelEmbedding, contexts: Iterable[str] | None = None
) -> list[PredictingContext]:
    """Find the tables whose cells can be completed.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding.
    contexts : iterable of str, optional
        Names of the tables asked for; others are left out, unknown ones refused.

    Returns
    -------
    list of PredictingContext
        The tables.
    """
    tables = [
        cast(PredictingContext, context)
        for context in embedding.contexts
        if context.can_be_completed and context.weight > 0
    ]
    if contexts is None:
        return tables
    names = listed(contexts)
    for name in names:
        check_choice("a context", name, [table.name for table in tables])
    return [table for table in tables if table.name in names]


class _Completer:
    """Completes the cells of one table."""

    def __init__(
        self,
        embedding: LabelEmbedding,
        table: PredictingContext,
        family: FamilyValues,
        reasons: CellReasons | None,
        is_wanted: Flags,
        min_confidence: float,
        probabilities: bool,
    ) -> None:
        self.embedding, self.table = embedding, table
        self.family, self.reasons = family, reasons
        self.is_wanted, self.min_confidence = is_wanted, min_confidence
        self.probabilities = probabilities

    def cells(self, labels: Sequence[str], rows: Ints) -> Iterator[list[CompletedCell]]:
        """The completed cells of each label."""
        table, fields = self.table, self.table.fields
        first = [field.at.start for field in fields]
        is_known = np.stack([~np.isnan(table.observed_row(x)[first]) for x in labels])
        vectors = self.embedding.vectors[rows]
        read = read_predictions(self.embedding, table, vectors, labels)
        chosen, confidence = _most_likely(table, read)
        is_shown = self.is_wanted & ~is_known & self._is_likely(confidence, chosen)
        family = self.family.at(rows, fields)
        if self.reasons is None:
            why = [[""] * int(own.sum()) for own in is_shown]
        else:
            why = self.reasons.words(rows, chosen, is_shown)
        shown = [np.flatnonzero(own).tolist() for own in is_shown]
        for i, label in enumerate(labels):
            yield [
                self._cell(label, i, n, read, chosen, confidence, family[n][i], text)
                for n, text in zip(shown[i], why[i], strict=True)
            ]

    def _is_likely(self, confidence: Any, chosen: Ints) -> Flags:
        """Cells that are likely enough; tags must be present."""
        with np.errstate(invalid="ignore"):
            is_likely = ~(confidence < self.min_confidence)  # numbers are NaN
        least = self.min_confidence or LIKELY
        for n, field in enumerate(self.table.fields):
            if field.kind == "tag":
                sure = confidence[:, n]
                # Without a calibration, a tag is taken for present above a half.
                is_likely[:, n] = np.where(np.isnan(sure), chosen[:, n], sure >= least)
        return np.asarray(is_likely, dtype=bool)

    def _cell(
        self,
        label: str,
        row: int,
        number: int,
        read: Reading,
        chosen: Ints,
        confidence: Any,
        family: float | bool | str | None,
        why: str,
    ) -> CompletedCell:
        field = self.table.fields[number]
        at, best = field.at.start, int(chosen[row, number])
        value: float | bool | str = bool(best)
        low = high = None
        shares = None
        if field.kind == "number":
            value = float(read.values[row, at])
            if read.low is not None and read.high is not None:
                ends = float(read.low[row, at]), float(read.high[row, at])
                low, high = (None, None) if np.isnan(ends[0]) else ends
        elif field.kind == "category":
            value = field.values[best]
            if self.probabilities and read.chance is not None:
                own = read.chance[row, field.at].tolist()
                shares = dict(zip(field.values, own, strict=True))
        elif field.kind == "tag":
            value = True
        sure = float(confidence[row, number])
        return CompletedCell(
            label,
            self.table.name,
            field.title,
            field.kind,
            value,
            None if np.isnan(sure) else sure,
            low,
            high,
            family,
            why,
            shares,
        )


def _most_likely(table: PredictingContext, read: Reading) -> tuple[Ints, Any]:
    """The most likely value of each cell, and its probability.

    The value is the position in a category, and 1 or 0 for yes and no. A tag's
    probability is that of having it; numbers have none.
    """
    shape = (len(read.values), len(table.fields))
    chosen = np.zeros(shape, dtype=np.int64)
    confidence = np.full(shape, np.nan)
    for n, field in enumerate(table.fields):
        own = read.values[:, field.at]
        chosen[:, n] = own.argmax(axis=1) if len(field.values) else own[:, 0] > LIKELY
        if read.chance is not None and field.kind != "number":
            confidence[:, n] = _confidence(field, read.chance[:, field.at])
    return chosen, confidence


def _confidence(field: Field, chance: Any) -> Any:
    """The probability of the value that is shown."""
    if field.kind == "category":
        return chance.max(axis=1)
    if field.kind == "tag":
        return chance[:, 0]
    return np.maximum(chance[:, 0], 1 - chance[:, 0])
