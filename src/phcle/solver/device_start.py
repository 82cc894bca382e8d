"""The spectral start on a GPU: all of it is drawn and computed there.

It is the start of `start_factors` with other noise: a label's numbers are hashes of its
name, because to draw them in the order of sorted names would take longer than all the
rest. Only d × d matrices leave the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.contexts.name_arrays import hash_names
from phcle.contexts.terms import StartTarget
from phcle.solver.problem import Problem

AT_ONCE = 1 << 20
"""Rows converted to double precision at once."""

LEAST = 1e-7
"""Singular values below this share of the largest one are zero up to rounding."""


def draw_on_device(
    problem: Problem, width: int, seed: int, backend: Backend
) -> list[Array]:
    """Draw normal numbers for all labels, then for the columns of every context.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    width : int
        How many numbers for each.
    seed : int
        Seed of the numbers.
    backend : Backend
        Where to draw them.

    Returns
    -------
    list of arrays
        One of shape (labels, width), then one of shape (columns, width) each.
    """
    found = [normal_rows(backend, hash_names(problem.labels), width, seed)]
    for context in problem.contexts:
        own = int(hash_names([context.name])[0]) ^ seed
        found.append(normal_rows(backend, hash_names(context.columns), width, own))
    return found


def start_targets(
    problem: Problem, weights: Mapping[str, float], backend: Backend
) -> list[StartTarget]:
    """What the factors of each context aim at when the fit starts.

    Parameters
    ----------
    problem : Problem
        All contexts.
    weights : mapping from str to float
        Their weights.
    backend : Backend
        Where to compute.

    Returns
    -------
    list of StartTarget
        One for each context.
    """
    lam = problem.penalties
    return [
        context.start_target(
            backend, context.term_weight(weights[context.name], lam), lam
        )
        for context in problem.contexts
    ]


def spectral_on_device(
    problem: Problem, weights: Mapping[str, float], seed: int, backend: Backend
) -> list[Array]:
    """Compute the randomised SVD of all targets, split evenly between the factors.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    weights : mapping
        α and β by context.
    seed : int
        Seed of the first directions.
    backend : Backend
        Where to compute.

    Returns
    -------
    list of arrays
        W, then the factor of each context.
    """
    xp = backend.xp
    targets = start_targets(problem, weights, backend)
    widths = [len(context.columns) for context in problem.contexts]
    rank = min(problem.dim, len(problem.labels), sum(widths))
    width = min(rank + 10, len(problem.labels), sum(widths))

    def product(parts: Sequence[Array]) -> Array:
        own = [t.weight * t.product(V) for t, V in zip(targets, parts, strict=True)]
        return sum(own[1:], own[0])

    def transposed(W: Array) -> list[Array]:
        return [t.weight * t.transposed(W) for t in targets]

    across = draw_on_device(problem, width, seed, backend)[1:]
    (basis,) = _orthonormal(backend, [product(across)])
    for _ in range(3):
        across = _orthonormal(backend, transposed(basis))
        (basis,) = _orthonormal(backend, [product(across)])
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
    starts = range(0, max(1, rows.shape[0]), AT_ONCE)
    return sum(function(rows[start : start + AT_ONCE]) for start in starts)


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


DRAWN_AT_ONCE = 1 << 26
"""Numbers drawn at once: a few arrays of 512 MB."""

MULTIPLIERS = (-0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15)
"""Constants of SplitMix64's last step, as signed numbers."""

STEP = -0x61C8864680B583EB
"""What SplitMix64 adds to its state: 2⁶⁴ over the golden ratio, as a signed number."""


def normal_rows(
    backend: Backend, keys: npt.NDArray[np.uint64], width: int, seed: int
) -> Array:
    """Draw a row of normal numbers for every key.

    A generator with a state gives numbers in the order in which they are drawn. Here
    every number is a hash of its key, its position and the seed, so that a device draws
    billions of them at once, and a label has the same ones wherever it stands.

    Parameters
    ----------
    backend : Backend
        Where to draw.
    keys : array of shape (rows,)
        Keys in 64 bits.
    width : int
        Numbers in a row.
    seed : int
        Other seeds give other numbers.

    Returns
    -------
    array of shape (rows, width)
        On the device.

    Examples
    --------
    >>> from phcle.backends.protocol import choose_backend
    >>> keys = np.array([3, 7], dtype=np.uint64)
    >>> backend = choose_backend("numpy")
    >>> one, two = normal_rows(backend, keys, 2, seed=0)
    >>> bool((normal_rows(backend, keys[::-1], 2, seed=0)[0] == two).all())
    True
    """
    xp = backend.xp
    like = backend.asarray(np.zeros(1))
    drawn = xp.empty((len(keys), width), dtype=like.dtype, device=like.device)
    # Two normal numbers come from one hash, so there are half as many.
    half = -(-width // 2)
    steps = backend.indices(_signed(np.arange(1, half + 1, dtype=np.uint64)) * STEP)
    salt = int(_mixed(_signed(np.array([seed % 2**64], dtype=np.uint64)))[0])
    height = max(1, DRAWN_AT_ONCE // max(1, half))
    for start in range(0, len(keys), height):
        own = backend.indices(_signed(keys[start : start + height]))
        hashed = _mixed(_mixed(own ^ salt)[:, None] + steps)
        # 53 and 24 bits would overlap in 64; single precision needs 24 each.
        first = xp.astype((hashed >> 40) & 0xFFFFFF, like.dtype)
        second = xp.astype((hashed >> 8) & 0xFFFFFF, like.dtype)
        length = xp.sqrt(-2.0 * xp.log((first + 0.5) / 2**24))
        angle = (2 * math.pi / 2**24) * second
        stop = start + own.shape[0]
        drawn[start:stop, :half] = length * xp.cos(angle)
        drawn[start:stop, half:] = (length * xp.sin(angle))[:, : width - half]
    return drawn


def _signed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The same bits as signed numbers, which all array libraries multiply."""
    return np.ascontiguousarray(values, np.uint64).view(np.int64)


def _mixed(x: Array) -> Array:
    """SplitMix64's last step: every bit of the result depends on every bit of x."""
    for shift, factor in zip((30, 27), MULTIPLIERS, strict=True):
        x = (x ^ ((x >> shift) & (2 ** (64 - shift) - 1))) * factor
    return x ^ ((x >> 31) & (2**33 - 1))
