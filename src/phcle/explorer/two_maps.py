"""Two embeddings on two maps: the second is laid on the first, label on label.

The layouts of two embeddings are computed one by one, so one may be turned, mirrored
or larger than the other. Procrustes analysis removes that. What then still lies at
another place has moved.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.answers import Answer, MapData
from phcle.explorer.background_work import NotReady
from phcle.explorer.map_colours import map_values
from phcle.explorer.stored_content import StoredContent
from phcle.explorer.workspace import Workspace
from phcle.report.map_data import packed

__all__ = ["Alignment", "TwoMaps", "TwoMapsFile", "align", "two_maps_json"]

Floats = npt.NDArray[np.float64]

NOT_COMPARED = 255
"""Stands for a label that only one embedding has; other labels have at most ten
changed neighbours."""


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
    """

    one: MapData
    other: MapData
    titles: tuple[str, str]
    k: int
    changed: str
    agreement: float


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


class TwoMapsFile:
    """The two maps as JSON, made and compressed once.

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
        """Get the maps; raises NotReady while neighbours are being computed.

        Returns
        -------
        StoredContent
            JSON.
        """
        with self._lock:
            if self._content is None:
                made = two_maps_json(self._workspace)
                self._content = StoredContent(made, "application/json")
                _ = self._content.compressed
            return self._content


def two_maps_json(workspace: Workspace) -> bytes:
    """Make the JSON of the two maps.

    Parameters
    ----------
    workspace : Workspace
        The embeddings.

    Returns
    -------
    bytes
        A `TwoMaps`.

    Raises
    ------
    NotReady
        If the neighbours of an embedding are still being computed.
    """
    found = workspace.differences()
    if found is None:
        raise NotReady("the neighbours of both embeddings are being computed.")
    sides = workspace.opened.on_map, workspace.compared.on_map
    rows = [{label: i for i, label in enumerate(x.embedding.labels)} for x in sides]
    first, second = ([own[label] for label in found.labels] for own in rows)
    alignment = align(sides[1].places[second], sides[0].places[first])
    places = [sides[0].places, alignment.apply(sides[1].places)]
    # The map needs places from −1 to 1; a turned square may reach beyond.
    reach = max(1.0, *(float(np.abs(x).max(initial=0)) for x in places))
    one, other = (
        map_values(side, np.asarray(x / reach, np.float32))
        for side, x in zip(sides, places, strict=True)
    )
    changed = np.full(len(rows[0]), NOT_COMPARED)
    changed[first] = np.rint(found.k * (1 - found.shared))
    whole = {
        "one": one,
        "other": other,
        "titles": [side.title for side in sides],
        "k": found.k,
        "changed": packed(changed, "u1"),
        "agreement": alignment.agreement,
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
