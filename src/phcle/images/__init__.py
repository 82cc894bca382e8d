"""Images and labels: zero-shot classifiers, their evaluation, and maps of features.

Features come from a user's files or from a network (`features`). A classifier
recognises classes without training images (`zero_shot`), and `evaluation` measures how
well. An `ImageMap` turns features into a vector of an embedding, which says its labels
and attributes.

Modules here may import `phcle.embedding` and what it may import, and never the solver.
"""

from phcle.images.evaluation import (
    SEARCHES,
    Search,
    ZeroShotTask,
    evaluate,
    generalised_accuracy,
    hold_out,
    match_classes,
    mean_class_accuracy,
    resplits,
    unseen_class_accuracy,
    user_task,
    validation_splits,
)
from phcle.images.features import (
    FeatureNetwork,
    ImageData,
    load_feature_folder,
    load_photo_folder,
    read_feature_rows,
    read_photo,
)
from phcle.images.image_map import ImageMap, load_map
from phcle.images.zero_shot import ESZSL, SJE, ConSE, TrainingImages, ridge_path

__all__ = ["ESZSL", "SEARCHES", "SJE", "ConSE", "FeatureNetwork"]
__all__ += ["ImageData", "ImageMap", "Search", "TrainingImages", "ZeroShotTask"]
__all__ += ["evaluate", "generalised_accuracy", "hold_out", "load_feature_folder"]
__all__ += ["load_map", "load_photo_folder", "match_classes", "mean_class_accuracy"]
__all__ += ["read_feature_rows", "read_photo", "resplits", "ridge_path"]
__all__ += ["unseen_class_accuracy", "user_task", "validation_splits"]
