"""Solvers step; somebody else loops.

A state is a value: all factors, the weights and the history so far. A solver has
`init`, `step` and `converged`, and `run` puts them in a loop.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from phcle.backends.protocol import Array
from phcle.contexts.relational.sampling import ColumnSamples, Drawn
from phcle.solver.balance import balance
from phcle.solver.layout import Layout
from phcle.solver.objective import saturated_floor
from phcle.solver.overflow import refuse_broken_algebra, refuse_infinite
from phcle.solver.rows import update_rows
from phcle.solver.start import Factors
from phcle.solver.state import State

__all__ = ["MajoriseSolver", "State", "SweepSolver", "run"]

Reweigh = Callable[[Mapping[str, float], Mapping[str, float]], dict[str, float]]
"""From weighted losses above the floor and the weights to new weights."""

DESCRIPTION_STEPS = 50
"""FISTA steps per sweep (InnerMaxIter of the paper)."""


NOISY = 3
"""Sweeps whose estimates are averaged before they are compared."""


class SweepSolver(ABC):
    """What solvers share: the state, its record, and when to stop."""

    remedy = "Use dtype='float64', or smaller weights and penalties."

    def __init__(
        self, layout: Layout, *, tol: float, reweigh: Reweigh | None = None
    ) -> None:
        self.layout = layout
        self.tol = tol
        self.reweigh = reweigh
        self.floors = {
            data.name: saturated_floor(data, layout.problem.penalties.negatives)
            for data in layout.problem.relational
        }

    def init(self, start: Factors, weights: Mapping[str, float]) -> State:
        """Move the start to the device."""
        move = self.layout.backend.asarray
        return State(
            move(start.W),
            tuple(map(move, start.C)),
            tuple(map(move, start.U)),
            dict(weights),
        )

    @abstractmethod
    def step(self, state: State) -> State:
        """One sweep over all factors."""

    def advance(
        self,
        state: State,
        W: Array,
        C: tuple[Array, ...],
        U: tuple[Array, ...],
        values: Any,
        began: float,
    ) -> State:
        """The next state: record every term, then perhaps weigh anew."""
        penalties = self.layout.penalties(W, C, U)
        refuse_infinite(self.layout, state, (*C, *U), values, penalties, self.remedy)
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
        return State(W, C, U, weights, (*state.history, record))

    def above_floor(
        self, values: Any, weights: Mapping[str, float]
    ) -> dict[str, float]:
        """Each context's value above its saturated floor."""
        return {
            name: float(value) - weights[name] * self.floors.get(name, 0.0)
            for name, value in zip(self.layout.problem.names, values, strict=True)
        }

    def terms(
        self, values: Any, weights: Mapping[str, float], penalties: Mapping[str, float]
    ) -> dict[str, float]:
        """Objective, gap and every term by name, from the contexts' values."""
        problem = self.layout.problem
        kinds = ["relational"] * len(problem.relational)
        kinds += ["descriptive"] * len(problem.descriptive)
        named = {
            f"{kind}:{name}": float(value)
            for kind, name, value in zip(kinds, problem.names, values, strict=True)
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
    """Sweeps of C, U and W, each row by majorise-minimise; never increases.

    With `samples` the dense parts go over a sample of the columns, drawn anew for
    every sweep. The objective is then an estimate, and may go up.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        tol: float,
        reweigh: Reweigh | None = None,
        samples: ColumnSamples | None = None,
    ) -> None:
        super().__init__(layout, tol=tol, reweigh=reweigh)
        self.samples = samples

    def step(self, state: State) -> State:
        """One sweep; W comes last, so its row values sum up to the objective."""
        began = time.perf_counter()
        layout, lam = self.layout, self.layout.problem.penalties
        backend = layout.backend
        state = balance(layout, state)
        drawn = (
            Drawn.all_columns(len(state.C))
            if self.samples is None
            else self.samples.draw(state.iteration)
        )
        C = tuple(
            update_rows(
                backend,
                factor,
                [
                    side.term.at(
                        state.W,
                        state.weights[data.name],
                        sample=drawn.labels[i],
                    )
                ],
                lam.context_ridge,
                side.blocks,
            ).factor
            for i, (side, factor, data) in enumerate(
                zip(layout.columns, state.C, layout.problem.relational, strict=True)
            )
        )
        U = layout.update_descriptions(
            state.W, state.U, state.weights, max_iter=DESCRIPTION_STEPS, tol=1e-5
        )
        views = layout.labels.views(C, U, state.weights, samples=drawn.columns)
        updated = update_rows(backend, state.W, views, lam.ridge, layout.labels.blocks)
        return self.advance(state, updated.factor, C, U, updated.values, began)

    def converged(self, state: State) -> bool:
        """Whether the gap stands; of estimates, whether means of several do."""
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
    """Step until converged or until `max_iter` sweeps are made."""
    while state.iteration < max_iter and not solver.converged(state):
        with refuse_broken_algebra(solver.layout, state, solver.remedy):
            state = solver.step(state)
        if on_step is not None:
            on_step(state)
    return state
