"""Complete tables: a value for every unknown cell, how sure it is, and why."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from phcle.answers import Cell
from phcle.arrays import Flags, Ints
from phcle.contexts.encoders import Field
from phcle.contexts.labels import listed
from phcle.embedding.columns import LIKELY, TAIL, Column, Reading, Table
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.predictions import Predictions
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
    wanted = wanted_titles(tables, columns)
    chosen = embedding.labels
    if labels is not None:
        chosen = tuple(map(embedding.resolve, listed(labels)))
    every = np.array([embedding.row_of[label] for label in chosen], dtype=np.int64)
    tellers = [
        partial(
            _completed,
            table,
            [x for x in table.context.fields if x.title in wanted],
            min_confidence=min_confidence,
            reason=_Reasons(table) if why else lambda row, field: "",
            probabilities=probabilities,
        )
        for table in tables
    ]
    widest = max((len(table.context.columns) for table in tables), default=1)
    step = max(BLOCK // widest, 1)
    for draw in range(1, draws + 1) if draws else [None]:
        rng = np.random.default_rng((seed, draw - 1)) if draw else None
        for start in range(0, len(every), step):
            rows = every[start : start + step]
            found = [x for tell in tellers for x in tell(rows, rng=rng, draw=draw)]
            yield from (cell for _, cell in sorted(found, key=itemgetter(0)))


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


def wanted_titles(tables: Iterable[Table], columns: Iterable[str] | None) -> set[str]:
    """Check which columns are asked for.

    Parameters
    ----------
    tables : iterable of Table
        The tables.
    columns : iterable of str or None
        Titles of their columns; None for all. Unknown ones are refused.

    Returns
    -------
    set of str
        The titles.
    """
    titles = [title for table in tables for title in table.fields]
    wanted = titles if columns is None else list(listed(columns))
    for title in wanted:
        check_choice("a column", title, titles)
    return set(wanted)


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


def _completed(
    table: Table,
    fields: Sequence[Field],
    rows: Ints,
    *,
    min_confidence: float,
    reason: Callable[[int, Field], str],
    probabilities: bool,
    rng: np.random.Generator | None,
    draw: int | None,
) -> Iterator[tuple[int, Cell]]:
    """The cells of one table, field by field, each with the position of its label."""
    embedding, read = table.embedding, table.read(rows)
    for field, family in zip(fields, table.family_says(rows, fields), strict=True):
        column, is_shown = _shown(read.column(field), min_confidence)
        if rng is not None:
            column = _drawn(read, column, rng)
        chance = column.chance if probabilities and field.values else None
        for i in np.flatnonzero(is_shown).tolist():
            label = embedding.labels[rows[i]]
            more: dict[str, Any] = {"family": family.value_of(i), "draw": draw}
            if chance is not None:
                each = zip(field.values, chance[i].tolist(), strict=True)
                more["probabilities"] = dict(each)
            more["why"] = reason(int(rows[i]), field)
            yield i, column.cell(i, label, embedding.name_of(label), **more)


def _shown(column: Column, least: float) -> tuple[Column, Flags]:
    """The column, and its gaps that are likely enough.

    Of tags, only present ones are listed, as most labels lack most tags.
    """
    if column.kind == "tag":
        sure, least = column.value.astype(np.float64), least or LIKELY
        if column.chance is not None:
            sure, present = column.chance[:, 0], np.ones_like(column.value)
            column = replace(column, confidence=sure, value=present)
    else:
        sure = column.confidence
    with np.errstate(invalid="ignore"):
        return column, ~column.is_observed & ~(sure < least)


class _Reasons:
    """What speaks for a cell: the labels, and the share of each reader."""

    def __init__(self, table: Table) -> None:
        self.table, self.stored = table, table.stored
        self.holders: dict[str, Ints] = {}

    def __call__(self, row: int, field: Field) -> str:
        """Say it in words."""
        stored = self.stored
        if field.kind == "tag":
            names = ", ".join(map(self._name, self._nearest_with(row, field)))
            return f"like {names}" if names else ""
        if not isinstance(stored, Predictions):
            return ""
        number = self.table.context.fields.index(field)
        shares = stored.because_share[row, number].astype(float)
        like = zip(stored.because[row, number].tolist(), shares, strict=True)
        named = [f"{self._name(i)} {x:.2f}" for i, x in like if x >= LEAST_SHARE]
        regime = 0 if stored.is_known[row].any() else 1
        mix = zip(stored.readers, stored.weights[regime, number], strict=True)
        order = sorted(mix, key=lambda pair: -pair[1])
        readers = [f"{x} {weight:.1f}" for x, weight in order if weight >= LEAST_SHARE]
        parts = [f"like {', '.join(named[:MOST_NAMED])}"] if named else []
        return "; ".join([*parts, ", ".join(readers)] if readers else parts)

    def _name(self, row: int) -> str:
        return self.table.embedding.name_of(self.table.embedding.labels[row])

    def _nearest_with(self, row: int, field: Field) -> list[int]:
        """The most similar labels that have a tag."""
        if field.title not in self.holders:
            has_it = self.table.context.matrix.column(field.at.start) > 0
            rows = self.table.positions[has_it]
            self.holders[field.title] = rows[rows >= 0]
        holders = self.holders[field.title]
        units = self.table.embedding.unit_vectors
        order = np.argsort(-(units[holders] @ units[row]), kind="stable")
        best: list[int] = holders[order[:MOST_NAMED]].tolist()
        return best


def _drawn(read: Reading, column: Column, rng: np.random.Generator) -> Column:
    """One value of each cell from its own distribution."""
    if column.chance is None:
        return column
    n = len(column.chance)
    if not column.is_number:
        total = np.cumsum(np.nan_to_num(column.shares), axis=1)
        below = (rng.random((n, 1)) * total[:, -1:] >= total).sum(axis=1)
        return replace(column, value=np.minimum(below, total.shape[1] - 1))
    at, own = column.field.at.start, read.context.of_field(column.field)
    ends = np.stack([column.low, read.values[:, at], column.high])
    low, said, high = own.on_fit_scale(ends[..., None])[..., 0]
    away = rng.standard_normal(n)
    reach = np.where(away > 0, high - said, said - low)
    drawn = own.in_units((said + away * reach / TAIL)[:, None])[:, 0]
    # No drawn number leaves the range of the column's known ones and predictions.
    both = np.concatenate([read.context.matrix.column(at), ends[1]])
    drawn = np.clip(drawn, np.fmin.reduce(both), np.fmax.reduce(both))
    return replace(column, value=drawn)
