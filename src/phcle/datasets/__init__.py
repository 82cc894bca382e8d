"""Data that ships with the package, and readers of a user's pictures and WordNet.

Names load when they are first used: importing this package reads no data. Modules here
import `errors`, `files` and `contexts` only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phcle.datasets.feature_folder import (
        load_feature_folder,
        read_array,
        read_feature_rows,
    )
    from phcle.datasets.image_data import ImageData
    from phcle.datasets.imagenet1k import ImageNet1K, load_imagenet1k
    from phcle.datasets.shapes import RenderedShapes, load_shapes
    from phcle.datasets.simple_features import picture_features
    from phcle.datasets.wordnet import WORDNET_FOLDER, WordNetNouns, load_wordnet_nouns

__all__ = [
    "WORDNET_FOLDER",
    "ImageData",
    "ImageNet1K",
    "RenderedShapes",
    "WordNetNouns",
    "load_feature_folder",
    "load_imagenet1k",
    "load_shapes",
    "load_wordnet_nouns",
    "picture_features",
    "read_array",
    "read_feature_rows",
]

_HOMES = {
    "feature_folder": ("load_feature_folder", "read_array", "read_feature_rows"),
    "image_data": ("ImageData",),
    "imagenet1k": ("ImageNet1K", "load_imagenet1k"),
    "simple_features": ("picture_features",),
    "shapes": ("RenderedShapes", "load_shapes"),
    "wordnet": ("WORDNET_FOLDER", "WordNetNouns", "load_wordnet_nouns"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"phcle.datasets.{home}"), name)
    raise AttributeError(f"module 'phcle.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
