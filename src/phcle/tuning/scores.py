"""Scores of a trial: unseen classes, hidden attributes, or a user's function.

A score has several parts and gives the mean after each, so that a hopeless trial can be
stopped early. Scores that keep test data never use it in a trial.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from phcle.contexts import DescriptiveContext
from phcle.contexts.base.context import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ConvergenceWarning, OptionError, PhcleError, check_choice, some
from phcle.estimator import PHCLE
from phcle.tuning.completion import CompletionTask, Rows, draw, predict_without, scores
from phcle.tuning.hidden_cells import CellCompletion, Flags, what_to_hide
from phcle.uses.zero_shot import SEARCHES, ZeroShotTask, evaluate
from phcle.uses.zero_shot.grid_search import Prepare, select_by_split, shared_images
from phcle.uses.zero_shot.tasks import validation_splits

__all__ = [
    "Candidate",
    "CompletionScore",
    "FunctionScore",
    "Score",
    "SoFar",
    "ZeroShotScore",
]


@dataclass(frozen=True, eq=False)
class Candidate:
    """Contexts and options of one trial.

    Parameters
    ----------
    contexts : tuple of contexts
        What is fitted.
    options : mapping of str to Any
        Options of `PHCLE`.
    labels : tuple of str, optional
        As for `PHCLE.fit`.
    names : mapping of str to str
        As for `PHCLE.fit`.
    """

    contexts: tuple[Context, ...]
    options: Mapping[str, Any]
    labels: tuple[str, ...] | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def embedding(self) -> LabelEmbedding:
        """Fit the contexts with these options.

        Returns
        -------
        LabelEmbedding
            The fitted embedding.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = PHCLE(**self.options).fit(
                self.contexts, labels=self.labels, names=self.names
            )
        return model.embedding_


class SoFar(NamedTuple):
    """A score after some of its parts.

    Parameters
    ----------
    score : float
        Mean over the parts so far.
    is_whole : bool
        Whether these are all parts.
    """

    score: float
    is_whole: bool


class Score(Protocol):
    """A measure of how good a candidate is; higher is better."""

    @property
    def title(self) -> str:
        """What is measured, and on what data; also used to tell two studies apart."""
        ...

    def so_far(self, candidate: Candidate) -> Iterator[SoFar]:
        """Score a candidate part by part.

        Parameters
        ----------
        candidate : Candidate
            What to score.

        Yields
        ------
        SoFar
            The mean over the first part, over the first two, and so on.
        """
        ...

    def test(self, candidate: Candidate) -> float | None:
        """Score a candidate on data that no trial used.

        Parameters
        ----------
        candidate : Candidate
            What to score.

        Returns
        -------
        float or None
            The score; None if no test data is kept.
        """
        ...


@dataclass(frozen=True, eq=False)
class ZeroShotScore(Score):
    """Mean per-class accuracy on validation classes among the seen ones of a task.

    The options of the classifier are chosen for each candidate on the same splits, as
    `evaluate` does. The unseen classes of the task are the test data.

    Parameters
    ----------
    task : ZeroShotTask
        Images with seen and unseen classes.
    classifier : str
        A name of `phcle.uses.zero_shot.CLASSIFIERS`.
    n_splits : int
        How many random sets of validation classes to average over.
    share : float
        Share of the seen classes in each set.
    seed : int
        Seed of the draws.
    """

    task: ZeroShotTask
    classifier: str = "eszsl"
    n_splits: int = 5
    share: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("classifier", self.classifier, SEARCHES)

    @property
    def title(self) -> str:
        """What is measured and on what."""
        return (
            f"mean per-class accuracy of {self.classifier} on {self.n_splits} draws of "
            f"{len(self._splits[0].unseen)} validation classes out of "
            f"{len(self.task.seen)} of {self.task.name!r}, seed {self.seed}"
        )

    @cached_property
    def _splits(self) -> list[ZeroShotTask]:
        drawn = replace(self.task, validation=None)
        return validation_splits(drawn, self.n_splits, self.share, self.seed)

    @cached_property
    def _prepare(self) -> Prepare:
        """Images of a split; what is computed from them is kept for later trials."""
        return shared_images(self.task, len(self._splits))

    def so_far(self, candidate: Candidate) -> Iterator[SoFar]:
        """The accuracy by the splits so far."""
        vectors = candidate.embedding().select(self.task.seen)
        by_split = select_by_split(
            SEARCHES[self.classifier],
            {"": {"": vectors}},
            self._splits,
            seed=self.seed,
            prepare=self._prepare,
        )
        for n_done, choices in enumerate(by_split, 1):
            yield SoFar(choices[""].accuracy, n_done == len(self._splits))

    def test(self, candidate: Candidate) -> float | None:
        """The accuracy on the unseen classes of the task."""
        frame = evaluate(
            {"": candidate.embedding()},
            [self.classifier],
            [replace(self.task, validation=None)],
            seeds=[self.seed],
            n_validation=self.n_splits,
            validation_share=self.share,
        )
        return float(frame["accuracy"].iloc[0])


