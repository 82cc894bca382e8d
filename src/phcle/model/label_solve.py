"""Solve the rows of W while everything else is fixed.

With C and U fixed, each label is a small convex problem. A fit ends with this solve,
and labels that are added later are solved in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Backend
from phcle.contexts.terms import Sample
from phcle.errors import NumericalError, some
from phcle.model.column_samples import ColumnSamples
from phcle.model.joint_solve import solve_jointly
from phcle.model.problem import DeviceProblem, Problem, Weights
from phcle.model.rows import solve

Floats = npt.NDArray[np.floating[Any]]

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

    W: Floats
    factors: tuple[Floats, ...]
    values: Floats
    penalties: Mapping[str, float]


def solve_labels(
    device: DeviceProblem,
    start: Floats | None,
    factors: Sequence[Floats],
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
    if start is None:  # made on the device, which is faster than copying it there
        like, shape = move(np.zeros(1)), (len(problem.labels), problem.dim)
        W = device.backend.xp.zeros(shape, dtype=like.dtype, device=like.device)
    else:
        W = move(start)
    stages = _stages(device.backend, problem, tol, has_start=start is not None)
    for stage in stages:
        device = device.on(stage.backend)
        if settle:
            W, placed = solve_jointly(device, W, placed, weights, tol=stage.tol)
        change = partial(
            solve, tol=stage.tol, max_iter=stage.most_steps, foresee=foresee
        )
        W, values = device.rows(placed, weights, stage.samples).updated(W, change)
    broken = np.flatnonzero(~np.isfinite(values))
    if len(broken):
        raise NumericalError(
            f"the numbers of context {some([problem.names[i] for i in broken])} are "
            f"not finite while labels are solved; {TOO_LARGE}"
        )
    copy, xp = device.backend.to_numpy, device.backend.xp
    penalties = problem.penalty_terms(xp, W, placed)
    return Solved(copy(W), tuple(map(copy, placed)), values, penalties)


@dataclass(frozen=True)
class _Stage:
    """Newton steps on one back end until rows move by at most `tol`."""

    backend: Backend
    tol: float
    samples: Sequence[Sample | None] | None = None
    most_steps: int = MOST_STEPS


def _stages(
    backend: Backend, problem: Problem, tol: float, *, has_start: bool
) -> list[_Stage]:
    """Cheap steps first, exact steps last.

    Without a start, rows first converge on a sample of the columns. On a GPU, steps of
    a large problem in half precision follow. All end in the precision of the sweeps.
    """
    is_large = problem.n_pairs > HALF_FROM
    rough = backend.in_half_precision() if is_large else backend
    if solves_sample(backend, problem):
        samples = ColumnSamples(problem, SOLVED_COLUMNS, seed=1).draw(0).columns
        return [_Stage(rough, max(tol, SOLVED_TOL), samples, SOLVED_STEPS)]
    # The sweeps may have been in half precision, too.
    last = backend.with_dtype(backend.dtype) if backend.precision != "full" else backend
    stages = [_Stage(last, tol)]
    if rough.precision != last.precision:
        stages.insert(0, _Stage(rough, max(tol, ROUGH_TOL)))
    if not has_start:
        drawn = ColumnSamples(problem, SAMPLED_COLUMNS, seed=0).draw(0)
        stages.insert(0, _Stage(rough, SAMPLED_TOL, drawn.columns))
    return stages


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
