"""ESZSL: zero-shot learning in closed form (Romera-Paredes & Torr, ICML 2015).

With images X (n, p), Y (n, z) holding 1 for an image's class and −1 elsewhere, and
vectors S (z, d) of the seen classes, V (p, d) minimises

    ‖X V Sᵀ − Y‖² + γ‖V Sᵀ‖² + λ‖X V‖² + γλ‖V‖²,

and an image x scores x V s for a class with vector s. The minimum is a ridge regression
of Y on the images, times a ridge regression of a class on the seen classes:

    x V s = x (XᵀX + γI)⁻¹ XᵀY · (S Sᵀ + λI)⁻¹ S s.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.linalg import solve

from phcle.arrays import AnyFloats
from phcle.uses.zero_shot.classifier import ZeroShotClassifier, positive
from phcle.uses.zero_shot.image_features import FeatureSide, Scaling, TrainingImages


@dataclass(frozen=True, eq=False)
class _RidgeSide:
    """Scores of the seen classes by ridge regression."""

    scaling: Scaling
    weights: AnyFloats  # (features, seen)

    def apply(self, X: AnyFloats) -> AnyFloats:
        return np.asarray(self.scaling.apply(X) @ self.weights)


@dataclass(repr=False, eq=False, kw_only=True)
class ESZSL(ZeroShotClassifier):
    """Embarrassingly simple zero-shot learning: two ridge regressions.

    Parameters
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str, default "unseen"
        The classes that `predict` chooses among.
    seen_penalty : float or "auto", default 0.0
        Subtracted from the scores of seen classes. Without it, images of unseen classes
        are mostly taken for seen ones. "auto" finds the value that balances both: some
        training classes play the unseen ones. It needs at least four classes.
    normalize : {"l2", "center", "none"}, default "l2"
        How class vectors are scaled; see `class_matrix`.
    features : {"standardize", "l2", "none"}, default "standardize"
        How features are scaled: to mean zero and variance one each, to the same length
        for each image, or not at all.
    feature_ridge : float, default 100.0
        γ, the penalty of the regression on features, in units of the mean squared
        length of an image's features.
    class_ridge : float, default 1.0
        λ, the penalty of the regression on classes, in units of the mean squared length
        of a seen class's vector. For vectors of length one, both are the penalties of
        the paper.

    Attributes
    ----------
    classes_ : ndarray of str
        The seen classes.
    candidates_ : ndarray of str
        The candidate classes, in the order of the columns of scores.
    seen_penalty_ : float
        The penalty in use.

    Examples
    --------
    >>> from phcle import LabelEmbedding
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[1, 0], [0, 1], [1, 1]]))
    >>> model = ESZSL(pets, features="none").fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    feature_parameters = ("features", "feature_ridge")
    grid = MappingProxyType(
        {
            "feature_ridge": [1.0, 10.0, 100.0, 1000.0, 10000.0],
            "class_ridge": [0.01, 0.1, 1.0, 10.0, 100.0],
            "normalize": ["l2", "center"],
        }
    )

    feature_ridge: float = 100.0
    class_ridge: float = 1.0

    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """Fit the ridge regression of the seen classes on the features."""
        return _RidgeSide(
            images.scaling(self.features),
            images.spectrum(self.features).ridge_weights(self.feature_ridge),
        )

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Map scores of the seen classes to scores of the candidates."""
        return np.asarray(readings @ self.class_map_)

    def _check_options(self) -> None:
        positive("feature_ridge", self.feature_ridge)
        positive("class_ridge", self.class_ridge)

    def _learn_classes(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        self.class_map_ = carry_over(seen, candidates, self.class_ridge)


def carry_over(seen: AnyFloats, targets: AnyFloats, class_ridge: float) -> AnyFloats:
    """Return (S Sᵀ + λI)⁻¹ S Tᵀ, which maps scores of seen classes to targets.

    With the axes of the space as targets, the result gives the coordinates of an
    image's own vector.

    Parameters
    ----------
    seen : ndarray of shape (seen, dim)
        S, vectors of the seen classes.
    targets : ndarray of shape (targets, dim)
        T, vectors of the targets.
    class_ridge : float
        λ, in units of the mean squared length of a row of S.

    Returns
    -------
    ndarray of shape (seen, targets)
        The map.
    """
    unit = float((seen**2).sum() / len(seen)) or 1.0
    gram = seen @ seen.T + class_ridge * unit * np.eye(len(seen))
    return np.asarray(solve(gram, seen @ targets.T, assume_a="pos"))