@dataclass(frozen=True, eq=False)
class CompletionScore(Score):
    """How well hidden attributes are predicted: single cells, or those of whole labels.

    A share of the cells or of the described labels is kept as test data. Of the others,
    the same share is hidden in each split.

    Parameters
    ----------
    context : str
        Name of the descriptive context whose attributes are hidden.
    metric : str
        "auc", the mean area under the ROC curve over attributes (which labels have more
        of an attribute than its mean), or "r2", over all values.
    n_splits : int
        How many random splits to average over.
    share : float
        Share of the cells or labels to hide.
    seed : int
        Seed of the draws.
    hide : str
        "cells", "labels" (predicted from other contexts alone), or "auto": cells if the
        context has gaps and enough cells, labels otherwise.
    """

    context: str
    metric: str = "auc"
    n_splits: int = 3
    share: float = 0.2
    seed: int = 0
    hide: str = "auto"

    def __post_init__(self) -> None:
        check_choice("metric", self.metric, ("auc", "r2"))
        check_choice("hide", self.hide, ("auto", "cells", "labels"))
        if self.n_splits < 1:
            raise OptionError(f"n_splits must be 1 or more. Got {self.n_splits!r}.")

    @property
    def title(self) -> str:
        """What is measured and on what."""
        name = {"auc": "mean AUC", "r2": "R²"}[self.metric]
        what = "cells or labels" if self.hide == "auto" else self.hide
        return (
            f"{name} of {self.context!r} for hidden {what}, {self.n_splits} draws of "
            f"{self.share:.0%} of those not kept for the test, seed {self.seed}"
        )

    def so_far(self, candidate: Candidate) -> Iterator[SoFar]:
        """The score by the draws so far."""
        found = []
        for score in self._scores(candidate):
            found.append(score)
            yield SoFar(float(np.mean(found)), len(found) == self.n_splits)

    def _scores(self, candidate: Candidate) -> Iterator[float]:
        """The score of each draw."""
        rng = np.random.default_rng(self.seed)
        task = self._task(candidate)
        if isinstance(task, CellCompletion):
            kept = task.draw(rng)
            for _ in range(self.n_splits):
                yield self._of_cells(task, candidate, task.draw(rng, kept), kept)
        else:
            known, _ = draw(np.arange(len(task.labels)), self.share, rng)
            for _ in range(self.n_splits):
                yield self._score(task, candidate, *draw(known, self.share, rng))

    def test(self, candidate: Candidate) -> float | None:
        """The score for the cells or labels that are kept for the test."""
        rng = np.random.default_rng(self.seed)
        task = self._task(candidate)
        if isinstance(task, CellCompletion):
            return self._of_cells(task, candidate, task.draw(rng), None)
        kept = draw(np.arange(len(task.labels)), self.share, rng)
        return self._score(task, candidate, *kept)

    def _task(self, candidate: Candidate) -> CompletionTask | CellCompletion:
        by_name = {context.name: context for context in candidate.contexts}
        attributes = by_name.pop(self.context, None)
        if not isinstance(attributes, DescriptiveContext):
            named = [
                c.name for c in candidate.contexts if isinstance(c, DescriptiveContext)
            ]
            raise OptionError(
                f"completion hides a descriptive context. Got {self.context!r}; "
                f"there are {some(named) or 'none'}."
            )
        if candidate.labels is not None:
            attributes = attributes.rows_for(candidate.labels)
        hide = (
            self.hide if self.hide != "auto" else what_to_hide(attributes, self.share)
        )
        if hide == "cells":
            return CellCompletion(attributes, tuple(by_name.values()), self.share)
        if not by_name:
            raise OptionError(
                f"hidden labels of {self.context!r} are known in no other context; "
                "give one that says something about them."
            )
        return CompletionTask(attributes, tuple(by_name.values()))

    def _of_cells(
        self,
        task: CellCompletion,
        candidate: Candidate,
        judged: Flags,
        also_hidden: Flags | None,
    ) -> float:
        r2, auc = task.scores(judged, also_hidden, candidate.options, candidate.labels)
        return self._checked(auc if self.metric == "auc" else r2, "cells")

    def _score(
        self, task: CompletionTask, candidate: Candidate, known: Rows, hidden: Rows
    ) -> float:
        _, predicted = predict_without(
            task, known, hidden, candidate.options, candidate.labels
        )
        r2, auc = scores(task.values, known, hidden, predicted)
        return self._checked(auc if self.metric == "auc" else r2, "labels")

    def _checked(self, found: float, what: str) -> float:
        if math.isnan(found):
            raise OptionError(
                f"the hidden {what} of {self.context!r} do not differ in any "
                "attribute, so nothing can be measured; hide a larger share."
            )
        return found


@dataclass(frozen=True, eq=False)
class FunctionScore(Score):
    """A user's function of an embedding.

    Parameters
    ----------
    function : callable
        Takes the embedding and returns a number, or several whose mean counts.
    name : str
        What messages call it.
    """

    function: Callable[[LabelEmbedding], float | Iterable[float]]
    name: str = "the user's function"

    @property
    def title(self) -> str:
        """What is measured."""
        return f"score by {self.name}"

    def so_far(self, candidate: Candidate) -> Iterator[SoFar]:
        """The mean so far; which number of a generator is the last is not known."""
        found: list[float] = []
        for part, is_last in self._parts(candidate.embedding()):
            found.append(self._number(part))
            yield SoFar(float(np.mean(found)), is_last)
        if not found:
            raise OptionError(f"{self.name} gave no number; return one or yield some.")

    def test(self, candidate: Candidate) -> float | None:
        """None: the function decides what data it uses."""
        return None

    def _parts(self, embedding: LabelEmbedding) -> Iterator[tuple[Any, bool]]:
        """What the function gives; an error in it becomes an OptionError."""
        try:
            answer = self.function(embedding)
            parts: Any = answer if isinstance(answer, Iterable) else [answer]
            n_parts = len(parts) if hasattr(parts, "__len__") else None
            for i, part in enumerate(parts, 1):
                yield part, i == n_parts
        except PhcleError:
            raise
        except Exception as error:
            raise OptionError(
                f"{self.name} failed with {type(error).__name__}: {error}"
            ) from error

    def _number(self, part: Any) -> float:
        try:
            number = float(part)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise OptionError(
                f"{self.name} must give finite numbers. Got {part!r} instead."
            )
        return number
