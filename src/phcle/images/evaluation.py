"""Accuracies by class, and embeddings compared by how well unseen classes are found.

Options are chosen on validation classes. Every embedding gets the same grid of options,
and the unseen classes take no part in the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import ParameterGrid

from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError, check_choice, some
from phcle.images.features import TrainingImages, as_features
from phcle.images.tasks import ZeroShotTask, hold_out, validation_splits
from phcle.images.zero_shot import (
    ESZSL,
    SJE,
    ConSE,
    ZeroShotClassifier,
    check_has_vectors,
    choose_penalties,
)
from phcle.optional_imports import import_optional

if TYPE_CHECKING:
    import pandas as pd

Variants = Mapping[tuple[str, str], LabelEmbedding]  # by names of embedding and variant
Embeddings = Mapping[str, LabelEmbedding | Mapping[str, LabelEmbedding]]
Prepare = Callable[[ZeroShotTask], TrainingImages]


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
    truth, answers = np.asarray(y_true).astype(str), np.asarray(y_pred).astype(str)
    if truth.ndim != 1 or truth.shape != answers.shape or not len(truth):
        raise OptionError(
            "y_true and y_pred must be two lists of one length, not empty. "
            f"Got shapes {truth.shape} and {answers.shape}."
        )
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
    parts = [
        [share for label, share in shares.items() if (label in new) == is_new]
        for is_new in (False, True)
    ]
    if not all(parts):
        raise OptionError(
            f"y_true must have both seen and unseen classes. Got {some(shares)}."
        )
    seen, other = (float(np.mean(part)) for part in parts)
    harmonic = 2 * seen * other / (seen + other) if seen + other > 0 else 0.0
    return GeneralisedAccuracy(seen, other, harmonic)


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


@dataclass(frozen=True)
class Search:
    """A classifier, and a grid of options to choose from.

    Attributes
    ----------
    classifier : type of ZeroShotClassifier
        The classifier.
    grid : mapping of str to sequence
        Values to try for each option; one value stays fixed.

    Examples
    --------
    >>> from phcle.images import ESZSL
    >>> search = Search(ESZSL, {"class_ridge": [0.1, 1.0], "feature_ridge": [10.0]})
    >>> for choice in search.choices:
    ...     print(choice)
    {'feature_ridge': 10.0, 'class_ridge': 0.1}
    {'feature_ridge': 10.0, 'class_ridge': 1.0}
    """

    classifier: type[ZeroShotClassifier]
    grid: Mapping[str, Sequence[Any]]

    @property
    def choices(self) -> list[dict[str, Any]]:
        """All combinations of options; those of the features change last."""
        names = self.classifier.feature_parameters
        outer, inner = (
            {k: v for k, v in self.grid.items() if (k in names) == is_outer}
            for is_outer in (True, False)
        )
        return [{**x, **y} for x in ParameterGrid(outer) for y in ParameterGrid(inner)]


SEARCHES: Mapping[str, Search] = MappingProxyType(
    {
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
                "top": [1, 3, 10, 30, 100],
                "normalize": ["l2", "center"],
            },
        ),
        # Steps from 0.1 to 10 gave the same accuracy; the number of epochs matters.
        "sje": Search(SJE, {"epochs": [1, 3, 10], "normalize": ["l2", "center"]}),
    }
)
"""The classifiers that `evaluate` knows by name, with the options tried for each."""


def evaluate(
    embeddings: Embeddings,
    classifiers: Iterable[str] | Mapping[str, Search],
    tasks: Iterable[ZeroShotTask],
    *,
    seeds: Sequence[int] = (0,),
    generalised: bool = False,
    n_validation: int = 3,
    validation_share: float = 0.2,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Measure the zero-shot accuracy of every embedding, classifier, task and seed.

    Options are chosen on validation classes, never on the unseen classes of a task.
    Then the classifier learns from all seen classes and is tested once on the unseen
    ones.

    Parameters
    ----------
    embeddings : mapping of str to LabelEmbedding or to a mapping of variants
        Embeddings by name. Instead of one embedding, give its variants by name
        (dimensions, penalties) to choose the variant on validation classes too.
    classifiers : iterable of str, or mapping of str to Search
        Names of `SEARCHES` such as "eszsl", or searches of your own by name.
    tasks : iterable of ZeroShotTask
        The tasks. Several tasks of one name are splits of it; see `resplits`.
    seeds : sequence of int, default (0,)
        Each seed draws other validation classes and seeds the classifiers.
    generalised : bool, default False
        Also test with seen and unseen classes as candidates. A task without held-out
        images of seen classes gets a fifth of them held out. The columns `seen`,
        `unseen` and `harmonic` are the accuracies without a penalty; the same with
        `balanced_` in front use a `seen_penalty` chosen on validation classes.
    n_validation : int, default 3
        How many sets of validation classes to draw for a task that has none.
    validation_share : float, default 0.2
        Share of the seen classes in each of these sets.
    progress : callable, optional
        Called with the number of steps done and the number of all steps.

    Returns
    -------
    pandas.DataFrame
        One row for each embedding, classifier, task, split and seed. `accuracy` is the
        mean per-class accuracy among unseen classes.

    Raises
    ------
    OptionError
        If there is no embedding, classifier, task or seed, or for an unknown
        classifier.
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
    pandas = import_optional("pandas", extra="frames", purpose="evaluate")
    variants: dict[tuple[str, str], LabelEmbedding] = {}
    for name, entry in embeddings.items():
        own = {"": entry} if isinstance(entry, LabelEmbedding) else entry
        if not own:
            raise OptionError(f"embedding {name!r} has no variant; give one or more.")
        variants |= {(name, variant): vectors for variant, vectors in own.items()}
    if not isinstance(classifiers, Mapping):
        names = [classifiers] if isinstance(classifiers, str) else list(classifiers)
        for name in names:
            check_choice("classifiers", name, SEARCHES)
        classifiers = {name: SEARCHES[name] for name in names}
    tasks = list(tasks)
    if not (variants and classifiers and tasks and seeds):
        raise OptionError("evaluate needs an embedding, a classifier, a task, a seed.")
    for task in tasks:  # before the long computation
        for (name, variant), vectors in variants.items():
            which = f"{name!r}, variant {variant!r}," if variant else f"{name!r}"
            classes, source = (*task.seen, *task.unseen), f"task {task.name!r}"
            check_has_vectors(vectors, classes, source, name=f"embedding {which}")
    n_steps = len(tasks) * len(seeds) * len(classifiers)
    rows: list[dict[str, Any]] = []
    done = 0
    for task in tasks:
        if generalised and task.held_out is None:
            task = hold_out(task)
        # Classifiers share prepared images, and so do seeds that draw the same classes.
        prepare = _shared_images(task, n_validation + 1)
        for seed in seeds:
            splits = validation_splits(task, n_validation, validation_share, seed)
            for name, search in classifiers.items():
                step = _Step(name, search, variants, task, seed, splits, prepare)
                rows += step.rows(generalised=generalised)
                done += 1
                if progress is not None:
                    progress(done, n_steps)
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def compare(frame: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Compare every embedding with a reference, split by split.

    Accuracies are averaged over seeds first, as seeds bring no new classes. Random
    splits share most of their classes, so the standard error is corrected after Nadeau
    and Bengio (2003): variance · (1 / splits + unseen classes / seen classes). It is
    NaN for a single split.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `evaluate`.
    reference : str
        Name of the embedding to compare with.

    Returns
    -------
    pandas.DataFrame
        One row for each task, classifier and embedding: `accuracy` and `spread` (mean
        and standard deviation over splits), `difference` from the reference, its
        corrected `standard_error`, and `n_splits`.

    Raises
    ------
    OptionError
        If the frame has no embedding of this name.
    """
    pandas = import_optional("pandas", extra="frames", purpose="compare")
    if reference not in set(frame["embedding"]):
        raise OptionError(
            f"reference must be one of {some(dict.fromkeys(frame['embedding']))}. "
            f"Got {reference!r} instead."
        )
    rows = []
    for (task, classifier), cell in frame.groupby(["task", "classifier"], sort=False):
        # (splits, embeddings)
        table = cell.pivot_table(
            index="split", columns="embedding", values="accuracy", aggfunc="mean"
        )
        ratio = float((cell["n_unseen"] / cell["n_seen"]).mean())
        for embedding in dict.fromkeys(cell["embedding"]):
            difference = table[embedding] - table[reference]
            rows.append(
                {
                    "task": task,
                    "classifier": classifier,
                    "embedding": embedding,
                    "accuracy": table[embedding].mean(),
                    "spread": table[embedding].std(ddof=1),
                    "difference": difference.mean(),
                    "standard_error": corrected_error(difference, ratio),
                    "n_splits": int(difference.count()),
                }
            )
    result: pd.DataFrame = pandas.DataFrame(rows)
    return result


