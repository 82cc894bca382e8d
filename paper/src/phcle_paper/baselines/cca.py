"""CCA: the directions in which two or more views of the labels agree.

Regularised generalised canonical correlation in its MAXVAR form (Kettenring 1971); with
two views it is Hotelling's canonical correlation analysis, the fusion that Fu et al.,
ECCV 2014, use for zero-shot learning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError
from phcle_paper.baselines.complete_contexts import joined_names, shared_labels
from phcle_paper.baselines.reduction import NEGLIGIBLE, Floats, check_dim, left_singular

__all__ = ["cca_embedding"]


def cca_embedding(
    views: Sequence[LabelEmbedding],
    *,
    labels: Iterable[Any] | None = None,
    dim: int = 100,
    ridge: float = 0.1,
) -> LabelEmbedding:
    """CCA: the mean over the views of their canonical projections.

    Parameters
    ----------
    views
        Two or more embeddings, of any number of dimensions each.
    labels
        Which labels, in which order; by default those that all views hold.
    dim
        Canonical directions to keep, best first; fewer if there are fewer.
    ridge
        Added to the covariance of each view, in units of its mean variance per
        direction. With as many dimensions as labels, any two views correlate perfectly
        and only the ridge tells directions apart, so keep it well above 0.

    Notes
    -----
    With X_i the centred vectors of view i (labels, d_i), n_i = min(labels − 1, d_i) and
    r_i = ridge · ‖X_i‖² / n_i, the projection onto view i is

        P_i = X_i (X_iᵀ X_i + r_i I)⁻¹ X_iᵀ.

    G (labels, dim) are the first eigenvectors of Σ P_i, at length one. View i projects
    them to P_i G; the mean of these is returned: G times (eigenvalue / number of
    views). For two views without ridge, column k has the length (1 + ρ_k) / 2 with ρ_k
    the k-th canonical correlation.
    """
    check_dim(dim)
    if not (np.isfinite(ridge) and ridge > 0):
        raise OptionError(f"ridge must be a number above 0. Got {ridge!r} instead.")
    given = list(views)
    kept = shared_labels(given, labels)
    if len(given) < 2 or len(kept) < 2:
        raise ContextError(
            "canonical correlation needs two or more views of two or more labels. "
            f"Got {len(given)} views of {len(kept)} labels."
        )
    parts = [_shrunken_basis(view.select(kept).vectors, ridge) for view in given]
    # The left singular vectors of the bases side by side are the eigenvectors of Σ P_i.
    common, root = left_singular(np.hstack(parts), dim)
    root = root[root > NEGLIGIBLE * root[0]]
    return LabelEmbedding(
        kept,
        common[:, : len(root)] * root**2 / len(given),
        names=joined_names(given),
        options={
            "method": "CCA",
            "dim": dim,
            "ridge": ridge,
            "parts": [dict(view.options) for view in given],
        },
    )


def _shrunken_basis(vectors: npt.NDArray[np.floating], ridge: float) -> Floats:
    """B with P = B Bᵀ: left singular vectors, each shrunk by s / √(s² + r)."""
    centred = np.asarray(vectors, np.float64)
    centred = centred - centred.mean(axis=0)
    if not centred.any():
        raise ContextError(
            "a view has the same vector for every label, so it tells none apart; "
            "leave it out."
        )
    left, strength = left_singular(centred, min(centred.shape))
    n_directions = min(len(centred) - 1, centred.shape[1])
    added = ridge * (strength**2).sum() / n_directions
    kept = strength > NEGLIGIBLE * strength[0]
    strength = strength[kept]
    return np.asarray(left[:, kept] * strength / np.sqrt(strength**2 + added))
