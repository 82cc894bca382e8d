"""Predictions of known cells that a trial fit did not see.

A trial hides whole rows of some labels, and single cells of others, in every table with
readable columns. Then it fits the rest and predicts what it hid. A small problem is
fitted from the start: factors that saw the hidden cells would remember them. In a large
one a few labels leave little trace, so the trial goes on from the end of the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.backends.protocol import Array
from phcle.contexts.base.fitted_context import FittedContext
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.confidence import support
from phcle.contexts.descriptive.hidden_cells import HiddenCells, HiddenPredictions
from phcle.contexts.family_means import MOST_WITH_FAMILIES, FamilyMeans, Groups
from phcle.contexts.labels import index_of
from phcle.contexts.masked import masked_matrix
from phcle.solver.label_solve import solve_labels
from phcle.solver.problem import DeviceProblem, Problem, State
from phcle.solver.start import start_factors
from phcle.solver.sweep import MajoriseSolver, run

ROW_SHARE, MOST_ROWS = 0.1, 200
"""Share of the described labels whose whole rows are hidden, and most of them."""

CELL_SHARE, SMALL_CELL_SHARE = 0.1, 0.05
"""Share of the other known cells that is hidden, and that of a small problem: a trial
predicts worse the more it hides, most of all where little is known."""

MOST_GAPPY, GAPPY_SHARE = 1_000, 0.2
"""Most labels that lose cells in a large problem, and the share that they lose."""

FEWEST_LABELS = 10
"""A table with fewer described labels is not judged: it has too few to learn from."""

MOST_CELLS = 3_000_000
"""Most cells of a table that are looked at when some are drawn: 24 MB."""

COLD_UP_TO, COLD_SWEEPS = 10_000, 20
"""Up to this many labels, a trial starts anew, with at most so many sweeps."""

COLD_TOL, SMALL_COLD_TOL = 3e-2, 1e-3
"""Such a trial ends when a sweep lowers the objective by less than this share: that of
a fit in a small problem, and more in others. Later sweeps would double the time of a
trial there and leave confidences as they are."""

SWEEPS = 5
"""Sweeps of a trial that goes on from the end of the fit."""

ENOUGH, ENOUGH_TAGS = 1_000, 50
"""Trials end when this many hidden cells of each table have their attribute: in labels
that are described in part, and in others. Every number counts, above its mean or not,
because intervals learn from all; not in a problem with few labels, whose cells agree
more. Otherwise, few tags are enough: they share a curve with three parameters, and the
many tags that labels do not have are hidden beside them."""

MOST_TRIALS, SMALL, MOST_SMALL_TRIALS = 2, 500, 20
"""Most trials, and most for a problem with at most so many labels, whose trials take
little time and hide few cells."""

FEW = 0.02
"""Below this share of labels with hidden cells, only they and their factors are
updated: sweeps over all labels would change the others little."""

ROUNDS = 2
"""Updates of these labels and their factors, in place of sweeps."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A table without the cells that were drawn, and these cells.

    Attributes
    ----------
    table : PredictingContext
        The whole table.
    left : PredictingContext
        The table without the cells.
    cells : HiddenCells
        The cells.
    """

    table: PredictingContext
    left: PredictingContext
    cells: HiddenCells


def judged_tables(
    problem: Problem, weights: Mapping[str, float]
) -> dict[int, PredictingContext]:
    """Find the tables whose cells can be hidden and predicted.

    Parameters
    ----------
    problem : Problem
        All contexts.
    weights : mapping from str to float
        Their weights; a table of weight 0 predicts nothing.

    Returns
    -------
    dict from int to PredictingContext
        The tables, by their position among the contexts.
    """
    return {
        number: cast(PredictingContext, context)
        for number, context in enumerate(problem.contexts)
        if context.can_be_completed
        and weights[context.name] > 0
        and np.count_nonzero(context.observed) >= FEWEST_LABELS
    }


def _draw_rows_and_cells(
    table: PredictingContext, rng: np.random.Generator, *, n_labels: int
) -> Drawn:
    """Hide whole rows of some labels, and some cells of the others.

    Parameters
    ----------
    table : PredictingContext
        The table.
    rng : numpy.random.Generator
        Draws rows and cells.
    n_labels : int
        Labels of the problem; in a large one, few of them lose cells.

    Returns
    -------
    Drawn
        What is hidden and what is left.
    """
    observed = np.flatnonzero(table.observed)
    share, most = CELL_SHARE, MOST_CELLS
    if n_labels <= SMALL:
        share = SMALL_CELL_SHARE
    elif n_labels > COLD_UP_TO:
        share, most = GAPPY_SHARE, min(most, MOST_GAPPY * len(table.columns))
    n = int(np.clip(round(ROW_SHARE * len(observed)), 1, MOST_ROWS))
    rows = np.sort(rng.choice(observed, min(n, len(observed) - 1), replace=False))
    left, cells = table.hide_cells(share, most, rng, rows=rows, like_gaps=True)
    assert cells is not None
    return Drawn(table, left, cells)


def hidden_cells(
    device: DeviceProblem,
    state: State,
    tables: Mapping[int, PredictingContext],
    *,
    seed: int,
    used: Mapping[str, sp.csr_array] | None = None,
    on_trial: Callable[[int, int], None] = lambda done, most: None,
) -> dict[str, HiddenPredictions]:
    """Hide cells in trials, until there are enough, and predict them.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors at the end of the fit.
    tables : mapping from int to PredictingContext
        What `judged_tables` returns.
    seed : int
        Seed of the choice of hidden cells.
    used : mapping from str to csr_array of shape (labels, columns), optional
        Cells to leave out.
    on_trial : callable, optional
        Called after each trial with its number and the most there may be.

    Returns
    -------
    dict
        Hidden cells by the name of their table.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, HiddenPredictions] = {}
    n_labels = len(device.problem.labels)
    is_small = n_labels <= SMALL
    most = MOST_SMALL_TRIALS if is_small else MOST_TRIALS
    for number in range(most if tables else 0):
        drawn = {
            at: _draw_rows_and_cells(table, rng, n_labels=n_labels)
            for at, table in tables.items()
        }
        for name, cells in predict_hidden(device, state, drawn, seed=number).items():
            if used and name in used and len(cells.rows):
                is_used = np.asarray(used[name][cells.rows, cells.columns]).ravel() != 0
                cells = cells.where(~is_used)
            found[name] = found[name].joined(cells) if name in found else cells
        on_trial(number + 1, most)
        if all(
            _is_enough(found[table.name], table, is_small=is_small)
            for table in tables.values()
        ):
            break
    for table in tables.values():
        if table.value_kind == "tags" and table.name in found:
            # Each tag of a table is one that some known label has.
            cells = found[table.name]
            found[table.name] = cells.where(cells.others_have_it)
    return found


