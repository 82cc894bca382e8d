"""Zero-shot tasks, and how well embeddings find unseen classes.

Options are chosen on validation classes. Every embedding gets the same grid of options,
and the unseen classes take no part in the choice.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import recall_score
from sklearn.utils.validation import check_X_y

from phcle.arrays import AnyFloats
from phcle.contexts.labels import as_labels
from phcle.embedding import LabelEmbedding
from phcle.errors import (
    ContextWarning,
    FileError,
    OptionError,
    UnknownLabelError,
    check_choice,
    did_you_mean,
    some,
)
from phcle.images.features import ImageData, Names, load_feature_folder
from phcle.images.zero_shot import (
    ESZSL,
    PRECISIONS,
    SJE,
    ConSE,
    TrainingImages,
    ZeroShotClassifier,
    check_has_vectors,
)

if TYPE_CHECKING:
    import pandas as pd

Classes = tuple[str, ...]

FEWEST = 2
"""Fewest classes on either side of a split: with one class every answer is right."""

FEWEST_OF_USER = 6
"""Fewest classes of a user: two unseen, two to validate on, two to learn from."""

DEFAULT_SPLITS = 10


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
    seen: Classes
    unseen: Classes
    validation: Classes | None = None
    split: int = 0

    def __post_init__(self) -> None:
        put, where = partial(object.__setattr__, self), f"task {self.name!r}"
        X, y = check_X_y(self.X, np.asarray(self.y).astype(str), dtype=PRECISIONS)
        put("X", X)
        put("y", y)
        for name in ("seen", "unseen", "validation"):
            if getattr(self, name) is not None:
                put(name, as_labels(getattr(self, name), f"{where}, {name}"))
        for problem in self._problems():
            raise OptionError(f"{where} {problem}.")

    def __repr__(self) -> str:
        size = f"{len(self.seen)} seen, {len(self.unseen)} unseen classes"
        return f"ZeroShotTask({self.name!r}: {size}, {len(self.y)} images)"

    def images(self, classes: Sequence[str]) -> tuple[AnyFloats, Names]:
        """Return the images of some classes.

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
        return self.X[rows], self.y[rows]

    def _problems(self) -> Iterator[str]:
        """What does not fit together."""
        seen, unseen = set(self.seen), set(self.unseen)
        if len(seen) < FEWEST or not unseen:
            yield f"must have at least {FEWEST} seen classes and an unseen one"
        if both := seen & unseen:
            yield f"has classes both seen and unseen: {some(sorted(both))}"
        if without := (seen | unseen) - set(self.y.tolist()):
            yield f"has no images of the classes {some(sorted(without))}"
        if self.validation is not None:
            if strange := some(sorted(set(self.validation) - seen)):
                yield f"must validate on seen classes. {strange} are not among them"
            if not 0 < len(self.validation) <= len(seen) - FEWEST:
                yield f"must have a validation class and leave {FEWEST} seen classes"


