"""The data of the map, coloured by branch, contexts, cluster or any attribute."""

from __future__ import annotations

import base64
import json
import threading

import numpy as np

from phcle.answers import Colouring, MapData, MapGroups, Shade
from phcle.explorer.stored_content import StoredContent
from phcle.explorer.workspace import Opened
from phcle.report.map_data import colourings, map_data
from phcle.report.map_layout import Layout
from phcle.uses.attribute_search import attribute_column, descriptive_context

__all__ = ["MapFile", "attribute_colouring", "map_json"]

N_NEAR = 5
"""Neighbours of each label that are sent with the map."""

# Observed is solid, predicted is faint.
TAG_SHADES: tuple[Shade, ...] = (
    Shade(5, False),
    Shade(5, True),
    Shade(None, False),
    Shade(None, True),
)
THIRD_SHADES = tuple(Shade(i, faint) for i in (5, 1, 4) for faint in (False, True))


class MapFile:
    """The map as JSON: a first sketch, and the final map once it is computed.

    Parameters
    ----------
    opened : Opened
        The embedding.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._kept: dict[bool, StoredContent] = {}
        self._lock = threading.Lock()

    def content(self) -> StoredContent:
        """Get the map as it is now; each version is made and compressed once.

        Returns
        -------
        StoredContent
            JSON.
        """
        is_ready = self._opened.background.result is not None
        with self._lock:
            if is_ready not in self._kept:
                made = StoredContent(map_json(self._opened), "application/json")
                _ = made.compressed
                self._kept = {is_ready: made}  # the sketch is not asked for again
            return self._kept[is_ready]


def map_json(opened: Opened) -> bytes:
    """Make the JSON of the map.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    bytes
        A `MapData`.
    """
    found = opened.background.result
    ways = colourings(opened.embedding, opened.branches)
    if found is None:
        near = np.zeros((len(opened.embedding), 0), np.int64)
        method = "principal components, until a better map is ready"
    else:
        near, method = found.table.rows[:, :N_NEAR].astype(np.int64), found.method
        ways.append(
            {
                "title": "cluster",
                "groups": [*found.cluster_names, "other"],
                "codes": found.clusters,
            }
        )
    layout = Layout(opened.places, near, method)
    data = map_data(opened.embedding, layout, ways)
    groups = tuple(MapGroups(**each) for each in data.pop("colourings"))
    whole = MapData(
        **data, colourings=groups, method=method, ready=found is not None
    ).to_dict()
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def attribute_colouring(opened: Opened, context: str, column: str) -> Colouring:
    """Colour labels by one attribute, observed or predicted.

    Parameters
    ----------
    opened : Opened
        The embedding.
    context, column : str
        The attribute.

    Returns
    -------
    Colouring
        Groups of labels and their colours: has it or lacks it for tags, thirds of the
        observed values for numbers.
    """
    own = descriptive_context(opened.embedding, context)
    found = attribute_column(
        opened.embedding, context, column, support=opened.support(own)
    )
    known = found.value[found.is_observed]
    if (own.data is not None and own.data.is_sparse) or np.isin(known, (0, 1)).all():
        groups = ["has it", "probably has it", "has it not", "unknown"]
        shades = TAG_SHADES
        codes = np.where(found.is_confident, 1, 3)
        codes[found.is_observed] = np.where(found.chance[found.is_observed] > 0.5, 0, 2)
    else:
        low, high = np.quantile(known, [1 / 3, 2 / 3])
        names = (f"above {high:.3g}", "between", f"below {low:.3g}")
        groups = [name for x in names for name in (x, f"{x}, predicted")]
        shades = THIRD_SHADES
        third = np.where(found.value > high, 0, np.where(found.value < low, 2, 1))
        codes = 2 * third + ~found.is_observed
    return Colouring(
        f"{context}: {column}",
        tuple(groups),
        base64.b64encode(codes.astype(np.uint8).tobytes()).decode(),
        shades,
    )
