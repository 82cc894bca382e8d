"""What the page shows about the embedding, a label, a few labels, or a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from phcle import __version__
from phcle.answers import Answer, Cell
from phcle.atlas.opened import Opened, named
from phcle.atlas.shared import shared_by, typical_first
from phcle.embedding.columns import Reading
from phcle.embedding.complete import completed_cells
from phcle.embedding.describe import describe, how_sure, table_called
from phcle.embedding.summary import summarise
from phcle.embedding.suspicious import suspicious_cells
from phcle.errors import OptionError

MOST_COMPARED = 8

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

CELL = tuple(
    x.name
    for x in fields(Cell)
    if x.name not in ("label", "name", "draw", "expected", "chance")
)
"""What is said of each cell of a label."""


def plain(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Convert answers to values for JSON.

    Parameters
    ----------
    answers : sequence of Answer
        The answers.

    Returns
    -------
    list of dict
        The values.
    """
    return [x.to_dict() for x in answers]


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
        "on_map": len(opened.shown),
        "is_whole": opened.rows is None,
        "hierarchy": None if opened.taxonomy is None else opened.taxonomy[0],
        "attributes": [
            {"context": x.name, "sort": x.value_kind, "columns": len(x.columns)}
            for x in embedding.predicting
        ],
        "explains": bool(embedding.contexts),
        "is_predicted": bool(embedding.predictions),
        **summarise(embedding).to_dict(),
        "history": [
            {"sweep": i, "objective": x.get("objective"), "gap": x.get("gap")}
            for i, x in enumerate(embedding.history, 1)
        ],
    }


def rows_of_labels(
    opened: Opened, labels: Sequence[str]
) -> Iterator[list[dict[str, Any]]]:
    """Find the row of each label in the tables: known and predicted cells.

    Parameters
    ----------
    opened : Opened
        The embedding.
    labels : sequence of str
        Ids of labels.

    Yields
    ------
    list of dict
        The cells of a label, in the order of the tables; those that are neither known
        nor predicted are left out. Predicted ones have their reasons.
    """
    embedding = opened.embedding
    rows = np.array([embedding.row_of[label] for label in labels], dtype=np.int64)
    found: list[dict[tuple[str, str], Cell]] = [{} for _ in labels]
    for table in embedding.tables.values():
        own = [x for x in table.context.fields if x.kind != "tag"][:MOST_CELLS]
        if not own or not table.context.can_be_completed:
            continue
        read = table.read(rows)
        for field in own:
            column = read.column(field)
            for i in np.flatnonzero(column.has_value).tolist():
                cell = column.cell(i, labels[i], labels[i])
                found[i][cell.context, cell.column] = cell
        if table.context.weight <= 0:
            continue
        place = {label: i for i, label in enumerate(labels)}
        for cell in completed_cells(
            embedding,
            labels=labels,
            contexts=[table.context.name],
            columns=[field.title for field in own],
            probabilities=True,
        ):
            if cell.value is not None:
                found[place[cell.label]][cell.context, cell.column] = cell
    for cells in found:
        yield [{key: getattr(x, key) for key in CELL} for x in cells.values()]


