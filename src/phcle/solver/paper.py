"""The paper's own solver: gradient descent on C and W, FISTA on U (Algorithm 1).

The algorithm is as printed, with corrections: the mask is applied to the residual, Q
multiplies elementwise, and λ4 acts on C. Without a given step size, a safe one is used:
with the printed 1e-5 there is hardly any progress, and with 1e-2 it diverges.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import View
from phcle.errors import OptionError
from phcle.solver.problem import DeviceProblem, State, values_and_gradient
from phcle.solver.sweep import Reweigh, SweepSolver


class PaperSolver(SweepSolver):
    """Gradient steps of a given size, or of a safe size.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    tol : float
        Relative decrease of the gap at which the solver has converged.
    step_size : float, optional
        Size of a step. By default a safe size is computed for every step.
    reweigh : callable, optional
        Changes the weights after each sweep.
    """

    remedy = "Use a smaller step_size, or solver='mm', which needs none."

    def __init__(
        self,
        device: DeviceProblem,
        *,
        tol: float,
        step_size: float | None = None,
        reweigh: Reweigh | None = None,
    ) -> None:
        super().__init__(device, tol=tol, reweigh=reweigh)
        if device.backend.processes.size > 1:
            raise OptionError(
                "solver='paper' runs in one process; start it without torchrun."
            )
        self.step_size = step_size

    def step(self, state: State) -> State:
        """One gradient step on every C, one on W, then FISTA on every U."""
        began = time.perf_counter()
        device, weights = self.device, state.weights
        comes_last = [c.updated_after_labels for c in device.problem.contexts]
        factors = device.update_factors(
            state.W,
            state.factors,
            weights,
            self._descend,
            chosen=[not last for last in comes_last],
        )
        ridge, rows = device.problem.penalties.ridge, device.labels
        W = self._descend(state.W, rows.views(factors, weights), ridge, rows.blocks)
        factors = device.update_factors(
            W, factors, weights, self._descend, chosen=comes_last, tol=1e-4
        )
        views = rows.views(factors, weights)
        values, _ = values_and_gradient(device.backend, W, views, rows.blocks)
        return self.advance(state, W, factors, values, began)

    def _descend(
        self,
        factor: Array,
        views: Sequence[View],
        ridge: float,
        blocks: Sequence[Block],
    ) -> Array:
        backend = self.device.backend
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
