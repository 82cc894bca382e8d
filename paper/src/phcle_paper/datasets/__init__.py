"""The data sets of the paper and its studies, one module each; nothing is shipped."""

from phcle_paper.datasets.apy import AnnotatedObjects, load_apy, load_apy_objects
from phcle_paper.datasets.awa import load_awa, load_awa_word_vectors
from phcle_paper.datasets.classes import AnnotatedImages, ClassAttributes
from phcle_paper.datasets.paper_splits import (
    APY_PAPER,
    AWA_CORRECTED,
    AWA_PAPER,
    PaperSplit,
)
from phcle_paper.datasets.wordnet_nouns import (
    WORDNET_FOLDER,
    WordNetNouns,
    load_wordnet_nouns,
)
from phcle_paper.datasets.xlsa17 import load_class_attributes, load_xlsa17

__all__ = [
    "APY_PAPER",
    "AWA_CORRECTED",
    "AWA_PAPER",
    "WORDNET_FOLDER",
    "AnnotatedImages",
    "AnnotatedObjects",
    "ClassAttributes",
    "PaperSplit",
    "WordNetNouns",
    "load_apy",
    "load_apy_objects",
    "load_awa",
    "load_awa_word_vectors",
    "load_class_attributes",
    "load_wordnet_nouns",
    "load_xlsa17",
]
