"""Check that the parts of a stored embedding fit each other.

Anybody can write a file with a right checksum. Everything that is asked of an embedding
later relies on these shapes, and on hierarchies without cycles.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phcle.contexts.base import FittedContext
from phcle.contexts.checks import check_array, check_number
from phcle.contexts.labels import refuse_half_characters
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError

__all__ = ["check_sound"]

PENALTIES = ("negatives", "descriptive", "sparsity", "ridge", "context_ridge")


def check_sound(embedding: LabelEmbedding) -> None:
    """Refuse an embedding whose parts do not fit each other.

    Parameters
    ----------
    embedding : LabelEmbedding
        As it came from a file.
    """
    _check_texts(embedding)
    for name in ("penalties", "options", "versions", "origin"):
        if not isinstance(getattr(embedding, name), Mapping):
            raise ContextError(f"its {name} are not names with values")
    for record in embedding.history:
        if not isinstance(record, Mapping):
            raise ContextError("its history is not a list of records")
        for key, value in record.items():
            check_number(value, f"{key!r} in its history", most=np.inf)
    for key, value in embedding.penalties.items():
        check_number(value, f"the penalty {key!r}")
    missing = [x for x in PENALTIES if x not in embedding.penalties]
    if embedding.contexts and missing:
        raise ContextError(f"it has no penalty {missing[0]!r}")
    names = [context.name for context in embedding.contexts]
    if len(set(names)) < len(names):
        raise ContextError("two of its contexts have the same name")
    for context in embedding.contexts:
        _check_context(context, embedding)


def _check_texts(embedding: LabelEmbedding) -> None:
    for text in (*embedding.names, *embedding.names.values()):
        refuse_half_characters(text, "the embedding", "name")


def _check_context(context: FittedContext, embedding: LabelEmbedding) -> None:
    """What all kinds share; then the context checks the rest itself."""
    where = f"context {context.name!r}"
    n = len(context.columns)
    check_array(context.factor, (n, embedding.dim), f"the factor of {where}")
    check_number(context.weight, f"the weight of {where}")
    data = context.data
    if data is not None:
        if data.columns != context.columns:
            raise ContextError(f"{where} has data of other columns")
        unknown = [label for label in data.labels if label not in embedding]
        if unknown:
            raise ContextError(f"{where} has data of {unknown[0]!r}, which has none")
    context.check()
