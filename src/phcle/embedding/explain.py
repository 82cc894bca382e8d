"""Why two labels are close: their similarity, split over contexts and columns.

A fit ends with every label at the optimum of its own problem, where the ridge balances
the contexts: λ3·w is the sum of their pulls. So w_a·w_b = Σ_contexts pull_a·w_b / λ3,
and within a context over its columns. The split from a's side and from b's are both
exact; their mean is symmetric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.answers import ContextPart, Explanation
from phcle.embedding.fitted import Fitted, FittedDescriptive, FittedRelational
from phcle.errors import ContextError

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

__all__ = ["ContextPart", "Explanation", "explain"]

Floats = npt.NDArray[np.float64]


def explain(embedding: LabelEmbedding, a: str, b: str, k: int) -> Explanation:
    """Split the cosine of two labels; list the k largest columns of each context."""
    if not embedding.contexts:
        raise ContextError(
            "this embedding keeps no contexts, so it cannot explain a similarity; "
            "only embeddings learned by PHCLE do."
        )
    one = np.asarray(embedding[a], np.float64)
    other = np.asarray(embedding[b], np.float64)
    size = float(np.linalg.norm(one) * np.linalg.norm(other)) or 1.0
    unit = embedding.penalties["ridge"] * size
    parts = []
    for context in embedding.contexts:
        from_a = _pull(embedding, context, a, one) * (context.factor @ other)
        from_b = _pull(embedding, context, b, other) * (context.factor @ one)
        columns = (from_a + from_b) / (2 * unit)
        order = np.argsort(-np.abs(columns), kind="stable")[:k]
        named = isinstance(context, FittedRelational) or context.readable
        parts.append(
            ContextPart(
                context.name,
                context.kind,
                float(columns.sum()),
                tuple((context.columns[i], float(columns[i])) for i in order)
                if named
                else (),
                _shared_ancestors(context, a, b),
            )
        )
    similarity = float(one @ other) / size
    return Explanation(
        a, b, similarity, tuple(parts), similarity - sum(part.part for part in parts)
    )


def _pull(
    embedding: LabelEmbedding, context: Fitted, label: str, vector: Floats
) -> Floats:
    """Minus the derivative of the context's term by x = w·c, column by column."""
    if context.data is None or label not in context.data.index or not context.weight:
        return np.zeros(len(context.columns))
    x = context.factor @ vector
    if isinstance(context, FittedDescriptive):
        known = (context.observed_row(label) - context.offset) / context.scale
        residual = np.where(np.isnan(known), 0.0, known - x)
        return np.asarray(
            embedding.penalties["descriptive"] * context.weight * residual
        )
    counts = context.data.rows_for([label]).toarray()[0] * context.scale
    rate = embedding.penalties["negatives"] * counts.sum() / context.total
    x = np.clip(x, -500, 500)  # where exp does not overflow
    expected = (counts + rate * context.column_mass) / (1 + np.exp(-x))
    return np.asarray(context.weight * (counts - expected))


def _shared_ancestors(context: Fitted, a: str, b: str) -> tuple[str, ...]:
    """Nodes above both labels, nearest first."""
    if not isinstance(context, FittedRelational) or context.data is None:
        return ()
    if context.data.hierarchy is None:
        return ()
    tree = context.data.hierarchy.hierarchy
    if a not in tree.index or b not in tree.index:
        return ()
    rows, nodes, steps = tree.ancestor_distances([a, b])
    above = [dict(zip(nodes[rows == i], steps[rows == i], strict=True)) for i in (0, 1)]
    shared = sorted(
        above[0].keys() & above[1].keys(), key=lambda z: (above[0][z] + above[1][z], z)
    )
    return tuple(tree.nodes[node] for node in shared)
