"""Ways to colour the map: branches, contexts, clusters, and any attribute."""

from __future__ import annotations

import base64
import json
import threading
from typing import Any

import numpy as np

from phcle.explorer.workspace import Opened
from phcle.report.map_data import colourings, map_data
from phcle.report.map_layout import Layout
from phcle.uses.attribute_search import attribute_column, descriptive_context

__all__ = ["MapFile", "attribute_colouring", "map_json"]

N_NEAR = 5
"""Neighbours that the map names for a label by itself."""

Colouring = dict[str, Any]
Shades = list[tuple[int | None, bool]]

# (colour, is faint); no colour is grey. Observed is solid, predicted is faint.
TAG_SHADES: Shades = [(5, False), (5, True), (None, False), (None, True)]
THIRD_SHADES: Shades = [(i, faint) for i in (5, 1, 4) for faint in (False, True)]


class MapFile:
    """The map as JSON, made once as a sketch and once when all is prepared."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._kept: dict[bool, bytes] = {}
        self._lock = threading.Lock()

    def content(self) -> bytes:
        """What a browser needs to draw the map as it is now."""
        is_ready = self._opened.background.result is not None
        with self._lock:
            if is_ready not in self._kept:
                self._kept[is_ready] = map_json(self._opened)
            return self._kept[is_ready]


def map_json(opened: Opened) -> bytes:
    """All that the map needs, as JSON that is sent as it is."""
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
    whole = {**data, "method": method, "ready": found is not None}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def attribute_colouring(opened: Opened, context: str, column: str) -> Colouring:
    """Labels by one attribute, observed or predicted."""
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
    return {
        "title": f"{context}: {column}",
        "groups": groups,
        "shades": [
            {"colour": colour, "is_faint": is_faint} for colour, is_faint in shades
        ],
        "codes": base64.b64encode(codes.astype(np.uint8).tobytes()).decode(),
    }
