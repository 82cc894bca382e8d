"""Stage 1, what is known about labels: one package for each kind of context.

`base` says what every kind offers to the solver, the embedding and storage; nothing
outside `relational` and `descriptive` asks which kind a context is. `readers` turns
files into contexts, `alignment` joins contexts by label, and `masked` is the matrix of
values with gaps. Imports `errors`, `files` and `backends`.
"""

from phcle.contexts.base import Context, FittedContext
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.fitted import FittedRelational
from phcle.contexts.relational.taxonomy import Hierarchy

__all__ = [
    "FITTED_KINDS",
    "Context",
    "DescriptiveContext",
    "FittedContext",
    "Hierarchy",
    "RelationalContext",
]

FITTED_KINDS: dict[str, type[FittedContext]] = {
    kind.kind: kind for kind in (FittedRelational, FittedDescriptive)
}
"""Every kind of fitted context, by the name that files use."""
