"""What the interactive map needs, small enough for a page with 82,115 labels."""

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


def map_data(
    embedding: LabelEmbedding, layout: Layout, chosen: Sequence[Colouring]
) -> dict[str, Any]:
    """Arrays as base64, names and ids as lists; `web/static/map.js` reads it."""
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
    """Ways to colour the labels: groups, the last one "other", and a code per label."""
    found = []
    if branches is not None:
        groups = [*map(embedding.name_of, branches.nodes), "other"]
        found.append({"title": "branch", "groups": groups, "codes": branches.codes})
    found.append(_by_contexts(embedding))
    return found


def _by_contexts(embedding: LabelEmbedding) -> Colouring:
    """Labels by the set of contexts that know them."""
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
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
