"""Labels and attributes of a picture, also for classes without training pictures.

A network turns pictures into features (`feature_network`), a linear map turns features
into vectors of the embedding (`image_map`), and the embedding says which labels and
attributes belong to a vector.

Modules here may import what `phcle.uses` may, and `phcle.uses.zero_shot`.
"""

from phcle.uses.pictures.feature_network import (
    PHOTO_ENDINGS,
    FeatureNetwork,
    read_photo,
)
from phcle.uses.pictures.image_map import ImageMap, Understanding, load_map

__all__ = [
    "PHOTO_ENDINGS",
    "FeatureNetwork",
    "ImageMap",
    "Understanding",
    "load_map",
    "read_photo",
]
