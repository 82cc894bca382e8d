"""What is to be solved: images, and which classes may be learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.labels import as_labels
from phcle.errors import OptionError, some
from phcle.uses.zero_shot.class_splits import FEWEST, draw_classes, share_of_classes

__all__ = ["ZeroShotTask", "hold_out", "resplits", "validation_splits"]

Floats = npt.NDArray[np.floating]
Names = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class ZeroShotTask:
    """Images with labels, the classes to learn from and the classes to recognise.

    Images of any other class are left alone, so splits share one set of features.

    >>> pets = ZeroShotTask("pets", np.eye(4), ["cat", "dog", "fox", "elk"],
    ...                     seen=["cat", "dog"], unseen=["fox", "elk"])
    >>> pets.images(pets.unseen)[1].tolist()
    ['fox', 'elk']
    """

    name: str
    X: Floats  # (images, features)
    y: Names  # (images,)
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    validation: tuple[str, ...] | None = None
    """Seen classes on which options are chosen; by default they are drawn."""
    held_out: npt.NDArray[np.bool_] | None = None
    """Images of seen classes never learned from: the seen half of a generalised test"""
    split: int = 0
    """Number among several splits of the same classes."""

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

    def images(self, classes: Sequence[str]) -> tuple[Floats, Names]:
        """Features and labels of some classes, without the images held out."""
        rows = np.isin(self.y, classes)
        if self.held_out is not None:
            rows &= ~self.held_out
        return self.X[rows], self.y[rows]

    def held_out_images(self) -> tuple[Floats, Names]:
        """Features and labels of the seen classes' images held out."""
        if self.held_out is None:
            raise self._error("holds no images of seen classes out; use hold_out().")
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
        both = set(self.seen) & set(self.unseen)
        if both:
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
    """Tasks with other, random unseen classes among the same classes and images."""
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
    """Tasks within the seen classes, on which options may be chosen.

    The validation classes of the task make the only one; without them, `n` times a
    share of the seen classes is drawn. Unseen classes never take part.
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
    """The task with a share of every seen class's images kept for the test."""
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
    """Validation classes as the unseen ones, the other seen classes to learn from."""
    left = set(validation)
    return replace(
        task,
        name=f"{task.name}, validation",
        seen=tuple(label for label in task.seen if label not in left),
        unseen=tuple(validation),
        validation=None,
        split=split,
    )
