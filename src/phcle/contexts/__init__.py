"""Stage 1, what is known about labels: one package for each kind of context.

`base` says what every kind offers to the solver, the embedding and storage; nothing
outside `relational` and `descriptive` asks which kind a context is. `readers` turns
files into contexts, `alignment` joins contexts by label, and `masked` is the matrix of
values with gaps. May import `errors`, `files` and `backends`.

The classes load when they are first used: the command line lists the kinds of files
without loading NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phcle.contexts.base import Context, FittedContext
    from phcle.contexts.descriptive.data import DescriptiveContext
    from phcle.contexts.descriptive.sentence_encoder import has_sentence_encoder
    from phcle.contexts.labels import as_labels
    from phcle.contexts.relational.data import RelationalContext
    from phcle.contexts.relational.taxonomy import Hierarchy

__all__ = [
    "Context",
    "DescriptiveContext",
    "FittedContext",
    "Hierarchy",
    "RelationalContext",
    "as_labels",
    "has_sentence_encoder",
]

_HOMES = {
    "Context": "phcle.contexts.base",
    "DescriptiveContext": "phcle.contexts.descriptive.data",
    "FittedContext": "phcle.contexts.base",
    "Hierarchy": "phcle.contexts.relational.taxonomy",
    "RelationalContext": "phcle.contexts.relational.data",
    "as_labels": "phcle.contexts.labels",
    "has_sentence_encoder": "phcle.contexts.descriptive.sentence_encoder",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'phcle.contexts' has no attribute {name!r}")
