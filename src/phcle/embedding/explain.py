"""Explain why two labels are close: split their similarity over contexts and columns.

At the end of a fit, every label is at the optimum of its own problem. There the ridge
balances the contexts: λ3·w is the sum of their negative gradients. So w_a·w_b splits
over the contexts, and within a context over its columns; within a family, over the
relatives whose vectors make up a label's centre. The split from the side of a
and that from the side of b are both exact; their mean is symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from phcle.answers import (
    ExplainedColumn,
    ExplainedContext,
    ExplainedGroup,
    Explanation,
    ExplanationLine,
    Named,
    SharedNode,
)
from phcle.arrays import Floats
from phcle.contexts.protocol import AT, GROUPS, Context, Pair, Penalties, Reasons
from phcle.errors import ContextError

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


RANKED = ("both", "both_high", "both_low")
"""Groups whose columns are named by how telling they are, see `Reasons.rank`. In the
others the size of the part decides, whatever its sign."""

DIGITS = 3
"""Decimals of the parts that are shown. Parts of columns are often below 0.01."""

VISIBLE = 0.5 * 10**-DIGITS
"""Smaller parts show as zero."""

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
        _part(embedding, context, pair, lam.ridge * size, k)
        for context in embedding.contexts
    )
    similarity = float(vectors[0] @ vectors[1]) / size
    rest = similarity - sum(part.part for part in parts)
    return Explanation(
        Named(a, embedding.name_of(a)),
        Named(b, embedding.name_of(b)),
        similarity,
        embedding.percentile_of(similarity),
        parts,
        rest,
        tuple(_lines(parts, rest)),
    )


def _part(
    embedding: LabelEmbedding, context: Context, pair: Pair, unit: float, k: int
) -> ExplainedContext:
    """The part of one context; `unit` turns products into cosines."""
    found = context.reasons(pair)
    found, (have, has) = replace(found, parts=found.parts / unit), context.verbs
    groups = [
        _group(embedding, found, group, GROUPS[group].format(have=have, has=has), k)
        for group, i in AT.items()
        if (found.parts[found.groups == i] != 0).any()
    ]
    if groups and groups[0].group in OF_RELATIVES:
        groups.sort(key=lambda group: -abs(group.part))
    shared = context.shared_nodes(*pair.labels)
    return ExplainedContext(
        context.name,
        context.kind,
        float(found.parts.sum()),
        tuple(groups),
        tuple(SharedNode(x, embedding.name_of(x)) for x in shared),
    )


def _group(
    embedding: LabelEmbedding, found: Reasons, group: str, words: str, k: int
) -> ExplainedGroup:
    """A group of reasons, with the k most telling ones by name."""
    rows = np.flatnonzero(found.groups == AT[group])
    parts = found.parts[rows]
    telling = found.rank[rows] if group in RANKED else np.abs(parts)
    order = np.argsort(-telling, kind="stable")
    order = order[(parts[order] != 0) & ~found.unnamed[rows[order]]]
    if group == "neither" and len(rows) > k:
        order = order[:0]  # what both lack says little, and there is a lot of it
    named, others = order[:k], np.delete(parts, order[:k])
    names = [found.names[rows[i]] for i in named]
    return ExplainedGroup(
        group,
        words,
        float(parts.sum()),
        len(rows),
        tuple(
            ExplainedColumn(x, embedding.name_of(x), part)
            for x, part in zip(names, parts[named].tolist(), strict=True)
        ),
        len(others),
        float(others.sum()),
    )


def _lines(parts: Sequence[ExplainedContext], rest: float) -> Iterator[ExplanationLine]:
    """One line for each group that does not show as zero, and the rounding error."""
    for part in parts:
        first = _shown(part.part), part.context
        groups = [x for x in part.groups if _shows(x) or any(map(_shows, x.columns))]
        for group in groups:
            part_of_it, columns = _shown(group.part), _columns(group)
            yield ExplanationLine(*first, part_of_it, group.words, columns)
            first = "", ""
        if not groups:
            words = "" if part.part else "knows neither"
            yield ExplanationLine(*first, words=words)
    if abs(rest) >= VISIBLE:
        yield ExplanationLine(_shown(rest), "rounding")


def _columns(group: ExplainedGroup) -> tuple[str, ...]:
    """The columns of a group that show, and the rest of it."""
    named = [x for x in group.columns if _shows(x)]
    if not named and group.group.startswith("both"):
        named = list(group.columns)  # what both have is of interest even so
    if not named:
        noun = "relative" if group.group.startswith("relatives") else "column"
        if group.group == "both":  # nodes above most labels, which have no names here
            noun = "general column"
        return (f"{group.size:,} {noun}" + "s" * (group.size > 1),)
    parts = [(x.name, x.part) for x in named]
    n_others = group.size - len(named)
    if n_others:
        others = f"… and {n_others:,} other" + "s" * (n_others > 1)
        parts.append((others, group.part - sum(x.part for x in named)))
    return tuple(f"{name} {_shown(part)}" for name, part in parts)


def _shows(of: ExplainedGroup | ExplainedColumn) -> bool:
    """Whether a part does not show as zero."""
    return bool(abs(of.part) >= VISIBLE)


def _shown(part: float) -> str:
    return f"{part:+.{DIGITS}f}"
