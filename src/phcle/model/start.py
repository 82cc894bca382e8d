"""Where the factors start.

"spectral" is one joint SVD of the targets of all contexts, side by side: each context
defines what W times its factor should be (`Context.target`). "ones" is the
paper's start, for comparison only: every dimension always gets the same gradient, so W
keeps rank one. It is solved as a one-dimensional problem, because rounding would
otherwise make the dimensions differ.

A refit starts from the factors of an earlier embedding. Labels and columns are matched
by name. Vectors of new labels are solved while the factors stay fixed; new columns
start at zero, and the first sweep solves them from W. A new context needs dimensions
that the embedding does not have; sweeps find these slowly, so such a refit, or one with
vectors of another length, has the start of any other fit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.arrays import Flags, Floats
from phcle.backends.protocol import Array, Backend, choose_backend
from phcle.contexts.alignment import Aligned
from phcle.contexts.labels import hash_names, index_of, positions_of
from phcle.embedding import load
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, PhcleWarning, some
from phcle.model.label_solve import solve_labels
from phcle.model.problem import DeviceProblem, Problem, State, Weights

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

FOLD_TOL = 1e-2
"""Tolerance of the vectors of new labels in a refit. The sweeps go on from there."""

LARGE = 2_000
"""From this many labels on, a GPU makes the start. Below, NumPy takes less than a tenth
of a second, and a fit is nearly the same on every back end."""

AT_ONCE = 1024
"""Rows drawn at once on the host, so that they fit into the cache."""

HASHED_AT_ONCE = 1 << 26
"""Numbers drawn at once on a GPU: a few arrays of 512 MB."""

MULTIPLIERS = (-0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15)
"""Constants of SplitMix64's last step, as signed numbers."""

STEP = -0x61C8864680B583EB
"""What SplitMix64 adds to its state: 2⁶⁴ over the golden ratio, as a signed number."""


def first_state(
    device: DeviceProblem, weights: Weights, seed: int, init: str = "spectral"
) -> State:
    """Make the state that a fit starts from; the same seed gives the same numbers.

    A GPU makes the start of a large problem. Otherwise NumPy makes it in double
    precision, so that it is the same on every machine.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    weights : mapping
        α and β by context.
    seed : int
        Seed of the noise.
    init : {"spectral", "random", "ones"}, default "spectral"
        Which start.

    Returns
    -------
    State
        The state before the first sweep. With "ones" it has one dimension only.
    """
    problem, backend = device.problem, device.backend
    if init == "ones":
        warnings.warn(
            "init='ones', the paper's start, keeps all dimensions equal: "
            "the embedding will have rank one. Use init='spectral'.",
            PhcleWarning,
            stacklevel=4,
        )
        rows = [problem.labels, *(context.columns for context in problem.contexts)]
        ones = [np.full((len(names), 1), np.sqrt(problem.dim)) for names in rows]
        return State.at(ones, weights)
    if len(problem.labels) < LARGE or not backend.is_accelerated:
        backend = choose_backend("numpy", "cpu", "float64")
    rng = np.random.default_rng(seed)
    noise = draw_rows(problem, problem.dim, rng, backend)
    if init == "random":
        found = [part * problem.dim**-0.5 for part in noise]
    else:
        found = spectral(problem, weights, rng, backend)
        found = [NOISE * x + own for x, own in zip(noise, found, strict=True)]
    return State.at(found, weights)


def draw_rows(
    problem: Problem,
    width: int,
    rng: np.random.Generator,
    backend: Backend,
    *,
    with_labels: bool = True,
) -> list[Array]:
    """Draw normal numbers for all labels, then for the columns of every context.

    The order of labels, columns and contexts does not matter. The host draws by sorted
    names; a GPU, for which sorting would take longer than the rest, by hashes of them.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    width : int
        How many numbers for each.
    rng : numpy.random.Generator
        Source of the numbers, or of the seed of the hashes.
    backend : Backend
        Where to draw them.
    with_labels : bool, default True
        Whether labels get numbers, too.

    Returns
    -------
    list of arrays
        One of shape (labels, width), then one of shape (columns, width) each.
    """
    groups: dict[str, Sequence[str]] = {"": problem.labels} if with_labels else {}
    groups |= {context.name: context.columns for context in problem.contexts}
    if backend.is_accelerated:
        seed = int(rng.integers(2**62))
        keys = {name: int(hash_names([name])[0]) ^ seed for name in groups}
        return [
            hashed_rows(backend, hash_names(names), width, keys[name])
            for name, names in groups.items()
        ]
    drawn = {}
    for name, names in sorted(groups.items()):
        drawn[name] = np.empty((len(names), width))
        order = np.argsort(np.array(names, dtype=object), kind="stable")
        for start in range(0, len(names), AT_ONCE):
            some = order[start : start + AT_ONCE]
            drawn[name][some] = rng.standard_normal((len(some), width))
    return [drawn[name] for name in groups]


