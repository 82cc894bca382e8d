"""Complete tables: a value for every unknown cell, how sure it is, and why."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from phcle.answers import Cell
from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.labels import listed
from phcle.embedding.columns import LIKELY, TAIL, Column, Reading, Table
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextWarning, OptionError, check_choice

BLOCK = 100_000
"""Cells that are looked up at once."""

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
    titles = [title for table in tables for title in table.fields]
    wanted = titles if columns is None else list(listed(columns))
    for title in wanted:
        check_choice("a column", title, titles)
    chosen = embedding.labels
    if labels is not None:
        chosen = tuple(map(embedding.resolve, listed(labels)))
    every = np.array([embedding.row_of[label] for label in chosen], dtype=np.int64)
    completers = [
        _Completer(table, set(wanted), min_confidence, why, probabilities)
        for table in tables
    ]
    widest = max((len(table.context.columns) for table in tables), default=1)
    step = max(BLOCK // widest, 1)
    for draw in range(max(draws, 1)):
        rng = np.random.default_rng((seed, draw)) if draws else None
        number = draw + 1 if draws else None
        for start in range(0, len(every), step):
            rows = every[start : start + step]
            by_label: list[list[Cell]] = [[] for _ in rows]
            for completer in completers:
                completer.complete(rows, by_label, rng, number)
            for cells in by_label:
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


@dataclass(eq=False)
class _Completer:
    """Completes the cells of one table."""

    table: Table
    wanted: set[str]
    min_confidence: float
    why: bool
    probabilities: bool
    holders: dict[int, Ints] = field(default_factory=dict)

    def complete(
        self,
        rows: Ints,
        found: list[list[Cell]],
        rng: np.random.Generator | None,
        draw: int | None,
    ) -> None:
        """Append the cells of each label."""
        embedding, fields = self.table.embedding, self.table.context.fields
        read = self.table.read(rows)
        if rng is not None:
            shape = (len(rows), len(fields))
            away, place = rng.standard_normal(shape), rng.random(shape)
        asked = [n for n, x in enumerate(fields) if x.title in self.wanted]
        families = self.table.family_says(rows, [fields[n] for n in asked])
        for n, family in zip(asked, families, strict=True):
            column, is_shown = self._shown(read.column(fields[n]))
            if rng is not None:
                column = _drawn(read, column, away[:, n], place[:, n])
            chance = column.chance if self.probabilities else None
            for i in np.flatnonzero(is_shown).tolist():
                row = int(rows[i])
                label = embedding.labels[row]
                cell = column.cell(
                    i,
                    label,
                    embedding.name_of(label),
                    family=family.value_of(i),
                    why=self._reason(row, n) if self.why else "",
                    draw=draw,
                )
                if chance is not None and column.field.values:
                    each = zip(column.field.values, chance[i].tolist(), strict=True)
                    cell = replace(cell, probabilities=dict(each))
                found[i].append(cell)

    def _shown(self, column: Column) -> tuple[Column, Flags]:
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

    def _reason(self, row: int, number: int) -> str:
        """The labels that speak most for a cell, and the share of each reader."""
        if self.table.context.fields[number].kind == "tag":
            names = ", ".join(map(self._name, self._nearest_with(row, number)))
            return f"like {names}" if names else ""
        stored: Any = self.table.stored
        if stored is None:
            return ""
        shares = stored.because_share[row, number].astype(float)
        like = zip(stored.because[row, number], shares, strict=True)
        named = [f"{self._name(i)} {x:.2f}" for i, x in like if x >= LEAST_SHARE]
        regime = 0 if stored.is_known[row].any() else 1
        mix = zip(stored.readers, stored.weights[regime, number], strict=True)
        order = sorted(mix, key=lambda pair: -pair[1])
        readers = [f"{x} {weight:.1f}" for x, weight in order if weight >= LEAST_SHARE]
        parts = [f"like {', '.join(named[:MOST_NAMED])}"] if named else []
        return "; ".join([*parts, ", ".join(readers)] if readers else parts)

    def _name(self, row: int) -> str:
        return self.table.embedding.name_of(self.table.embedding.labels[row])

    def _nearest_with(self, row: int, column: int) -> list[int]:
        """The most similar labels that have a tag."""
        if column not in self.holders:
            has_it = self.table.context.matrix.column(column) > 0
            rows = self.table.positions[has_it]
            self.holders[column] = rows[rows >= 0]
        holders, units = self.holders[column], self.table.embedding.unit_vectors
        order = np.argsort(-(units[holders] @ units[row]), kind="stable")
        best: list[int] = holders[order[:MOST_NAMED]].tolist()
        return best


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
