"""Two embeddings on two maps: the second is laid on the first, label on label.

The layout of an embedding may be turned, mirrored or larger than that of another;
Procrustes analysis removes that. It cannot bring back groups that t-SNE has put at
other places, so the second layout is computed once more, beginning at the places of the
first. What then still lies at another place has moved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.answers import Answer
from phcle.arrays import Floats
from phcle.errors import FileError, PhcleError
from phcle.explorer.answers import MapData, Progress
from phcle.explorer.assets import StoredContent, stored_json
from phcle.explorer.map_colours import map_values
from phcle.explorer.second_layout import SecondLayout, second_layout_file
from phcle.explorer.workspace import Workspace
from phcle.report.map_data import packed
from phcle.report.map_layout import lay_out

N_NEAR, FAR = 10, 5.0
"""A label begins between its nearest labels, so many, if it is this many times as far
from their middle as usual. Of 80 planted labels with new neighbours among 4,000, these
are 79, and no others."""

NOT_COMPARED = 255
"""Stands for a label that only one embedding has; other labels have at most ten
changed neighbours."""


class NotReady(PhcleError):
    """What was asked for is still being computed; ask again in a second."""


@dataclass(frozen=True)
class TwoMaps(Answer):
    """Two embeddings on two maps in the same coordinates.

    Attributes
    ----------
    one, other : MapData
        The maps.
    titles : tuple of two str
        Titles of the embeddings.
    k : int
        Number of nearest labels that were compared, among those that both have.
    changed : str
        How many of them changed, for each label of the first map, an array of "u1";
        255 where the other embedding lacks the label.
    agreement : float
        How well the places agree, from 0 to 1: the share of the places' variance that
        they have in common.
    ready : bool
        False for a first version, while a better second map is being computed.
    """

    one: MapData
    other: MapData
    titles: tuple[str, str]
    k: int
    changed: str
    agreement: float
    ready: bool


@dataclass(frozen=True, eq=False)
class Alignment:
    """Turns, perhaps mirrors, scales and shifts places in the plane.

    Attributes
    ----------
    turn : ndarray of shape (2, 2)
        The rotation or reflection, applied from the right.
    scale : float
        The factor.
    centre, new_centre : ndarray of shape (2,)
        A place before and after.
    agreement : float
        Share of the variance that the places have in common, from 0 to 1.
    """

    turn: Floats
    scale: float
    centre: Floats
    new_centre: Floats
    agreement: float

    def apply(self, places: npt.ArrayLike) -> Floats:
        """Move places.

        Parameters
        ----------
        places : array of shape (labels, 2)
            Places before.

        Returns
        -------
        ndarray of shape (labels, 2)
            Places after.
        """
        moved = (np.asarray(places, np.float64) - self.centre) @ self.turn
        return self.scale * moved + self.new_centre


def align(places: npt.ArrayLike, wanted: npt.ArrayLike) -> Alignment:
    """Find how to lay places on others, as near as possible in the mean square.

    Both get the same spread. The best scale in the mean square would shrink the places
    the more, the less they agree, down to one point.

    Parameters
    ----------
    places, wanted : arrays of shape (labels, 2)
        Places of the same labels.

    Returns
    -------
    Alignment
        Lays the first places on the second.

    Examples
    --------
    >>> places = np.array([[0.0, 0], [1, 0], [0, 2]])
    >>> found = align(places, [[5, 5], [5, 7], [1, 5]])
    >>> found.apply(places).round(6).tolist()
    [[5.0, 5.0], [5.0, 7.0], [1.0, 5.0]]
    """
    first, second = (np.asarray(x, np.float64) for x in (places, wanted))
    centre, new_centre = first.mean(axis=0), second.mean(axis=0)
    first, second = first - centre, second - new_centre
    left, strength, right = np.linalg.svd(first.T @ second)
    sizes = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    if 0.0 in sizes:  # all labels at one place: only a shift makes sense
        return Alignment(np.eye(2), 1.0, centre, new_centre, 0.0)
    agreement = float(strength.sum() / (sizes[0] * sizes[1])) ** 2
    scale = sizes[1] / sizes[0]
    return Alignment(left @ right, scale, centre, new_centre, min(agreement, 1.0))


def beside_neighbours(
    places: npt.ArrayLike, neighbours: npt.NDArray[np.integer]
) -> npt.NDArray[np.float32]:
    """Put labels that lie far from their nearest labels between these.

    t-SNE moves a label across a whole map in hundreds of iterations only.

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
    >>> places = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 9]]
    >>> near = np.array([[1, 2], [0, 3], [0, 3], [1, 2], [0, 1]])
    >>> beside_neighbours(places, near).tolist()[4]
    [0.0, 0.5]
    """
    found = np.array(places, dtype=np.float32)
    if neighbours.shape[1]:
        middle = np.median(found[neighbours[:, :N_NEAR]], axis=1)
        away = np.linalg.norm(found - middle, axis=1)
        is_far = away > FAR * np.median(away)
        found[is_far] = middle[is_far]
    return found


class TwoMapsFile:
    """The two maps as JSON: a first version, then one with a better second map.

    Parameters
    ----------
    workspace : Workspace
        The embeddings.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._content: StoredContent | None = None
        self._lock = threading.Lock()

    def content(self) -> StoredContent:
        """Get the maps as they are now; each version is made and compressed once.

        The first call starts the better version in a thread, unless it is stored.

        Returns
        -------
        StoredContent
            JSON.

        Raises
        ------
        NotReady
            If the neighbours of an embedding are still being computed.
        """
        with self._lock:
            if self._content is None:
                pair = _Pair(self._workspace)
                stored = pair.kept.load()
                is_ready = stored is not None
                places = pair.second.places if stored is None else stored
                self._content = stored_json(pair.values(places, ready=is_ready))
                self._tell(int(is_ready), 1, is_ready=is_ready)
                if not is_ready:
                    work = threading.Thread(target=self._improve, args=[pair])
                    work.daemon = True
                    work.start()
            return self._content

    def _improve(self, pair: _Pair) -> None:
        """Replace the first version and store it, or keep its places if that fails."""
        places, has_failed = pair.second.places, True
        try:
            places = pair.better_places(self._tell)
            has_failed = False
        finally:
            self._content = stored_json(pair.values(places, ready=True))
            self._tell(1, 1, is_ready=True, has_failed=has_failed)
        try:
            pair.kept.save(places)
        except FileError as error:
            pair.second.tell(f"{error} The second map will be computed again.")

    def _tell(
        self, done: int, total: int, *, is_ready: bool = False, has_failed: bool = False
    ) -> None:
        """Keep how far the second map is, for pages."""
        n = len(self._workspace.compared.on_map.embedding)
        stage = "done" if is_ready else "placing labels on the second map"
        self._workspace.second_map = Progress(
            is_ready, has_failed, stage, n * done // max(total, 1), n
        )


