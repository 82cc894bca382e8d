"""Neighbour search by scikit-learn, for code that is built on it."""

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
    """A fitted `NearestNeighbors`, and the labels that its row numbers stand for.

    The metric is the cosine distance, one minus what `embedding.nearest` tells; other
    options go to scikit-learn as they are.

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
