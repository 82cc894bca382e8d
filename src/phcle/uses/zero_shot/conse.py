"""ConSE: combine the most probable seen classes (Norouzi et al., ICLR 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from phcle.arrays import AnyFloats
from phcle.embedding.cosine_search import unit_rows
from phcle.uses.zero_shot.classifier import ZeroShotClassifier, positive
from phcle.uses.zero_shot.image_features import FeatureSide, Scaling, TrainingImages


@dataclass(frozen=True, eq=False)
class _ProbabilitySide:
    """Probabilities of the seen classes by logistic regression."""

    scaling: Scaling
    model: Any

    def apply(self, X: AnyFloats) -> AnyFloats:
        return np.asarray(self.model.predict_proba(self.scaling.apply(X)))


@dataclass(repr=False, eq=False, kw_only=True)
class ConSE(ZeroShotClassifier):
    """Choose the candidate nearest to the mean of the most probable seen classes.

    The vector of an image is Σ p_t s_t / Σ p_t over the `top` seen classes t of highest
    probability p_t. Its score for a candidate is the cosine of the two vectors.

    Parameters
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str, default "unseen"
        The classes that `predict` chooses among.
    seen_penalty : float or "auto", default 0.0
        Subtracted from the scores of seen classes; see `ESZSL`.
    normalize : {"l2", "center", "none"}, default "l2"
        How class vectors are scaled; see `class_matrix`.
    features : {"standardize", "l2", "none"}, default "standardize"
        How features are scaled; see `ESZSL`.
    top : int, default 10
        How many seen classes are combined.
    C : float, default 0.01
        Inverse penalty of the logistic regression that gives the probabilities.

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
    >>> model = ConSE(pets, C=1.0).fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    feature_parameters = ("features", "C")
    grid = MappingProxyType(
        {
            "C": [0.001, 0.01, 0.1],
            "top": [1, 3, 10, 30, 100],
            "normalize": ["l2", "center"],
        }
    )

    top: int = 10
    C: float = 0.01

    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """Fit the logistic regression that gives probabilities of the seen classes."""
        return _ProbabilitySide(
            images.scaling(self.features), images.logistic(self.features, self.C)
        )

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Combine the most probable classes and compare with the candidates."""
        top = min(self.top, readings.shape[1])
        # The stable sort prefers the earlier of classes with equal probability.
        best = np.argsort(-readings, axis=1, kind="stable")[:, :top]
        shares = np.zeros(readings.shape)
        np.put_along_axis(shares, best, np.take_along_axis(readings, best, 1), 1)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(unit_rows(shares @ self.seen_vectors_) @ self.directions_.T)

    def _check_options(self) -> None:
        positive("top", self.top, whole=True)
        positive("C", self.C)

    def _learn_classes(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        self.seen_vectors_ = seen  # (seen, dim)
        self.directions_ = unit_rows(candidates)  # (candidates, dim)
