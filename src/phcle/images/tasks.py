"""Zero-shot tasks: images, the classes to learn from and the classes to recognise.

`UnseenClassSplit` draws the classes, and is a cross-validator for scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from phcle.arrays import AnyFloats, Flags
from phcle.contexts.labels import as_labels
from phcle.datasets import ImageData, load_feature_folder
from phcle.embedding import LabelEmbedding
from phcle.errors import (
    ContextWarning,
    FileError,
    OptionError,
    PhcleWarning,
    UnknownLabelError,
    did_you_mean,
    some,
)

Names = npt.NDArray[np.str_]
Classes = tuple[str, ...]

FEWEST = 2
"""Fewest classes on either side of a split: with one class every answer is right."""

FEWEST_OF_USER = 6
"""Fewest classes of a user: two unseen, two to validate on, two to learn from."""

DEFAULT_SPLITS = 10


def is_number(value: Any, *, whole: bool = False) -> bool:
    """Whether this is a number of Python or NumPy; truth values are not.

    Parameters
    ----------
    value : Any
        Any value.
    whole : bool, default False
        Whether it must be a whole number.

    Returns
    -------
    bool
        The answer.
    """
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


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
        if not is_number(self.n_splits, whole=True) or self.n_splits < 1:
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
        for _, unseen in self.draw(as_labels(np.unique(names).tolist(), "y")):
            is_test = np.isin(names, unseen)
            yield np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def draw(
        self, classes: Iterable[str], where: str = "y"
    ) -> Iterator[tuple[Classes, Classes]]:
        """Draw seen and unseen classes at random for every split.

        Parameters
        ----------
        classes : iterable of str
            All classes; their order does not matter.
        where : str, default "y"
            Where they stand, for messages.

        Yields
        ------
        seen : tuple of str
            Classes to learn from.
        unseen : tuple of str
            Classes to test on.
        """
        ordered = sorted(classes)
        n_unseen, n_splits = self._size(len(ordered), where), self.get_n_splits()
        random = np.random.default_rng(self.random_state)
        for _ in range(n_splits):
            drawn = random.permutation(ordered).tolist()
            yield tuple(drawn[n_unseen:]), tuple(drawn[:n_unseen])

    def _size(self, n_classes: int, where: str) -> int:
        """Number of test classes; at least two classes must be left to learn from."""
        most = n_classes - FEWEST
        if most < (FEWEST if self.n_unseen is None else 1):
            raise OptionError(
                f"{where} has {n_classes} classes, too few to set some aside; "
                f"{2 * FEWEST} are needed."
            )
        if self.n_unseen is None:
            if not 0 < self.share < 1:
                raise OptionError(
                    f"share must be between 0 and 1. Got {self.share!r} instead."
                )
            return min(max(round(self.share * n_classes), FEWEST), most)
        if not is_number(self.n_unseen, whole=True) or not 1 <= self.n_unseen <= most:
            raise OptionError(
                f"n_unseen must be a whole number from 1 to {most} for "
                f"{n_classes} classes. Got {self.n_unseen!r} instead."
            )
        return int(self.n_unseen)


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
        for what in ("seen", "unseen", "validation"):
            if (classes := getattr(self, what)) is not None:
                put(what, as_labels(classes, f"task {self.name!r}, {what}"))
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
            if without := set(classes) - set(self.images(classes)[1].tolist()):
                raise self._error(
                    f"has no images of the {what} classes {some(sorted(without))}"
                    + (" but those held out." if self.held_out is not None else ".")
                )
        if self.validation is None:
            return
        if strange := set(self.validation) - set(self.seen):
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
    split = UnseenClassSplit(n_splits, n_unseen=n_unseen, random_state=seed)
    drawn = split.draw((*task.seen, *task.unseen), f"task {task.name!r}")
    whole = replace(task, validation=None, held_out=None)
    return [
        replace(whole, seen=seen, unseen=unseen, split=i)
        for i, (seen, unseen) in enumerate(drawn)
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
        drawn = [task.validation]
    else:
        split = UnseenClassSplit(n, share=share, random_state=seed)
        pairs = split.draw(task.seen, f"task {task.name!r}, seen")
        drawn = [unseen for _, unseen in pairs]
    return [
        replace(
            task,
            name=f"{task.name}, validation",
            seen=tuple(label for label in task.seen if label not in unseen),
            unseen=unseen,
            validation=None,
            split=i,
        )
        for i, unseen in enumerate(drawn)
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


@dataclass(frozen=True, eq=False)
class UserTask:
    """Tasks from a user's image features.

    Attributes
    ----------
    tasks : list of ZeroShotTask
        One task, or one for each random split.
    source : str
        Where the class split comes from, for readers.
    left_out : tuple of str
        Classes of the features that have no vector in the embedding.
    """

    tasks: list[ZeroShotTask]
    source: str
    left_out: tuple[str, ...] = ()


def user_task(
    embedding: LabelEmbedding, features: str | Path, n_splits: int | None = None
) -> UserTask:
    """Make zero-shot tasks from a folder of image features and an embedding.

    Classes are matched with labels by id or readable name. Classes without a label are
    left out with a warning.

    Parameters
    ----------
    embedding : LabelEmbedding
        The class vectors.
    features : str or Path
        A folder of features; see `load_feature_folder`.
    n_splits : int, optional
        Number of random class splits. If left out, the split of `split.json` in the
        folder is used, or 10 random ones if there is none.

    Returns
    -------
    UserTask
        The tasks, and what was left out.

    Raises
    ------
    UnknownLabelError
        If fewer than 6 classes have a vector in the embedding.
    FileError
        If the folder cannot be read, or two of its classes are the same label.
    """
    data = load_feature_folder(features)
    labels, left_out = match_classes(
        embedding, data, str(features), fewest=FEWEST_OF_USER
    )
    if left_out:
        warnings.warn(
            f"{len(left_out)} classes have no vector in the embedding and are left "
            f"out: {some(left_out)}.",
            ContextWarning,
            stacklevel=2,
        )
    X, y = data.select(labels)
    y = np.array([labels[name] for name in y.tolist()])
    lists = {
        key: tuple(labels[name] for name in names if name in labels)
        for key, names in data.splits.items()
    }
    if n_splits is None and lists.get("seen") and lists.get("unseen"):
        validation = lists.get("validation") or None
        task = ZeroShotTask(data.name, X, y, lists["seen"], lists["unseen"], validation)
        return UserTask([task], "the split of split.json", left_out)
    n = n_splits or DEFAULT_SPLITS
    drawn = UnseenClassSplit(n).draw(labels.values())
    tasks = [
        ZeroShotTask(data.name, X, y, seen, unseen, split=i)
        for i, (seen, unseen) in enumerate(drawn)
    ]
    return UserTask(tasks, f"{n} random class splits", left_out)


def match_classes(
    embedding: LabelEmbedding, data: ImageData, source: str, *, fewest: int
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find the label of every class, by id or readable name.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    data : ImageData
        Image features with their classes.
    source : str
        Where the features come from, for messages.
    fewest : int
        Number of classes that must have a label.

    Returns
    -------
    labels : dict of str to str
        Labels by class.
    left_out : tuple of str
        Classes without a label.

    Raises
    ------
    UnknownLabelError
        If too few classes have a label.
    FileError
        If two classes are the same label.
    """
    found: dict[str, str] = {}
    for name in data.classes:
        try:
            label = embedding.resolve(name)
        except UnknownLabelError:
            continue
        if label in found.values():
            other = next(x for x in found if found[x] == label)
            raise FileError(
                f"the classes {other!r} and {name!r} of {data.name!r} are the same "
                f"label {label!r} of the embedding; give them one name."
            )
        found[name] = label
    left_out = tuple(name for name in data.classes if name not in found)
    if len(found) < fewest:
        known = [*embedding.labels, *embedding.names.values()]
        hint = did_you_mean(left_out[0], known) if left_out else ""
        raise UnknownLabelError(
            f"{source}: {len(found)} of its {len(data.classes)} classes have a "
            f"vector in the embedding, but {fewest} are needed. Without one: "
            f"{some(left_out) or 'none'}.{hint}"
        )
    return found, left_out
