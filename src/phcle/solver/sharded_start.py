"""Where the factors of a sharded fit start; every part draws its own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from phcle.backends.protocol import Array
from phcle.contexts.base.penalties import UNITS
from phcle.contexts.relational.fitted import BELOW
from phcle.contexts.relational.sharded import ShardedRelational
from phcle.solver.sharded_problem import ShardedProblem
from phcle.solver.start import NOISE

__all__ = ["start_shards"]

EXTRA = 10
"""Dimensions beyond those wanted in the randomised SVD, which make it more exact."""

TURNS = 3
"""Power iterations of the randomised SVD, as in a fit by one process."""

REGULAR = 1e-12
"""Added to the diagonal of Gram matrices, as a share of their mean, so that dependent
columns can be inverted."""


def start_shards(
    device: ShardedProblem, weights: Mapping[str, float], init: str, seed: int
) -> list[Array]:
    """Make the own rows of the factors that a fit starts from.

    Parameters
    ----------
    device : ShardedProblem
        The problem.
    weights : mapping
        α by context.
    init : {"spectral", "random"}
        Which start.
    seed : int
        Seed of the noise.

    Returns
    -------
    list of arrays
        Own rows of W and of each context's factor.
    """
    dim = device.problem.dim
    noise = [_draw(device, i, dim, seed) for i in range(len(device.layouts))]
    if init == "random":
        return [part / dim**0.5 for part in noise]
    found = _spectral(device, weights, seed)
    return [NOISE * a + b for a, b in zip(noise, found, strict=True)]


def _draw(device: ShardedProblem, factor: int, width: int, seed: int) -> Array:
    """Normal numbers for the own rows of a factor, (rows, width)."""
    drawn = [np.empty((0, width))]
    for number, a, b in device.layouts[factor].parts:
        rng = np.random.default_rng([seed, factor, width, number])
        drawn.append(rng.standard_normal((b - a, width)))
    return device.backend.asarray(np.concatenate(drawn))


def _spectral(
    device: ShardedProblem, weights: Mapping[str, float], seed: int
) -> list[Array]:
    """Randomised SVD of log-ratios, split evenly between W and the other factors."""
    backend, problem, xp = device.backend, device.problem, device.backend.xp
    contexts = cast("tuple[ShardedRelational, ...]", problem.contexts)
    low = float(np.log1p(problem.penalties.negatives) + BELOW)
    scales = [
        float(np.sqrt(weights[context.name] * UNITS / len(context.columns)))
        for context in contexts
    ]

    def product(factors: list[Array]) -> Array:
        return sum(
            scale * context.label_rows.log_ratio_product(factor, low)
            for scale, context, factor in zip(scales, contexts, factors, strict=True)
        )

    def transposed(W: Array) -> list[Array]:
        return [
            scale * context.column_rows.log_ratio_product(W, low)
            for scale, context in zip(scales, contexts, strict=True)
        ]

    def gram(parts: list[Array]) -> np.ndarray:
        return np.asarray(sum(backend.to_numpy(device.gram(part)) for part in parts))

    def orthonormal(parts: list[Array]) -> list[Array]:
        for _ in range(2):  # the second time makes up for rounding in the first
            G = gram(parts)
            G += REGULAR * np.trace(G) / len(G) * np.eye(len(G))
            change = backend.asarray(np.linalg.inv(np.linalg.cholesky(G)).T)
            parts = [xp.matmul(part, change) for part in parts]
        return parts

    n_columns = sum(len(context.columns) for context in contexts)
    rank = min(problem.dim, device.layouts[0].n_rows, n_columns)
    width = min(rank + EXTRA, device.layouts[0].n_rows, n_columns)
    across = [_draw(device, i + 1, width, seed) for i in range(len(contexts))]
    (basis,) = orthonormal([product(across)])
    for _ in range(TURNS):
        across = orthonormal(transposed(basis))
        (basis,) = orthonormal([product(across)])
    right = transposed(basis)
    squares, turn = np.linalg.eigh(gram(right))
    strength, turn = np.sqrt(squares[::-1][:rank].clip(0)), turn[:, ::-1][:, :rank]
    # The sign of a singular vector is arbitrary; this one does not depend on rounding.
    turn *= np.sign(turn[np.abs(turn).argmax(axis=0), np.arange(rank)])
    root = np.sqrt(strength)
    undo = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
    padding = problem.dim - rank
    own, other = (
        backend.asarray(np.pad(turn * x, ((0, 0), (0, padding)))) for x in (root, undo)
    )
    factors = [
        xp.matmul(part, other) / scale if scale else xp.matmul(part, other * 0)
        for part, scale in zip(right, scales, strict=True)
    ]
    return [xp.matmul(basis, own), *factors]
