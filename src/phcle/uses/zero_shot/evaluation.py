"""Compare label embeddings by how well unseen classes are recognised with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, some
from phcle.optional_imports import import_optional
from phcle.uses.zero_shot.class_splits import generalised_accuracy, mean_class_accuracy
from phcle.uses.zero_shot.classifier import ZeroShotClassifier, check_has_vectors
from phcle.uses.zero_shot.grid_search import (
    SEARCHES,
    Choice,
    Prepare,
    Search,
    Variants,
    select,
    shared_images,
)
from phcle.uses.zero_shot.seen_penalty import choose_penalties, lower_seen
from phcle.uses.zero_shot.tasks import ZeroShotTask, hold_out, validation_splits

if TYPE_CHECKING:
    import pandas as pd


Embeddings = Mapping[str, LabelEmbedding | Mapping[str, LabelEmbedding]]


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
    variants = {
        name: {"": entry} if isinstance(entry, LabelEmbedding) else dict(entry)
        for name, entry in embeddings.items()
    }
    searches = _searches(classifiers)
    tasks = list(tasks)
    if not (variants and searches and tasks and seeds):
        raise OptionError("evaluate needs an embedding, a classifier, a task, a seed.")
    for task in tasks:
        _check_covered(variants, task)
    n_steps = len(tasks) * len(seeds) * len(searches)
    rows: list[dict[str, Any]] = []
    done = 0
    for task in tasks:
        if generalised and task.held_out is None:
            task = hold_out(task)
        # Classifiers share prepared images, and so do seeds that draw the same classes.
        prepare = shared_images(task, n_validation + 1)
        for seed in seeds:
            splits = validation_splits(task, n_validation, validation_share, seed)
            for name, search in searches.items():
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
            accuracy = table[embedding]
            difference = accuracy - table[reference]
            n = int(difference.count())
            rows.append(
                {
                    "task": task,
                    "classifier": classifier,
                    "embedding": embedding,
                    "accuracy": accuracy.mean(),
                    "spread": accuracy.std(ddof=1),
                    "difference": difference.mean(),
                    "standard_error": corrected_error(difference, ratio),
                    "n_splits": n,
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
        choices = select(
            self.search,
            self.variants,
            self.validation,
            seed=self.seed,
            prepare=self.prepare,
        )
        penalties = self._penalties(choices) if generalised else {}
        return [
            {
                "embedding": embedding,
                "variant": choice.variant,
                "classifier": self.classifier,
                "task": self.task.name,
                "split": self.task.split,
                "seed": self.seed,
                "parameters": choice.parameters,
                "validation_accuracy": choice.accuracy,
                **self._test(embedding, choice, penalties.get(embedding)),
                "n_seen": len(self.task.seen),
                "n_unseen": len(self.task.unseen),
            }
            for embedding, choice in choices.items()
        ]

    def _make(
        self, embedding: str, choice: Choice, candidates: Sequence[str]
    ) -> ZeroShotClassifier:
        """The classifier with the chosen variant and options."""
        return self.search.make(
            self.variants[embedding][choice.variant],
            choice.parameters,
            candidates=candidates,
            seed=self.seed,
        )

    def _penalties(self, choices: Mapping[str, Choice]) -> dict[str, float]:
        """The seen_penalty of every embedding, chosen on the validation classes."""
        return choose_penalties(
            {name: partial(self._make, name, x) for name, x in choices.items()},
            *self.task.images(self.task.seen),
            [(split.seen, split.unseen) for split in self.validation],
            seed=self.seed,
        )

    def _test(
        self, embedding: str, choice: Choice, penalty: float | None
    ) -> dict[str, Any]:
        """Accuracy on the unseen classes, and in the generalised test if asked for."""
        task = self.task
        model = self._make(embedding, choice, (*task.unseen, *task.seen))
        model.fit_images(self.prepare(task))
        X, y = task.images(task.unseen)
        scores = model.decision_function(X)  # unseen classes come first
        nearest = scores[:, : len(task.unseen)].argmax(axis=1)
        accuracy = mean_class_accuracy(y, model.candidates_[nearest])
        found: dict[str, Any] = {"accuracy": accuracy}
        if penalty is not None:
            X_seen, y_seen = task.held_out_images()
            truth = np.concatenate([y, y_seen])
            scores = np.concatenate([scores, model.decision_function(X_seen)])
            found["seen_penalty"] = penalty
            for prefix, taken in (("", 0.0), ("balanced_", penalty)):
                lowered = lower_seen(scores, model.candidates_, task.seen, taken)
                answers = model.candidates_[lowered.argmax(axis=1)]
                both = generalised_accuracy(truth, answers, unseen=task.unseen)
                found |= {f"{prefix}{k}": v for k, v in both._asdict().items()}
        return found


def _searches(classifiers: Iterable[str] | Mapping[str, Search]) -> dict[str, Search]:
    """Searches by name."""
    if isinstance(classifiers, Mapping):
        return dict(classifiers)
    names = [classifiers] if isinstance(classifiers, str) else list(classifiers)
    strange = [name for name in names if name not in SEARCHES]
    if strange:
        raise OptionError(
            f"classifiers must be among {', '.join(SEARCHES)}, or a mapping of name "
            f"to Search. Got {some(strange)}."
        )
    return {name: SEARCHES[name] for name in names}


def _check_covered(variants: Variants, task: ZeroShotTask) -> None:
    """Refuse embeddings that lack classes of the task, before the long computation."""
    for name, entry in variants.items():
        if not entry:
            raise OptionError(f"embedding {name!r} has no variant; give one or more.")
        for variant, embedding in entry.items():
            full_name = f"{name!r}, variant {variant!r}," if variant else f"{name!r}"
            check_has_vectors(
                embedding,
                (*task.seen, *task.unseen),
                f"task {task.name!r}",
                name=f"embedding {full_name}",
            )
