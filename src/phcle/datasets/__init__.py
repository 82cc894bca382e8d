"""Data sets: what ships with the package, and loaders for what users have.

Names load when they are first used: importing this package reads no data.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phcle.datasets.apy import AnnotatedObjects, load_apy, load_apy_objects
    from phcle.datasets.awa import load_awa, load_awa_word_vectors
    from phcle.datasets.debian import DebianPackages, load_debian
    from phcle.datasets.feature_folder import load_feature_folder
    from phcle.datasets.image_data import ClassAttributes, ImageData
    from phcle.datasets.imagenet1k import ImageNet1K, load_imagenet1k
    from phcle.datasets.imagenet_matches import (
        ImageNetMatch,
        match_names,
        match_wnids,
    )
    from phcle.datasets.imnet_attributes import load_imnet_attributes
    from phcle.datasets.lad import load_lad, match_lad
    from phcle.datasets.men import WordPair, load_men
    from phcle.datasets.paper_splits import (
        APY_PAPER,
        AWA_ANIMALS_OUTSIDE,
        AWA_CORRECTED,
        AWA_PAPER,
        PaperSplit,
    )
    from phcle.datasets.pictures import picture_features
    from phcle.datasets.shapes import RenderedShapes, load_shapes
    from phcle.datasets.wordnet import WordNetNouns, load_wordnet_nouns, match_nouns
    from phcle.datasets.xlsa17 import load_class_attributes, load_xlsa17

__all__ = [
    "APY_PAPER",
    "AWA_ANIMALS_OUTSIDE",
    "AWA_CORRECTED",
    "AWA_PAPER",
    "AnnotatedObjects",
    "ClassAttributes",
    "DebianPackages",
    "ImageData",
    "ImageNet1K",
    "ImageNetMatch",
    "PaperSplit",
    "RenderedShapes",
    "WordNetNouns",
    "WordPair",
    "load_apy",
    "load_apy_objects",
    "load_awa",
    "load_awa_word_vectors",
    "load_class_attributes",
    "load_debian",
    "load_feature_folder",
    "load_imagenet1k",
    "load_imnet_attributes",
    "load_lad",
    "load_men",
    "load_shapes",
    "load_wordnet_nouns",
    "load_xlsa17",
    "match_lad",
    "match_names",
    "match_nouns",
    "match_wnids",
    "picture_features",
]

_HOMES = {
    "apy": ("AnnotatedObjects", "load_apy", "load_apy_objects"),
    "awa": ("load_awa", "load_awa_word_vectors"),
    "debian": ("DebianPackages", "load_debian"),
    "feature_folder": ("load_feature_folder",),
    "image_data": ("ClassAttributes", "ImageData"),
    "imagenet1k": ("ImageNet1K", "load_imagenet1k"),
    "imagenet_matches": ("ImageNetMatch", "match_names", "match_wnids"),
    "imnet_attributes": ("load_imnet_attributes",),
    "lad": ("load_lad", "match_lad"),
    "men": ("WordPair", "load_men"),
    "paper_splits": (
        "APY_PAPER",
        "AWA_ANIMALS_OUTSIDE",
        "AWA_CORRECTED",
        "AWA_PAPER",
        "PaperSplit",
    ),
    "pictures": ("picture_features",),
    "shapes": ("RenderedShapes", "load_shapes"),
    "wordnet": ("WordNetNouns", "load_wordnet_nouns", "match_nouns"),
    "xlsa17": ("load_class_attributes", "load_xlsa17"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"phcle.datasets.{home}"), name)
    raise AttributeError(f"module 'phcle.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
