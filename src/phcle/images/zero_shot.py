"""Zero-shot classifiers, and the choice of a penalty on seen classes.

A classifier turns the features of an image into readings, such as the probabilities of
the seen classes, and readings into scores of candidate classes by their vectors. Only
the second step depends on the embedding.

A classifier scores the classes it was trained on higher than others, and takes most
images of unseen classes for seen ones. Calibrated stacking (Chao et al., ECCV 2016)
subtracts a constant from the scores of seen classes. The constant is chosen on seen
classes: some of them play the unseen ones, images of the others are held out, and the
constant with the highest harmonic mean of both accuracies is taken.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
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
from phcle.embedding import LabelEmbedding
from phcle.embedding.search import unit_rows
from phcle.errors import (
    OptionError,
    UnknownLabelError,
    check_choice,
    did_you_mean,
    some,
)
from phcle.images.features import TrainingImages, as_features
from phcle.images.tasks import (
    Classes,
    Names,
    UnseenClassSplit,
    ZeroShotTask,
    hold_out,
    is_number,
)

NORMALIZATIONS = ("l2", "center", "none")

PENALTY_SPLITS = UnseenClassSplit(3, share=0.2)
"""How seen_penalty="auto" draws the classes that play the unseen ones."""

ROUNDING = 1e-6
"""Leads that differ by less than this share of the largest lead count as equal, because
scores may be in single precision."""


@dataclass(repr=False, eq=False)
class ZeroShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class: learn from images of seen classes, choose among candidate classes.

    A subclass defines the class variables below, `decide` and `_learn`, and adds
    options of its own. It is a scikit-learn classifier: the constructor, which
    `dataclass` makes, only stores the options.

    Attributes
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str
        The classes that `predict` chooses among.
    seen_penalty : float or "auto"
        Subtracted from the scores of seen classes.
    normalize : {"l2", "center", "none"}
        How class vectors are scaled; see `ESZSL`.
    features : {"standardize", "l2", "none"}
        How features are scaled; see `Scaling`.
    feature_parameters : tuple of str
        Options that `readings` depends on.
    numbers, whole_numbers : tuple of str
        Options that must be numbers, or whole numbers, above 0.
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

    feature_parameters: ClassVar[tuple[str, ...]] = ("features",)
    numbers: ClassVar[tuple[str, ...]] = ()
    whole_numbers: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: npt.ArrayLike | TrainingImages, y: npt.ArrayLike | None) -> Self:
        """Learn from images of seen classes.

        Parameters
        ----------
        X : array of shape (images, features), or TrainingImages
            Features of the images. `TrainingImages` keep slow intermediate results
            for the next fit.
        y : array of shape (images,), or None
            Their classes; each must have a vector in the embedding. None with
            `TrainingImages`.

        Returns
        -------
        ZeroShotClassifier
            The fitted classifier itself.
        """
        images = X if isinstance(X, TrainingImages) else TrainingImages(X, y)
        self._check_options()
        seen = images.classes.tolist()
        candidates = self._candidates(seen)
        S: AnyFloats = self.embedding.select(seen).vectors.astype(np.float64)
        T: AnyFloats = self.embedding.select(candidates).vectors.astype(np.float64)
        if self.normalize != "none":
            middle = S.mean(axis=0) if self.normalize == "center" else 0.0
            S, T = unit_rows(S - middle), unit_rows(T - middle)
        self.classes_ = images.classes
        self.candidates_ = np.array(candidates)
        self.n_features_in_ = images.X.shape[1]
        self.scaling_ = images.scaling(self.features)
        self._learn(images, S, T)
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
        scores = self.decide(self.readings(features))
        if self.seen_penalty_ == 0:
            return scores
        is_seen = np.isin(self.candidates_, self.classes_)
        return np.asarray(scores - self.seen_penalty_ * is_seen)

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

    def readings(self, X: AnyFloats) -> AnyFloats:
        """Turn features into what `decide` needs; no class vector takes part.

        Parameters
        ----------
        X : ndarray of shape (images, features)
            Features of the images.

        Returns
        -------
        ndarray of shape (images, readings)
            One row for each image.
        """
        return self.scaling_.apply(X)

    @abstractmethod
    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Score the candidates from readings.

        Parameters
        ----------
        readings : ndarray of shape (images, readings)
            What `readings` returns.

        Returns
        -------
        ndarray of shape (images, candidates)
            Scores before any penalty on seen classes.
        """

    @abstractmethod
    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        """Learn from images and from class vectors (classes, dim)."""

    def _check_options(self) -> None:
        """Refuse invalid options."""
        for name in self.numbers:
            positive(name, getattr(self, name))
        for name in self.whole_numbers:
            positive(name, getattr(self, name), whole=True)
        check_choice("normalize", self.normalize, NORMALIZATIONS)
        penalty: Any = self.seen_penalty
        if penalty != "auto" and not (is_number(penalty) and np.isfinite(penalty)):
            raise OptionError(
                f"seen_penalty must be a number or 'auto'. Got {penalty!r} instead."
            )
        if not isinstance(self.embedding, LabelEmbedding):
            raise OptionError(
                f"embedding must be a LabelEmbedding. Got {self.embedding!r} instead."
            )

    def _penalty(self, images: TrainingImages) -> float:
        """What is subtracted from the scores of seen classes."""
        if self.seen_penalty != "auto":
            return float(self.seen_penalty)
        classes = images.classes.tolist()
        if not np.isin(self.candidates_, classes).any():
            return 0.0
        splits = PENALTY_SPLITS.draw(classes, "seen_penalty='auto': y")
        y = images.classes[images.codes]
        return choose_penalties({"": self}, images.X, y, splits)[""]

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
    if not is_number(value, whole=whole) or not value > 0:
        kind = "a whole number" if whole else "a number"
        raise OptionError(f"{name} must be {kind} above 0. Got {value!r} instead.")


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
        How class vectors are scaled: to length one; to length one after the mean of the
        seen classes is subtracted, which leaves what distinguishes classes; or not at
        all.
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
    numbers = ("feature_ridge", "class_ridge")

    feature_ridge: float = 100.0
    class_ridge: float = 1.0

    def readings(self, X: AnyFloats) -> AnyFloats:
        """Score the seen classes by ridge regression."""
        return np.asarray(super().readings(X) @ self.feature_map_)

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Map scores of the seen classes to scores of the candidates."""
        return np.asarray(readings @ self.class_map_)

    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        self.feature_map_ = images.ridge_weights(self.features, self.feature_ridge)
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
        How class vectors are scaled; see `ESZSL`.
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
    numbers = ("C",)
    whole_numbers = ("top",)

    top: int = 10
    C: float = 0.01

    def readings(self, X: AnyFloats) -> AnyFloats:
        """Probabilities of the seen classes by logistic regression."""
        return np.asarray(self.regression_.predict_proba(super().readings(X)))

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Combine the most probable classes and compare with the candidates."""
        top = min(self.top, readings.shape[1])
        # The stable sort prefers the earlier of classes with equal probability.
        best = np.argsort(-readings, axis=1, kind="stable")[:, :top]
        shares = np.zeros(readings.shape)
        np.put_along_axis(shares, best, np.take_along_axis(readings, best, 1), 1)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(unit_rows(shares @ self.seen_vectors_) @ self.directions_.T)

    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        self.regression_ = images.logistic(self.features, self.C)
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
        How class vectors are scaled; see `ESZSL`.
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

    numbers = ("step", "margin")
    whole_numbers = ("epochs", "batch_size")

    step: float = 10.0
    epochs: int = 3
    margin: float = 1.0
    batch_size: int = 100
    random_state: int | np.random.RandomState | None = 0

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Score by the bilinear map."""
        return np.asarray(readings @ self.map_)

    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        X = self.readings(images.X)
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


def choose_penalties(
    classifiers: Mapping[str, ZeroShotClassifier],
    X: AnyFloats,
    y: Names,
    splits: Iterable[tuple[Classes, Classes]],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """Choose the penalty of every classifier on splits of the seen classes.

    All classifiers learn from the same images, so that slow steps are computed once.

    Parameters
    ----------
    classifiers : mapping of str to ZeroShotClassifier
        The classifiers, which stay as they are: their options are used.
    X : ndarray of shape (images, features)
        Features of images of seen classes.
    y : ndarray of str, shape (images,)
        Their classes.
    splits : iterable of (tuple of str, tuple of str)
        Classes to learn from, and classes that play the unseen ones.
    seed : int, default 0
        Seed of the draw of held-out images.

    Returns
    -------
    dict of str to float
        For each classifier the mean penalty over the splits.
    """
    found: dict[str, list[float]] = {name: [] for name in classifiers}
    for seen, unseen in splits:
        task = hold_out(ZeroShotTask("seen_penalty", X, y, seen, unseen), seed=seed)
        images = TrainingImages(*task.images(task.seen))
        tested = zip(task.images(task.unseen), task.held_out_images(), strict=True)
        features, truth = (np.concatenate(both) for both in tested)
        among = {"candidates": (*unseen, *seen), "seen_penalty": 0.0}
        for name, classifier in classifiers.items():
            options = {**classifier.get_params(deep=False), **among}
            model = type(classifier)(**options).fit(images, None)
            scores = model.decision_function(features)
            found[name].append(
                balancing_penalty(scores, truth, model.candidates_, task.unseen)
            )
    return {name: float(np.mean(penalties)) for name, penalties in found.items()}


def balancing_penalty(
    scores: AnyFloats, y: Names, candidates: Names, unseen: Sequence[str]
) -> float:
    """Return the penalty on seen classes with the highest harmonic mean of accuracies.

    Parameters
    ----------
    scores : ndarray of shape (images, candidates)
        Scores without a penalty.
    y : array of shape (images,)
        The true classes, with seen and unseen ones among them.
    candidates : array of shape (candidates,)
        The classes of the columns.
    unseen : sequence of str
        The candidates that are unseen.

    Returns
    -------
    float
        What to subtract from the scores of seen classes; 0 if no penalty helps.

    Raises
    ------
    OptionError
        If `y` or `candidates` has only seen or only unseen classes.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.8, 0.5]])
    >>> round(balancing_penalty(scores, ["cat", "fox"], ["cat", "fox"], ["fox"]), 2)
    0.55
    """
    truth, names = np.asarray(y), np.asarray(candidates)
    is_new = np.isin(names, unseen)
    shows_new = np.isin(truth, unseen)
    for what, part in (("candidates", is_new), ("y", shows_new)):
        if part.all() or not part.any():
            raise OptionError(f"{what} must have both seen and unseen classes.")
    old, new = scores[:, ~is_new], scores[:, is_new]
    lead = old.max(axis=1) - new.max(axis=1)  # of the best seen class
    # What a right answer adds to the mean accuracy of seen or unseen classes.
    _, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    n_new = len(set(truth[shows_new].tolist()))
    share = 1 / (sizes[codes] * np.where(shows_new, n_new, len(sizes) - n_new))
    old_right = share * (~shows_new & (names[~is_new][old.argmax(axis=1)] == truth))
    new_right = share * (shows_new & (names[is_new][new.argmax(axis=1)] == truth))
    # With a penalty between two leads, all images with a smaller lead are answered
    # by an unseen class.
    order = np.argsort(lead, kind="stable")
    lead = lead[order]
    of_new = np.cumsum(new_right[order])[:-1]
    of_old = old_right.sum() - np.cumsum(old_right[order])[:-1]
    harmonic = 2 * of_new * of_old / np.maximum(of_new + of_old, np.finfo(float).tiny)
    # No penalty can separate leads that differ by rounding alone.
    harmonic[np.diff(lead) <= ROUNDING * np.abs(lead).max()] = 0.0
    if harmonic.max() <= ROUNDING:
        return 0.0
    best = int(harmonic.argmax())
    return float((lead[best] + lead[best + 1]) / 2)
