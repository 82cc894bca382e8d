"""A second embedding on the map of the first: one switch moves the points.

The layout of the second embedding begins at the places of the first, because groups
that t-SNE has put at other places cannot be brought back. What then still lies at
another place has moved. Labels that only one of them has stay where they are.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import procrustes

from phcle.atlas.columns import packed
from phcle.atlas.layout import lay_out
from phcle.atlas.opened import Opened, Work
from phcle.atlas.prepared import Progress
from phcle.embedding.search import Search
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
        self.rows, self.other_rows = (
            np.array([x.shown.row_of[label] for label in common])
            for x in (first, other)
        )
        self.work: Work[dict[str, Any]] = Work(self._compare, len(common), other.tell)

    def _compare(self, progress: Progress) -> dict[str, Any]:
        """Lay the other embedding on the map, and compare neighbours."""
        wanted = self.first.map.wait().places[self.rows]
        units = [
            np.asarray(self.first.shown.unit_vectors[self.rows], np.float32),
            np.asarray(self.other.shown.unit_vectors[self.other_rows], np.float32),
        ]
        near = partial(progress, "finding neighbours")
        tables = [Search(x).neighbour_table(progress=near) for x in units]
        progress("placing labels on the second map", 0, len(self.rows))
        start = beside_neighbours(wanted, tables[1].rows)
        layout = lay_out(units[1], table=tables[1], start=start)
        # Turned and mirrored like the first map, and as wide: the best scale in the
        # mean square would shrink the places the more, the less they agree.
        _, turned, disagreement = procrustes(wanted, layout.places)
        middle = wanted.mean(axis=0)
        size = np.linalg.norm(wanted - middle) / np.linalg.norm(turned)
        own, others = (x.rows[:, :K] for x in tables)
        kept = (own[:, :, None] == others[:, None, :]).any(axis=2)
        moved = 1 - kept.mean(axis=1)
        at = np.full((len(self.first.shown), 3), np.nan)
        at[self.rows] = np.column_stack([size * turned + middle, moved])
        x, y, lost = (packed(column, "f4") for column in at.T)
        return {
            "title": self.title,
            "x": x,
            "y": y,
            "moved": lost,
            "mean": float(moved.mean()),
            "agreement": 1 - float(disagreement),
        }


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
    middle = np.median(places[neighbours[:, :N_NEAR]], axis=1)
    away = np.linalg.norm(places - middle, axis=1, keepdims=True)
    return np.where(away > FAR * np.median(away), middle, places)
