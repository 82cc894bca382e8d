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
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

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
from phcle.uses.zero_shot.image_features import (
    FeatureSide,
    Scaling,
    TrainingImages,
    as_features,
)
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

    With images X (n, p), Y (n, z) holding 1 for an image's class and −1 elsewhere, and
    vectors S (z, d) of the seen classes, V (p, d) minimises

        ‖X V Sᵀ − Y‖² + γ‖V Sᵀ‖² + λ‖X V‖² + γλ‖V‖²,

    and an image x scores x V s for a class with vector s. The minimum is a ridge
    regression of Y on the images, times a ridge regression of a class on the seen
    classes:

        x V s = x (XᵀX + γI)⁻¹ XᵀY · (S Sᵀ + λI)⁻¹ S s.

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


Positions = npt.NDArray[np.intp]


@dataclass(repr=False, eq=False, kw_only=True)
class SJE(ZeroShotClassifier):
    """Structured joint embedding: a bilinear map trained to rank the right class first.

    An image x scores x W s for a class with vector s. For every image, find the seen
    class that violates the margin most,

        y* = argmax_y  margin · [y ≠ y_x] + x W s_y,

    and move W along x (s_{y_x} − s_{y*})ᵀ. The result is the average of W over all
    steps.

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
    step : float, default 10.0
        Length of a step, divided by the mean squared length of an image's features. W
        starts at zero, so only `step / margin` matters for the answers.
    epochs : int, default 3
        How often every image is visited. Stopping early is the only regularisation.
    margin : float, default 1.0
        By how much the right class must lead.
    batch_size : int, default 100
        Number of images in a step, which moves W by their mean.
    random_state : int, RandomState instance or None, default 0
        Order in which images are visited.

    Attributes
    ----------
    losses_ : list of float
        Mean ranking loss of each epoch.
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
    >>> model = SJE(pets, features="none").fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    feature_parameters = ("features",)
    # Steps from 0.1 to 10 gave the same accuracy; the number of epochs matters.
    grid = MappingProxyType({"epochs": [1, 3, 10], "normalize": ["l2", "center"]})

    step: float = 10.0
    epochs: int = 3
    margin: float = 1.0
    batch_size: int = 100
    random_state: int | np.random.RandomState | None = 0

    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """Fit the scaling of the features."""
        return images.scaling(self.features)

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Score by the bilinear map."""
        return np.asarray(readings @ self.map_)

    def _check_options(self) -> None:
        for name in ("step", "margin"):
            positive(name, getattr(self, name))
        for name in ("epochs", "batch_size"):
            positive(name, getattr(self, name), whole=True)

    def _learn_classes(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        X = self.feature_side_.apply(images.X)
        basis = np.eye(seen.shape[1])
        if seen.shape[0] < seen.shape[1]:
            # W stays within the span of the seen classes. With long vectors the steps
            # are cheaper in a basis of that span.
            basis = np.linalg.qr(seen.T)[0]
        # One thread: the products are small, and on a busy machine threads that wait
        # for each other are slower.
        with threadpool_limits(1):
            W, self.losses_ = self._descend(X, images.codes, seen @ basis)
        self.map_ = (W @ (candidates @ basis).T).astype(X.dtype)  # (p, candidates)

    def _descend(
        self, X: AnyFloats, codes: Positions, seen: AnyFloats
    ) -> tuple[AnyFloats, list[float]]:
        """Average of W (p, dim) over all steps, and the mean loss of each epoch."""
        random = check_random_state(self.random_state)
        S = seen.astype(X.dtype)
        step = self.step / (float((X**2).sum() / len(X)) or 1.0)
        W = np.zeros((X.shape[1], S.shape[1]), X.dtype)
        total = np.zeros_like(W)
        losses, n_steps = [], 0
        for _ in range(self.epochs):
            order = random.permutation(len(X))
            loss = 0.0
            for start in range(0, len(X), self.batch_size):
                rows = order[start : start + self.batch_size]
                batch = X[rows]
                violations, pull = self._violations(batch, codes[rows], S, W)
                loss += float(violations.sum())
                W += (step / len(rows)) * (batch.T @ pull)
                total += W
                n_steps += 1
            losses.append(loss / len(X))
        return np.asarray(total / n_steps), losses

    def _violations(
        self, X: AnyFloats, codes: Positions, S: AnyFloats, W: AnyFloats
    ) -> tuple[AnyFloats, AnyFloats]:
        """Ranking loss per image, and s_right − s_worst (zero where the margin holds).

        Where the right class leads by the margin it is its own y*, so both are zero.
        """
        images = np.arange(len(X))
        scores = (X @ W) @ S.T + self.margin  # (images, seen)
        scores[images, codes] -= self.margin
        worst = scores.argmax(axis=1)
        # At equal scores the right class wins, so that nothing is violated.
        worst = np.where(scores[images, worst] > scores[images, codes], worst, codes)
        return scores[images, worst] - scores[images, codes], S[codes] - S[worst]
