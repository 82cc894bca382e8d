"""Solve the rows of W while everything else is fixed.

With C and U fixed, each label is a small convex problem. A fit ends with this solve,
and labels that are added later are solved in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.contexts.terms import Sample
from phcle.errors import NumericalError, some
from phcle.model.column_samples import ColumnSamples
from phcle.model.joint_solve import solve_jointly
from phcle.model.problem import LabelRows, Problem, penalty_terms
from phcle.model.rows import solve_rows

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
        Label vectors.
    placed : tuple of arrays
        The factor of each context, on the device.
    values : array of shape (contexts,)
        The value of each context's term.
    penalties : mapping from str to float
        The penalties there.
    backend : Backend
        Where the factors are.
    """

    W: Floats
    placed: tuple[Array, ...]
    values: Floats
    penalties: Mapping[str, float]
    backend: Backend

    @cached_property
    def factors(self) -> tuple[Floats, ...]:
        """The factors on the host; few callers need the copy."""
        return tuple(map(self.backend.to_numpy, self.placed))


@dataclass(frozen=True)
class _Stage:
    """Newton steps on one back end until rows move by at most `tol`."""

    backend: Backend
    tol: float
    samples: list[Sample | None] | None = None
    most_steps: int = MOST_STEPS


def solve_labels(
    backend: Backend,
    problem: Problem,
    start: Floats | None,
    factors: Sequence[Floats],
    weights: Mapping[str, float],
    *,
    tol: float = 1e-4,
    settle: bool = False,
    rows: LabelRows | None = None,
) -> Solved:
    """Find the best W for fixed factors.

    On a GPU, more than 10¹³ pairs are represented by a sample of their columns; see
    `solves_sample`.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    problem : Problem
        Labels and contexts.
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
    rows : LabelRows, optional
        The terms of this problem, if they are on the back end already.

    Returns
    -------
    Solved
        The rows and factors, and the value of each term.
    """
    stages = _stages(backend, problem, tol, has_start=start is not None)
    is_very_large = problem.n_pairs > FORESEEN_PAIRS
    rows = rows or LabelRows(backend, problem)
    placed = [backend.asarray(factor) for factor in factors]
    W = _zeros(backend, problem) if start is None else backend.asarray(start)
    for stage in stages:
        if rows.backend is not stage.backend:
            rows = rows.on(stage.backend)
        if settle and any(context.turns_with_labels for context in problem.contexts):
            W, placed = solve_jointly(
                stage.backend, rows, W, placed, weights, tol=stage.tol
            )
        solved = solve_rows(
            stage.backend,
            W,
            rows.views(placed, weights, samples=stage.samples),
            problem.penalties.ridge,
            rows.blocks,
            tol=stage.tol,
            max_iter=stage.most_steps,
            foresee=LARGE_FORESEEN if is_very_large else FORESEEN,
        )
        W = solved.factor
    penalties = penalty_terms(stage.backend.xp, problem, W, placed)
    W = stage.backend.to_numpy(W)
    broken = [
        name
        for name, value in zip(problem.names, solved.values, strict=True)
        if not np.isfinite(value)
    ]
    if broken:
        raise NumericalError(
            f"the numbers of context {some(broken)} are not finite while labels are "
            f"solved; {TOO_LARGE}"
        )
    return Solved(W, tuple(placed), solved.values, penalties, stage.backend)


def _zeros(backend: Backend, problem: Problem) -> Any:
    """A start of zeros, made on the device, which is faster than copying it there."""
    like = backend.asarray(np.zeros(1))
    shape = (len(problem.labels), problem.dim)
    return backend.xp.zeros(shape, dtype=like.dtype, device=like.device)


def _stages(
    backend: Backend,
    problem: Problem,
    tol: float,
    *,
    has_start: bool,
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
