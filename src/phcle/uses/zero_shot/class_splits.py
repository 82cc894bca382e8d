"""Splits by class: the test classes never occur in training.

`UnseenClassSplit` is a cross-validator for scikit-learn. Zero-shot tasks draw their
classes with the same function.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from phcle.contexts.labels import as_labels
from phcle.errors import OptionError, PhcleWarning
from phcle.uses.zero_shot.metrics import mean_class_accuracy

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
