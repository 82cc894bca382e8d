"""What a report says, as plain values that pages and figures render alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.report.hierarchy_branches import Branches
from phcle.uses import named_answers as answers

__all__ = [
    "convergence",
    "coverage",
    "known_in",
    "retrieval",
    "sparsity",
    "spread_labels",
    "summary",
]

Section = dict[str, Any]

TERM_WORDS = {
    "sparsity": "sparsity of U",
    "ridge": "ridge on W and U",
    "context_ridge": "ridge on C",
}

NEAR_ZERO = 0.01
"""An attribute counts for nothing below this share of the strongest of its context."""

MOST_COMBINATIONS = 12
MOST_ATTRIBUTES = 12


def summary(embedding: LabelEmbedding) -> Section:
    """Size, contexts with coverage and weight, and how the fit ended."""
    found = answers.summary(embedding)
    return {**found, "options": {x: str(y) for x, y in found["options"].items()}}


def coverage(embedding: LabelEmbedding) -> Section:
    """How many labels each pair and each combination of contexts knows."""
    names = [context.name for context in embedding.contexts]
    known = known_in(embedding)
    together = known.T.astype(np.int64) @ known.astype(np.int64)
    counted = Counter(map(tuple, known.tolist()))
    return {
        "names": names,
        "together": together.tolist(),
        "combinations": [
            {
                "contexts": [x for x, has in zip(names, row, strict=True) if has],
                "labels": n,
                "share": n / len(embedding),
            }
            for row, n in counted.most_common(MOST_COMBINATIONS)
        ],
        "n_combinations": len(counted),
    }


def convergence(embedding: LabelEmbedding) -> Section:
    """Every term of the objective after each sweep, and the gap to its floor."""
    history = embedding.history
    keys = [
        key
        for key in dict.fromkeys(key for record in history for key in record)
        if key in TERM_WORDS or key.startswith(("relational:", "descriptive:"))
    ]
    return {
        "sweeps": list(range(1, len(history) + 1)),
        "gap": _series(history, "gap"),
        "objective": _series(history, "objective"),
        "terms": [
            {
                "name": TERM_WORDS.get(key, key.partition(":")[2]),
                "values": _series(history, key),
            }
            for key in keys
            if any(_series(history, key))
        ],
    }


def sparsity(embedding: LabelEmbedding) -> list[Section]:
    """For each descriptive context, which attributes the vectors carry.

    The strength of an attribute is the length of its row of U. One near zero moves no
    vector and is predicted as its mean for every label.
    """
    return [
        _attributes(context)
        for context in embedding.contexts
        if isinstance(context, FittedDescriptive)
    ]


def retrieval(embedding: LabelEmbedding, shown: Sequence[str], k: int) -> list[Section]:
    """The nearest labels of some labels."""
    return [
        {
            "name": embedding.name_of(label),
            "label": label,
            "neighbours": [
                {
                    "name": embedding.name_of(x),
                    "label": x,
                    "similarity": similarity,
                }
                for x, similarity in embedding.nearest(label, k=k)
            ],
        }
        for label in map(embedding.resolve, shown)
    ]


def spread_labels(
    embedding: LabelEmbedding, branches: Branches | None, n: int
) -> list[str]:
    """A few labels from all over: the most typical ones of each branch in turn.

    Typical is what is nearest to the mean of its branch. Without branches, labels at
    even distances in the list.
    """
    n = min(n, len(embedding))
    if branches is None:
        chosen = np.linspace(0, len(embedding) - 1, n).round().astype(int)
        return [embedding.labels[i] for i in dict.fromkeys(chosen.tolist())]
    ranked = []
    for code in np.unique(branches.codes):
        rows = np.flatnonzero(branches.codes == code)
        own = embedding.unit_vectors[rows]
        typical = np.argsort(-(own @ own.mean(axis=0)), kind="stable")
        ranked.append(rows[typical])
    turns = max(map(len, ranked))
    in_turn = [
        rows[turn] for turn in range(turns) for rows in ranked if turn < len(rows)
    ]
    return [embedding.labels[i] for i in in_turn[:n]]


def known_in(embedding: LabelEmbedding) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which label is known in which context: (labels, contexts)."""
    known = np.zeros((len(embedding), len(embedding.contexts)), bool)
    for j, context in enumerate(embedding.contexts):
        own = set(context.observed_labels)
        known[:, j] = [label in own for label in embedding.labels]
    return known


def _attributes(context: FittedDescriptive) -> Section:
    factor = np.asarray(context.factor, np.float64)
    strength = np.linalg.norm(factor, axis=1)
    order = np.argsort(-strength, kind="stable")
    top = strength.max(initial=0.0)
    n_kept = int((strength > NEAR_ZERO * top).sum()) if top > 0 else 0
    listed = [(context.columns[i], float(strength[i])) for i in order]
    return {
        "name": context.name,
        "readable": context.readable,
        "columns": len(context.columns),
        "kept": n_kept,
        "near_zero": len(context.columns) - n_kept,
        "zero_entries": float((factor == 0).mean()) if factor.size else 0.0,
        "strengths": strength[order].tolist(),
        "strongest": listed[:MOST_ATTRIBUTES] if context.readable else [],
        "weakest": listed[n_kept:][-MOST_ATTRIBUTES:] if context.readable else [],
    }


def _series(history: Sequence[Any], key: str) -> list[float | None]:
    return [record.get(key) for record in history]
