"""Choose a few large branches of a hierarchy, by which a map is coloured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Ints
from phcle.contexts.hierarchy import Hierarchy
from phcle.embedding.label_embedding import LabelEmbedding

MOST_BRANCHES = 20
"""Largest number of branches: so many colours of `web/static/page.css` differ."""

SMALLEST = 0.02
"""Smallest branch, as a share of the labels; it has two labels at least."""


@dataclass(frozen=True, eq=False)
class Branches:
    """Branches of a hierarchy, and the branch of each label.

    Attributes
    ----------
    nodes : tuple of str
        The top node of each branch, the one with most labels of its own first.
    codes : ndarray of int, shape (labels,)
        Position in `nodes` of each label's branch; `len(nodes)` for a label in none.
    """

    nodes: tuple[str, ...]
    codes: Ints


def hierarchy_of(embedding: LabelEmbedding) -> tuple[str, Hierarchy] | None:
    """Return the hierarchy of an embedding that has most labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    tuple of (str, Hierarchy), or None
        Name of the user's context, and the hierarchy; None if there is no hierarchy.
    """
    found = [
        (len(context.observed_labels), context.given_name, context.hierarchy)
        for context in embedding.contexts
        if context.hierarchy is not None
    ]
    if not found:
        return None
    _, name, hierarchy = max(found, key=lambda each: each[0])
    return name, hierarchy


def branches_of(embedding: LabelEmbedding) -> Branches | None:
    """Choose branches of the largest hierarchy of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    Branches or None
        The branches; None if there is no hierarchy, or none of its branches is large.
    """
    found = hierarchy_of(embedding)
    if found is None:
        return None
    branches = find_branches(found[1], embedding.labels)
    return branches if branches.nodes else None


def find_branches(
    hierarchy: Hierarchy, labels: tuple[str, ...], *, most: int = MOST_BRANCHES
) -> Branches:
    """Choose the branches that say most about where a label belongs.

    From the roots down, a branch is split as long as that raises the entropy, Σ −p·log
    p over the shares p of the labels. So neither a root above all labels nor a tiny
    branch is chosen. A label below several branches belongs to the largest.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.
    labels : tuple of str
        The labels; those that the hierarchy lacks are in no branch.
    most : int, default 20
        The largest number of branches.

    Returns
    -------
    Branches
        The branches and the branch of each label.

    Examples
    --------
    >>> pairs = [("cat", "pet"), ("dog", "pet"), ("carp", "fish"), ("eel", "fish")]
    >>> tree = Hierarchy.from_edges([*pairs, ("pet", "animal"), ("fish", "animal")])
    >>> find_branches(tree, ("cat", "dog", "carp", "eel")).nodes
    ('pet', 'fish')
    """
    known, below = labels_below(hierarchy, labels)
    search = _Search(hierarchy, below, most)
    chosen = search.run()
    assigned = search.assigned(chosen)
    # A branch may have lost labels to a larger one: sort by those that are left.
    counts = np.bincount(assigned, minlength=len(chosen) + 1)[:-1]
    order = np.argsort(-counts, kind="stable")
    code_of = np.append(np.argsort(order), len(chosen))
    codes = np.full(len(labels), len(chosen))
    codes[known] = code_of[assigned]
    return Branches(tuple(hierarchy.nodes[chosen[k]] for k in order), codes)


def labels_below(
    hierarchy: Hierarchy, labels: Sequence[str]
) -> tuple[Ints, sp.csc_array]:
    """Find the labels at or below each node of a hierarchy.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.
    labels : sequence of str
        The labels; the hierarchy may lack some.

    Returns
    -------
    known : ndarray of int
        Rows of the labels that the hierarchy has.
    below : csc_array of bool, shape (known, nodes)
        Whether a label is at or below a node.
    """
    known = [i for i, label in enumerate(labels) if label in hierarchy.index]
    rows, nodes, _ = hierarchy.ancestor_distances([labels[i] for i in known])
    shape = (len(known), len(hierarchy.nodes))
    below = sp.csc_array((np.ones(len(rows), bool), (rows, nodes)), shape=shape)
    return np.array(known, np.int64), below


class _Search:
    """Greedy search for the branches of highest entropy."""

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
            best = max(after, key=self.entropy, default=current)
            if self.entropy(best) <= self.entropy(current):
                return current
            current = best

    def parts(self, node: int) -> list[int]:
        """The children of a node, or of the one child that holds all its labels."""
        own = self.children.get(node, [])
        whole = [child for child in own if self.size[child] == self.size[node]]
        return self.parts(whole[0]) if whole else own

    def largest(self, nodes: list[int]) -> list[int]:
        """The largest nodes, each with enough labels that are in no larger one."""
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
        """For each label the position of its branch; `len(nodes)` if in none."""
        codes = np.full(self.below.shape[0], len(nodes))
        for code in reversed(range(len(nodes))):
            codes[self.labels_of(nodes[code])] = code
        return codes

    def entropy(self, nodes: list[int]) -> float:
        """Σ −p·log p over the branches."""
        counts = np.bincount(self.assigned(nodes), minlength=len(nodes) + 1)[:-1]
        share = counts / self.below.shape[0]
        return float(-(share * np.log(share)).sum())
