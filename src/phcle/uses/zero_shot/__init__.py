"""Recognise classes without training images, and measure how well it works.

Here live the classifiers (`ESZSL`, `SJE`, `ConSE`, on the base class in `classifier`),
the tasks and splits that they are tested on, accuracy measures, the choice of options
on validation classes (`grid_search`), `evaluate`, which compares embeddings, and tasks
from a user's own image features (`user_pictures`).

A classifier is one module, and one row of `SEARCHES`.

Modules here may import what `phcle.uses` may; they do not import its other modules.
"""

from __future__ import annotations

from phcle.uses.zero_shot.class_splits import (
    UnseenClassSplit,
    generalised_accuracy,
    mean_class_accuracy,
    unseen_class_accuracy,
)
from phcle.uses.zero_shot.classifier import ESZSL, SJE, ConSE, ZeroShotClassifier
from phcle.uses.zero_shot.evaluation import compare, corrected_error, evaluate
from phcle.uses.zero_shot.grid_search import SEARCHES, Search
from phcle.uses.zero_shot.image_features import Spectrum, TrainingImages
from phcle.uses.zero_shot.seen_penalty import balancing_penalty
from phcle.uses.zero_shot.tasks import (
    ZeroShotTask,
    hold_out,
    resplits,
    validation_splits,
)
from phcle.uses.zero_shot.user_pictures import match_classes, user_task

__all__ = [
    "ESZSL",
    "SEARCHES",
    "SJE",
    "ConSE",
    "Search",
    "Spectrum",
    "TrainingImages",
    "UnseenClassSplit",
    "ZeroShotClassifier",
    "ZeroShotTask",
    "balancing_penalty",
    "compare",
    "corrected_error",
    "evaluate",
    "generalised_accuracy",
    "hold_out",
    "match_classes",
    "mean_class_accuracy",
    "resplits",
    "unseen_class_accuracy",
    "user_task",
    "validation_splits",
]
