"""Names of parts of the map: groups of a colouring, and nodes of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.answers import Answer
from phcle.arrays import Ints
from phcle.contexts.hierarchy import Hierarchy
from phcle.embedding.groups import shared_names
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.report.hierarchy_branches import labels_below

Floats = npt.NDArray[np.float32]

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
"""Labels of a part that is named after an attribute, on average."""

MOST_PARTS = 200
"""Most such parts; to name one takes about a millisecond."""

PURE = 0.6
"""Share of the labels around a region's centre that must belong to it."""


@dataclass(frozen=True)
class MapRegion(Answer):
    """The name of a part of the map.

    Attributes
    ----------
    name : str
        The name of what its labels share.
    x, y : float
        Where its labels are densest, or the middle of several crowds of them.
    reach : float
        Distance from there within which half of its labels lie.
    labels : int
        Number of its labels.
    of : str or None
        Title of the colouring whose group it is; None for a finer region.
    """

    name: str
    x: float
    y: float
    reach: float
    labels: int
    of: str | None = None


def group_regions(
    title: str, groups: Sequence[str], codes: Ints, places: Floats
) -> list[MapRegion]:
    """Place the name of each group of a colouring where its labels are.

    Parameters
    ----------
    title : str
        Title of the colouring.
    groups : sequence of str
        Names of its groups; the last one is "other" and gets no name.
    codes : ndarray of int, shape (labels,)
        The group of each label.
    places : ndarray of shape (labels, 2)
        Places of the labels.

    Returns
    -------
    list of MapRegion
        The groups that have labels, the largest first.
    """
    found = []
    for code, name in enumerate(groups[:-1]):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            found.append(_region(name, places[rows], of=title))
    return sorted(found, key=lambda each: -each.labels)


def node_regions(
    embedding: LabelEmbedding, hierarchy: Hierarchy, places: Floats
) -> list[MapRegion]:
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
    list of MapRegion
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

    def is_pure(each: MapRegion) -> bool:
        reach = max(each.reach, 1e-4)
        n = tree.query_ball_point((each.x, each.y), reach, return_length=True)
        return bool(each.labels / 2 >= PURE * n)

    chosen = []
    for middle, densest in found:
        # The name of several groups stands between them, not on the densest one.
        tries = [middle, densest] if middle.reach < densest.reach else [densest]
        chosen.append(next(filter(is_pure, tries), None))
    return [each for each in chosen if each is not None]


def attribute_regions(embedding: LabelEmbedding, places: Floats) -> list[MapRegion]:
    """Name parts of the map after attributes that their labels share.

    For embeddings without a hierarchy. Parts that share nothing get no name: the names
    of single labels say more.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels, their names and attributes.
    places : ndarray of shape (labels, 2)
        Places of the labels.

    Returns
    -------
    list of MapRegion
        The regions, the largest first.
    """
    from sklearn.cluster import MiniBatchKMeans

    n_parts = min(MOST_PARTS, len(places) // PART)
    if n_parts < 2 or not embedding.predicting:
        return []
    found = MiniBatchKMeans(n_parts, random_state=0, n_init=1, batch_size=4096)
    codes = found.fit_predict(places)
    parts = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    groups = [[embedding.labels[i] for i in rows] for rows in parts]
    regions = [
        _region(name, places[rows])
        for name, rows in zip(shared_names(embedding, groups), parts, strict=True)
        if name is not None
    ]
    return sorted(regions, key=lambda each: -each.labels)


def _region(name: str, own: Floats, of: str | None = None) -> MapRegion:
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


def _around(name: str, own: Floats, centre: Floats, of: str | None = None) -> MapRegion:
    """A region around a place, which reaches half of its labels."""
    reach = float(np.median(np.linalg.norm(own - centre, axis=1)))
    x, y = (round(float(value), 4) for value in centre)
    return MapRegion(name, x, y, round(reach, 4), len(own), of)
