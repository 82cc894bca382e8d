"""Every kind of context, by the name that files use."""

from __future__ import annotations

from phcle.contexts.base.fitted_context import FittedContext
from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.contexts.family.fitted import FittedFamily
from phcle.contexts.relational.fitted import FittedRelational

FITTED_KINDS: dict[str, type[FittedContext]] = {
    kind.kind: kind for kind in (FittedRelational, FittedFamily, FittedDescriptive)
}
