"""Learn how reliable predicted attributes are, from values that are hidden in trials.

In a trial, some labels are hidden from every context that predicts readable columns,
and the fit continues for a few sweeps, so that the factors forget the hidden values.
Then predictions are compared with the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array
from phcle.contexts.base import FittedContext, PredictingContext
from phcle.contexts.descriptive.confidence import Calibration, HiddenValues, support
from phcle.solver.foldin import solve_labels
from phcle.solver.problem import DeviceProblem, Problem, State
from phcle.solver.sweep import MajoriseSolver, run

__all__ = ["calibrate"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

SWEEPS = 5
"""Sweeps of a trial: enough for the factors to forget the hidden values."""

FEW = 0.02
"""Below this share of hidden labels, only they and their factors are updated: sweeps
over all labels would change the others little."""

ROUNDS = 2
"""Updates of hidden labels and their factors, in place of sweeps, if few are hidden."""

FEWEST_LABELS = 10
"""A context with fewer described labels is not calibrated: it has too few to learn."""

ENOUGH_VALUES = 2_000
"""Trials end when every context has this many hidden values: the curve has only three
coefficients."""

SHARE = 0.2
"""Share of the labels of a context that a trial hides. The others must still suffice to
learn from."""

MOST = 100
"""Most hidden labels of a context in a trial: enough for a stable curve."""

MOST_TRIALS = 5
"""Most trials, so that small contexts do not take long."""


def calibrate(
    device: DeviceProblem,
    state: State,
    *,
    seed: int,
    used: Mapping[str, sp.csr_array] | None = None,
) -> dict[str, Calibration]:
    """Learn the confidence of predictions for every context with enough labels.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors at the end of the fit.
    seed : int
        Seed of the choice of hidden labels.
    used : mapping from str to csr_array of shape (labels, columns), optional
        Cells by which settings were chosen; they are not used again.

    Returns
    -------
    dict
        A calibration by context. Contexts that predict no readable columns, or have too
        few labels, are not in it.
    """
    contexts = device.problem.contexts
    judged = [
        number
        for number, context in enumerate(contexts)
        if context.predicts_columns
        and state.weights[context.name] > 0
        and np.count_nonzero(context.observed & _known_otherwise(contexts, number))
        >= FEWEST_LABELS
    ]
    if not judged:
        return {}
    rng = np.random.default_rng(seed)
    records = {number: HiddenValues() for number in judged}
    for _ in range(MOST_TRIALS):
        _add_trial(device, state, records, used or {}, rng)
        if all(record.n_values >= ENOUGH_VALUES for record in records.values()):
            break
    found = {}
    for number, record in records.items():
        if record.n_values:
            data = contexts[number].data.on_fit_scale()
            found[contexts[number].name] = record.calibration(data.matrix)
    return found


def _known_otherwise(contexts: Sequence[FittedContext], number: int) -> Flags:
    """Labels that another context knows."""
    others = [c.observed for i, c in enumerate(contexts) if i != number]
    nothing = np.zeros_like(contexts[number].observed)
    return np.asarray(np.any(others or [nothing], axis=0))


def _add_trial(
    device: DeviceProblem,
    state: State,
    records: dict[int, HiddenValues],
    used: Mapping[str, sp.csr_array],
    rng: np.random.Generator,
) -> None:
    """Hide some labels of every judged context, continue the fit, and compare."""
    problem = device.problem
    hidden = {number: _draw_rows(problem.contexts[number], rng) for number in records}
    trial = problem.over(
        problem.labels,
        [
            context.hide_rows(hidden[number]) if number in hidden else context
            for number, context in enumerate(problem.contexts)
        ],
    )
    state = _without_nodes(device, trial, state)
    away = np.unique(np.concatenate(list(hidden.values())))
    if len(away) > FEW * len(problem.labels):
        all_W, factors = _forget_all(device, trial, state)
    else:
        all_W, factors = _forget_nearby(device, trial, state, away, list(hidden))
    informed = np.any([context.observed for context in trial.contexts], axis=0)
    for number, record in records.items():
        rows = hidden[number][informed[hidden[number]]]
        if not len(rows):
            continue
        labels = [problem.labels[i] for i in rows]
        part = trial.over(labels, [context.take(rows) for context in trial.contexts])
        W = solve_labels(device.backend, part, None, factors, state.weights, tol=1e-3).W
        context = cast(PredictingContext, problem.contexts[number])
        predicted = W @ np.asarray(factors[number], np.float64).T
        record.add(
            context.data.on_fit_scale(),
            labels,
            {problem.labels[i] for i in hidden[number]},
            predicted * context.scale + context.offset,
            context.offset,
            support(W, all_W[trial.contexts[number].observed]),
            used[context.name][rows] if context.name in used else None,
            rng,
        )


def _draw_rows(context: FittedContext, rng: np.random.Generator) -> Rows:
    """Draw some of the labels that a context knows, but never all of them."""
    observed = np.flatnonzero(context.observed)
    n = int(np.clip(round(SHARE * len(observed)), 1, MOST))
    return np.sort(rng.choice(observed, size=min(n, len(observed) - 1), replace=False))


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
) -> tuple[Floats, Sequence[Floats]]:
    """W and all factors after some sweeps without the hidden values."""
    solver = MajoriseSolver(DeviceProblem(device.backend, trial), tol=0.0)
    after = run(solver, State(state.W, state.factors, state.weights), max_iter=SWEEPS)
    (W,) = device.to_numpy([after.W])
    return W, device.to_numpy(after.factors)


def _forget_nearby(
    device: DeviceProblem, trial: Problem, state: State, away: Rows, changed: list[int]
) -> tuple[Floats, Sequence[Floats]]:
    """Update only the hidden labels and the changed factors, if few labels are hidden.

    A hidden value influences other labels only through a changed factor, and other
    factors only through the hidden labels. With many labels this influence is small,
    and sweeps over all labels would cost as much as the fit.
    """
    backend, lam = device.backend, trial.penalties
    (W,) = device.to_numpy([state.W])
    moved: Array = backend.asarray(W)
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
        W[away] = solve_labels(
            backend, part, W[away], device.to_numpy(factors), state.weights, tol=1e-2
        ).W
        moved[backend.indices(away)] = backend.asarray(W[away])
        for number, update in updates.items():
            context = trial.contexts[number]
            weight = context.term_weight(state.weights[context.name], lam)
            factors[number] = update.improve(
                moved, factors[number], weight, solver.update
            )
    return W, device.to_numpy(factors)