def class_splits(
    classes: Iterable[str], n_splits: int, n_unseen: int, seed: int, where: str
) -> Iterator[tuple[Classes, Classes]]:
    """Draw classes to learn from and classes to recognise, again and again.

    Parameters
    ----------
    classes : iterable of str
        All classes; their order does not matter.
    n_splits : int
        How often to draw.
    n_unseen : int
        Number of classes to recognise.
    seed : int
        Seed of the random numbers.
    where : str
        Where the classes stand, for messages.

    Yields
    ------
    seen : tuple of str
        Classes to learn from.
    unseen : tuple of str
        Classes to recognise.
    """
    ordered = sorted(classes)
    most = len(ordered) - FEWEST
    if not 1 <= n_unseen <= most:
        raise OptionError(
            f"{where} has {len(ordered)} classes, of which {FEWEST} must stay, so from "
            f"1 to {most} of them can be set aside. Got {n_unseen!r} instead."
        )
    random = np.random.default_rng(seed)
    for _ in range(n_splits):
        drawn = random.permutation(ordered).tolist()
        yield tuple(drawn[n_unseen:]), tuple(drawn[:n_unseen])


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
    drawn = class_splits(classes, n_splits, n_unseen, seed, f"task {task.name!r}")
    return _drawn(replace(task, validation=None), drawn)


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
        Share of the seen classes that play the unseen ones, but two or more of them.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    list of ZeroShotTask
        The validation tasks.

    Raises
    ------
    OptionError
        If so few seen classes are left, and the task names no validation classes.
    """
    whole = replace(task, name=f"{task.name}, validation", validation=None)
    if task.validation is not None:
        seen = tuple(x for x in task.seen if x not in task.validation)
        return [replace(whole, seen=seen, unseen=task.validation)]
    n_unseen = max(round(share * len(task.seen)), FEWEST)
    where = f"task {task.name!r}, seen"
    return _drawn(whole, class_splits(task.seen, n, n_unseen, seed, where))


def _drawn(
    task: ZeroShotTask, splits: Iterable[tuple[Classes, Classes]]
) -> list[ZeroShotTask]:
    """The same images with other classes."""
    return [
        replace(task, seen=seen, unseen=unseen, split=i)
        for i, (seen, unseen) in enumerate(splits)
    ]


def hold_out(
    task: ZeroShotTask, share: float = 0.2, seed: int = 0
) -> tuple[ZeroShotTask, AnyFloats, Names]:
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
    task : ZeroShotTask
        The task without these images.
    X : ndarray of shape (images, features)
        Their features.
    y : ndarray of str, shape (images,)
        Their classes.

    Raises
    ------
    OptionError
        If a seen class has a single image.
    """
    random = np.random.default_rng(seed)
    away = np.zeros(len(task.y), dtype=bool)
    for label in sorted(task.seen):
        rows = np.flatnonzero(task.y == label)
        if len(rows) < 2:
            raise OptionError(
                f"{label!r} has {len(rows)} images; a generalised test needs two of "
                "every seen class."
            )
        size = min(max(round(share * len(rows)), 1), len(rows) - 1)
        away[random.permutation(rows)[:size]] = True
    return replace(task, X=task.X[~away], y=task.y[~away]), task.X[away], task.y[away]


def user_task(
    embedding: LabelEmbedding, features: str | Path, n_splits: int | None = None
) -> tuple[list[ZeroShotTask], str, tuple[str, ...]]:
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
    tasks : list of ZeroShotTask
        One task, or one for each random split.
    source : str
        Where the class split comes from, for readers.
    left_out : tuple of str
        Classes of the features that have no vector in the embedding.

    Raises
    ------
    UnknownLabelError
        If fewer than 6 classes have a vector in the embedding.
    FileError
        If the folder cannot be read, or two of its classes are the same label.
    """
    found = load_feature_folder(features)
    data, left_out = match_classes(embedding, found, fewest=FEWEST_OF_USER)
    if left_out:
        warnings.warn(
            f"{len(left_out)} classes have no vector in the embedding and are left "
            f"out: {some(left_out)}.",
            ContextWarning,
            stacklevel=2,
        )
    whole, lists = (data.name, data.features, data.labels), data.splits
    if n_splits is None and lists.get("seen") and lists.get("unseen"):
        validation = lists.get("validation") or None
        task = ZeroShotTask(*whole, lists["seen"], lists["unseen"], validation)
        return [task], "the split of split.json", left_out
    n = n_splits or DEFAULT_SPLITS
    n_unseen = max(round(0.2 * len(data.classes)), FEWEST)
    drawn = enumerate(class_splits(data.classes, n, n_unseen, 0, data.name))
    tasks = [ZeroShotTask(*whole, *both, split=i) for i, both in drawn]
    return tasks, f"{n} random class splits", left_out


def match_classes(
    embedding: LabelEmbedding, data: ImageData, fewest: int
) -> tuple[ImageData, tuple[str, ...]]:
    """Call every class by its label, which it names by id or readable name.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    data : ImageData
        Image features with their classes.
    fewest : int
        Number of classes that must have a label.

    Returns
    -------
    data : ImageData
        The images whose class is a label.
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
        with suppress(UnknownLabelError):
            found[name] = embedding.resolve(name)
    for label, n in Counter(found.values()).items():
        if n > 1:
            same = some(name for name in found if found[name] == label)
            raise FileError(
                f"the classes {same} of {data.name!r} are the same label {label!r} of "
                "the embedding; give them one name."
            )
    left_out = tuple(name for name in data.classes if name not in found)
    if len(found) < fewest:
        known = [*embedding.labels, *embedding.names.values()]
        hint = did_you_mean(left_out[0], known) if left_out else ""
        raise UnknownLabelError(
            f"{data.name}: {len(found)} of its {len(data.classes)} classes have a "
            f"vector in the embedding, but {fewest} are needed. Without one: "
            f"{some(left_out) or 'none'}.{hint}"
        )
    X, names = data.select(found)
    splits = {
        key: tuple(found[name] for name in own if name in found)
        for key, own in data.splits.items()
    }
    labels = np.array([found[name] for name in names.tolist()])
    return ImageData(data.name, X, labels, splits), left_out


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


