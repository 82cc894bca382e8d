"""Measure how well each context is predicted for labels that were held out.

Some labels of every context are hidden from a trial fit. Each is then folded in from
its other contexts and from half of the hidden columns, and the other half is predicted.
Skill is one minus the loss over the loss of a model that knows nothing (it predicts
means, or no association). It is never below zero, so noise gets no weight, even if a
model can over-fit it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Backend
from phcle.contexts.base import FittedContext
from phcle.solver.foldin import solve_labels
from phcle.solver.problem import DeviceProblem, Problem
from phcle.solver.start import start_factors
from phcle.solver.sweep import MajoriseSolver, run
from phcle.solver.weights import equal_weights

__all__ = ["draw_rows", "held_out_skills"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]

SHARE = 0.2
"""Share of the labels of a context that are held out. The others must still suffice to
learn from."""

MOST_LABELS = 5_000
"""Most labels of a trial fit, so that a large problem does not take long."""

MOST = 100
"""Most held-out labels of a context: enough for a stable ratio of losses."""

TRIALS = 3
"""Number of trials. One is not enough for small contexts, which hold out few labels."""

SWEEPS = 15
"""Most sweeps of a trial fit; it need not converge."""

TRUSTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Trusts in the predictions to choose from; 0 is a model that knows nothing."""


class _Score:
    """Losses on held-out entries, summed over trials.

    A prediction may have the right direction but be too large, which the logistic loss
    penalises without limit. So the trust in predictions is chosen on one half of the
    labels and scored on the other half.
    """

    def __init__(self) -> None:
        self.model = self.nothing = 0.0

    def add(self, losses: Floats) -> None:
        """Add losses by trust and label."""
        halves = losses[:, ::2].sum(axis=1), losses[:, 1::2].sum(axis=1)
        for tuned, judged in (halves, halves[::-1]):
            self.model += float(judged[tuned.argmin()])
            self.nothing += float(judged[0])

    @property
    def skill(self) -> float:
        return max(0.0, 1 - self.model / self.nothing) if self.nothing > 0 else 0.0


def held_out_skills(
    problem: Problem, backend: Backend, *, seed: int
) -> dict[str, float]:
    """Measure how well each context is predicted for labels that were held out.

    Parameters
    ----------
    problem : Problem
        The contexts.
    backend : Backend
        Where trial fits run.
    seed : int
        Seed of the choice of held-out labels.

    Returns
    -------
    dict
        Skill by context, from 0 (predicts nothing) to 1.
    """
    rng = np.random.default_rng(seed)
    scores = {name: _Score() for name in problem.names}
    whole = problem
    for _ in range(TRIALS):
        problem = _some_labels(whole, rng)
        hidden = [draw_rows(context, rng) for context in problem.contexts]
        trial = problem.over(
            problem.labels,
            [
                c.hide_rows(rows)
                for c, rows in zip(problem.contexts, hidden, strict=True)
            ],
        )
        factors = _trial_fit(trial, backend, rng)
        for number, context in enumerate(problem.contexts):
            n_columns = len(context.columns)
            is_given = rng.permutation(n_columns) < n_columns // 2
            losses = _losses(
                problem, number, hidden[number], is_given, factors, backend
            )
            if losses is not None:
                scores[context.name].add(losses)
    return {name: score.skill for name, score in scores.items()}


def _some_labels(problem: Problem, rng: np.random.Generator) -> Problem:
    """A part of a large problem, with labels of every context.

    Skills are ratios, and a few thousand labels are enough to measure them.
    """
    n = len(problem.labels)
    if n <= MOST_LABELS:
        return problem
    chosen = np.zeros(n, dtype=bool)
    each = MOST_LABELS // (2 * len(problem.contexts))
    for context in problem.contexts:
        known = np.flatnonzero(context.observed)
        chosen[rng.choice(known, min(each, len(known)), replace=False)] = True
    others = np.flatnonzero(~chosen)
    chosen[rng.choice(others, MOST_LABELS - chosen.sum(), replace=False)] = True
    rows = np.flatnonzero(chosen)
    return problem.over(
        [problem.labels[i] for i in rows],
        [context.take(rows).without_empty_columns() for context in problem.contexts],
    )


def draw_rows(context: FittedContext, rng: np.random.Generator) -> Rows:
    """Draw some of the labels that a context knows, but never all of them.

    Parameters
    ----------
    context : FittedContext
        The context over the labels of a problem.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    array of int
        Positions of the drawn labels, in order.
    """
    observed = np.flatnonzero(context.observed)
    n = int(np.clip(round(SHARE * len(observed)), 1, MOST))
    return np.sort(rng.choice(observed, size=min(n, len(observed) - 1), replace=False))


def _trial_fit(
    problem: Problem, backend: Backend, rng: np.random.Generator
) -> tuple[Floats, ...]:
    """Factors of all contexts after a short fit with equal weights."""
    weights = equal_weights(problem)
    solver = MajoriseSolver(DeviceProblem(backend, problem), tol=1e-3)
    state = solver.init(start_factors(problem, weights, "spectral", rng), weights)
    state = run(solver, state, max_iter=SWEEPS)
    return solver.device.to_numpy(state.factors)


def _losses(
    problem: Problem,
    number: int,
    rows: Rows,
    is_given: npt.NDArray[np.bool_],
    factors: Sequence[Floats],
    backend: Backend,
) -> Floats | None:
    """Fold hidden labels in from half of the columns; losses on the other half.

    None if nothing is known about any of the hidden labels.
    """
    known = [context.take(rows) for context in problem.contexts]
    asked = known[number].hide_columns(is_given)
    known[number] = known[number].hide_columns(~is_given)
    informed = np.flatnonzero(np.any([context.observed for context in known], axis=0))
    if not len(informed):
        return None
    labels = [problem.labels[i] for i in rows[informed]]
    part = problem.over(labels, [context.take(informed) for context in known])
    start = np.zeros((len(labels), problem.dim))
    weights = equal_weights(problem)
    W = solve_labels(backend, part, start, factors, weights, tol=1e-2).W
    return asked.take(informed).held_out_losses(
        W, factors[number], problem.penalties, TRUSTS
    )
