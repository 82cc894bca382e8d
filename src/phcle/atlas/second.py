"""A second embedding on the map of the first: one switch moves the points.

The layout of an embedding may be turned, mirrored or larger than that of another;
Procrustes analysis removes that. It cannot bring back groups that t-SNE has put at
other places, so the second layout begins at the places of the first. What then still
lies at another place has moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.atlas.columns import packed
from phcle.atlas.layout import lay_out
from phcle.atlas.opened import Opened, Work
from phcle.atlas.prepared import Progress
from phcle.embedding.search import Neighbours
from phcle.errors import ContextError

K = 10
"""Nearest labels that are compared for each label."""

N_NEAR, FAR = 10, 5.0
"""A label begins between its nearest labels, so many, if it is this many times as far
from their middle as usual: t-SNE moves a label across a whole map in hundreds of
iterations only. Of 80 planted labels with new neighbours among 4,000, these are 79, and
no others."""


class Second:
    """Another embedding of the same labels, compared in a thread.

    Parameters
    ----------
    first : Opened
        The embedding whose map is shown.
    other : Opened
        The other one; labels in common are compared.

    Attributes
    ----------
    title : str
        Title of the other one.
    work : Work
        The answer for the page.
    """

    def __init__(self, first: Opened, other: Opened) -> None:
        common = [x for x in first.shown.labels if x in other.shown]
        if len(common) < 2:
            raise ContextError(
                f"the embeddings have {len(common)} labels in common, but 2 are "
                "needed; compare files about the same labels."
            )
        self.first, self.other, self.title = first, other, other.title
        self.rows = tuple(
            np.array([x.shown.row_of[label] for label in common])
            for x in (first, other)
        )
        n = len(other.shown)
        self.work: Work[dict[str, Any]] = Work(self._compare, n, other.tell)

    def _compare(self, progress: Progress) -> dict[str, Any]:
        """Lay the other embedding on the map, and compare neighbours."""
        first, other = self.first.map.wait(), self.other.shown
        table = other.search.neighbour_table(
            progress=lambda done, total: progress("finding neighbours", done, total)
        )
        own, others = self.rows
        wanted = first.places[own]
        start = np.zeros((len(other), 2), np.float32)
        start[others] = wanted
        n = len(other)
        places = lay_out(
            np.asarray(other.unit_vectors, np.float32),
            table=table,
            start=beside_neighbours(start, table.rows),
            progress=lambda done, total: progress(
                "placing labels on the second map", n * done // max(total, 1), n
            ),
        ).places[others]
        places, agreement = aligned(places, wanted)
        k = min(K, len(own) - 1)
        shared = shared_neighbours(first.table, table, self.rows, k)
        at = np.full((len(self.first.shown), 3), np.nan)
        at[own] = np.column_stack([places, 1 - shared])
        x, y, moved = (packed(column, "f4") for column in at.T)
        return {
            "title": self.title,
            "x": x,
            "y": y,
            "moved": moved,
            "k": k,
            "mean": float(1 - shared.mean()),
            "agreement": agreement,
            "missing": len(self.first.shown) - len(own),
            "more": n - len(others),
        }


def shared_neighbours(
    one: Neighbours, other: Neighbours, rows: tuple[Ints, ...], k: int
) -> Floats:
    """Find the share of nearest labels that two embeddings have in common.

    Parameters
    ----------
    one, other : Neighbours
        The neighbours in each embedding. Where only one embedding has some labels, the
        tables must hold more than k neighbours, as those labels are skipped.
    rows : tuple of two arrays
        Rows of the common labels in each embedding.
    k : int
        Number of neighbours to compare.

    Returns
    -------
    array of shape (common labels,)
        Shares from 0 to 1.
    """
    first, second = (
        _nearest_common(table, own, k)
        for table, own in zip((one, other), rows, strict=True)
    )
    shared = np.zeros(len(rows[0]))
    for column in range(k):
        same = (first[:, column : column + 1] == second) & (second >= 0)
        shared += same.any(axis=1)
    return shared / k


def _nearest_common(table: Neighbours, own: Ints, k: int) -> Ints:
    """Positions in `own` of each common label's k nearest; −1: there are too few."""
    code = np.full(len(table.rows), -1)
    code[own] = np.arange(len(own))
    near = code[table.rows[own]]  # (common, kept)
    # A stable sort moves common labels to the front and keeps their order.
    order = np.argsort(near < 0, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(near, order, axis=1)
    gap = k - found.shape[1]
    return np.pad(found, ((0, 0), (0, gap)), constant_values=-1)


def beside_neighbours(
    places: npt.NDArray[np.float32], neighbours: npt.NDArray[np.integer]
) -> npt.NDArray[np.float32]:
    """Put labels that lie far from their nearest labels between these.

    Parameters
    ----------
    places : array of shape (labels, 2)
        Places of all labels.
    neighbours : array of shape (labels, k)
        Rows of the nearest labels, best first.

    Returns
    -------
    array of shape (labels, 2)
        The places, with those labels moved.

    Examples
    --------
    >>> places = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [9, 9]], np.float32)
    >>> near = np.array([[1, 2], [0, 3], [0, 3], [1, 2], [0, 1]])
    >>> beside_neighbours(places, near).tolist()[4]
    [0.0, 0.5]
    """
    found = places.copy()
    if neighbours.shape[1]:
        middle = np.median(found[neighbours[:, :N_NEAR]], axis=1)
        away = np.linalg.norm(found - middle, axis=1)
        is_far = away > FAR * np.median(away)
        found[is_far] = middle[is_far]
    return found


def aligned(places: AnyFloats, wanted: AnyFloats) -> tuple[Floats, float]:
    """Turn, mirror, scale and shift places to lie as near others as can be.

    Both get the same spread. The best scale in the mean square would shrink the places
    the more, the less they agree, down to one point.

    Parameters
    ----------
    places, wanted : arrays of shape (labels, 2)
        Places of the same labels.

    Returns
    -------
    tuple of array and float
        The places after that, and the share of their variance that they have in common
        with the others, from 0 to 1.

    Examples
    --------
    >>> places = np.array([[0.0, 0], [1, 0], [0, 2]])
    >>> found, agreement = aligned(places, np.array([[5.0, 5], [5, 7], [1, 5]]))
    >>> found.round(6).tolist(), round(agreement, 6)
    ([[5.0, 5.0], [5.0, 7.0], [1.0, 5.0]], 1.0)
    """
    new_centre = wanted.mean(axis=0)
    first, second = places - places.mean(axis=0), wanted - new_centre
    sizes = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    if 0.0 in sizes:  # all labels at one place: only a shift makes sense
        return np.asarray(first + new_centre, np.float64), 0.0
    left, strength, right = np.linalg.svd(first.T.astype(np.float64) @ second)
    agreement = float(strength.sum() / (sizes[0] * sizes[1])) ** 2
    turned = sizes[1] / sizes[0] * first @ (left @ right)
    return np.asarray(turned + new_centre, np.float64), min(agreement, 1.0)
