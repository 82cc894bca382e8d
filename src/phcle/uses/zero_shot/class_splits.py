"""Splits by class: what is tested on belongs to classes that are not learned from.

`UnseenClassSplit` is a cross-validator for scikit-learn; tasks draw their classes by
the same function.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from phcle.contexts.labels import as_labels
from phcle.errors import OptionError, PhcleWarning
from phcle.uses.zero_shot.metrics import mean_class_accuracy

__all__ = [
    "FEWEST",
    "UnseenClassSplit",
    "draw_classes",
    "share_of_classes",
    "unseen_class_accuracy",
]

FEWEST = 2
"""Classes on either side of a split: among one class every answer is right."""

Rows = npt.NDArray[np.intp]


def draw_classes(
    classes: Iterable[str], n_splits: int, n_unseen: int, seed: int | None
) -> Iterator[tuple[list[str], list[str]]]:
    """Seen and unseen classes, drawn anew for every split."""
    random = np.random.default_rng(seed)
    ordered = sorted(classes)
    for _ in range(n_splits):
        drawn = random.permutation(ordered).tolist()
        yield drawn[n_unseen:], drawn[:n_unseen]


def share_of_classes(n_classes: int, share: float) -> int:
    """How many classes a share is, with enough of them on either side."""
    return min(max(round(share * n_classes), FEWEST), n_classes - FEWEST)


class UnseenClassSplit(BaseEstimator):  # type: ignore[misc]
    """Cross-validation over classes: the test classes never occur in training.

    Goes wherever scikit-learn takes `cv=`.

    Parameters
    ----------
    n_splits : int
        How often classes are drawn.
    n_unseen : int, optional
        Test classes of a split.
    share : float
        The same as a share of all classes; counts where `n_unseen` is left out.
    random_state : int or None
        The same number gives the same splits; None gives others each time.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog", "elk", "fox"], 2)
    >>> for train, test in UnseenClassSplit(2, n_unseen=2).split(y, y):
    ...     print(sorted(set(y[train].tolist())), sorted(set(y[test].tolist())))
    ['dog', 'fox'] ['cat', 'elk']
    ['cat', 'dog'] ['elk', 'fox']
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_unseen: int | None = None,
        share: float = 0.2,
        random_state: int | None = 0,
    ) -> None:
        self.n_splits = n_splits
        self.n_unseen = n_unseen
        self.share = share
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there will be."""
        if not _is_whole(self.n_splits) or self.n_splits < 1:
            raise OptionError(
                "n_splits must be a whole number, 1 or more. "
                f"Got {self.n_splits!r} instead."
            )
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Rows to learn from and rows to test on, for every split."""
        if y is None:
            raise OptionError("UnseenClassSplit goes by the classes in y; give y.")
        if groups is not None:
            warnings.warn(
                "UnseenClassSplit goes by the classes in y; groups are not used.",
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
        """Test classes of a split; refuses what leaves too few on either side."""
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
    """Mean per-class accuracy where the answer must be one of the classes of `y`.

    A scorer for `scoring=`: of a zero-shot classifier, or of a pipeline that ends in
    one. Other candidates that the embedding holds are no possible answers, as in the
    usual zero-shot test.
    """
    names = np.asarray(y).astype(str)
    final = estimator[-1] if hasattr(estimator, "steps") else estimator
    scores = estimator.decision_function(X)
    allowed = np.isin(final.candidates_, names)
    missing = sorted(set(names.tolist()) - set(final.candidates_[allowed].tolist()))
    if missing:
        raise OptionError(
            f"class {missing[0]!r} of y is no candidate of the classifier; it can "
            "never be answered. Add it to candidates."
        )
    best = scores[:, allowed].argmax(axis=1)
    return mean_class_accuracy(names, final.candidates_[allowed][best])


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
