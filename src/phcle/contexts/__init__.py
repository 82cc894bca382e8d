"""Stage 1: what is known about labels. Each kind of context is one class.

- `counts`: `RelationalContext`, which labels occur together, with `logistic`, its term;
  `cooccurrence` counts edges, annotations and texts, `hierarchy` taxonomies;
- `values`: `DescriptiveContext`, what labels are like, with `squared`, its term;
  `encoders` turns texts, names, tags and cells into numbers;
- `family`: relatives of labels, which a fit makes of a hierarchy or graph;
- `protocol`: `Context`, what every kind offers before, during and after a fit. No other
  code asks which kind a context is; `KINDS` below lists them for storage;
- `alignment` joins contexts by label;
- `gaps`, `matrices`: the matrix with unknown cells, and conversions of matrices;
- `labels`: conversion and checks of labels, also of millions.

Modules here may import `errors`, `files`, `backends` and each other.

The classes load when they are first used, because the command line lists the kinds of
files without loading NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.lazy_names import lazy_names

if TYPE_CHECKING:
    from phcle.contexts.alignment import align, match_contexts
    from phcle.contexts.counts import RelationalContext
    from phcle.contexts.encoders import has_sentence_encoder
    from phcle.contexts.hierarchy import Hierarchy
    from phcle.contexts.labels import as_labels
    from phcle.contexts.protocol import Context
    from phcle.contexts.values import DescriptiveContext

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
        "Context": "phcle.contexts.protocol",
        "DescriptiveContext": "phcle.contexts.values",
        "Hierarchy": "phcle.contexts.hierarchy",
        "RelationalContext": "phcle.contexts.counts",
        "align": "phcle.contexts.alignment",
        "as_labels": "phcle.contexts.labels",
        "has_sentence_encoder": "phcle.contexts.encoders",
        "match_contexts": "phcle.contexts.alignment",
    },
)
