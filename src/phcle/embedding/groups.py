"""Groups of similar labels, and their names.

Labels are grouped by cosine similarity with average linkage. A group is named after the
node of a taxonomy that most members are below and few other labels are, or else after
its most central member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from phcle.answers import Groups, Named
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, some

Members = Sequence[Sequence[str]]
"""The labels of each group."""

MOST_LABELS = 5_000
"""Most labels to cluster: a matrix of all pairs takes 200 MB at this number."""

ORDERED_UP_TO = 1_000
"""Up to this many labels the best order is computed; for more it takes minutes."""

MOST = 2 / 3
"""Share of the members that must be below a node, so that few are called wrongly."""

OWN = 0.5
"""Share of all labels below a node that must be members, so that its name tells the
group from others."""

RARER = 2.0
"""How many times as common members must be below a node as others; a large group has a
good part of everything."""


def group_labels(
    embedding: LabelEmbedding, labels: Iterable[str] | None, n: int
) -> Groups:
    """Cluster labels by cosine similarity and name the clusters.

    Up to 1,000 labels, the order puts similar labels as close together as the tree of
    clusters allows.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that knows the labels and their contexts.
    labels : iterable of str or None
        The labels to cluster; None for all.
    n : int
        Number of clusters.

    Returns
    -------
    Groups
        The clusters, similar labels side by side.

    Raises
    ------
    ContextError
        For fewer than 2 or more than 5,000 labels.
    OptionError
        If `n` is not between 1 and the number of labels.
    """
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
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
    apart = 1.0 - np.clip(units @ units.T, -1.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    is_ordered = len(chosen) <= ORDERED_UP_TO
    pairs = squareform(apart, checks=False)
    tree = linkage(pairs, "average", optimal_ordering=is_ordered)
    number = fcluster(tree, n, "maxclust")
    by_group: dict[int, list[str]] = {}
    for row in leaves_list(tree).tolist():
        by_group.setdefault(int(number[row]), []).append(chosen.labels[row])
    groups = list(by_group.values())
    name_of = embedding.name_of
    named = (tuple(Named(x, name_of(x)) for x in group) for group in groups)
    return Groups(tuple(named), cluster_names(embedding, groups))


def cluster_names(embedding: LabelEmbedding, groups: Members) -> tuple[str, ...]:
    """Name groups of labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that knows the contexts.
    groups : sequence of sequence of str
        The labels of each group; together they are all labels that a name must tell
        apart.

    Returns
    -------
    tuple of str
        A name for each group; no two are equal.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> pets = LabelEmbedding(("cat", "lion", "carp"), vectors)
    >>> cluster_names(pets, [("cat", "lion"), ("carp",)])
    ('cat and others', 'carp')
    """
    nodes = node_names(embedding, groups)
    repeated = Counter(nodes)
    found = []
    for group, node in zip(groups, nodes, strict=True):
        centre = central_name(embedding, group)
        if len(group) == 1:
            found.append(centre)
        elif node is None:
            found.append(f"{centre} and others")
        else:
            found.append(f"{node} such as {centre}" if repeated[node] > 1 else node)
    return tuple(found)


def central_name(embedding: LabelEmbedding, group: Sequence[str]) -> str:
    """Return the name of the most central label of a group.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    group : sequence of str
        The labels.

    Returns
    -------
    str
        The name of the label nearest to the mean of the group.
    """
    units = embedding.select(group).unit_vectors
    return embedding.name_of(group[int(np.argmax(units @ units.mean(axis=0)))])


def node_names(embedding: LabelEmbedding, groups: Members) -> list[str | None]:
    """For each group the node that most members are below, and few others.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    groups : sequence of sequence of str
        The labels of each group.

    Returns
    -------
    list of str or None
        The names of the nodes; None if no node tells the group from others.
    """
    trees = [c.hierarchy for c in embedding.contexts if c.hierarchy is not None]
    if not trees:
        return [None] * len(groups)
    labels = [(x, i) for i, group in enumerate(groups) for x in group]
    tree = max(trees, key=lambda tree: sum(x in tree.index for x, _ in labels))
    known = [(x, i) for x, i in labels if x in tree.index]
    group_of = np.array([i for _, i in known], np.int64)
    rows, nodes, _ = tree.ancestor_distances([x for x, _ in known])
    count = np.zeros((len(groups), len(tree.nodes)))
    np.add.at(count, (group_of[rows], nodes), 1.0)
    total, sizes = count.sum(axis=0), np.array([[len(group)] for group in groups])
    share, own = count / sizes, count / np.maximum(total, 1.0)
    elsewhere = (total - count) / np.maximum(sizes.sum() - sizes, 1)
    fits = (share >= MOST) & (own >= OWN) & (share >= RARER * elsewhere)
    score = np.where(fits, share * own / np.maximum(share + own, 1e-12), 0.0)
    # Of several nodes above the same labels, the lowest has fewest nodes below it.
    _, above, _ = tree.ancestor_distances(tree.nodes)
    below = np.bincount(above, minlength=len(tree.nodes))
    best = [int(np.lexsort((below, -x))[0]) for x in score]
    return [
        embedding.name_of(tree.nodes[i]) if x[i] else None
        for i, x in zip(best, score, strict=True)
    ]
