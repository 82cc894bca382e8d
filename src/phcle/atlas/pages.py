"""What the page shows about the embedding, a label and its row, or a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from phcle import __version__
from phcle.answers import Cell, as_json
from phcle.atlas.opened import Opened, named
from phcle.atlas.shared import shared_by
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.complete import completed_cells
from phcle.embedding.describe import describe
from phcle.embedding.summary import summarise
from phcle.embedding.suspicious import suspicious_cells

N_NEIGHBOURS = 15

N_ATTRIBUTES = 12
"""Observed attributes, and predicted ones, that are listed."""

MOST_RELATIVES = 40
"""Children and siblings of a label that are listed."""

MOST_LABELS, MOST_CHILDREN = 60, 60
"""Labels and children of a node that are listed."""

MOST_CELLS = 60
"""Cells of one table that a label shows; the table of all labels has the others."""

MOST_SUSPICIOUS = 500

UNTOLD = ("label", "name", "draw", "expected", "chance")
"""What is not said of each cell of a label."""


def about(opened: Opened) -> dict[str, Any]:
    """Say what the embedding holds and what can be asked about it.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding = opened.embedding
    return {
        "title": opened.title,
        "version": __version__,
        "digest": opened.digest,
        "hierarchy": opened.taxonomy[0] or None,
        "attributes": [
            {"context": x.name, "sort": x.value_kind} for x in embedding.predicting
        ],
        "explains": bool(embedding.contexts),
        "is_predicted": bool(embedding.predictions),
        **summarise(embedding).to_dict(),
    }


def label_page(opened: Opened, text: str, among: Sequence[str] = ()) -> dict[str, Any]:
    """Say what is near a label, and what is above it.

    Parameters
    ----------
    opened : Opened
        The embedding.
    text : str
        A label's id or its readable name.
    among : sequence of str, optional
        Labels to compare it with. Default: the nearest ones.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding = opened.embedding
    label = embedding.resolve(text)
    (found,) = embedding.neighbours([label], N_NEIGHBOURS, among=among or None)
    row, place = embedding.row_of[label], None
    if label not in opened.shown:
        (place,) = opened.places_near(embedding.unit_vectors[[row]]).tolist()
    return {
        **as_json(found),
        "row": row,
        "place": place,
        "taxonomy": _place_in_taxonomy(opened, label),
    }


def _place_in_taxonomy(opened: Opened, label: str) -> dict[str, Any] | None:
    """Find the path from a root down to the label, and its relatives."""
    _, tree = opened.taxonomy
    if label not in tree.index:
        return None
    parents = tree.parents_of(label)
    siblings = dict.fromkeys(x for p in parents for x in tree.children_of(p))
    siblings.pop(label, None)
    children = tree.children_of(label)
    return {
        "path": _nodes(opened, tree.path_to(label)),
        "parents": _nodes(opened, parents),
        "children": _nodes(opened, children[:MOST_RELATIVES]),
        "n_children": len(children),
        "siblings": _nodes(opened, list(siblings)[:MOST_RELATIVES]),
        "n_siblings": len(siblings),
    }


def _nodes(opened: Opened, nodes: Sequence[str]) -> list[dict[str, Any]]:
    """Add readable names to nodes."""
    embedding = opened.embedding
    return [
        {"node": x, "name": embedding.name_of(x), "is_label": x in embedding}
        for x in nodes
    ]


def rows_of_labels(opened: Opened, labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Say what the tables know of labels, and what was predicted.

    Parameters
    ----------
    opened : Opened
        The embedding.
    labels : sequence of str
        Ids of labels.

    Yields
    ------
    dict
        Of each label the cells that are known or predicted, in the order of the tables,
        and the tags and words that stand out. Predicted cells have their reasons.
    """
    embedding = opened.embedding
    known = [x for x in embedding.predicting if _has_cells(x)]
    has_others = len(known) < len(embedding.predicting)
    cells = _cells_of(opened, labels, known)
    for label, own in zip(labels, cells, strict=True):
        parts: dict[str, Any] = {"observed": [], "predicted": [], "not_predictable": []}
        if has_others:
            found = describe(embedding, label, N_ATTRIBUTES, has_related=False)
            parts = {key: as_json(getattr(found, key)) for key in parts}
        yield {"cells": own, **parts}


