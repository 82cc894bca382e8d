"""The contents of a report as plain values, which pages and figures show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from phcle.contexts.protocol import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.summary import summarise
from phcle.report.hierarchy_branches import Branches

Section = dict[str, Any]

TERM_WORDS = {
    "sparsity": "sparsity of U",
    "ridge": "ridge on W and U",
    "context_ridge": "ridge on C",
}

NEAR_ZERO = 0.01
"""An attribute is near zero below this share of the strongest one of its context."""

N_REASONS = 5
"""Columns that are named in each group of an explanation."""

MOST_COMBINATIONS = 12
MOST_ATTRIBUTES = 12
"""Rows of the tables; more would be hard to read."""


def summary(embedding: LabelEmbedding) -> Section:
    """Return size, contexts with coverage and weight, and the end of the fit.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    dict
        Values for the template.
    """
    found = summarise(embedding).to_dict()
    return {
        **found,
        "options": {x: str(y) for x, y in found["options"].items()},
        "random_cosine": float(embedding.search.pair_cosines.mean()),
    }


def coverage(embedding: LabelEmbedding) -> Section:
    """Count the labels that each pair and each combination of contexts knows.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    dict
        `names` of the contexts, `together` (labels known in each pair), the most
        frequent `combinations`, and the number of all combinations.
    """
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
    """Return every term of the objective after each sweep, and the gap to its floor.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    dict
        `sweeps`, `gap`, `objective` and `terms`, one value for each sweep.
    """
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
    """Return the strength of the attributes of each descriptive context.

    The strength of an attribute is the length of its row of U. An attribute with
    strength near zero has no influence on the vectors, and its prediction is its mean.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    list of dict
        One for each descriptive context.
    """
    return [
        _attributes(context)
        for context in embedding.contexts
        if context.kind == "descriptive"
    ]


def retrieval(embedding: LabelEmbedding, shown: Sequence[str], k: int) -> list[Section]:
    """Return the nearest labels of some labels, and why the first is the nearest.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    shown : sequence of str
        Labels, by id or readable name.
    k : int
        Number of neighbours of each.

    Returns
    -------
    list of dict
        Each label with its neighbours, and the explanation of the first if the
        embedding has contexts.
    """
    sections = []
    for label, found in zip(shown, embedding.neighbours(shown, k), strict=True):
        why = None
        if embedding.contexts:
            first = found.neighbours[0].label
            why = embedding.explain(label, first, N_REASONS).to_dict()
        sections.append({**found.to_dict(), "why": why})
    return sections


def spread_labels(
    embedding: LabelEmbedding, branches: Branches | None, n: int
) -> list[str]:
    """Choose a few labels that represent all: the most typical of each branch in turn.

    Typical labels are nearest to the mean of their branch. Without branches, labels at
    equal distances in the list are taken.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    branches : Branches or None
        Branches of a hierarchy, if there is one.
    n : int
        How many labels to choose.

    Returns
    -------
    list of str
        The labels.
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
    """Return which label is known in which context.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    ndarray of bool, shape (labels, contexts)
        True where the context knows the label.
    """
    known = np.zeros((len(embedding), len(embedding.contexts)), bool)
    for j, context in enumerate(embedding.contexts):
        own = set(context.observed_labels)
        known[:, j] = [label in own for label in embedding.labels]
    return known


def _attributes(context: Context) -> Section:
    """The strengths of the attributes of one context."""
    factor = np.asarray(context.factor, np.float64)
    strength = np.linalg.norm(factor, axis=1)
    order = np.argsort(-strength, kind="stable")
    top = strength.max(initial=0.0)
    n_kept = int((strength > NEAR_ZERO * top).sum()) if top > 0 else 0
    is_readable = context.has_readable_columns
    listed = [(context.columns[i], float(strength[i])) for i in order if is_readable]
    return {
        "name": context.name,
        "readable": is_readable,
        "columns": len(context.columns),
        "kept": n_kept,
        "near_zero": len(context.columns) - n_kept,
        "zero_entries": float((factor == 0).mean()) if factor.size else 0.0,
        "strengths": strength[order].tolist(),
        "strongest": listed[:MOST_ATTRIBUTES],
        "weakest": listed[n_kept:][-MOST_ATTRIBUTES:],
    }


def _series(history: Sequence[Any], key: str) -> list[float | None]:
    """One value of each record; None where it is missing."""
    return [record.get(key) for record in history]
