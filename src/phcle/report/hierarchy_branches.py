"""The branches of a hierarchy that a map is coloured by: few, large, and telling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phcle.contexts.relational.fitted import FittedRelational
from phcle.contexts.relational.taxonomy import Hierarchy, Ints
from phcle.embedding.label_embedding import LabelEmbedding

__all__ = ["Branches", "find_branches", "hierarchy_of"]

MOST_BRANCHES = 7
"""As many as there are colours that all readers can tell apart."""

SMALLEST = 0.02
"""A branch holds at least this share of the labels, and two of them."""


@dataclass(frozen=True, eq=False)
class Branches:
    """Nodes, the largest first, and the branch of each label."""

    nodes: tuple[str, ...]
    codes: Ints  # position in nodes; len(nodes) for a label in none of them


def hierarchy_of(embedding: LabelEmbedding) -> tuple[str, Hierarchy] | None:
    """The name and the graph of the hierarchy that knows most labels."""
    found = [
        (len(context.observed_labels), context.name, context.data.hierarchy.hierarchy)
        for context in embedding.contexts
        if isinstance(context, FittedRelational)
        and context.data is not None
        and context.data.hierarchy is not None
    ]
    if not found:
        return None
    _, name, hierarchy = max(found, key=lambda each: each[0])
    return name, hierarchy


def find_branches(
    hierarchy: Hierarchy, labels: tuple[str, ...], *, most: int = MOST_BRANCHES
) -> Branches:
    """Split branches from the roots down as long as that tells more about a label.

    What a set of branches tells is its entropy, Σ −p·log p over the shares p of the
    labels; labels in no branch tell nothing. So a root above everything is never a
    branch, and neither is a twig. A label below several branches is in the largest.

    >>> pairs = [("cat", "pet"), ("dog", "pet"), ("carp", "fish"), ("eel", "fish")]
    >>> tree = Hierarchy.from_edges([*pairs, ("pet", "animal"), ("fish", "animal")])
    >>> find_branches(tree, ("cat", "dog", "carp", "eel")).nodes
    ('pet', 'fish')
    """
    known = [i for i, label in enumerate(labels) if label in hierarchy.index]
    rows, nodes, _ = hierarchy.ancestor_distances([labels[i] for i in known])
    shape = (len(known), len(hierarchy.nodes))
    below = sp.csc_array((np.ones(len(rows), bool), (rows, nodes)), shape=shape)
    search = _Search(hierarchy, below, most)
    chosen = search.run()
    codes = np.full(len(labels), len(chosen))
    codes[known] = search.assigned(chosen)
    return Branches(tuple(hierarchy.nodes[node] for node in chosen), codes)


class _Search:
    """Greedy search for the branches that tell most."""

    def __init__(self, hierarchy: Hierarchy, below: sp.csc_array, most: int) -> None:
        self.below = below  # (labels, nodes): whether the label is at or below
        self.size = np.diff(below.indptr)
        self.least = max(2.0, SMALLEST * below.shape[0])
        self.most = most
        self.children: dict[int, list[int]] = {}
        for child, parent in hierarchy.edges.tolist():
            self.children.setdefault(parent, []).append(child)
        has_parent = np.zeros(len(hierarchy.nodes), bool)
        has_parent[hierarchy.edges[:, 0]] = True
        self.roots = np.flatnonzero(~has_parent).tolist()

    def run(self) -> list[int]:
        """Positions of the branches' nodes, the largest first."""
        current = self.largest(self.roots)
        while True:
            after = [
                self.largest([*(x for x in current if x != node), *self.parts(node)])
                for node in current
            ]
            best = max(after, key=self.told, default=current)
            if self.told(best) <= self.told(current):
                return current
            current = best

    def parts(self, node: int) -> list[int]:
        """The children of a node, or of the one child that holds all its labels."""
        own = self.children.get(node, [])
        whole = [child for child in own if self.size[child] == self.size[node]]
        return self.parts(whole[0]) if whole else own

    def largest(self, nodes: list[int]) -> list[int]:
        """As many as there may be, each with enough labels that no larger one has."""
        kept: list[int] = []
        taken = np.zeros(self.below.shape[0], bool)
        for node in sorted(set(nodes), key=lambda node: (-self.size[node], node)):
            own = self.labels_of(node)
            if len(kept) < self.most and (~taken[own]).sum() >= self.least:
                kept.append(node)
                taken[own] = True
        return kept

    def labels_of(self, node: int) -> Ints:
        """Rows of the labels at or below a node."""
        start, end = self.below.indptr[node : node + 2]
        return np.asarray(self.below.indices[start:end])

    def assigned(self, nodes: list[int]) -> Ints:
        """For every label the position of its branch; the number of branches: none."""
        codes = np.full(self.below.shape[0], len(nodes))
        for code in reversed(range(len(nodes))):
            codes[self.labels_of(nodes[code])] = code
        return codes

    def told(self, nodes: list[int]) -> float:
        """Σ −p·log p over the branches."""
        counts = np.bincount(self.assigned(nodes), minlength=len(nodes) + 1)[:-1]
        share = counts / self.below.shape[0]
        return float(-(share * np.log(share)).sum())
