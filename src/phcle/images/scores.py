"""Splits of classes and images, and measures of answers.

A classifier scores the classes it was trained on higher than others, and takes most
images of unseen classes for seen ones. Calibrated stacking (Chao et al., ECCV 2016)
subtracts a constant from the scores of seen classes: the one with the highest harmonic
mean of the accuracies of seen and of unseen classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import recall_score

from phcle.arrays import AnyFloats, Flags
from phcle.errors import OptionError, some
from phcle.images.features import Names

Classes = tuple[str, ...]

FEWEST = 2
"""Fewest classes on either side of a split: with one class every answer is right."""

MOST_PENALTIES = 100
"""About as many penalties on seen classes are tried."""


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


def held_out_images(
    y: Names, seen: Sequence[str], share: float = 0.2, seed: int = 0
) -> Flags:
    """Draw a share of the images of every seen class.

    Parameters
    ----------
    y : ndarray of str, shape (images,)
        The class of each image.
    seen : sequence of str
        The classes.
    share : float, default 0.2
        Share of each class's images to draw; at least one, and never all.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    ndarray of bool, shape (images,)
        The images that were drawn.

    Raises
    ------
    OptionError
        If a class has a single image.
    """
    random = np.random.default_rng(seed)
    held_out = np.zeros(len(y), dtype=bool)
    for label in sorted(seen):
        rows = np.flatnonzero(y == label)
        if len(rows) < 2:
            raise OptionError(
                f"{label!r} has {len(rows)} images; a generalised test needs two of "
                "every seen class."
            )
        size = min(max(round(share * len(rows)), 1), len(rows) - 1)
        held_out[random.permutation(rows)[:size]] = True
    return held_out


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
    names = np.asarray(candidates)
    is_seen = ~np.isin(names, unseen)
    if is_seen.all() or not is_seen.any():
        raise OptionError("candidates must have both seen and unseen classes.")
    # Between two leads of the best seen class, all penalties give the same answers.
    leads = np.unique(scores[:, is_seen].max(axis=1) - scores[:, ~is_seen].max(axis=1))
    tried = (leads[1:] + leads[:-1]) / 2
    found: dict[float, float] = {}
    for penalty in (0.0, *tried[:: len(tried) // MOST_PENALTIES + 1].tolist()):
        answers = names[(scores - penalty * is_seen).argmax(axis=1)]
        found[penalty] = generalised_accuracy(y, answers, unseen=unseen).harmonic
    return max(found, key=lambda penalty: found[penalty])
