"""Answers as plain dictionaries, which JSON, tables and pages render alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from phcle.contexts.base import FittedContext
    from phcle.embedding import LabelEmbedding
    from phcle.uses.neighbour_search import Neighbours
    from phcle.uses.neighbour_table import StoredNeighbours

__all__ = [
    "added",
    "description",
    "explanation",
    "named",
    "nearest_labels",
    "nearest_to_all",
    "neighbours",
    "summary",
    "understood",
]

Answer = dict[str, Any]


def nearest_labels(
    embedding: LabelEmbedding,
    label: str,
    k: int,
    *,
    search: StoredNeighbours | None = None,
) -> Answer:
    """Neighbours of a label, best first; `search` may have them ready."""
    near = (search or embedding).nearest(label, k=k)
    head = named(embedding, embedding.resolve(label))
    return {**head, "neighbours": neighbours(embedding, near)}


def nearest_to_all(
    search: Neighbours,
    labels: Sequence[str],
    vectors: Mapping[str, npt.ArrayLike],
    k: int,
    among: Sequence[str] | None,
) -> list[Answer]:
    """Neighbours of labels and of named vectors, which have no label."""
    embedding = search.embedding
    found = search.nearest_many([*labels, *vectors.values()], k, among=among)
    heads = [named(embedding, embedding.resolve(label)) for label in labels]
    heads += [{"label": None, "name": name} for name in vectors]
    return [
        {**head, "neighbours": neighbours(embedding, near)}
        for head, near in zip(heads, found, strict=True)
    ]


def description(embedding: LabelEmbedding, label: str, k: int) -> Answer:
    """Related labels, and known and predicted attributes."""
    found = embedding.describe(label, k=k).to_dict()
    related = [
        {**named(embedding, x["label"]), "share": x["share"]} for x in found["related"]
    ]
    return {**named(embedding, found["label"]), **found, "related": related}


def explanation(embedding: LabelEmbedding, a: str, b: str, k: int) -> Answer:
    """What two labels share, context by context, with readable nodes."""
    found = embedding.explain(a, b, k=k).to_dict()
    parts = [
        {
            **part,
            "columns": [
                {
                    "column": column["name"],
                    "name": embedding.name_of(column["name"]),
                    "part": column["part"],
                }
                for column in part["columns"]
            ],
            "shared": [
                {"node": node, "name": embedding.name_of(node)}
                for node in part["shared"]
            ],
        }
        for part in found["parts"]
    ]
    ends = {end: named(embedding, found[end]) for end in ("a", "b")}
    return {**found, **ends, "parts": parts}


def understood(embedding: LabelEmbedding, title: str, found: Answer) -> Answer:
    """A picture in related labels and attributes, with readable names."""
    related = [
        {**named(embedding, x["label"]), "share": x["share"]} for x in found["related"]
    ]
    return {"picture": title, **found, "related": related}


def summary(embedding: LabelEmbedding) -> Answer:
    """What an embedding holds and how it was learned."""
    from phcle.embedding.storage import VERSION

    last = embedding.history[-1] if embedding.history else {}
    return {
        "labels": len(embedding),
        "dim": embedding.dim,
        "contexts": [
            {
                "name": context.name,
                "kind": context.kind,
                "labels": len(context.observed_labels),
                "coverage": len(context.observed_labels) / max(len(embedding), 1),
                "columns": len(context.columns),
                "weight": context.weight,
                "hierarchy": _recipe(context),
            }
            for context in embedding.contexts
        ],
        # The last record is the closing solve for the labels, not a sweep.
        "sweeps": max(len(embedding.history) - 1, 0),
        "objective": last.get("objective"),
        "seed": embedding.options.get("random_state"),
        "options": dict(embedding.options),
        "versions": dict(embedding.versions),
        "run": dict(embedding.origin.get("run", {})),
        "files": list(embedding.origin.get("files", ())),
        "format_version": VERSION,
    }


def _recipe(context: FittedContext) -> Answer | None:
    """How a hierarchy was counted; None for any other context."""
    recipe = getattr(context.data, "hierarchy", None)
    if recipe is None:
        return None
    keys = ("kind", "decay", "radius", "random_state")
    return {key: getattr(recipe, key) for key in keys}


def added(whole: LabelEmbedding, labels: Iterable[str], k: int) -> list[Answer]:
    """Neighbours of labels that were added, in the embedding that has them."""
    return [nearest_labels(whole, label, k) for label in labels]


def neighbours(
    embedding: LabelEmbedding, near: Iterable[tuple[str, float]]
) -> list[Answer]:
    """Labels with their names and similarities."""
    return [{**named(embedding, x), "similarity": cosine} for x, cosine in near]


def named(embedding: LabelEmbedding, label: str) -> Answer:
    """A label, or a node of its hierarchy, and its readable name."""
    return {"label": label, "name": embedding.name_of(label)}
