"""Complete tables: a value for every unknown cell, how sure it is, and why."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phcle.answers import Cell
from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.labels import listed
from phcle.embedding.columns import LIKELY, TAIL, Column, Reading, Table
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextWarning, OptionError, check_choice

BLOCK = 1_000_000
"""Cells that are looked up at once: a few arrays of 8 MB."""

LEAST_SHARE = 0.05
"""Labels and readers with a smaller share are not named as reasons."""

MOST_NAMED = 2
"""Labels that are named as reasons."""


def completed_cells(
    embedding: LabelEmbedding,
    *,
    labels: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    contexts: Iterable[str] | None = None,
    min_confidence: float = 0.0,
    why: bool = True,
    probabilities: bool = False,
    draws: int = 0,
    seed: int = 0,
) -> Iterator[Cell]:
    """Give the unknown cells as predicted, label by label, in bounded memory.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    labels, columns, contexts : iterables of str, optional
        As for `LabelEmbedding.complete`, as are the others.
    min_confidence : float
        Least confidence.
    why, probabilities : bool
        Whether to give reasons, probabilities, and what families say.
    draws, seed : int
        Number of draws, and their seed.

    Yields
    ------
    Cell
        The cells; with draws, all cells of the first one come first.
    """
    if not 0 <= min_confidence <= 1:
        raise OptionError(f"min_confidence must be 0 to 1. Got {min_confidence!r}.")
    if draws < 0:
        raise OptionError(f"draws must be 0 or more. Got {draws!r}.")
    tables = completable(embedding, contexts)
    wanted = None if columns is None else set(listed(columns))
    titles = [title for table in tables for title in table.fields]
    for title in wanted or ():
        check_choice("a column", title, titles)
    chosen = embedding.labels
    if labels is not None:
        chosen = tuple(map(embedding.resolve, listed(labels)))
    completers = [
        _Completer(
            table,
            [n for n, x in enumerate(table.fields) if wanted is None or x in wanted],
            min_confidence,
            _Reasons(table).of if why else lambda row, field: "",
            probabilities,
        )
        for table in tables
    ]
    widest = max((len(table.context.columns) for table in tables), default=1)
    step = max(BLOCK // widest, 1)
    every = np.array([embedding.row_of[label] for label in chosen], dtype=np.int64)
    for draw in range(max(draws, 1)):
        rng = np.random.default_rng((seed, draw)) if draws else None
        for start in range(0, len(every), step):
            rows = every[start : start + step]
            number = draw + 1 if draws else None
            by_table = [x.cells(rows, rng, number) for x in completers]
            for label_cells in zip(*by_table, strict=True):
                for cells in label_cells:
                    yield from cells


def completable(
    embedding: LabelEmbedding, contexts: Iterable[str] | None = None
) -> list[Table]:
    """Find the tables whose cells can be completed.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    contexts : iterable of str, optional
        Names of the tables to take. By default all with readable columns and a weight,
        but no texts.

    Returns
    -------
    list of Table
        The tables.
    """
    tables = [
        table
        for table in embedding.tables.values()
        if table.context.can_be_completed and table.context.weight > 0
    ]
    if contexts is None:
        return tables
    names = list(listed(contexts))
    for name in names:
        check_choice("a context", name, [table.context.name for table in tables])
    return [table for table in tables if table.context.name in names]


def warn_of_unpredicted(
    embedding: LabelEmbedding, contexts: Iterable[str] | None = None
) -> None:
    """Warn if the fit predicted no gaps: values then come from the vectors alone.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    contexts : iterable of str, optional
        Tables that are asked for; by default all.
    """
    if embedding.predictions or not completable(embedding, contexts):
        return
    warnings.warn(
        "this fit did not predict gaps, so values come from the vectors alone, without "
        "intervals and probabilities; fit again with completion='full', or join added "
        "labels to their embedding. Small tables have too few labels to learn from.",
        ContextWarning,
        stacklevel=3,
    )


@dataclass(frozen=True, eq=False)
class _Completer:
    """Completes the cells of one table."""

    table: Table
    wanted: list[int]
    min_confidence: float
    reasons: Callable[[int, int], str]
    has_probabilities: bool

    def cells(
        self, rows: Ints, rng: np.random.Generator | None, draw: int | None
    ) -> Iterator[list[Cell]]:
        """The completed cells of each label."""
        embedding, fields = self.table.embedding, self.table.context.fields
        read = self.table.read(rows)
        found = [self._listed(read.column(fields[n])) for n in self.wanted]
        columns = [column for column, _ in found]
        is_shown = np.array([x for _, x in found], dtype=bool).reshape(-1, len(rows))
        if rng is not None:
            shape = (len(rows), len(fields))
            away, place = rng.standard_normal(shape), rng.random(shape)
            columns = [
                _drawn(read, column, away[:, n], place[:, n])
                for n, column in zip(self.wanted, columns, strict=True)
            ]
        families = self.table.family_says(rows, [fields[n] for n in self.wanted])
        for i, row in enumerate(rows.tolist()):
            label = embedding.labels[row]
            whose = i, label, embedding.name_of(label)
            cells = []
            for at in np.flatnonzero(is_shown[:, i]).tolist():
                column = columns[at]
                cells.append(
                    column.cell(
                        *whose,
                        family=families[at].value_of(i),
                        why=self.reasons(row, self.wanted[at]),
                        draw=draw,
                        probabilities=self._probabilities(column, i),
                    )
                )
            yield cells

    def _listed(self, column: Column) -> tuple[Column, Flags]:
        """The column, and its gaps that are likely enough.

        Of tags, only present ones are listed, as most labels lack most tags.
        """
        sure, least = column.confidence, self.min_confidence
        if column.kind == "tag" and column.chance is not None:
            sure, least = column.chance[:, 0], least or LIKELY
            present = np.ones_like(column.value)
            column = replace(column, confidence=sure, value=present)
        elif column.kind == "tag":
            return column, ~column.is_observed & (column.value == 1)
        with np.errstate(invalid="ignore"):
            return column, ~column.is_observed & ~(sure < least)

    def _probabilities(self, column: Column, i: int) -> dict[str, float] | None:
        """The probability of each value of a category, if asked for."""
        values, chance = column.field.values, column.chance
        if not (self.has_probabilities and values) or chance is None:
            return None
        return dict(zip(values, chance[i].tolist(), strict=True))


def _drawn(read: Reading, column: Column, away: Floats, place: Floats) -> Column:
    """One value of each cell from its own distribution."""
    chance = column.chance
    if chance is None:
        return column
    if not column.is_number:
        if not column.field.values:
            return replace(column, value=(place < chance[:, 0]).astype(np.int16))
        total = np.cumsum(np.nan_to_num(chance), axis=1)
        below = (place[:, None] * total[:, -1:] >= total).sum(axis=1)
        return replace(column, value=np.minimum(below, chance.shape[1] - 1))
    first = column.field.at.start
    own = read.context.of_field(column.field)
    said = read.values[:, first]
    step, low, high = (
        own.on_fit_scale(x[:, None])[:, 0] for x in (said, column.low, column.high)
    )
    reach = np.where(away > 0, high - step, step - low)
    drawn = own.in_units((step + away * reach / TAIL)[:, None])[:, 0]
    # No drawn number leaves the range of the column's known ones and predictions.
    both = np.concatenate([read.context.matrix.column(first), said])
    both = both[~np.isnan(both)]
    ends = both.min(initial=np.inf), both.max(initial=-np.inf)
    return replace(column, value=np.clip(drawn, *ends))


class _Reasons:
    """Why a cell is predicted as it is, in words."""

    def __init__(self, table: Table) -> None:
        self.embedding, self.table = table.embedding, table
        self.found: Any = table.stored
        self.holders: dict[int, Ints] = {}

    def of(self, row: int, number: int) -> str:
        """The labels that speak most for a cell, and the share of each reader."""
        if self.table.context.fields[number].kind == "tag":
            return self._nearest_with(row, number)
        if self.found is None:
            return ""
        shares = self.found.because_share[row, number].astype(float).tolist()
        rows = self.found.because[row, number].tolist()
        named = [
            f"{self._name(i)} {share:.2f}"
            for i, share in zip(rows, shares, strict=True)
            if share >= LEAST_SHARE
        ][:MOST_NAMED]
        regime = 0 if self.found.is_known[row].any() else 1
        weights = self.found.weights[regime, number].tolist()
        pairs = zip(self.found.readers, weights, strict=True)
        order = sorted(pairs, key=lambda pair: -pair[1])
        readers = [f"{x} {weight:.1f}" for x, weight in order if weight >= LEAST_SHARE]
        parts = [f"like {', '.join(named)}"] if named else []
        return "; ".join([*parts, ", ".join(readers)] if readers else parts)

    def _name(self, row: int) -> str:
        return self.embedding.name_of(self.embedding.labels[row])

    def _nearest_with(self, row: int, column: int) -> str:
        """The most similar labels that have a tag."""
        if column not in self.holders:
            has_it = self.table.context.matrix.column(column) > 0
            rows = self.table.positions[has_it]
            self.holders[column] = rows[rows >= 0]
        units = self.embedding.unit_vectors
        holders = self.holders[column]
        cosines = units[holders] @ units[row]
        best = holders[np.argsort(-cosines, kind="stable")[:MOST_NAMED]]
        names = ", ".join(map(self._name, best.tolist()))
        return f"like {names}" if names else ""
