"""Data of the interactive map, compact enough for a page with 82,115 labels."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.report.hierarchy_branches import Branches, hierarchy_of
from phcle.report.map_layout import Layout
from phcle.report.map_regions import attribute_regions, group_regions, node_regions
from phcle.report.section_data import known_in

Colouring = dict[str, Any]

BRANCH, CLUSTER = "branch", "cluster"
"""Titles of the colourings whose groups are parts of the map."""

MOST_GROUPS = 20
"""Groups with a colour of their own; the rest is "other"."""


def map_data(
    embedding: LabelEmbedding, layout: Layout, chosen: Sequence[Colouring]
) -> dict[str, Any]:
    """Pack a map for `web/static/map.js`: arrays as texts, names and ids as lists.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their names.
    layout : Layout
        Their places and neighbours.
    chosen : sequence of dict
        Colourings that a reader can choose from, as `colourings` returns them.

    Returns
    -------
    dict
        Values for JSON, those of `MapData`.
    """
    names = [embedding.name_of(label) for label in embedding.labels]
    labels = list(embedding.labels)
    places = layout.places
    regions = [
        region
        for each in chosen
        if each["title"] in (BRANCH, CLUSTER)
        for region in group_regions(
            each["title"], each["groups"], each["codes"], places
        )
    ]
    hierarchy = hierarchy_of(embedding)
    if hierarchy is not None:
        regions += node_regions(embedding, hierarchy[1], places)
    else:
        regions += attribute_regions(embedding, places)
    return {
        "names": names,
        "labels": None if names == labels else labels,
        "x": packed(places[:, 0], "f4"),
        "y": packed(places[:, 1], "f4"),
        "neighbours": packed(
            layout.neighbours, "u2" if len(names) <= 1 << 16 else "u4"
        ),
        "colourings": [
            {
                key: packed(value, "u1" if key == "codes" else "f4")
                if isinstance(value, np.ndarray)
                else value
                for key, value in each.items()
            }
            for each in chosen
        ],
        "regions": [region.to_dict() for region in regions],
    }


def colourings(embedding: LabelEmbedding, branches: Branches | None) -> list[Colouring]:
    """Return the ways to colour labels: by branch, and by the contexts that know them.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels.
    branches : Branches or None
        Branches of a hierarchy, if there is one.

    Returns
    -------
    list of dict
        For each way its title, and either the names of its groups (the last one
        "other") and the group of each label as a number, or values, low and high.
    """
    found: list[Colouring] = []
    if branches is not None:
        groups = [*map(embedding.name_of, branches.nodes), "other"]
        found.append({"title": BRANCH, "groups": groups, "codes": branches.codes})
    known = known_in(embedding)
    found.append(_by_contexts(embedding, known))
    if len(embedding.contexts) > 1:
        n_known = known.sum(axis=1).astype(np.float32)
        ends = {"low": 0.0, "high": float(len(embedding.contexts))}
        found.append({"title": "contexts known", "values": n_known, **ends})
    return found


def packed(values: npt.ArrayLike, kind: str) -> str:
    """Write an array as text: its type, a colon and base64.

    Parameters
    ----------
    values : array
        The numbers.
    kind : {"f4", "u4", "u2", "u1"}
        The type to write: floats or unsigned integers, and the number of bytes.

    Returns
    -------
    str
        The text, which `web/static/map.js` reads.

    Examples
    --------
    >>> packed([1, 2], "u2")
    'u2:AQACAA=='
    """
    array = np.ascontiguousarray(values, f"<{kind}")
    return f"{kind}:{base64.b64encode(array.tobytes()).decode()}"


def _by_contexts(embedding: LabelEmbedding, known: npt.NDArray[np.bool_]) -> Colouring:
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
