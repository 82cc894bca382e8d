"""What a refit takes from an earlier embedding: its factors.

Labels and columns are matched by name. Vectors of new labels are solved while the
factors stay fixed; new columns start at zero, and the first sweep solves them from W.
A new context needs dimensions that the embedding does not have; sweeps find these
slowly, so such a refit, or one with vectors of another length, has the start of any
other fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phcle.arrays import Flags, Floats
from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import Aligned
from phcle.contexts.labels import index_of, positions_of
from phcle.embedding import load
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, some
from phcle.model.label_solve import solve_labels
from phcle.model.problem import DeviceProblem, Problem, Weights
from phcle.model.start import NOISE, draw_rows

FOLD_TOL = 1e-2
"""Tolerance of the vectors of new labels. The sweeps go on from there."""


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
