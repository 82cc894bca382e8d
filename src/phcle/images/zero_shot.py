"""Zero-shot classifiers.

A classifier scores the classes it was trained on higher than others, and takes most
images of unseen classes for seen ones. Calibrated stacking (Chao et al., ECCV 2016)
subtracts a constant from the scores of seen classes.

Many embeddings are tested on the same images. `TrainingImages` keep what does not
depend on class vectors and is slow: an eigendecomposition, a logistic regression.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y
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

NORMALIZATIONS = ("l2", "center", "none")
PRECISIONS = (np.float64, np.float32)


def as_features(X: Any, width: int, owner: object) -> AnyFloats:
    """Check features and return them in single or double precision.

    Parameters
    ----------
    X : array of shape (images, features)
        Features of images.
    width : int
        The number of features that each image must have.
    owner : object
        What takes them, for the message.

    Returns
    -------
    ndarray of shape (images, features)
        The same numbers; half precision becomes double precision.
    """
    found = np.asarray(check_array(X, dtype=PRECISIONS))
    if found.shape[1] != width:
        raise OptionError(
            f"X has {found.shape[1]} features, but {type(owner).__name__} is expecting "
            f"{width} features as input; use the network of the training images."
        )
    return found


def ridge_path(X: AnyFloats, Y: AnyFloats) -> Callable[[float], AnyFloats]:
    """Return the ridge regression of Y on X as a function of its penalty.

    One eigendecomposition, of the smaller of XᵀX and XXᵀ, makes every penalty cheap.

    Parameters
    ----------
    X : ndarray of shape (images, features)
        Scaled features.
    Y : ndarray of shape (images, targets)
        What the regression predicts.

    Returns
    -------
    callable
        Gives the weights (features, targets) for a penalty in units of the mean squared
        length of a row of X.

    Examples
    --------
    >>> weights = ridge_path(np.eye(2), np.eye(2))
    >>> weights(1.0).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    X = X.astype(np.float64)
    unit = float((X**2).sum() / len(X)) or 1.0
    # One thread: on a busy machine, BLAS threads that wait for each other make the
    # decomposition thirty times slower. On an idle one, more threads help little.
    with threadpool_limits(1):
        if X.shape[0] < X.shape[1]:
            values, vectors = np.linalg.eigh(X @ X.T)
            left, right = X.T @ vectors, vectors.T @ Y
        else:
            values, left = np.linalg.eigh(X.T @ X)
            right = left.T @ (X.T @ Y)

    def weights(ridge: float) -> AnyFloats:
        return np.asarray(left @ (right / (values.clip(0) + ridge * unit)[:, None]))

    return weights


class TrainingImages:
    """Images of seen classes, with the intermediate results computed from them so far.

    Pass the same object to `fit` of several classifiers, and each slow step is computed
    once.

    Parameters
    ----------
    X : array of shape (images, features)
        Features of the images.
    y : array of shape (images,)
        Their classes; there must be two or more.

    Attributes
    ----------
    X : ndarray of shape (images, features)
        The features.
    classes : ndarray of str
        The classes, sorted.
    codes : ndarray of int, shape (images,)
        Position of each image's class in `classes`.
    scaling : StandardScaler
        Gives every feature mean zero and variance one.

    Examples
    --------
    >>> images = TrainingImages([[0.0], [1.0], [2.0]], ["cat", "dog", "cat"])
    >>> images.classes.tolist(), images.codes.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """

    def __init__(self, X: Any, y: Any) -> None:
        X, y = check_X_y(X, y, dtype=PRECISIONS)
        check_classification_targets(y)
        values, codes = np.unique(y, return_inverse=True)
        self.X: AnyFloats = X
        self.codes: npt.NDArray[np.intp] = codes
        self.classes = np.array(as_labels(values.tolist(), "y"))
        if len(self.classes) < 2:
            only = str(self.classes[0])
            raise OptionError(
                f"y must have two classes or more. Got one class, {only!r}."
            )
        self.scaling = StandardScaler().fit(X)
        self._computed: dict[Hashable, Any] = {}

    def ridge_weights(self, ridge: float) -> AnyFloats:
        """Return the weights of the ridge regression of the classes on the features.

        The target of a class is 1 for its own images and −1 for the others.

        Parameters
        ----------
        ridge : float
            γ, in units of the mean squared length of an image's scaled features.

        Returns
        -------
        ndarray of shape (features, classes)
            The weights.
        """

        def decompose() -> Callable[[float], AnyFloats]:
            Y = np.where(self.codes[:, None] == np.arange(len(self.classes)), 1.0, -1.0)
            return ridge_path(self.scaling.transform(self.X), Y)

        weights = self._once("path", decompose)
        return np.asarray(self._once(("ridge", ridge), lambda: weights(ridge)))

    def logistic(self, C: float) -> Any:
        """Return a multinomial logistic regression of the classes on the features.

        Parameters
        ----------
        C : float
            Inverse of the penalty.

        Returns
        -------
        sklearn.linear_model.LogisticRegression
            The fitted regression; its classes are `codes`.
        """

        def compute() -> Any:
            # A tighter tolerance changes the accuracy of ConSE by less than half a
            # point and takes several times as long.
            model = LogisticRegression(C=C, tol=1e-3, max_iter=1000)
            with threadpool_limits(1):  # as in ridge_path
                return model.fit(self.scaling.transform(self.X), self.codes)

        return self._once(("logistic", C), compute)

    def _once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Compute a value the first time it is asked for."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]


