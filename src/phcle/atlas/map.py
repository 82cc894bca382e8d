"""The data of the map: names, places, groups to colour by, and names of its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from phcle.arrays import Flags
from phcle.atlas.columns import packed
from phcle.atlas.layout import SKETCH
from phcle.atlas.opened import Opened, known_in
from phcle.atlas.regions import (
    group_regions,
    hierarchy_of,
    node_regions,
    part_regions,
)
from phcle.embedding.label_embedding import LabelEmbedding

N_NEAR = 8
"""Neighbours of each label that are sent with the map."""

BRANCH, CLUSTER = "branch", "cluster"
"""Titles of the colourings whose groups are parts of the map."""

MOST_GROUPS = 20
"""Groups with a colour of their own; the rest is "other"."""


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
    groupings = _groupings(opened)
    regions = [
        region
        for each in groupings
        if each["title"] in (BRANCH, CLUSTER)
        for region in group_regions(
            each["title"], each["groups"], each["codes"], places
        )
    ]
    hierarchy = hierarchy_of(embedding)
    if hierarchy is not None:
        regions += node_regions(embedding, hierarchy[1], places)
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
            {**each, "codes": packed(each["codes"], "u1")}
            if "codes" in each
            else {**each, "values": packed(each["values"], "f4")}
            for each in groupings
        ],
        "regions": [vars(region) for region in regions],
        "method": f"{SKETCH}, until a better map is ready"
        if found is None
        else found.method,
        "ready": found is not None,
    }


def _groupings(opened: Opened) -> list[dict[str, Any]]:
    """Ways to colour labels: by branch, by cluster, by the contexts that know them.

    Each has either the names of its groups, the last one "other", and the group of
    each label as a number; or values, low and high.
    """
    embedding, branches, prepared = opened.shown, opened.branches, opened.map.result
    found: list[dict[str, Any]] = []
    if branches is not None:
        groups = [*map(embedding.name_of, branches.nodes), "other"]
        more = {"nodes": list(branches.nodes), "codes": branches.codes}
        found.append({"title": BRANCH, "groups": groups, **more})
    if prepared is not None:
        groups = [*prepared.cluster_names, "other"]
        found.append({"title": CLUSTER, "groups": groups, "codes": prepared.clusters})
    known = known_in(embedding)
    found.append(_by_contexts(embedding, known))
    if len(embedding.contexts) > 1:
        values = known.sum(axis=1).astype(np.float32)
        ends = {"low": 0.0, "high": float(len(embedding.contexts))}
        found.append({"title": "contexts known", "values": values, **ends})
    return found


def _by_contexts(embedding: LabelEmbedding, known: Flags) -> dict[str, Any]:
    """Group labels by the set of contexts that know them."""
    sets, codes, counts = np.unique(
        known, axis=0, return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
    rank = np.full(len(sets), len(order))
    rank[order] = np.arange(len(order))
    names = [context.name for context in embedding.contexts]
    groups = [
        " + ".join(x for x, has in zip(names, sets[i], strict=True) if has)
        or "no context"
        for i in order
    ]
    return {
        "title": "known in",
        "groups": [*groups, "other"],
        "codes": rank[codes.reshape(-1)],
    }
