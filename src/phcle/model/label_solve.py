"""Solve the rows of W while everything else is fixed.

With C and U fixed, each label is a small convex problem. A fit ends with this solve,
and labels that are added later are solved in the same way.

Nodes of families follow rows, and rows follow nodes, so turns between them would crawl.
`solve_jointly` makes Newton steps of all rows at once. The nodes are always at their
optimum for the rows, and the curvature of the rows lacks what the nodes give back:
H z = (curvature of the rows) z − pull of the nodes solved from z.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from phcle.arrays import AnyFloats
from phcle.backends.protocol import Array, Backend
from phcle.contexts.protocol import LinearUpdate, Local, Sample
from phcle.errors import NumericalError, some
from phcle.model.problem import ColumnSamples, DeviceProblem, Problem, Weights
from phcle.model.rows import relative_lengths, solve

TOO_LARGE = "look for values far larger than those of the fit."

ROUGH_TOL = 1e-2
"""Tolerance of the stage in half precision. The last stage continues from there, so
more exact steps would be wasted."""

SAMPLED_TOL, SAMPLED_COLUMNS = 1e-2, 512
"""Tolerance and number of columns of the first stage, for rows that start at zero. Its
cheap steps cover most of the distance."""

HALF_FROM = 10**7
"""From so many pairs on, a GPU begins in half precision, where that is faster."""

SOLVED_PAIRS, SOLVED_COLUMNS, SOLVED_TOL, SOLVED_STEPS = 10**13, 720_000, 1e-3, 5
"""Above so many pairs, a GPU ends with a sample of so many columns, to this tolerance,
after so many steps at most: all pairs would take minutes for each step. Rows then end
within about 1e-3 of their length from the exact optimum, so smaller steps, and products
in full precision, would be wasted."""

FORESEEN, LARGE_FORESEEN, FORESEEN_PAIRS = 0.15, 1.0, 10**11
"""A step is not made if it would be at most this share of the tolerance; above so many
pairs, where it would take a second or more on a GPU, the larger share. Steps become
thirty times shorter from one to the next, so most rows take two in place of three."""

MOST_STEPS = 50
"""Most Newton steps of a row. Few rows need more than ten."""

MOST_TURNS = 20
"""Most Newton steps. Four to eight are usual."""

SOLVED, MOST_GRADIENTS = 0.05, 200
"""Conjugate gradients of a step end at this share of the residual, or after so many
steps. A more exact step would spare no turn."""

HALVINGS = 20
"""Most halvings of a step that does not lower the objective. Few steps need one."""


@dataclass(frozen=True)
class Solved:
    """Label vectors at their optimum, in the precision of the last steps.

    Attributes
    ----------
    W : array of shape (labels, dim)
        Label vectors, on the host.
    factors : tuple of arrays
        The factor of each context, on the host.
    values : array of shape (contexts,)
        The value of each context's term.
    penalties : mapping from str to float
        The penalties there.
    """

    W: AnyFloats
    factors: tuple[AnyFloats, ...]
    values: AnyFloats
    penalties: Mapping[str, float]


def solve_labels(
    device: DeviceProblem,
    start: AnyFloats | None,
    factors: Sequence[AnyFloats],
    weights: Weights,
    *,
    tol: float = 1e-4,
    settle: bool = False,
) -> Solved:
    """Find the best W for fixed factors.

    On a GPU, more than 10¹³ pairs are represented by a sample of their columns; see
    `solves_sample`.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    start : array of shape (labels, dim), or None
        Where the rows begin, on any device; None is zero.
    factors : sequence of arrays
        One for each context, on any device.
    weights : mapping
        α and β by context.
    tol : float, default 1e-4
        A row is done when a Newton step moves it by at most this share of its length.
    settle : bool, default False
        Solve the nodes of families together with W, until neither moves.

    Returns
    -------
    Solved
        The rows and factors, and the value of each term.
    """
    problem, move = device.problem, device.backend.asarray
    settle = settle and any(x.turns_with_labels for x in problem.contexts)
    foresee = LARGE_FORESEEN if problem.n_pairs > FORESEEN_PAIRS else FORESEEN
    placed = [move(factor) for factor in factors]
    zeros = np.zeros((len(problem.labels), problem.dim), dtype=np.float32)
    W = move(zeros if start is None else start)
    stages = _stages(device.backend, problem, tol, has_start=start is not None)
    for backend, own_tol, samples, most_steps in stages:
        device = device.on(backend)
        if settle:
            W, placed = solve_jointly(device, W, placed, weights, tol=own_tol)
        change = partial(solve, tol=own_tol, max_iter=most_steps, foresee=foresee)
        W, values = device.rows(placed, weights, samples).updated(W, change)
    broken = np.flatnonzero(~np.isfinite(values))
    if len(broken):
        raise NumericalError(
            f"the numbers of context {some([problem.names[i] for i in broken])} are "
            f"not finite while labels are solved; {TOO_LARGE}"
        )
    copy, xp = device.backend.to_numpy, device.backend.xp
    penalties = problem.penalty_terms(xp, W, placed)
    return Solved(copy(W), tuple(map(copy, placed)), values, penalties)


def _stages(
    backend: Backend, problem: Problem, tol: float, *, has_start: bool
) -> list[tuple[Backend, float, Sequence[Sample | None] | None, int]]:
    """Back end, tolerance, samples and most steps of each stage, the last one exact.

    Without a start, rows first converge on a sample of the columns. On a GPU, steps of
    a large problem in half precision follow. All end in the precision of the sweeps.
    """
    is_large = problem.n_pairs > HALF_FROM
    rough = backend.in_half_precision() if is_large else backend
    if solves_sample(backend, problem):
        samples = ColumnSamples(problem, SOLVED_COLUMNS, seed=1).draw(0).columns
        return [(rough, max(tol, SOLVED_TOL), samples, SOLVED_STEPS)]
    # The sweeps may have been in half precision, too.
    last = backend.with_dtype(backend.dtype) if backend.precision != "full" else backend
    stages = []
    if not has_start:
        drawn = ColumnSamples(problem, SAMPLED_COLUMNS, seed=0).draw(0)
        stages.append((rough, SAMPLED_TOL, drawn.columns, MOST_STEPS))
    if rough.precision != last.precision:
        stages.append((rough, max(tol, ROUGH_TOL), None, MOST_STEPS))
    return [*stages, (last, tol, None, MOST_STEPS)]


def solves_sample(backend: Backend, problem: Problem) -> bool:
    """Tell whether the last solve takes a sample of the columns in place of all.

    Parameters
    ----------
    backend : Backend
        Where it would run.
    problem : Problem
        Labels and contexts.

    Returns
    -------
    bool
        True on a GPU above `SOLVED_PAIRS`.
    """
    return backend.is_accelerated and problem.n_pairs > SOLVED_PAIRS


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
        for halving in range(HALVINGS):
            there = problem.at(here.W + 0.5**halving * step)
            # Gains below the rounding error say nothing: trust the gradient.
            if there.total < here.total or 0 >= slope >= -noise:
                break
        else:
            return here.W, here.factors
        lengths, here = relative_lengths(xp, here.W, there.W, tiny), there
        if not int(xp.sum(lengths > tol)):
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
        self.factors, self.problem = factors, device.problem
        self.processes = device.backend.processes
        self.ridge = self.problem.penalties.ridge
        own = self.processes.own_blocks(len(device.blocks))
        self.blocks = {number: device.blocks[number].at for number in own}
        sizes = self.problem.term_weights(weights)
        self.families = {
            i: (cast(LinearUpdate, device.updates[i]), sizes[i])
            for i, context in enumerate(self.problem.contexts)
            if context.turns_with_labels
        }

    def at(self, W: Array) -> _Place:
        """Solve the nodes for these rows, and evaluate all terms."""
        xp, contexts = self.xp, self.problem.contexts
        W = self.processes.exchange_rows(W, self.device.blocks)
        factors, held = list(self.factors), 0.0
        for i, (update, weight) in self.families.items():
            factors[i] = update.improve(W, factors[i], weight)
            own = contexts[i].penalties(xp, factors[i], self.problem.penalties)
            held += sum(own.values())
        rows = self.device.rows(factors, self.weights)
        gradient, total = xp.zeros_like(W), 0.0
        terms: dict[int, list[Local]] = {}
        for number, at in self.blocks.items():
            y = xp.take(W, at, axis=0)
            terms[number] = [term.local(number, y) for term in rows.terms]
            values, gradient[at] = rows.sums(terms[number], y)
            total += float(xp.sum(rows.total(y, values), dtype=xp.float64))
            for term in terms[number]:
                term.lighten()
        total = float(self.processes.sum_over(np.array([total]))[0]) + held
        return _Place(W, factors, terms, total, gradient)

    def summed(self, numbers: Array) -> float:
        """The sum of numbers over all processes."""
        own = float(self.xp.sum(numbers, dtype=self.xp.float64))
        return float(self.processes.sum_over(np.array([own]))[0])

    def by_block(self, change: Callable[[int, Array], Array], x: Array) -> Array:
        """Change the rows of every block of this process; the others become zero."""
        found = self.xp.zeros_like(x)
        for number, at in self.blocks.items():
            found[at] = change(number, self.xp.take(x, at, axis=0))
        return found

    def newton_step(self, here: _Place) -> Array:
        """Conjugate gradients for H δ = −gradient, all rows together."""
        xp, like = self.xp, here.W
        eye = xp.eye(like.shape[1], dtype=like.dtype, device=like.device)
        inverses = {
            number: xp.linalg.inv(
                sum((x.mean_curvature() for x in terms), self.ridge * eye)
            )
            for number, terms in here.terms.items()
        }

        def precondition(number: int, y: Array) -> Array:
            return xp.matmul(y, inverses[number])

        def bend(number: int, y: Array) -> Array:
            curved = (x.product(y, exact=True) for x in here.terms[number])
            return sum(curved, self.ridge * y) - back[self.blocks[number]]

        step, residual = xp.zeros_like(like), -here.gradient
        search, before, strength, first = residual, 0.0, 0.0, 0.0
        for made in range(MOST_GRADIENTS):
            better = self.by_block(precondition, residual)
            before, strength = strength, self.summed(residual * better)
            first = first or strength
            if strength <= SOLVED**2 * first:
                break
            search = better + strength / before * search if made else better
            back = sum(
                x.response(search, weight) for x, weight in self.families.values()
            )
            bent = self.by_block(bend, search)
            length = strength / self.summed(search * bent)
            step, residual = step + length * search, residual - length * bent
        return step
