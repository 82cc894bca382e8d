"""Stage 1, what is known about labels: relational and descriptive contexts.

The classes load when they are first used: the command line lists the kinds of files
without loading NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "Context": "phcle.contexts.alignment",
    "DescriptiveContext": "phcle.contexts.descriptive.data",
    "Hierarchy": "phcle.contexts.relational.hierarchy",
    "RelationalContext": "phcle.contexts.relational.data",
    "as_labels": "phcle.contexts.labels",
    "has_sentence_encoder": "phcle.contexts.descriptive.sentence_encoder",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'phcle.contexts' has no attribute {name!r}")
