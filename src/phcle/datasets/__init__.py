"""Data that ships with the package, and readers of a user's pictures and WordNet.

Importing this package reads no data. Modules here import `errors`, `files` and
`contexts` only.
"""

from phcle.datasets.feature_folder import (
    load_feature_folder,
    read_array,
    read_feature_rows,
)
from phcle.datasets.image_data import ImageData
from phcle.datasets.imagenet1k import ImageNet1K, load_imagenet1k
from phcle.datasets.wordnet import WORDNET_FOLDER, WordNetNouns, load_wordnet_nouns

__all__ = [
    "WORDNET_FOLDER",
    "ImageData",
    "ImageNet1K",
    "WordNetNouns",
    "load_feature_folder",
    "load_imagenet1k",
    "load_wordnet_nouns",
    "read_array",
    "read_feature_rows",
]
