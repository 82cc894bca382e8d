"""What fits say of cells, and of whole labels, that they have not seen.

This is the one place where cells and labels are hidden. Settings are chosen, and
contexts are weighed, by cells that are hidden once. For readers, intervals and
suspicious cells, all known cells are split into folds: a fit without a fold predicts
its cells, and other fits leave out whole rows.

Every fit starts cold: one that began with the factors of the whole fit would remember
the cells that it should not see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.labels import index_of
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.held_out import HeldOut, HeldTags
from phcle.model.fit import Solver
from phcle.model.label_solve import solve_labels
from phcle.model.problem import DeviceProblem, Weights
from phcle.model.start import first_state

SHARE = 0.1
"""Share of the known cells that is hidden once. The rest must suffice to learn from."""

MOST_CELLS = 3_000_000
"""Most cells of a table that are looked at when some are drawn: 24 MB."""

FOLDS = 4
"""Parts of the known cells, and of the labels. Each costs a short fit."""

SWEEPS = 4
"""Sweeps of such a fit: its predictions are within 0.012 of R² of a converged one."""

FEWEST_LABELS = 10
"""A table with fewer described labels is not completed: too few to learn from."""

MOST_TAGS = 3_000_000
"""Most cells of a table of tags that are predicted out of fold: 24 MB."""

LARGEST = 1e4
"""Predictions are kept in half precision, and none is further from the mean."""


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Cells of a context that a trial fit does not see.

    Attributes
    ----------
    rows : array of int
        Positions of their labels.
    columns : array of int
        Positions of their columns.
    truth : array of float
        Their scaled values; zero is the mean of the column without hidden cells.
    """

    rows: Ints
    columns: Ints
    truth: Floats

    def errors(self, W: AnyFloats, U: AnyFloats) -> Floats:
        """Compute the squared error of W Uᵀ at every hidden cell.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        array of shape (cells,)
            Squared errors.
        """
        rows, at = np.unique(self.rows, return_inverse=True)
        return np.asarray((self.truth - (W[rows] @ U.T)[at, self.columns]) ** 2)

    def skill(self, errors: AnyFloats) -> float:
        """Compute the share of the hidden cells' squares that is predicted.

        Parameters
        ----------
        errors : array of shape (cells,)
            Squared errors.

        Returns
        -------
        float
            R²: 1 is perfect, 0 is as good as the means; NaN without hidden cells.
        """
        total = float((self.truth**2).sum())
        return 1 - float(errors.sum()) / total if total else float("nan")


