"""Names of groups of labels: what their members share and others do not.

A group is named after the node of a taxonomy that most members are below and few other
labels are; else after an attribute or tag that most members have and few others; else
after its most central member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phcle.arrays import Flags, Floats
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.embedding.label_embedding import LabelEmbedding

Groups = Sequence[Sequence[str]]

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
class _Shared:
    """Properties of labels, and how common they are in every group.

    Attributes
    ----------
    names : list of str
        The name of each property.
    share : ndarray of shape (groups, properties)
        Share of the group that has it.
    sizes : ndarray of shape (groups,)
        Number of labels of each group.
    """

    names: list[str]
    share: Floats
    sizes: Floats

    @cached_property
    def own(self) -> Floats:
        """The group's share of all labels that have a property."""
        count = self.share * self.sizes[:, None]
        return np.asarray(count / np.maximum(count.sum(axis=0), 1e-12))

    @cached_property
    def tells_apart(self) -> Flags:
        """Whether few labels of other groups have a property."""
        count = self.share * self.sizes[:, None]
        others = np.maximum(self.sizes.sum() - self.sizes, 1.0)[:, None]
        elsewhere = (count.sum(axis=0) - count) / others
        return np.asarray((self.own >= OWN) & (self.share >= RARER * elsewhere))

    def best(self, group: int) -> str | None:
        """The property that most members have and few others, if there is one.

        It has the highest harmonic mean of both shares.
        """
        share, own = self.share[group], self.own[group]
        fits = (share >= MOST) & self.tells_apart[group]
        score = 2 * share * own / np.maximum(share + own, 1e-12)
        at = _first(np.where(fits, score, 0.0))
        return None if at is None else self.names[at]


def _first(score: Floats) -> int | None:
    """Position of the first of the highest scores; None if all are 0."""
    return int(np.argmax(score)) if score.any() else None


def cluster_names(embedding: LabelEmbedding, groups: Groups) -> tuple[str, ...]:
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


def shared_names(embedding: LabelEmbedding, groups: Groups) -> list[str | None]:
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
    sizes = np.array([len(group) for group in groups], float)
    nodes, attributes = _nodes(embedding, groups, sizes), []
    for context in embedding.predicting:
        attributes.append(_attributes(context, groups, sizes))
    found: list[str | None] = []
    for i, group in enumerate(groups):
        name = embedding.name_of(group[0]) if len(group) == 1 else None
        if name is None and nodes is not None:
            name = nodes.best(i)
        for shared in attributes:
            name = name or shared.best(i)
        found.append(name)
    return found


def _nodes(embedding: LabelEmbedding, groups: Groups, sizes: Floats) -> _Shared | None:
    """The nodes of the taxonomy that knows most labels."""
    trees = [c.hierarchy for c in embedding.contexts if c.hierarchy is not None]
    if not trees:
        return None
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
    names = [embedding.name_of(tree.nodes[i]) for i in order]
    return _Shared(names, below[:, order] / sizes[:, None], sizes)


def _attributes(context: PredictingContext, groups: Groups, sizes: Floats) -> _Shared:
    """The tags, truth values and categories of a context; numbers name nothing."""
    columns: list[int] = []
    names: list[str] = []
    for field in context.fields:
        if field.kind in ("tag", "truth", "category"):
            at = range(*field.at.indices(len(context.columns)))
            columns += at
            values = [f"{field.title}: {x}" for x in field.values]
            names += values or [field.title] * len(at)
    share = np.zeros((len(groups), len(columns)))
    for i, group in enumerate(groups):
        has, known = np.zeros(len(columns)), np.zeros(len(columns))
        for label in group[:: max(1, len(group) // SAMPLED)]:
            row = context.observed_row(label)[columns]
            has += np.nan_to_num(row) != 0
            known += ~np.isnan(row)
        share[i] = has / np.maximum(known, 1.0)
    return _Shared(names, share, sizes)


def _centre(embedding: LabelEmbedding, group: Sequence[str]) -> str:
    """The name of the label nearest to the mean of a group."""
    units = embedding.select(group).unit_vectors
    return embedding.name_of(group[int(np.argmax(units @ units.mean(axis=0)))])
