"""What the zero-shot classifiers share: labels, class vectors and the way they are fit.

A classifier has two sides. The feature side learns from images alone and turns an
image into a reading; the class side turns readings into scores of candidate classes by
their vectors. Only the second depends on the embedding.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from phcle.contexts.labels import as_labels
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError, did_you_mean, some
from phcle.uses.zero_shot.class_splits import FEWEST, draw_classes, share_of_classes
from phcle.uses.zero_shot.image_features import FeatureSide, TrainingImages, as_features
from phcle.uses.zero_shot.seen_penalty import choose_penalties, lower_seen

__all__ = ["ZeroShotClassifier", "class_matrix", "positive", "unit_rows"]

Floats = npt.NDArray[np.floating]

NORMALIZATIONS = ("l2", "center", "none")

PENALTY_SPLITS, PENALTY_SHARE = 3, 0.2
"""How often which share of the classes plays the unseen ones for seen_penalty."""


class ZeroShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from images of seen classes, answers among candidate classes."""

    embedding: LabelEmbedding
    candidates: str | Sequence[str]
    seen_penalty: float | str
    normalize: str
    features: str

    feature_parameters: ClassVar[tuple[str, ...]]
    """Options of the feature side; the others need no new look at the images."""

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from images of seen classes.

        Parameters
        ----------
        X : (images, features)
        y : (images,) labels; every one needs a vector in the embedding.
        """
        return self.fit_images(TrainingImages(X, y))

    def fit_images(
        self, images: TrainingImages, side: FeatureSide | None = None
    ) -> Self:
        """Learn from prepared images, and from their feature side if it is known."""
        self._check_options()
        self._check_penalty()
        if not isinstance(self.embedding, LabelEmbedding):
            raise OptionError(
                f"embedding must be a LabelEmbedding. Got {self.embedding!r} instead."
            )
        seen = images.classes.tolist()
        candidates = self._candidates(seen)
        both = class_matrix(self.embedding, seen, candidates, self.normalize)
        self.classes_ = images.classes
        self.candidates_ = np.array(candidates)
        self.n_features_in_ = images.X.shape[1]
        self.feature_side_ = self.feature_side(images) if side is None else side
        self._learn_classes(images, *both)
        self.seen_penalty_ = self._penalty(images)
        return self

    def decision_function(self, X: npt.ArrayLike) -> Floats:
        """Scores (images, candidates), columns in the order of `candidates_`."""
        check_is_fitted(self)
        features = as_features(X)
        if features.shape[1] != self.n_features_in_:
            raise OptionError(
                f"X has {features.shape[1]} features, but {type(self).__name__} is "
                f"expecting {self.n_features_in_} features as input."
            )
        scores = self.decide(self.feature_side_.read(features))
        if self.seen_penalty_ == 0:
            return scores
        seen = self.classes_.tolist()
        return lower_seen(scores, self.candidates_, seen, self.seen_penalty_)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.str_]:
        """The best candidate for every image."""
        scores = self.decision_function(X)
        return np.asarray(self.candidates_[scores.argmax(axis=1)])

    @abstractmethod
    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """What images teach before the embedding comes in."""

    @abstractmethod
    def decide(self, readings: Floats) -> Floats:
        """Scores (images, candidates) from what the feature side read."""

    @abstractmethod
    def _check_options(self) -> None:
        """Refuse options that cannot be."""

    @abstractmethod
    def _learn_classes(
        self, images: TrainingImages, seen: Floats, candidates: Floats
    ) -> None:
        """Learn the class side from class vectors (classes, dim)."""

    def _check_penalty(self) -> None:
        given = self.seen_penalty
        numbers = (int, float, np.integer, np.floating)
        is_number = isinstance(given, numbers) and not isinstance(given, bool)
        if given != "auto" and not (is_number and np.isfinite(given)):
            raise OptionError(
                f"seen_penalty must be a number or 'auto'. Got {given!r} instead."
            )

    def _penalty(self, images: TrainingImages) -> float:
        """What is taken off the scores of seen classes."""
        if self.seen_penalty != "auto":
            return float(self.seen_penalty)
        classes = images.classes.tolist()
        if not np.isin(self.candidates_, classes).any():
            return 0.0
        if len(classes) < 2 * FEWEST:
            raise OptionError(
                f"seen_penalty='auto' sets classes of y aside, and {len(classes)} are "
                f"too few for that; {2 * FEWEST} are needed, or a number."
            )
        options = {**self.get_params(deep=False), "seen_penalty": 0.0}
        n_unseen = share_of_classes(len(classes), PENALTY_SHARE)
        found = choose_penalties(
            {"": lambda among: type(self)(**{**options, "candidates": among})},
            images.X,
            images.classes[images.codes],
            draw_classes(classes, PENALTY_SPLITS, n_unseen, seed=0),
        )
        return found[""]

    def _candidates(self, seen: list[str]) -> list[str]:
        """Labels to choose among, all of them in the embedding."""
        _check_known(self.embedding, seen, "the classes of y")
        if isinstance(self.candidates, str):
            if self.candidates not in ("unseen", "all"):
                raise OptionError(
                    "candidates must be 'unseen', 'all' or a list of labels. "
                    f"Got {self.candidates!r} instead."
                )
            left_out = set(seen) if self.candidates == "unseen" else set()
            found = [x for x in self.embedding.labels if x not in left_out]
            if not found:
                raise OptionError(
                    "no unseen class is left: y names every label of the embedding; "
                    "add labels to the embedding, or set candidates='all'."
                )
            return found
        found = list(as_labels(self.candidates, "candidates"))
        if not found:
            raise OptionError("candidates must name one label or more. Got none.")
        _check_known(self.embedding, found, "candidates")
        return found


def class_matrix(
    embedding: LabelEmbedding,
    seen: Sequence[str],
    candidates: Sequence[str],
    normalize: str,
) -> tuple[Floats, Floats]:
    """Vectors of the seen and of the candidate classes, brought to scale alike.

    "l2": every vector has length one. "center": the mean of the seen classes is taken
    away first, which leaves what tells classes apart. "none": as they come.
    """
    if normalize not in NORMALIZATIONS:
        raise OptionError(
            f"normalize must be one of {', '.join(NORMALIZATIONS)}. "
            f"Got {normalize!r} instead."
        )
    S = embedding.select(seen).vectors.astype(np.float64)
    T = embedding.select(candidates).vectors.astype(np.float64)
    if normalize == "none":
        return S, T
    middle = S.mean(axis=0) if normalize == "center" else 0.0
    return unit_rows(S - middle), unit_rows(T - middle)


def positive(name: str, value: Any, *, whole: bool = False) -> None:
    """Refuse a number that is not above zero."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not value > 0:
        kind = "a whole number" if whole else "a number"
        raise OptionError(f"{name} must be {kind} above 0. Got {value!r} instead.")


def unit_rows(matrix: Floats) -> Floats:
    """Rows at length one; a zero row stays zero."""
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(length > 0, length, 1))


def _check_known(embedding: LabelEmbedding, labels: Sequence[str], what: str) -> None:
    """Name the labels that have no vector."""
    missing = [label for label in labels if label not in embedding]
    if missing:
        raise UnknownLabelError(
            f"the embedding has no vector for {some(missing)} of {what}."
            f"{did_you_mean(missing[0], embedding.labels)}"
        )
