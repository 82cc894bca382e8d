"""What pictures' own attributes add to a map that was learned from classes.

A class has one vector, but of two horses one shows its legs. Where pictures have
attributes of their own, a (in units of the context), the vector that fits them best
without going far from the class's vector s is

    t = s + (UᵀU + ρI)⁻¹ Uᵀ (a − U s),

and how t − s follows from the features is a ridge regression.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, some
from phcle.uses.zero_shot.classifier import positive
from phcle.uses.zero_shot.image_features import Spectrum, TrainingImages

__all__ = ["PictureAttributes"]

Floats = npt.NDArray[np.floating]


class PictureAttributes:
    """Attributes of single pictures, made ready for a map's correction.

    Parameters
    ----------
    images : TrainingImages
        The pictures, of classes that have a vector.
    embedding : LabelEmbedding
    context : str
        The descriptive context that the attributes belong to.
    values : (images, columns)
        In the user's units; NaN is unknown, and taken to be as predicted.
    pull : float
        ρ, in units of the mean square of U's columns: how near vectors stay to those
        of their classes.
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
        positive("pull", pull)
        own = _context_of(embedding, context)
        table = np.asarray(values, dtype=np.float64)
        if table.shape != (len(images.X), len(own.columns)):
            raise OptionError(
                f"values must have one row per picture and one column per column of "
                f"{context!r}, {(len(images.X), len(own.columns))}. "
                f"Got {table.shape} instead."
            )
        S = np.asarray(embedding.select(images.classes).vectors, dtype=np.float64)
        U = np.asarray(own.factor, dtype=np.float64)  # (columns, d)
        missing = (table - own.predict(S)[images.codes]) / own.scale
        missing = np.nan_to_num(missing, nan=0.0)
        gram = U.T @ U
        unit = float(np.trace(gram) / len(gram)) or 1.0
        # (images, d): t − s
        away = np.linalg.solve(
            gram + pull * unit * np.eye(len(gram)), U.T @ missing.T
        ).T
        self.mean: Floats = away.mean(axis=0)
        scaled = images.scaling("standardize").apply(images.X)
        self._spectrum = Spectrum.of(scaled, away - self.mean)

    def weights(self, ridge: float) -> Floats:
        """From features at scale to t − s, less its mean: (features, d)."""
        positive("ridge", ridge)
        return self._spectrum.ridge_weights(ridge)


def _context_of(embedding: LabelEmbedding, name: str) -> FittedDescriptive:
    described = [x for x in embedding.contexts if isinstance(x, FittedDescriptive)]
    for context in described:
        if context.name == name:
            return context
    raise OptionError(
        f"the embedding has no descriptive context {name!r}; it has "
        f"{some(x.name for x in described) or 'none'}."
    )
