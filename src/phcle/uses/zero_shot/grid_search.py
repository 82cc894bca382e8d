"""Choose a classifier's options and an embedding's variant on validation classes.

Every embedding gets the same grid of options. The test classes take no part: the tasks
given here contain seen classes only (see `validation_splits`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import ParameterGrid

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.uses.zero_shot.class_splits import mean_class_accuracy
from phcle.uses.zero_shot.classifier import ESZSL, SJE, ConSE, ZeroShotClassifier
from phcle.uses.zero_shot.image_features import TrainingImages, as_features
from phcle.uses.zero_shot.tasks import ZeroShotTask

Variants = Mapping[str, Mapping[str, LabelEmbedding]]  # embedding -> variant -> vectors
Prepare = Callable[[ZeroShotTask], TrainingImages]


def shared_images(task: ZeroShotTask, most: int) -> Prepare:
    """Return a function that prepares the seen images of splits, and keeps the last.

    Parameters
    ----------
    task : ZeroShotTask
        The task that is split.
    most : int
        Number of splits whose images are kept.

    Returns
    -------
    callable
        From a split of the task, or the task itself, to its `TrainingImages`.
    """

    @lru_cache(maxsize=most)
    def images_of(classes: tuple[str, ...]) -> TrainingImages:
        return TrainingImages(*task.images(classes))

    return lambda split: images_of(split.seen)


@dataclass(frozen=True)
class Search:
    """A classifier, a grid of options to choose from, and options that stay fixed.

    Attributes
    ----------
    classifier : type of ZeroShotClassifier
        The classifier.
    grid : mapping of str to sequence
        Values to try for each option.
    options : mapping of str to Any
        Values of other options; defaults of the classifier if left out.

    Examples
    --------
    >>> from phcle.uses.zero_shot import ESZSL
    >>> search = Search(ESZSL, {"class_ridge": [0.1, 1.0], "feature_ridge": [10.0]})
    >>> search.class_grid
    [{'class_ridge': 0.1}, {'class_ridge': 1.0}]
    """

    classifier: type[ZeroShotClassifier]
    grid: Mapping[str, Sequence[Any]]
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(
        self,
        embedding: LabelEmbedding,
        parameters: Mapping[str, Any],
        *,
        candidates: str | Sequence[str] = "unseen",
        seed: int = 0,
    ) -> ZeroShotClassifier:
        """Make the classifier with some options.

        Parameters
        ----------
        embedding : LabelEmbedding
            The class vectors.
        parameters : mapping of str to Any
            Options from the grid.
        candidates : "unseen", "all" or sequence of str, default "unseen"
            The classes that it chooses among.
        seed : int, default 0
            Its `random_state`, if it has one that is not set otherwise.

        Returns
        -------
        ZeroShotClassifier
            The classifier, not fitted.
        """
        options = {**self.options, **parameters, "candidates": candidates}
        made: ZeroShotClassifier = self.classifier(embedding, **options)
        if "random_state" in made.get_params() and "random_state" not in options:
            made.set_params(random_state=seed)
        return made

    @property
    def feature_grid(self) -> list[dict[str, Any]]:
        """Combinations of options that need a new fit of the feature side."""
        names = self.classifier.feature_parameters
        return list(ParameterGrid({k: v for k, v in self.grid.items() if k in names}))

    @property
    def class_grid(self) -> list[dict[str, Any]]:
        """Combinations of options of the class side, which is cheap to fit."""
        names = self.classifier.feature_parameters
        rest = {k: v for k, v in self.grid.items() if k not in names}
        return list(ParameterGrid(rest))


SEARCHES: Mapping[str, Search] = MappingProxyType(
    {
        "eszsl": Search(ESZSL, ESZSL.grid),
        "conse": Search(ConSE, ConSE.grid),
        "sje": Search(SJE, SJE.grid),
    }
)
"""The classifiers that `evaluate` knows by name, with the options tried for each."""


@dataclass(frozen=True)
class Choice:
    """The options that did best on the validation classes.

    Attributes
    ----------
    variant : str
        Name of the embedding's variant.
    parameters : dict of str to Any
        Options of the classifier.
    accuracy : float
        Mean per-class accuracy on the validation classes.
    """

    variant: str
    parameters: dict[str, Any]
    accuracy: float


def select(
    search: Search,
    embeddings: Variants,
    splits: Sequence[ZeroShotTask],
    *,
    seed: int,
    prepare: Prepare,
) -> dict[str, Choice]:
    """Choose the best variant and options of every embedding.

    The best has the highest mean accuracy over the splits; of equals, the first.

    Parameters
    ----------
    search : Search
        The classifier and its grid.
    embeddings : mapping of str to mapping of str to LabelEmbedding
        Variants of each embedding by name.
    splits : sequence of ZeroShotTask
        Validation tasks, as `validation_splits` returns them.
    seed : int
        Seed of the classifiers.
    prepare : callable
        Returns the `TrainingImages` of a split, as `shared_images` does.

    Returns
    -------
    dict of str to Choice
        The choice for each embedding.
    """
    shape = (len(search.feature_grid), len(search.class_grid))
    found = {
        (name, variant): np.zeros(shape)
        for name, variants in embeddings.items()
        for variant in variants
    }
    for split in splits:
        trials = _trials(search, embeddings, split, prepare(split), seed)
        for key, place, accuracy in trials:
            found[key][place] += accuracy / len(splits)
    return {
        name: _best(search, {v: found[name, v] for v in variants})
        for name, variants in embeddings.items()
    }


def _trials(
    search: Search,
    embeddings: Variants,
    split: ZeroShotTask,
    images: TrainingImages,
    seed: int,
) -> Iterator[tuple[tuple[str, str], tuple[int, int], float]]:
    """Accuracy of every embedding, variant and choice; feature sides are shared."""
    X, y = split.images(split.unseen)
    X = as_features(X)
    some_embedding = next(iter(next(iter(embeddings.values())).values()))
    for i, feature_choice in enumerate(search.feature_grid):
        side = search.make(some_embedding, feature_choice).feature_side(images)
        readings = side.apply(X)
        for name, variants in embeddings.items():
            for variant, embedding in variants.items():
                for j, class_choice in enumerate(search.class_grid):
                    model = search.make(
                        embedding,
                        {**feature_choice, **class_choice},
                        candidates=split.unseen,
                        seed=seed,
                    ).fit_images(images, side)
                    best = model.decide(readings).argmax(axis=1)
                    accuracy = mean_class_accuracy(y, model.candidates_[best])
                    yield (name, variant), (i, j), accuracy


def _best(search: Search, found: Mapping[str, npt.NDArray[np.float64]]) -> Choice:
    """The first variant and choice of highest accuracy."""
    variant = max(found, key=lambda v: found[v].max())
    i, j = np.unravel_index(found[variant].argmax(), found[variant].shape)
    return Choice(
        variant,
        {**search.feature_grid[i], **search.class_grid[j]},
        float(found[variant][i, j]),
    )
