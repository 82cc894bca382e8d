"""The default update: every row of a factor takes its best step, and none gets worse.

With the other factors fixed, the rows of a factor are independent convex problems. A
step solves  H δ = −gradient  by a few preconditioned conjugate gradients, where H is
the local curvature: exact for known entries, matched in trace for the dense part, whose
Gram matrix all rows share. The step is checked on the row's own objective, shortened
where it overshoots, and halved until the objective falls.

A process updates the rows of its own blocks, and receives those of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import Curvature, View

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


Updated = tuple[Array, npt.NDArray[np.float64]]
"""A factor after an update, and the value of each term there, summed over rows."""


def improve_rows(
    backend: Backend,
    factor: Array,
    views: Sequence[View],
    ridge: float,
    blocks: Sequence[Block],
) -> Array:
    """Improve every row of a factor once, while the other factors are fixed.

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
    array of shape (rows, dim)
        The new factor.
    """
    return Rows(backend, views, ridge, blocks).updated(factor)[0]


@dataclass(frozen=True)
class Rows:
    """The rows of a factor, while the other factors are fixed.

    Attributes
    ----------
    backend : Backend
        Where to compute.
    views : sequence of View
        The terms.
    ridge : float
        λ of the squared penalty on the rows.
    blocks : sequence of Block
        Blocks of rows.
    """

    backend: Backend
    views: Sequence[View]
    ridge: float
    blocks: Sequence[Block]

    def updated(
        self,
        factor: Array,
        change: Callable[[Rows, Array, int], tuple[Array, Array]] | None = None,
    ) -> Updated:
        """Update all rows, by default with one step, and sum the values of the terms.

        Parameters
        ----------
        factor : array of shape (rows, dim)
            The factor.
        change : callable, optional
            Takes this problem, the rows of a block and its number. Returns new rows,
            and the value of each term there: (terms, rows).

        Returns
        -------
        factor : array of shape (rows, dim)
            The new factor.
        values : array of shape (terms,)
            The value of each term there, summed over rows.
        """
        xp, processes = self.backend.xp, self.backend.processes
        factor, change = xp.asarray(factor, copy=True), change or _step
        own = processes.own_blocks(len(self.blocks))
        totals = np.zeros((len(self.blocks), len(self.views)))

        def one(i: int) -> None:
            at = self.blocks[own[i]].at
            y, values = change(self, xp.take(factor, at, axis=0), own[i])
            factor[at] = y  # no two blocks share a row
            sums = xp.sum(values, axis=1, dtype=xp.float64)
            totals[own[i]] = self.backend.to_numpy(sums)

        self.backend.map_blocks(one, len(own))
        factor = processes.exchange_rows(factor, rows_of(self.blocks, own))
        return factor, processes.sum_over(totals).sum(axis=0)

    def values(self, factor: Array) -> npt.NDArray[np.float64]:
        """Compute the value of each term, summed over the rows of all processes.

        Parameters
        ----------
        factor : array of shape (rows, dim)
            The factor.

        Returns
        -------
        array of shape (terms,)
            The values.
        """

        def unchanged(rows: Rows, y: Array, block: int) -> tuple[Array, Array]:
            return y, _Place(rows, y, block).values

        return self.updated(factor, unchanged)[1]

    def gradient(self, factor: Array) -> Updated:
        """Compute the gradient of the objective, and the value of each term.

        Parameters
        ----------
        factor : array of shape (rows, dim)
            The factor.

        Returns
        -------
        gradient : array of shape (rows, dim)
            The gradient of the terms and of the ridge.
        values : array of shape (terms,)
            The value of each term.
        """

        def gradients(rows: Rows, y: Array, block: int) -> tuple[Array, Array]:
            here = _Place(rows, y, block)
            return here.gradient, here.values

        return self.updated(factor, gradients)

    def solved(
        self, factor: Array, *, tol: float, max_iter: int, foresee: float = 0.0
    ) -> Updated:
        """Bring every row to its optimum with Newton steps.

        Parameters
        ----------
        factor : array of shape (rows, dim)
            The factor.
        tol : float
            A row is done when a step moves it by at most this share of its length.
        max_iter : int
            Most steps.
        foresee : float, default 0.0
            Steps shrink at a steady rate near the optimum, so a row is also done if, at
            the rate of the last two, its next step would be at most this share of
            `tol`. This spares a pass over all pairs.

        Returns
        -------
        factor : array of shape (rows, dim)
            The new factor.
        values : array of shape (terms,)
            The value of each term there, summed over rows.
        """
        xp = self.backend.xp
        tiny = np.finfo(self.backend.dtype).tiny

        def relative_lengths(before: Array, after: Array) -> Array:
            length = xp.sqrt(xp.sum((after - before) ** 2, axis=1))
            return length / (xp.sqrt(xp.sum(after**2, axis=1)) + tiny**0.5)

        def until_converged(rows: Rows, y: Array, block: int) -> tuple[Array, Array]:
            moved, values = _step(rows, y, block, Curvature.PROBED)
            lengths = relative_lengths(y, moved)
            going = xp.nonzero(lengths > tol)[0]
            y, lengths = moved, lengths[going]
            for _ in range(max_iter - 1):
                if not going.shape[0]:
                    break
                before = y[going]
                moved, renewed = _step(rows, before, block, Curvature.PROBED, going)
                y[going], values[:, going] = moved, renewed
                last, lengths = lengths, relative_lengths(before, moved)
                following = lengths * xp.clip(lengths / last, max=1.0)
                goes_on = xp.nonzero((lengths > tol) & (following > foresee * tol))[0]
                going, lengths = going[goes_on], lengths[goes_on]
            return y, values

        return self.updated(factor, until_converged)


def _step(
    rows: Rows,
    y: Array,
    block: int,
    curvature: Curvature = Curvature.MATCHED,
    chosen: Array | None = None,
) -> tuple[Array, Array]:
    """One step of a block, or of chosen rows: new rows and values of the terms."""
    xp, is_newton = rows.backend.xp, curvature is Curvature.PROBED
    here = _Place(rows, y, block, chosen)
    direction = _direction(here, curvature)
    slope = xp.sum(here.gradient * direction, axis=1)
    noise = rows.backend.noise * xp.abs(here.total)
    # A gain below rounding says nothing about the length of a Newton step: such rows
    # take the whole step, and keep their value. That spares a pass over all pairs near
    # the end of a solve.
    can_tell = slope < -noise
    checked = xp.nonzero(can_tell)[0] if is_newton else slice(None)
    best = _search(here, direction, slope, can_tell, checked)
    better = best.total < here.total
    if is_newton:
        better = better | (slope >= -noise)
    moved = xp.where(better[:, None], best.rows, y)
    return moved, xp.where(better, best.values, here.values)


def rows_of(blocks: Sequence[Block], own: Sequence[int]) -> npt.NDArray[np.int64]:
    """Positions of the rows of some blocks.

    Parameters
    ----------
    blocks : sequence of Block
        All blocks.
    own : sequence of int
        Numbers of those to take.

    Returns
    -------
    array of int
        Their rows, block by block.
    """
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *(blocks[number].rows for number in own)])


class _Place:
    """Rows before a step: every term, its value, and the objective of each row."""

    def __init__(
        self, problem: Rows, y: Array, block: int, chosen: Array | None = None
    ) -> None:
        xp = problem.backend.xp
        self.problem, self.y = problem, y
        self.terms = [view.local(block, y, chosen) for view in problem.views]
        self.values = xp.stack([term.value for term in self.terms])  # (terms, r)
        self.total = self.total_at(y, self.values)  # (r,)
        pulls = (term.gradient for term in self.terms)
        self.gradient = sum(pulls, problem.ridge * y)  # (r, d)

    def total_at(self, rows: Array, values: Array) -> Array:
        """The objective of rows where the terms have these values."""
        xp = self.problem.backend.xp
        squares = 0.5 * self.problem.ridge * xp.sum(rows * rows, axis=1)
        return xp.sum(values, axis=0) + squares


def _direction(here: _Place, curvature: Curvature) -> Array:
    """Solve H δ = −gradient approximately for all rows."""
    backend, ridge = here.problem.backend, here.problem.ridge
    xp, dim = backend.xp, here.y.shape[1]

    def product(z: Array) -> Array:
        return sum((term.product(z, curvature) for term in here.terms), ridge * z)

    # Rows share most of their curvature, so one inverse serves all rows of a block.
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
    """Rows after a step, the value of each term, and the objective of each row."""

    rows: Array  # (r, d)
    values: Array  # (terms, r)
    total: Array  # (r,)

    def put(self, at: Array | slice, other: _Trial, kept: Array | slice) -> None:
        """Replace the rows at these positions by some of another trial."""
        self.rows[at] = other.rows[kept]
        self.values[:, at] = other.values[:, kept]
        self.total[at] = other.total[kept]


def _search(
    here: _Place,
    direction: Array,
    slope: Array,
    can_tell: Array,
    checked: Array | slice,
) -> _Trial:
    """Try the whole step. Rows that gain too little try the vertex of a parabola.

    A row that gains nothing there halves the step until it does. Rows that are not
    checked take the whole step.
    """
    xp = here.problem.backend.xp
    whole = _Trial(here.y + direction, here.values + 0, here.total + 0)
    if not slope[checked].shape[0]:
        return whole
    lines = [term.along(direction) for term in here.terms]

    def trial(step: Array, at: Array | slice) -> _Trial:
        rows = here.y[at] + step[:, None] * direction[at]
        values = xp.stack([line.value(step, at) for line in lines])
        return _Trial(rows, values, here.total_at(rows, values))

    if slope[checked].shape[0] == slope.shape[0]:
        checked = slice(None)  # nothing to gather
    everyone = slice(None)
    whole.put(checked, trial(xp.ones_like(slope[checked]), checked), everyone)
    # The parabola through both values and the slope has its lowest point at `vertex`,
    # which is 1 where the quadratic model holds.
    bend = xp.maximum(whole.total - here.total - slope, -slope / 8)  # vertex ≤ 4
    tiny = np.finfo(here.problem.backend.dtype).tiny
    step = xp.clip(-slope / (2 * bend + tiny), min=0.05)
    at = xp.nonzero((xp.abs(step - 1) > MODEL_HOLDS) & can_tell)[0]
    for _ in range(1 + HALVINGS):
        if not at.shape[0]:
            break
        shorter = trial(step[at], at)
        better = shorter.total < whole.total[at]
        whole.put(at[better], shorter, better)
        step = 0.5 * step
        at = at[whole.total[at] >= here.total[at]]
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