def _is_enough(
    cells: HiddenPredictions, table: PredictingContext, *, is_small: bool
) -> bool:
    """Whether there are enough hidden cells of the sorts that the table leaves unknown.

    Single cells matter less where all described labels have complete rows.
    """
    counts, enough = cells.has_it, ENOUGH
    if not is_small:
        counts = counts | table.is_number[cells.columns]
        enough = ENOUGH_TAGS if table.value_kind == "tags" else ENOUGH
    n_alone = np.count_nonzero(counts & cells.is_alone)
    n_gaps = np.count_nonzero(counts & ~cells.is_alone)
    if not cells.is_alone.any():
        return bool(n_gaps >= enough)
    return bool(n_alone >= enough and (n_gaps >= enough or _is_complete(table)))


def _is_complete(table: PredictingContext) -> bool:
    """Whether the described labels have no gaps."""
    n_known = table.data.on_fit_scale().matrix.moments().count
    return bool((n_known == np.count_nonzero(table.observed)).all())


def predict_hidden(
    device: DeviceProblem, state: State, drawn: Mapping[int, Drawn], *, seed: int
) -> dict[str, HiddenPredictions]:
    """Fit without hidden cells, and predict them.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors and weights at the end of the fit.
    drawn : mapping from int to Drawn
        What is hidden, by the position of the table among the contexts.
    seed : int
        Seed of the start.

    Returns
    -------
    dict
        Hidden cells by the name of the table.
    """
    problem = device.problem
    trial = problem.over(
        problem.labels,
        [
            drawn[number].left if number in drawn else context
            for number, context in enumerate(problem.contexts)
        ],
    )
    touched = np.unique(np.concatenate([each.cells.rows for each in drawn.values()]))
    # Blocks have their own threads; those of BLAS would only compete with them.
    with device.backend.limited_threads(), np.errstate(over="ignore", invalid="ignore"):
        W, factors = _without_cells(device, trial, state, drawn, touched, seed)
    informed = np.any([context.observed for context in trial.contexts], axis=0)
    groups = _groups(problem, drawn)
    position = index_of(problem.labels) if groups.steps else {}
    found = {}
    for number, each in drawn.items():
        rows, columns, truth = each.cells.rows, each.cells.columns, each.cells.truth
        has_it = each.left.has(columns, truth)
        n_having, n_known = _left(each, has_it)
        (factor,) = device.to_numpy([factors[number]])
        hidden = HiddenPredictions(
            rows,
            columns,
            truth,
            each.cells.is_alone,
            has_it,
            each.left.offset[columns],
            each.cells.predicted(W, factor),
            _support(each.left, W, rows),
            ((n_having + 0.5) / (n_known + 1))[columns],
            n_having[columns] > 0,
            _family(each, groups, position),
            np.full(len(rows), seed),
        )
        found[each.table.name] = hidden.where(informed[rows])
    return found


