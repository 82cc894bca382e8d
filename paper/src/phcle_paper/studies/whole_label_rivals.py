"""Rivals for single cells, on labels all of whose attributes are hidden.

A hidden label has no known cell that speaks for the others. So the leading principal
components of all other contexts stand beside the attributes, as columns that are known
for every label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from phcle.contexts import Hierarchy
from phcle.tuning.completion import CompletionTask, Floats, Rows
from phcle_paper.datasets.patchy_table import Field, PatchyTable
from phcle_paper.studies.cell_rivals import RIVALS
from phcle_paper.studies.cell_tasks import CellTask
from phcle_paper.studies.completion_rivals import context_block

__all__ = ["as_cells", "cell_rivals"]

COMPONENTS = 50
"""Of the other contexts: enough for most of their energy, few beside attributes."""


def cell_rivals(
    task: CompletionTask, hidden: Rows, methods: Sequence[str], seed: int
) -> Iterator[tuple[str, Floats]]:
    """Each method's values of the hidden labels: (hidden, attributes)."""
    cells = as_cells(task, hidden)
    n_attributes = task.values.shape[1]
    for method in methods:
        title, complete = RIVALS[method]
        predicted = complete(cells, np.random.default_rng(seed))
        yield title, predicted[hidden, :n_attributes]


def as_cells(task: CompletionTask, hidden: Rows) -> CellTask:
    """The same task as one of cells: all attributes of some labels are hidden."""
    contexts = [context_block(context, task.labels) for context in task.others]
    left, sizes, _ = np.linalg.svd(np.hstack(contexts), full_matrices=False)
    components = (left * sizes)[:, :COMPONENTS]
    edges: list[tuple[str, str]] = []
    for context in task.others:
        if context.hierarchy is not None:
            edges += edges_above(context.hierarchy.hierarchy, task.labels)
    fields = [*task.attributes.columns]
    fields += [f"component {i}" for i in range(components.shape[1])]
    table = PatchyTable(
        task.attributes.name,
        task.labels,
        tuple(map(Field, fields)),
        np.hstack([task.values, components]),
        tuple(edges),
    )
    asked = np.zeros_like(table.known)
    asked[hidden, : task.values.shape[1]] = True
    return CellTask(table, asked & table.known, table.values, hides_labels=True)


def edges_above(hierarchy: Hierarchy, labels: Sequence[str]) -> list[tuple[str, str]]:
    """The edges of a hierarchy at some labels and above them."""
    inside = [label for label in labels if label in hierarchy.index]
    _, nodes, _ = hierarchy.ancestor_distances(inside)
    above = set(nodes.tolist())
    return [
        (hierarchy.nodes[child], hierarchy.nodes[parent])
        for child, parent in hierarchy.edges.tolist()
        if child in above
    ]