def _has_cells(context: DescriptiveContext) -> bool:
    """Whether a context is a table of typed columns, and not of tags or words."""
    return context.can_be_completed and any(x.kind != "tag" for x in context.fields)


def _cells_of(
    opened: Opened, labels: Sequence[str], contexts: Sequence[DescriptiveContext]
) -> list[list[dict[str, Any]]]:
    """The cells of each label that are known or predicted."""
    embedding = opened.embedding
    rows = np.array([embedding.row_of[label] for label in labels], dtype=np.int64)
    found: dict[str, dict[tuple[str, str], Cell]] = {label: {} for label in labels}
    for context in contexts:
        read = embedding.tables[context.name].read(rows)
        for field in [x for x in context.fields if x.kind != "tag"][:MOST_CELLS]:
            column = read.column(field)
            for i, label in enumerate(labels):
                found[label][context.name, field.title] = column.cell(i, label, label)
    names = [context.name for context in contexts if context.weight > 0]
    gaps = completed_cells(embedding, labels=labels, contexts=names, probabilities=True)
    for cell in gaps:
        if (cell.context, cell.column) in found[cell.label]:
            found[cell.label][cell.context, cell.column] = cell
    return [
        [
            {key: value for key, value in vars(cell).items() if key not in UNTOLD}
            for cell in found[label].values()
            if cell.value is not None
        ]
        for label in labels
    ]


def node_page(opened: Opened, text: str) -> dict[str, Any]:
    """Collect all that the page of a node shows.

    Parameters
    ----------
    opened : Opened
        The embedding.
    text : str
        The node's id or its readable name.

    Returns
    -------
    dict
        Its place, its labels, the most typical first, and what they share.
    """
    node = opened.nodes.resolve(text)
    context, tree = opened.taxonomy
    rows = opened.rows_below(node)
    sizes = {x: len(opened.rows_below(x)) for x in tree.children_of(node)}
    largest = sorted(sizes, key=lambda x: -sizes[x])[:MOST_CHILDREN]
    children = _nodes(opened, largest)
    units = opened.embedding.unit_vectors[rows]
    typical = np.argsort(-(units @ units.sum(axis=0)), kind="stable")[:MOST_LABELS]
    labels = [opened.embedding.labels[i] for i in rows[typical].tolist()]
    return {
        **_nodes(opened, [node])[0],
        "context": context,
        "path": _nodes(opened, tree.path_to(node)),
        "children": [{**x, "n_labels": sizes[x["node"]]} for x in children],
        "n_children": len(sizes),
        "labels": [named(opened, x) for x in labels],
        "n_labels": len(rows),
        **shared_by(opened, rows),
    }


def suspicions(opened: Opened) -> dict[str, Any]:
    """Look up the known cells that are unlikely.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    dict
        The cells, the most suspicious first; none if the fit predicted no gaps.
    """
    if not opened.embedding.predictions:
        message = "The fit predicted no gaps, so no cell can be judged."
        return {"message": message, "cells": []}
    found = suspicious_cells(opened.embedding)[:MOST_SUSPICIOUS]
    return {"message": "", "cells": as_json(found)}


def found_for(opened: Opened, typed: str, limit: int) -> dict[str, Any]:
    """Suggest labels and nodes for what was typed, despite typing errors.

    Parameters
    ----------
    opened : Opened
        The embedding.
    typed : str
        What was typed so far.
    limit : int
        Number of suggestions of each kind, at most.

    Returns
    -------
    dict
        Labels and nodes, best first.
    """
    embedding = opened.embedding
    rows = embedding.called.suggest(typed, limit)
    _, tree = opened.taxonomy
    ids = [tree.nodes[i] for i in opened.nodes.suggest(typed, limit)]
    nodes = [
        {**x, "above": list(map(embedding.name_of, tree.parents_of(x["node"])))}
        for x in _nodes(opened, ids)
    ]
    labels = [named(opened, embedding.labels[i]) for i in rows]
    return {"labels": labels, "nodes": nodes}
