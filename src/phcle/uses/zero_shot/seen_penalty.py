"""How much the scores of seen classes are lowered where both kinds may be answered.

A classifier knows the classes it learned from better than any other, and answers with
them even where an image shows a class it never saw. Calibrated stacking (Chao et al.,
ECCV 2016) takes a constant off the scores of seen classes. It is chosen where the truth
is known: some of the seen classes play the unseen ones, images of the others are held
out, and the constant of the highest harmonic mean of both accuracies counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.errors import OptionError
from phcle.uses.zero_shot.image_features import TrainingImages
from phcle.uses.zero_shot.tasks import ZeroShotTask, hold_out

if TYPE_CHECKING:
    from phcle.uses.zero_shot.classifier import ZeroShotClassifier

__all__ = ["Make", "balancing_penalty", "choose_penalties", "lower_seen"]

Floats = npt.NDArray[np.floating]
Names = npt.NDArray[np.str_]
Make = Callable[[Sequence[str]], "ZeroShotClassifier"]
"""A classifier that answers among these candidates, not yet fitted."""

ROUNDING = 1e-6
"""Share of the largest lead of a class that scores in single precision leave open."""


def choose_penalties(
    make: Mapping[str, Make],
    X: Floats,
    y: Names,
    splits: Iterable[tuple[Sequence[str], Sequence[str]]],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """The penalty of every classifier, its mean over splits into (seen, unseen).

    Every one learns from the same images, so that what is slow is done once for all.
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
    scores: Floats, y: Names, candidates: Names, unseen: Sequence[str]
) -> float:
    """What to take off the seen classes for the highest harmonic mean; 0 if none helps.

    Parameters
    ----------
    scores : (images, candidates)
    y : (images,) true classes, seen and unseen ones
    candidates : (candidates,) names of the columns
    unseen : those among them that count as unseen

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
            raise OptionError(
                f"{what} must hold seen and unseen classes, not one kind."
            )
    old, new = scores[:, ~is_new], scores[:, is_new]
    lead = old.max(axis=1) - new.max(axis=1)  # of the best seen class
    # What an image adds to the mean over classes, answered by its own kind.
    _, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    n_new = len(set(truth[shows_new].tolist()))
    share = 1 / (sizes[codes] * np.where(shows_new, n_new, len(sizes) - n_new))
    old_right = share * (~shows_new & (names[~is_new][old.argmax(axis=1)] == truth))
    new_right = share * (shows_new & (names[is_new][new.argmax(axis=1)] == truth))
    # A penalty between two leads gives all images up to there an unseen class.
    order = np.argsort(lead, kind="stable")
    lead = lead[order]
    of_new = np.cumsum(new_right[order])[:-1]
    of_old = old_right.sum() - np.cumsum(old_right[order])[:-1]
    harmonic = 2 * of_new * of_old / np.maximum(of_new + of_old, np.finfo(float).tiny)
    # Between leads that differ by rounding alone no penalty can tell.
    harmonic[np.diff(lead) <= ROUNDING * np.abs(lead).max()] = 0.0
    if harmonic.max() <= ROUNDING:
        return 0.0
    best = int(harmonic.argmax())
    return float((lead[best] + lead[best + 1]) / 2)


def lower_seen(
    scores: Floats, candidates: Names, seen: Sequence[str], penalty: float
) -> Floats:
    """Scores (images, candidates) with the penalty taken off the seen classes."""
    return np.asarray(scores - penalty * np.isin(candidates, seen))
