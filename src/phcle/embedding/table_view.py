"""One table as readers see it: known cells, what fits said of them, and families."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.families import Families
from phcle.embedding.family_means import MOST_WITH_FAMILIES, Groups
from phcle.embedding.held_out import HeldOut
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.links import Links, structure
from phcle.embedding.messages import messages_by_folds
from phcle.embedding.readers import Asked, Predicted

Regime = Literal["cells", "labels"]
"""Gaps of labels of which the table knows a cell, and of all other labels."""

WHOLE = -1
"""In place of a fold: the fit that has seen everything."""

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
        self.as_new = self.full.copy()
        """What fits say of labels whose rows they have not seen."""
        self.as_new[held.rows] = self._standard(held.without_row)
        # Labels that were added later teach nobody, but their known cells are read.
        later = np.setdiff1d(np.flatnonzero(self.is_described), held.rows)
        described = np.concatenate([held.rows, later])
        self.place = np.full(n, -1)
        self.place[described] = np.arange(len(described))
        self.said = np.tile(self.full[described], (held.n_folds + 1, 1, 1))
        """What fits say of described labels: blind to each fold, and the whole one."""
        for said, steps in zip(self.said, held.without_cells, strict=False):
            said[: len(held.rows)] = self._standard(steps)
        self.fills = self.said.copy()
        self.field_of = np.empty(n_columns, dtype=np.int64)
        for number, field in enumerate(table.fields):
            self.field_of[field.at] = number
        self.is_asked = np.isin(np.arange(n), np.arange(n) if rows is None else rows)
        self._kept_messages: dict[int, Singles] = {}

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
        return self.embedding.families

    @cached_property
    def _families(self) -> tuple[Families, Floats, Floats, Floats]:
        """Families by parts of folds; values around shares, the shares, and pulls."""
        n_rows, row_fold = len(self.held.rows), self.held.row_fold
        part = np.full(len(self.embedding), -1)
        part[self.held.rows] = row_fold + self.held.n_folds * (
            np.arange(n_rows) % PARTS
        )
        families = Families(self.groups, part)
        n_known = np.maximum(self.known.sum(axis=0), 1)
        share = np.nansum(self.values, axis=0) / n_known
        around = np.where(self.table.is_number, 0.0, share)
        values = self.values - around
        return families, values, around, families.best_pulls(values)

    def _family_without(self, field: Field, regime: Regime, fold: int) -> Singles:
        """What families say of a field if the cells of a fold are unknown: features."""
        if not self.groups.steps:
            return np.zeros((len(self.embedding), 0), np.float32)
        families, values, _, pulls = self._families
        values = values[:, field.at].copy()
        values[self.held.rows[self._folds(field, regime) == fold]] = np.nan
        return np.concatenate(families.say(values, pulls[field.at]), axis=1)

    @cached_property
    def beside(self) -> Singles:
        """What the other contexts say of all labels, in a few columns each."""
        found = [np.zeros((len(self.embedding), 0))]
        for context in self.embedding.contexts:
            is_other = context.name != self.table.name and context.weight > 0
            if is_other and isinstance(context, DescriptiveContext) and context.labels:
                found.append(_brought_down(self.embedding, context))
        if self.links is not None:
            found.append(structure(self.links, len(self.embedding), 0))
        return np.hstack(found).astype(np.float32)

    def prepare(self) -> None:
        """Compute what all fields share, before several threads ask for it."""
        _ = self.groups, self._families, self.beside

    def known_rows(self, field: Field) -> Ints:
        """Find the labels that teach a field.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        array of int
            Rows of the embedding.
        """
        rows = self.held.rows
        return np.asarray(rows[self.known[rows, field.at.start]])

    def gap_rows(self, field: Field, regime: Regime) -> Ints:
        """Find the labels with a gap to fill.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        array of int
            Rows of the embedding.
        """
        is_gap = ~self.known[:, field.at.start]
        is_in = self.is_described if regime == "cells" else ~self.is_described
        return np.asarray(np.flatnonzero(is_gap & is_in & self.is_asked))

    def truth(self, field: Field) -> Floats:
        """Return the known cells of a field.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        array of shape (known, columns)
            What is known.
        """
        return self.values[self.known_rows(field)][:, field.at]

    def _folds(self, field: Field, regime: Regime) -> Ints:
        """The fold of each cell of a field, or of each label."""
        if regime == "labels":
            return self.held.row_fold.astype(np.int64)
        return self.held.cell_fold[:, self._number(field)].astype(np.int64)

    def _number(self, field: Field) -> int:
        return int(self.field_of[field.at.start])

    def plain(self, field: Field, regime: Regime) -> dict[str, Predicted]:
        """Say what needs no reader, of known cells out of fold, and of gaps.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        dict
            What the embedding says, families, and the mean, for columns that nothing
            predicts.
        """
        rows, gaps = self.known_rows(field), self.gap_rows(field, regime)
        held = self.as_new[rows]
        if regime == "cells":
            place = self.place[rows]
            held = self.said[self._folds(field, regime)[place], place]
        found = {"embedding": (held[:, field.at], self.full[gaps][:, field.at])}
        if self.groups.steps:
            families, values, around, pulls = self._families
            said = families.say(values[:, field.at], pulls[field.at])[0]
            said = said + around[field.at]
            found["family"] = said[rows], said[gaps]
        truth = self.truth(field)
        mean = truth.mean(axis=0) if len(truth) else np.zeros(truth.shape[1])
        found["mean"] = np.zeros_like(truth) + mean, np.tile(mean, (len(gaps), 1))
        return {
            name: Predicted(*(np.asarray(x, np.float64) for x in both))
            for name, both in found.items()
        }

    def heard(self, field: Field, regime: Regime) -> Predicted | None:
        """Say what linked labels tell of a number, all together; None without links.

        Parameters
        ----------
        field : Field
            The field.
        regime : {"cells", "labels"}
            Which labels have the gap.

        Returns
        -------
        Predicted or None
            What they say.
        """
        found = self._messages(field)[:, :1].astype(np.float64)
        if not found.shape[1]:
            return None
        return Predicted(
            found[self.known_rows(field)], found[self.gap_rows(field, regime)]
        )

    def asked(self, field: Field, regime: Regime, seed: int) -> Asked:
        """Ask about a field: features and truth of known cells, and gaps.

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
        rows, gaps = self.known_rows(field), self.gap_rows(field, regime)
        fold = self._folds(field, regime)[self.place[rows]]
        cells: list[AnyFloats]
        if regime == "labels":
            cells = [self.as_new[rows], self.full[gaps]]
            own = [each[:, field.at] for each in cells]
        else:
            cells = [self._cells(self.fills, rows, fold), self._cells(self.fills, gaps)]
            own = [self._own(field, rows, fold), self._own(field, gaps)]
        folds = [*np.unique(fold).tolist(), WHOLE]
        families = {x: self._family_without(field, regime, x) for x in folds}
        without = {x: said[rows] for x, said in families.items()}
        both, of_gaps = ((rows, gaps), cells, own), families[WHOLE][gaps]
        return self._question(field, both, (without, of_gaps), fold, seed)

    def asked_without(self, field: Field, fold: int, seed: int) -> tuple[Asked, Ints]:
        """Ask about a field as if the cells of a fold, of all fields, were unknown.

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
            The question; all known cells are of the same fold, 0.
        rows : array of int
            Rows of the labels with gaps.
        """
        held = self.held.rows
        is_left = self.known[held] & (self.held.cell_fold[:, self.field_of] != fold)
        seen = np.where(is_left, self.values[held], self.said[fold, : len(held)])
        is_known = is_left[:, field.at.start]
        rows, gaps = held[is_known], held[~is_known]
        # What other fields say in this round is not looked at before it ends.
        rest = held[~self.known[held, field.at.start]]
        cells = seen[~is_known], self._cells(self.said, rest)
        asked = np.concatenate([gaps, rest])
        folds = np.repeat([fold, WHOLE], [len(gaps), len(rest)])
        own_fold = self._folds(field, "cells")[is_known]
        blind, whole = (self._family_without(field, "cells", x) for x in (fold, WHOLE))
        both = (
            (rows, asked),
            (seen[is_known], np.vstack(cells)),
            [self._own(field, rows, own_fold), self._own(field, asked, folds)],
        )
        families = {WHOLE: blind[rows]}, np.vstack([blind[gaps], whole[rest]])
        same = np.zeros(len(rows), dtype=np.int64)
        return self._question(field, both, families, same, seed), gaps

    def _cells(self, fills: Singles, rows: Ints, fold: Ints | int = WHOLE) -> Floats:
        """The cells of labels; gaps as a fold fills them."""
        filled = fills[fold, self.place[rows]]
        return np.where(self.known[rows], self.values[rows], filled)

    def _own(self, field: Field, rows: Ints, fold: Ints | int = WHOLE) -> Singles:
        """What was said of a field's own cells, blind to a fold."""
        place, at = self.place[rows], field.at
        return np.hstack([x[fold, place][:, at] for x in (self.said, self.fills)])

    def _question(
        self,
        field: Field,
        both: tuple[Sequence[Ints], Sequence[AnyFloats], Sequence[AnyFloats]],
        families: tuple[dict[int, Singles], Singles],
        fold: Ints,
        seed: int,
    ) -> Asked:
        """Of known cells and of gaps: rows, cells, own predictions, and families."""
        (rows, _), (cells, _), _ = both
        truth, is_class = self.values[rows][:, field.at], field.kind != "number"
        near = self._nearest_columns(field, cells, truth)
        more = self._messages(field), self.beside
        known, gaps = (
            np.hstack([own, seen[:, near], *(x[at] for x in more)]).astype(np.float32)
            for at, seen, own in zip(*both, strict=True)
        )
        without, said = families
        gaps = np.hstack([gaps, said])
        return Asked(known, truth, fold, gaps, is_class, seed, without)

    def _messages(self, field: Field) -> Singles:
        """What linked labels say of a number, by folds of labels."""
        at, n = field.at.start, len(self.embedding)
        known = self.known[:, at]
        is_few = np.count_nonzero(known) < FEWEST_LINKED
        if self.links is None or field.kind != "number" or is_few:
            return np.zeros((n, 0), np.float32)
        if at not in self._kept_messages:
            fold = np.full(n, -1)
            fold[self.held.rows] = self.held.row_fold
            others = self.values[:, self._most_shared(at)]
            found = messages_by_folds(self.links, self.values[:, at], fold, others)
            # Labels without a link hear nothing: the mean, with a weight of zero.
            self._kept_messages[at] = np.nan_to_num(found).astype(np.float32)
        return self._kept_messages[at]

    def _most_shared(self, at: int) -> list[int]:
        """Other columns of numbers with most labels in common."""
        shared = (self.known[:, [at]] & self.known).sum(axis=0)
        shared[~self.table.is_number] = 0
        shared[at] = 0
        order = np.argsort(-shared, kind="stable")[:MOST_OTHERS]
        return [int(i) for i in order if shared[i] >= FEWEST_LINKED]

    def _nearest_columns(self, field: Field, cells: AnyFloats, truth: Floats) -> Ints:
        """Columns of other fields; of many those that go most with a field's."""
        others = np.flatnonzero(self.field_of != self._number(field))
        if len(others) <= WIDEST or not len(truth):
            return others
        X = cells[:, others] - cells[:, others].mean(axis=0)
        y = truth - truth.mean(axis=0)
        size = np.outer(np.linalg.norm(X, axis=0), np.linalg.norm(y, axis=0))
        goes = np.abs(X.T @ y) / np.where(size > 0, size, np.inf)
        order = np.argsort(-goes.max(axis=1), kind="stable")[:WIDEST]
        return np.sort(others[order])

    def refill(self, field: Field, said: dict[int, tuple[Ints, Floats]]) -> None:
        """Take what a first round of forests says of a field, for other fields.

        Parameters
        ----------
        field : Field
            The field.
        said : dict from int to tuple of arrays
            By fold: rows of labels with gaps, and what is said of them; then of the
            real gaps, as the whole fit sees them.
        """
        for fold, (rows, values) in said.items():
            self.fills[fold, self.place[rows], field.at] = values[: len(rows)]
        rest = self.held.rows[~self.known[self.held.rows, field.at.start]]
        if said:
            whole = [values[len(rows) :] for rows, values in said.values()]
            self.fills[WHOLE, self.place[rest], field.at] = np.mean(whole, axis=0)

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
