"""Accuracy of zero-shot answers, with the same weight for every class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phcle.errors import OptionError, some


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
