"""The default update: every row of a factor takes its best step, and none gets worse.

With the other factors fixed, the rows of a factor are independent convex problems. A
step solves  H δ = −gradient  by a few preconditioned conjugate gradients, where H is
the local curvature: exact for known entries, matched in trace for the dense part, whose
Gram matrix all rows share. The step is checked on the row's own objective, shortened
where it overshoots, and halved until the objective falls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import Curvature, Local, View

GRADIENT_STEPS = 6
"""Conjugate-gradient steps per update in a sweep. More cost more than they gain. With
four, the result would depend on how rows are put into blocks."""

NEWTON_STEPS = 50
"""Most conjugate-gradient steps of a Newton step in the final solve. Few rows need as
many, because steps end at `SOLVED`."""

SOLVED = 0.1
"""Conjugate gradients of the final solve end when every residual has fallen to this
share. A more exact Newton step would gain little, as another one follows."""

UNSOLVED = 1e-3
"""Share of a block's rows whose residual may still be larger. In a block of a hundred
thousand rows, a few would keep all others waiting; they take another step instead."""

MODEL_HOLDS = 0.3
"""A row tries another length of its step if the best one by the parabola differs from
the whole step by more than this share. Below, it would gain too little."""

HALVINGS = 20
"""Most halvings of a step that does not lower a row's objective. Few rows need one."""


@dataclass(frozen=True)
class Updated:
    """A factor after an update, and the value of each term there.

    Attributes
    ----------
    factor : array of shape (rows, dim)
        The factor.
    values : array of shape (terms,)
        The value of each term, summed over rows.
    """

    factor: Array
    values: npt.NDArray[np.float64]


def update_rows(
    backend: Backend,
    factor: Array,
    views: Sequence[View],
    ridge: float,
    blocks: Sequence[Block],
) -> Updated:
    """Improve every row once.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    factor : array of shape (rows, dim)
        The factor.
    views : sequence of View
        The terms.
    ridge : float
        λ of the squared penalty on the rows.
    blocks : sequence of Block
        Blocks of rows.

    Returns
    -------
    Updated
        The new factor and the value of each term.
    """

    def once(y: Array, block: int) -> tuple[Array, list[Array]]:
        return _step(backend, y, views, ridge, block, Curvature.MATCHED)

    return _over_blocks(backend, factor, blocks, len(views), once)


def solve_rows(
    backend: Backend,
    factor: Array,
    views: Sequence[View],
    ridge: float,
    blocks: Sequence[Block],
    *,
    tol: float,
    max_iter: int,
    foresee: float = 0.0,
) -> Updated:
    """Bring every row to its optimum with Newton steps.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    factor : array of shape (rows, dim)
        The factor.
    views : sequence of View
        The terms.
    ridge : float
        λ of the squared penalty on the rows.
    blocks : sequence of Block
        Blocks of rows.
    tol : float
        A row is done when a step moves it by at most this share of its length.
    max_iter : int
        Most steps.
    foresee : float, default 0.0
        Steps shrink at a steady rate near the optimum, so a row is also done if, at the
        rate of the last two, its next step would be at most this share of `tol`. This
        spares a pass over all pairs.

    Returns
    -------
    Updated
        The new factor and the value of each term.
    """
    xp = backend.xp
    tiny = np.finfo(backend.dtype).tiny

    def until_converged(y: Array, block: int) -> tuple[Array, list[Array]]:
        moved, values = _step(backend, y, views, ridge, block, Curvature.PROBED)
        lengths = _relative_lengths(y, moved)
        going = xp.nonzero(lengths > tol)[0]
        y, lengths = moved, lengths[going]
        for _ in range(max_iter - 1):
            if not going.shape[0]:
                break
            before = y[going]
            moved, renewed = _step(
                backend, before, views, ridge, block, Curvature.PROBED, going
            )
            y[going] = moved
            for value, new in zip(values, renewed, strict=True):
                value[going] = new
            last, lengths = lengths, _relative_lengths(before, moved)
            following = lengths * xp.clip(lengths / last, max=1.0)
            goes_on = xp.nonzero((lengths > tol) & (following > foresee * tol))[0]
            going, lengths = going[goes_on], lengths[goes_on]
        return y, values

    def _relative_lengths(before: Array, after: Array) -> Array:
        length = xp.sqrt(xp.sum((after - before) ** 2, axis=1))
        return length / (xp.sqrt(xp.sum(after**2, axis=1)) + tiny**0.5)

    return _over_blocks(backend, factor, blocks, len(views), until_converged)


