"""The map from pictures to vectors as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.to_frame import column_names
from phcle.uses.pictures.image_map import CLASS_RIDGE, FEATURE_RIDGE, ImageMap

__all__ = ["PicturesToEmbedding"]


@dataclass(repr=False, eq=False)
class PicturesToEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transform features of pictures into vectors in the space of the labels.

    This is `ImageMap` for scikit-learn pipelines. `set_output(transform="pandas")`
    gives frames, and any estimator may follow.

    Parameters
    ----------
    embedding : LabelEmbedding
        One vector for every class of the training pictures.
    feature_ridge : float, default 100.0
        γ, in the units of `ESZSL`.
    class_ridge : float, default 0.1
        λ, in the units of `ESZSL`.

    Attributes
    ----------
    map_ : ImageMap
        The learned map, after `fit`.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[2, 0], [0, 2], [1, 1]]))
    >>> pictures = PicturesToEmbedding(pets)
    >>> pictures = pictures.fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"])
    >>> bool(np.allclose(pictures.transform([[0.5, 0.5]]), pets["fox"]))
    True
    """

    embedding: LabelEmbedding
    _: KW_ONLY
    feature_ridge: float = FEATURE_RIDGE
    class_ridge: float = CLASS_RIDGE

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from pictures and their classes.

        Parameters
        ----------
        X : array of shape (images, features)
            Features of the pictures.
        y : array of shape (images,)
            Their classes; each must have a vector.

        Returns
        -------
        PicturesToEmbedding
            The fitted transformer itself.
        """
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
        """Map features of pictures to vectors.

        Parameters
        ----------
        X : array of shape (images, features)
            Features of the pictures.

        Returns
        -------
        ndarray of shape (images, dim)
            Vectors in the space of the embedding.
        """
        check_is_fitted(self)
        return self.map_.vectors(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the dimensions, as `LabelEmbedding.to_frame` has them.

        Parameters
        ----------
        input_features : Any, optional
            Not used; scikit-learn passes it.

        Returns
        -------
        ndarray of str
            One name for each dimension.
        """
        check_is_fitted(self)
        return np.array(column_names(self.embedding.dim), dtype=object)
