"""Solvers make one sweep at a time; `run` loops.

A state is a value: all factors, the weights and the history so far. A solver has
`init`, `step` and `converged`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from phcle.backends.protocol import Array
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import View
from phcle.solver.balance import balance
from phcle.solver.column_samples import ColumnSamples, Drawn
from phcle.solver.device_problem import DeviceProblem
from phcle.solver.overflow import refuse_broken_algebra, refuse_infinite
from phcle.solver.problem import State
from phcle.solver.rows import update_rows
from phcle.solver.start import Factors

__all__ = ["MajoriseSolver", "State", "SweepSolver", "run"]

Reweigh = Callable[[Mapping[str, float], Mapping[str, float]], dict[str, float]]
"""From weighted losses above the floor and the weights to new weights."""

NOISY = 3
"""Sweeps whose estimates are averaged before they are compared."""


class SweepSolver(ABC):
    """What solvers share: the state, its record, and when to stop."""

    remedy = "Use dtype='float64', or smaller weights and penalties."

    def __init__(
        self, device: DeviceProblem, *, tol: float, reweigh: Reweigh | None = None
    ) -> None:
        self.device = device
        self.tol = tol
        self.reweigh = reweigh
        lam = device.problem.penalties
        self.floors = {
            context.name: context.floor(lam) for context in device.problem.contexts
        }

    def init(self, start: Factors, weights: Mapping[str, float]) -> State:
        """Move the start to the device."""
        move = self.device.backend.asarray
        return State(move(start.W), tuple(map(move, start.of_contexts)), dict(weights))

    @abstractmethod
    def step(self, state: State) -> State:
        """One sweep over all factors."""

    def advance(
        self,
        state: State,
        W: Array,
        factors: tuple[Array, ...],
        values: Any,
        began: float,
    ) -> State:
        """The next state: record every term, then perhaps change the weights."""
        penalties = self.device.penalties(W, factors)
        refuse_infinite(self.device, state, factors, values, penalties, self.remedy)
        weights = state.weights
        above = self.above_floor(values, weights)
        record = {
            "iteration": float(state.iteration + 1),
            "seconds": time.perf_counter() - began,
            **self.terms(values, weights, penalties),
            **{f"weight:{name}": weight for name, weight in weights.items()},
        }
        if self.reweigh is not None:
            weights = self.reweigh(above, weights)
        return State(W, factors, weights, (*state.history, record))

    def above_floor(
        self, values: Any, weights: Mapping[str, float]
    ) -> dict[str, float]:
        """Each context's value above its floor."""
        problem = self.device.problem
        return {
            context.name: float(value)
            - context.term_weight(weights[context.name], problem.penalties)
            * self.floors[context.name]
            for context, value in zip(problem.contexts, values, strict=True)
        }

    def terms(
        self, values: Any, weights: Mapping[str, float], penalties: Mapping[str, float]
    ) -> dict[str, float]:
        """Objective, gap and every term by name, from the contexts' values."""
        contexts = self.device.problem.contexts
        named = {
            f"{context.kind}:{context.name}": float(value)
            for context, value in zip(contexts, values, strict=True)
        }
        above = self.above_floor(values, weights)
        return {
            "objective": sum(named.values()) + sum(penalties.values()),
            "gap": sum(above.values()) + sum(penalties.values()),
            **named,
            **penalties,
        }

    def converged(self, state: State) -> bool:
        """Whether the last sweep lowered the gap to the floor by less than tol."""
        if len(state.history) < 2:
            return False
        before, after = state.history[-2]["gap"], state.history[-1]["gap"]
        return before - after <= self.tol * abs(after)


class MajoriseSolver(SweepSolver):
    """Sweeps of all factors, then W, by majorise-minimise; never increases.

    With `samples` the dense parts go over a sample of the columns, drawn anew for
    every sweep. The objective is then an estimate, and may go up.
    """

    def __init__(
        self,
        device: DeviceProblem,
        *,
        tol: float,
        reweigh: Reweigh | None = None,
        samples: ColumnSamples | None = None,
    ) -> None:
        super().__init__(device, tol=tol, reweigh=reweigh)
        self.samples = samples

    def step(self, state: State) -> State:
        """One sweep; W comes last, so its row values sum up to the objective."""
        began = time.perf_counter()
        device, weights = self.device, state.weights
        state = balance(device, state)
        drawn = Drawn() if self.samples is None else self.samples.draw(state.iteration)
        factors = device.update_factors(
            state.W, state.factors, weights, self.update, samples=drawn.labels
        )
        views = device.labels.views(factors, weights, samples=drawn.columns)
        ridge, blocks = device.problem.penalties.ridge, device.labels.blocks
        updated = update_rows(device.backend, state.W, views, ridge, blocks)
        return self.advance(state, updated.factor, factors, updated.values, began)

    def update(
        self,
        factor: Array,
        views: Sequence[View],
        ridge: float,
        blocks: Sequence[Block],
    ) -> Array:
        """One step of every row of a context's factor."""
        return update_rows(self.device.backend, factor, views, ridge, blocks).factor

    def converged(self, state: State) -> bool:
        """Whether the gap has settled; for samples, the mean gap of several sweeps."""
        if self.samples is None:
            return super().converged(state)
        gaps = [record["gap"] for record in state.history]
        if len(gaps) < 2 * NOISY:
            return False
        before = float(np.mean(gaps[-2 * NOISY : -NOISY]))
        after = float(np.mean(gaps[-NOISY:]))
        return before - after <= NOISY * self.tol * abs(after)


def run(
    solver: SweepSolver,
    state: State,
    *,
    max_iter: int,
    on_step: Callable[[State], None] | None = None,
) -> State:
    """Step until converged or until `max_iter` sweeps are made.

    Parameters
    ----------
    solver : SweepSolver
        What makes a sweep.
    state : State
        Where to begin.
    max_iter : int
        Sweeps at most, counting those the state has made.
    on_step : callable, optional
        Called with the state after each sweep.

    Returns
    -------
    State
        The state after the last sweep.
    """
    while state.iteration < max_iter and not solver.converged(state):
        with refuse_broken_algebra(solver.device, state, solver.remedy):
            state = solver.step(state)
        if on_step is not None:
            on_step(state)
    return state
