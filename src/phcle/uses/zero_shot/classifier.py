"""The base class of zero-shot classifiers.

A classifier has two parts. The feature side learns from images alone and turns the
features of an image into readings, such as the probabilities of the seen classes. The
class side turns readings into scores of candidate classes by their vectors. Only the
class side depends on the embedding.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from phcle.arrays import AnyFloats
from phcle.contexts.labels import as_labels
from phcle.embedding.cosine_search import unit_rows
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import (
    OptionError,
    UnknownLabelError,
    check_choice,
    did_you_mean,
    some,
)
from phcle.uses.zero_shot.class_splits import FEWEST, draw_classes, share_of_classes
from phcle.uses.zero_shot.image_features import FeatureSide, TrainingImages, as_features
from phcle.uses.zero_shot.seen_penalty import choose_penalties, lower_seen

NORMALIZATIONS = ("l2", "center", "none")

PENALTY_SPLITS, PENALTY_SHARE = 3, 0.2
"""seen_penalty="auto" draws this many times this share of the classes as unseen ones.
"""


@dataclass(repr=False, eq=False)
class ZeroShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class: learn from images of seen classes, choose among candidate classes.

    A subclass defines `feature_parameters`, `grid`, `feature_side`, `decide`,
    `_check_options` and `_learn_classes`, and adds options of its own. It is a
    scikit-learn classifier: the constructor, which `dataclass` makes, only stores the
    options.

    Attributes
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str
        The classes that `predict` chooses among.
    seen_penalty : float or "auto"
        Subtracted from the scores of seen classes.
    normalize : {"l2", "center", "none"}
        How class vectors are scaled; see `class_matrix`.
    features : {"standardize", "l2", "none"}
        How features are scaled; see `Scaling`.
    feature_parameters : tuple of str
        Options of the feature side. Only when one of these changes must the feature
        side be fitted again.
    grid : mapping of str to sequence
        Values of options that `evaluate` chooses from.
    classes_ : ndarray of str
        The seen classes, after `fit`.
    candidates_ : ndarray of str
        The candidate classes, after `fit`.
    seen_penalty_ : float
        The penalty in use, after `fit`.
    """

    embedding: LabelEmbedding
    _: KW_ONLY
    candidates: str | Sequence[str] = "unseen"
    seen_penalty: float | str = 0.0
    normalize: str = "l2"
    features: str = "standardize"

    feature_parameters: ClassVar[tuple[str, ...]]
    grid: ClassVar[Mapping[str, Sequence[Any]]]

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from images of seen classes.

        Parameters
        ----------
        X : array of shape (images, features)
            Features of the images.
        y : array of shape (images,)
            Their classes; each must have a vector in the embedding.

        Returns
        -------
        ZeroShotClassifier
            The fitted classifier itself.
        """
        return self.fit_images(TrainingImages(X, y))

    def fit_images(
        self, images: TrainingImages, side: FeatureSide | None = None
    ) -> Self:
        """Learn from prepared images, to share slow steps between classifiers.

        Parameters
        ----------
        images : TrainingImages
            Images of seen classes, with the intermediate results computed so far.
        side : FeatureSide, optional
            What `feature_side` returned for these images; computed if left out.

        Returns
        -------
        ZeroShotClassifier
            The fitted classifier itself.
        """
        self._check_options()
        penalty: Any = self.seen_penalty
        if penalty != "auto" and not (_is_number(penalty) and np.isfinite(penalty)):
            raise OptionError(
                f"seen_penalty must be a number or 'auto'. Got {penalty!r} instead."
            )
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

    def decision_function(self, X: npt.ArrayLike) -> AnyFloats:
        """Score the candidates for each image.

        Parameters
        ----------
        X : array of shape (images, features)
            Features of the images.

        Returns
        -------
        ndarray of shape (images, candidates)
            Scores, with columns in the order of `candidates_`.
        """
        check_is_fitted(self)
        features = as_features(X)
        if features.shape[1] != self.n_features_in_:
            raise OptionError(
                f"X has {features.shape[1]} features, but {type(self).__name__} is "
                f"expecting {self.n_features_in_} features as input."
            )
        scores = self.decide(self.feature_side_.apply(features))
        if self.seen_penalty_ == 0:
            return scores
        seen = self.classes_.tolist()
        return lower_seen(scores, self.candidates_, seen, self.seen_penalty_)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.str_]:
        """Return the candidate of highest score for each image.

        Parameters
        ----------
        X : array of shape (images, features)
            Features of the images.

        Returns
        -------
        ndarray of str, shape (images,)
            One class for each image.
        """
        scores = self.decision_function(X)
        return np.asarray(self.candidates_[scores.argmax(axis=1)])

    @abstractmethod
    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """Fit the part that does not depend on the embedding.

        Parameters
        ----------
        images : TrainingImages
            Images of seen classes.

        Returns
        -------
        FeatureSide
            Turns features into readings.
        """

    @abstractmethod
    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Score the candidates from readings of the feature side.

        Parameters
        ----------
        readings : ndarray of shape (images, readings)
            What `FeatureSide.read` returns.

        Returns
        -------
        ndarray of shape (images, candidates)
            Scores before any penalty on seen classes.
        """

    @abstractmethod
    def _check_options(self) -> None:
        """Refuse invalid options."""

    @abstractmethod
    def _learn_classes(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        """Learn the class side from class vectors (classes, dim)."""

    def _penalty(self, images: TrainingImages) -> float:
        """What is subtracted from the scores of seen classes."""
        if self.seen_penalty != "auto":
            return float(self.seen_penalty)
        classes = images.classes.tolist()
        if not np.isin(self.candidates_, classes).any():
            return 0.0
        if len(classes) < 2 * FEWEST:
            raise OptionError(
                f"seen_penalty='auto' needs {2 * FEWEST} classes in y, as it sets some "
                f"aside. Got {len(classes)}; add classes, or give a number."
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
        """The labels to choose among, all of them in the embedding."""
        check_has_vectors(self.embedding, seen, "the classes of y")
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
        check_has_vectors(self.embedding, found, "candidates")
        return found


def class_matrix(
    embedding: LabelEmbedding,
    seen: Sequence[str],
    candidates: Sequence[str],
    normalize: str,
) -> tuple[AnyFloats, AnyFloats]:
    """Return the vectors of seen and candidate classes, scaled in the same way.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that holds all these classes.
    seen : sequence of str
        The seen classes.
    candidates : sequence of str
        The candidate classes.
    normalize : {"l2", "center", "none"}
        "l2" scales every vector to length one. "center" first subtracts the mean of the
        seen classes, which leaves what distinguishes classes. "none" changes nothing.

    Returns
    -------
    seen_vectors : ndarray of shape (seen, dim)
        Vectors of the seen classes.
    candidate_vectors : ndarray of shape (candidates, dim)
        Vectors of the candidates.
    """
    check_choice("normalize", normalize, NORMALIZATIONS)
    S = embedding.select(seen).vectors.astype(np.float64)
    T = embedding.select(candidates).vectors.astype(np.float64)
    if normalize == "none":
        return S, T
    middle = S.mean(axis=0) if normalize == "center" else 0.0
    return unit_rows(S - middle), unit_rows(T - middle)


def positive(name: str, value: Any, *, whole: bool = False) -> None:
    """Refuse an option that is not a number above zero.

    Parameters
    ----------
    name : str
        Name of the option, for the message.
    value : Any
        Its value.
    whole : bool, default False
        Whether it must be a whole number.

    Raises
    ------
    OptionError
        If the value is anything else.
    """
    if not _is_number(value, whole=whole) or not value > 0:
        kind = "a whole number" if whole else "a number"
        raise OptionError(f"{name} must be {kind} above 0. Got {value!r} instead.")


def _is_number(value: Any, *, whole: bool = False) -> bool:
    """Whether this is a number of Python or NumPy; truth values are not."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def check_has_vectors(
    embedding: LabelEmbedding,
    labels: Iterable[str],
    source: str,
    *,
    name: str = "the embedding",
) -> None:
    """Refuse labels that the embedding has no vector for.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    labels : iterable of str
        The labels that are needed.
    source : str
        Where the labels come from, for the message.
    name : str, default "the embedding"
        What the message calls the embedding.

    Raises
    ------
    UnknownLabelError
        If a label is missing.
    """
    missing = [label for label in labels if label not in embedding]
    if missing:
        raise UnknownLabelError(
            f"{name} has no vector for {some(missing)} of {source}."
            f"{did_you_mean(missing[0], embedding.labels)}"
        )
