"""Data that ships with the package, and readers of features of a user's pictures.

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

__all__ = [
    "ImageData",
    "ImageNet1K",
    "load_feature_folder",
    "load_imagenet1k",
    "read_array",
    "read_feature_rows",
]
