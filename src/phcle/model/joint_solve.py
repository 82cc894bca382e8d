"""Solve W and the nodes of families together, by Newton steps of all rows at once.

Nodes follow rows, and rows follow nodes, so turns between them would crawl. Here the
nodes are always at their optimum for the rows, and the curvature of the rows lacks what
the nodes give back: H z = (curvature of the rows) z − pull of the nodes solved from z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from phcle.backends.protocol import Array
from phcle.contexts.terms import LinearUpdate, Local
from phcle.model.problem import DeviceProblem, Weights
from phcle.model.rows import relative_lengths

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
    tiny = float(np.finfo(device.backend.dtype).tiny)
    here = problem.at(W)
    for _ in range(MOST_TURNS):
        step = problem.newton_step(here)
        slope = problem.summed(here.gradient * step)
        noise = device.backend.noise * abs(here.total)
        best, size = here, 1.0
        for _ in range(HALVINGS):
            there = problem.at(here.W + size * step)
            # Gains below the rounding error say nothing: trust the gradient.
            if there.total < here.total or 0 >= slope >= -noise:
                best = there
                break
            size /= 2
        is_moving = relative_lengths(xp, here.W, best.W, tiny) > tol
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
        W = device.backend.processes.exchange_rows(W, device.blocks)
        factors, held = list(self.factors), 0.0
        for i, (update, weight) in self.families.items():
            context, lam = device.problem.contexts[i], device.problem.penalties
            factors[i] = update.improve(W, factors[i], weight)
            held += sum(context.factor_penalties(xp, factors[i], lam).values())
        rows = device.rows(factors, self.weights)
        gradient, own = xp.zeros_like(W), []
        none = xp.zeros((), dtype=xp.float64, device=W.device)
        terms: dict[int, list[Local]] = {}
        for number, at in self.blocks.items():
            y = xp.take(W, at, axis=0)
            terms[number] = [term.local(number, y) for term in rows.terms]
            values, gradient[at] = rows.sums(terms[number], y)
            own.append(xp.sum(rows.total(y, values), dtype=xp.float64))
            for term in terms[number]:
                term.lighten()
        return _Place(
            W, factors, terms, self.summed(xp.stack([*own, none])) + held, gradient
        )

    def summed(self, numbers: Any) -> float:
        """The sum of numbers over all processes."""
        own = float(self.xp.sum(numbers, dtype=self.xp.float64))
        return float(self.device.backend.processes.sum_over(np.array([own]))[0])

    def newton_step(self, here: _Place) -> Array:
        """Conjugate gradients for H δ = −gradient, all rows together."""
        xp, like = self.xp, here.W
        ridges = self.ridge * xp.eye(
            like.shape[1], dtype=like.dtype, device=like.device
        )
        inverses = {
            number: xp.linalg.inv(sum((x.mean_curvature() for x in terms), ridges))
            for number, terms in here.terms.items()
        }
        step, residual = xp.zeros_like(like), -here.gradient
        search, before, strength, first = residual, 0.0, 0.0, 0.0
        for made in range(MOST_STEPS):
            better = xp.zeros_like(like)
            for number, at in self.blocks.items():
                better[at] = xp.matmul(xp.take(residual, at, axis=0), inverses[number])
            before, strength = strength, self.summed(residual * better)
            first = first or strength
            if strength <= SOLVED**2 * first:
                break
            search = better + strength / before * search if made else better
            back = sum(
                x.response(search, weight) for x, weight in self.families.values()
            )
            bent = xp.zeros_like(like)
            for number, at in self.blocks.items():
                own = xp.take(search, at, axis=0)
                curved = (x.product(own, exact=True) for x in here.terms[number])
                bent[at] = sum(curved, self.ridge * own) - back[at]
            length = strength / self.summed(search * bent)
            step, residual = step + length * search, residual - length * bent
        return step