def spectral(
    problem: Problem, weights: Weights, rng: np.random.Generator, backend: Backend
) -> list[Array]:
    """Compute the randomised SVD of all targets, split evenly between the factors.

    Only d × d matrices leave the device.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    weights : mapping
        α and β by context.
    rng : numpy.random.Generator
        Source of random directions.
    backend : Backend
        Where to compute.

    Returns
    -------
    list of arrays
        W, then the factor of each context.
    """
    xp, lam = backend.xp, problem.penalties
    targets = [
        context.target(backend, weight, lam)
        for context, weight in zip(
            problem.contexts, problem.term_weights(weights), strict=True
        )
    ]
    n_columns = sum(len(context.columns) for context in problem.contexts)
    rank = min(problem.dim, len(problem.labels), n_columns)
    width = min(rank + 10, len(problem.labels), n_columns)

    def product(parts: Sequence[Array]) -> Array:
        own = [t.weight * t.product(V) for t, V in zip(targets, parts, strict=True)]
        return sum(own[1:], own[0])

    def transposed(W: Array) -> list[Array]:
        return [t.weight * t.transposed(W) for t in targets]

    basis = product(draw_rows(problem, width, rng, backend, with_labels=False))
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
    highest, lowest = (
        np.array([backend.to_numpy(side(x, axis=0)) for x in right if len(x)])
        for side in (xp.max, xp.min)
    )
    sign = np.where(highest.max(axis=0) >= -lowest.min(axis=0), 1.0, -1.0)
    pad = ((0, 0), (0, problem.dim - rank))  # dimensions beyond the rank are zero

    def widened(factor: Array, change: Floats) -> Array:
        return xp.matmul(factor, backend.asarray(np.pad(change, pad)))

    found = [widened(basis, turn * root * sign)]
    for target, part in zip(targets, right, strict=True):
        share = 1 / target.weight if target.weight else 0.0
        found.append(widened(part, np.diag(sign * share)))
    return found


def _gram(backend: Backend, parts: Sequence[Array]) -> Floats:
    """Gram matrix of stacked rows, in double precision."""
    xp, total = backend.xp, 0.0
    for part in parts:
        for start in range(0, len(part), CONVERTED_AT_ONCE):  # bounds the memory
            rows = part[start : start + CONVERTED_AT_ONCE]
            precise = xp.astype(rows, xp.float64)
            total = total + xp.matmul(precise.T, precise)
    return np.asarray(backend.to_numpy(total))


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


