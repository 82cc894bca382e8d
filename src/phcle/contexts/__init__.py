"""Stage 1, what is known about labels: relational and descriptive contexts."""

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.hierarchy import Hierarchy

__all__ = ["DescriptiveContext", "Hierarchy", "RelationalContext"]
