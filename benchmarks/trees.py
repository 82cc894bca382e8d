"""Contexts to measure with: random trees, made-up tables, and WordNet's nouns."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd

from phcle import DescriptiveContext, RelationalContext
from phcle.contexts.base.context import Context

N_COLUMNS, N_HIDDEN_DIMENSIONS, CHILDREN = 30, 8, 8


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


def table_contexts(n_labels: int, seed: int = 0) -> list[Context]:
    """A tree with eight children per node, and a table that follows it.

    Values follow the tree and eight hidden dimensions; half of the cells are known.
    """
    rng = np.random.default_rng(seed)
    labels = [f"label {i}" for i in range(n_labels)]
    edges, level, names = [], 0, labels
    place = np.zeros((n_labels, N_HIDDEN_DIMENSIONS))
    of_label = np.arange(n_labels)
    while len(names) > 1:
        of_label = of_label // CHILDREN
        above = [f"node {level}.{i}" for i in range(int(of_label.max()) + 1)]
        edges += [(name, above[i // CHILDREN]) for i, name in enumerate(names)]
        place += rng.standard_normal((len(above), N_HIDDEN_DIMENSIONS))[of_label]
        names, level = above, level + 1
    own = rng.standard_normal((n_labels, N_HIDDEN_DIMENSIONS))
    columns = rng.standard_normal((N_HIDDEN_DIMENSIONS, N_COLUMNS))
    values = (place + own) @ columns + rng.standard_normal((n_labels, N_COLUMNS))
    values[rng.random(values.shape) < 0.5] = np.nan
    frame = pd.DataFrame(values, index=labels).add_prefix("column ")
    return [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_frame(frame, name="table", log=False),
    ]


def noun_hierarchy(n_labels: int, *, seed: int = 0) -> Context:
    """Hypernyms of random nouns of WordNet."""
    nouns, wnids = _drawn(n_labels, seed)
    return RelationalContext.from_hierarchy(nouns.edges(wnids), labels=wnids)


def noun_contexts(n_labels: int, *, seed: int = 0) -> list[Context]:
    """Hypernyms, gloss words and parts of random nouns of WordNet.

    A draw without any parts has no context of parts.
    """
    nouns, wnids = _drawn(n_labels, seed)
    glosses = {x: nouns.definition_of(x) for x in wnids}
    parts = {x: nouns.parts[x] for x in wnids if x in nouns.parts}
    contexts = [
        noun_hierarchy(n_labels, seed=seed),
        DescriptiveContext.from_texts(glosses, name="glosses"),
    ]
    if parts:
        contexts.append(DescriptiveContext.from_tags(parts, name="parts"))
    return contexts


def _drawn(n_labels: int, seed: int) -> tuple[Any, list[str]]:
    """WordNet's nouns, and the ids of some of them."""
    from phcle_paper.datasets import load_wordnet_nouns

    nouns = load_wordnet_nouns()
    wnids = list(nouns.lemmas)
    if n_labels < len(wnids):
        rng = np.random.default_rng(seed)
        drawn = np.sort(rng.choice(len(wnids), n_labels, replace=False))
        wnids = [wnids[i] for i in drawn]
    return nouns, wnids
