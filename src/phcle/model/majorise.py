"""The default update: every row of a factor takes its best step, and none goes up.

With the other factors fixed, the rows of a factor are independent convex problems. A
step solves  H δ = −gradient  by a few preconditioned conjugate gradients, where H takes
the curvature at hand: exact on known entries, matched in trace on the dense part, whose
Gram matrix all rows share. The step is checked on the row's own objective and shortened
where it overshoots. A row it cannot improve takes the step of the quadratic bound
instead (softplus'' ≤ 1/4), which never goes up: that is majorise-minimise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.model.blocks import Rows
from phcle.model.terms import Curvature, Local, View

__all__ = ["Updated", "solve_rows", "update_rows"]

GRADIENT_STEPS = 6
"""Conjugate-gradient steps per update in a sweep; more did not pay."""

SOLVED = 0.01
"""Conjugate gradients that may run on stop when every residual fell to this share."""

MODEL_HOLDS = 0.3
"""A step is tried at another length where the quadratic model is off by more."""


@dataclass(frozen=True)
class Updated:
    """A factor after an update, and what each term is worth there."""

    factor: Array
    values: npt.NDArray[np.float64]  # (terms,): each view's value summed over rows


def update_rows(
    backend: Backend,
    factor: Array,
    views: Sequence[View],
    ridge: float,
    blocks: Sequence[Rows],
) -> Updated:
    """Improve every row once."""

    def once(y: Array, block: int) -> tuple[Array, list[Array]]:
        return _step(backend, y, views, ridge, block, Curvature.MATCHED, GRADIENT_STEPS)

    return _over_blocks(backend, factor, blocks, len(views), once)


def solve_rows(
    backend: Backend,
    factor: Array,
    views: Sequence[View],
    ridge: float,
    blocks: Sequence[Rows],
    *,
    tol: float,
    max_iter: int,
) -> Updated:
    """Bring every row to its optimum: Newton steps until none moves by `tol`."""
    xp = backend.xp
    tiny = np.finfo(backend.dtype).tiny

    def to_the_end(y: Array, block: int) -> tuple[Array, list[Array]]:
        for _ in range(max_iter):
            moved, values = _step(
                backend, y, views, ridge, block, Curvature.EXACT, y.shape[1]
            )
            change = xp.sqrt(
                xp.sum((moved - y) ** 2, axis=1) / (xp.sum(moved**2, axis=1) + tiny)
            )
            y = moved
            if float(xp.max(change)) <= tol:
                break
        return y, values

    return _over_blocks(backend, factor, blocks, len(views), to_the_end)


def _over_blocks(
    backend: Backend,
    factor: Array,
    blocks: Sequence[Rows],
    n_terms: int,
    improve: Callable[[Array, int], tuple[Array, list[Array]]],
) -> Updated:
    """Apply a block's improvement to all blocks and sum up the terms' values."""
    xp = backend.xp
    factor = xp.asarray(factor, copy=True)
    positions = [backend.indices(rows) for rows in blocks]

    def one(number: int) -> list[float]:
        y, values = improve(xp.take(factor, positions[number], axis=0), number)
        factor[positions[number]] = y  # no two blocks share a row
        return [float(xp.sum(value, dtype=xp.float64)) for value in values]

    totals = np.array(backend.each(one, len(blocks))).reshape(-1, n_terms)
    return Updated(factor, totals.sum(axis=0))


def _step(
    backend: Backend,
    y: Array,
    views: Sequence[View],
    ridge: float,
    block: int,
    curvature: Curvature,
    n_steps: int,
) -> tuple[Array, list[Array]]:
    """One step of a block: the new rows, and each term's value there."""
    xp = backend.xp
    locals_ = [view.local(block, y) for view in views]
    before = [local.value for local in locals_]
    start = sum(before, 0.5 * ridge * xp.sum(y * y, axis=1))
    gradient = sum((local.gradient for local in locals_), ridge * y)
    noise = 8 * np.finfo(backend.dtype).eps * xp.abs(start)

    def attempt(curvature: Curvature) -> tuple[_Trial, Array]:
        direction = _direction(backend, locals_, gradient, ridge, curvature, n_steps)
        slope = xp.sum(gradient * direction, axis=1)
        return _search(backend, locals_, y, direction, slope, ridge, start), slope

    best, slope = attempt(curvature)
    stuck = (best.total >= start) & (slope < -noise)
    if bool(xp.any(stuck)):
        best = best.replaced_where(xp, stuck, attempt(Curvature.BOUND)[0])
    better = best.total < start
    values = [
        xp.where(better, new, old) for new, old in zip(best.values, before, strict=True)
    ]
    return xp.where(better[:, None], best.rows, y), values


