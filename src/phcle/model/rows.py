"""The update of rows: every row of a factor takes its best step, and none gets worse.

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
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.protocol import EVERY, Local, Term

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


@dataclass(frozen=True)
class Rows:
    """The rows of a factor, while the other factors are fixed.

    Attributes
    ----------
    backend : Backend
        Where to compute.
    terms : sequence of Term
        The terms, with the other factors.
    ridge : float
        λ of the squared penalty on the rows.
    blocks : sequence of Block
        Blocks of rows.
    """

    backend: Backend
    terms: Sequence[Term]
    ridge: float
    blocks: Sequence[Block]

    def updated(
        self, factor: Array, change: Callable[[Rows, Array, int], Any] | None = None
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
        factor, change = xp.asarray(factor, copy=True), change or step
        own = processes.own_blocks(len(self.blocks))
        totals = np.zeros((len(self.blocks), len(self.terms)))

        def one(number: int) -> Array:
            at = self.blocks[number].at  # no two blocks share a row
            factor[at], values = change(self, xp.take(factor, at, axis=0), number)
            return xp.sum(values, axis=1, dtype=xp.float64)

        for number, sums in zip(own, self.backend.each(one, own), strict=True):
            totals[number] = self.backend.to_numpy(sums)
        factor = processes.exchange_rows(factor, self.blocks)
        return factor, processes.sum_over(totals).sum(axis=0)

    def sums(self, terms: Sequence[Local], y: Array) -> tuple[Array, Array]:
        """Add up what the terms are at some rows.

        Parameters
        ----------
        terms : sequence of Local
            The terms there.
        y : array of shape (r, dim)
            The rows.

        Returns
        -------
        values : array of shape (terms, r)
            Their values.
        gradient : array of shape (r, dim)
            The gradient of the terms and of the ridge.
        """
        values = self.backend.xp.stack([term.value for term in terms])
        return values, sum((term.gradient for term in terms), self.ridge * y)

    def total(self, y: Array, values: Array) -> Array:
        """Compute the objective of rows where the terms have these values.

        Parameters
        ----------
        y : array of shape (r, dim)
            The rows.
        values : array of shape (terms, r)
            The values.

        Returns
        -------
        array of shape (r,)
            Their objectives.
        """
        xp = self.backend.xp
        return xp.sum(values, axis=0) + 0.5 * self.ridge * xp.sum(y * y, axis=1)


def slopes(rows: Rows, y: Array, block: int) -> tuple[Array, Array]:
    """Change rows to the gradient there, for `Rows.updated`.

    Parameters
    ----------
    rows : Rows
        The problem.
    y : array of shape (r, dim)
        The rows.
    block : int
        Number of their block.

    Returns
    -------
    gradient : array of shape (r, dim)
        The gradient.
    values : array of shape (terms, r)
        The value of each term.
    """
    values, gradient = rows.sums([term.local(block, y) for term in rows.terms], y)
    return gradient, values


def step(
    rows: Rows,
    y: Array,
    block: int,
    chosen: Array | slice = EVERY,
    *,
    exact: bool = False,
) -> tuple[Array, Array]:
    """Make one step of a block, or of chosen rows of it.

    Parameters
    ----------
    rows : Rows
        The problem.
    y : array of shape (r, dim)
        The rows.
    block : int
        Number of their block.
    chosen : array of int, optional
        Positions of `y` in the block. By default `y` is the whole block.
    exact : bool, default False
        Make a Newton step, with more conjugate gradients.

    Returns
    -------
    y : array of shape (r, dim)
        The new rows.
    values : array of shape (terms, r)
        The value of each term there.
    """
    xp, tiny = rows.backend.xp, float(np.finfo(rows.backend.dtype).tiny)
    terms = [term.local(block, y, chosen) for term in rows.terms]
    values, gradient = rows.sums(terms, y)
    total = rows.total(y, values)
    direction = _direction(rows, terms, gradient, exact=exact)
    slope = xp.sum(gradient * direction, axis=1)
    noise = rows.backend.noise * xp.abs(total)
    # A gain below rounding says nothing about the length of a Newton step: such rows
    # take the whole step, and keep their value. That spares a pass over all pairs near
    # the end of a solve.
    can_tell = slope < -noise
    best, best_values, lowest = y + direction, values + 0, total + 0
    at: Any = xp.nonzero(can_tell)[0] if exact else slice(None)
    if slope[at].shape[0] == slope.shape[0]:
        at = slice(None)  # nothing to gather
    size = xp.ones_like(slope)
    for halving in range(HALVINGS + 2):
        if not slope[at].shape[0]:
            break
        there = y[at] + size[at][:, None] * direction[at]
        found = xp.stack([term.value_at(there, at) for term in terms])
        sums = rows.total(there, found)
        if halving:
            taken = sums < lowest[at]
            kept = at[taken]
            best[kept], best_values[:, kept] = there[taken], found[:, taken]
            lowest[kept], size = sums[taken], 0.5 * size
            # Shorter steps may help where the row rises and a gain can still be told.
            goes_on = (lowest >= total) & (size * slope < -noise)
            at = at[goes_on[at]]
            continue
        best_values[:, at], lowest[at] = found, sums
        # The parabola through both values and the slope has its lowest point at `size`,
        # which is 1 where the quadratic model holds.
        bend = xp.maximum(lowest - total - slope, -slope / 8)  # size ≤ 4
        size = xp.clip(-slope / (2 * bend + tiny), min=0.05)
        at = xp.nonzero((xp.abs(size - 1) > MODEL_HOLDS) & can_tell)[0]
    is_better = lowest < total
    if exact:
        is_better = is_better | (slope >= -noise)
    return xp.where(is_better[:, None], best, y), xp.where(
        is_better, best_values, values
    )


def solve(
    rows: Rows, y: Array, block: int, *, tol: float, max_iter: int, foresee: float
) -> tuple[Array, Array]:
    """Bring every row of a block to its optimum with Newton steps.

    Parameters
    ----------
    rows : Rows
        The problem.
    y : array of shape (r, dim)
        The rows.
    block : int
        Number of their block.
    tol : float
        A row is done when a step moves it by at most this share of its length.
    max_iter : int
        Most steps.
    foresee : float
        Steps shrink at a steady rate near the optimum, so a row is also done if, at the
        rate of the last two, its next step would be at most this share of `tol`. This
        spares a pass over all pairs.

    Returns
    -------
    y : array of shape (r, dim)
        The new rows.
    values : array of shape (terms, r)
        The value of each term there.
    """
    xp, tiny = rows.backend.xp, float(np.finfo(rows.backend.dtype).tiny)
    before, (y, values) = y, step(rows, y, block, exact=True)
    lengths = relative_lengths(xp, before, y, tiny)
    going = xp.nonzero(lengths > tol)[0]
    lengths = lengths[going]
    for _ in range(max_iter - 1):
        if not going.shape[0]:
            break
        before = y[going]
        moved, values[:, going] = step(rows, before, block, going, exact=True)
        y[going] = moved
        last, lengths = lengths, relative_lengths(xp, before, moved, tiny)
        following = lengths * xp.clip(lengths / last, max=1.0)
        goes_on = xp.nonzero((lengths > tol) & (following > foresee * tol))[0]
        going, lengths = going[goes_on], lengths[goes_on]
    return y, values


def relative_lengths(xp: Any, before: Array, after: Array, tiny: float) -> Array:
    """Compute how far rows have moved, as a share of their lengths.

    Parameters
    ----------
    xp : module
        The array-API namespace.
    before, after : array of shape (r, dim)
        The rows.
    tiny : float
        A positive number whose root keeps the division defined.

    Returns
    -------
    array of shape (r,)
        The shares.
    """
    length = xp.sqrt(xp.sum((after - before) ** 2, axis=1))
    return length / (xp.sqrt(xp.sum(after**2, axis=1)) + tiny**0.5)


def _direction(
    rows: Rows, terms: Sequence[Local], gradient: Array, *, exact: bool
) -> Array:
    """Solve H_r δ_r = −gradient_r approximately for every row r.

    Rows share most of their curvature, so one inverse preconditions all rows of a
    block. It ends after some steps or, if they are exact, when nearly every residual is
    small. Even if it ends early, the step lowers the quadratic model of each row.
    """
    backend, ridge, dim = rows.backend, rows.ridge, gradient.shape[1]
    xp, tiny = backend.xp, float(np.finfo(backend.dtype).tiny)
    ridges = ridge * xp.eye(dim, dtype=gradient.dtype, device=gradient.device)
    inverse = xp.linalg.inv(sum((term.mean_curvature() for term in terms), ridges))
    x, residual = xp.zeros_like(gradient), -gradient
    search = xp.matmul(residual, inverse)
    strength = xp.sum(residual * search, axis=1)
    enough = SOLVED**2 * strength
    # Below this, a row is exact up to rounding, and more steps would add errors.
    eps = float(np.finfo(backend.dtype).eps)
    noise = xp.clip((4 * eps) ** 2 * strength, min=tiny / eps)
    n_steps = NEWTON_STEPS if exact else GRADIENT_STEPS
    for made in range(1, n_steps + 1):
        bent = sum((x.product(search, exact=exact) for x in terms), ridge * search)
        slope = xp.sum(residual * search, axis=1)
        length = slope / xp.clip(xp.sum(search * bent, axis=1), min=tiny)
        goes_on = strength > noise
        length = xp.where(goes_on, length, 0.0)
        x = x + length[:, None] * search
        if made == n_steps:
            break
        before, residual = residual, residual - length[:, None] * bent
        better = xp.matmul(residual, inverse)
        renewed = xp.sum(residual * better, axis=1)
        if exact and int(xp.sum(renewed > enough)) <= UNSOLVED * len(renewed):
            break
        turned = renewed - xp.sum(before * better, axis=1)  # Polak–Ribière
        ratio = xp.where(goes_on, turned / xp.clip(strength, min=tiny), 0.0)
        search = better + ratio[:, None] * search
        strength = renewed
    return x
