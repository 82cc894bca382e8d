"""The paper's own solver: gradient descent on C and W, FISTA on U (Algorithm 1).

The algorithm is as printed, with corrections: the mask is applied to the residual, Q
multiplies elementwise, and λ4 acts on C. Without a given step size, every step has the
best one by the curvature along it, and is halved until the objective falls: with the
printed 1e-5 there is hardly any progress, and with 1e-2 it diverges.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import Curvature, View
from phcle.errors import OptionError
from phcle.model.problem import DeviceProblem, State, values_and_gradient
from phcle.model.sweep import Reweigh, SweepSolver

HALVINGS = 30
"""Most halvings of a step that does not lower the objective. Few steps need one."""


class PaperSolver(SweepSolver):
    """Gradient steps of a given size, or of the best one.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    tol : float
        Relative decrease of the gap at which the solver has converged.
    step_size : float, optional
        Size of a step. By default every step has a size of its own.
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
        values, gradient = values_and_gradient(backend, factor, views, blocks)
        gradient = gradient + ridge * factor
        if self.step_size:
            return factor - self.step_size * gradient
        slope, bend = _along(backend, factor, gradient, views, blocks)
        if not slope:
            return factor
        size = slope / (bend + ridge * slope)
        before = values.sum() + _penalty(backend, factor, ridge)
        for _ in range(HALVINGS):
            moved = factor - size * gradient
            values, _ = values_and_gradient(backend, moved, views, blocks)
            if not values.sum() + _penalty(backend, moved, ridge) > before:
                return moved
            size /= 2
        return factor


def _penalty(backend: Backend, factor: Array, ridge: float) -> float:
    """The squared penalty on a factor."""
    xp = backend.xp
    return 0.5 * ridge * float(xp.sum(factor * factor, dtype=xp.float64))


def _along(
    backend: Backend,
    factor: Array,
    gradient: Array,
    views: Sequence[View],
    blocks: Sequence[Block],
) -> tuple[float, float]:
    """Squared length of a gradient, and the curvature of the terms along it."""
    xp = backend.xp
    slope = bend = 0.0
    for number, block in enumerate(blocks):
        y, own = (xp.take(x, block.at, axis=0) for x in (factor, gradient))
        slope += float(xp.sum(own * own, dtype=xp.float64))
        for view in views:
            bent = view.local(number, y).product(own, Curvature.MATCHED)
            bend += float(xp.sum(own * bent, dtype=xp.float64))
    return slope, bend
