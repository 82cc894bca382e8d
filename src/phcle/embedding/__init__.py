"""Stage 3, the result: label vectors with all they were learned from."""

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.storage import load

__all__ = ["LabelEmbedding", "load"]