def row_values(
    backend: Backend, factor: Array, views: Sequence[View], blocks: Sequence[Block]
) -> npt.NDArray[np.float64]:
    """Compute the value of each term, summed over the rows of all processes.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    factor : array of shape (rows, dim)
        The factor.
    views : sequence of View
        The terms.
    blocks : sequence of Block
        Blocks of rows.

    Returns
    -------
    array of shape (terms,)
        The values.
    """

    def unchanged(y: Array, block: int) -> tuple[Array, list[Array]]:
        return y, [view.local(block, y).value for view in views]

    return _over_blocks(backend, factor, blocks, len(views), unchanged).values


def _over_blocks(
    backend: Backend,
    factor: Array,
    blocks: Sequence[Block],
    n_terms: int,
    improve: Callable[[Array, int], tuple[Array, list[Array]]],
) -> Updated:
    """Apply an improvement to all blocks and sum the values of the terms."""
    xp = backend.xp
    factor = xp.asarray(factor, copy=True)

    def one(number: int) -> list[float]:
        at = blocks[number].at
        y, values = improve(xp.take(factor, at, axis=0), number)
        factor[at] = y  # no two blocks share a row
        return [float(xp.sum(value, dtype=xp.float64)) for value in values]

    processes = backend.processes
    own = processes.own_blocks(len(blocks))
    totals = np.zeros((len(blocks), n_terms))
    all_found = backend.map_blocks(lambda i: one(own[i]), len(own))
    for number, found in zip(own, all_found, strict=True):
        totals[number] = found
    none = np.empty(0, dtype=np.int64)
    own_rows = np.concatenate([none, *(blocks[number].rows for number in own)])
    factor = processes.exchange_rows(factor, own_rows)
    return Updated(factor, processes.sum_over(totals).sum(axis=0))


def _step(
    backend: Backend,
    y: Array,
    views: Sequence[View],
    ridge: float,
    block: int,
    curvature: Curvature,
    chosen: Array | None = None,
) -> tuple[Array, list[Array]]:
    """One step of a block, or of chosen rows: new rows and values of the terms."""
    xp = backend.xp
    here = _Place.of(backend, y, views, ridge, block, chosen)
    is_newton = curvature is Curvature.PROBED
    direction = _direction(backend, here, ridge, curvature)
    slope = xp.sum(here.gradient * direction, axis=1)
    best = _search(backend, here, direction, slope, ridge, check_all=not is_newton)
    better = best.total < here.total
    if is_newton:  # gains are below rounding: trust the gradient
        better = better | (slope >= -here.noise)
    values = [
        xp.where(better, new, old)
        for new, old in zip(best.values, here.values, strict=True)
    ]
    return xp.where(better[:, None], best.rows, y), values


@dataclass(frozen=True)
class _Place:
    """Rows before a step: every term, its value, and the objective of each row."""

    y: Array  # (r, d)
    terms: list[Local]
    values: list[Array]  # (r,) each
    total: Array  # (r,)
    gradient: Array  # (r, d)
    noise: Array  # (r,): rounding error of the total

    @classmethod
    def of(
        cls,
        backend: Backend,
        y: Array,
        views: Sequence[View],
        ridge: float,
        block: int,
        chosen: Array | None,
    ) -> _Place:
        """Evaluate all terms at a block of rows, or at chosen rows of it."""
        xp = backend.xp
        terms = [view.local(block, y, chosen) for view in views]
        values = [term.value for term in terms]
        total = sum(values, 0.5 * ridge * xp.sum(y * y, axis=1))
        gradient = sum((term.gradient for term in terms), ridge * y)
        return cls(y, terms, values, total, gradient, backend.noise * xp.abs(total))

    def moved(self, direction: Array) -> _Trial:
        """The rows after the whole step, with the values from before it."""
        values = [value + 0 for value in self.values]  # copies, which may be changed
        return _Trial(self.y + direction, self.total + 0, values)


def _direction(
    backend: Backend, here: _Place, ridge: float, curvature: Curvature
) -> Array:
    """Solve H δ = −gradient approximately for all rows."""

    def product(z: Array) -> Array:
        return sum((term.product(z, curvature) for term in here.terms), ridge * z)

    # Rows share most of their curvature, so one inverse serves all rows of a block.
    xp, dim = backend.xp, here.y.shape[1]
    ridges = ridge * xp.eye(dim, dtype=here.y.dtype, device=here.y.device)
    mean = sum((term.mean_curvature() for term in here.terms), ridges)
    inverse = xp.linalg.inv(mean)
    is_newton = curvature is Curvature.PROBED
    return _conjugate_gradients(
        backend,
        product,
        lambda z: xp.matmul(z, inverse),
        -here.gradient,
        n_steps=NEWTON_STEPS if is_newton else GRADIENT_STEPS,
        solved=SOLVED if is_newton else 0.0,
    )