class _Pair:
    """Two embeddings whose neighbours are known, and the labels that both have."""

    def __init__(self, workspace: Workspace) -> None:
        found = workspace.differences()
        if found is None:
            raise NotReady("the neighbours of both embeddings are being computed.")
        self.differences = found
        self.first = workspace.opened.on_map
        self.second = workspace.compared.on_map
        shown = self.first.embedding, self.second.embedding
        first, second = (np.array([x.row_of[y] for y in found.labels]) for x in shown)
        self.rows = first, second
        file = self.second.file
        self.kept = SecondLayout(
            None if file is None else second_layout_file(file),
            self.second.embedding,
            self.first.embedding.labels,
            self.first.places,
        )

    def on_first(self, places: npt.ArrayLike) -> Alignment:
        """How places of the second embedding lie on those of the first."""
        own = np.asarray(places)[self.rows[1]]
        return align(own, self.first.places[self.rows[0]])

    def better_places(
        self, progress: Callable[[int, int], None]
    ) -> npt.NDArray[np.float32]:
        """Places of the second embedding by a layout that starts on the first map.

        From other starts, t-SNE puts the same groups at other places.
        """
        table = self.second.embedding.search.table
        aligned = self.on_first(self.second.places).apply(self.second.places)
        start = np.asarray(aligned, np.float32)
        start[self.rows[1]] = self.first.places[self.rows[0]]
        return lay_out(
            np.asarray(self.second.embedding.unit_vectors, np.float32),
            table=table,
            start=start if table is None else beside_neighbours(start, table.rows),
            progress=progress,
        ).places

    def values(self, places: npt.ArrayLike, *, ready: bool) -> dict[str, Any]:
        """The values of a `TwoMaps` with these places of the second embedding."""
        found = self.differences
        alignment = self.on_first(places)
        first, second = self.first.places, alignment.apply(places)
        # The map needs places from −1 to 1; a turned square may reach beyond.
        reach = max(1.0, float(np.abs(first).max()), float(np.abs(second).max()))
        one = map_values(self.first, np.asarray(first / reach, np.float32))
        other = map_values(self.second, np.asarray(second / reach, np.float32))
        changed = np.full(len(self.first.embedding), NOT_COMPARED)
        changed[self.rows[0]] = np.rint(found.k * (1 - found.shared))
        return {
            "one": one,
            "other": other,
            "titles": [self.first.title, self.second.title],
            "k": found.k,
            "changed": packed(changed, "u1"),
            "agreement": alignment.agreement,
            "ready": ready,
        }
