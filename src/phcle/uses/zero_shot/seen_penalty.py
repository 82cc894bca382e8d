"""How much to lower the scores of seen classes when seen and unseen ones compete.

A classifier scores the classes it was trained on higher than others, and takes most
images of unseen classes for seen ones. Calibrated stacking (Chao et al., ECCV 2016)
subtracts a constant from the scores of seen classes. The constant is chosen on seen
classes: some of them play the unseen ones, images of the others are held out, and the
constant with the highest harmonic mean of both accuracies is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats
from phcle.errors import OptionError
from phcle.uses.zero_shot.image_features import TrainingImages
from phcle.uses.zero_shot.tasks import ZeroShotTask, hold_out

if TYPE_CHECKING:
    from phcle.uses.zero_shot.classifier import ZeroShotClassifier


Names = npt.NDArray[np.str_]
Make = Callable[[Sequence[str]], "ZeroShotClassifier"]
"""Makes a classifier for given candidates, not fitted."""

ROUNDING = 1e-6
"""Leads that differ by less than this share of the largest lead count as equal, because
scores may be in single precision."""


def choose_penalties(
    make: Mapping[str, Make],
    X: AnyFloats,
    y: Names,
    splits: Iterable[tuple[Sequence[str], Sequence[str]]],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """Choose the penalty of every classifier on splits of the seen classes.

    All classifiers learn from the same images, so that slow steps are computed once.

    Parameters
    ----------
    make : mapping of str to callable
        For each classifier, a function that makes it for given candidates, not fitted.
    X : ndarray of shape (images, features)
        Features of images of seen classes.
    y : ndarray of str, shape (images,)
        Their classes.
    splits : iterable of (sequence of str, sequence of str)
        Classes to learn from, and classes that play the unseen ones.
    seed : int, default 0
        Seed of the draw of held-out images.

    Returns
    -------
    dict of str to float
        For each classifier the mean penalty over the splits.
    """
    found: dict[str, list[float]] = {name: [] for name in make}
    for seen, unseen in splits:
        task = ZeroShotTask(
            "seen_penalty", X, y, seen=tuple(seen), unseen=tuple(unseen)
        )
        task = hold_out(task, seed=seed)
        images = TrainingImages(*task.images(task.seen))
        tested = zip(task.images(task.unseen), task.held_out_images(), strict=True)
        features, truth = (np.concatenate(both) for both in tested)
        for name, one in make.items():
            model = one((*task.unseen, *task.seen)).fit_images(images)
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


def lower_seen(
    scores: AnyFloats, candidates: Names, seen: Sequence[str], penalty: float
) -> AnyFloats:
    """Subtract a penalty from the scores of seen classes.

    Parameters
    ----------
    scores : ndarray of shape (images, candidates)
        Scores without a penalty.
    candidates : ndarray of str, shape (candidates,)
        The classes of the columns.
    seen : sequence of str
        The seen classes.
    penalty : float
        What to subtract.

    Returns
    -------
    ndarray of shape (images, candidates)
        The lowered scores.
    """
    return np.asarray(scores - penalty * np.isin(candidates, seen))
