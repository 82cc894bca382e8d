"""Where the factors start.

"spectral" is one joint SVD of the targets of all contexts, side by side: each context
defines what W times its factor should be (`FittedContext.start_target`). "ones" is the
paper's start, for comparison only: every dimension always gets the same gradient, so W
keeps rank one. It is solved as a one-dimensional problem, because rounding would
otherwise make the dimensions differ.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.arrays import Floats
from phcle.backends.protocol import Array, Backend, choose_backend
from phcle.errors import PhcleWarning
from phcle.solver.device_start import (
    draw_on_device,
    spectral_on_device,
    start_targets,
)
from phcle.solver.problem import Problem

NOISE = 0.01
"""Size of the seeded noise at the start. Without noise, dimensions where W and a factor
are both zero would stay zero; more noise would hide the spectral start."""

POWERS = 2
"""Rounds that turn random directions into singular vectors. After a third one, a fit of
10,000 nouns would end less than 1e-4 lower, in a time that it does not save."""

LONG = 2000
"""Use Cholesky above this many rows; below, QR is as fast."""

ALIKE = 1e-6
"""Use QR if a column is this close to a combination of the others: Cholesky of the Gram
matrix would lose too many digits."""

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
    spectral: list[Any] = []
    is_large = len(problem.labels) >= LARGE
    if is_large and backend is not None and backend.is_accelerated:
        seed = int(rng.integers(2**62))
        parts = draw_on_device(problem, problem.dim, seed, backend)
        if init == "spectral":
            spectral = spectral_on_device(problem, weights, seed + 1, backend)
    else:
        backend = choose_backend("numpy", "cpu", "float64")
        parts = draw_for_all(problem, problem.dim, rng)
        if init == "spectral":
            spectral = _spectral(problem, weights, rng, backend)
    for part in parts:
        part *= NOISE if spectral else problem.dim**-0.5
    for part, found in zip(parts, spectral, strict=False):
        part += found
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


def _spectral(
    problem: Problem,
    weights: Mapping[str, float],
    rng: np.random.Generator,
    backend: Backend,
) -> list[Floats]:
    """Randomised SVD of all targets side by side, split evenly between the factors."""
    xp, targets = backend.xp, start_targets(problem, weights, backend)
    widths = [len(context.columns) for context in problem.contexts]
    edges = [int(edge) for edge in np.cumsum([0, *widths])]

    def product(V: Array) -> Array:
        shape = (len(problem.labels), V.shape[1])
        total = xp.zeros(shape, dtype=V.dtype, device=V.device)
        for target, a, b in zip(targets, edges, edges[1:], strict=False):
            if target.weight:
                total += target.weight * target.product(V[a:b])
        return total

    def transposed(W: Array) -> Array:
        return xp.concat([t.weight * t.transposed(W) for t in targets])

    rank = min(problem.dim, len(problem.labels), edges[-1])
    width = min(rank + 10, len(problem.labels), edges[-1])
    probe = backend.asarray(np.concatenate(_draw_for_columns(problem, width, rng)))
    basis = product(probe)
    for _ in range(POWERS):
        across = transposed(_orthonormal(backend, basis, n_rounds=1))
        basis = product(_orthonormal(backend, across, n_rounds=1))
    basis = _orthonormal(backend, basis)
    across = transposed(basis)
    # The SVD of a tall matrix, from that of a small one.
    tall = _orthonormal(backend, across, n_rounds=1)
    small = xp.matmul(tall.T, across)
    turn, strength, left = map(backend.to_numpy, xp.linalg.svd(small))
    right = backend.to_numpy(xp.matmul(tall, backend.asarray(turn)))
    # The sign of a singular vector is arbitrary: make its largest entry positive, so
    # that the order of labels and columns does not matter.
    sign = np.sign(right[np.abs(right).argmax(axis=0), np.arange(right.shape[1])])
    right, left = right * sign, left * sign[:, None]
    root = np.sqrt(strength[:rank])
    own = backend.to_numpy(xp.matmul(basis, backend.asarray(left[:rank].T)))
    found = [_pad(own * root, problem.dim)]
    for target, a, b in zip(targets, edges, edges[1:], strict=False):
        factor = right[a:b, :rank] * root
        factor = factor / target.weight if target.weight else 0 * factor
        found.append(_pad(factor, problem.dim))
    return found


def _orthonormal(backend: Backend, columns: Array, *, n_rounds: int = 2) -> Array:
    """Orthonormal columns with the same span.

    Long columns go through two Cholesky decompositions of their Gram matrix, many times
    faster than QR. After one round they are a little oblique, which does not matter if
    only their span is used. QR is used if the columns are nearly dependent.
    """
    xp = backend.xp
    if columns.shape[0] >= LONG:
        for _ in range(n_rounds):
            try:
                lower = xp.linalg.cholesky(xp.matmul(columns.T, columns))
            except np.linalg.LinAlgError:
                break
            diagonal = xp.linalg.diagonal(lower)
            if xp.min(diagonal) < ALIKE * xp.max(diagonal):
                break
            columns = xp.matmul(columns, xp.linalg.inv(lower).T)
        else:
            return columns
    return xp.linalg.qr(columns)[0]


def _pad(factor: Floats, dim: int) -> Floats:
    """Append zero dimensions if the rank is smaller than `dim`."""
    return np.pad(factor, ((0, 0), (0, dim - factor.shape[1])))
