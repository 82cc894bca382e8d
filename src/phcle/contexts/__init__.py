"""Stage 1: what is known about labels. Each kind of context has its own package.

- `relational`: which labels occur together, from taxonomies, graphs, annotations,
  texts;
- `descriptive`: what labels are like, from attributes, tags, texts, vectors;
- `base`: what every kind offers to the solver, the embedding and storage. Nothing
  outside the two packages asks which kind a context is; `kinds` lists them for storage;
- `terms`: how the solver uses a context; `column_update` updates the vectors of
  columns; `alignment` joins contexts by label;
- `gaps`, `matrices`: the matrix with unknown cells, and conversions of matrices;
- `labels`, `name_arrays`: conversion and checks of user input.

Modules here may import `errors`, `files`, `backends` and each other.

The classes load when they are first used, because the command line lists the kinds of
files without loading NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.lazy_names import lazy_names

if TYPE_CHECKING:
    from phcle.contexts.alignment import align, match_contexts
    from phcle.contexts.base.context import Context
    from phcle.contexts.descriptive.data import DescriptiveContext
    from phcle.contexts.descriptive.sources import has_sentence_encoder
    from phcle.contexts.labels import as_labels
    from phcle.contexts.relational.data import RelationalContext
    from phcle.contexts.relational.taxonomy import Hierarchy

__all__ = [
    "Context",
    "DescriptiveContext",
    "Hierarchy",
    "RelationalContext",
    "align",
    "as_labels",
    "has_sentence_encoder",
    "match_contexts",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Context": "phcle.contexts.base.context",
        "DescriptiveContext": "phcle.contexts.descriptive.data",
        "Hierarchy": "phcle.contexts.relational.taxonomy",
        "RelationalContext": "phcle.contexts.relational.data",
        "align": "phcle.contexts.alignment",
        "as_labels": "phcle.contexts.labels",
        "has_sentence_encoder": "phcle.contexts.descriptive.sources",
        "match_contexts": "phcle.contexts.alignment",
    },
)
