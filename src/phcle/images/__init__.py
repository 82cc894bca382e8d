"""Images and labels: zero-shot classifiers, their evaluation, and maps of features.

A network turns photos into features (`photos`). A classifier recognises classes without
training images (`zero_shot`), and `evaluation` measures how well, on the classes and
splits of `tasks`. An `ImageMap` turns features into a vector of an embedding, which
says its labels and attributes.

Modules here may import `phcle.embedding`, `phcle.datasets` and what these may import,
and never the solver.
"""

from phcle.datasets import (
    ImageData,
    load_feature_folder,
    read_array,
    read_feature_rows,
)
from phcle.images.evaluation import (
    SEARCHES,
    Search,
    compare,
    corrected_error,
    evaluate,
    generalised_accuracy,
    mean_class_accuracy,
    unseen_class_accuracy,
)
from phcle.images.features import Spectrum, TrainingImages
from phcle.images.image_map import ImageMap, Understanding, load_map
from phcle.images.photos import PHOTO_ENDINGS, FeatureNetwork, read_photo
from phcle.images.tasks import (
    UnseenClassSplit,
    ZeroShotTask,
    hold_out,
    match_classes,
    resplits,
    user_task,
    validation_splits,
)
from phcle.images.zero_shot import (
    ESZSL,
    SJE,
    ConSE,
    ZeroShotClassifier,
    balancing_penalty,
)

__all__ = [
    "ESZSL",
    "PHOTO_ENDINGS",
    "SEARCHES",
    "SJE",
    "ConSE",
    "FeatureNetwork",
    "ImageData",
    "ImageMap",
    "Search",
    "Spectrum",
    "TrainingImages",
    "Understanding",
    "UnseenClassSplit",
    "ZeroShotClassifier",
    "ZeroShotTask",
    "balancing_penalty",
    "compare",
    "corrected_error",
    "evaluate",
    "generalised_accuracy",
    "hold_out",
    "load_feature_folder",
    "load_map",
    "match_classes",
    "mean_class_accuracy",
    "read_array",
    "read_feature_rows",
    "read_photo",
    "resplits",
    "unseen_class_accuracy",
    "user_task",
    "validation_splits",
]
