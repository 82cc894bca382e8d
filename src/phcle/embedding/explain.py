"""Explain why two labels are close: split their similarity over contexts and columns.

At the end of a fit, every label is at the optimum of its own problem. There the ridge
balances the contexts: λ3·w is the sum of their negative gradients. So w_a·w_b splits
over the contexts, and within a context over its columns; within a family, over the
relatives whose vectors make up a label's centre. The split from the side of a
and that from the side of b are both exact; their mean is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phcle.answers import (
    ExplainedColumn,
    ExplainedContext,
    ExplainedGroup,
    Explanation,
    SharedNode,
)
from phcle.arrays import Floats
from phcle.contexts.base.fitted_context import FittedContext
from phcle.contexts.reasons import GROUPS, Pair, Reasons, words_of
from phcle.contexts.terms import Penalties
from phcle.errors import ContextError

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


RANKED = ("both", "both_high", "both_low")
"""Groups whose columns are named by how telling they are, see `Reasons.rank`. In the
others the size of the part decides, whatever its sign."""

OF_RELATIVES = ("each_other", "relatives_of_both", "relatives_of_one", "own_data")
"""Groups of a family, of which the largest comes first: relatives of siblings matter to
both, those of distant labels to one of them."""


def explain(embedding: LabelEmbedding, a: str, b: str, k: int) -> Explanation:
    """Split the cosine of two labels; name up to k columns of each group.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    a : str
        A label.
    b : str
        Another label.
    k : int
        Most columns to name in each group of a context.

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
    vectors = np.array([embedding[a], embedding[b]], np.float64)
    size = float(np.prod(np.linalg.norm(vectors, axis=1))) or 1.0
    lam = Penalties(**embedding.penalties)

    def vectors_of(labels: Sequence[str]) -> Floats | None:
        if not all(label in embedding for label in labels):
            return None
        return np.asarray(embedding.select(labels).vectors, np.float64)

    pair = Pair((a, b), vectors, lam, vectors_of)
    parts = tuple(
        _part(context, pair, lam.ridge * size, k, embedding.name_of)
        for context in embedding.contexts
    )
    similarity = float(vectors[0] @ vectors[1]) / size
    rest = similarity - sum(part.part for part in parts)
    percentile = embedding.percentile_of(similarity)
    return Explanation(a, b, similarity, percentile, parts, rest)


def _part(
    context: FittedContext,
    pair: Pair,
    unit: float,
    k: int,
    name_of: Callable[[str], str],
) -> ExplainedContext:
    """The part of one context; `unit` turns products into cosines."""
    found = context.reasons(pair)
    groups = [
        _group(found, i, words_of(group, context.verbs), unit, k, name_of)
        for i, group in enumerate(GROUPS)
        if (found.parts[found.groups == i] != 0).any()
    ]
    if groups and groups[0].group in OF_RELATIVES:
        groups.sort(key=lambda group: -abs(group.part))
    return ExplainedContext(
        context.name,
        context.kind,
        float(found.parts.sum()) / unit,
        tuple(groups) if context.has_readable_columns else (),
        tuple(SharedNode(x, name_of(x)) for x in context.shared_nodes(*pair.labels)),
    )


def _group(
    found: Reasons,
    i: int,
    words: str,
    unit: float,
    k: int,
    name_of: Callable[[str], str],
) -> ExplainedGroup:
    """A group of reasons, with the k most telling ones by name."""
    group = list(GROUPS)[i]
    rows = np.flatnonzero(found.groups == i)
    parts = found.parts[rows] / unit
    telling = found.rank[rows] if group in RANKED else np.abs(parts)
    order = np.argsort(-telling, kind="stable")
    order = order[(parts[order] != 0) & ~found.unnamed[rows[order]]]
    if group == "neither" and len(rows) > k:
        order = order[:0]  # what both lack says little, and there is a lot of it
    named, others = order[:k], np.delete(parts, order[:k])
    columns = [(found.names[rows[i]], float(parts[i])) for i in named]
    return ExplainedGroup(
        group,
        words,
        float(parts.sum()),
        len(rows),
        tuple(ExplainedColumn(x, name_of(x), part) for x, part in columns),
        len(others),
        float(others.sum()),
    )