def label_page(
    opened: Opened, text: str, cells: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Collect all that the page of a label shows.

    Parameters
    ----------
    opened : Opened
        The embedding.
    text : str
        A label's id or its readable name.
    cells : list of dict, optional
        Its row in the tables, if it is known already.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding = opened.embedding
    label = embedding.resolve(text)
    (found,) = embedding.neighbours([label], N_NEIGHBOURS)
    observed: Sequence[Answer] = ()
    predicted: Sequence[Answer] = ()
    not_predictable: Sequence[str] = ()
    if any(x.value_kind != "numbers" for x in embedding.predicting):
        described = describe(embedding, label, N_ATTRIBUTES, has_related=False)
        observed, predicted = described.observed, described.predicted
        not_predictable = described.not_predictable
    if cells is None:
        (cells,) = rows_of_labels(opened, [label])
    return {
        **named(opened, label),
        "row": embedding.row_of[label],
        "place": None
        if label in opened.shown
        else opened.places_of([label])[0].tolist(),
        "neighbours": plain(found.neighbours),
        "observed": plain(observed),
        "predicted": plain(predicted),
        "not_predictable": list(not_predictable),
        "cells": cells,
        "contexts": [
            {"context": x.name, "kind": x.kind, "known": x.knows(label)}
            for x in embedding.contexts
        ],
        "taxonomy": _place_in_taxonomy(opened, label),
        "explains": bool(embedding.contexts),
    }


def _place_in_taxonomy(opened: Opened, label: str) -> dict[str, Any] | None:
    """Find the path from a root down to the label, and its relatives."""
    if opened.taxonomy is None or label not in opened.taxonomy[1].index:
        return None
    context, tree = opened.taxonomy
    parents = tree.parents_of(label)
    siblings = dict.fromkeys(x for p in parents for x in tree.children_of(p))
    siblings.pop(label, None)
    children = tree.children_of(label)
    return {
        "context": context,
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


def comparison(opened: Opened, texts: Sequence[str]) -> dict[str, Any]:
    """Compare a few labels: similarities, common ancestors, attributes side by side.

    Parameters
    ----------
    opened : Opened
        The embedding.
    texts : sequence of str
        Ids or readable names; from two to eight different labels.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding = opened.embedding
    chosen = list(dict.fromkeys(map(embedding.resolve, texts)))
    if not 2 <= len(chosen) <= MOST_COMPARED:
        raise OptionError(
            f"from 2 to {MOST_COMPARED} different labels can be compared. "
            f"Got {len(chosen)}."
        )
    rows = [embedding.row_of[label] for label in chosen]
    units = np.asarray(embedding.unit_vectors[rows], np.float64)
    cosines = np.clip(units @ units.T, -1, 1).tolist()
    return {
        "labels": [named(opened, x) for x in chosen],
        "similarities": cosines,
        "percentiles": [list(map(embedding.percentile_of, row)) for row in cosines],
        "ancestors": _shared_ancestors(opened, chosen),
        "attributes": _compared_attributes(opened, chosen),
        "contexts": [
            {"context": x.name, "kind": x.kind, "known": list(map(x.knows, chosen))}
            for x in embedding.contexts
        ],
        "explains": bool(embedding.contexts),
    }


def _shared_ancestors(opened: Opened, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Nodes above all labels but not above most others, the most specific first."""
    nodes = opened.specific_nodes
    return [] if nodes is None else _nodes(opened, nodes.above_all(labels))


def _compared_attributes(opened: Opened, labels: Sequence[str]) -> list[dict[str, Any]]:
    """The strongest attributes of any of the labels, with the values of each."""
    embedding = opened.embedding
    strengths: dict[tuple[str, str], float] = {}
    for label in labels:
        described = describe(embedding, label, N_ATTRIBUTES, has_related=False)
        for x in (*described.observed, *described.predicted):
            key = (x.context, x.name)
            strengths[key] = max(strengths.get(key, 0.0), x.strength)
    rows = np.array([embedding.row_of[label] for label in labels])
    readings = {
        name: table_called(embedding, name).read(rows)
        for name in dict.fromkeys(name for name, _ in strengths)
    }
    found = []
    for (name, column), strength in strengths.items():
        read = readings[name]
        at = read.context.columns.index(column)
        found.append(
            {
                "context": name,
                "name": column,
                "strength": strength,
                "cells": [_compared_cell(read, i, at) for i in range(len(labels))],
                "is_number": bool(read.context.is_number[at]),
            }
        )
    return sorted(found, key=lambda row: -row["strength"])


def _compared_cell(read: Reading, row: int, column: int) -> dict[str, Any]:
    """A known value, a predicted number, or the probability of another value."""
    known, said = (float(x[row, column]) for x in (read.known, read.values))
    is_observed, is_number = not np.isnan(known), bool(read.context.is_number[column])
    value = confidence = low = high = None
    if is_observed:
        value = known
    elif not np.isnan(said):
        value = said if is_number else None
        confidence, low, high = how_sure(read, row, column)
    return {
        "value": value,
        "observed": is_observed,
        "confidence": confidence,
        "low": low,
        "high": high,
    }


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
        Its place, labels, what they share and what is odd.
    """
    node = opened.node_called(text)
    assert opened.taxonomy is not None
    context, tree = opened.taxonomy
    rows = opened.rows_below(node)
    children = [(x, len(opened.rows_below(x))) for x in tree.children_of(node)]
    children.sort(key=lambda x: -x[1])
    shown = children[:MOST_CHILDREN]
    order = typical_first(opened, rows)[1][:MOST_LABELS] if len(rows) else rows
    labels = [opened.embedding.labels[i] for i in rows[order].tolist()]
    return {
        **_nodes(opened, [node])[0],
        "context": context,
        "path": _nodes(opened, tree.path_to(node)),
        "parents": _nodes(opened, tree.parents_of(node)),
        "children": [
            {**child, "n_labels": n}
            for child, (_, n) in zip(
                _nodes(opened, [x for x, _ in shown]), shown, strict=True
            )
        ],
        "n_children": len(children),
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
    return {"message": "", "cells": plain(found)}


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
    nodes: list[dict[str, Any]] = []
    if opened.taxonomy is not None:
        tree = opened.taxonomy[1]
        ids = [tree.nodes[i] for i in opened.nodes.suggest(typed, limit)]
        nodes = [
            {**x, "above": list(map(embedding.name_of, tree.parents_of(x["node"])))}
            for x in _nodes(opened, ids)
        ]
    labels = [{**named(opened, embedding.labels[i]), "row": i} for i in rows]
    return {"typed": typed, "labels": labels, "nodes": nodes}