def hide_cells(
    table: DescriptiveContext, labels: Sequence[str], rng: np.random.Generator
) -> tuple[DescriptiveContext, HiddenCells]:
    """Hide some known cells, to see how well a fit predicts them.

    The values of a category are hidden together.

    Parameters
    ----------
    table : DescriptiveContext
        The table.
    labels : sequence of str
        Labels of the problem.
    rng : numpy.random.Generator
        Draws the cells.

    Returns
    -------
    table : DescriptiveContext
        The table without the hidden cells.
    hidden : HiddenCells
        The hidden cells.
    """
    matrix, row_of = table.matrix, index_of(labels)
    rows = np.flatnonzero(matrix.known_rows)
    n_looked = max(1, MOST_CELLS // max(len(table.columns), 1))
    if n_looked < len(rows):
        rows = np.sort(rng.choice(rows, n_looked, replace=False))
    found = table.on_fit_scale(matrix.take(rows).toarray())
    drawn = rng.random((len(rows), len(table.fields))) < SHARE
    at, columns = np.nonzero(~np.isnan(found) & drawn[:, _field_of(table)])
    places = np.array([row_of[x] for x in table.labels], dtype=np.int64)[rows[at]]
    left = table.without(places, columns)
    truth = (found[at, columns] - left.offset[columns]) / table.scale[columns]
    return left, HiddenCells(places, columns, truth)


def _field_of(table: DescriptiveContext) -> Ints:
    """The field of each column: the values of a category belong together."""
    found = np.empty(len(table.columns), dtype=np.int64)
    for number, field in enumerate(table.fields):
        found[field.at] = number
    return found


def out_of_fold(
    device: DeviceProblem,
    weights: Weights,
    *,
    seed: int,
    on_fit: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, HeldOut | HeldTags]:
    """Predict the known cells of all tables by fits that have not seen them.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    weights : mapping from str to float
        Weights of the contexts.
    seed : int
        Seed of the folds and of the starts.
    on_fit : callable, optional
        Called after each fit with its number and the number of all fits.

    Returns
    -------
    dict
        Predictions by the name of the table.
    """
    problem = device.problem
    rng = np.random.default_rng(seed)
    row_of = index_of(problem.labels)
    folds: dict[int, _Folds] = {}
    for number, context in enumerate(problem.contexts):
        n_described = np.count_nonzero(context.observed)
        is_judged = context.can_be_completed and n_described >= FEWEST_LABELS
        if not (is_judged and weights[context.name] > 0):
            continue
        table = cast(DescriptiveContext, context)
        rows = np.array([row_of[x] for x in table.labels], dtype=np.int64)
        folds[number] = _Folds(table, rows, rng)
    hides_cells = any(not each.is_tags for each in folds.values())
    whole_rows = [False] * FOLDS * hides_cells + [True] * FOLDS * bool(folds)
    for done, hides_rows in enumerate(whole_rows):
        fold = done % FOLDS
        tables = {i: each.without(fold, hides_rows) for i, each in folds.items()}
        left = {i: each for i, each in tables.items() if each is not None}
        contexts = [left.get(i, context) for i, context in enumerate(problem.contexts)]
        trial = DeviceProblem(device.backend, problem.over(problem.labels, contexts))
        start = first_state(trial, weights, seed + done)
        after = Solver(trial, tol=0.0).learn(start, max_iter=SWEEPS)
        solved = solve_labels(
            trial, after.W, after.factors, weights, tol=1e-2, settle=True
        )
        for i, each in left.items():
            folds[i].note(fold, hides_rows, each, solved.W, solved.factors[i])
        on_fit(done + 1, len(whole_rows))
    return {each.table.name: each.held() for each in folds.values()}


class _Folds:
    """Folds of one table: of its cells and labels, or of the labels of tags alone."""

    def __init__(
        self, table: DescriptiveContext, rows: Ints, rng: np.random.Generator
    ) -> None:
        self.table, self.rows = table, rows
        self.is_tags = table.value_kind == "tags"
        n, n_columns = len(rows), len(table.columns)
        if self.is_tags:
            self.row_fold = rng.integers(0, FOLDS, n).astype(np.int8)
            n_kept = max(min(n, MOST_TAGS // max(n_columns, 1)), 1)
            self.sample = np.sort(rng.choice(n, n_kept, replace=False))
            self.tags: list[HeldTags] = []
            return
        self.known = table.matrix.known_cells()
        self.cell_fold = rng.integers(0, FOLDS, (n, len(table.fields))).astype(np.int8)
        self.row_fold = rng.integers(0, FOLDS, n).astype(np.int8)
        self.cells = np.zeros((FOLDS, n, n_columns), dtype=np.float16)
        self.whole = np.zeros((n, n_columns), dtype=np.float16)

    def without(self, fold: int, hides_rows: bool) -> DescriptiveContext | None:
        """The table without the cells, or the labels, of a fold."""
        if self.is_tags:  # single tags are never hidden
            own = self.rows[self.row_fold == fold]
            return self.table.without(own) if hides_rows else None
        at, columns = self.known
        folds = self.row_fold[at]
        if not hides_rows:
            folds = self.cell_fold[at, _field_of(self.table)[columns]]
        is_in = folds == fold
        return self.table.without(self.rows[at[is_in]], columns[is_in])

    def note(
        self,
        fold: int,
        hides_rows: bool,
        left: DescriptiveContext,
        W: AnyFloats,
        U: AnyFloats,
    ) -> None:
        """Keep what the fit predicts, on the scale of the whole table."""
        own = np.arange(len(self.rows))
        if hides_rows:
            own = np.flatnonzero(self.row_fold == fold)
        if self.is_tags:
            own = self.sample[self.row_fold[self.sample] == fold]
        moved = (left.offset - self.table.offset) / self.table.scale
        found = np.clip(W[self.rows[own]] @ U.T + moved, -LARGEST, LARGEST)
        if self.is_tags:
            truth = self.table.matrix.take(own)
            at, columns = truth.known_cells()
            steps = np.asarray(found[at, columns], dtype=np.float32)
            has_it = truth.cells(at, columns) != 0
            self.tags.append(HeldTags(self.rows[own[at]], columns, has_it, steps))
        elif hides_rows:
            self.whole[own] = found
        else:
            self.cells[fold] = found

    def held(self) -> HeldOut | HeldTags:
        """What was predicted."""
        if self.is_tags:
            return HeldTags(*map(np.concatenate, zip(*self.tags, strict=True)))
        return HeldOut(self.rows, self.cell_fold, self.cells, self.row_fold, self.whole)
