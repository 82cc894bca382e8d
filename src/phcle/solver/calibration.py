"""Learn how far predicted attributes can be trusted, from values hidden in a trial.

Some labels' rows are hidden from every readable description, and the fit goes on from
where it ended for a few sweeps: enough for the factors to forget what they knew of the
hidden values. What the factors then predict of these is compared with the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.elastic_net import DescriptionUpdate
from phcle.embedding.confidence import Calibration, logit, steps_from_mean, support
from phcle.solver.foldin import solve_labels
from phcle.solver.held_out import draw_rows, without_rows
from phcle.solver.layout import Layout
from phcle.solver.problem import DescriptiveData, Problem
from phcle.solver.state import State
from phcle.solver.sweep import DESCRIPTION_STEPS, MajoriseSolver, run

__all__ = ["calibrate"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SWEEPS = 5
FEW = 0.02  # of all labels hidden: the others need not be fitted anew
ROUNDS = 2  # of hidden labels and U's, in the place of sweeps
FEWEST_LABELS = 10  # with fewer described labels there is nothing to learn from
ENOUGH_VALUES = 2_000
MOST_TRIALS = 5
MOST_VALUES = 200_000
"""Of one trial and context: three coefficients need no more."""


@dataclass
class _Record:
    """Hidden values of one context: predictions, commonness and truth."""

    steps: list[Floats] = field(default_factory=list)
    prior: list[Floats] = field(default_factory=list)
    truth: list[Flags] = field(default_factory=list)

    @property
    def n_values(self) -> int:
        return sum(map(len, self.truth))


def calibrate(
    layout: Layout, state: State, contexts: Sequence[DescriptiveContext], *, seed: int
) -> dict[str, Calibration]:
    """A calibration by context, for readable ones with enough labels.

    `contexts` are the descriptions over the labels of the problem, in its order.
    """
    problem = layout.problem
    judged = [
        (context, data)
        for context, data in zip(contexts, problem.descriptive, strict=True)
        if context.readable
        and state.weights[data.name] > 0
        and np.count_nonzero(data.observed & _informed_otherwise(layout, data))
        >= FEWEST_LABELS
    ]
    if not judged:
        return {}
    rng = np.random.default_rng(seed)
    records = {context.name: _Record() for context, _ in judged}
    for _ in range(MOST_TRIALS):
        _add_trial(layout, state, judged, records, rng)
        if all(record.n_values >= ENOUGH_VALUES for record in records.values()):
            break
    return {
        context.name: Calibration(
            *_columns(context),
            *_logistic(records[context.name]),
            records[context.name].n_values,
        )
        for context, _ in judged
        if records[context.name].n_values
    }


def _informed_otherwise(layout: Layout, data: DescriptiveData) -> Flags:
    """Labels that some other context knows."""
    others = [d.observed for d in layout.problem.data if d is not data]
    if not others:
        return np.zeros(len(layout.problem.labels), dtype=bool)
    return np.asarray(np.any(others, axis=0))


def _columns(context: DescriptiveContext) -> tuple[Floats, Floats]:
    """Share of the known labels that have each attribute, and its deviation.

    An attribute that no known label has may still turn up: half a label is added that
    has it, and half a one that has it not.
    """
    if isinstance(context.values, np.ndarray):
        known = ~np.isnan(context.values)
        count = np.maximum(known.sum(axis=0), 1)
        values = np.where(known, context.values, 0.0)
        mean = values.sum(axis=0) / count
        square = (values**2).sum(axis=0) / count
        present = (known & (context.values > mean)).sum(axis=0)
    else:
        count = (
            np.full(len(context.columns), max(len(context.labels), 1))
            if context.observed is None
            else np.maximum(np.asarray(context.observed.sum(axis=0)).ravel(), 1)
        )
        mean = np.asarray(context.values.sum(axis=0)).ravel() / count
        square = np.asarray(context.values.power(2).sum(axis=0)).ravel() / count
        present = np.asarray((context.values > 0).sum(axis=0)).ravel()
    share = (present + 0.5) / (count + 1)
    return np.asarray(share), np.sqrt(np.maximum(square - mean**2, 0.0))


def _add_trial(
    layout: Layout,
    state: State,
    judged: Sequence[tuple[DescriptiveContext, DescriptiveData]],
    records: dict[str, _Record],
    rng: np.random.Generator,
) -> None:
    """Hide some labels of every judged context, fit on, and note what is predicted."""
    problem = layout.problem
    hidden = {data.name: draw_rows(data, rng) for _, data in judged}
    nothing = np.empty(0, dtype=np.int64)
    trial = problem.with_data(
        problem.labels,
        [without_rows(d, hidden.get(d.name, nothing)) for d in problem.data],
    )
    away = np.unique(np.concatenate(list(hidden.values())))
    forget = _forget_all if len(away) > FEW * len(problem.labels) else _forget_nearby
    all_W, C, U = forget(layout, trial, state, away)
    factors = dict(zip(trial.names, (*C, *U), strict=True))
    described = {data.name: data.observed for data in trial.descriptive}
    informed = np.any([d.observed for d in trial.data], axis=0)
    for context, data in judged:
        rows = hidden[data.name][informed[hidden[data.name]]]
        if not len(rows):
            continue
        part = trial.with_data(
            [problem.labels[i] for i in rows], [d.take(rows) for d in trial.data]
        )
        W, _ = solve_labels(layout.backend, part, None, C, U, state.weights, tol=1e-3)
        predicted = W @ np.asarray(factors[data.name], np.float64).T
        untold = {problem.labels[i] for i in hidden[data.name]}
        _note(
            records[data.name],
            context.rows_for([problem.labels[i] for i in rows]),
            predicted * data.scale + data.offset,
            data.offset,
            # How common an attribute is may not be learned from hidden labels either.
            _columns(context.rows_for([x for x in context.labels if x not in untold])),
            support(W, all_W[described[data.name]]),
            rng,
        )


def _forget_all(
    layout: Layout, trial: Problem, state: State, away: npt.NDArray[np.int64]
) -> tuple[Floats, Sequence[Floats], Sequence[Floats]]:
    """All factors after some sweeps without the hidden values."""
    solver = MajoriseSolver(Layout(layout.backend, trial), tol=0.0)
    start = State(state.W, state.C, state.U, state.weights)
    after = run(solver, start, max_iter=SWEEPS)
    (W,) = layout.to_numpy([after.W])
    return W, layout.to_numpy(after.C), layout.to_numpy(after.U)


def _forget_nearby(
    layout: Layout, trial: Problem, state: State, away: npt.NDArray[np.int64]
) -> tuple[Floats, Sequence[Floats], Sequence[Floats]]:
    """The same where hidden labels are few: only they and the U's move.

    The other labels felt a hidden value only through U, and C felt it only through the
    hidden labels; among so many that is little, and sweeping over all would cost as
    much as the fit.
    """
    backend, lam = layout.backend, trial.penalties
    (W,), C = layout.to_numpy([state.W]), layout.to_numpy(state.C)
    moved, U = backend.asarray(W), state.U
    updates = [DescriptionUpdate(backend, d, trial.dim) for d in trial.descriptive]
    part = trial.with_data(
        [trial.labels[i] for i in away], [d.take(away) for d in trial.data]
    )
    for _ in range(ROUNDS):
        W[away], _ = solve_labels(
            backend, part, W[away], C, layout.to_numpy(U), state.weights, tol=1e-2
        )
        moved[backend.indices(away)] = backend.asarray(W[away])
        U = tuple(
            update(
                moved,
                factor,
                weight=lam.descriptive * state.weights[data.name],
                sparsity=lam.sparsity,
                ridge=lam.ridge,
                max_iter=DESCRIPTION_STEPS,
                tol=1e-5,
            )
            for update, factor, data in zip(updates, U, trial.descriptive, strict=True)
        )
    return W, C, layout.to_numpy(U)


def _note(
    record: _Record,
    truth: DescriptiveContext,
    predicted: Floats,
    offset: Floats,
    columns: tuple[Floats, Floats],
    supports: Floats,
    rng: np.random.Generator,
) -> None:
    """Add the values of some labels, or a sample of them if they are very many."""
    presence, deviation = columns
    rows, places = _some_known(truth, rng)
    if isinstance(truth.values, np.ndarray):
        has_it = truth.values[rows, places] > offset[places]
    else:
        has_it = np.asarray(truth.values[rows, places]).ravel() > 0
    record.truth.append(has_it)
    record.prior.append(logit(presence[places]))
    steps = steps_from_mean(predicted, offset, deviation)[rows, places]
    record.steps.append(supports[rows] * steps)


def _some_known(
    context: DescriptiveContext, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns of known values, MOST_VALUES of them at most."""
    shape = (len(context.labels), len(context.columns))
    if isinstance(context.values, np.ndarray):
        known = np.flatnonzero(~np.isnan(context.values).ravel())
    elif context.observed is not None:
        entries = sp.coo_array(context.observed)
        known = np.ravel_multi_index(entries.coords, shape)
    else:
        known = np.arange(shape[0] * shape[1])
    if len(known) > MOST_VALUES:
        known = rng.choice(known, MOST_VALUES, replace=False)
    rows, columns = np.unravel_index(known, shape)
    return np.asarray(rows), np.asarray(columns)


def _logistic(record: _Record) -> tuple[float, float, float]:
    """Intercept, weight of the prior and slope that make the hidden truth likeliest."""
    from scipy.optimize import minimize

    X = np.column_stack(
        [
            np.ones(record.n_values),
            np.concatenate(record.prior),
            np.concatenate(record.steps),
        ]
    )
    y = np.concatenate(record.truth).astype(np.float64)

    def loss(b: Floats) -> tuple[float, Floats]:
        x = X @ b
        error = 1 / (1 + np.exp(-np.clip(x, -50, 50))) - y
        # A weak pull to "as common as it is": few values must not give wild curves.
        away = b - np.array([0.0, 1.0, 0.0])
        value = np.logaddexp(0, x).sum() - y @ x + away @ away / 2
        return float(value), np.asarray(X.T @ error + away)

    found = minimize(loss, np.array([0.0, 1.0, 0.0]), jac=True, method="BFGS")
    intercept, prior, slope = map(float, found.x)
    # Predictions that point the wrong way are no reason to believe the opposite.
    return intercept, prior, max(slope, 0.0)
