"""The map from pictures to vectors as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.to_frame import column_names
from phcle.uses.pictures.image_map import CLASS_RIDGE, FEATURE_RIDGE, ImageMap

__all__ = ["PicturesToEmbedding"]


class PicturesToEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """From features of pictures to vectors in the space of the labels.

    `ImageMap` for pipelines: `set_output(transform="pandas")` gives frames, and what
    follows may be any estimator.

    Parameters
    ----------
    embedding : LabelEmbedding
        One vector for every class that is learned from.
    feature_ridge, class_ridge : float
        γ and λ, as `ESZSL` has them.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[2, 0], [0, 2], [1, 1]]))
    >>> pictures = PicturesToEmbedding(pets)
    >>> pictures = pictures.fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> bool(np.allclose(pictures.transform([[0.5, 0.5]]), pets["fox"]))
    True
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        *,
        feature_ridge: float = FEATURE_RIDGE,
        class_ridge: float = CLASS_RIDGE,
    ) -> None:
        self.embedding = embedding
        self.feature_ridge = feature_ridge
        self.class_ridge = class_ridge

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from pictures (images, features) and their labels (images,)."""
        self.map_ = ImageMap.fit(
            X,
            y,
            self.embedding,
            feature_ridge=self.feature_ridge,
            class_ridge=self.class_ridge,
        )
        self.n_features_in_ = len(self.map_.weights)
        return self

    def transform(self, X: npt.ArrayLike) -> npt.NDArray[np.floating]:
        """Where pictures lie in the embedding's space: (images, d)."""
        check_is_fitted(self)
        return self.map_.vectors(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the dimensions, as frames of the embedding have them."""
        check_is_fitted(self)
        return np.array(column_names(self.embedding.dim), dtype=object)
