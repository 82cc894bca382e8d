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

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

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


def first_state(
    device: DeviceProblem,
    weights: Weights,
    seed: int,
    init: str = "spectral",
    earlier: LabelEmbedding | None = None,
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
    earlier : LabelEmbedding, optional
        A refit starts from its factors. If it lacks a context in its role, or has
        vectors of another length, the start is that of any other fit.

    Returns
    -------
    State
        The state before the first sweep. With "ones" it has one dimension only.
    """
    problem, backend = device.problem, device.backend
    found = None
    if earlier is not None:
        found = _warm_factors(earlier, problem, weights, seed, backend)
    if found is not None:
        return State.at(found, weights)
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
    names; a GPU, for which sorting these would take longer than the rest, by sorted
    hashes of them.

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
    xp, drawn = backend.xp, {}
    for name, names in sorted(groups.items()):
        if backend.is_accelerated:
            keys = backend.indices(hash_names(names).view(np.int64))
            rows = backend.normal((len(names), width), int(rng.integers(2**62)))
            drawn[name] = xp.empty_like(rows)
            drawn[name][xp.argsort(keys)] = rows
            continue
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
    fault = ""
    if not known:
        fault = "vectors but no contexts; use an embedding that PHCLE learned"
    elif known.isdisjoint(ours):
        fault = (
            f"the contexts {some(sorted(known))}, and this fit has {some(ours)}; name "
            "them alike (name=, NAME=FILE)"
        )
    elif set(embedding.labels).isdisjoint(aligned.labels):
        fault = f"no label of this fit, but {some(embedding.labels)}; give another one"
    if fault:
        raise ContextError(f"warm_start has {fault}, or leave warm_start out.")
    return embedding


def _warm_factors(
    earlier: LabelEmbedding,
    problem: Problem,
    weights: Weights,
    seed: int,
    backend: Backend,
) -> list[Floats] | None:
    """W, then the factor of each context, of a refit; None if that cannot start so."""
    before = {(c.name, c.kind): c for c in earlier.contexts}
    now = [(c.name, c.kind) for c in problem.contexts]
    if not before.keys() >= set(now) or problem.dim != earlier.dim:
        return None
    W, is_old = _matched(earlier.labels, earlier.vectors, problem.labels)
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
