"""Explain why two labels are close: split their similarity over contexts and columns.

At the end of a fit, every label is at the optimum of its own problem. There the ridge
balances the contexts: λ3·w is the sum of their negative gradients. So w_a·w_b splits
over the contexts, and within a context over its columns; within a family, over the
relatives whose vectors make up a label's centre. The split from the side of a
and that from the side of b are both exact; their mean is symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.answers import ContextPart, Explanation
from phcle.contexts.base import Penalties
from phcle.errors import ContextError

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

Floats = npt.NDArray[np.float64]

__all__ = ["ContextPart", "Explanation", "explain"]


def explain(embedding: LabelEmbedding, a: str, b: str, k: int) -> Explanation:
    """Split the cosine of two labels; list the k largest columns of each context.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    a : str
        A label.
    b : str
        Another label.
    k : int
        Most columns to list for each context.

    Returns
    -------
    Explanation
        What `LabelEmbedding.explain` returns.
    """
    if not embedding.contexts:
        raise ContextError(
            "this embedding has no contexts, so it cannot explain a similarity; use "
            "an embedding that PHCLE learned."
        )
    one = np.asarray(embedding[a], np.float64)
    other = np.asarray(embedding[b], np.float64)
    size = float(np.linalg.norm(one) * np.linalg.norm(other)) or 1.0
    lam = Penalties(**embedding.penalties)
    unit = lam.ridge * size

    def vectors_of(labels: Sequence[str]) -> Floats | None:
        if not all(label in embedding for label in labels):
            return None
        return np.asarray(embedding.select(labels).vectors, np.float64)

    parts = []
    for context in embedding.contexts:
        names, from_a = context.reasons(a, one, other, lam, vectors_of)
        _, from_b = context.reasons(b, other, one, lam, vectors_of)
        found = (from_a + from_b) / (2 * unit)
        order = np.argsort(-np.abs(found), kind="stable")[:k]
        parts.append(
            ContextPart(
                context.name,
                context.kind,
                float(found.sum()),
                tuple((names[i], float(found[i])) for i in order if found[i])
                if context.has_readable_columns
                else (),
                context.shared_nodes(a, b),
            )
        )
    similarity = float(one @ other) / size
    return Explanation(
        a, b, similarity, tuple(parts), similarity - sum(part.part for part in parts)
    )
