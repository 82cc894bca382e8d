"""Questions that pages ask, answered as dictionaries that HTML and JSON render alike.

What the command line answers too (`nearest`, `describe`, `explain`, `info`) comes from
`phcle.uses.named_answers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.embedding.describe import confidences
from phcle.errors import OptionError
from phcle.explorer.new_label import sort_of
from phcle.explorer.workspace import Opened, Workspace
from phcle.uses import named_answers as answers
from phcle.uses.attribute_search import Criterion, descriptive_context, find_labels

__all__ = [
    "comparison",
    "differences",
    "explanation",
    "fitting_labels",
    "found_attributes",
    "found_labels",
    "found_nodes",
    "info",
    "label_page",
    "nearest",
    "side_by_side",
]

Answer = dict[str, Any]

MOST_COMPARED = 8
N_ATTRIBUTES = 12
MOST_RELATIVES = 40
"""Children and siblings that are listed."""


def info(workspace: Workspace) -> Answer:
    """What the file holds, what can be asked of it, and what it is compared with."""
    opened = workspace.opened
    return {
        "title": opened.title,
        **answers.summary(opened.embedding),
        "hierarchy": None if opened.taxonomy is None else opened.taxonomy[0],
        "attributes": [
            {"context": c.name, "sort": sort_of(c), "columns": len(c.columns)}
            for c in opened.embedding.contexts
            if isinstance(c, FittedDescriptive) and c.readable
        ],
        "compared_with": None if workspace.other is None else workspace.other.title,
        "takes_features": workspace.image_map is not None,
        "takes_pictures": workspace.takes_pictures,
    }


def nearest(opened: Opened, label: str, k: int) -> Answer:
    """Neighbours of a label, best first."""
    return answers.nearest_labels(
        opened.embedding, opened.resolve(label), k, search=opened.neighbours
    )


def explanation(opened: Opened, a: str, b: str, k: int) -> Answer:
    """Why two labels are close."""
    return answers.explanation(
        opened.embedding, opened.resolve(a), opened.resolve(b), k
    )


def label_page(opened: Opened, label: str, k: int) -> Answer:
    """All there is to say about a label."""
    embedding = opened.embedding
    label = opened.resolve(label)
    described = answers.description(embedding, label, N_ATTRIBUTES)
    known = described["contexts"]
    return {
        **nearest(opened, label, k),
        "observed": described["observed"],
        "predicted": described["predicted"],
        "untold": described["untold"],
        "contexts": [
            {"context": c.name, "kind": c.kind, "known": known[c.name]}
            for c in embedding.contexts
        ],
        "taxonomy": _place_in_taxonomy(opened, label),
        "explains": bool(embedding.contexts),
    }


def _place_in_taxonomy(opened: Opened, label: str) -> Answer | None:
    """The way from a root down to the label, and its relatives."""
    if opened.taxonomy is None or label not in opened.taxonomy[1].index:
        return None
    name, tree = opened.taxonomy
    way = [label]
    while above := tree.parents_of(way[-1]):
        way.append(above[0])
    parents = tree.parents_of(label)
    siblings = dict.fromkeys(x for p in parents for x in tree.children_of(p))
    children = tree.children_of(label)
    others = [x for x in siblings if x != label]
    return {
        "context": name,
        "path": [_node(opened, node) for node in reversed(way)],
        "parents": [_node(opened, node) for node in parents],
        "children": [_node(opened, node) for node in children[:MOST_RELATIVES]],
        "n_children": len(children),
        "siblings": [_node(opened, node) for node in others[:MOST_RELATIVES]],
        "n_siblings": len(others),
    }


def _node(opened: Opened, node: str) -> Answer:
    embedding = opened.embedding
    name = embedding.name_of(node)
    return {"node": node, "name": name, "is_label": node in embedding}


def comparison(opened: Opened, labels: Sequence[str]) -> Answer:
    """Similarities of a few labels, and their attributes side by side."""
    embedding = opened.embedding
    chosen = list(dict.fromkeys(map(opened.resolve, labels)))
    if not 2 <= len(chosen) <= MOST_COMPARED:
        raise OptionError(
            f"from 2 to {MOST_COMPARED} different labels can be compared. "
            f"Got {len(chosen)}."
        )
    units = np.asarray(embedding.select(chosen).unit_vectors, np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    return {
        "labels": [answers.named(embedding, label) for label in chosen],
        "similarities": [[float(x) for x in row] for row in cosines],
        "ancestors": _shared_ancestors(opened, chosen),
        "attributes": _attribute_rows(opened, chosen),
        "contexts": [
            {
                "context": context.name,
                "kind": context.kind,
                "known": [context.knows(label) for label in chosen],
            }
            for context in embedding.contexts
        ],
        "explains": bool(embedding.contexts),
    }


def _shared_ancestors(opened: Opened, labels: Sequence[str]) -> list[Answer]:
    """Nodes above all labels, nearest first."""
    if opened.taxonomy is None:
        return []
    tree = opened.taxonomy[1]
    if any(label not in tree.index for label in labels):
        return []
    _, nodes, steps = tree.ancestor_distances(labels)
    found, counts = np.unique(nodes, return_counts=True)
    shared = found[counts == len(labels)]
    far = {int(node): int(steps[nodes == node].sum()) for node in shared}
    order = sorted(far, key=lambda node: (far[node], node))
    return [_node(opened, tree.nodes[node]) for node in order]


def _attribute_rows(opened: Opened, labels: Sequence[str]) -> list[Answer]:
    """The strongest attributes of any of the labels, with what holds for each."""
    embedding = opened.embedding
    wanted: dict[tuple[str, str], float] = {}
    for label in labels:
        described = embedding.describe(label, k=N_ATTRIBUTES)
        for x in (*described.observed, *described.predicted):
            key = (x.context, x.name)
            wanted[key] = max(wanted.get(key, 0.0), x.strength)
    vectors = embedding.select(labels).vectors
    contexts = {name: descriptive_context(embedding, name) for name, _ in wanted}
    chances = {x: confidences(embedding, c, vectors) for x, c in contexts.items()}
    rows = []
    for (name, column), strength in wanted.items():
        context, sure = contexts[name], chances[name]
        at = context.columns.index(column)
        cells = []
        for i, label in enumerate(labels):
            known = float(context.observed_row(label)[at])
            is_known = not np.isnan(known)
            chance = None if is_known or sure is None else float(sure[i, at])
            cells.append(
                {
                    "value": known if is_known else None,
                    "observed": is_known,
                    "confidence": chance,
                }
            )
        rows.append(
            {"context": name, "name": column, "strength": strength, "cells": cells}
        )
    return sorted(rows, key=lambda row: -row["strength"])


def found_labels(opened: Opened, typed: str, limit: int) -> Answer:
    """Labels that somebody may mean."""
    labels = [opened.embedding.labels[i] for i in opened.suggestions.find(typed, limit)]
    found = [answers.named(opened.embedding, label) for label in labels]
    return {"typed": typed, "labels": found}


def found_nodes(opened: Opened, typed: str, limit: int) -> Answer:
    """Nodes of the hierarchy that somebody may mean."""
    if opened.taxonomy is None:
        return {"typed": typed, "nodes": []}
    tree, name_of = opened.taxonomy[1], opened.embedding.name_of
    found = []
    for node in (tree.nodes[i] for i in opened.node_suggestions.find(typed, limit)):
        above = [name_of(parent) for parent in tree.parents_of(node)]
        found.append({**_node(opened, node), "above": above})
    return {"typed": typed, "nodes": found}


def found_attributes(opened: Opened, typed: str, limit: int) -> Answer:
    """Attributes that somebody may mean."""
    sorts = {
        c.name: sort_of(c)
        for c in opened.embedding.contexts
        if isinstance(c, FittedDescriptive) and c.readable
    }
    hits = [
        opened.attributes[i] for i in opened.attribute_suggestions.find(typed, limit)
    ]
    return {
        "typed": typed,
        "attributes": [
            {"context": context, "name": column, "sort": sorts[context]}
            for context, column in hits
        ],
    }


def fitting_labels(opened: Opened, wanted: Sequence[Criterion], k: int) -> Answer:
    """Labels that fit a description best."""
    supports = {}
    for name in dict.fromkeys(x.context for x in wanted):
        support = opened.support(descriptive_context(opened.embedding, name))
        if support is not None:
            supports[name] = support
    found = find_labels(opened.embedding, wanted, k, supports=supports)
    return {
        "wanted": [
            {"context": x.context, "name": x.column, "present": x.present}
            for x in wanted
        ],
        "labels": [
            {
                **answers.named(opened.embedding, fit.label),
                "score": fit.score,
                "chances": [
                    {"chance": chance, "observed": observed}
                    for chance, observed in fit.chances
                ],
            }
            for fit in found
        ],
    }


def differences(workspace: Workspace, n: int, start: int) -> Answer:
    """Labels whose neighbourhoods differ most between the two embeddings."""
    found = workspace.differences()
    opened, other = workspace.opened, workspace.other
    names = {"one": opened.title, "other": "" if other is None else other.title}
    if found is None:
        return {
            **names,
            "ready": False,
            "k": 0,
            "common": 0,
            "mean": None,
            "histogram": [],
            "labels": [],
        }
    return {
        **names,
        "ready": True,
        "k": found.k,
        "common": len(found.labels),
        "mean": found.mean,
        "histogram": found.histogram(),
        "labels": [
            {**answers.named(opened.embedding, label), "shared": share}
            for label, share in found.largest(n, start)
        ],
    }


def side_by_side(workspace: Workspace, label: str, k: int) -> Answer:
    """The neighbours of one label in both embeddings."""
    if workspace.other is None:
        workspace.differences()  # says what is missing
    opened, other = workspace.opened, workspace.other
    label = opened.resolve(label)
    lists = [nearest(opened, label, k)["neighbours"]]
    if other is not None:
        lists.append(nearest(other, label, k)["neighbours"])
    named = [{near["label"] for near in each} for each in lists]
    both = set.intersection(*named)
    return {
        **answers.named(opened.embedding, label),
        "one": [{**near, "in_both": near["label"] in both} for near in lists[0]],
        "other": [{**near, "in_both": near["label"] in both} for near in lists[-1]],
        "shared": len(both) / max(len(lists[0]), 1),
    }