def corrected_error(differences: npt.ArrayLike, ratio: float) -> float:
    """Return the standard error of a mean over overlapping splits.

    The correction is that of Nadeau and Bengio (2003).

    Parameters
    ----------
    differences : array of shape (splits,)
        One value for each split; NaN values are left out.
    ratio : float
        Number of unseen classes divided by the number of seen classes.

    Returns
    -------
    float
        The corrected standard error; NaN for fewer than two values.

    Examples
    --------
    >>> round(corrected_error([1.0, 2.0, 3.0], 0.25), 4)
    0.7638
    """
    values = np.asarray(differences, np.float64)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return float("nan")
    return float(np.sqrt(values.var(ddof=1) * (1 / len(values) + ratio)))


class _Choice(NamedTuple):
    """A variant of an embedding, and options of a classifier."""

    embedding: str
    variant: str
    parameters: dict[str, Any]
    accuracy: float = 0.0  # on the validation classes


def _shared_images(task: ZeroShotTask, most: int) -> Prepare:
    """Prepares the seen images of a task or of its splits, and keeps the last ones."""

    @lru_cache(maxsize=most)
    def images_of(classes: tuple[str, ...]) -> TrainingImages:
        return TrainingImages(*task.images(classes))

    return lambda split: images_of(split.seen)


