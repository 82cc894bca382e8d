"""Complete tables: a value for every unknown cell, how sure it is, and why."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from phcle.answers import CompletedCell
from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.labels import listed
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import (
    TAIL,
    FamilyValues,
    Reading,
    read_predictions,
    read_stored,
)
from phcle.errors import ContextWarning, OptionError, check_choice

BLOCK = 1_000_000
"""Cells that are looked up at once: a few arrays of 8 MB."""

LIKELY = 0.5
"""Of tags, only those are listed that are more likely than this, unless a lower
confidence is asked for: most labels lack most tags."""

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
    families: Mapping[str, FamilyValues] | None = None,
    draws: int = 0,
    seed: int = 0,
) -> Iterator[CompletedCell]:
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
        Whether to give reasons and probabilities.
    families : mapping from str to FamilyValues, optional
        What families say, by table, if it is known already.
    draws, seed : int
        Number of draws, and their seed.

    Yields
    ------
    CompletedCell
        The cells; with draws, all cells of the first one come first.
    """
    if not 0 <= min_confidence <= 1:
        raise OptionError(f"min_confidence must be 0 to 1. Got {min_confidence!r}.")
    if draws < 0:
        raise OptionError(f"draws must be 0 or more. Got {draws!r}.")
    if embedding.base is not None and not embedding.is_within_base:
        # Kinds of columns, families and reasons are those of all labels.
        labels = embedding.labels if labels is None else labels
        labels = [embedding.resolve(label) for label in listed(labels)]
        embedding, families = embedding.with_base, None
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
            np.array([wanted is None or x.title in wanted for x in table.fields]),
            min_confidence,
            has_reasons=why,
            has_probabilities=probabilities,
        )
        for table in tables
    ]
    widest = max((len(table.columns) for table in tables), default=1)
    step = max(BLOCK // widest, 1)
    for draw in range(max(draws, 1)):
        rng = np.random.default_rng((seed, draw)) if draws else None
        for start in range(0, len(chosen), step):
            part = chosen[start : start + step]
            rows = np.array([position[label] for label in part], dtype=np.int64)
            by_table = [
                completer.cells(part, rows, rng, draw + 1 if draws else None)
                for completer in completers
            ]
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
        The embedding.
    contexts : iterable of str, optional
        Names of the tables to take. By default all with readable columns and a weight,
        but no texts.

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


def warn_of_unpredicted(
    embedding: LabelEmbedding, tables: Sequence[PredictingContext]
) -> None:
    """Warn if the fit predicted no gaps: values then come from the vectors alone.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    tables : sequence of PredictingContext
        Its tables.
    """
    base = embedding if embedding.base is None else embedding.base
    if not tables or base.predictions:
        return
    warnings.warn(
        "this fit did not predict gaps, so values come from the vectors alone, without "
        "intervals and probabilities; fit again with completion='full'. Small tables "
        "have too few labels to learn from.",
        ContextWarning,
        stacklevel=3,
    )


class _Completer:
    """Completes the cells of one table."""

    def __init__(
        self,
        embedding: LabelEmbedding,
        table: PredictingContext,
        family: FamilyValues,
        is_wanted: Flags,
        min_confidence: float,
        *,
        has_reasons: bool,
        has_probabilities: bool,
    ) -> None:
        self.embedding, self.table = embedding, table
        self.family, self.is_wanted = family, is_wanted
        self.min_confidence = min_confidence
        self.has_probabilities = has_probabilities
        self.reasons = _Reasons(embedding, table) if has_reasons else None

    def cells(
        self,
        labels: Sequence[str],
        rows: Ints,
        rng: np.random.Generator | None,
        draw: int | None,
    ) -> Iterator[list[CompletedCell]]:
        """The completed cells of each label."""
        table, fields = self.table, self.table.fields
        first = [field.at.start for field in fields]
        is_known = np.stack([~np.isnan(table.observed_row(x)[first]) for x in labels])
        read = read_predictions(self.embedding, table, rows)
        chosen, confidence = _most_likely(table, read)
        is_shown = self.is_wanted & ~is_known & self._is_likely(confidence, chosen)
        if rng is not None:
            read, chosen = _drawn(table, read, chosen, rng)
        family = self.family.at(rows, fields)
        shown = [np.flatnonzero(own).tolist() for own in is_shown]
        for i, label in enumerate(labels):
            yield [
                self._cell(
                    label, (i, rows[i]), n, read, chosen, confidence, family[n][i], draw
                )
                for n in shown[i]
            ]

    def _is_likely(self, confidence: Any, chosen: Ints) -> Flags:
        """Cells that are likely enough; tags must be present."""
        with np.errstate(invalid="ignore"):
            is_likely = ~(confidence < self.min_confidence)  # numbers are NaN
        least = self.min_confidence or LIKELY
        for n, field in enumerate(self.table.fields):
            if field.kind == "tag":
                sure = confidence[:, n]
                # Without predictions, a tag is taken for present above a half.
                is_likely[:, n] = np.where(np.isnan(sure), chosen[:, n], sure >= least)
        return np.asarray(is_likely, dtype=bool)

    def _cell(
        self,
        label: str,
        rows: tuple[int, int],
        number: int,
        read: Reading,
        chosen: Ints,
        confidence: Any,
        family: float | bool | str | None,
        draw: int | None,
    ) -> CompletedCell:
        field, (row, whole_row) = self.table.fields[number], rows
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
            if self.has_probabilities and read.chance is not None:
                own = read.chance[row, field.at].tolist()
                shares = dict(zip(field.values, own, strict=True))
        elif field.kind == "tag":
            value = draw is None or bool(best)
        sure = float(confidence[row, number])
        why = "" if self.reasons is None else self.reasons.of(whole_row, number)
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
            draw,
        )


