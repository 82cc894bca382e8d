"""Improve a map by known attributes of single pictures.

A class has one vector, but pictures of a class differ: of two horses only one may show
its legs. Where pictures have attributes a of their own (in units of the context), the
vector that fits them best and stays near the class's vector s is

    t = s + (UᵀU + ρI)⁻¹ Uᵀ (a − U s),

and a ridge regression predicts t − s from the features.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from phcle.embedding import LabelEmbedding
from phcle.images import ImageMap, TrainingImages, ridge_path

__all__ = ["PictureAttributes"]

Floats = npt.NDArray[np.floating]


class PictureAttributes:
    """Known attributes of training pictures, and the correction that they give.

    Parameters
    ----------
    images : TrainingImages
        The pictures; their classes must have vectors.
    embedding : LabelEmbedding
        The embedding that the map was learned for.
    context : str
        The descriptive context that the attributes belong to.
    values : array of shape (images, columns)
        Attribute values in the user's units. Missing values are NaN and default to the
        prediction.
    pull : float, default 0.1
        ρ, in units of the mean square of U's columns: how near vectors stay to those of
        their classes.

    Attributes
    ----------
    mean : ndarray of shape (dim,)
        Mean of t − s over the pictures.
    """

    def __init__(
        self,
        images: TrainingImages,
        embedding: LabelEmbedding,
        context: str,
        values: npt.ArrayLike,
        *,
        pull: float = 0.1,
    ) -> None:
        own = next(x for x in embedding.predicting if x.name == context)
        table = np.asarray(values, dtype=np.float64)
        S = np.asarray(embedding.select(images.classes).vectors, dtype=np.float64)
        U = np.asarray(own.factor, dtype=np.float64)  # (columns, d)
        means = own.on_fit_scale(own.predict(S))[images.codes]
        residual = (own.on_fit_scale(table) - means) / own.scale
        residual = np.nan_to_num(residual, nan=0.0)
        gram = U.T @ U
        unit = float(np.trace(gram) / len(gram)) or 1.0
        # (images, d): t − s
        away = np.linalg.solve(
            gram + pull * unit * np.eye(len(gram)), U.T @ residual.T
        ).T
        self.mean: Floats = away.mean(axis=0)
        scaled = images.scaling.transform(images.X)
        # The weights that predict t − s, less its mean, from scaled features.
        self.weights = ridge_path(scaled, away - self.mean)

    def improve(self, image_map: ImageMap, ridge: float) -> ImageMap:
        """Return the map with the correction, which `ridge` penalises as in `weights`.

        Parameters
        ----------
        image_map : ImageMap
            A map that was learned from the same pictures.
        ridge : float
            Penalty of the correction.

        Returns
        -------
        ImageMap
            A new map.
        """
        return replace(
            image_map,
            weights=image_map.weights + self.weights(ridge),
            offset=image_map.offset + self.mean,
        )