def _direction(
    backend: Backend,
    locals_: Sequence[Local],
    gradient: Array,
    ridge: float,
    curvature: Curvature,
    n_steps: int,
) -> Array:
    """Solve H δ = −gradient roughly for all rows.

    Stopped early, conjugate gradients still lower the quadratic model, so a bound on
    the objective stays a bound on what the step achieves.
    """
    xp = backend.xp
    dim = gradient.shape[1]
    typical = sum(
        (local.mean_curvature(curvature) for local in locals_),
        ridge * xp.eye(dim, dtype=gradient.dtype, device=gradient.device),
    )
    inverse = xp.linalg.inv(typical)
    tiny = float(np.finfo(backend.dtype).tiny)
    step = xp.zeros_like(gradient)
    residual = -gradient
    preconditioned = xp.matmul(residual, inverse)
    search = preconditioned
    strength = xp.sum(residual * preconditioned, axis=1)
    enough = SOLVED**2 * strength
    # Below this a row is solved to rounding, and further steps would amplify noise.
    noise = (4 * float(np.finfo(backend.dtype).eps)) ** 2 * strength
    for _ in range(min(n_steps, dim)):
        bent = ridge * search
        for local in locals_:
            bent = bent + local.product(search, curvature)
        length = strength / xp.clip(xp.sum(search * bent, axis=1), min=tiny)
        length = xp.where(strength > noise, length, 0.0)
        step = step + length[:, None] * search
        residual = residual - length[:, None] * bent
        preconditioned = xp.matmul(residual, inverse)
        renewed = xp.sum(residual * preconditioned, axis=1)
        if n_steps > GRADIENT_STEPS and bool(xp.all(renewed <= enough)):
            break
        search = (
            preconditioned + (renewed / xp.clip(strength, min=tiny))[:, None] * search
        )
        strength = renewed
    return step


@dataclass
class _Trial:
    """Rows after a step, their whole objective, and the part of each term."""

    rows: Array  # (r, d)
    total: Array  # (r,)
    values: list[Array]  # (r,) each

    def replaced_where(self, xp: Any, mask: Array, other: _Trial) -> _Trial:
        """Take the other trial's rows where the mask is true."""
        where = xp.where
        return _Trial(
            where(mask[:, None], other.rows, self.rows),
            where(mask, other.total, self.total),
            [where(mask, b, a) for a, b in zip(self.values, other.values, strict=True)],
        )


def _search(
    backend: Backend,
    locals_: Sequence[Local],
    y: Array,
    direction: Array,
    slope: Array,
    ridge: float,
    start: Array,
) -> _Trial:
    """Try the whole step; where it gains too little, the vertex of a parabola."""
    xp = backend.xp
    lines = [local.along(direction) for local in locals_]
    everyone = slice(None)

    def trial(step: Array, chosen: Array | slice) -> _Trial:
        rows = y[chosen] + step[:, None] * direction[chosen]
        values = [line.value(step, chosen) for line in lines]
        return _Trial(
            rows, sum(values, 0.5 * ridge * xp.sum(rows * rows, axis=1)), values
        )

    whole = trial(xp.ones_like(slope), everyone)
    # The parabola through both values and the slope has its lowest point at `vertex`,
    # which is 1 where the quadratic model holds.
    bend = whole.total - start - slope
    vertex = -slope / xp.clip(2 * bend, min=np.finfo(backend.dtype).tiny)
    vertex = xp.clip(vertex, 0.05, 4.0)
    chosen = xp.nonzero(xp.abs(vertex - 1) > MODEL_HOLDS)[0]
    if chosen.shape[0] == 0:
        return whole
    shorter = trial(vertex[chosen], chosen)
    better = shorter.total < whole.total[chosen]
    at = chosen[better]
    whole.rows[at] = shorter.rows[better]
    whole.total[at] = shorter.total[better]
    for values, renewed in zip(whole.values, shorter.values, strict=True):
        values[at] = renewed[better]
    return whole
