"""phcle: label embeddings from partial, heterogeneous contexts.

What is known about labels (`contexts`) becomes one vector per label (`PHCLE`,
`embedding`), which is then used for search, clusters and classification (`uses`).

Public names load when they are first used, so importing the package is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.lazy_names import lazy_names

if TYPE_CHECKING:
    from phcle.contexts import DescriptiveContext, RelationalContext
    from phcle.embedding import LabelEmbedding, load
    from phcle.embedding.skill import completion_skill
    from phcle.embedding.suspicious import suspicious_cells
    from phcle.estimator import PHCLE
    from phcle.model.foldin import fold_in
    from phcle.model.trials import context_help
    from phcle.quick_fit import fit
    from phcle.tables.files import read_contexts

__version__ = "0.1.0"

__all__ = [
    "PHCLE",
    "DescriptiveContext",
    "LabelEmbedding",
    "RelationalContext",
    "__version__",
    "completion_skill",
    "context_help",
    "datasets",
    "errors",
    "fit",
    "fold_in",
    "load",
    "read_contexts",
    "suspicious_cells",
]

__getattr__ = lazy_names(
    __name__,
    {
        "DescriptiveContext": "phcle.contexts",
        "LabelEmbedding": "phcle.embedding",
        "PHCLE": "phcle.estimator",
        "RelationalContext": "phcle.contexts",
        "completion_skill": "phcle.embedding.skill",
        "context_help": "phcle.model.trials",
        "datasets": "phcle.datasets",
        "errors": "phcle.errors",
        "fit": "phcle.quick_fit",
        "fold_in": "phcle.model.foldin",
        "load": "phcle.embedding",
        "read_contexts": "phcle.tables.files",
        "suspicious_cells": "phcle.embedding.suspicious",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
