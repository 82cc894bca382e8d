"""Groups of similar labels, and how well they agree with a taxonomy.

Labels are clustered by cosine similarity with average linkage. Two numbers measure the
agreement with a taxonomy: the correlation of the heights at which labels join with
their path lengths in the taxonomy, and the adjusted Rand index of the clusters against
families of the taxonomy.
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
"""Most labels to cluster: a matrix of all pairs takes 200 MB at this number."""

ORDERED_UP_TO = 1_000
"""Up to this many labels the best order is computed; for more it takes minutes."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Labels ordered so that similar ones stand together, and cut into clusters.

    Attributes
    ----------
    labels : tuple of str
        All labels, cluster by cluster.
    similarity : ndarray of shape (labels, labels)
        Cosine similarities, in the order of `labels`.
    number : ndarray of shape (labels,)
        The number of each label's cluster: from 0, ascending.
    heights : ndarray of shape (labels, labels)
        The distance, 1 − cosine, at which two labels join in the tree of clusters.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    >>> pets = LabelEmbedding(("cat", "carp", "lion"), vectors)
    >>> clusters = cluster_labels(pets, n=2)
    >>> clusters.group_of("cat")
    ('lion', 'cat')
    """

    labels: tuple[str, ...]
    similarity: Floats
    number: Ints
    heights: Floats

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each cluster."""
        starts = np.flatnonzero(np.diff(self.number, prepend=-1))
        ends = [*starts[1:].tolist(), len(self.labels)]
        return tuple(
            self.labels[start:end] for start, end in zip(starts, ends, strict=True)
        )

    def group_of(self, label: str) -> tuple[str, ...]:
        """Return the labels of the cluster that a label is in.

        Parameters
        ----------
        label : str
            One of `labels`.

        Returns
        -------
        tuple of str
            All labels of the cluster, `label` included.
        """
        return self.groups[int(self.number[self.labels.index(label)])]


def cluster_labels(
    embedding: LabelEmbedding, labels: Iterable[str] | None = None, *, n: int = 8
) -> Clusters:
    """Cluster labels of an embedding by cosine similarity.

    Up to 1,000 labels, the order puts similar labels as close together as the tree of
    clusters allows.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to take the labels from.
    labels : iterable of str, optional
        The labels to cluster; all of the embedding if left out.
    n : int, default 8
        Number of clusters.

    Returns
    -------
    Clusters
        The labels in order, with their clusters and similarities.

    Raises
    ------
    ContextError
        For fewer than 2 or more than 5,000 labels.
    OptionError
        If `n` is not between 1 and the number of labels.

    Examples
    --------
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
            f"clusters need two labels or more. Got {some(chosen.labels) or 'none'}."
        )
    if len(chosen) > MOST_LABELS:
        raise ContextError(
            f"at most {MOST_LABELS:,} labels can be clustered, as every pair is "
            f"compared. Got {len(chosen):,}; choose some of them."
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
    """Measure how well clusters agree with a taxonomy.

    Parameters
    ----------
    clusters : Clusters
        From `cluster_labels`.
    hierarchy : Hierarchy
        The taxonomy; every label must be one of its nodes.
    level : int, optional
        Level of the families, in steps below the root. If left out, the level that
        gives about as many families as there are clusters.

    Returns
    -------
    Agreement
        Correlation with path lengths, and Rand index against families.

    Examples
    --------
    >>> tree = Hierarchy.from_edges(
    ...     [("cat", "felid"), ("lion", "felid"), ("carp", "fish")]
    ...     + [("felid", "animal"), ("fish", "animal")]
    ... )
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
    >>> pets = LabelEmbedding(("cat", "carp", "lion"), vectors)
    >>> agreement(cluster_labels(pets, n=2), tree).rand_index
    1.0
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
    """Return the ancestor of each label that is `level` steps below the root.

    Steps are counted on the longest path, so that a short cut (a dog is a domestic
    animal) does not lift a node. If several ancestors are at this level, the nearest is
    taken. A label without one is a family of its own.

    Parameters
    ----------
    hierarchy : Hierarchy
        The taxonomy; every label must be one of its nodes.
    labels : sequence of str
        The labels to look up.
    level : int
        Steps below the root.

    Returns
    -------
    tuple of str
        One node for each label.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("cat", "felid"), ("felid", "beast")])
    >>> families(tree, ["cat", "beast"], 1)
    ('felid', 'beast')
    """
    _check_nodes(hierarchy, labels)
    depth = _longest_depths(hierarchy)
    found = list(labels)
    rows, nodes, steps = hierarchy.ancestor_distances(labels)
    at_level = np.flatnonzero(depth[nodes] == level)
    # Farthest first, so that the nearest overwrites the others.
    for i in at_level[np.argsort(-steps[at_level], kind="stable")]:
        found[rows[i]] = hierarchy.nodes[nodes[i]]
    return tuple(found)


def family_level(hierarchy: Hierarchy, labels: Sequence[str], n: int) -> int:
    """Find the level of a taxonomy that has about n families.

    Parameters
    ----------
    hierarchy : Hierarchy
        The taxonomy; every label must be one of its nodes.
    labels : sequence of str
        The labels that families are counted for.
    n : int
        The number of families wanted.

    Returns
    -------
    int
        Steps below the root; of two levels that are equally good, the upper one.
    """
    _check_nodes(hierarchy, labels)
    deepest = int(_longest_depths(hierarchy).max())
    return min(
        range(deepest + 1),
        key=lambda level: abs(len(set(families(hierarchy, labels, level))) - n),
    )


def path_lengths(hierarchy: Hierarchy, labels: Sequence[str]) -> Floats:
    """Count the steps from label to label through a common ancestor.

    Parameters
    ----------
    hierarchy : Hierarchy
        The taxonomy; every label must be one of its nodes.
    labels : sequence of str
        The labels to compare.

    Returns
    -------
    ndarray of shape (labels, labels)
        Path lengths. Labels without a common ancestor are one step farther apart than
        the farthest others.
    """
    _check_nodes(hierarchy, labels)
    # With decay 1, the counts of kind "path" are exp(−path length).
    _, near = HierarchyCounts(hierarchy, "path", decay=1.0).count(labels)
    paths = np.full(near.shape, near.nnz and 1.0 - np.log(near.data.min()))
    rows, columns = near.nonzero()
    paths[rows, columns] = -np.log(near.data)
    np.fill_diagonal(paths, 0.0)
    return np.asarray(paths)


def _longest_depths(hierarchy: Hierarchy) -> Ints:
    """Steps from a root down to each node, on the longest path."""
    depth = np.zeros(len(hierarchy.nodes), np.int64)
    child, parent = hierarchy.edges.T
    while True:  # runs once for each level
        deeper = depth.copy()
        np.maximum.at(deeper, child, depth[parent] + 1)
        if np.array_equal(deeper, depth):
            return depth
        depth = deeper


def _check_nodes(hierarchy: Hierarchy, labels: Sequence[str]) -> None:
    """Refuse labels that are not in the hierarchy."""
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
