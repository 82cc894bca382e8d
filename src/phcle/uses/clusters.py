"""Groups of similar labels, by cosine similarity with average linkage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from phcle.arrays import Floats, Ints
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, some

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
    found = fcluster(tree, n, "maxclust")[order]
    return Clusters(
        tuple(chosen.labels[i] for i in order),
        similarity[np.ix_(order, order)],
        np.cumsum(np.diff(found, prepend=found[:1]) != 0),
    )
