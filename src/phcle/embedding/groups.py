"""Groups of similar labels, and their names.

Labels are grouped by cosine similarity with average linkage. A group is named after the
node of a taxonomy that most members are below and few other labels are; else after an
attribute or tag that most members have and few others; else after its most central
member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import numpy as np

from phcle.answers import Groups, Named
from phcle.arrays import Floats
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, some

Members = Sequence[Sequence[str]]
"""The labels of each group."""

MOST_LABELS = 5_000
"""Most labels to cluster: a matrix of all pairs takes 200 MB at this number."""

ORDERED_UP_TO = 1_000
"""Up to this many labels the best order is computed; for more it takes minutes."""

MOST = 2 / 3
"""Share of the members that a name must hold for, so that few are called wrongly."""

OWN = 0.5
"""Share of all labels with a property that must be members, so that the name tells the
group from others."""

RARER = 2.0
"""How many times as common a property must be among members as among others; a large
group has a good part of everything."""

SAMPLED = 200
"""Members whose attributes are looked at, which is enough for a share."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Labels ordered so that similar ones stand together, and cut into clusters.

    Attributes
    ----------
    groups : tuple of tuple of str
        The labels of each cluster.
    similarity : ndarray of shape (labels, labels)
        Cosine similarities, in the order of `labels`.
    """

    groups: tuple[tuple[str, ...], ...]
    similarity: Floats

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, cluster by cluster."""
        return tuple(chain.from_iterable(self.groups))


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
    similarity = np.clip(units @ units.T, -1.0, 1.0)
    apart = 1.0 - similarity
    np.fill_diagonal(apart, 0.0)
    is_ordered = len(chosen) <= ORDERED_UP_TO
    pairs = squareform(apart, checks=False)
    tree = linkage(pairs, "average", optimal_ordering=is_ordered)
    order = leaves_list(tree)
    number = fcluster(tree, n, "maxclust")[order]
    groups = tuple(
        tuple(chosen.labels[i] for _, i in members)
        for _, members in groupby(zip(number, order, strict=True), lambda x: x[0])
    )
    return Clusters(groups, similarity[np.ix_(order, order)])


def cluster_names(embedding: LabelEmbedding, groups: Members) -> tuple[str, ...]:
    """Name groups of labels after what their members share.

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
    found = [
        name or f"{_centre(embedding, group)} and others"
        for name, group in zip(shared_names(embedding, groups), groups, strict=True)
    ]
    repeated = Counter(found)
    return tuple(
        f"{name} such as {_centre(embedding, group)}" if repeated[name] > 1 else name
        for name, group in zip(found, groups, strict=True)
    )


def shared_names(embedding: LabelEmbedding, groups: Members) -> list[str | None]:
    """Name groups of labels that share something.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that knows the contexts.
    groups : sequence of sequence of str
        The labels of each group; together they are all labels that a name must tell
        apart.

    Returns
    -------
    list of str or None
        A name for each group, not always its own; None if nothing tells it from others.
    """
    found = [embedding.name_of(x[0]) if len(x) == 1 else None for x in groups]
    said = [_nodes(embedding, groups)]
    said += [_attributes(context, groups) for context in embedding.predicting]
    for names, share in said:
        best = _best_names(names, share, groups)
        found = [own or name for own, name in zip(found, best, strict=True)]
    return found


def _best_names(
    names: Sequence[str], share: Floats, groups: Members
) -> list[str | None]:
    """For each group the property that most members have and few others.

    `share` is the share of each group that has each property. The best one has the
    highest harmonic mean of that, and of the group's share of all that have it.
    """
    if not names:
        return [None] * len(groups)
    sizes = np.array([len(group) for group in groups], float)[:, None]
    count = share * sizes
    total = count.sum(axis=0)
    own = count / np.maximum(total, 1e-12)
    elsewhere = (total - count) / np.maximum(sizes.sum() - sizes, 1.0)
    fits = (share >= MOST) & (own >= OWN) & (share >= RARER * elsewhere)
    score = np.where(fits, share * own / np.maximum(share + own, 1e-12), 0.0)
    return [names[int(np.argmax(x))] if x.any() else None for x in score]


def _nodes(embedding: LabelEmbedding, groups: Members) -> tuple[list[str], Floats]:
    """The nodes of the taxonomy that knows most labels, and their shares."""
    trees = [c.hierarchy for c in embedding.contexts if c.hierarchy is not None]
    if not trees:
        return [], np.zeros((len(groups), 0))
    labels = [(x, i) for i, group in enumerate(groups) for x in group]
    tree = max(trees, key=lambda tree: sum(x in tree.index for x, _ in labels))
    known = [(x, i) for x, i in labels if x in tree.index]
    group_of = np.array([i for _, i in known], np.int64)
    rows, nodes, _ = tree.ancestor_distances([x for x, _ in known])
    # The lowest of several nodes above the same labels has fewest nodes below it.
    _, above, _ = tree.ancestor_distances(tree.nodes)
    order = np.argsort(np.bincount(above, minlength=len(tree.nodes)), kind="stable")
    below = np.zeros((len(groups), len(tree.nodes)))
    np.add.at(below, (group_of[rows], nodes), 1.0)
    sizes = np.array([len(group) for group in groups], float)[:, None]
    names = [embedding.name_of(tree.nodes[i]) for i in order]
    return names, below[:, order] / sizes


def _attributes(
    context: DescriptiveContext, groups: Members
) -> tuple[list[str], Floats]:
    """The tags, truth values and categories of a context; numbers name nothing."""
    columns: list[int] = []
    names: list[str] = []
    every = range(len(context.columns))
    for field in context.fields:
        if field.kind in ("tag", "truth", "category"):
            columns += every[field.at]
            names += [f"{field.title}: {x}" for x in field.values] or [field.title]
    share = np.zeros((len(groups), len(columns)))
    for i, group in enumerate(groups):
        some = group[:: max(1, len(group) // SAMPLED)]
        rows = np.array([context.observed_row(label)[columns] for label in some])
        known = np.count_nonzero(~np.isnan(rows), axis=0)
        share[i] = np.count_nonzero(np.nan_to_num(rows), axis=0) / np.maximum(known, 1)
    return names, share


def _centre(embedding: LabelEmbedding, group: Sequence[str]) -> str:
    """The name of the label nearest to the mean of a group."""
    units = embedding.select(group).unit_vectors
    return embedding.name_of(group[int(np.argmax(units @ units.mean(axis=0)))])


def named_groups(embedding: LabelEmbedding, groups: Members) -> Groups:
    """Give groups of labels their names.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that knows the contexts.
    groups : sequence of sequence of str
        The labels of each group.

    Returns
    -------
    Groups
        The groups with the names of their labels.
    """
    name_of = embedding.name_of
    return Groups(
        tuple(tuple(Named(x, name_of(x)) for x in group) for group in groups),
        cluster_names(embedding, groups),
    )
