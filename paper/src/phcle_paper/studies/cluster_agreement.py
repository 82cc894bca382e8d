"""How well clusters agree with a taxonomy.

Two numbers: the correlation of the heights at which labels join with their path lengths
in the taxonomy, and the adjusted Rand index of the clusters against its families.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from phcle.contexts import Hierarchy

if TYPE_CHECKING:
    from phcle_paper.studies.label_clusters import Clusters

__all__ = ["agreement", "families", "path_lengths"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def agreement(
    clusters: Clusters, hierarchy: Hierarchy, level: int
) -> tuple[float, float]:
    """Agreement with path lengths, and with families `level` steps below the root.

    1 is perfect, 0 is chance.
    """
    apart = 1.0 - clusters.similarity
    np.fill_diagonal(apart, 0.0)
    heights = cophenet(linkage(squareform(apart, checks=False), "average"))
    paths = squareform(path_lengths(hierarchy, clusters.labels), checks=False)
    own = families(hierarchy, clusters.labels, level)
    number = np.repeat(np.arange(len(clusters.groups)), list(map(len, clusters.groups)))
    rand_index = float(adjusted_rand_score(own, number))
    return _correlation(heights, paths), rand_index


def families(
    hierarchy: Hierarchy, labels: Sequence[str], level: int
) -> tuple[str, ...]:
    """The ancestor of each label that is `level` steps below the root.

    Steps are counted on the longest path, so that a short cut (a dog is a domestic
    animal) does not lift a node. If several ancestors are at this level, the nearest is
    taken. A label without one is a family of its own.

    >>> tree = Hierarchy.from_edges([("cat", "felid"), ("felid", "beast")])
    >>> families(tree, ["cat", "beast"], 1)
    ('felid', 'beast')
    """
    depth = _longest_depths(hierarchy)
    found = list(labels)
    rows, nodes, steps = hierarchy.ancestor_distances(labels)
    at_level = np.flatnonzero(depth[nodes] == level)
    # Farthest first, so that the nearest overwrites the others.
    for i in at_level[np.argsort(-steps[at_level], kind="stable")]:
        found[rows[i]] = hierarchy.nodes[nodes[i]]
    return tuple(found)


def path_lengths(hierarchy: Hierarchy, labels: Sequence[str]) -> Floats:
    """Steps from label to label through a common ancestor: (labels, labels).

    Labels without a common ancestor are one step farther apart than the farthest
    others.
    """
    rows, nodes, steps = hierarchy.ancestor_distances(labels)
    up = np.full((len(labels), len(hierarchy.nodes)), np.inf)
    up[rows, nodes] = steps
    paths = np.array([(up + own).min(axis=1) for own in up])
    return np.where(np.isinf(paths), paths[np.isfinite(paths)].max() + 1, paths)


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


def _correlation(one: Floats, other: Floats) -> float:
    """Pearson's correlation; 0 if either is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
