"""Groups of similar labels, and whether a taxonomy agrees with them.

Labels are clustered by cosine with average linkage. Two numbers say how well a taxonomy
agrees: the correlation of the heights at which labels join with their paths in the
taxonomy, and the adjusted Rand index of the clusters against families.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.answers import Agreement
from phcle.contexts.relational.hierarchy import HierarchyCounts
from phcle.contexts.relational.taxonomy import Hierarchy, Ints
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, did_you_mean, some

__all__ = [
    "Agreement",
    "Clusters",
    "agreement",
    "cluster_labels",
    "families",
    "family_level",
    "path_lengths",
]

Floats = npt.NDArray[np.float64]

MOST_LABELS = 5_000
"""All pairs of labels are held at once; more would fill the memory."""

ORDERED_UP_TO = 1_000
"""With more labels the best order of the tree takes minutes, and any order is taken."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Labels in an order that puts similar ones together, cut into clusters."""

    labels: tuple[str, ...]
    similarity: Floats  # (labels, labels): cosines
    number: Ints  # of each label's cluster; from 0, ascending
    heights: Floats  # (labels, labels): 1 − cosine at which two labels join

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each cluster."""
        starts = np.flatnonzero(np.diff(self.number, prepend=-1))
        ends = [*starts[1:].tolist(), len(self.labels)]
        return tuple(
            self.labels[start:end] for start, end in zip(starts, ends, strict=True)
        )

    def group_of(self, label: str) -> tuple[str, ...]:
        """The cluster that a label is in."""
        return self.groups[int(self.number[self.labels.index(label)])]


def cluster_labels(
    embedding: LabelEmbedding, labels: Iterable[str] | None = None, *, n: int = 8
) -> Clusters:
    """Cluster labels of an embedding, by default all, into n groups.

    Neighbours in the order are as similar as the tree of clusters allows, if there are
    not too many labels.

    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    >>> pets = LabelEmbedding(("cat", "carp", "lion"), vectors)
    >>> cluster_labels(pets, n=2).groups
    (('carp',), ('lion', 'cat'))
    """
    from scipy.cluster.hierarchy import cophenet, fcluster, leaves_list, linkage
    from scipy.spatial.distance import squareform

    chosen = embedding if labels is None else embedding.select(dict.fromkeys(labels))
    if len(chosen) < 2:
        raise ContextError(
            f"two labels or more are needed for clusters. Got {some(chosen.labels)}."
        )
    if len(chosen) > MOST_LABELS:
        raise ContextError(
            f"at most {MOST_LABELS:,} labels can be clustered, as every pair counts. "
            f"Got {len(chosen):,}; choose some of them."
        )
    if not 1 <= n <= len(chosen):
        raise OptionError(
            f"the number of clusters must be from 1 to {len(chosen)}, the number of "
            f"labels. Got {n!r} instead."
        )
    units = np.asarray(chosen.unit_vectors, np.float64)
    similarity = np.clip(units @ units.T, -1.0, 1.0)
    apart = 1.0 - similarity
    np.fill_diagonal(apart, 0.0)
    is_ordered = len(chosen) <= ORDERED_UP_TO
    pairs = squareform(apart, checks=False)
    tree = linkage(pairs, "average", optimal_ordering=is_ordered)
    order = leaves_list(tree)
    found = fcluster(tree, n, "maxclust")[order]
    square = np.ix_(order, order)
    return Clusters(
        tuple(chosen.labels[i] for i in order),
        similarity[square],
        np.cumsum(np.diff(found, prepend=found[:1]) != 0),
        squareform(cophenet(tree))[square],
    )


def agreement(
    clusters: Clusters, hierarchy: Hierarchy, *, level: int | None = None
) -> Agreement:
    """Compare clusters with a taxonomy that knows all their labels.

    Families are the nodes at `level`; by default at the level that gives about as many
    families as there are clusters.
    """
    from sklearn.metrics import adjusted_rand_score

    if level is None:
        level = family_level(hierarchy, clusters.labels, len(clusters.groups))
    own = families(hierarchy, clusters.labels, level)
    pairs = np.triu_indices(len(clusters.labels), 1)
    paths = path_lengths(hierarchy, clusters.labels)[pairs]
    return Agreement(
        _correlation(clusters.heights[pairs], paths),
        float(adjusted_rand_score(own, clusters.number)),
        len(set(own)),
    )


def families(
    hierarchy: Hierarchy, labels: Sequence[str], level: int
) -> tuple[str, ...]:
    """The node above each label that is `level` steps below the root.

    Steps are counted on the longest way down, so that a short cut (a dog is a domestic
    animal) does not lift a node. With several such nodes the nearest counts, and a
    label with none is a family of its own.

    >>> tree = Hierarchy.from_edges([("cat", "felid"), ("felid", "beast")])
    >>> families(tree, ["cat", "beast"], 1)
    ('felid', 'beast')
    """
    _check_nodes(hierarchy, labels)
    depth = _longest_depths(hierarchy)
    found = list(labels)
    rows, nodes, steps = hierarchy.ancestor_distances(labels)
    at_level = np.flatnonzero(depth[nodes] == level)
    # Farthest first, so that the nearest is what stays.
    for i in at_level[np.argsort(-steps[at_level], kind="stable")]:
        found[rows[i]] = hierarchy.nodes[nodes[i]]
    return tuple(found)


def family_level(hierarchy: Hierarchy, labels: Sequence[str], n: int) -> int:
    """The level with about n families, the upper one where two are as good."""
    _check_nodes(hierarchy, labels)
    deepest = int(_longest_depths(hierarchy).max())
    return min(
        range(deepest + 1),
        key=lambda level: abs(len(set(families(hierarchy, labels, level))) - n),
    )


def path_lengths(hierarchy: Hierarchy, labels: Sequence[str]) -> Floats:
    """Steps from label to label over a common ancestor: (labels, labels).

    Labels without a common ancestor are one step farther than the farthest others.
    """
    _check_nodes(hierarchy, labels)
    # The counts of this kind are exp(−path).
    _, near = HierarchyCounts(hierarchy, "path", decay=1.0).count(labels)
    paths = np.full(near.shape, near.nnz and 1.0 - np.log(near.data.min()))
    rows, columns = near.nonzero()
    paths[rows, columns] = -np.log(near.data)
    np.fill_diagonal(paths, 0.0)
    return np.asarray(paths)


def _longest_depths(hierarchy: Hierarchy) -> Ints:
    """Steps from a root down to each node, on the longest way."""
    depth = np.zeros(len(hierarchy.nodes), np.int64)
    child, parent = hierarchy.edges.T
    while True:  # as often as the hierarchy is deep
        deeper = depth.copy()
        np.maximum.at(deeper, child, depth[parent] + 1)
        if np.array_equal(deeper, depth):
            return depth
        depth = deeper


def _check_nodes(hierarchy: Hierarchy, labels: Sequence[str]) -> None:
    for label in labels:
        if label not in hierarchy.index:
            raise ContextError(
                f"{label!r} is not a node of the hierarchy."
                f"{did_you_mean(label, hierarchy.nodes)}"
            )


def _correlation(one: Floats, other: Floats) -> float:
    """Pearson's correlation; 0 if either is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