def _most_likely(table: PredictingContext, read: Reading) -> tuple[Ints, Any]:
    """The most likely value of each cell, and its probability.

    A value is a position in `Field.values`, or 1 for a yes; numbers have none.
    """
    shape = (len(read.values), len(table.fields))
    chosen = np.zeros(shape, dtype=np.int64)
    confidence = np.full(shape, np.nan)
    for n, field in enumerate(table.fields):
        own = np.nan_to_num(read.values[:, field.at], nan=-1.0)
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


def _drawn(
    table: PredictingContext, read: Reading, chosen: Ints, rng: np.random.Generator
) -> tuple[Reading, Ints]:
    """One value of each cell from its own distribution."""
    values, drawn = read.values.copy(), chosen.copy()
    away = rng.standard_normal((len(values), len(table.fields)))
    place = rng.random((len(values), len(table.fields)))
    if read.chance is None or read.low is None or read.high is None:
        if read.chance is not None:  # tags
            drawn = (place < read.chance).astype(np.int64)
        return Reading(values, read.chance), drawn
    for n, field in enumerate(table.fields):
        if field.kind == "number":
            at = field.at.start
            own = table.of_field(field)
            step, low, high = (
                own.on_fit_scale(x[:, [at]])[:, 0]
                for x in (read.values, read.low, read.high)
            )
            reach = np.where(away[:, n] > 0, high - step, step - low)
            found = own.in_units((step + away[:, n] * reach / TAIL)[:, None])[:, 0]
            values[:, at] = _within(found, read.values[:, at], table, at)
            continue
        chance = np.nan_to_num(read.chance[:, field.at])
        if field.values:
            total = np.cumsum(chance, axis=1)
            below = place[:, [n]] * total[:, -1:] >= total
            drawn[:, n] = np.minimum(below.sum(axis=1), len(field.values) - 1)
        else:
            drawn[:, n] = place[:, n] < chance[:, 0]
    return Reading(values, read.chance, read.low, read.high), drawn


def _within(drawn: Floats, said: Floats, table: PredictingContext, at: int) -> Floats:
    """No drawn number leaves the range of the column's known ones and predictions."""
    both = np.concatenate([table.data.matrix.column(at), said])
    both = both[~np.isnan(both)]
    return np.clip(drawn, both.min(initial=np.inf), both.max(initial=-np.inf))


class _Reasons:
    """Why a cell is predicted as it is, in words."""

    def __init__(self, embedding: LabelEmbedding, table: PredictingContext) -> None:
        self.embedding, self.table = embedding, table
        self.found: Any = read_stored(embedding, table)
        self.holders: dict[int, Ints] = {}
        self.is_described = np.zeros(len(embedding), dtype=bool)
        for label in table.observed_labels:
            if label in embedding.row_of:
                self.is_described[embedding.row_of[label]] = True

    def of(self, row: int, number: int) -> str:
        """The labels that speak most for a cell, and the share of each reader."""
        if self.table.fields[number].kind == "tag":
            return self._nearest_with(row, number)
        if self.found is None:
            return ""
        shares = self.found.because_share[row, number].astype(float)
        rows = self.found.because[row, number]
        named = [
            f"{self.embedding.name_of(self.embedding.labels[i])} {share:.2f}"
            for i, share in zip(rows.tolist(), shares.tolist(), strict=True)
            if share >= LEAST_SHARE
        ][:MOST_NAMED]
        mix = self.found.mix
        regime = 0 if self.is_described[row] else 1
        weights = dict(
            zip(mix.names, mix.weights[regime, number].tolist(), strict=True)
        )
        order = sorted(weights, key=lambda name: -weights[name])
        readers = [f"{x} {weights[x]:.1f}" for x in order if weights[x] >= LEAST_SHARE]
        parts = [f"like {', '.join(named)}"] if named else []
        return "; ".join([*parts, ", ".join(readers)] if readers else parts)

    def _nearest_with(self, row: int, column: int) -> str:
        """The most similar labels that have a tag."""
        if column not in self.holders:
            has_it = self.table.data.matrix.column(column) > 0
            labels = [self.table.data.labels[i] for i in np.flatnonzero(has_it)]
            at = [self.embedding.row_of[x] for x in labels if x in self.embedding]
            self.holders[column] = np.array(at, dtype=np.int64)
        units = self.embedding.unit_vectors
        holders = self.holders[column]
        cosines = units[holders] @ units[row]
        best = holders[np.argsort(-cosines, kind="stable")[:MOST_NAMED]]
        names = [
            self.embedding.name_of(self.embedding.labels[i]) for i in best.tolist()
        ]
        return f"like {', '.join(names)}" if names else ""
