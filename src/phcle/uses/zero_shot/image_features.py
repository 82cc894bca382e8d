"""The image side of zero-shot learning: all that does not depend on the class vectors.

Many embeddings are tried on the same images. What is slow (an eigendecomposition, a
logistic regression) is computed here once for a set of images and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_X_y
from threadpoolctl import threadpool_limits

from phcle.contexts.labels import as_labels
from phcle.errors import OptionError

__all__ = ["FeatureSide", "Scaling", "Spectrum", "TrainingImages", "as_features"]

Floats = npt.NDArray[np.floating]

SCALINGS = ("standardize", "l2", "none")


class FeatureSide(Protocol):
    """What a classifier learned from images before any class vector came in."""

    def read(self, X: Floats) -> Floats:
        """What the class side gets to see of images: one row per image."""
        ...


def as_features(X: Any, **options: Any) -> Floats:
    """Checked features in single or double precision, as they came."""
    if getattr(X, "dtype", None) == np.float16:
        X = np.asarray(X, dtype=np.float32)
    return np.asarray(check_array(X, dtype=(np.float64, np.float32), **options))


@dataclass(frozen=True, eq=False)
class Scaling:
    """How features are brought to scale: fitted on training images, used on all.

    "standardize": every feature has mean zero and variance one. "l2": every image has
    the same length, with a mean square of one per feature. "none": as they come.
    """

    kind: str
    shift: Floats  # (features,)
    factor: Floats  # (features,)

    @classmethod
    def fit(cls, X: Floats, kind: str) -> Scaling:
        """Learn the scaling from training images."""
        if kind not in SCALINGS:
            raise OptionError(
                f"features must be one of {', '.join(SCALINGS)}. Got {kind!r} instead."
            )
        shift, factor = np.zeros_like(X[0]), np.ones_like(X[0])
        if kind == "standardize":
            spread = X.std(axis=0)
            shift = X.mean(axis=0)
            factor = 1 / np.where(spread > 0, spread, 1)
        return cls(kind, shift, factor)

    def apply(self, X: Floats) -> Floats:
        """Features at scale, in the precision they came in."""
        if self.kind == "none":
            return X
        if self.kind == "standardize":
            return np.asarray((X - self.shift) * self.factor, dtype=X.dtype)
        length = np.linalg.norm(X, axis=1, keepdims=True)
        return np.asarray(X * (np.sqrt(X.shape[1]) / np.where(length > 0, length, 1)))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvectors that make ridge regression on the seen classes cheap.

    (XᵀX + γI)⁻¹ XᵀY = left · diag(1 / (values + γ)) · right, for any γ.
    """

    left: Floats  # (features, rank)
    values: Floats  # (rank,)
    right: Floats  # (rank, classes)
    unit: float  # mean squared length of an image's features

    @classmethod
    def of(cls, X: Floats, Y: Floats) -> Spectrum:
        """Decompose the smaller of XᵀX and XXᵀ."""
        X = X.astype(np.float64)
        unit = float((X**2).sum() / len(X)) or 1.0
        # Two BLAS threads that wait for each other on a busy machine make the
        # decomposition thirty times slower; one thread is near the best in any case.
        with threadpool_limits(1):
            if X.shape[0] < X.shape[1]:
                values, vectors = np.linalg.eigh(X @ X.T)
                return cls(X.T @ vectors, values.clip(0), vectors.T @ Y, unit)
            values, vectors = np.linalg.eigh(X.T @ X)
            return cls(vectors, values.clip(0), vectors.T @ (X.T @ Y), unit)

    def ridge_weights(self, ridge: float) -> Floats:
        """Weights (features, classes); the ridge is in units of `unit`."""
        shrunk = self.right / (self.values + ridge * self.unit)[:, None]
        return np.asarray(self.left @ shrunk)


class TrainingImages:
    """Images of seen classes, and what was computed from them so far.

    Pass the same object to `fit_images` of several classifiers, and each slow step is
    done once.

    >>> images = TrainingImages([[0.0], [1.0], [2.0]], ["cat", "dog", "cat"])
    >>> images.classes.tolist(), images.codes.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """

    def __init__(self, X: Any, y: Any) -> None:
        if getattr(X, "dtype", None) == np.float16:
            X = np.asarray(X, dtype=np.float32)
        X, y = check_X_y(X, y, dtype=(np.float64, np.float32))
        check_classification_targets(y)
        values, codes = np.unique(y, return_inverse=True)
        self.X: Floats = X  # (images, features)
        self.codes: npt.NDArray[np.intp] = codes  # (images,) position in classes
        self.classes = np.array(as_labels(values.tolist(), "y"))
        if len(self.classes) < 2:
            raise OptionError(
                "y must name two classes or more to learn from. "
                f"Got one class, {self.classes[0]!r}."
            )
        self._kept: dict[tuple[Any, ...], Any] = {}

    def scaling(self, kind: str) -> Scaling:
        """The scaling that these images give."""
        if ("scaling", kind) not in self._kept:
            self._kept["scaling", kind] = Scaling.fit(self.X, kind)
        found: Scaling = self._kept["scaling", kind]
        return found

    def spectrum(self, kind: str) -> Spectrum:
        """Ridge regression of every class (1, others −1) on the features."""
        if ("spectrum", kind) not in self._kept:
            Y = np.where(self.codes[:, None] == np.arange(len(self.classes)), 1.0, -1.0)
            X = self.scaling(kind).apply(self.X)
            self._kept["spectrum", kind] = Spectrum.of(X, Y)
        found: Spectrum = self._kept["spectrum", kind]
        return found

    def logistic(self, kind: str, C: float) -> Any:
        """Multinomial logistic regression of the seen classes, with penalty 1 / C."""
        if ("logistic", kind, C) not in self._kept:
            # One thread: see Spectrum.of. A tighter tolerance moved the accuracy of
            # ConSE by less than half a point, and took several times as long.
            with threadpool_limits(1):
                self._kept["logistic", kind, C] = LogisticRegression(
                    C=C, tol=1e-3, max_iter=1000
                ).fit(self.scaling(kind).apply(self.X), self.codes)
        return self._kept["logistic", kind, C]
