"""SoftImpute + SVD: complete the concatenation of several embeddings at low rank.

Mazumder, Hastie & Tibshirani, "Spectral regularization algorithms for learning large
incomplete matrices", JMLR 2010. Missing entries are replaced by those of the current
low-rank matrix, whose singular values are lowered by a threshold, until they rest.
Momentum as in FISTA makes it several times faster (Yao & Kwok, IJCAI 2015).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError
from phcle_paper.baselines.cnc import part_weights
from phcle_paper.baselines.complete_contexts import joined_names
from phcle_paper.baselines.gap_filling import aligned_parts
from phcle_paper.baselines.reduction import NEGLIGIBLE, Floats, reduce_dimensions

__all__ = ["soft_impute", "soft_impute_embedding"]

MAX_ITER, TOLERANCE = 200, 1e-3
"""Stop after this many steps, or when the matrix changes by less than this share: a
further step then changes similarities in the third digit."""


def soft_impute_embedding(
    embeddings: Sequence[LabelEmbedding],
    *,
    labels: Iterable[Any] | None = None,
    weights: Sequence[float] | None = None,
    threshold: float = 0.1,
    dim: int | None = None,
) -> LabelEmbedding:
    """Concatenate embeddings that lack labels, complete them and reduce by SVD.

    Parameters
    ----------
    embeddings
        The parts; vectors are scaled to length one, and every column is centred.
    labels
        Which labels, in which order; by default those that any embedding holds.
    weights
        Weight of each part; by default 1.
    threshold
        What is taken off the singular values, as a share of the largest one of the
        matrix with its gaps at the mean.
    dim
        Then reduce to this many dimensions; see `reduce_dimensions`.
    """
    if not (np.isfinite(threshold) and 0 < threshold < 1):
        raise OptionError(
            f"threshold must be between 0 and 1. Got {threshold!r} instead."
        )
    given = list(embeddings)
    kept, blocks = aligned_parts(given, labels)
    scales = part_weights(weights, len(given))
    values = np.hstack([x * block for x, block in zip(scales, blocks, strict=True)])
    low_rank = soft_impute(values - np.nanmean(values, axis=0), threshold)
    return LabelEmbedding(
        kept,
        reduce_dimensions(low_rank, dim),
        names=joined_names(given),
        options={
            "method": "SoftImpute",
            "weights": list(scales),
            "threshold": threshold,
            "dim": dim,
            "parts": [dict(embedding.options) for embedding in given],
        },
    )


def soft_impute(values: Floats, threshold: float) -> Floats:
    """The low-rank matrix that SoftImpute finds for values with NaN at the gaps.

    `threshold` is a share of the largest singular value with the gaps at 0.

    >>> soft_impute(np.diag([4.0, 1.0]), 0.5)
    array([[2., 0.],
           [0., 0.]])
    """
    known = ~np.isnan(values)
    amount = threshold * float(np.linalg.norm(np.where(known, values, 0.0), 2))
    low_rank = np.zeros_like(values)
    ahead, momentum = low_rank, 1.0
    for _ in range(MAX_ITER):
        following = _lowered(np.where(known, values, ahead), amount)
        step = following - low_rank
        if np.vdot(ahead - following, step) > 0:  # it went too far: start anew
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * step
        low_rank, momentum = following, faster
        if np.linalg.norm(step) <= TOLERANCE * np.linalg.norm(low_rank):
            break
    return low_rank


def _lowered(values: Floats, amount: float) -> Floats:
    """The matrix with `amount` taken off its singular values, at least down to 0.

    From the eigenvectors of the smaller Gram matrix, which is much faster than an SVD.
    """
    if values.shape[0] < values.shape[1]:
        return np.ascontiguousarray(_lowered(values.T, amount).T)
    squares, right = np.linalg.eigh(values.T @ values)
    strength = np.sqrt(squares.clip(0))
    kept = (strength > amount) & (strength > NEGLIGIBLE * strength.max(initial=0.0))
    right = right[:, kept]
    share = 1 - amount / strength[kept]
    return np.asarray((values @ right) * share @ right.T)