def _without_cells(
    device: DeviceProblem,
    trial: Problem,
    state: State,
    drawn: Mapping[int, Drawn],
    touched: Ints,
    seed: int,
) -> tuple[AnyFloats, Sequence[Array]]:
    """W on the host, and all factors, of a fit that does not see the drawn cells."""
    if len(trial.labels) <= COLD_UP_TO:
        W, factors = _fitted_anew(device, trial, state, seed)
    else:
        state = _without_nodes(device, trial, state)
        if len(touched) > FEW * len(trial.labels):
            W, factors = _forget_all(device, trial, state)
        else:
            W, factors = _forget_nearby(device, trial, state, touched, list(drawn))
    return _solved(device, trial, W, factors, state.weights, touched)


def _support(table: FittedContext, W: AnyFloats, rows: Ints) -> Floats:
    """Support of the labels of some cells."""
    labels, at = np.unique(rows, return_inverse=True)
    described = np.flatnonzero(table.observed)
    own = np.full(len(W), -1)
    own[described] = np.arange(len(described))
    return support(W[labels], W[described], own[labels])[at]


def _left(drawn: Drawn, has_it: Flags) -> tuple[Floats, Floats]:
    """How many labels have each attribute without the hidden cells, and of how many."""
    assert drawn.table.data is not None
    matrix, columns = drawn.table.data.on_fit_scale().matrix, drawn.cells.columns
    n = len(drawn.table.columns)
    n_having = matrix.n_having(drawn.left.offset) - np.bincount(columns, has_it, n)
    n_known = matrix.moments().count - np.bincount(columns, minlength=n)
    return n_having, np.maximum(n_known, 0)


def _groups(problem: Problem, drawn: Mapping[int, Drawn]) -> Groups:
    """Families of the labels; none where no number asks for them."""
    has_numbers = any(each.table.is_number.any() for each in drawn.values())
    if not has_numbers or len(problem.labels) > MOST_WITH_FAMILIES:
        return Groups(())
    return problem.families


def _family(drawn: Drawn, groups: Groups, position: Mapping[str, int]) -> Floats:
    """Scaled means of families at the hidden numbers, without the hidden cells."""
    table, cells = drawn.table, drawn.cells
    found = np.full(len(cells.rows), np.nan)
    at = np.flatnonzero(table.is_number[cells.columns])
    if not len(at) or not groups.steps:
        return found
    labels = np.array([position[x] for x in table.data.labels], dtype=np.int64)
    matrix = table.data.on_fit_scale().matrix
    row_of = np.full(len(position), -1)
    row_of[labels] = np.arange(len(labels))
    rows, columns = cells.rows[at], cells.columns[at]
    numbers, number = np.unique(columns, return_inverse=True)
    values = np.column_stack([matrix.column(i) for i in numbers.tolist()])
    values[row_of[rows], number] = np.nan
    means = FamilyMeans(masked_matrix(values, None, table.name), groups, labels)
    asked, row = np.unique(rows, return_inverse=True)
    found[at] = means.at(asked)[row, number]
    found[at] = (found[at] - drawn.left.offset[columns]) / table.scale[columns]
    return found


