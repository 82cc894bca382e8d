"""One table as readers see it: known cells, what fits said of them, and families."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.contexts.gaps import Gaps
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.families import Family, family_says
from phcle.embedding.family_means import MOST_WITH_FAMILIES, FamilyMeans, Groups
from phcle.embedding.held_out import HeldOut
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.links import Links, structure
from phcle.embedding.messages import by_folds, message_features
from phcle.embedding.readers import Asked, Told

Regime = Literal["cells", "labels"]
"""Gaps of labels of which the table knows a cell, and of all other labels."""

FARTHEST = 8.0
"""No prediction of a fit is further from the mean, in standard deviations."""

WIDEST = 48
"""Most other columns that a reader is given: those that go most with the field's."""

BESIDE = 12
"""Columns that every other context is brought down to."""

MOST_OTHERS = 10
"""Most other columns whose values at linked labels, and at the label, speak."""

PARTS = 3
"""Parts of each fold of labels, which families leave out one at a time: more is left of
small ones. On mammals R² of hidden cells is .806, against .792 with whole folds."""

FEWEST_LINKED = 30
"""A column with fewer known linked labels gets no messages."""

Singles = npt.NDArray[np.float32]


class TableView:
    """A table in standard deviations from the means, with what fits said of it.

    Values of a category and truth values stay 0 or 1.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    table : DescriptiveContext
        One of its tables that is not sparse.
    held : HeldOut
        Predictions of known cells by fits that have not seen them.
    links : Links or None
        Links between labels, if a graph tells them.
    rows : array of int, optional
        Labels whose gaps are asked for. By default all are.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        table: DescriptiveContext,
        held: HeldOut,
        links: Links | None,
        rows: Ints | None = None,
    ) -> None:
        self.embedding, self.table, self.held = embedding, table, held
        self.links = links
        n, n_columns = len(embedding), len(table.columns)
        data = table.fit_matrix
        at = np.array([embedding.row_of[x] for x in table.labels], dtype=np.int64)
        values = np.full((n, n_columns), np.nan)
        values[at] = np.column_stack([data.column(i) for i in range(n_columns)])
        found = data.moments()
        self.centre = np.where(table.is_number, found.mean, 0.0)
        spread = np.where(found.deviation > 0, found.deviation, 1.0)
        self.spread = np.where(table.is_number, spread, 1.0)
        self.values = (values - self.centre) / self.spread
        self.known = ~np.isnan(values)
        self.is_described = self.known.any(axis=1)
        self.full = self._standard(embedding.vectors @ table.factor.T)
        # Labels that were added later teach nobody, but their known cells are read.
        later = np.setdiff1d(np.flatnonzero(self.is_described), held.rows)
        described = np.concatenate([held.rows, later])
        self.own_row: Ints = np.full(n, -1)
        self.own_row[described] = np.arange(len(described))
        self.without_row = self._standard(held.without_row)
        # By fold: what may be used for a cell of the fold.
        self.fills = np.stack([self._standard(each) for each in held.without_cells])
        known = self.known[described]
        self.whole_fill = np.where(known, self.values[described], self.full[described])
        self.blind = self.fills.copy()
        self.field_of = np.empty(n_columns, dtype=np.int64)
        for number, field in enumerate(table.fields):
            self.field_of[field.at] = number
        self.is_refilled = False
        self.is_asked = np.ones(n, dtype=bool)
        if rows is not None:
            self.is_asked[:] = False
            self.is_asked[rows] = True

    def _standard(self, steps: AnyFloats) -> Singles:
        """Predictions of a fit, in standard deviations or shares."""
        table = self.table
        values = np.asarray(steps, np.float64) * table.scale + table.offset
        found = (values - self.centre) / self.spread
        low = np.where(table.is_number, -FARTHEST, 0.0)
        high = np.where(table.is_number, FARTHEST, 1.0)
        return np.clip(found, low, high).astype(np.float32)

    @cached_property
    def groups(self) -> Groups:
        """Families of all labels."""
        if len(self.embedding) > MOST_WITH_FAMILIES:
            return Groups(())
        return Groups.of_contexts(self.embedding.labels, self.embedding.contexts)

    @cached_property
    def family(self) -> Family:
        """What families say, by folds of labels."""
        return self._family(slice(None), self.known)

    def _family(self, columns: slice, is_seen: Flags) -> Family:
        """What families say of some columns, by folds of labels, from some cells."""
        known = self.known[:, columns]
        share = np.nansum(self.values[:, columns], axis=0) / np.maximum(known.sum(0), 1)
        presence = np.where(self.table.is_number[columns], 0.0, share)
        around = np.where(is_seen, self.values[:, columns] - presence, np.nan)
        part = np.arange(len(self.held.rows)) % PARTS
        fold = self.held.row_fold + self.held.n_folds * part
        found = family_says(around, self.groups, self.held.rows, fold)
        return Family(
            found.shrunk + presence.astype(np.float32),
            [each + presence.astype(np.float32) for each in found.levels],
        )

    def _family_without(self, field: Field, regime: Regime, fold: int) -> Singles:
        """What families say of a field if the cells of a fold are unknown."""
        hidden = self.held.cell_fold[:, self._number(field)] == fold
        if regime == "labels":
            hidden = self.held.row_fold == fold
        is_seen = self.known[:, field.at].copy()
        is_seen[self.held.rows[hidden]] = False
        return _side_by_side(self._family(field.at, is_seen), slice(None))

    @cached_property
    def beside(self) -> Singles:
        """What the other contexts say of all labels, in a few columns each."""
        found = [_brought_down(self.embedding, x) for x in self._others()]
        if self.links is not None:
            found.append(structure(self.links, len(self.embedding), 0))
        n = len(self.embedding)
        return np.hstack([np.zeros((n, 0)), *found]).astype(np.float32)

    def prepare(self) -> None:
        """Compute what all fields share, before several threads ask for it."""
        _ = self.groups, self.family, self.beside, self._kept_messages, self._refilled

    def _others(self) -> Iterator[DescriptiveContext]:
        for context in self.embedding.contexts:
            is_other = context.name != self.table.name and context.weight > 0
            if is_other and isinstance(context, DescriptiveContext) and context.labels:
                yield context

    def known_rows(self, field: Field) -> Ints:
        """Positions, among the described labels, of known cells of a field.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        array of int
            The positions.
        """
        return np.flatnonzero(self.known[self.held.rows, field.at.start])

    def gap_rows(self, field: Field, regime: Regime) -> Ints:
        """Rows of the embedding with a gap to fill.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        array of int
            The rows.
        """
        is_gap = ~self.known[:, field.at.start]
        is_in = self.is_described if regime == "cells" else ~self.is_described
        return np.asarray(np.flatnonzero(is_gap & is_in & self.is_asked))

    def truth(self, field: Field) -> Floats:
        """The known cells of a field: (known, columns).

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        array of shape (known, columns)
            What is known.
        """
        return self.values[self.held.rows[self.known_rows(field)]][:, field.at]

    def fold(self, field: Field, regime: Regime) -> Ints:
        """Fold of each known cell of a field.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        array of int
            The folds.
        """
        at = self.known_rows(field)
        if regime == "labels":
            return np.asarray(self.held.row_fold[at], np.int64)
        return np.asarray(self.held.cell_fold[at, self._number(field)], np.int64)

    def _number(self, field: Field) -> int:
        return int(self.field_of[field.at.start])

    @cached_property
    def nearest_family(self) -> Floats:
        """The simple rule: the mean of the nearest family without the cell itself."""
        values = Gaps.of(self.values[self.held.rows], None, self.table.name)
        return FamilyMeans(values, self.groups, self.held.rows).at(self.held.rows)

    def factor(self, field: Field, regime: Regime) -> tuple[Floats, Floats]:
        """What the embedding says: of known cells, out of fold, and of gaps.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        tuple of two arrays
            Of known cells and of gaps.
        """
        at, gaps = self.known_rows(field), self.gap_rows(field, regime)
        held = self.without_row[at]
        if regime == "cells":
            held = self.blind[self.fold(field, regime), at]
        return _double(held[:, field.at]), _double(self.full[gaps][:, field.at])

    def families(self, field: Field, regime: Regime) -> tuple[Floats, Floats]:
        """What families say: of known cells, by folds, and of gaps.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        tuple of two arrays
            Of known cells and of gaps.
        """
        at, gaps = self.known_rows(field), self.gap_rows(field, regime)
        shrunk = self.family.shrunk[:, field.at]
        return _double(shrunk[self.held.rows[at]]), _double(shrunk[gaps])

    def heard(self, field: Field, regime: Regime) -> Told | None:
        """What linked labels say of a number, all together; None without links.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        Told or None
            What they say.
        """
        found = self._messages(field) if field.kind == "number" else None
        if found is None or not found.shape[1]:
            return None
        at, gaps = self.held.rows[self.known_rows(field)], self.gap_rows(field, regime)
        return Told(_double(found[at, :1]), _double(found[gaps, :1]))

    def asked(self, field: Field, regime: Regime, seed: int) -> Asked:
        """The question about a field: features and truth of known cells, and gaps.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.
        seed : int
            Seed of whatever is drawn.

        Returns
        -------
        Asked
            The question.
        """
        at, gaps = self.known_rows(field), self.gap_rows(field, regime)
        rows, truth = self.held.rows[at], self.truth(field)
        fold = self.fold(field, regime)
        if regime == "labels":
            near = self._nearest_columns(field, self.without_row[at], truth, own=True)
            known, unknown = self.without_row[at][:, near], self.full[gaps][:, near]
        else:
            blind = self._seen(fold, at)
            near = self._nearest_columns(field, blind, truth, own=False)
            whole, own = self._whole(gaps), slice(field.at.start, field.at.stop)
            known = np.hstack([blind[:, near], self.blind[fold, at][:, own]])
            unknown = np.hstack([whole[:, near], self.full[gaps][:, own]])
            if self.is_refilled:
                known = np.hstack([known, self.fills[fold, at][:, own]])
                unknown = np.hstack([unknown, whole[:, own]])
        without, said = {}, np.zeros((len(gaps), 0), np.float32)
        if self.groups.steps:
            numbers = np.unique(fold).tolist()
            found = {x: self._family_without(field, regime, x) for x in numbers}
            without = {x: each[rows] for x, each in found.items()}
            said = _side_by_side(self.family, field.at)[gaps]
            if len(numbers) == 1:  # there is no other fold to learn from
                without = {-1: _side_by_side(self.family, field.at)[rows]}
        both, families = (known, unknown), (without, said)
        return self._question(field, both, (rows, gaps), truth, fold, families, seed)

    def asked_without(self, field: Field, fold: int, seed: int) -> tuple[Asked, Ints]:
        """The question about a field as if the cells of a fold were unknown.

        Parameters
        ----------
        field : Field
            The field.
        fold : int
            The fold.
        seed : int
            Seed of whatever is drawn.

        Returns
        -------
        asked : Asked
            Known cells are all of the same fold, 0; gaps are the unknown cells of
            described labels, as the fit without the fold sees them, and then the real
            gaps as the whole fit sees them.
        rows : array of int
            Described labels of the first of these gaps.
        """
        number = self._number(field)
        known = self.known[self.held.rows]
        is_left = known & (self.held.cell_fold[:, self.field_of] != fold)
        own = slice(field.at.start, field.at.stop)
        at = np.flatnonzero(is_left[:, field.at.start])
        asked = np.flatnonzero(~is_left[:, field.at.start])
        rest = np.flatnonzero(~known[:, field.at.start])
        seen = np.where(is_left, self.values[self.held.rows], self.blind[fold])
        truth = self.values[self.held.rows[at]][:, own]
        near = self._nearest_columns(field, seen[at], truth, own=False)
        own_fold = self.held.cell_fold[at, number].astype(np.int64)
        features = np.hstack([seen[at][:, near], self.blind[own_fold, at][:, own]])
        blind = np.hstack([seen[asked][:, near], self.blind[fold, asked][:, own]])
        rows = self.held.rows[rest]
        whole = np.hstack([self.whole_fill[rest][:, near], self.full[rows][:, own]])
        gaps = np.concatenate([self.held.rows[asked], rows])
        without, said = {}, np.zeros((len(gaps), 0), np.float32)
        if self.groups.steps:
            found = self._family_without(field, "cells", fold)
            without = {-1: found[self.held.rows[at]]}
            every = _side_by_side(self.family, field.at)
            said = np.vstack([found[self.held.rows[asked]], every[rows]])
        question = self._question(
            field,
            (features, np.vstack([blind, whole])),
            (self.held.rows[at], gaps),
            truth,
            np.zeros(len(at), dtype=np.int64),
            (without, said),
            seed,
        )
        return question, asked

    def _question(
        self,
        field: Field,
        features: tuple[AnyFloats, AnyFloats],
        rows: tuple[Ints, Ints],
        truth: Floats,
        fold: Ints,
        families: tuple[dict[int, Singles], Singles],
        seed: int,
    ) -> Asked:
        """Known cells and gaps with what families and other contexts say of both."""
        parts = [self.beside]
        if field.kind == "number":
            parts.append(self._messages(field))
        both = [
            np.hstack([own_part, *(part[at] for part in parts)])
            for own_part, at in zip(features, rows, strict=True)
        ]
        # Columns without any difference tell nothing.
        varies = np.ptp(both[0], axis=0) > 0 if len(both[0]) else slice(None)
        known, unknown = (np.asarray(each[:, varies], np.float32) for each in both)
        without, said = families
        unknown = np.hstack([unknown, said])
        is_class = field.kind != "number"
        return Asked(known, truth, fold, unknown, is_class, seed, without)

    def _messages(self, field: Field) -> Singles:
        """What linked labels say of a number, by folds of labels."""
        none = np.zeros((len(self.embedding), 0), np.float32)
        if self.links is None:
            return none
        at = field.at.start
        known = self.known[:, at]
        if np.count_nonzero(known) < FEWEST_LINKED:
            return none
        if at not in self._kept_messages:
            fold = np.full(len(self.embedding), -1)
            fold[self.held.rows] = self.held.row_fold
            own = self.values[:, at]
            others = self.values[:, self._most_shared(at)]
            found = message_features(self.links, own, known, others)
            held = by_folds(self.links, own, known, fold, others)
            found[known] = held[known]
            # Labels without a link hear nothing: the mean, with a weight of zero.
            self._kept_messages[at] = np.nan_to_num(found).astype(np.float32)
        return self._kept_messages[at]

    @cached_property
    def _kept_messages(self) -> dict[int, Singles]:
        """Messages by column: both rounds of readers ask for them."""
        return {}

    def _most_shared(self, at: int) -> list[int]:
        """Other columns of numbers with most labels in common."""
        shared = (self.known[:, [at]] & self.known).sum(axis=0)
        shared[~self.table.is_number] = 0
        shared[at] = 0
        order = np.argsort(-shared, kind="stable")[:MOST_OTHERS]
        return [int(i) for i in order if shared[i] >= FEWEST_LINKED]

    def _seen(self, fold: Ints, at: Ints) -> Floats:
        """Other cells of the labels of known cells; gaps without the cell's fold."""
        known = self.known[self.held.rows[at]]
        return np.where(known, self.values[self.held.rows[at]], self.fills[fold, at])

    def _whole(self, rows: Ints) -> AnyFloats:
        """All cells of described labels, with gaps filled."""
        return np.asarray(self.whole_fill[self.own_row[rows]])

    def _nearest_columns(
        self, field: Field, features: AnyFloats, truth: Floats, *, own: bool
    ) -> Ints:
        """Columns that go most with a field's; the field's own ones come first."""
        others = np.flatnonzero(self.field_of != self._number(field))
        mine = np.arange(field.at.start, field.at.stop) if own else others[:0]
        if len(others) <= WIDEST:
            return np.concatenate([mine, others])
        X = features[:, others] - features[:, others].mean(axis=0)
        y = truth - truth.mean(axis=0)
        size = np.outer(np.sqrt((X**2).sum(0)), np.sqrt((y**2).sum(0)))
        products = np.abs(X.T @ y)
        goes = np.divide(products, size, out=np.zeros_like(size), where=size > 0)
        order = np.argsort(-goes.max(axis=1), kind="stable")[:WIDEST]
        return np.concatenate([mine, np.sort(others[order])])

    def refill(self, field: Field, fold: int, asked: Ints, said: Floats) -> None:
        """Take what a first round of forests says of some labels, blind to a fold.

        Parameters
        ----------
        field : Field
            The field.
        fold : int
            The fold.
        asked : array of int
            Positions of described labels.
        said : array of shape (gaps, columns)
            What was said.
        """
        self.fills[fold][asked, field.at] = said

    def refill_gaps(self, field: Field, said: Floats) -> None:
        """Take what a first round of forests says of the real gaps.

        Parameters
        ----------
        field : Field
            The field.
        said : array of shape (gaps, columns)
            What was said.
        """
        rest = np.flatnonzero(~self.known[self.held.rows, field.at.start])
        self._refilled[rest, field.at] = said

    @cached_property
    def _refilled(self) -> Singles:
        """The whole table as the first round of forests fills it."""
        return np.asarray(self.whole_fill, np.float32).copy()

    def end_first_round(self) -> None:
        """Use what the first round said from now on."""
        self.whole_fill, self.is_refilled = self._refilled, True

    def as_steps(self, field: Field, standard: AnyFloats) -> Floats:
        """Standard deviations as steps of the table's scale.

        Parameters
        ----------
        field : Field
            The field.
        standard : array
            Numbers in standard deviations.

        Returns
        -------
        array
            The steps.
        """
        at = field.at.start
        values = np.asarray(standard, np.float64) * self.spread[at] + self.centre[at]
        return np.asarray((values - self.table.offset[at]) / self.table.scale[at])


def _side_by_side(family: Family, columns: slice) -> Singles:
    """All that families say of some columns."""
    parts = [family.shrunk, *family.levels]
    return np.hstack([part[:, columns] for part in parts]).astype(np.float32)


def _double(values: AnyFloats) -> Floats:
    return np.asarray(values, np.float64)


def _brought_down(embedding: LabelEmbedding, context: DescriptiveContext) -> Floats:
    """The leading directions of a context's values; zero where nothing is known."""
    from sklearn.decomposition import TruncatedSVD

    rows = np.array([embedding.row_of[x] for x in context.labels], dtype=np.int64)
    stored, _ = context.fit_matrix.arrays
    if not sp.issparse(stored):
        found = (np.asarray(stored) - context.offset) / context.scale
        stored = np.nan_to_num(found, nan=0.0)
    down: Any = stored
    if stored.shape[1] > BESIDE and min(stored.shape) > BESIDE:
        down = TruncatedSVD(BESIDE, random_state=0).fit_transform(stored)
    elif sp.issparse(stored):
        down = down.toarray()
    result = np.zeros((len(embedding), down.shape[1]))
    result[rows] = down
    return result
