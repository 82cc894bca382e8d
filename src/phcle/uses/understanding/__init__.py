"""What a picture shows, in related labels and attributes, whatever class it is of."""

from phcle.uses.understanding.image_map import ImageMap, Understanding
from phcle.uses.understanding.map_storage import load_map, save_map
from phcle.uses.understanding.network import FeatureNetwork
from phcle.uses.understanding.own_attributes import OwnAttributes
from phcle.uses.understanding.photos import PHOTO_ENDINGS, read_photo
from phcle.uses.understanding.transformer import PicturesToEmbedding

__all__ = [
    "PHOTO_ENDINGS",
    "FeatureNetwork",
    "ImageMap",
    "OwnAttributes",
    "PicturesToEmbedding",
    "Understanding",
    "load_map",
    "read_photo",
    "save_map",
]
