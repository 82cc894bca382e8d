"""Scripts, styles and templates that reports and the explorer share."""

from __future__ import annotations

__all__ = ["MAP_SCRIPTS"]

MAP_SCRIPTS = (
    "name_search.js",
    "map_paint.js",
    "map_view.js",
    "map_density.js",
    "map_colours.js",
    "map_names.js",
    "map_save.js",
    "map.js",
    "map_address.js",
)
"""The scripts of the map, in the order of loading; they need `elements.js` and
`combobox.js`, and no server."""
