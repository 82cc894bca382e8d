"""Solve W and the nodes of families together, by Newton steps of all rows at once.

Nodes follow rows, and rows follow nodes, so turns between them would crawl. Here the
nodes are always at their optimum for the rows, and the curvature of the rows lacks what
the nodes give back: H z = (curvature of the rows) z − pull of the nodes solved from z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from phcle.backends.protocol import Array
from phcle.contexts.terms import LinearUpdate, Local
from phcle.model.problem import DeviceProblem, Weights
from phcle.model.rows import rows_of

MOST_TURNS = 20
"""Most Newton steps. Four to eight are usual."""

SOLVED, MOST_STEPS = 0.05, 200
"""Conjugate gradients of a step end at this share of the residual, or after so many
steps. A more exact step would spare no turn."""

HALVINGS = 20
"""Most halvings of a step that does not lower the objective. Few steps need one."""


def solve_jointly(
    device: DeviceProblem,
    W: Array,
    factors: Sequence[Array],
    weights: Weights,
    *,
    tol: float,
) -> tuple[Array, list[Array]]:
    """Find the best W and the best nodes of all families, with other factors fixed.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    W : array of shape (labels, dim)
        Where the rows begin.
    factors : sequence of arrays
        The factor of each context.
    weights : mapping
        α and β by context.
    tol : float
        It ends when a step moves every row by at most this share of its length.

    Returns
    -------
    W : array of shape (labels, dim)
        Label vectors.
    factors : list of arrays
        The factors; those of families are solved from W.
    """
    xp, problem = device.backend.xp, _Joint(device, factors, weights)
    tiny = float(np.finfo(device.backend.dtype).tiny) ** 0.5
    here = problem.at(W)
    for _ in range(MOST_TURNS):
        step = _newton_step(problem, here)
        slope = problem.dot(here.gradient, step)
        noise = device.backend.noise * abs(here.total)
        best, size = here, 1.0
        for _ in range(HALVINGS):
            there = problem.at(here.W + size * step)
            # Gains below the rounding error say nothing: trust the gradient.
            if there.total < here.total or 0 >= slope >= -noise:
                best = there
                break
            size /= 2
        moved = xp.sqrt(xp.sum((best.W - here.W) ** 2, axis=1))
        is_moving = moved > tol * (xp.sqrt(xp.sum(best.W**2, axis=1)) + tiny)
        here = best
        if not int(xp.sum(is_moving)):
            break
    return here.W, here.factors


@dataclass(frozen=True)
class _Place:
    """Rows with the nodes that belong to them, and the terms of a process's blocks."""

    W: Array  # (labels, d)
    factors: list[Array]
    terms: dict[int, list[Local]]  # by the number of the block
    total: float  # the objective, without what is fixed
    gradient: Array  # (labels, d); zero in rows of other processes


class _Joint:
    """The objective as a function of W, with the nodes at their optimum."""

    def __init__(
        self, device: DeviceProblem, factors: Sequence[Array], weights: Weights
    ) -> None:
        self.device, self.xp, self.weights = device, device.backend.xp, weights
        self.factors, self.ridge = factors, device.problem.penalties.ridge
        own = device.backend.processes.own_blocks(len(device.blocks))
        self.own_rows = rows_of(device.blocks, own)
        self.blocks = {number: device.blocks[number].at for number in own}
        sizes = device.problem.term_weights(weights)
        self.families = {
            i: (cast(LinearUpdate, device.updates[i]), sizes[i])
            for i, context in enumerate(device.problem.contexts)
            if context.turns_with_labels
        }

    def at(self, W: Array) -> _Place:
        """Solve the nodes for these rows, and evaluate all terms."""
        xp, device = self.xp, self.device
        W = device.backend.processes.exchange_rows(W, self.own_rows)
        factors, held = list(self.factors), 0.0
        for i, (update, weight) in self.families.items():
            context, lam = device.problem.contexts[i], device.problem.penalties
            factors[i] = update.solved(W, weight)
            held += sum(context.factor_penalties(xp, factors[i], lam).values())
        rows = device.rows(factors, self.weights)
        gradient, own = xp.zeros_like(W), 0.0
        terms: dict[int, list[Local]] = {}
        for number, at in self.blocks.items():
            y = xp.take(W, at, axis=0)
            terms[number], values, gradient[at] = rows.local(y, number)
            own += float(xp.sum(rows.total(y, values), dtype=xp.float64))
            for term in terms[number]:
                term.lighten()
        return _Place(W, factors, terms, self._summed(own) + held, gradient)

    def product(self, here: _Place, z: Array) -> Array:
        """Multiply by the curvature of rows that the nodes follow."""
        back = sum(x.response(z, weight) for x, weight in self.families.values())
        bent = self.xp.zeros_like(z)
        for number, at in self.blocks.items():
            own = self.xp.take(z, at, axis=0)
            curved = (x.product(own, exact=True) for x in here.terms[number])
            bent[at] = sum(curved, self.ridge * own) - back[at]
        return bent

    def inverses(self, here: _Place) -> dict[int, Array]:
        """An inverse of the mean curvature for each block."""
        xp, like = self.xp, here.W
        eye = xp.eye(like.shape[1], dtype=like.dtype, device=like.device)
        return {
            number: xp.linalg.inv(
                sum((x.mean_curvature() for x in terms), self.ridge * eye)
            )
            for number, terms in here.terms.items()
        }

    def dot(self, a: Array, b: Array) -> float:
        """The inner product, over the rows of all processes."""
        return self._summed(float(self.xp.sum(a * b, dtype=self.xp.float64)))

    def _summed(self, number: float) -> float:
        processes = self.device.backend.processes
        return float(processes.sum_over(np.array([number]))[0])


def _newton_step(problem: _Joint, here: _Place) -> Array:
    """Conjugate gradients for H δ = −gradient, all rows together."""
    xp, inverses = problem.xp, problem.inverses(here)

    def precondition(z: Array) -> Array:
        found = xp.zeros_like(z)
        for number, at in problem.blocks.items():
            found[at] = xp.matmul(xp.take(z, at, axis=0), inverses[number])
        return found

    step, residual = xp.zeros_like(here.W), -here.gradient
    search = precondition(residual)
    strength = first = problem.dot(residual, search)
    for _ in range(MOST_STEPS):
        if strength <= SOLVED**2 * first:
            break
        bent = problem.product(here, search)
        length = strength / problem.dot(search, bent)
        step, residual = step + length * search, residual - length * bent
        better = precondition(residual)
        renewed = problem.dot(residual, better)
        search = better + renewed / strength * search
        strength = renewed
    return step