def hashed_rows(
    backend: Backend, keys: npt.NDArray[np.uint64], width: int, seed: int
) -> Array:
    """Draw normal numbers that are hashes of a row's key, their position and the seed.

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
    """
    xp = backend.xp
    like = backend.asarray(np.zeros(1))
    drawn = xp.empty((len(keys), width), dtype=like.dtype, device=like.device)
    # Two normal numbers come from one hash, so there are half as many.
    half = -(-width // 2)
    steps = backend.indices(np.arange(1, half + 1)) * STEP
    salt = int(_mixed(_signed(np.array([seed % 2**64], dtype=np.uint64)))[0])
    height = max(1, HASHED_AT_ONCE // max(1, half))
    for start in range(0, len(keys), height):
        own = backend.indices(_signed(keys[start : start + height]))
        hashed = _mixed(_mixed(own ^ salt)[:, None] + steps)
        # 53 and 24 bits would overlap in 64; single precision needs 24 each.
        first = xp.astype((hashed >> 40) & 0xFFFFFF, like.dtype)
        second = xp.astype((hashed >> 8) & 0xFFFFFF, like.dtype)
        length = xp.sqrt(-2.0 * xp.log((first + 0.5) / 2**24))
        angle = (2 * math.pi / 2**24) * second
        rows = slice(start, start + height)
        drawn[rows, :half] = length * xp.cos(angle)
        drawn[rows, half:] = (length * xp.sin(angle))[:, : width - half]
    return drawn


def _signed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The same bits as signed numbers, which all array libraries multiply."""
    return np.ascontiguousarray(values, np.uint64).view(np.int64)


def _mixed(x: Any) -> Any:
    """SplitMix64's last step: every bit of the result depends on every bit of x."""
    for shift, factor in zip((30, 27), MULTIPLIERS, strict=True):
        x = (x ^ ((x >> shift) & (2 ** (64 - shift) - 1))) * factor
    return x ^ ((x >> 31) & (2**33 - 1))


def earlier_embedding(
    given: LabelEmbedding | str | Path, aligned: Aligned, init: str
) -> LabelEmbedding:
    """Check what a refit shall start from, and load it.

    Parameters
    ----------
    given : LabelEmbedding, str or Path
        An embedding or its file.
    aligned : Aligned
        Contexts and labels of the refit.
    init : str
        The option of this name.

    Returns
    -------
    LabelEmbedding
        The embedding.
    """
    if init != "spectral":
        raise OptionError(
            f"warm_start takes the place of init={init!r}; leave one of them out."
        )
    if not isinstance(given, (LabelEmbedding, str, Path)):
        raise OptionError(
            "warm_start must be a LabelEmbedding or the path of its file. Got "
            f"{type(given).__name__} instead."
        )
    embedding = given if isinstance(given, LabelEmbedding) else load(given)
    known = {context.given_name for context in embedding.contexts}
    ours = [context.name for context in aligned.contexts]
    if not known:
        raise ContextError(
            "warm_start has vectors but no contexts, so no fit can start from it; "
            "use an embedding that PHCLE learned, or leave warm_start out."
        )
    if known.isdisjoint(ours):
        raise ContextError(
            f"warm_start has the contexts {some(sorted(known))}, and this fit has "
            f"{some(ours)}; name them alike (name=, NAME=FILE), or leave "
            "warm_start out."
        )
    if set(embedding.labels).isdisjoint(aligned.labels):
        raise ContextError(
            f"warm_start has labels such as {some(embedding.labels)}, and none of "
            f"this fit, {some(aligned.labels)}; leave warm_start out."
        )
    return embedding


def warm_factors(
    embedding: LabelEmbedding,
    problem: Problem,
    weights: Weights,
    seed: int,
    backend: Backend,
) -> list[Floats] | None:
    """Make the start of the refit.

    Parameters
    ----------
    embedding : LabelEmbedding
        The earlier embedding.
    problem : Problem
        The problem of the refit.
    weights : mapping
        α and β by context.
    seed : int
        Seed of the noise.
    backend : Backend
        Where the vectors of new labels are solved.

    Returns
    -------
    list of arrays or None
        W, then the factor of each context. None if the embedding lacks a context in its
        role, or has vectors of another length.
    """
    before = {(c.name, c.kind): c for c in embedding.contexts}
    now = [(c.name, c.kind) for c in problem.contexts]
    if not before.keys() >= set(now) or problem.dim != embedding.dim:
        return None
    W, is_old = _matched(embedding.labels, embedding.vectors, problem.labels)
    factors = [
        _matched(before[key].columns, before[key].factor, context.columns)[0]
        for key, context in zip(now, problem.contexts, strict=True)
    ]
    new = np.flatnonzero(~is_old)
    if len(new):
        part = problem.over(
            [problem.labels[i] for i in new],
            [context.take(new) for context in problem.contexts],
        )
        device = DeviceProblem(backend, part)
        W[new] = solve_labels(device, None, factors, weights, tol=FOLD_TOL).W
    host = choose_backend("numpy", "cpu", "float64")
    # Sweeps would hardly revive a dimension that vanished, where all are zero.
    noise = draw_rows(problem, problem.dim, np.random.default_rng(seed), host)
    return [x + NOISE * drawn for x, drawn in zip((W, *factors), noise, strict=True)]


def _matched(
    names: Sequence[str], vectors: Any, wanted: Sequence[str]
) -> tuple[Floats, Flags]:
    """The vectors of the names that are wanted, zero where there is none."""
    at = positions_of(wanted, index_of(names))
    found = np.zeros((len(wanted), vectors.shape[1]))
    is_known = at >= 0
    found[is_known] = vectors[at[is_known]]
    return found, is_known
