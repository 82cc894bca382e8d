"""Neighbour search as an estimator of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

__all__ = ["nearest_neighbors"]


def nearest_neighbors(
    embedding: LabelEmbedding, k: int = 10, **options: Any
) -> tuple[NearestNeighbors, npt.NDArray[np.str_]]:
    """Fit scikit-learn's `NearestNeighbors` to the vectors of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    k : int, default 10
        Number of neighbours that a search returns.
    **options : Any
        Other options of `NearestNeighbors`. The metric is "cosine" unless given: one
        minus the similarity that `embedding.nearest` returns.

    Returns
    -------
    search : NearestNeighbors
        The fitted estimator.
    labels : ndarray of str
        The labels; row numbers that the search returns are positions here.

    Raises
    ------
    OptionError
        If `k` is not between 1 and the number of labels.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> search, labels = nearest_neighbors(pets, k=1)
    >>> labels[search.kneighbors([[0.0, 1.0]], return_distance=False)].tolist()
    [['dog']]
    """
    from sklearn.neighbors import NearestNeighbors

    if not 1 <= k <= len(embedding):
        raise OptionError(
            f"k must be from 1 to {len(embedding)}, the number of labels. "
            f"Got {k!r} instead."
        )
    search = NearestNeighbors(n_neighbors=k, **{"metric": "cosine", **options})
    return search.fit(np.asarray(embedding.vectors)), np.array(embedding.labels)
