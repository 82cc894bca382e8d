"""Zero-shot tasks: images, the classes to learn from and the classes to recognise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Flags
from phcle.contexts.labels import as_labels
from phcle.errors import OptionError, some
from phcle.uses.zero_shot.class_splits import FEWEST, draw_classes, share_of_classes

Names = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class ZeroShotTask:
    """Images with labels, the classes to learn from and the classes to recognise.

    Images of other classes are ignored, so that several splits can share one set of
    features.

    Parameters
    ----------
    name : str
        Name of the task in tables.
    X : array of shape (images, features)
        Features of all images; finite numbers.
    y : array of shape (images,)
        Their classes.
    seen : sequence of str
        Classes to learn from, two or more.
    unseen : sequence of str
        Classes to recognise, one or more.
    validation : sequence of str, optional
        Seen classes on which options are chosen; drawn at random if left out.
    held_out : array of bool, shape (images,), optional
        Images of seen classes that are never learned from: the seen half of a
        generalised test. See `hold_out`.
    split : int, default 0
        Number among several splits of the same classes.

    Raises
    ------
    OptionError
        If classes are both seen and unseen, or have no images, or shapes do not fit.

    Examples
    --------
    >>> pets = ZeroShotTask("pets", np.eye(4), ["cat", "dog", "fox", "elk"],
    ...                     seen=["cat", "dog"], unseen=["fox", "elk"])
    >>> pets.images(pets.unseen)[1].tolist()
    ['fox', 'elk']
    """

    name: str
    X: AnyFloats
    y: Names
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    validation: tuple[str, ...] | None = None
    held_out: Flags | None = None
    split: int = 0

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("X", np.asarray(self.X))
        put("y", np.asarray(self.y).astype(str))
        put("seen", as_labels(self.seen, f"task {self.name!r}, seen"))
        put("unseen", as_labels(self.unseen, f"task {self.name!r}, unseen"))
        if self.validation is not None:
            where = f"task {self.name!r}, validation"
            put("validation", as_labels(self.validation, where))
        if self.held_out is not None:
            put("held_out", np.asarray(self.held_out, dtype=bool))
        self._check_images()
        self._check_classes()

    def __repr__(self) -> str:
        return (
            f"ZeroShotTask({self.name!r}, split {self.split}: {len(self.seen)} seen, "
            f"{len(self.unseen)} unseen classes, {len(self.y)} images)"
        )

    def images(self, classes: Sequence[str]) -> tuple[AnyFloats, Names]:
        """Return the images of some classes, without those held out.

        Parameters
        ----------
        classes : sequence of str
            The classes.

        Returns
        -------
        X : ndarray of shape (images, features)
            Their features.
        y : ndarray of str, shape (images,)
            Their classes.
        """
        rows = np.isin(self.y, classes)
        if self.held_out is not None:
            rows &= ~self.held_out
        return self.X[rows], self.y[rows]

    def held_out_images(self) -> tuple[AnyFloats, Names]:
        """Return the held-out images of seen classes.

        Returns
        -------
        X : ndarray of shape (images, features)
            Their features.
        y : ndarray of str, shape (images,)
            Their classes.

        Raises
        ------
        OptionError
            If the task holds no images out.
        """
        if self.held_out is None:
            raise self._error("has no held-out images of seen classes; use hold_out().")
        rows = self.held_out & np.isin(self.y, self.seen)
        return self.X[rows], self.y[rows]

    def _error(self, message: str) -> OptionError:
        return OptionError(f"task {self.name!r} {message}")

    def _check_images(self) -> None:
        if self.X.ndim != 2 or self.y.shape != (len(self.X),):
            raise self._error(
                "must have one row of features and one label per image. "
                f"Got X of shape {self.X.shape} and y of shape {self.y.shape}."
            )
        if not np.issubdtype(self.X.dtype, np.number) or not np.isfinite(self.X).all():
            raise self._error("must have finite numbers as features.")
        if self.held_out is not None and self.held_out.shape != self.y.shape:
            raise self._error(
                "must have one entry of held_out per image. "
                f"Got shape {self.held_out.shape} for {len(self.y)} images."
            )

    def _check_classes(self) -> None:
        if len(self.seen) < FEWEST or not self.unseen:
            raise self._error(
                f"must have at least {FEWEST} seen classes and an unseen one. "
                f"Got {len(self.seen)} and {len(self.unseen)}."
            )
        if both := set(self.seen) & set(self.unseen):
            raise self._error(f"has classes both seen and unseen: {some(sorted(both))}")
        for what in ("seen", "unseen"):
            classes = getattr(self, what)
            without = set(classes) - set(self.images(classes)[1].tolist())
            if without:
                raise self._error(
                    f"has no images of the {what} classes {some(sorted(without))}"
                    + (" but those held out." if self.held_out is not None else ".")
                )
        if self.validation is None:
            return
        strange = set(self.validation) - set(self.seen)
        if strange:
            raise self._error(
                f"must take its validation classes from the seen ones. "
                f"{some(sorted(strange))} are not among them."
            )
        if not 0 < len(self.validation) <= len(self.seen) - FEWEST:
            raise self._error(
                f"must have a validation class and leave {FEWEST} seen classes to "
                f"learn from. Got {len(self.validation)} of {len(self.seen)}."
            )


def resplits(
    task: ZeroShotTask, n_splits: int, n_unseen: int, seed: int
) -> list[ZeroShotTask]:
    """Make tasks with random unseen classes from the classes and images of a task.

    Parameters
    ----------
    task : ZeroShotTask
        The task to take classes and images from.
    n_splits : int
        How many tasks to make.
    n_unseen : int
        Number of unseen classes of each.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    list of ZeroShotTask
        The tasks, numbered by `split`.

    Raises
    ------
    OptionError
        If `n_unseen` leaves fewer than two seen classes.
    """
    classes = (*task.seen, *task.unseen)
    if not 0 < n_unseen <= len(classes) - FEWEST:
        raise OptionError(
            f"n_unseen must be between 1 and {len(classes) - FEWEST} for "
            f"{len(classes)} classes. Got {n_unseen!r} instead."
        )
    drawn = draw_classes(classes, n_splits, n_unseen, seed)
    return [
        replace(
            task,
            unseen=tuple(unseen),
            seen=tuple(seen),
            validation=None,
            held_out=None,
            split=split,
        )
        for split, (seen, unseen) in enumerate(drawn)
    ]


def validation_splits(
    task: ZeroShotTask, n: int = 3, share: float = 0.2, seed: int = 0
) -> list[ZeroShotTask]:
    """Make tasks within the seen classes, on which options can be chosen.

    If the task names validation classes, there is one such task. Otherwise `n` times a
    share of the seen classes is drawn. Unseen classes never take part.

    Parameters
    ----------
    task : ZeroShotTask
        The task to choose options for.
    n : int, default 3
        How many tasks to make.
    share : float, default 0.2
        Share of the seen classes that play the unseen ones.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    list of ZeroShotTask
        The validation tasks.

    Raises
    ------
    OptionError
        If the task has fewer than four seen classes and names no validation classes.
    """
    if task.validation is not None:
        return [_within(task, task.validation, 0)]
    if not (n >= 1 and 0 < share < 1):
        raise OptionError(
            "validation needs n of 1 or more and a share between 0 and 1. "
            f"Got {n!r} and {share!r} instead."
        )
    if len(task.seen) < 2 * FEWEST:
        raise OptionError(
            f"task {task.name!r} has {len(task.seen)} seen classes, too few to set "
            f"some aside for validation; {2 * FEWEST} are needed."
        )
    size = share_of_classes(len(task.seen), share)
    return [
        _within(task, unseen, split)
        for split, (_, unseen) in enumerate(draw_classes(task.seen, n, size, seed))
    ]


def hold_out(task: ZeroShotTask, share: float = 0.2, seed: int = 0) -> ZeroShotTask:
    """Hold out a share of the images of every seen class for a generalised test.

    Parameters
    ----------
    task : ZeroShotTask
        The task.
    share : float, default 0.2
        Share of each class's images to hold out; at least one image.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    ZeroShotTask
        The same task with `held_out` set.

    Raises
    ------
    OptionError
        If a seen class has a single image.
    """
    random = np.random.default_rng(seed)
    held_out = np.zeros(len(task.y), dtype=bool)
    for label in sorted(task.seen):
        rows = np.flatnonzero(task.y == label)
        if len(rows) < 2:
            raise OptionError(
                f"task {task.name!r} has a single image of {label!r}; a generalised "
                "test needs two of every seen class."
            )
        size = min(max(round(share * len(rows)), 1), len(rows) - 1)
        held_out[random.permutation(rows)[:size]] = True
    return replace(task, held_out=held_out)


def _within(task: ZeroShotTask, validation: Sequence[str], split: int) -> ZeroShotTask:
    """A task with the validation classes as unseen, the other seen ones as seen."""
    left = set(validation)
    return replace(
        task,
        name=f"{task.name}, validation",
        seen=tuple(label for label in task.seen if label not in left),
        unseen=tuple(validation),
        validation=None,
        split=split,
    )
