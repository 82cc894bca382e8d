"""Stage 1, what is known about labels: relational and descriptive contexts."""

from phcle.contexts.alignment import Context
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.sentence_encoder import has_sentence_encoder
from phcle.contexts.labels import as_labels
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.hierarchy import Hierarchy

__all__ = [
    "Context",
    "DescriptiveContext",
    "Hierarchy",
    "RelationalContext",
    "as_labels",
    "has_sentence_encoder",
]
