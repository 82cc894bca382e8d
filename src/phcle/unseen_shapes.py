"""A zero-shot example for `phcle demo`: recognise shapes of classes never seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts.base.context import Context
from phcle.datasets.shapes import RenderedShapes
from phcle.errors import BackendError
from phcle.estimator import PHCLE
from phcle.files.writing import write_whole
from phcle.uses.zero_shot import (
    SEARCHES,
    ZeroShotTask,
    mean_class_accuracy,
    select,
    validation_splits,
)

__all__ = ["NewShapes", "draw_answers", "recognise_new_shapes"]

DIM = 16
"""Dimensions of the vectors; enough for 32 classes."""
PICTURES_SHOWN = 4
"""Pictures of each class in the figure."""
RIGHT, WRONG = "#009E73", "#D55E00"
"""Colours of right and wrong answers, which colour-blind readers can tell apart."""


@dataclass(frozen=True, eq=False)
class NewShapes:
    """Pictures of unseen classes and what the classifier answered.

    Attributes
    ----------
    data : RenderedShapes
        All pictures.
    pictures : array of int
        Rows of the pictures of unseen classes.
    answers : array of str
        Class that was predicted for each of them, from all contexts.
    accuracies : mapping of str to float
        Mean per-class accuracy, by the contexts that the embedding was learned from.
    """

    data: RenderedShapes
    pictures: npt.NDArray[np.intp]
    answers: npt.NDArray[np.str_]
    accuracies: Mapping[str, float]

    @property
    def chance(self) -> float:
        """Accuracy of guessing."""
        return 1 / len(self.data.unseen)


def recognise_new_shapes(data: RenderedShapes) -> NewShapes:
    """Train ESZSL on pictures of the seen classes and predict the unseen ones.

    The options of the classifier are chosen on validation classes among the seen ones.

    Parameters
    ----------
    data : RenderedShapes
        From `load_shapes`.

    Returns
    -------
    NewShapes
        Answers and accuracies.
    """
    task = ZeroShotTask("shapes", data.features, data.labels, data.seen, data.unseen)
    eszsl = SEARCHES["eszsl"]
    is_seen = np.isin(data.labels, data.seen)
    pictures = np.flatnonzero(~is_seen)
    learned_from: dict[str, list[Context]] = {
        "taxonomy": [data.hierarchy()],
        "taxonomy + attributes of some": list(data.contexts()),
    }
    accuracies = {}
    for name, contexts in learned_from.items():
        embedding = PHCLE(dim=DIM, backend="numpy").fit(contexts).embedding_
        chosen = select(eszsl, {"": {"": embedding}}, validation_splits(task))[""]
        model = eszsl.make(embedding, chosen.parameters, candidates=data.unseen)
        model.fit(data.features[is_seen], data.labels[is_seen])
        answers = model.predict(data.features[pictures])
        accuracies[name] = mean_class_accuracy(data.labels[pictures], answers)
    return NewShapes(data, pictures, answers, accuracies)


def draw_answers(found: NewShapes, path: Path) -> None:
    """Draw some pictures of unseen classes with the answers below.

    Parameters
    ----------
    found : NewShapes
        What to show.
    path : Path
        Where to write the figure; the ending chooses the format.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BackendError(
            "pictures need matplotlib; pip install 'phcle[figures]'."
        ) from error
    data = found.data
    figure = Figure(figsize=(7.5, 1.75 * len(data.unseen) / 2), layout="constrained")
    axes = figure.subplots(len(data.unseen) // 2, 2 * PICTURES_SHOWN, squeeze=False)
    for number, label in enumerate(data.unseen):
        row, half = divmod(number, 2)
        own = np.flatnonzero(data.labels[found.pictures] == label)[:PICTURES_SHOWN]
        for column, place in enumerate(own, half * PICTURES_SHOWN):
            panel = axes[row, column]
            panel.imshow(data.images[found.pictures[place]])
            panel.set_xticks([])
            panel.set_yticks([])
            answer = str(found.answers[place])
            colour = RIGHT if answer == label else WRONG
            for side in panel.spines.values():
                side.set(color=colour, linewidth=2)
            said = "✓" if answer == label else answer.replace(" ", "\n")
            panel.set_xlabel(said, fontsize=6, color=colour)
        axes[row, half * PICTURES_SHOWN].set_title(label, fontsize=8, loc="left")
    with write_whole(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], dpi=150)
