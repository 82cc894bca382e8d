"""Baselines need complete contexts: which labels are complete, and error messages."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext, as_labels
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, ContextWarning, did_you_mean, some
from phcle_paper.baselines.reduction import Matrix

__all__ = ["is_fully_known", "joined_names", "known_values", "shared_labels"]


def is_fully_known(context: DescriptiveContext) -> npt.NDArray[np.bool_]:
    """Which labels of the context have every value known: (labels,)."""
    rows, _ = context.matrix.known_cells()
    n_known = np.bincount(rows, minlength=len(context.labels))
    return np.asarray(n_known == len(context.columns))


def known_values(
    context: DescriptiveContext, labels: Iterable[Any] | None
) -> tuple[tuple[str, ...], Matrix]:
    """Labels, by default all of the context, and their values (labels, columns).

    A label that the context does not list, or an unknown value, is an error.
    """
    if not isinstance(context, DescriptiveContext):
        raise ContextError(
            "a DescriptiveContext is needed. "
            f"Got {type(context).__name__} instead; see its from_… constructors."
        )
    wanted = context.labels if labels is None else as_labels(labels, "labels")
    for label in wanted:
        if label not in context.index:
            raise ContextError(
                f"context {context.name!r} does not describe {label!r}, and this "
                "embedding needs complete contexts; leave it out of labels=."
                f"{did_you_mean(label, context.labels)}"
            )
    rows = np.array([context.index[label] for label in wanted], dtype=np.int64)
    incomplete = np.flatnonzero(~is_fully_known(context)[rows])
    if len(incomplete):
        first = wanted[incomplete[0]]
        known_rows, known_columns = context.matrix.known_cells()
        known = set(known_columns[known_rows == context.index[first]].tolist())
        column = next(x for i, x in enumerate(context.columns) if i not in known)
        raise ContextError(
            f"context {context.name!r}: the value of label {first!r} "
            f"for column {column!r} is unknown "
            f"({len(incomplete)} of {len(wanted)} labels are incomplete), and this "
            "embedding needs all values; name the complete labels in labels=."
        )
    return wanted, context.values[rows]


def shared_labels(
    embeddings: Sequence[LabelEmbedding], labels: Iterable[Any] | None
) -> tuple[str, ...]:
    """The wanted labels; by default those that every embedding has.

    Labels left out because an embedding lacks them are told in a warning.
    """
    if not embeddings:
        raise ContextError("at least one embedding is needed. Got none.")
    for embedding in embeddings:
        if not isinstance(embedding, LabelEmbedding):
            raise ContextError(
                "a LabelEmbedding is needed. "
                f"Got {type(embedding).__name__} instead; embed each context first."
            )
    if labels is not None:
        wanted = as_labels(labels, "labels")
        for number, embedding in enumerate(embeddings, 1):
            missing = [label for label in wanted if label not in embedding]
            if missing:
                raise ContextError(
                    f"embedding {number} of {len(embeddings)} has no vector for "
                    f"{some(missing)}; leave them out of labels=."
                )
        return wanted
    first, *others = embeddings
    shared = tuple(x for x in first.labels if all(x in other for other in others))
    if not shared:
        raise ContextError(
            "no label is in every embedding; check that they use the same labels."
        )
    kept = set(shared)
    lost = dict.fromkeys(x for e in embeddings for x in e.labels if x not in kept)
    if lost:
        warnings.warn(
            f"{len(lost)} labels are not in every embedding and were left out: "
            f"{some(lost)}; labels= says which are wanted.",
            ContextWarning,
            stacklevel=3,
        )
    return shared


def joined_names(embeddings: Sequence[LabelEmbedding]) -> dict[str, str]:
    """Readable names of all embeddings; the first that names a label decides."""
    joined: dict[str, str] = {}
    for embedding in reversed(embeddings):
        joined.update(embedding.names)
    return joined
