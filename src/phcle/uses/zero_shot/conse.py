"""ConSE: a convex combination of the likeliest seen classes (Norouzi et al., 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.uses.zero_shot.classifier import ZeroShotClassifier, positive, unit_rows
from phcle.uses.zero_shot.image_features import FeatureSide, Scaling, TrainingImages

__all__ = ["ConSE"]

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class _ProbabilitySide:
    """Probabilities of the seen classes by logistic regression."""

    scaling: Scaling
    model: Any

    def read(self, X: Floats) -> Floats:
        return np.asarray(self.model.predict_proba(self.scaling.apply(X)))


class ConSE(ZeroShotClassifier):
    """Nearest candidate to the mean vector of the likeliest seen classes.

    An image's vector is Σ p_t s_t / Σ p_t over the `top` seen classes t of highest
    probability p_t; its score for a candidate is their cosine.

    Parameters
    ----------
    embedding, candidates, seen_penalty, normalize, features
        As for `ESZSL`.
    top : int
        How many seen classes are combined.
    C : float
        Inverse penalty of the logistic regression that gives the probabilities.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[1, 0], [0, 1], [1, 1]]))
    >>> model = ConSE(pets, C=1.0).fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    feature_parameters = ("features", "C")

    def __init__(
        self,
        embedding: LabelEmbedding,
        *,
        candidates: str | Sequence[str] = "unseen",
        seen_penalty: float | str = 0.0,
        top: int = 10,
        C: float = 0.01,
        normalize: str = "l2",
        features: str = "standardize",
    ) -> None:
        self.embedding = embedding
        self.candidates = candidates
        self.seen_penalty = seen_penalty
        self.top = top
        self.C = C
        self.normalize = normalize
        self.features = features

    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """Probabilities of the seen classes."""
        return _ProbabilitySide(
            images.scaling(self.features), images.logistic(self.features, self.C)
        )

    def decide(self, readings: Floats) -> Floats:
        """Combine the likeliest classes, and compare with the candidates."""
        top = min(self.top, readings.shape[1])
        # A stable sort: of equal probabilities the earlier class counts.
        best = np.argsort(-readings, axis=1, kind="stable")[:, :top]
        shares = np.zeros(readings.shape)
        np.put_along_axis(shares, best, np.take_along_axis(readings, best, 1), 1)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(unit_rows(shares @ self.seen_vectors_) @ self.directions_.T)

    def _check_options(self) -> None:
        positive("top", self.top, whole=True)
        positive("C", self.C)

    def _learn_classes(
        self, images: TrainingImages, seen: Floats, candidates: Floats
    ) -> None:
        self.seen_vectors_ = seen  # (seen, dim)
        self.directions_ = unit_rows(candidates)  # (candidates, dim)