@dataclass(frozen=True, eq=False)
class _Step:
    """One classifier on one task with one seed, for all embeddings."""

    classifier: str
    search: Search
    variants: Variants
    task: ZeroShotTask
    seed: int
    validation: Sequence[ZeroShotTask]
    prepare: Prepare

    def rows(self, *, generalised: bool) -> list[dict[str, Any]]:
        """Choose options on validation classes and test them; a row per embedding."""
        choices = self._choices()
        penalties: dict[str, float] = {}
        if generalised:
            penalties = choose_penalties(
                {x.embedding: self._make(x, "all") for x in choices},
                *self.task.images(self.task.seen),
                [(split.seen, split.unseen) for split in self.validation],
                seed=self.seed,
            )
        return [
            {
                "embedding": choice.embedding,
                "variant": choice.variant,
                "classifier": self.classifier,
                "task": self.task.name,
                "split": self.task.split,
                "seed": self.seed,
                "parameters": choice.parameters,
                "validation_accuracy": choice.accuracy,
                **self._test(choice, penalties.get(choice.embedding)),
                "n_seen": len(self.task.seen),
                "n_unseen": len(self.task.unseen),
            }
            for choice in choices
        ]

    def _make(
        self, choice: _Choice, candidates: str | Sequence[str]
    ) -> ZeroShotClassifier:
        """The classifier with the chosen variant and options, not fitted."""
        options = choice.parameters
        if hasattr(self.search.classifier, "random_state"):
            options = {"random_state": self.seed, **options}
        vectors = self.variants[choice.embedding, choice.variant]
        return self.search.classifier(vectors, candidates=candidates, **options)

    def _choices(self) -> list[_Choice]:
        """The best variant and options of every embedding; of equals, the first."""
        choices = self.search.choices
        found = {key: np.zeros(len(choices)) for key in self.variants}
        for split in self.validation:
            images = self.prepare(split)
            X, y = split.images(split.unseen)
            X = as_features(X)
            readings, used = X, None
            for i, options in enumerate(choices):
                for key, accuracies in found.items():
                    model = self._make(_Choice(*key, options), split.unseen)
                    model.fit(images, None)
                    own = [getattr(model, x) for x in model.feature_parameters]
                    if own != used:  # embeddings share them
                        readings, used = model.readings(X), own
                    nearest = model.decide(readings).argmax(axis=1)
                    accuracy = mean_class_accuracy(y, model.candidates_[nearest])
                    accuracies[i] += accuracy / len(self.validation)
        best: dict[str, _Choice] = {}
        for (name, variant), accuracies in found.items():
            i = int(accuracies.argmax())
            if name not in best or accuracies[i] > best[name].accuracy:
                best[name] = _Choice(name, variant, choices[i], float(accuracies[i]))
        return list(best.values())

    def _test(self, choice: _Choice, penalty: float | None) -> dict[str, Any]:
        """Accuracy on the unseen classes, and in the generalised test if asked for."""
        task = self.task
        model = self._make(choice, (*task.unseen, *task.seen))
        model.fit(self.prepare(task), None)
        X, y = task.images(task.unseen)
        found: dict[str, Any] = {"accuracy": unseen_class_accuracy(model, X, y)}
        if penalty is not None:
            X_seen, y_seen = task.held_out_images()
            X, y = np.concatenate([X, X_seen]), np.concatenate([y, y_seen])
            scores = model.decision_function(X)
            is_seen = np.isin(model.candidates_, task.seen)
            found["seen_penalty"] = penalty
            for prefix, taken in (("", 0.0), ("balanced_", penalty)):
                answers = model.candidates_[(scores - taken * is_seen).argmax(axis=1)]
                both = generalised_accuracy(y, answers, unseen=task.unseen)
                found |= {f"{prefix}{k}": v for k, v in both._asdict().items()}
        return found
