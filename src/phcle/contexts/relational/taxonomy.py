"""Hierarchy: the graph of a taxonomy, with any number of roots and parents."""

from __future__ import annotations

import graphlib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from phcle.contexts.labels import as_label, index_of, is_missing
from phcle.contexts.pairs import as_row, rows_of
from phcle.errors import ContextError, ContextWarning, did_you_mean, some

__all__ = ["Hierarchy", "Ints"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Nodes and `(child, parent)` edges without cycles.

    >>> tree = Hierarchy.from_edges([("cat", "pet"), ("dog", "pet")])
    >>> tree.leaves
    ('cat', 'dog')
    """

    nodes: tuple[str, ...]
    edges: Ints  # (edges, 2): positions of child and parent in nodes

    @classmethod
    def from_edges(cls, edges: Any, *, name: str = "hierarchy") -> Hierarchy:
        """Read pairs, a frame or a DiGraph; refuse cycles, self-loops, empty names.

        A frame's pairs are its columns `child` and `parent`, or else its first two. An
        edge given twice is counted once, with a warning.
        """
        pairs: dict[tuple[str, str], None] = {}
        n_rows = 0
        for n_rows, row in enumerate(_pairs_of(edges, name), 1):
            where = f"hierarchy {name!r}, edge {n_rows}"
            pair = as_row(row, (2,), "a (child, parent) pair", where)
            child = as_label(pair[0], where, "child")
            if is_missing(pair[1]):
                raise ContextError(
                    f"{where}: the parent of {child!r} is empty; name it, or remove "
                    "the row: a root needs none of its own."
                )
            parent = as_label(pair[1], where, "parent")
            if child == parent:
                raise ContextError(
                    f"{where}: {child!r} is its own parent; remove this edge."
                )
            pairs[child, parent] = None
        if not pairs:
            raise ContextError(
                f"hierarchy {name!r} is empty: it has no edge; give (child, parent) "
                "pairs, or leave it out."
            )
        if len(pairs) < n_rows:
            warnings.warn(
                f"hierarchy {name!r}: {n_rows - len(pairs)} of {n_rows} edges repeat "
                "another and were counted once.",
                ContextWarning,
                stacklevel=3,
            )
        nodes = tuple(dict.fromkeys(end for pair in pairs for end in pair))
        position = index_of(nodes)
        hierarchy = cls(
            nodes, np.array([(position[c], position[p]) for c, p in pairs], np.int64)
        )
        hierarchy.refuse_cycles(name)
        return hierarchy

    def refuse_cycles(self, name: str) -> None:
        """Refuse edges that lead back to where they began."""
        parents: dict[int, list[int]] = {}
        for child, parent in self.edges.tolist():
            parents.setdefault(child, []).append(parent)
        try:
            graphlib.TopologicalSorter(parents).prepare()
        except graphlib.CycleError as error:
            # graphlib lists each node before the one that depends on it.
            cycle = [self.nodes[i] for i in reversed(error.args[1])]
            raise ContextError(
                f"hierarchy {name!r} has a cycle: {' → '.join(cycle)}; remove one of "
                "these edges."
            ) from error

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each node."""
        return index_of(self.nodes)

    @cached_property
    def has_children(self) -> npt.NDArray[np.bool_]:
        """Which nodes are internal."""
        internal = np.zeros(len(self.nodes), dtype=bool)
        internal[self.edges[:, 1]] = True
        return internal

    @property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children, in order of first appearance."""
        return tuple(
            node
            for node, internal in zip(self.nodes, self.has_children, strict=True)
            if not internal
        )

    def parents_of(self, node: str) -> tuple[str, ...]:
        """Direct parents of a node."""
        above = self.edges[self.edges[:, 0] == self.index[node], 1]
        return tuple(self.nodes[i] for i in above)

    def children_of(self, node: str) -> tuple[str, ...]:
        """Direct children of a node."""
        below = self.edges[self.edges[:, 1] == self.index[node], 0]
        return tuple(self.nodes[i] for i in below)

    def extended(self, edges: Hierarchy, *, name: str) -> Hierarchy:
        """Return the hierarchy with new leaves below its nodes.

        Every top of the new edges must be a node already, else they hang in the air.
        """
        added = [(edges.nodes[c], edges.nodes[p]) for c, p in edges.edges]
        children = {child for child, _ in added}
        for child, parent in added:
            if parent not in self.index and parent not in children:
                raise ContextError(
                    f"hierarchy {name!r}: the parent {parent!r} of {child!r} is not "
                    f"a node of it.{did_you_mean(parent, self.nodes)} "
                    "Give it a parent too, or name a known one."
                )
        if children.isdisjoint(self.index):
            # Nothing can repeat or close a cycle: the known edges stay as they are.
            fresh = tuple(node for node in edges.nodes if node not in self.index)
            position = index_of(fresh)
            here = np.array(
                [
                    self.index.get(node, len(self.nodes) + position.get(node, 0))
                    for node in edges.nodes
                ]
            )
            return Hierarchy(
                (*self.nodes, *fresh), np.vstack([self.edges, here[edges.edges]])
            )
        old = [(self.nodes[c], self.nodes[p]) for c, p in self.edges]
        return Hierarchy.from_edges(list(dict.fromkeys(old + added)), name=name)

    def ancestor_distances(self, labels: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """Every (label row, node, steps) with the node at or above the label.

        Steps are the fewest upward edges; a label is its own ancestor at 0. The
        triples come sorted by row, then by node.
        """
        rows = np.arange(len(labels))
        nodes = np.array([self.index[label] for label in labels], dtype=np.int64)
        order = np.argsort(self.edges[:, 0], kind="stable")
        child, parent = self.edges[order, 0], self.edges[order, 1]
        first = np.searchsorted(child, np.arange(len(self.nodes) + 1))
        found = [(rows, nodes, np.zeros_like(rows))]
        steps = 0
        while len(rows):
            steps += 1
            # Replace each (row, node) by (row, parent) for all parents of the node.
            n_parents = first[nodes + 1] - first[nodes]
            rows = np.repeat(rows, n_parents)
            offset = np.arange(len(rows)) - np.repeat(
                np.cumsum(n_parents) - n_parents, n_parents
            )
            nodes = parent[np.repeat(first[nodes], n_parents) + offset]
            rows, nodes = np.divmod(
                np.unique(rows * len(self.nodes) + nodes), len(self.nodes)
            )
            found.append((rows, nodes, np.full_like(rows, steps)))
        all_rows, all_nodes, all_steps = (
            np.concatenate(part) for part in zip(*found, strict=True)
        )
        # Found in order of steps, so the first of each pair is the nearest.
        _, nearest = np.unique(
            all_rows * len(self.nodes) + all_nodes, return_index=True
        )
        return all_rows[nearest], all_nodes[nearest], all_steps[nearest]

    def shared_ancestors(self, a: str, b: str) -> tuple[str, ...]:
        """Nodes at or above both `a` and `b`, nearest first."""
        if a not in self.index or b not in self.index:
            return ()
        rows, nodes, steps = self.ancestor_distances([a, b])
        above = [
            dict(zip(nodes[rows == i], steps[rows == i], strict=True)) for i in (0, 1)
        ]
        shared = sorted(
            above[0].keys() & above[1].keys(),
            key=lambda node: (above[0][node] + above[1][node], node),
        )
        return tuple(self.nodes[node] for node in shared)

    def check(self, name: str) -> None:
        """Refuse edges between nodes that do not exist, and cycles.

        A stored hierarchy may come from anybody, and following a cycle never ends.
        """
        edges, n = self.edges, len(self.nodes)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ContextError(f"the edges of {name!r} are not pairs of nodes")
        if edges.size and not 0 <= edges.min() <= edges.max() < n:
            raise ContextError(f"the edges of {name!r} name nodes that it lacks")
        if len(set(self.nodes)) < n:
            raise ContextError(f"a node of {name!r} occurs twice")
        graph = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), (n, n))
        # Without a cycle no two nodes reach each other: quick to find in compiled
        # code, as large hierarchies are loaded often. `refuse_cycles` names the cycle.
        n_parts, _ = connected_components(graph, connection="strong")
        if n_parts < n or (edges[:, 0] == edges[:, 1]).any():
            self.refuse_cycles(name)
            raise ContextError(f"a node of {name!r} is its own parent")


def _pairs_of(edges: Any, name: str) -> Iterable[Any]:
    """Pairs of a DiGraph, of a frame's columns, or as they come."""
    if hasattr(edges, "is_directed"):  # NetworkX
        return _pairs_of_graph(edges, name)
    return rows_of(edges, ("child", "parent"), f"hierarchy {name!r}")


def _pairs_of_graph(graph: Any, name: str) -> Iterable[Any]:
    """Edges of a NetworkX graph, which must lead from child to parent."""
    if not graph.is_directed():
        raise ContextError(
            f"hierarchy {name!r} must be a directed graph, with edges from child to "
            "parent. Got an undirected one; make it a DiGraph."
        )
    alone = [node for node, degree in graph.degree() if degree == 0]
    if alone:
        warnings.warn(
            f"hierarchy {name!r}: {len(alone)} nodes have no edge and were left out: "
            f"{some(alone)}.",
            ContextWarning,
            stacklevel=5,
        )
    return list(graph.edges())
