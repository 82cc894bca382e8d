"""Branches of a hierarchy that colour the map, and names of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import Ints
from phcle.contexts.hierarchy import Hierarchy
from phcle.embedding.groups import central_name
from phcle.embedding.label_embedding import LabelEmbedding

Floats = npt.NDArray[np.float32]

MOST_BRANCHES = 20
"""Largest number of branches: so many colours of the style sheet differ."""

SMALLEST = 0.02
"""Smallest branch, as a share of the labels; it has two labels at least."""

N_CELLS = 14
"""Cells of the grid, along each side, on which the densest place is found. With more,
a small crowd far from most labels of a region would win."""

FEWEST = 3
"""Labels of the smallest region with a name; two are no region."""

MOST_REGIONS = 2_000
"""Most finer regions; more make the file larger, and single labels say as much."""

LARGEST = 0.6
"""A node above more than this share of the labels says nothing about a place."""

SAME = 0.8
"""If a child has this share of a node's labels, the child's name says more."""

PART = 25
"""Labels of a part of a map without a hierarchy, on average."""

MOST_PARTS = 200
"""Most such parts."""

PURE = 0.6
"""Share of the labels around a region's centre that must belong to it."""


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
        every = np.arange(len(hierarchy.nodes))
        self.roots = np.setdiff1d(every, hierarchy.edges[:, 0]).tolist()

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


Region = dict[str, Any]
"""A part of the map: its `name`; `x` and `y`, where its `labels` (so many) are densest,
or the middle of several crowds; its `reach`, within which half of them lie; and `of`,
the title of the colouring whose group it is, or None for a finer region."""


def group_regions(grouping: Mapping[str, Any], places: Floats) -> list[Region]:
    """Place the name of each group of a colouring where its labels are.

    Parameters
    ----------
    grouping : mapping
        The `title` of the colouring, names of its `groups`, of which the last is
        "other" and gets no name, and the group of each label (`codes`).
    places : ndarray of shape (labels, 2)
        Places of the labels.

    Returns
    -------
    list of dict
        The groups that have labels, the largest first.
    """
    found = []
    for code, name in enumerate(grouping["groups"][:-1]):
        rows = np.flatnonzero(grouping["codes"] == code)
        if len(rows):
            found.append(_region(name, places[rows], of=grouping["title"]))
    return sorted(found, key=lambda each: -each["labels"])


def node_regions(
    embedding: LabelEmbedding, hierarchy: Hierarchy, places: Floats
) -> list[Region]:
    """Place the names of a hierarchy's nodes whose labels lie together.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their names.
    hierarchy : Hierarchy
        The hierarchy.
    places : ndarray of shape (labels, 2)
        Places of the labels.

    Returns
    -------
    list of dict
        The regions, the largest first.
    """
    from scipy.spatial import cKDTree

    known, below = labels_below(hierarchy, embedding.labels)
    size = np.diff(below.indptr)
    largest_child = np.zeros(len(size), np.int64)
    np.maximum.at(largest_child, hierarchy.edges[:, 1], size[hierarchy.edges[:, 0]])
    is_named = (
        (size >= FEWEST)
        & (size <= LARGEST * len(embedding))
        & (largest_child < SAME * size)
    )
    nodes = np.flatnonzero(is_named)
    nodes = nodes[np.argsort(-size[nodes], kind="stable")][:MOST_REGIONS]
    found = []
    for node in nodes:
        own = places[known[below.indices[below.indptr[node] : below.indptr[node + 1]]]]
        name = embedding.name_of(hierarchy.nodes[node])
        found.append((_around(name, own, own.mean(axis=0)), _region(name, own)))
    # Leave out nodes whose labels are mixed with others, or lie far from each other.
    tree = cKDTree(places)

    def is_pure(each: Region) -> bool:
        reach = max(each["reach"], 1e-4)
        n = tree.query_ball_point((each["x"], each["y"]), reach, return_length=True)
        return bool(each["labels"] / 2 >= PURE * n)

    chosen = []
    for middle, densest in found:
        # The name of several groups stands between them, not on the densest one.
        tries = [middle, densest] if middle["reach"] < densest["reach"] else [densest]
        chosen.append(next(filter(is_pure, tries), None))
    return [each for each in chosen if each is not None]


def part_regions(embedding: LabelEmbedding, places: Floats) -> list[Region]:
    """Name parts of the map after their most central labels.

    For embeddings without a hierarchy.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their names.
    places : ndarray of shape (labels, 2)
        Places of the labels.

    Returns
    -------
    list of dict
        The regions, the largest first.
    """
    from sklearn.cluster import MiniBatchKMeans

    n_parts = min(MOST_PARTS, len(places) // PART)
    if n_parts < 2:
        return []
    found = MiniBatchKMeans(n_parts, random_state=0, n_init=1, batch_size=4096)
    codes = found.fit_predict(places)
    regions = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        group = [embedding.labels[i] for i in rows]
        regions.append(_region(central_name(embedding, group), places[rows]))
    return sorted(regions, key=lambda each: -each["labels"])


def _region(name: str, own: Floats, of: str | None = None) -> Region:
    """A region around the densest place of its labels."""
    low = own.min(axis=0)
    side = float((own.max(axis=0) - low).max()) or 1.0
    cells = np.minimum(((own - low) / side * N_CELLS).astype(np.int64), N_CELLS - 1) + 1
    counts = np.zeros((N_CELLS + 2, N_CELLS + 2))
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1)
    # Each cell with the eight around it.
    rows = counts[:-2] + counts[1:-1] + counts[2:]
    sums = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    at = np.array(np.unravel_index(sums.argmax(), sums.shape)) + 1
    is_near = (np.abs(cells - at) <= 1).all(axis=1)
    return _around(name, own, own[is_near].mean(axis=0), of)


def _around(name: str, own: Floats, centre: Floats, of: str | None = None) -> Region:
    """A region around a place, which reaches half of its labels."""
    reach = float(np.median(np.linalg.norm(own - centre, axis=1)))
    x, y = (round(float(value), 4) for value in centre)
    place = {"name": name, "x": x, "y": y, "reach": round(reach, 4)}
    return {**place, "labels": len(own), "of": of}
