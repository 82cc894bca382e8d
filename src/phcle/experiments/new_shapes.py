"""Zero-shot classification seen end to end, on shapes that are drawn on the spot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts.base import Context
from phcle.datasets.shapes import RenderedShapes
from phcle.errors import BackendError
from phcle.estimator import PHCLE
from phcle.files.writing import write_whole
from phcle.uses.zero_shot import SEARCHES, ZeroShotTask, validation_splits
from phcle.uses.zero_shot.grid_search import select
from phcle.uses.zero_shot.metrics import mean_class_accuracy

__all__ = ["NewShapes", "draw_answers", "recognise_new_shapes"]

DIM = 16  # enough for 32 classes
PICTURES_SHOWN = 4  # of each class
RIGHT, WRONG = "#009E73", "#D55E00"  # told apart by everybody


@dataclass(frozen=True, eq=False)
class NewShapes:
    """Pictures of classes never seen, what was answered, and how often it was right."""

    data: RenderedShapes
    pictures: npt.NDArray[np.intp]  # rows of the data
    answers: npt.NDArray[np.str_]  # from all contexts
    accuracies: Mapping[str, float]  # mean per class, by the contexts learned from

    @property
    def chance(self) -> float:
        """Accuracy of guessing."""
        return 1 / len(self.data.unseen)


def recognise_new_shapes(data: RenderedShapes) -> NewShapes:
    """Learn from pictures of the seen classes, answer among the unseen ones.

    Options of the classifier are chosen on validation classes among the seen ones.
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
    """A sheet of new pictures: class in the title, answer below, wrong ones marked."""
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
