"""Contexts to measure with: random trees of any size, and draws of WordNet's nouns."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from phcle import DescriptiveContext, RelationalContext
from phcle.contexts.base.context import Context


def tree_contexts(n_labels: int, *, seed: int = 0) -> list[Context]:
    """The leaves of a random tree with two to seven children per node."""
    rng = np.random.default_rng(seed)
    level = [f"l{i}" for i in range(n_labels)]
    labels, edges, depth = tuple(level), list[tuple[str, str]](), 0
    while len(level) > 1:
        depth += 1
        ends = list(accumulate(rng.integers(2, 8, size=len(level))))
        parent = np.searchsorted(ends, np.arange(len(level)), side="right")
        edges += [
            (child, f"n{depth}.{above}")
            for child, above in zip(level, parent, strict=True)
        ]
        level = [f"n{depth}.{i}" for i in range(parent[-1] + 1)]
    return [RelationalContext.from_hierarchy(edges, labels=labels)]


def random_tree(n_leaves: int, seed: int = 0) -> list[tuple[str, str]]:
    """(child, parent) edges of a tree whose nodes hang below random earlier ones.

    It grows until it has that many leaves.
    """
    rng = np.random.default_rng(seed)
    edges: list[tuple[str, str]] = []
    internal = {0}  # the root is never a label
    while len(edges) + 1 - len(internal) < n_leaves:
        child = len(edges) + 1
        parent = int(rng.integers(child))
        internal.add(parent)
        edges.append((f"n{child}", f"n{parent}"))
    return edges


def noun_contexts(nouns: Any, n_labels: int, *, seed: int = 0) -> list[Context]:
    """Hypernyms, gloss words and parts of random nouns of `load_wordnet_nouns`.

    A draw without any parts has no context of parts.
    """
    wnids = list(nouns.lemmas)
    if n_labels < len(wnids):
        rng = np.random.default_rng(seed)
        drawn = np.sort(rng.choice(len(wnids), n_labels, replace=False))
        wnids = [wnids[i] for i in drawn]
    glosses = {x: nouns.definition_of(x) for x in wnids}
    parts = {x: nouns.parts[x] for x in wnids if x in nouns.parts}
    contexts: list[Context] = [
        RelationalContext.from_hierarchy(nouns.edges(wnids), labels=wnids),
        DescriptiveContext.from_texts(glosses, name="glosses"),
    ]
    if parts:
        contexts.append(DescriptiveContext.from_tags(parts, name="parts"))
    return contexts
