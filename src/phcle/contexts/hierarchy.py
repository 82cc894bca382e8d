"""Hierarchies of labels: the graph of a taxonomy, and how it becomes counts.

Nodes of a `Hierarchy` may have several parents, or none. `HierarchyCounts` is the
recipe that turns it into relational counts. The context keeps it, so that labels added
after the fit are counted in the same way.
"""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.cooccurrence import read_pairs
from phcle.contexts.labels import index_of, positions_of, some_names
from phcle.contexts.matrices import take_columns
from phcle.errors import ContextError, OptionError, check_choice, did_you_mean
from phcle.files.container import TensorStore
from phcle.tables.reader import rows_of

LENGTHS = 1e-100, 1e100
"""Lengths that edges may have; their products are numbers, too."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Nodes and `(child, parent)` edges without cycles.

    Attributes
    ----------
    nodes : tuple of str
        The nodes in order of first appearance.
    edges : array of int of shape (edges, 2)
        Positions of child and parent in `nodes`.
    lengths : array of shape (edges,) or None
        Lengths of the edges, above zero; None: all are alike.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("cat", "pet"), ("dog", "pet")])
    >>> tree.leaves
    ('cat', 'dog')
    """

    nodes: tuple[str, ...]
    edges: Ints
    lengths: Floats | None = None

    @classmethod
    def from_edges(cls, edges: Any, *, name: str = "hierarchy") -> Hierarchy:
        """Make a hierarchy from edges; cycles and empty names are refused.

        Parameters
        ----------
        edges : iterable of (child, parent), data frame, or networkx.DiGraph
            A data frame has the columns `child` and `parent`, or one column per level
            of a lineage, such as species, genus and family. Other titles are guessed,
            with a warning.
            A repeated edge counts once, with a warning.
        name : str, default "hierarchy"
            Name of the context, for messages.

        Returns
        -------
        Hierarchy
            The hierarchy.

        Examples
        --------
        >>> Hierarchy.from_edges([("cat", "pet"), ("pet", "animal")]).nodes
        ('cat', 'pet', 'animal')
        """
        where = f"hierarchy {name!r}"
        if hasattr(edges, "is_directed"):  # NetworkX
            if not edges.is_directed():
                raise ContextError(
                    f"{where} must be a directed graph, with edges from child to "
                    "parent. Got an undirected one; make it a DiGraph."
                )
            edges = list(edges.edges())
        rows = rows_of(edges, "hierarchy", where)
        return cls._of(read_pairs(rows, where, "edge", ("child", "parent")), name)

    @classmethod
    def _of(cls, pairs: Iterable[tuple[str, str]], name: str) -> Hierarchy:
        """The hierarchy of pairs, each of which counts once; cycles are refused."""
        edges = list(dict.fromkeys(pairs))
        if not edges:
            raise ContextError(
                f"hierarchy {name!r} is empty: it has no edge; give (child, parent) "
                "pairs, or leave it out."
            )
        nodes = tuple(dict.fromkeys(end for edge in edges for end in edge))
        ends = [positions_of(own, index_of(nodes)) for own in zip(*edges, strict=True)]
        hierarchy = cls(nodes, np.stack(ends, axis=1))
        hierarchy.refuse_cycles(name)
        return hierarchy

    def measured(self, lengths: Mapping[tuple[str, str], float]) -> Hierarchy:
        """Return the hierarchy with lengths of its edges.

        Parameters
        ----------
        lengths : mapping from (str, str) to float
            Lengths by child and parent; an edge without one gets their median.

        Returns
        -------
        Hierarchy
            The hierarchy, as it is if there are no lengths.
        """
        if not lengths:
            return self
        middle = float(np.median(list(lengths.values())))
        found = np.array([lengths.get(edge, middle) for edge in self.named_edges])
        return replace(self, lengths=found)

    @property
    def named_edges(self) -> list[tuple[str, str]]:
        """Names of child and parent of every edge."""
        return [(self.nodes[c], self.nodes[p]) for c, p in self.edges.tolist()]

    @property
    def lengths_by_edge(self) -> dict[tuple[str, str], float]:
        """Lengths by child and parent; empty without lengths."""
        if self.lengths is None:
            return {}
        return dict(zip(self.named_edges, self.lengths.tolist(), strict=True))

    def refuse_cycles(self, name: str) -> None:
        """Refuse a hierarchy with a cycle.

        Parameters
        ----------
        name : str
            Name of the context, for the message.
        """
        # Compiled code finds out fast whether there is one, which matters when large
        # hierarchies are loaded.
        n_parts, _ = connected_components(self._above, connection="strong")
        if n_parts == len(self.nodes) and not self._above.diagonal().any():
            return
        sorter = graphlib.TopologicalSorter[int]()
        for child, parent in self.edges.tolist():
            sorter.add(child, parent)
        try:
            sorter.prepare()
        except graphlib.CycleError as error:
            # graphlib lists each node before the one that depends on it.
            cycle = [self.nodes[i] for i in reversed(error.args[1])]
            raise ContextError(
                f"hierarchy {name!r} has a cycle: {' → '.join(cycle)}; remove one of "
                "these edges."
            ) from error

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each node."""
        return index_of(self.nodes)

    @cached_property
    def has_children(self) -> Flags:
        """Whether each node has children: (nodes,)."""
        internal = np.zeros(len(self.nodes), dtype=bool)
        internal[self.edges[:, 1]] = True
        return internal

    @property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children, in order of first appearance."""
        return some_names(self.nodes, np.flatnonzero(~self.has_children))

    @cached_property
    def _above(self) -> sp.csr_array:
        """Whether a node is a parent of another: (nodes, nodes)."""
        ones, n = np.ones(len(self.edges), dtype=bool), len(self.nodes)
        return sp.csr_array((ones, self.edges.T), shape=(n, n))

    def parents_of(self, node: str) -> tuple[str, ...]:
        """Return the direct parents of a node.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        tuple of str
            Its parents, in the order of the edges.
        """
        child, parent = self.edges.T
        return some_names(self.nodes, parent[child == self.index[node]])

    def children_of(self, node: str) -> tuple[str, ...]:
        """Return the direct children of a node.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        tuple of str
            Its children, in the order of the edges.
        """
        child, parent = self.edges.T
        return some_names(self.nodes, child[parent == self.index[node]])

    def path_to(self, node: str) -> tuple[str, ...]:
        """Find the way from a root down to a node, along first parents.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        tuple of str
            The nodes, the root first.

        Examples
        --------
        >>> tree = Hierarchy.from_edges([("cat", "pet"), ("pet", "animal")])
        >>> tree.path_to("cat")
        ('animal', 'pet', 'cat')
        """
        found = [node]
        while above := self.parents_of(found[-1]):
            found.append(above[0])
        return tuple(found[::-1])

    def nodes_below(self, node: str) -> Ints:
        """Find a node and all nodes below it.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        array of int
            Their positions in `nodes`, each once, in ascending order.

        Examples
        --------
        >>> tree = Hierarchy.from_edges([("cat", "pet"), ("pet", "animal")])
        >>> tree.nodes_below("pet").tolist()
        [0, 1]
        """
        at, below = self.index[node], self._above.T
        found = breadth_first_order(below, at, return_predecessors=False)
        return np.sort(found).astype(np.int64)

    def extended(self, edges: Hierarchy, *, name: str) -> Hierarchy:
        """Add edges below nodes of the hierarchy.

        Parameters
        ----------
        edges : Hierarchy
            The new edges. Their topmost nodes must be nodes of this hierarchy.
        name : str
            Name of the context, for messages.

        Returns
        -------
        Hierarchy
            The larger hierarchy.
        """
        added = edges.named_edges
        children = {child for child, _ in added}
        for child, parent in added:
            if parent not in self.index and parent not in children:
                raise ContextError(
                    f"hierarchy {name!r}: the parent {parent!r} of {child!r} is not "
                    f"one of its nodes.{did_you_mean(parent, self.nodes)} "
                    "Give it a parent too, or name a known one."
                )
        larger = self._of(self.named_edges + added, name)
        known = self.lengths_by_edge
        return larger.measured({**edges.lengths_by_edge, **known} if known else known)

    def renamed(self, spellings: Mapping[str, str], *, name: str) -> Hierarchy:
        """Return the hierarchy with other names of its nodes.

        Parameters
        ----------
        spellings : mapping from str to str
            New names by the present ones. Nodes that become one have all their edges.
        name : str
            Name of the context, for messages.

        Returns
        -------
        Hierarchy
            The renamed hierarchy.
        """
        names = [spellings.get(node, node) for node in self.nodes]
        edges = [(names[child], names[parent]) for child, parent in self.edges.tolist()]
        found = self._of([edge for edge in edges if edge[0] != edge[1]], name)
        lengths = () if self.lengths is None else self.lengths.tolist()
        return found.measured(dict(zip(edges, lengths, strict=False)))

    def ancestor_distances(self, labels: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """Find all ancestors of labels and the number of steps to them.

        Parameters
        ----------
        labels : sequence of str
            Nodes of the hierarchy.

        Returns
        -------
        rows : array of int
            Positions of labels in `labels`.
        nodes : array of int
            Positions of ancestors in `self.nodes`; a label is its own ancestor.
        steps : array of int
            Fewest upward edges from the label to the ancestor. The three arrays are
            sorted by row, then by node.
        """
        at = np.array([self.index[label] for label in labels], dtype=np.int64)
        shape = len(at), len(self.nodes)
        level = sp.csr_array((np.ones(len(at), bool), (np.arange(len(at)), at)), shape)
        found = []
        while level.nnz:  # ends, because there is no cycle
            found.append(level.nonzero())
            level = sp.csr_array(level @ self._above)
        rows, nodes = np.concatenate(found, axis=1) if found else np.zeros((2, 0), int)
        steps = np.repeat(np.arange(len(found)), [len(part[0]) for part in found])
        # Found in order of steps, so the first of each pair is the nearest.
        _, nearest = np.unique(rows * shape[1] + nodes, return_index=True)
        return rows[nearest], nodes[nearest], steps[nearest]

    def pack(self, store: TensorStore) -> None:
        """Put nodes, edges and lengths into a file's store.

        Parameters
        ----------
        store : TensorStore
            Where to put them.
        """
        store.put_names("nodes", self.nodes)
        store["edges"] = self.edges
        if self.lengths is not None:
            store["lengths"] = self.lengths

    @classmethod
    def unpack(cls, store: TensorStore) -> Hierarchy:
        """Make what `pack` stored.

        Parameters
        ----------
        store : TensorStore
            Nodes, edges and lengths.

        Returns
        -------
        Hierarchy
            The hierarchy, not checked yet.
        """
        found = cls(store.names("nodes"), store["edges"])
        return replace(found, lengths=store["lengths"]) if "lengths" in store else found

    def check(self, name: str) -> None:
        """Refuse edges between nodes that do not exist, and cycles.

        A stored hierarchy may be forged, and walking along a cycle would never end.

        Parameters
        ----------
        name : str
            Name of the context, for messages.
        """
        edges, n = self.edges, len(self.nodes)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ContextError(f"the edges of {name!r} are not pairs of nodes")
        if edges.size and not 0 <= edges.min() <= edges.max() < n:
            raise ContextError(f"the edges of {name!r} name nodes that it lacks")
        if len(set(self.nodes)) < n:
            raise ContextError(f"a node of {name!r} occurs twice")
        if self.lengths is not None and (
            self.lengths.shape != (len(edges),)
            or self.lengths.dtype.kind != "f"
            or not ((self.lengths >= LENGTHS[0]) & (self.lengths <= LENGTHS[1])).all()
        ):
            raise ContextError(f"the lengths of the edges of {name!r} are damaged")
        self.refuse_cycles(name)


GENERAL = 0.5
"""A node above more than this share of the labels is general: most pairs share it."""


FEWEST = 20
"""With fewer labels no node is general: two of three labels may be a small group."""


MOST = 5_000
"""Most labels that are looked at, evenly taken. It takes a second for these."""


class SpecificNodes:
    """How much the nodes of a hierarchy say about labels.

    A node above nearly everything, such as "physical entity", is no reason why two
    labels are alike. The fewer labels a node is above, the more it says.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.
    labels : sequence of str
        The labels to count; those outside the hierarchy are below no node.

    Attributes
    ----------
    is_general : array of bool of shape (nodes,)
        Which nodes are above most labels.
    """

    def __init__(self, hierarchy: Hierarchy, labels: Sequence[str]) -> None:
        looked_at = labels[:: len(labels) // MOST + 1]
        inside = [label for label in looked_at if label in hierarchy.index]
        _, nodes, _ = hierarchy.ancestor_distances(inside)
        self._tree = hierarchy
        self._n_below = np.bincount(nodes, minlength=len(hierarchy.nodes))
        most = GENERAL * len(looked_at) if len(labels) >= FEWEST else np.inf
        self.is_general = self._n_below > most

    def above_all(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Find the nodes above all of some labels, or equal to one, but not general.

        Parameters
        ----------
        labels : sequence of str
            The labels.

        Returns
        -------
        tuple of str
            The nodes, those above the fewest labels first, then the nearest; empty if
            the hierarchy lacks one of the labels.
        """
        tree, n = self._tree, len(self._tree.nodes)
        if any(label not in tree.index for label in labels):
            return ()
        _, nodes, steps = tree.ancestor_distances(labels)
        is_shared = np.bincount(nodes, minlength=n) == len(labels)
        found = np.flatnonzero(is_shared & ~self.is_general)
        far = np.bincount(nodes, weights=steps, minlength=n)[found]
        return some_names(tree.nodes, found[np.lexsort((far, self._n_below[found]))])


MOST_PAIRED = 5_000
"""Most labels of which every pair with a common ancestor is counted: 25 million pairs
still fit into memory."""


AT_ONCE = 500
"""Labels whose paths are found at once."""


KINDS = ("ancestors", "path")
"""How labels may be related. The first kind is the default."""


@dataclass(frozen=True)
class HierarchyCounts:
    """How a hierarchy becomes counts; see `RelationalContext.from_hierarchy`.

    Attributes
    ----------
    hierarchy : Hierarchy
        The taxonomy.
    kind : {"ancestors", "path"}
        How labels are related.
    decay : float or None
        How slowly weights fall with distance; None is the default of the kind.
    labels_are_fixed : bool
        Whether the user chose the labels. If not, other contexts may add nodes as
        labels.
    """

    hierarchy: Hierarchy
    kind: str = "ancestors"
    decay: float | None = None
    labels_are_fixed: bool = False

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        if self.decay is not None and not self.decay > 0:
            raise OptionError(f"decay must be above 0. Got {self.decay!r} instead.")

    def count(self, labels: Sequence[str]) -> tuple[tuple[str, ...], sp.csr_array]:
        """Count labels.

        Parameters
        ----------
        labels : sequence of str
            Nodes of the hierarchy.

        Returns
        -------
        columns : tuple of str
            Nodes or labels that are counted with the labels.
        counts : csr_array of shape (labels, columns)
            Their weights.
        """
        if self.kind == "path":
            return tuple(labels), self._paths(labels)
        counts, nodes = self._ancestors(labels), self.hierarchy.nodes
        # A node of a single label says nothing about how labels relate.
        used = np.flatnonzero(np.bincount(counts.indices, minlength=len(nodes)) > 1)
        return some_names(nodes, used), sp.csr_array(counts[:, used])

    def count_on(
        self, labels: Sequence[str], *, trained: Sequence[str], columns: Sequence[str]
    ) -> sp.csr_array:
        """Count labels that are added later on the columns of a fit.

        Parameters
        ----------
        labels : sequence of str
            The new labels, nodes of the hierarchy.
        trained : sequence of str
            Labels of the fit.
        columns : sequence of str
            Columns of the fit.

        Returns
        -------
        csr_array of shape (labels, columns)
            The counts of the new labels.
        """
        index = self.hierarchy.index
        if self.kind == "ancestors":
            return take_columns(self._ancestors(labels), positions_of(columns, index))
        at_fit = (label for label in trained if label in index)
        at = index_of(dict.fromkeys((*at_fit, *labels)))
        own = self._paths(tuple(at))[positions_of(labels, at)]
        return take_columns(own, positions_of(columns, at))

    def _ancestors(self, labels: Sequence[str]) -> sp.csr_array:
        """Weights exp(−steps/decay) of the internal nodes at or above each label."""
        tree = self.hierarchy
        rows, nodes, steps = tree.ancestor_distances(labels)
        kept = tree.has_children[nodes]
        weights = np.exp(-steps[kept] / (self.decay or 4.0))
        shape = len(labels), len(tree.nodes)
        return sp.csr_array((weights, (rows[kept], nodes[kept])), shape=shape)

    def _paths(self, labels: Sequence[str]) -> sp.csr_array:
        """Weights exp(−path/decay) of other labels; paths lead over one ancestor."""
        if len(labels) > MOST_PAIRED:
            raise OptionError(
                f"kind='path' counts the pairs of up to {MOST_PAIRED:,} labels. Got "
                f"{len(labels):,}; use kind='ancestors'."
            )
        tree, n = self.hierarchy, len(self.hierarchy.nodes)
        at, up = positions_of(labels, tree.index), tree._above.astype(np.float64)
        # A path goes up, turns at an ancestor, which is one more step, and goes down.
        parts: Any = [[up, sp.eye_array(n)], [None, up.T]]
        ways: Any = sp.block_array(parts, format="csr")
        weights = [sp.csr_array((0, len(at)))]
        for start in range(0, len(at), AT_ONCE):
            steps = dijkstra(ways, indices=at[start : start + AT_ONCE])[:, n + at] - 1
            weights.append(sp.csr_array(np.exp(-steps / (self.decay or 2.0))))
        found = sp.csr_array(sp.vstack(weights))
        found.setdiag(0.0)  # a label does not occur with itself
        found.eliminate_zeros()
        return found
