"""Groups of similar labels, their names, and the picture of them.

Labels are grouped by cosine similarity with average linkage. A group is named after the
node of a taxonomy that most members are below and few other labels are; else after an
attribute or tag that most members have and few others; else after its most central
member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.answers import Groups, Named
from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, some
from phcle.files.atomic import write_whole
from phcle.optional_imports import import_optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

FORMATS = (".png", ".svg", ".pdf")

COLOURS = "viridis"
"""From dark to light in steps of equal size, also for colour-blind readers; neither end
is lost on a light or a dark page."""

INCHES_PER_LABEL = 0.12
MARGIN = 0.8
"""Inches around the picture, for names."""

CUT: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.05}
"""Options to save a figure without empty margins."""

MOST_NAMES = 200
"""Names are drawn up to this many labels; more could not be read."""

LONGEST = 30
"""Letters of a name in a figure; longer names would leave no room for the figure."""


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
    >>> cluster_labels(pets, n=2).number.tolist()
    [0, 1, 1]
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


def _nodes(embedding: LabelEmbedding, groups: Members, sizes: Floats) -> _Shared | None:
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


def _attributes(context: PredictingContext, groups: Members, sizes: Floats) -> _Shared:
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


def shortened(name: str) -> str:
    """Cut a name so that it fits into a figure.

    Parameters
    ----------
    name : str
        A name of any length.

    Returns
    -------
    str
        The name, or its beginning and an ellipsis.

    Examples
    --------
    >>> shortened("cat"), shortened("x" * 200)[-3:]
    ('cat', 'xx…')
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def save_heatmap(
    clusters: Clusters, path: Path, *, name_of: Callable[[str], str] = str
) -> None:
    """Draw a heat map into a PNG, SVG or PDF file.

    Parameters
    ----------
    clusters : Clusters
        The clusters to draw.
    path : Path
        The file to write; its ending sets the format.
    name_of : callable, default str
        Returns the readable name of a label.

    Raises
    ------
    OptionError
        If the ending is not .png, .svg or .pdf.
    BackendError
        If Matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise OptionError(
            f"{path}: a picture must end in {', '.join(FORMATS)}. "
            f"Got {path.suffix or 'no ending'!r} instead."
        )
    import_optional("matplotlib", extra="figures", purpose="a picture")
    figure = heatmap_figure(clusters, name_of=name_of)
    with write_whole(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lower()[1:], dpi=150, **CUT)


def heatmap_figure(
    clusters: Clusters, *, name_of: Callable[[str], str] = str
) -> Figure:
    """Draw a heat map, with a scale from the least to the largest cosine.

    Parameters
    ----------
    clusters : Clusters
        The clusters to draw.
    name_of : callable, default str
        Returns the readable name of a label.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; save it with the options `CUT`.
    """
    new_figure: type[Figure] = import_module("matplotlib.figure").Figure  # no pyplot
    patches: Any = import_module("matplotlib.patches")
    side = min(max(len(clusters.labels) * INCHES_PER_LABEL, 2.6), 16.0) + MARGIN
    figure = new_figure(figsize=(side + 0.6, side), layout="compressed")
    axis = figure.subplots()
    between = clusters.similarity[~np.eye(len(clusters.labels), dtype=bool)]
    low, high = float(between.min()), float(between.max())
    image = axis.imshow(clusters.similarity, cmap=COLOURS, vmin=low, vmax=high)
    axis.set_xticks([])
    axis.set_yticks([])
    if len(clusters.labels) <= MOST_NAMES:
        names = [shortened(name_of(label)) for label in clusters.labels]
        axis.set_yticks(np.arange(len(names)), names, fontsize=7)
        axis.tick_params(length=0, pad=2)
    start = 0
    for group in clusters.groups:
        corner, size = (start - 0.5, start - 0.5), len(group)
        for colour, width in (("white", 2.8), ("black", 1.4)):  # seen on any colour
            box = patches.Rectangle(corner, size, size, fill=False, ec=colour, lw=width)
            axis.add_patch(box)
        start += size
    figure.colorbar(
        image, ax=axis, shrink=0.5, aspect=40, pad=0.01, label="cosine similarity"
    )
    return figure
