"""The paper's own solver: gradient descent on C and W, FISTA on U (Algorithm 1).

The algorithm is as printed, with corrections: the mask is applied to the residual, Q
multiplies elementwise, and λ4 acts on C. Without a given step size, every step has the
best one by the curvature along it, and is halved until the objective falls: with the
printed 1e-5 there is hardly any progress, and with 1e-2 it diverges.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from phcle.backends.protocol import Array
from phcle.contexts.protocol import ColumnUpdate
from phcle.errors import OptionError
from phcle.model.fit import Solver
from phcle.model.problem import EVERYTHING, Drawn, State
from phcle.model.rows import Rows, slopes

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
        super().__post_init__()
        if self.device.backend.processes.size > 1:
            raise OptionError(
                "solver='paper' runs in one process; start it without torchrun."
            )

    def sweep(self, state: State, drawn: Drawn = EVERYTHING) -> State:
        """One gradient step on every C, one on W, then FISTA on every U."""
        device, before, began = self.device, state, time.perf_counter()
        sizes = device.problem.term_weights(state.weights)
        for comes_last in (False, True):
            factors = list(state.factors)
            for i, update in enumerate(device.updates):
                if isinstance(update, ColumnUpdate) == comes_last:
                    continue
                if isinstance(update, ColumnUpdate):
                    columns = device.columns(update, state.W, sizes[i])
                    factors[i] = self._descend(columns, factors[i])
                else:
                    factors[i] = update.improve(state.W, factors[i], sizes[i])
            state = replace(state, factors=tuple(factors))
            rows = device.rows(state.factors, state.weights)
            if not comes_last:
                state = replace(state, W=self._descend(rows, state.W))
        _, values = rows.updated(state.W, slopes)
        return self.recorded(before, state.W, state.factors, values, began)

    def _descend(self, rows: Rows, factor: Array) -> Array:
        """A step against the gradient, as long as was asked for or as is best."""
        xp, ridge = rows.backend.xp, rows.ridge

        def square(x: Array) -> float:
            return float(xp.sum(x * x, dtype=xp.float64))

        gradient, values = rows.updated(factor, slopes)
        if self.step_size:
            return factor - self.step_size * gradient
        slope, bend = square(gradient), 0.0
        if not slope:
            return factor
        for number, block in enumerate(rows.blocks):  # the curvature along the gradient
            y, own = (xp.take(x, block.at, axis=0) for x in (factor, gradient))
            for term in rows.terms:
                bent = term.local(number, y).product(own)
                bend += float(xp.sum(own * bent, dtype=xp.float64))
        size = slope / (bend + ridge * slope)
        before = values.sum() + 0.5 * ridge * square(factor)
        for _ in range(HALVINGS):
            moved = factor - size * gradient
            _, values = rows.updated(moved, slopes)
            if not values.sum() + 0.5 * ridge * square(moved) > before:
                return moved
            size /= 2
        return factor