@dataclass(repr=False, eq=False)
class ZeroShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class: learn from images of seen classes, choose among candidate classes.

    A subclass defines `_learn` and `_scores`, and adds options of its own: those of the
    types int and float must be above 0. It is a scikit-learn classifier: the
    constructor, which `dataclass` makes, only stores the options. Features are
    standardized first.

    Attributes
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str
        The classes that `predict` chooses among.
    seen_penalty : float
        Subtracted from the scores of seen classes.
    normalize : {"l2", "center", "none"}
        How class vectors are scaled; see `ESZSL`.
    classes_ : ndarray of str
        The seen classes, after `fit`.
    candidates_ : ndarray of str
        The candidate classes, after `fit`.
    """

    embedding: LabelEmbedding
    _: KW_ONLY
    candidates: str | Sequence[str] = "unseen"
    seen_penalty: Any = 0.0
    normalize: str = "l2"

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
        self.scaling_ = images.scaling
        self._learn(images, S, T)
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
        features = as_features(X, self.n_features_in_, self)
        scores = self._scores(self.scaling_.transform(features))
        is_seen = np.isin(self.candidates_, self.classes_)
        return np.asarray(scores - self.seen_penalty * is_seen)

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
    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        """Learn from images and from class vectors (classes, dim)."""

    @abstractmethod
    def _scores(self, X: AnyFloats) -> AnyFloats:
        """Score the candidates by scaled features, before any penalty."""

    def _check_options(self) -> None:
        """Refuse invalid options."""
        for option in fields(self):
            if option.type in ("float", "int"):
                value, is_whole = getattr(self, option.name), option.type == "int"
                positive(option.name, value, whole=is_whole)
        check_choice("normalize", self.normalize, NORMALIZATIONS)
        if not isinstance(self.embedding, LabelEmbedding):
            raise OptionError(
                f"embedding must be a LabelEmbedding. Got {self.embedding!r}."
            )
        penalty = self.seen_penalty
        is_number = isinstance(penalty, Real) and not isinstance(penalty, bool)
        if not is_number or not np.isfinite(penalty):
            raise OptionError(f"seen_penalty must be a number. Got {penalty!r}.")

    def _candidates(self, seen: list[str]) -> tuple[str, ...]:
        """The labels to choose among, all of them in the embedding."""
        check_has_vectors(self.embedding, seen, "the classes of y")
        if not isinstance(self.candidates, str):
            found = as_labels(self.candidates, "candidates")
            check_has_vectors(self.embedding, found, "candidates")
        else:
            what = "candidates, where it is no list of labels,"
            check_choice(what, self.candidates, ("unseen", "all"))
            left_out = set(seen) if self.candidates == "unseen" else set()
            found = tuple(x for x in self.embedding.labels if x not in left_out)
        if not found:
            raise OptionError(
                "candidates must name one label or more, but no unseen class is left; "
                "add labels to the embedding, or set candidates='all'."
            )
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
    kind: Any = Integral if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind) or not value > 0:
        words = "a whole number" if whole else "a number"
        raise OptionError(f"{name} must be {words} above 0. Got {value!r} instead.")


def check_has_vectors(
    embedding: LabelEmbedding, labels: Iterable[str], source: str, name: str = ""
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
    name : str, optional
        What the message calls the embedding.

    Raises
    ------
    UnknownLabelError
        If a label is missing.
    """
    missing = [label for label in labels if label not in embedding]
    if missing:
        hint = did_you_mean(missing[0], embedding.labels)
        raise UnknownLabelError(
            f"{name or 'the embedding'} has no vector for {some(missing)} of {source}."
            f"{hint}"
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
    seen_penalty : float, default 0.0
        Subtracted from the scores of seen classes. Without it, images of unseen classes
        are mostly taken for seen ones.
    normalize : {"l2", "center", "none"}, default "l2"
        How class vectors are scaled: to length one; to length one after the mean of the
        seen classes is subtracted, which leaves what distinguishes classes; or not at
        all.
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

    Examples
    --------
    >>> from phcle import LabelEmbedding
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[1, 0], [0, 1], [1, 1]]))
    >>> model = ESZSL(pets).fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    feature_ridge: float = 100.0
    class_ridge: float = 1.0

    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        self.feature_map_ = images.ridge_weights(self.feature_ridge)
        self.class_map_ = carry_over(seen, candidates, self.class_ridge)

    def _scores(self, X: AnyFloats) -> AnyFloats:
        return np.asarray(X @ self.feature_map_ @ self.class_map_)


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
    seen_penalty : float, default 0.0
        Subtracted from the scores of seen classes; see `ESZSL`.
    normalize : {"l2", "center", "none"}, default "l2"
        How class vectors are scaled; see `ESZSL`.
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

    Examples
    --------
    >>> from phcle import LabelEmbedding
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[1, 0], [0, 1], [1, 1]]))
    >>> model = ConSE(pets, C=1.0).fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    top: int = 10
    C: float = 0.01

    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        self.regression_ = images.logistic(self.C)
        self.seen_vectors_ = seen  # (seen, dim)
        self.directions_ = unit_rows(candidates)  # (candidates, dim)

    def _scores(self, X: AnyFloats) -> AnyFloats:
        """Combine the most probable classes and compare with the candidates."""
        probabilities = self.regression_.predict_proba(X).astype(np.float64)
        # The stable sort prefers the earlier of classes with equal probability.
        ranks = np.argsort(np.argsort(-probabilities, axis=1, kind="stable"), axis=1)
        shares = np.where(ranks < self.top, probabilities, 0.0)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(unit_rows(shares @ self.seen_vectors_) @ self.directions_.T)


