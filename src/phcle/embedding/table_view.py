"""One table as readers see it: known cells, what fits said of them, and families."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.contexts.labels import positions_of
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.family_means import MOST_WITH_FAMILIES, Families
from phcle.embedding.held_out import HeldOut
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.messages import Links, messages_by_folds, structure
from phcle.embedding.readers import WHOLE, Asked

Regime = Literal["cells", "labels"]
"""Gaps of labels of which the table knows a cell, and of all other labels."""

FARTHEST = 8.0
"""No prediction of a fit is further from the mean, in standard deviations."""

WIDEST = 48
"""Most other columns that a reader is given: those that go most with the field's."""

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
        at = positions_of(table.labels, embedding.row_of)
        values = np.full((n, n_columns), np.nan)
        values[at] = np.column_stack([data.column(i) for i in range(n_columns)])
        found = data.moments()
        self.centre = np.where(table.is_number, found.mean, 0.0)
        spread = np.where(found.deviation > 0, found.deviation, 1.0)
        self.spread = np.where(table.is_number, spread, 1.0)
        self.values = (values - self.centre) / self.spread
        self.known = ~np.isnan(values)
        # Labels that were added later teach nobody, but their known cells are read.
        self.is_described = self.known.any(axis=1)
        self.is_asked = np.isin(np.arange(n), np.arange(n) if rows is None else rows)
        full = self._standard(embedding.vectors @ table.factor.T)
        self.as_new = full.copy()
        """What fits say of labels whose rows they have not seen."""
        self.as_new[held.rows] = self._standard(held.without_row)
        self.said = np.tile(full, (held.n_folds + 1, 1, 1))
        """What fits say: blind to each fold of cells, and the whole one."""
        for said, steps in zip(self.said, held.without_cells, strict=False):
            said[held.rows] = self._standard(steps)
        self.fills = self.said.copy()
        """The same of gaps, which a first round of forests improves."""
        widths = [field.at.stop - field.at.start for field in table.fields]
        self.field_of = np.repeat(np.arange(len(widths)), widths)
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
    def families(self) -> Families | None:
        """What families say, by parts of folds; None without a hierarchy."""
        embedding, held = self.embedding, self.held
        if len(embedding) > MOST_WITH_FAMILIES or not embedding.families.steps:
            return None
        part = np.full(len(embedding), -1)
        more = np.arange(len(held.rows)) % PARTS
        part[held.rows] = held.row_fold + held.n_folds * more
        n_known = np.maximum(self.known.sum(axis=0), 1)
        share = np.nansum(self.values, axis=0) / n_known
        centre = np.where(self.table.is_number, 0.0, share)
        return Families(embedding.families, part, self.values, centre)

    @cached_property
    def places(self) -> Singles:
        """Where all labels stand in graphs: (labels, at most 100)."""
        n = len(self.embedding)
        found = np.zeros((n, 0)) if self.links is None else structure(self.links, n)
        return found.astype(np.float32)

    def prepare(self) -> None:
        """Compute what all fields share, before several threads ask for it."""
        _ = self.families, self.places

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
            The question, with what needs no reader: what the embedding says, families,
            messages, and the mean, for columns that nothing predicts.
        """
        known, held, at = self.known[:, field.at.start], self.held, field.at
        is_cell, number = regime == "cells", self.field_of[at.start]
        folds = (held.cell_fold[:, number] if is_cell else held.row_fold).astype(int)
        is_taught = known[held.rows]
        gaps = ~known & self.is_asked & (self.is_described == is_cell)
        rows = np.concatenate([held.rows[is_taught], np.flatnonzero(gaps)])
        fold = np.concatenate([folds[is_taught], np.full(gaps.sum(), WHOLE)])
        said = cells = self.said[fold, rows] if is_cell else self.as_new[rows]
        own = [said[:, at]]
        if is_cell:
            fills = self.fills[fold, rows]
            cells = np.where(self.known[rows], self.values[rows], fills)
            own.append(fills[:, at])
        truth, messages = self.values[rows[fold != WHOLE], at], self._messages(field)
        near = self._nearest_columns(number, cells[: len(truth)], truth)
        parts = [*own, cells[:, near], messages[rows], self.places[rows]]
        plain: dict[str, AnyFloats] = {"embedding": said[:, at]}
        without: dict[int, Singles] = {}
        if messages.shape[1]:
            plain["messages"] = messages[rows, :1]
        if self.families is not None:
            plain["family"] = self.families.mean(at)[rows]
            for each in np.unique(fold).tolist():
                hidden = held.rows[folds == each]
                without[each] = self.families.features(at, hidden)[rows]
        mean = truth.mean(axis=0) if len(truth) else np.zeros(truth.shape[1])
        plain["mean"] = np.broadcast_to(mean, (len(rows), len(mean)))
        features = np.hstack(parts).astype(np.float32)
        is_class = field.kind != "number"
        return Asked(rows, features, truth, fold, is_class, seed, without, plain)

    def as_if_hidden(self, field: Field, fold: int, seed: int) -> Asked:
        """Ask about a field as if the cells of a fold, of all fields, were unknown.

        Parameters
        ----------
        field : Field
            The field.
        fold : int
            The fold; with `WHOLE` no cell is hidden.
        seed : int
            Seed of whatever is drawn.

        Returns
        -------
        Asked
            The question; all known cells are of one fold.
        """
        held, at = self.held.rows, field.at
        cell_fold = self.held.cell_fold[:, self.field_of]
        is_left = self.known[held] & (cell_fold != fold)
        seen = np.where(is_left, self.values[held], self.said[fold, held])
        own_fold = np.where(is_left, cell_fold, fold)[:, at.start]
        order = np.argsort(~is_left[:, at.start], kind="stable")
        rows, folds = held[order], np.where(is_left[order, at.start], 0, WHOLE)
        truth = self.values[rows[folds == 0], at]
        number = self.field_of[at.start]
        near = self._nearest_columns(number, seen[order[: len(truth)]], truth)
        own = self.said[own_fold, held, at]
        parts = own, seen[:, near], self._messages(field)[held], self.places[held]
        features = np.hstack(parts)[order].astype(np.float32)
        return Asked(rows, features, truth, folds, field.kind != "number", seed)

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

    def _nearest_columns(self, number: int, cells: AnyFloats, truth: Floats) -> Ints:
        """Columns of other fields; of many those that go most with a field's."""
        others = np.flatnonzero(self.field_of != number)
        if len(others) <= WIDEST or not len(truth):
            return others
        X = cells[:, others] - cells[:, others].mean(axis=0)
        y = truth - truth.mean(axis=0)
        size = np.outer(np.linalg.norm(X, axis=0), np.linalg.norm(y, axis=0))
        goes = np.abs(X.T @ y) / np.where(size > 0, size, np.inf)
        order = np.argsort(-goes.max(axis=1), kind="stable")[:WIDEST]
        return np.sort(others[order])

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