class Search(NamedTuple):
    """A classifier, and a grid of options to choose from.

    Parameters
    ----------
    classifier : type of ZeroShotClassifier
        The classifier.
    grid : mapping of str to sequence
        Values to try for each option, the option that takes longest to change first.

    Examples
    --------
    >>> from phcle.images import ESZSL
    >>> search = Search(ESZSL, {"feature_ridge": [10.0], "class_ridge": [0.1, 1.0]})
    >>> pets = LabelEmbedding(("cat", "dog"), np.eye(2))
    >>> [model.class_ridge for model in search.models(pets, "all", seed=0)]
    [0.1, 1.0]
    """

    classifier: type[ZeroShotClassifier]
    grid: Mapping[str, Sequence[Any]]

    def models(
        self, embedding: LabelEmbedding, candidates: Any, seed: int
    ) -> list[ZeroShotClassifier]:
        """Make the classifier with every combination of options.

        Parameters
        ----------
        embedding : LabelEmbedding
            One vector for every class.
        candidates : "unseen", "all" or sequence of str
            The classes to choose among.
        seed : int
            Seed of a classifier that has one.

        Returns
        -------
        list of ZeroShotClassifier
            The classifiers, not fitted. Of equally good ones the first is chosen.
        """
        fixed = {"candidates": candidates}
        if hasattr(self.classifier, "random_state"):
            fixed["random_state"] = seed
        every = (
            zip(self.grid, own, strict=True) for own in product(*self.grid.values())
        )
        return [self.classifier(embedding, **fixed, **dict(own)) for own in every]


SEARCHES: Mapping[str, Search] = {
    "eszsl": Search(
        ESZSL,
        {
            "feature_ridge": [1.0, 10.0, 100.0, 1000.0, 10000.0],
            "class_ridge": [0.01, 0.1, 1.0, 10.0, 100.0],
            "normalize": ["l2", "center"],
        },
    ),
    "conse": Search(
        ConSE,
        {
            "C": [0.001, 0.01, 0.1],
            "normalize": ["l2", "center"],
            "top": [1, 3, 10, 30, 100],
        },
    ),
    # Steps from 0.1 to 10 gave the same accuracy; the number of epochs matters.
    "sje": Search(SJE, {"epochs": [1, 3, 10], "normalize": ["l2", "center"]}),
}
"""The classifiers that `evaluate` knows by name, with the options tried for each."""


