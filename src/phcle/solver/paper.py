"""The paper's own solver: gradient descent on C and W, FISTA on U (Algorithm 1).

As printed, but for the corrections: the mask is on the residual, Q multiplies
elementwise, λ4 acts on C, and where no step size is given a safe one is used, because
the printed 1e-5 hardly moves and 1e-2 diverges.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from phcle.backends.blocks import Block
from phcle.backends.protocol import Array, Backend
from phcle.contexts.terms import View
from phcle.errors import OptionError
from phcle.solver.gradient import values_and_gradient
from phcle.solver.layout import Layout
from phcle.solver.state import State
from phcle.solver.sweep import DESCRIPTION_STEPS, Reweigh, SweepSolver

__all__ = ["PaperSolver"]

RISING = 1e-6
"""A gap that grew by this share has not grown by rounding."""


class PaperSolver(SweepSolver):
    """Gradient steps of a fixed size, or of the safe one."""

    remedy = "Use a smaller step_size, or solver='mm', which needs none."

    def __init__(
        self,
        layout: Layout,
        *,
        tol: float,
        step_size: float | None = None,
        reweigh: Reweigh | None = None,
    ) -> None:
        super().__init__(layout, tol=tol, reweigh=reweigh)
        if layout.backend.team.size > 1:
            raise OptionError(
                "solver='paper' runs in one process; start it without torchrun."
            )
        self.step_size = step_size

    def step(self, state: State) -> State:
        """One gradient step on every C, one on W, then FISTA on every U."""
        began = time.perf_counter()
        layout, lam = self.layout, self.layout.problem.penalties
        C = []
        for side, factor, data in zip(
            layout.columns, state.C, layout.problem.relational, strict=True
        ):
            views: list[View] = [side.term.at(state.W, state.weights[data.name])]
            C.append(self._descend(factor, views, lam.context_ridge, side.blocks))
        views = layout.labels.views(C, state.U, state.weights)
        W = self._descend(state.W, views, lam.ridge, layout.labels.blocks)
        U = layout.update_descriptions(
            W, state.U, state.weights, max_iter=DESCRIPTION_STEPS, tol=1e-4
        )
        views = layout.labels.views(C, U, state.weights)
        values, _ = values_and_gradient(layout.backend, W, views, layout.labels.blocks)
        return self.advance(state, W, tuple(C), U, values, began)

    def converged(self, state: State) -> bool:
        """As for any solver, but a step that is too long has not arrived."""
        if self.step_size is not None and len(state.history) > 1:
            before, after = (record["gap"] for record in state.history[-2:])
            if after > before + RISING * abs(before):
                return False
        return super().converged(state)

    def _descend(
        self,
        factor: Array,
        views: Sequence[View],
        ridge: float,
        blocks: Sequence[Block],
    ) -> Array:
        backend = self.layout.backend
        _, gradient = values_and_gradient(backend, factor, views, blocks)
        size = self.step_size or 1 / (_steepest(backend, factor, views, blocks) + ridge)
        return factor - size * (gradient + ridge * factor)


def _steepest(
    backend: Backend, factor: Array, views: Sequence[View], blocks: Sequence[Block]
) -> float:
    """An upper bound on the curvature of every row: the trace of its bound."""
    xp = backend.xp
    largest = 0.0
    for number, block in enumerate(blocks):
        y = xp.take(factor, block.at, axis=0)
        traces = [view.local(number, y).bound_trace() for view in views]
        largest = max(largest, float(xp.max(sum(traces))))
    return largest
