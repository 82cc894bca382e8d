"""Stage 1, what is known about labels: relational and descriptive contexts."""

from phcle.contexts.descriptive import DescriptiveContext
from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.relational import RelationalContext

__all__ = ["DescriptiveContext", "Hierarchy", "RelationalContext"]