def evaluate(
    embeddings: Mapping[str, LabelEmbedding],
    classifiers: Iterable[str] | Mapping[str, Search],
    tasks: Iterable[ZeroShotTask],
    *,
    seed: int = 0,
    generalised: bool = False,
    n_validation: int = 3,
    validation_share: float = 0.2,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Measure the zero-shot accuracy of every embedding with every classifier and task.

    Options are chosen on validation classes, never on the unseen classes of a task.
    Then the classifier learns from all seen classes and is tested once on the unseen
    ones. Among embeddings that differ in their settings alone, choose by
    `validation_accuracy` too.

    Parameters
    ----------
    embeddings : mapping of str to LabelEmbedding
        Embeddings by name.
    classifiers : iterable of str, or mapping of str to Search
        Names of `SEARCHES` such as "eszsl", or searches of your own by name.
    tasks : iterable of ZeroShotTask
        The tasks. Several tasks of one name are splits of it; see `resplits`.
    seed : int, default 0
        Draws the validation classes and seeds the classifiers.
    generalised : bool, default False
        Also test with seen and unseen classes as candidates. A task without held-out
        images of seen classes gets a fifth of them held out. The columns `seen`,
        `unseen` and `harmonic` are the accuracies.
    n_validation : int, default 3
        How many sets of validation classes to draw for a task that has none.
    validation_share : float, default 0.2
        Share of the seen classes in each of these sets.
    progress : callable, optional
        Called with the number of steps done and the number of all steps.

    Returns
    -------
    pandas.DataFrame
        One row for each task, classifier and embedding. `accuracy` is the mean
        per-class accuracy among unseen classes.

    Raises
    ------
    OptionError
        If there is no embedding, classifier or task, or for an unknown classifier.
    UnknownLabelError
        If an embedding has no vector for a class of a task.

    Examples
    --------
    >>> features = np.repeat(np.eye(4), 3, axis=0)
    >>> y = np.repeat(["cat", "dog", "elk", "fox"], 3)
    >>> task = ZeroShotTask("pets", features, y, seen=["cat", "dog", "elk"],
    ...                     unseen=["fox"], validation=["elk"])
    >>> vectors = LabelEmbedding(("cat", "dog", "elk", "fox"), np.eye(4))
    >>> evaluate({"one-hot": vectors}, ["eszsl"], [task])["accuracy"].tolist()
    [1.0]
    """
    import pandas

    if not isinstance(classifiers, Mapping):
        names = [classifiers] if isinstance(classifiers, str) else list(classifiers)
        for name in names:
            check_choice("classifiers", name, SEARCHES)
        classifiers = {name: SEARCHES[name] for name in names}
    tasks = list(tasks)
    if not (embeddings and classifiers and tasks):
        raise OptionError("evaluate needs an embedding, a classifier and a task.")
    for task in tasks:  # before the long computation
        for name, embedding in embeddings.items():
            classes, source = (*task.seen, *task.unseen), f"task {task.name!r}"
            check_has_vectors(embedding, classes, source, f"embedding {name!r}")
    rows: list[dict[str, Any]] = []
    for i, task in enumerate(tasks):
        own, *held = hold_out(task) if generalised else (task,)
        splits = validation_splits(own, n_validation, validation_share, seed)
        learned = [(x, TrainingImages(*x.images(x.seen))) for x in (own, *splits)]
        for j, (name, search) in enumerate(classifiers.items(), 1):
            for key, embedding in embeddings.items():
                about = {"classifier": name, "embedding": key, "task": task.name}
                row = _row(search, embedding, learned, seed, held)
                rows.append({**about, **row})
            if progress is not None:
                progress(i * len(classifiers) + j, len(tasks) * len(classifiers))
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def _row(
    search: Search,
    embedding: LabelEmbedding,
    learned: Sequence[tuple[ZeroShotTask, TrainingImages]],
    seed: int,
    held: Sequence[Any],
) -> dict[str, Any]:
    """Choose options on validation splits, and test them on the first task."""
    (task, images), *splits = learned
    models = search.models(embedding, (*task.unseen, *task.seen), seed)
    accuracies = np.zeros(len(models))
    for split, seen in splits:
        X, y = split.images(split.unseen)
        for i, model in enumerate(search.models(embedding, split.unseen, seed)):
            answers = model.fit(seen, None).predict(X)
            accuracies[i] += mean_class_accuracy(y, answers) / len(splits)
    model = models[int(accuracies.argmax())].fit(images, None)
    tested = task.images(task.unseen)
    row = {
        "split": task.split,
        "seed": seed,
        "parameters": {name: getattr(model, name) for name in search.grid},
        "validation_accuracy": float(accuracies.max()),
        "accuracy": unseen_class_accuracy(model, *tested),
        "n_seen": len(task.seen),
        "n_unseen": len(task.unseen),
    }
    if held:  # an image may be of a seen or an unseen class
        X, y = (np.concatenate(both) for both in zip(tested, held, strict=True))
        found = generalised_accuracy(y, model.predict(X), unseen=task.unseen)
        row |= found._asdict()
    return row
