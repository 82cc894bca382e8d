"""Splits of classes, and measures of answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import recall_score

from phcle.errors import OptionError, some

Classes = tuple[str, ...]

FEWEST = 2
"""Fewest classes on either side of a split: with one class every answer is right."""


def class_splits(
    classes: Iterable[str], n_splits: int, size: float, seed: int = 0, where: str = "y"
) -> Iterator[tuple[Classes, Classes]]:
    """Draw classes to learn from and classes to recognise, again and again.

    Parameters
    ----------
    classes : iterable of str
        All classes; their order does not matter.
    n_splits : int
        How often to draw.
    size : int or float
        Number of classes to recognise, or their share: then two classes or more are on
        either side.
    seed : int, default 0
        Seed of the random numbers.
    where : str, default "y"
        Where the classes stand, for messages.

    Yields
    ------
    seen : tuple of str
        Classes to learn from.
    unseen : tuple of str
        Classes to recognise.
    """
    ordered = sorted(classes)
    most, is_share = len(ordered) - FEWEST, not isinstance(size, Integral)
    if most < (FEWEST if is_share else 1):
        raise OptionError(
            f"{where} has {len(ordered)} classes, too few to set some aside; "
            f"{2 * FEWEST} are needed."
        )
    if not 0 < size < (1 if is_share else most + 1):
        raise OptionError(
            f"of {len(ordered)} classes, a share between 0 and 1 or a number from 1 to "
            f"{most} can be set aside. Got {size!r} instead."
        )
    n = min(max(round(size * len(ordered)), FEWEST), most) if is_share else int(size)
    random = np.random.default_rng(seed)
    for _ in range(n_splits):
        drawn = random.permutation(ordered).tolist()
        yield tuple(drawn[n:]), tuple(drawn[:n])


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
    truth, answers = np.asarray(y_true).astype(str), np.asarray(y_pred).astype(str)
    found = recall_score(truth, answers, labels=np.unique(truth), average="macro")
    return float(found)


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
    truth, answers = np.asarray(y_true).astype(str), np.asarray(y_pred).astype(str)
    is_new = np.isin(truth, list(unseen))
    if is_new.all() or not is_new.any():
        shown = some(dict.fromkeys(truth.tolist()))
        raise OptionError(
            f"y_true must have both seen and unseen classes. Got {shown}."
        )
    seen, new = (mean_class_accuracy(truth[x], answers[x]) for x in (~is_new, is_new))
    harmonic = 2 * seen * new / (seen + new) if seen + new > 0 else 0.0
    return GeneralisedAccuracy(seen, new, harmonic)


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
