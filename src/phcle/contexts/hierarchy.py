"""A taxonomy, and the ways to turn it into counts.

`Hierarchy` is the graph: a DAG with any number of roots. `HierarchyCounts` is the
recipe that turns it into relational counts. It stays with the context, so that a label
that arrives after the fit is counted the same way.
"""

from __future__ import annotations

import graphlib
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.labels import as_label, index_of
from phcle.errors import ContextError, ContextWarning, OptionError, did_you_mean

__all__ = ["KINDS", "Hierarchy", "HierarchyCounts"]

DENSE_LIMIT = 5_000
"""Up to this many labels, every pair below a common ancestor may be counted."""

LARGE_GROUP = 100
"""Above `DENSE_LIMIT`, ancestors of more labels than this do not link label pairs:
they are too general to say much, and their pairs would fill the memory."""

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
        """Read pairs, a frame or a DiGraph; refuse cycles, self-loops, empty names."""
        pairs: dict[tuple[str, str], None] = {}
        n_rows = 0
        for n_rows, pair in enumerate(_pairs_of(edges), 1):
            where = f"hierarchy {name!r}, edge {n_rows}"
            if len(pair) != 2 or isinstance(pair, str):
                raise ContextError(
                    f"{where}: must be a (child, parent) pair. Got {pair!r} instead."
                )
            child, parent = (as_label(end, where) for end in pair)
            if child == parent:
                raise ContextError(
                    f"{where}: {child!r} is its own parent; remove this edge."
                )
            pairs[child, parent] = None
        if not pairs:
            raise ContextError(f"hierarchy {name!r} is empty: it has no edge.")
        if len(pairs) < n_rows:
            warnings.warn(
                f"hierarchy {name!r}: {n_rows - len(pairs)} edges occur more than once "
                "and were counted once.",
                ContextWarning,
                stacklevel=2,
            )
        nodes = tuple(dict.fromkeys(end for pair in pairs for end in pair))
        position = index_of(nodes)
        hierarchy = cls(
            nodes, np.array([(position[c], position[p]) for c, p in pairs], np.int64)
        )
        hierarchy._refuse_cycles(name)
        return hierarchy

    def _refuse_cycles(self, name: str) -> None:
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
        old = [(self.nodes[c], self.nodes[p]) for c, p in self.edges]
        return Hierarchy.from_edges(dict.fromkeys(old + added), name=name)

    def ancestor_distances(self, labels: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """Every (label row, node, steps) with the node at or above the label.

        Steps are the fewest upward edges; a label is its own ancestor at 0.
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


@dataclass(frozen=True)
class HierarchyCounts:
    """How a hierarchy becomes counts; see `RelationalContext.from_hierarchy`."""

    hierarchy: Hierarchy
    kind: str = "ancestors"
    decay: float | None = None
    radius: int | None = None
    random_state: int = 0
    labels_are_fixed: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise OptionError(
                f"kind must be one of {', '.join(map(repr, KINDS))}. "
                f"Got {self.kind!r} instead.{did_you_mean(self.kind, KINDS)}"
            )
        if self.decay is not None and not self.decay > 0:
            raise OptionError(f"decay must be above 0. Got {self.decay!r} instead.")
        if self.radius is not None and self.radius < 1:
            raise OptionError(f"radius must be 1 or more. Got {self.radius!r} instead.")

    def count(self, labels: Sequence[str]) -> tuple[tuple[str, ...], sp.csr_array]:
        """Count the labels: names of the columns, and a (labels, columns) matrix."""
        return KINDS[self.kind](self, labels)

    def extended(self, new: Hierarchy, *, name: str) -> HierarchyCounts:
        """The recipe on the hierarchy with new edges."""
        return replace(self, hierarchy=self.hierarchy.extended(new, name=name))

    def count_on(
        self, labels: Sequence[str], *, trained: Sequence[str], columns: Sequence[str]
    ) -> sp.csr_array:
        """Counts of later labels, beside the trained ones, on the columns of a fit."""
        at_fit = [label for label in trained if label in self.hierarchy.index]
        everyone = tuple(dict.fromkeys((*at_fit, *labels)))
        found, counts = self.count(everyone)
        row, column = index_of(everyone), index_of(found)
        kept = [(column[c], i) for i, c in enumerate(columns) if c in column]
        pick = sp.csr_array(
            (
                np.ones(len(kept)),
                tuple(np.array(kept, dtype=np.int64).reshape(-1, 2).T),
            ),
            shape=(len(found), len(columns)),
        )
        return sp.csr_array(counts[[row[label] for label in labels]] @ pick)


def _pairs_of(edges: Any) -> Iterable[Sequence[Any]]:
    """Pairs of a DiGraph, of a frame's first two columns, or as they come."""
    if hasattr(edges, "is_directed"):  # NetworkX
        if not edges.is_directed():
            raise ContextError(
                "a hierarchy must be a directed graph, with edges from child to "
                "parent. Got an undirected one."
            )
        return list(edges.edges())
    if hasattr(edges, "iloc"):  # a pandas frame
        return list(zip(edges.iloc[:, 0], edges.iloc[:, 1], strict=True))
    return edges  # type: ignore[no-any-return]


def _count_ancestors(
    recipe: HierarchyCounts, labels: Sequence[str]
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Columns are the internal nodes at or above a label: exp(−steps/decay)."""
    tree, decay = recipe.hierarchy, recipe.decay or 4.0
    rows, nodes, steps = tree.ancestor_distances(labels)
    # A node above a single label says nothing about how labels relate.
    n_labels = np.bincount(nodes, minlength=len(tree.nodes))
    kept = tree.has_children[nodes] & (n_labels[nodes] > 1)
    used, columns = np.unique(nodes[kept], return_inverse=True)
    counts = sp.csr_array(
        (np.exp(-steps[kept] / decay), (rows[kept], columns)),
        shape=(len(labels), len(used)),
    )
    return tuple(tree.nodes[i] for i in used), counts


def _count_paths(
    recipe: HierarchyCounts, labels: Sequence[str]
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Columns are labels: exp(−path/decay), the path leading over a common ancestor."""
    decay = recipe.decay or 2.0

    def weigh(steps: Ints, _n_labels: int) -> npt.NDArray[np.float64]:
        path = steps[:, None] + steps[None, :]
        weight = np.exp(-path / decay)
        return weight if recipe.radius is None else weight * (path <= recipe.radius)

    return tuple(labels), _count_pairs(recipe.hierarchy, labels, weigh, nearest=True)


def _count_shared(
    recipe: HierarchyCounts, labels: Sequence[str]
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Columns are labels: the information −log(share of labels) of shared ancestors."""

    def weigh(steps: Ints, n_labels: int) -> npt.NDArray[np.float64]:
        information = np.log(len(labels) / n_labels)
        return np.full((len(steps), len(steps)), information)

    return tuple(labels), _count_pairs(recipe.hierarchy, labels, weigh, nearest=False)


def _count_pairs(
    tree: Hierarchy,
    labels: Sequence[str],
    weigh: Callable[[Ints, int], npt.NDArray[np.float64]],
    *,
    nearest: bool,
) -> sp.csr_array:
    """Weigh all label pairs below each ancestor; keep the largest weight, or add."""
    n = len(labels)
    rows, nodes, steps = tree.ancestor_distances(labels)
    order = np.argsort(nodes, kind="stable")
    rows, nodes, steps = rows[order], nodes[order], steps[order]
    starts = np.flatnonzero(np.diff(nodes, prepend=-1))
    largest = n if n <= DENSE_LIMIT else LARGE_GROUP
    total = sp.csr_array((n, n))
    pending: list[sp.csr_array] = []
    pending_pairs = 0
    for start, stop in zip(starts, [*starts[1:], len(nodes)], strict=True):
        if not 1 < stop - start <= largest:
            continue
        group = rows[start:stop]
        weight = weigh(steps[start:stop], stop - start)
        np.fill_diagonal(weight, 0.0)  # a label does not occur with itself
        i, j = np.nonzero(weight)
        pending.append(sp.csr_array((weight[i, j], (group[i], group[j])), shape=(n, n)))
        pending_pairs += len(i)
        if pending_pairs > 4_000_000:
            total = _merge([total, *pending], nearest)
            pending, pending_pairs = [], 0
    return _merge([total, *pending], nearest)


def _merge(parts: list[sp.csr_array], nearest: bool) -> sp.csr_array:
    """Combine many sparse matrices: entrywise maximum, or sum."""
    stacked = [sp.coo_array(part) for part in parts]
    rows, columns = (
        np.concatenate([part.coords[axis] for part in stacked]).astype(np.int64)
        for axis in (0, 1)
    )
    weights = np.concatenate([part.data for part in stacked])
    shape = parts[0].shape
    if nearest:
        # Sorted by pair and then by falling weight: the first of a pair is its largest.
        order = np.lexsort((-weights, columns, rows))
        rows, columns, weights = rows[order], columns[order], weights[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        rows, columns, weights = rows[first], columns[first], weights[first]
    merged = sp.csr_array((weights, (rows, columns)), shape=shape)
    merged.sum_duplicates()
    return merged


def _count_walks(
    recipe: HierarchyCounts, labels: Sequence[str]
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Columns are nodes: visits by random walks over the edges, from each label."""
    tree, length, n_walks = recipe.hierarchy, recipe.radius or 6, 40
    ends = np.concatenate([tree.edges, tree.edges[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    first = np.searchsorted(ends[:, 0], np.arange(len(tree.nodes) + 1))
    degree = np.diff(first)
    start = np.array([tree.index[label] for label in labels], dtype=np.int64)
    # Every label draws from a seed of its own, so its walks do not depend on who else
    # is counted: a label that is folded in later walks as it would have at the fit.
    draws = np.stack(
        [
            np.random.default_rng(
                [recipe.random_state, zlib.crc32(label.encode())]
            ).random((length, n_walks))
            for label in labels
        ],
        axis=1,
    )  # (length, labels, walks)
    here = np.repeat(start, n_walks)
    walker = np.repeat(np.arange(len(labels)), n_walks)
    visited = []
    for draw in draws.reshape(length, -1):
        here = ends[first[here] + (draw * degree[here]).astype(np.int64), 1]
        visited.append(walker * len(tree.nodes) + here)
    visits, n_visits = np.unique(np.concatenate(visited), return_counts=True)
    rows, nodes = np.divmod(visits, len(tree.nodes))
    elsewhere = nodes != start[rows]
    rows, nodes, n_visits = rows[elsewhere], nodes[elsewhere], n_visits[elsewhere]
    n_labels = np.bincount(nodes, minlength=len(tree.nodes))
    kept = n_labels[nodes] > 1
    used, columns = np.unique(nodes[kept], return_inverse=True)
    counts = sp.csr_array(
        (n_visits[kept].astype(np.float64), (rows[kept], columns)),
        shape=(len(labels), len(used)),
    )
    return tuple(tree.nodes[i] for i in used), counts


KINDS: dict[
    str,
    Callable[[HierarchyCounts, Sequence[str]], tuple[tuple[str, ...], sp.csr_array]],
] = {
    "ancestors": _count_ancestors,
    "path": _count_paths,
    "shared": _count_shared,
    "walks": _count_walks,
}
"""The constructions by name; the first is the default."""
