"""Where the factors start.

"spectral" is one joint SVD of the targets of all contexts, side by side: each context
defines what W times its factor should be (`Context.start_target`). "ones" is the
paper's start, for comparison only: every dimension always gets the same gradient, so W
keeps rank one. It is solved as a one-dimensional problem, because rounding would
otherwise make the dimensions differ.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.arrays import Floats
from phcle.backends.protocol import Array, Backend, choose_backend
from phcle.errors import PhcleWarning
from phcle.model.keyed_normals import draw_on_device
from phcle.model.problem import Problem

NOISE = 0.01
"""Size of the seeded noise at the start. Without noise, dimensions where W and a factor
are both zero would stay zero; more noise would hide the spectral start."""

POWERS = 2
"""Rounds that turn random directions into singular vectors. After a third one, a fit of
10,000 nouns would end less than 1e-4 lower, in a time that it does not save."""

LEAST = 1e-7
"""Singular values below this share of the largest one are zero up to rounding."""

CONVERTED_AT_ONCE = 1 << 20
"""Rows converted to double precision at once."""

LARGE = 2_000
"""From this many labels on, a GPU makes the start, with other noise. Below, NumPy takes
less than a tenth of a second, and a fit is nearly the same on every back end."""

AT_ONCE = 1024
"""Rows drawn at once, so that they fit into the cache."""


@dataclass(frozen=True)
class Factors:
    """W and the factor of each context, as NumPy arrays or on a GPU.

    Attributes
    ----------
    W : array of shape (labels, dim)
        Label vectors.
    of_contexts : tuple of arrays
        The factor of each context, in the order of the problem.
    """

    W: Array
    of_contexts: tuple[Array, ...]


def start_factors(
    problem: Problem,
    weights: Mapping[str, float],
    init: str,
    rng: np.random.Generator,
    *,
    backend: Backend | None = None,
) -> Factors:
    """Make the factors that a fit starts from; the same seed gives the same numbers.

    Parameters
    ----------
    problem : Problem
        The problem to start.
    weights : mapping
        α and β by context.
    init : {"spectral", "random", "ones"}
        Which start.
    rng : numpy.random.Generator
        Source of the noise.
    backend : Backend, optional
        A GPU makes the start of a large problem if this is one. Otherwise NumPy makes
        it in double precision, so that it is the same on every machine.

    Returns
    -------
    Factors
        The start. With "ones" it has one dimension only.
    """
    if init == "ones":
        warnings.warn(
            "init='ones', the paper's start, keeps all dimensions equal: "
            "the embedding will have rank one. Use init='spectral'.",
            PhcleWarning,
            stacklevel=2,
        )
        length = np.sqrt(problem.dim)
        rows = [problem.labels, *(context.columns for context in problem.contexts)]
        parts = [np.full((len(names), 1), length) for names in rows]
        return Factors(parts[0], tuple(parts[1:]))
    is_large = len(problem.labels) >= LARGE
    if is_large and backend is not None and backend.is_accelerated:
        device, seed = backend, int(rng.integers(2**62))
        parts = draw_on_device(problem, problem.dim, seed, device)

        def draw(width: int) -> Sequence[Array]:
            return draw_on_device(problem, width, seed + 1, device)[1:]

    else:
        device = choose_backend("numpy", "cpu", "float64")
        parts = draw_for_all(problem, problem.dim, rng)

        def draw(width: int) -> Sequence[Array]:
            return _draw_for_columns(problem, width, rng)

    is_spectral = init == "spectral"
    for part in parts:
        part *= NOISE if is_spectral else problem.dim**-0.5
    if is_spectral:
        found = spectral(problem, weights, draw, device)
        for part, own in zip(parts, found, strict=True):
            part += own
    return Factors(parts[0], tuple(parts[1:]))


def spread_ones(factor: npt.NDArray[Any], dim: int) -> npt.NDArray[Any]:
    """Turn the one dimension of a fit from "ones" into `dim` equal dimensions.

    Parameters
    ----------
    factor : array of shape (rows, 1)
        The solution in one dimension.
    dim : int
        Number of equal dimensions.

    Returns
    -------
    array of shape (rows, dim)
        The solution in all dimensions.
    """
    return np.repeat(factor / np.sqrt(dim), dim, axis=1)


def _in_name_order(
    names: Sequence[str], width: int, rng: np.random.Generator
) -> Floats:
    """Normal numbers, one row per name, drawn in the order of the sorted names."""
    drawn = np.empty((len(names), width))
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    for start in range(0, len(names), AT_ONCE):
        some = order[start : start + AT_ONCE]
        drawn[some] = rng.standard_normal((len(some), width))
    return drawn


def draw_for_all(
    problem: Problem, width: int, rng: np.random.Generator
) -> list[Floats]:
    """Draw normal numbers for all labels, then for the columns of every context.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    width : int
        How many numbers for each.
    rng : numpy.random.Generator
        Draws them by sorted names, so their order does not matter.

    Returns
    -------
    list of arrays
        One of shape (labels, width), then one of shape (columns, width) each.
    """
    return [
        _in_name_order(problem.labels, width, rng),
        *_draw_for_columns(problem, width, rng),
    ]


def _draw_for_columns(
    problem: Problem, width: int, rng: np.random.Generator
) -> list[Floats]:
    """Normal numbers for the columns of every context, drawn by sorted names.

    The order of contexts and columns does not matter.
    """
    drawn = {
        context.name: _in_name_order(context.columns, width, rng)
        for context in sorted(problem.contexts, key=lambda context: context.name)
    }
    return [drawn[name] for name in problem.names]


def spectral(
    problem: Problem,
    weights: Mapping[str, float],
    draw: Callable[[int], Sequence[Array]],
    backend: Backend,
) -> list[Array]:
    """Compute the randomised SVD of all targets, split evenly between the factors.

    Only d × d matrices leave the device.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    weights : mapping
        α and β by context.
    draw : callable
        Draws so many normal numbers for every column of every context.
    backend : Backend
        Where to compute.

    Returns
    -------
    list of arrays
        W, then the factor of each context.
    """
    xp, lam = backend.xp, problem.penalties
    targets = [
        context.start_target(
            backend, context.term_weight(weights[context.name], lam), lam
        )
        for context in problem.contexts
    ]
    n_columns = sum(len(context.columns) for context in problem.contexts)
    rank = min(problem.dim, len(problem.labels), n_columns)
    width = min(rank + 10, len(problem.labels), n_columns)

    def product(parts: Sequence[Array]) -> Array:
        own = [t.weight * t.product(V) for t, V in zip(targets, parts, strict=True)]
        return sum(own[1:], own[0])

    def transposed(W: Array) -> list[Array]:
        return [t.weight * t.transposed(W) for t in targets]

    basis = product([backend.asarray(part) for part in draw(width)])
    for _ in range(POWERS):
        (basis,) = _orthonormal(backend, [basis])
        basis = product(_orthonormal(backend, transposed(basis)))
    (basis,) = _orthonormal(backend, [basis])
    across = transposed(basis)
    # The singular vectors of a tall matrix, from its Gram matrix in double precision.
    squares, turn = np.linalg.eigh(_gram(backend, across))
    strength = np.sqrt(np.maximum(squares[::-1], 0.0))[:rank]
    turn = turn[:, ::-1][:, :rank]
    is_there = strength > LEAST * strength[0]
    root = np.where(is_there, np.sqrt(strength), 0.0)
    shrink = np.where(is_there, 1 / np.maximum(root, 1e-30), 0.0)
    # The sign of a singular vector is arbitrary: make its largest entry positive, so
    # that the order of labels and columns does not matter.
    right = [xp.matmul(part, backend.asarray(turn * shrink)) for part in across]
    sign = _signs(backend, right)
    found = [xp.matmul(basis, backend.asarray(turn * root * sign))]
    for target, part in zip(targets, right, strict=True):
        share = 1 / target.weight if target.weight else 0.0
        found.append(part * backend.asarray(sign * share))
    return [_widened(backend, part, problem.dim) for part in found]


def _in_parts(rows: Array, function: Callable[[Array], Array]) -> Array:
    """Sum a function over parts of the rows, which bounds the memory."""
    size = CONVERTED_AT_ONCE
    starts = range(0, max(1, rows.shape[0]), size)
    return sum(function(rows[start : start + size]) for start in starts)


def _gram(backend: Backend, parts: Sequence[Array]) -> np.ndarray:
    """Gram matrix of stacked rows, in double precision."""
    xp = backend.xp

    def gram(rows: Array) -> Array:
        precise = xp.astype(rows, xp.float64)
        return xp.matmul(precise.T, precise)

    return np.asarray(sum(backend.to_numpy(_in_parts(part, gram)) for part in parts))


def _orthonormal(backend: Backend, parts: list[Array]) -> list[Array]:
    """Orthonormal columns with the same span, of stacked rows.

    Two rounds with the inverse root of the Gram matrix: the second repairs what
    rounding left over from the first. Directions that the rows do not have become zero.
    """
    for _ in range(2):
        values, vectors = np.linalg.eigh(_gram(backend, parts))
        is_there = values > LEAST**2 * values[-1]
        inverse = np.where(is_there, 1 / np.sqrt(np.where(is_there, values, 1.0)), 0.0)
        change = backend.asarray(vectors * inverse)
        parts = [backend.xp.matmul(part, change) for part in parts]
    return parts


def _signs(backend: Backend, parts: Sequence[Array]) -> np.ndarray:
    """The sign of the entry of each column that is largest in absolute value."""
    xp = backend.xp
    highest = np.max([backend.to_numpy(xp.max(x, axis=0)) for x in parts], axis=0)
    lowest = np.min([backend.to_numpy(xp.min(x, axis=0)) for x in parts], axis=0)
    return np.where(highest >= -lowest, 1.0, -1.0)


def _widened(backend: Backend, factor: Array, dim: int) -> Array:
    """Append zero dimensions if the rank is smaller than `dim`."""
    xp = backend.xp
    shape = (factor.shape[0], dim - factor.shape[1])
    if not shape[1]:
        return factor
    zeros = xp.zeros(shape, dtype=factor.dtype, device=factor.device)
    return xp.concat([factor, zeros], axis=1)
