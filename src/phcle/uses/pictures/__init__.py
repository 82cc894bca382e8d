"""What a picture shows, in related labels and attributes, whatever class it is of."""

from phcle.uses.pictures.feature_network import FeatureNetwork
from phcle.uses.pictures.image_map import ImageMap, Understanding
from phcle.uses.pictures.image_map_storage import load_map, save_map
from phcle.uses.pictures.photo_files import PHOTO_ENDINGS, read_photo
from phcle.uses.pictures.picture_attributes import PictureAttributes
from phcle.uses.pictures.sklearn_transformer import PicturesToEmbedding

__all__ = [
    "PHOTO_ENDINGS",
    "FeatureNetwork",
    "ImageMap",
    "PictureAttributes",
    "PicturesToEmbedding",
    "Understanding",
    "load_map",
    "read_photo",
    "save_map",
]