def _fitted_anew(
    device: DeviceProblem, trial: Problem, state: State, seed: int
) -> tuple[Array, Sequence[Array]]:
    """W and all factors of a short fit from the start."""
    rng = np.random.default_rng(seed)
    backend, weights = device.backend, dict(state.weights)
    tol = SMALL_COLD_TOL if len(trial.labels) <= SMALL else COLD_TOL
    solver = MajoriseSolver(DeviceProblem(backend, trial), tol=tol)
    start = start_factors(trial, weights, "spectral", rng, backend=backend)
    after = run(solver, solver.init(start, weights), max_iter=COLD_SWEEPS)
    return after.W, after.factors


def _solved(
    device: DeviceProblem,
    trial: Problem,
    W: Array,
    factors: Sequence[Array],
    weights: Mapping[str, float],
    rows: Ints,
) -> tuple[AnyFloats, Sequence[Array]]:
    """Solve W to its optimum: the rows asked for, or all if families hang on them.

    In a large problem, families were solved without the hidden cells before.
    """
    is_small = len(trial.labels) <= COLD_UP_TO
    if is_small and any(context.turns_with_labels for context in trial.contexts):
        solved = solve_labels(
            device.backend, trial, W, factors, weights, tol=1e-2, settle=True
        )
        return solved.W, solved.placed
    labels = [trial.labels[i] for i in rows]
    part = trial.over(labels, [context.take(rows) for context in trial.contexts])
    backend = device.backend
    own = backend.xp.take(W, backend.indices(rows), axis=0)
    solved = solve_labels(backend, part, own, factors, weights, tol=1e-3)
    found = np.array(backend.to_numpy(W), solved.W.dtype)  # a copy of the fit's own
    found[rows] = solved.W
    return found, solved.placed


def _without_nodes(device: DeviceProblem, trial: Problem, state: State) -> State:
    """Solve rows and nodes of families anew, from what is not hidden.

    A label's values are in the nodes above it, and through them in the rows of
    relatives that know little themselves. Sweeps would hand them to and fro.
    """
    is_node = [context.turns_with_labels for context in trial.contexts]
    if not any(is_node):
        return state
    factors = [
        np.zeros_like(factor) if is_in else factor
        for factor, is_in in zip(device.to_numpy(state.factors), is_node, strict=True)
    ]
    solved = solve_labels(
        device.backend, trial, None, factors, state.weights, tol=1e-2, settle=True
    )
    move = device.backend.asarray
    return State(move(solved.W), tuple(map(move, solved.factors)), state.weights)


def _forget_all(
    device: DeviceProblem, trial: Problem, state: State
) -> tuple[Array, Sequence[Array]]:
    """W and all factors after some sweeps without the hidden values."""
    solver = MajoriseSolver(DeviceProblem(device.backend, trial), tol=0.0)
    after = run(solver, State(state.W, state.factors, state.weights), max_iter=SWEEPS)
    return after.W, after.factors


def _forget_nearby(
    device: DeviceProblem, trial: Problem, state: State, away: Ints, changed: list[int]
) -> tuple[Array, Sequence[Array]]:
    """Update only the labels with hidden cells and the changed factors, if few are.

    A hidden value influences other labels only through a changed factor, and other
    factors only through these labels. With many labels this influence is small, and
    sweeps over all labels would cost as much as the fit.
    """
    backend, lam = device.backend, trial.penalties
    W: Array = backend.xp.asarray(state.W, copy=True)
    at = backend.indices(away)
    factors = list(state.factors)
    solver = MajoriseSolver(device, tol=0.0)
    updates = {
        number: trial.contexts[number].factor_update(backend, trial.dim, lam)
        for number in range(len(trial.contexts))
        if number in changed or trial.contexts[number].turns_with_labels
    }
    part = trial.over(
        [trial.labels[i] for i in away], [c.take(away) for c in trial.contexts]
    )
    for _ in range(ROUNDS):
        own = backend.xp.take(W, at, axis=0)
        solved = solve_labels(backend, part, own, factors, state.weights, tol=1e-2)
        W[at] = backend.asarray(solved.W)
        for number, update in updates.items():
            context = trial.contexts[number]
            weight = context.term_weight(state.weights[context.name], lam)
            factors[number] = update.improve(W, factors[number], weight, solver.update)
    return W, factors
