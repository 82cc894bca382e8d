"""Data of the interactive map, compact enough for a page with 82,115 labels."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.report.hierarchy_branches import Branches
from phcle.report.map_layout import Layout
from phcle.report.section_data import known_in

__all__ = ["colourings", "map_data"]

Colouring = dict[str, Any]

MOST_GROUPS = 7
"""Groups with a colour of their own; the rest is "other"."""


def map_data(
    embedding: LabelEmbedding, layout: Layout, chosen: Sequence[Colouring]
) -> dict[str, Any]:
    """Pack a map for `web/static/map.js`: arrays as base64, names and ids as lists.

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
        Values for JSON.
    """
    names = [embedding.name_of(label) for label in embedding.labels]
    labels = list(embedding.labels)
    return {
        "names": names,
        "labels": None if names == labels else labels,
        "x": _packed(layout.places[:, 0], "<f4"),
        "y": _packed(layout.places[:, 1], "<f4"),
        "neighbours": _packed(layout.neighbours, "<u4"),
        "colourings": [
            {**each, "codes": _packed(each["codes"], "u1")} for each in chosen
        ],
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
        For each way its title, the names of its groups (the last one "other"), and the
        group of each label as a number.
    """
    found = []
    if branches is not None:
        groups = [*map(embedding.name_of, branches.nodes), "other"]
        found.append({"title": "branch", "groups": groups, "codes": branches.codes})
    found.append(_by_contexts(embedding))
    return found


def _by_contexts(embedding: LabelEmbedding) -> Colouring:
    """Group labels by the set of contexts that know them."""
    known = known_in(embedding)
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


def _packed(values: npt.ArrayLike, kind: str) -> str:
    """An array of this type as base64."""
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
