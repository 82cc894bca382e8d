"""Solve W and the nodes of families together, until neither moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from phcle.arrays import AnyFloats
from phcle.backends.protocol import Backend
from phcle.contexts.terms import LinearUpdate
from phcle.solver.problem import LabelRows
from phcle.solver.rows import Updated, solve_rows

KEPT_TURNS, MOST_TURNS = 6, {"float32": 20, "float64": 100}
"""How many turns between W and the nodes of families are remembered, and the most turns
that are made. With six remembered, 5 to 15 are usual."""

NODES_TOL = {"float32": 1e-3, "float64": 0.0}
"""Least tolerance of the nodes. Some directions hardly change a prediction; rounding
errors of the rows keep the nodes moving along these."""

RESPONSE_SOLVED, MOST_RESPONSE_STEPS = 0.03, 50
"""Conjugate gradients for the joint response of rows and nodes end at this share of the
residual, or after this many steps. The curvature is a mean over rows, so a more exact
response would save no turn."""


def settle_nodes(
    backend: Backend,
    rows: LabelRows,
    solved: Updated,
    factors: list[Any],
    weights: Mapping[str, float],
    *,
    tol: float,
    most_steps: int,
) -> tuple[Updated, list[Any]]:
    """Solve W and the nodes of families together, until neither moves.

    Plain turns between them would crawl: nodes follow rows, which follow nodes. So a
    turn solves for the joint response of both, with a mean curvature for each block of
    rows. Anderson's method combines the last few turns, which makes up for the mean.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    rows : LabelRows
        The terms of the problem.
    solved : Updated
        Rows at their optimum for the present nodes.
    factors : list of arrays
        The factor of each context; those of families are replaced.
    weights : mapping
        α and β by context.
    tol : float
        A row is done when a Newton step moves it by at most this share of its length.
    most_steps : int
        Most Newton steps of a row at the end.

    Returns
    -------
    solved : Updated
        The rows at their optimum.
    factors : list of arrays
        The factors.
    """
    problem = rows.problem
    families = [
        i for i, context in enumerate(problem.contexts) if context.turns_with_labels
    ]
    joint = _JointResponse(backend, rows, solved.factor, factors, weights, families)
    nodes_tol = max(tol, NODES_TOL[backend.dtype])

    def solve(start: Any, max_iter: int) -> Updated:
        return solve_rows(
            backend,
            start,
            rows.views(factors, weights),
            problem.penalties.ridge,
            rows.blocks,
            tol=tol,
            max_iter=max_iter,
        )

    tried: list[AnyFloats] = []
    found: list[AnyFloats] = []
    for _ in range(MOST_TURNS[backend.dtype]):
        nodes = [factors[i] for i in families]
        tried.append(_on_host(backend, nodes))
        found.append(_on_host(backend, joint.improved(solved.factor, nodes)))
        tried, found = tried[-KEPT_TURNS:], found[-KEPT_TURNS:]
        mixed = _mix(tried, found)
        left = max(np.linalg.norm(x - tried[-1]) for x in (found[-1], mixed))
        if left <= nodes_tol * np.linalg.norm(mixed):
            break
        edges = np.cumsum([0, *(len(x) for x in nodes)])
        for i, a, b in zip(families, edges, edges[1:], strict=False):
            factors[i] = backend.asarray(mixed[a:b])
        moves = [factors[i] - x for i, x in zip(families, nodes, strict=True)]
        start = solved.factor + joint.rows_after(moves)
        solved = solve(start, max_iter=1)
    return solve(solved.factor, most_steps), factors


def _on_host(backend: Backend, parts: Sequence[Any]) -> AnyFloats:
    return np.concatenate([np.asarray(backend.to_numpy(x), np.float64) for x in parts])


class _JointResponse:
    """How rows and nodes answer to each other, with a mean curvature for each block.

    If nodes P = A⁻¹ Sᵀ W move by p, rows move by T⁻¹ S p, where T is the curvature; the
    nodes follow, and so on. The sum of this series is p + A⁻¹ Sᵀ u with
    (T − S A⁻¹ Sᵀ) u = S p. (S is multiplied by the weight.)
    """

    def __init__(
        self,
        backend: Backend,
        rows: LabelRows,
        W: Any,
        factors: list[Any],
        weights: Mapping[str, float],
        families: list[int],
    ) -> None:
        self.backend, self.blocks = backend, rows.blocks
        xp, problem = self.backend.xp, rows.problem
        lam = problem.penalties
        self.updates = []
        for i in families:
            context = problem.contexts[i]
            weight = context.term_weight(weights[context.name], lam)
            update = context.factor_update(self.backend, problem.dim, lam)
            self.updates.append((cast(LinearUpdate, update), weight))
        views = rows.views(factors, weights)
        processes = self.backend.processes
        curvatures = np.zeros((len(self.blocks), problem.dim, problem.dim))
        for number in processes.own_blocks(len(self.blocks)):
            y = xp.take(W, self.blocks[number].at, axis=0)
            for view in views:
                mean = view.local(number, y).mean_curvature()
                curvatures[number] += self.backend.to_numpy(mean)
        curvatures = processes.sum_over(curvatures) + lam.ridge * np.eye(problem.dim)
        self.curvatures = self.backend.asarray(curvatures)
        self.inverses = self.backend.asarray(np.linalg.inv(curvatures))

    def improved(self, W: Any, nodes: list[Any]) -> list[Any]:
        """Where the nodes go, if the rows W answer to them."""
        steps = [new - old for new, old in zip(self._follow(W), nodes, strict=True)]
        answers = self._follow(self._solve(self._pull(steps)))
        return [x + s + a for x, s, a in zip(nodes, steps, answers, strict=True)]

    def rows_after(self, moves: list[Any]) -> Any:
        """How the rows move, if the nodes move."""
        return self._times(self.inverses, self._pull(moves))

    def _follow(self, W: Any) -> list[Any]:
        return [update.solved(W, weight) for update, weight in self.updates]

    def _pull(self, moves: list[Any]) -> Any:
        pairs = zip(self.updates, moves, strict=True)
        return sum(update.pull(move, weight) for (update, weight), move in pairs)

    def _times(self, matrices: Any, rows: Any) -> Any:
        """Multiply every row by the matrix of its block."""
        xp = self.backend.xp
        product = xp.empty_like(rows)
        for number, block in enumerate(self.blocks):
            part = xp.take(rows, block.at, axis=0)
            product[block.at] = xp.matmul(part, matrices[number])
        return product

    def _solve(self, target: Any) -> Any:
        """Conjugate gradients for (T − S A⁻¹ Sᵀ) u = target."""
        xp = self.backend.xp

        def dot(a: Any, b: Any) -> float:
            return float(xp.sum(a * b, dtype=xp.float64))

        u, residual = xp.zeros_like(target), target
        search = self._times(self.inverses, residual)
        strength = first = dot(residual, search)
        for _ in range(MOST_RESPONSE_STEPS):
            if strength <= RESPONSE_SOLVED**2 * first:
                break
            follow = self._pull(self._follow(search))
            bent = self._times(self.curvatures, search) - follow
            length = strength / dot(search, bent)
            u, residual = u + length * search, residual - length * bent
            better = self._times(self.inverses, residual)
            renewed = dot(residual, better)
            search = better + renewed / strength * search
            strength = renewed
        return u


def _mix(tried: list[AnyFloats], found: list[AnyFloats]) -> AnyFloats:
    """The next point of Anderson's method, from points and what a turn made of them."""
    if len(tried) == 1:
        return found[-1]
    steps = [(b - a).ravel() for a, b in zip(tried, found, strict=True)]
    change = np.stack([steps[-1] - step for step in steps[:-1]], axis=1)
    shares = np.linalg.lstsq(change, steps[-1], rcond=1e-8)[0]
    back = (s * (found[-1] - x) for s, x in zip(shares, found[:-1], strict=True))
    return np.asarray(found[-1] - sum(back))