@dataclass
class _Trial:
    """Rows after a step, the objective of each row, and the part of each term."""

    rows: Array  # (r, d)
    total: Array  # (r,)
    values: list[Array]  # (r,) each

    def put(self, at: Array, other: _Trial) -> None:
        """Replace the rows at these positions by those of another trial."""
        self.rows[at] = other.rows
        self.total[at] = other.total
        for values, renewed in zip(self.values, other.values, strict=True):
            values[at] = renewed

    def take(self, at: Array) -> _Trial:
        """Some of the rows."""
        values = [value[at] for value in self.values]
        return _Trial(self.rows[at], self.total[at], values)


def _search(
    backend: Backend,
    here: _Place,
    direction: Array,
    slope: Array,
    ridge: float,
    *,
    check_all: bool,
) -> _Trial:
    """Try the whole step. Rows that gain too little try the vertex of a parabola.

    A row that gains nothing there halves the step until it does.

    A gain that is smaller than rounding errors says nothing about the length of the
    step. Without `check_all`, such rows take the whole step and keep their value, which
    spares a pass over all pairs near the end of a solve.
    """
    xp = backend.xp
    everyone = slice(None)
    if not check_all:
        checked = xp.nonzero(slope < -here.noise)[0]
        if not checked.shape[0]:
            return here.moved(direction)
    lines = [term.along(direction) for term in here.terms]

    def trial(step: Array, chosen: Array | slice) -> _Trial:
        rows = here.y[chosen] + step[:, None] * direction[chosen]
        values = [line.value(step, chosen) for line in lines]
        return _Trial(
            rows, sum(values, 0.5 * ridge * xp.sum(rows * rows, axis=1)), values
        )

    if check_all or checked.shape[0] == slope.shape[0]:
        whole = trial(xp.ones_like(slope), everyone)
    else:
        whole = here.moved(direction)
        whole.put(checked, trial(xp.ones_like(slope[checked]), checked))
    # The parabola through both values and the slope has its lowest point at `vertex`,
    # which is 1 where the quadratic model holds.
    bend = xp.maximum(whole.total - here.total - slope, -slope / 8)  # vertex ≤ 4
    vertex = -slope / (2 * bend + np.finfo(backend.dtype).tiny)
    vertex = xp.clip(vertex, min=0.05)
    is_off = (xp.abs(vertex - 1) > MODEL_HOLDS) & (slope < -here.noise)
    chosen = xp.nonzero(is_off)[0]
    step = vertex
    for _ in range(1 + HALVINGS):
        if not chosen.shape[0]:
            break
        shorter = trial(step[chosen], chosen)
        better = shorter.total < whole.total[chosen]
        whole.put(chosen[better], shorter.take(better))
        step = 0.5 * step
        chosen = chosen[whole.total[chosen] >= here.total[chosen]]
    return whole


def _conjugate_gradients(
    backend: Backend,
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    target: Array,
    *,
    n_steps: int,
    solved: float = 0.0,
) -> Array:
    """Solve H_r x_r = target_r approximately for every row r, H_r positive definite.

    `product` multiplies every row by its own H. `precondition` may be any approximate
    inverse, even a few steps of another solver, because the update of the search
    direction allows for it (Polak–Ribière). It ends after `n_steps`, or when nearly
    every residual has fallen to the share `solved`. Even if it ends early, x lowers
    ½ xᵀHx − target·x of each row.
    """
    xp = backend.xp
    tiny = float(np.finfo(backend.dtype).tiny)
    x = xp.zeros_like(target)
    residual = target
    search = precondition(residual)
    strength = xp.sum(residual * search, axis=1)
    enough = solved**2 * strength
    # Below this, a row is exact up to rounding, and more steps would add errors.
    eps = float(np.finfo(backend.dtype).eps)
    noise = xp.clip((4 * eps) ** 2 * strength, min=tiny / eps)
    for step in range(n_steps):
        bent = product(search)
        slope = xp.sum(residual * search, axis=1)
        length = slope / xp.clip(xp.sum(search * bent, axis=1), min=tiny)
        goes_on = strength > noise
        length = xp.where(goes_on, length, 0.0)
        x = x + length[:, None] * search
        if step + 1 == n_steps:
            break
        before, residual = residual, residual - length[:, None] * bent
        better = precondition(residual)
        renewed = xp.sum(residual * better, axis=1)
        if solved:
            n_unsolved = int(xp.sum(renewed > enough))
            if n_unsolved <= UNSOLVED * len(renewed):
                break
        turned = renewed - xp.sum(before * better, axis=1)
        ratio = xp.where(goes_on, turned / xp.clip(strength, min=tiny), 0.0)
        search = better + ratio[:, None] * search
        strength = renewed
    return x
