"""The data of the map: names, places, groups to colour by, and names of its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from phcle.atlas.columns import packed
from phcle.atlas.layout import SKETCH
from phcle.atlas.opened import Opened
from phcle.atlas.regions import group_regions, node_regions, part_regions

N_NEAR = 8
"""Neighbours of each label that are sent with the map."""

BRANCH, CLUSTER = "branch", "cluster"
"""Titles of the colourings, whose groups are parts of the map."""


def map_values(opened: Opened) -> dict[str, Any]:
    """Collect what the map shows.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding, found, places = opened.shown, opened.map.result, opened.places
    every = groupings(opened)
    regions = [x for each in every for x in group_regions(each, places)]
    _, tree = opened.taxonomy
    if tree.nodes:
        regions += node_regions(embedding, tree, places)
    else:
        regions += part_regions(embedding, places)
    names = [embedding.name_of(label) for label in embedding.labels]
    labels = list(embedding.labels)
    near = np.zeros((len(names), 0)) if found is None else found.table.rows[:, :N_NEAR]
    return {
        "names": names,
        "labels": None if names == labels else labels,
        "rows": None if opened.rows is None else packed(opened.rows, "u4"),
        "x": packed(places[:, 0], "f4"),
        "y": packed(places[:, 1], "f4"),
        "neighbours": packed(near, "u2" if len(names) <= 1 << 16 else "u4"),
        "colourings": [
            {**each, "codes": packed(each["codes"], "u1")} for each in every
        ],
        "regions": regions,
        "method": f"{SKETCH}, until a better map is ready"
        if found is None
        else found.method,
        "ready": found is not None,
    }


def groupings(opened: Opened) -> list[dict[str, Any]]:
    """Ways to colour labels: by branch, and by cluster; the page adds others.

    Each has the names of its groups, the last one "other", and the group of each label
    as a number.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    list of dict
        Title, groups and codes of each, and the nodes of branches.
    """
    embedding, branches, prepared = opened.shown, opened.branches, opened.map.result
    found: list[dict[str, Any]] = []
    if branches.nodes:
        groups = [*map(embedding.name_of, branches.nodes), "other"]
        more = {"nodes": list(branches.nodes), "codes": branches.codes}
        found.append({"title": BRANCH, "groups": groups, **more})
    if prepared is not None:
        groups = [*prepared.cluster_names, "other"]
        found.append({"title": CLUSTER, "groups": groups, "codes": prepared.clusters})
    return found
