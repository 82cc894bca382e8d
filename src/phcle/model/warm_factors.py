"""The factors of an earlier embedding as the start of a refit.

Labels and columns are matched by name. Vectors of new labels are solved while the
factors stay fixed; new columns start at zero, and the first sweep solves them from W.
A new context, or longer vectors, need dimensions that the embedding does not have;
sweeps find these slowly, so such a refit has the start of any other fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phcle.arrays import Flags, Floats
from phcle.backends.protocol import Backend
from phcle.contexts.labels import index_of
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.model.label_solve import solve_labels
from phcle.model.problem import Problem
from phcle.model.start import NOISE, Factors, draw_for_all

DEAD = 1e-3
"""A dimension is dead if its part of all products is below this share of the largest.
Sweeps would hardly revive it, so noise takes its place."""

FOLD_TOL = 1e-2
"""Tolerance of the vectors of new labels. The sweeps go on from there."""


def serves_as_start(embedding: LabelEmbedding, problem: Problem) -> bool:
    """Tell whether a refit can start from the factors of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The earlier embedding.
    problem : Problem
        The problem of the refit.

    Returns
    -------
    bool
        Whether it has all contexts, in the same roles, and vectors that are as long.
    """
    before = {(context.name, context.kind) for context in embedding.contexts}
    now = {(context.name, context.kind) for context in problem.contexts}
    return now <= before and problem.dim <= embedding.dim


def warm_factors(
    embedding: LabelEmbedding,
    problem: Problem,
    weights: Mapping[str, float],
    rng: np.random.Generator,
    backend: Backend,
) -> Factors:
    """Make the start of the refit.

    Parameters
    ----------
    embedding : LabelEmbedding
        The earlier embedding.
    problem : Problem
        The problem of the refit.
    weights : mapping
        α and β by context.
    rng : numpy.random.Generator
        Source of noise in dimensions that the embedding does not have.
    backend : Backend
        Where the vectors of new labels are solved.

    Returns
    -------
    Factors
        The start.
    """
    W, is_old = _matched(embedding.labels, embedding.vectors, problem.labels)
    before = {(c.name, c.kind): c for c in embedding.contexts}
    factors = []
    for context in problem.contexts:
        known = before[context.name, context.kind]
        factors.append(_matched(known.columns, known.factor, context.columns)[0])
    turns = [context.turns_with_labels for context in problem.contexts]
    W, factors, n_alive = _in_dimensions(W, factors, turns, problem.dim)
    new = np.flatnonzero(~is_old)
    if len(new):
        part = problem.over(
            [problem.labels[i] for i in new],
            [context.take(new) for context in problem.contexts],
        )
        W[new] = solve_labels(backend, part, None, factors, weights, tol=FOLD_TOL).W
    if n_alive < problem.dim:
        noise = draw_for_all(problem, problem.dim - n_alive, rng)
        for factor, drawn in zip((W, *factors), noise, strict=True):
            factor[:, n_alive:] = NOISE * drawn
    return Factors(W, tuple(factors))


def _matched(
    names: Sequence[str], vectors: Any, wanted: Sequence[str]
) -> tuple[Floats, Flags]:
    """The vectors of the names that are wanted, zero where there is none."""
    position = index_of(names)
    at = np.array([position.get(name, -1) for name in wanted], dtype=np.int64)
    found = np.zeros((len(wanted), vectors.shape[1]))
    is_known = at >= 0
    found[is_known] = vectors[at[is_known]]
    return found, is_known


def _in_dimensions(
    W: Floats, factors: list[Floats], turns: Sequence[bool], dim: int
) -> tuple[Floats, list[Floats], int]:
    """The same products in `dim` dimensions, and how many of these are alive.

    Nothing changes if all dimensions are alive and as many as wanted. Otherwise W F' is
    split by its singular values: dead dimensions become zero, and the weakest go.
    """
    own = _root(W.T @ W)
    others = _root(
        sum(
            (F.T @ F for F, turn in zip(factors, turns, strict=True) if not turn),
            np.zeros_like(own),
        )
    )
    left, strength, right = np.linalg.svd(own @ others)
    n_alive = int(np.count_nonzero(strength > DEAD * strength[0]))
    n_alive = min(n_alive, dim)
    if n_alive == dim == W.shape[1]:
        return W, factors, dim
    root = np.sqrt(strength[:n_alive])
    for_W = others @ right[:n_alive].T / root
    for_others = own @ left[:, :n_alive] / root
    pad = ((0, 0), (0, dim - n_alive))
    turned = [
        np.pad(F @ (for_W if turn else for_others), pad)
        for F, turn in zip(factors, turns, strict=True)
    ]
    return np.pad(W @ for_W, pad), turned, n_alive


def _root(gram: Floats) -> Floats:
    """Symmetric square root of a Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
