"""Splits by class, whose test classes never occur in training, and accuracies by class.

`UnseenClassSplit` is a cross-validator for scikit-learn. Zero-shot tasks draw their
classes with the same function.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from phcle.contexts.labels import as_labels
from phcle.errors import OptionError, PhcleWarning, some


class GeneralisedAccuracy(NamedTuple):
    """Mean per-class accuracy of seen and of unseen classes.

    Parameters
    ----------
    seen : float
        Mean accuracy of seen classes.
    unseen : float
        Mean accuracy of unseen classes.
    harmonic : float
        Harmonic mean of the two.
    """

    seen: float
    unseen: float
    harmonic: float


def class_accuracies(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> dict[str, float]:
    """Return the share of right answers for every class.

    Parameters
    ----------
    y_true : array of shape (images,)
        The true classes.
    y_pred : array of shape (images,)
        The answers.

    Returns
    -------
    dict of str to float
        Accuracy of each class of `y_true`.

    Examples
    --------
    >>> class_accuracies(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    {'cat': 0.5, 'dog': 1.0}
    """
    truth, answers = _pair(y_true, y_pred)
    classes, codes = np.unique(truth, return_inverse=True)
    right = np.bincount(codes, weights=truth == answers)
    shares = right / np.bincount(codes)
    return dict(zip(classes.tolist(), shares.tolist(), strict=True))


def mean_class_accuracy(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> float:
    """Return the mean over classes of the share of right answers.

    Parameters
    ----------
    y_true : array of shape (images,)
        The true classes.
    y_pred : array of shape (images,)
        The answers.

    Returns
    -------
    float
        Accuracy, from 0 to 1.

    Examples
    --------
    >>> mean_class_accuracy(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    0.75
    """
    return float(np.mean(list(class_accuracies(y_true, y_pred).values())))


def generalised_accuracy(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, unseen: Iterable[str]
) -> GeneralisedAccuracy:
    """Return the accuracy of seen and of unseen classes in a generalised test.

    In such a test the candidates are all classes, seen and unseen.

    Parameters
    ----------
    y_true : array of shape (images,)
        The true classes, with seen and unseen ones among them.
    y_pred : array of shape (images,)
        The answers.
    unseen : iterable of str
        The unseen classes.

    Returns
    -------
    GeneralisedAccuracy
        Both accuracies and their harmonic mean.

    Raises
    ------
    OptionError
        If `y_true` has only seen or only unseen classes.

    Examples
    --------
    >>> generalised_accuracy(["cat", "fox"], ["cat", "cat"], unseen=["fox"])
    GeneralisedAccuracy(seen=1.0, unseen=0.0, harmonic=0.0)
    """
    shares = class_accuracies(y_true, y_pred)
    new = set(unseen)
    parts = {
        "seen": [share for label, share in shares.items() if label not in new],
        "unseen": [share for label, share in shares.items() if label in new],
    }
    for name, part in parts.items():
        if not part:
            raise OptionError(
                "y_true must have both seen and unseen classes. "
                f"Got no {name} ones among {some(shares)}."
            )
    seen, other = (float(np.mean(part)) for part in parts.values())
    harmonic = 2 * seen * other / (seen + other) if seen + other > 0 else 0.0
    return GeneralisedAccuracy(seen, other, harmonic)


def _pair(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike
) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.str_]]:
    """Check that both have the same length, and return them as text."""
    truth, answers = np.asarray(y_true).astype(str), np.asarray(y_pred).astype(str)
    if truth.ndim != 1 or truth.shape != answers.shape or not len(truth):
        raise OptionError(
            "y_true and y_pred must be two lists of one length, not empty. "
            f"Got shapes {truth.shape} and {answers.shape}."
        )
    return truth, answers


FEWEST = 2
"""Fewest classes on either side of a split: with one class every answer is right."""

Rows = npt.NDArray[np.intp]


def draw_classes(
    classes: Iterable[str], n_splits: int, n_unseen: int, seed: int | None
) -> Iterator[tuple[list[str], list[str]]]:
    """Draw seen and unseen classes at random for every split.

    Parameters
    ----------
    classes : iterable of str
        All classes; their order does not matter.
    n_splits : int
        How many splits to draw.
    n_unseen : int
        Number of unseen classes of a split.
    seed : int or None
        Seed of the random numbers; None gives other splits each time.

    Yields
    ------
    seen : list of str
        Classes to learn from.
    unseen : list of str
        Classes to test on.
    """
    random = np.random.default_rng(seed)
    ordered = sorted(classes)
    for _ in range(n_splits):
        drawn = random.permutation(ordered).tolist()
        yield drawn[n_unseen:], drawn[:n_unseen]


def share_of_classes(n_classes: int, share: float) -> int:
    """Return the number of classes that a share is, at least two on either side.

    Parameters
    ----------
    n_classes : int
        Number of all classes.
    share : float
        The share wanted, between 0 and 1.

    Returns
    -------
    int
        Number of classes.
    """
    return min(max(round(share * n_classes), FEWEST), n_classes - FEWEST)


@dataclass(repr=False, eq=False)
class UnseenClassSplit(BaseEstimator):  # type: ignore[misc]
    """Cross-validation over classes: test classes never occur in training.

    Pass it wherever scikit-learn takes `cv=`.

    Parameters
    ----------
    n_splits : int, default 5
        How many splits to draw.
    n_unseen : int, optional
        Number of test classes of a split.
    share : float, default 0.2
        Share of all classes to test on; used if `n_unseen` is left out.
    random_state : int or None, default 0
        Seed of the random numbers; None gives other splits each time.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog", "elk", "fox"], 2)
    >>> for train, test in UnseenClassSplit(2, n_unseen=2).split(y, y):
    ...     print(sorted(set(y[train].tolist())), sorted(set(y[test].tolist())))
    ['dog', 'fox'] ['cat', 'elk']
    ['cat', 'dog'] ['elk', 'fox']
    """

    n_splits: int = 5
    _: KW_ONLY
    n_unseen: int | None = None
    share: float = 0.2
    random_state: int | None = 0

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : Any, optional
            Not used; scikit-learn passes them.

        Returns
        -------
        int
            Number of splits.
        """
        if not _is_whole(self.n_splits) or self.n_splits < 1:
            raise OptionError(
                "n_splits must be a whole number, 1 or more. "
                f"Got {self.n_splits!r} instead."
            )
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield the rows to learn from and the rows to test on.

        Parameters
        ----------
        X : Any
            Not used; scikit-learn passes it.
        y : array of shape (rows,)
            The class of each row.
        groups : Any, optional
            Not used; a warning says so if given.

        Yields
        ------
        train : ndarray of int
            Rows of the seen classes.
        test : ndarray of int
            Rows of the unseen classes.
        """
        if y is None:
            raise OptionError("UnseenClassSplit splits by the classes in y; give y.")
        if groups is not None:
            warnings.warn(
                "UnseenClassSplit splits by the classes in y; groups are not used.",
                PhcleWarning,
                stacklevel=2,
            )
        names = np.asarray(y).astype(str)
        if names.ndim != 1:
            raise OptionError(
                f"y must have one class per row. Got shape {names.shape}."
            )
        classes = as_labels(np.unique(names).tolist(), "y")
        n_unseen = self._size(len(classes))
        n_splits = self.get_n_splits()
        for _, unseen in draw_classes(classes, n_splits, n_unseen, self.random_state):
            is_test = np.isin(names, unseen)
            yield np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def _size(self, n_classes: int) -> int:
        """Number of test classes; at least two classes must be on either side."""
        if n_classes < 2 * FEWEST:
            raise OptionError(
                f"y has {n_classes} classes, too few to set some aside; "
                f"{2 * FEWEST} are needed."
            )
        if self.n_unseen is None:
            if not 0 < self.share < 1:
                raise OptionError(
                    f"share must be between 0 and 1. Got {self.share!r} instead."
                )
            return share_of_classes(n_classes, self.share)
        if not _is_whole(self.n_unseen) or not (
            1 <= self.n_unseen <= n_classes - FEWEST
        ):
            raise OptionError(
                f"n_unseen must be a whole number from 1 to {n_classes - FEWEST} for "
                f"{n_classes} classes. Got {self.n_unseen!r} instead."
            )
        return int(self.n_unseen)


def unseen_class_accuracy(estimator: Any, X: Any, y: Any) -> float:
    """Score a classifier by its answers among the classes of `y` alone.

    A scorer for scikit-learn's `scoring=`. As in the usual zero-shot test, other
    candidates are not possible answers.

    Parameters
    ----------
    estimator : ZeroShotClassifier or Pipeline
        A fitted classifier, or a pipeline that ends in one.
    X : array of shape (images, features)
        Features of the test images.
    y : array of shape (images,)
        Their classes.

    Returns
    -------
    float
        Mean per-class accuracy, from 0 to 1.

    Raises
    ------
    OptionError
        If a class of `y` is not a candidate of the classifier.
    """
    names = np.asarray(y).astype(str)
    final = estimator[-1] if hasattr(estimator, "steps") else estimator
    scores = estimator.decision_function(X)
    allowed = np.isin(final.candidates_, names)
    missing = sorted(set(names.tolist()) - set(final.candidates_[allowed].tolist()))
    if missing:
        raise OptionError(
            f"class {missing[0]!r} of y is not a candidate of the classifier; "
            "add it to candidates."
        )
    best = scores[:, allowed].argmax(axis=1)
    return mean_class_accuracy(names, final.candidates_[allowed][best])


def _is_whole(value: Any) -> bool:
    """Whether this is a whole number."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
