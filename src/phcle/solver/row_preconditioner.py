"""An approximate inverse of every row's curvature, for conjugate gradients.

Rows share most of their curvature, so one inverse serves a block. What the few known
entries of a row add is too different from row to row for that: without it, steps of
conjugate gradients would look for each of these directions in turn. Woodbury's formula
adds it exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from phcle.backends.protocol import Array, Backend
from phcle.contexts.terms import Local

__all__ = ["row_preconditioner"]


def row_preconditioner(
    backend: Backend,
    terms: Sequence[Local],
    ridge: float,
    *,
    most_entries: int,
) -> Callable[[Array], Array]:
    """Make an approximate inverse of the curvature of every row.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    terms : sequence of Local
        All terms at a block of rows.
    ridge : float
        λ of the squared penalty on the rows.
    most_entries : int
        Most known entries of a row, over all terms, whose curvature is used exactly. A
        term with more adds the mean curvature of its block.

    Returns
    -------
    callable
        Multiplies every row of an array of shape (r, dim) by the inverse of its own.
    """
    xp = backend.xp
    like = terms[0].gradient
    shared = ridge * xp.eye(like.shape[1], dtype=like.dtype, device=like.device)
    vectors: list[Array] = []
    for term in terms:
        split = term.split_curvature(most_entries)
        if split is None:
            shared = shared + term.mean_curvature()
            continue
        shared = shared + split.shared
        vectors.append(split.vectors)
        most_entries -= split.vectors.shape[1]
    inverse = xp.linalg.inv(shared)
    if not vectors:
        return lambda z: xp.matmul(z, inverse)
    own = backend.low_rank_correction(xp.concat(vectors, axis=1), inverse)
    n_rows, width, dim = own.shape
    places = backend.indices(np.arange(n_rows * width).reshape(n_rows, width))
    corrections = backend.known_entries(places, xp.reshape(own, (-1, dim)))
    ones = xp.ones((n_rows, width), dtype=own.dtype, device=own.device)
    return lambda z: xp.matmul(z, inverse) - corrections.bent(ones, z)
