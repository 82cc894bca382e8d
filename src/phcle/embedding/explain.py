"""Explain why two labels are close: split their similarity over contexts and columns.

At the end of a fit, every label is at the optimum of its own problem. There the ridge
balances the contexts: λ3·w is the sum of their negative gradients. So w_a·w_b splits
over the contexts, and within a context over its columns; within a family, over the
relatives whose vectors make up a label's centre. The split from the side of a
and that from the side of b are both exact; their mean is symmetric.

Lines for people have numbers that add up as they are shown: columns of a group add up
to the group, groups to their context, and contexts to the similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from phcle.contexts.protocol import AT, GROUPS, Context, Pair, Reasons
from phcle.contexts.terms import Penalties
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
        _lines(similarity, parts, rest),
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


def _lines(
    similarity: float, parts: Sequence[ExplainedContext], rest: float
) -> tuple[ExplanationLine, ...]:
    """One line for each group that does not show as zero, and the rounding error."""
    total = round(similarity * 10**DIGITS)
    *units, unexplained = _rounded([*(x.part for x in parts), rest], total)
    lines = []
    for part, unit in zip(parts, units, strict=True):
        own = _rounded([group.part for group in part.groups], unit)
        below = [
            (_shown(own_unit), group.words, _columns(group, own_unit))
            for group, own_unit in zip(part.groups, own, strict=True)
            if own_unit or any(abs(x.part) >= VISIBLE for x in group.columns)
        ]
        first = _shown(unit), part.context
        unnamed = "", "" if part.part else "knows neither", ()
        for shown, words, columns in below or [unnamed]:
            lines.append(ExplanationLine(*first, shown, words, columns))
            first = "", ""
    if unexplained:
        lines.append(ExplanationLine(_shown(unexplained), "rounding"))
    return tuple(lines)


def _columns(group: ExplainedGroup, unit: int) -> tuple[str, ...]:
    """The columns of a group that show, and the rest of it; they add up to `unit`."""
    named = [x for x in group.columns if abs(x.part) >= VISIBLE]
    if not named and group.group.startswith("both"):
        named = list(group.columns)  # what both have is of interest even so
    if not named:
        noun = "relative" if group.group.startswith("relatives") else "column"
        if group.group == "both":  # nodes above most labels, which have no names here
            noun = "general column"
        return (f"{group.size:,} {noun}" + "s" * (group.size > 1),)
    names = [x.name for x in named]
    parts = [x.part for x in named]
    n_others = group.size - len(named)
    if n_others:
        names.append(f"… and {n_others:,} other" + "s" * (n_others > 1))
        parts.append(group.part - sum(parts))
    shown = map(_shown, _rounded(parts, unit))
    return tuple(f"{x} {y}" for x, y in zip(names, shown, strict=True))


def _rounded(parts: Sequence[float], total: int) -> list[int]:
    """Round parts to units so that they add up to the total.

    Each part is rounded down; those that lost most get the missing units. If parts do
    not add up to about the total, all of them change.
    """
    if not parts:
        return []
    exact = np.array(parts) * 10**DIGITS
    units = np.floor(exact)
    each, missing = divmod(total - int(units.sum()), len(parts))
    units += each
    units[np.argsort(units - exact, kind="stable")[:missing]] += 1
    return [int(unit) for unit in units]


def _shown(unit: int) -> str:
    return f"{unit / 10**DIGITS:+.{DIGITS}f}"
