"""Labels and attributes of a picture, also for classes without training pictures.

A network turns pictures into features (`feature_network`, `photo_files`), a linear map
turns features into vectors of the embedding (`image_map`), and the embedding says which
labels and attributes belong to a vector.

Modules here may import what `phcle.uses` may, and `phcle.uses.zero_shot`.
"""

from phcle.uses.pictures.feature_network import FeatureNetwork
from phcle.uses.pictures.image_map import ImageMap, Understanding, load_map
from phcle.uses.pictures.photo_files import PHOTO_ENDINGS, read_photo

__all__ = [
    "PHOTO_ENDINGS",
    "FeatureNetwork",
    "ImageMap",
    "Understanding",
    "load_map",
    "read_photo",
]