@dataclass(repr=False, eq=False, kw_only=True)
class SJE(ZeroShotClassifier):
    """Structured joint embedding: a bilinear map trained to rank the right class first.

    An image x scores x W s for a class with vector s. For every image, find the seen
    class that violates the margin of one most,

        y* = argmax_y  [y ≠ y_x] + x W s_y,

    and move W along x (s_{y_x} − s_{y*})ᵀ. The result is the average of W over all
    steps.

    Parameters
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str, default "unseen"
        The classes that `predict` chooses among.
    seen_penalty : float, default 0.0
        Subtracted from the scores of seen classes; see `ESZSL`.
    normalize : {"l2", "center", "none"}, default "l2"
        How class vectors are scaled; see `ESZSL`.
    step : float, default 10.0
        Length of a step, divided by the mean squared length of an image's features. W
        starts at zero, so another margin would only be another step.
    epochs : int, default 3
        How often every image is visited. Stopping early is the only regularisation.
    batch_size : int, default 100
        Number of images in a step, which moves W by their mean.
    random_state : int, RandomState instance or None, default 0
        Order in which images are visited.

    Attributes
    ----------
    classes_ : ndarray of str
        The seen classes.
    candidates_ : ndarray of str
        The candidate classes, in the order of the columns of scores.

    Examples
    --------
    >>> from phcle import LabelEmbedding
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[1, 0], [0, 1], [1, 1]]))
    >>> model = SJE(pets).fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    step: float = 10.0
    epochs: int = 3
    batch_size: int = 100
    random_state: int | np.random.RandomState | None = 0

    def _learn(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        X, basis = self.scaling_.transform(images.X), np.eye(seen.shape[1])
        if seen.shape[0] < seen.shape[1]:
            # W stays within the span of the seen classes. With long vectors the steps
            # are cheaper in a basis of that span.
            basis = np.linalg.qr(seen.T)[0]
        # One thread: the products are small, and on a busy machine threads that wait
        # for each other are slower.
        with threadpool_limits(1):
            W = self._descend(X, images.codes, seen @ basis)
        self.map_ = (W @ (candidates @ basis).T).astype(X.dtype)  # (p, candidates)

    def _scores(self, X: AnyFloats) -> AnyFloats:
        return np.asarray(X @ self.map_)

    def _descend(
        self, X: AnyFloats, codes: npt.NDArray[np.intp], seen: AnyFloats
    ) -> AnyFloats:
        """Average of W (p, dim) over all steps."""
        random = check_random_state(self.random_state)
        S = seen.astype(X.dtype)
        step = self.step / (float((X**2).sum() / len(X)) or 1.0)
        W = np.zeros((X.shape[1], S.shape[1]), X.dtype)
        total, n_steps = np.zeros_like(W), 0
        for _ in range(self.epochs):
            order = random.permutation(len(X))
            for start in range(0, len(X), self.batch_size):
                rows = order[start : start + self.batch_size]
                batch, right, images = X[rows], codes[rows], np.arange(len(rows))
                scores = (batch @ W) @ S.T + 1.0  # (images, seen)
                scores[images, right] -= 1.0
                worst = scores.argmax(axis=1)
                # At equal scores the right class wins, so that nothing is violated.
                is_violated = scores[images, worst] > scores[images, right]
                worst = np.where(is_violated, worst, right)
                W += (step / len(rows)) * (batch.T @ (S[right] - S[worst]))
                total += W
                n_steps += 1
        return np.asarray(total / n_steps)
