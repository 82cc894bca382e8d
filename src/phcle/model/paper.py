"""The paper's own solver: gradient descent on C and W, FISTA on U (Algorithm 1).

The algorithm is as printed, with corrections: the mask is applied to the residual, Q
multiplies elementwise, and λ4 acts on C. Without a given step size, every step has the
best one by the curvature along it, and is halved until the objective falls: with the
printed 1e-5 there is hardly any progress, and with 1e-2 it diverges.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from phcle.backends.protocol import Array
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import Curvature, View
from phcle.errors import OptionError
from phcle.model.column_samples import EVERYTHING, Drawn
from phcle.model.fit import Solver
from phcle.model.problem import State
from phcle.model.rows import Rows

HALVINGS = 30
"""Most halvings of a step that does not lower the objective. Few steps need one."""


@dataclass
class PaperSolver(Solver):
    """Gradient steps of a given size, or of the best one.

    Attributes
    ----------
    step_size : float or None
        Size of a step. By default every step has a size of its own.
    """

    step_size: float | None = None
    remedy = "Use a smaller step_size, or solver='mm', which needs none."

    def __post_init__(self) -> None:
        if self.device.backend.processes.size > 1:
            raise OptionError(
                "solver='paper' runs in one process; start it without torchrun."
            )

    def sweep(self, state: State, drawn: Drawn = EVERYTHING) -> State:
        """One gradient step on every C, one on W, then FISTA on every U."""
        device, weights, began = self.device, state.weights, time.perf_counter()
        comes_last = [c.updated_after_labels for c in device.problem.contexts]
        factors = device.update_factors(
            state.W,
            state.factors,
            weights,
            self._descend,
            chosen=[not last for last in comes_last],
        )
        ridge, views = device.problem.penalties.ridge, device.views(factors, weights)
        W = self._descend(state.W, views, ridge, device.blocks)
        factors = device.update_factors(
            W, factors, weights, self._descend, chosen=comes_last, tol=1e-4
        )
        views = device.views(factors, weights)
        values = Rows(device.backend, views, ridge, device.blocks).values(W)
        return self.recorded(state, W, factors, values, began)

    def _descend(
        self,
        factor: Array,
        views: Sequence[View],
        ridge: float,
        blocks: Sequence[Block],
    ) -> Array:
        xp = self.device.backend.xp
        rows = Rows(self.device.backend, views, ridge, blocks)

        def square(x: Array) -> float:
            return float(xp.sum(x * x, dtype=xp.float64))

        gradient, values = rows.gradient(factor)
        if self.step_size:
            return factor - self.step_size * gradient
        slope, bend = square(gradient), 0.0
        if not slope:
            return factor
        for number, block in enumerate(blocks):  # the curvature along the gradient
            y, own = (xp.take(x, block.at, axis=0) for x in (factor, gradient))
            for view in views:
                bent = view.local(number, y).product(own, Curvature.MATCHED)
                bend += float(xp.sum(own * bent, dtype=xp.float64))
        size = slope / (bend + ridge * slope)
        before = values.sum() + 0.5 * ridge * square(factor)
        for _ in range(HALVINGS):
            moved = factor - size * gradient
            if not rows.values(moved).sum() + 0.5 * ridge * square(moved) > before:
                return moved
            size /= 2
        return factor
