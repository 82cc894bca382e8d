"""How labels hang on nodes, and nodes on each other: in a tree, or in a graph.

Both answer with two sparse matrices. `places` S says where labels hang: S P are the
vectors that labels are pulled to. `bonds` Q holds the nodes together: the penalty on
their vectors is tr(Pᵀ Q P).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from phcle.arrays import Flags, Floats
from phcle.contexts.base.context import Context
from phcle.contexts.labels import index_of
from phcle.contexts.matrices import LARGEST, take_rows
from phcle.contexts.relational.links import LabelLinks, joined
from phcle.contexts.relational.taxonomy import Hierarchy
from phcle.errors import ContextError
from phcle.files.container import TensorStore

if TYPE_CHECKING:
    from phcle.contexts.family.fitted import FittedFamily

GROUND = 0.1
"""Pull of the nodes of a graph to zero, as a share of their mean bond to neighbours.
Without it, a part of the graph without data would be free to lie anywhere."""


class Kinship(Protocol):
    """Where labels hang, and what holds nodes together."""

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """Names of all nodes, whether a fit needs them or not."""

    def nodes_for(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Name the nodes that a fit of these labels needs.

        Parameters
        ----------
        labels : sequence of str
            Labels of the fit.

        Returns
        -------
        tuple of str
            Names of the nodes.
        """

    def places(self, labels: Sequence[str], nodes: Sequence[str]) -> sp.csr_array:
        """Say on which nodes labels hang.

        Parameters
        ----------
        labels : sequence of str
            Labels; those that it does not know hang on no node.
        nodes : sequence of str
            Nodes of the fit.

        Returns
        -------
        csr_array of shape (labels, nodes)
            Shares of the nodes; a row sums to one at most.
        """

    def bonds(self, nodes: Sequence[str]) -> sp.csr_array:
        """Say what holds the nodes together.

        Parameters
        ----------
        nodes : sequence of str
            Nodes of the fit.

        Returns
        -------
        csr_array of shape (nodes, nodes)
            A symmetric positive definite matrix.
        """

    def taught(self, nodes: Sequence[str], direct: Flags) -> Flags:
        """Find the nodes that labels with data lead to.

        Parameters
        ----------
        nodes : sequence of str
            Nodes of the fit.
        direct : array of bool of shape (nodes,)
            Nodes that such a label hangs on.

        Returns
        -------
        array of bool of shape (nodes,)
            In a tree, these nodes and all above them; in a graph, all that are
            connected to them.
        """

    def extended(self, new: Self, *, name: str) -> Self:
        """Add what is known about labels that are folded in.

        Edges between two nodes that are there already change nothing, because the
        vectors of the nodes stay as they are.

        Parameters
        ----------
        new : Kinship
            The new edges.
        name : str
            Name of the context, for messages.

        Returns
        -------
        Kinship
            The larger tree or graph.
        """

    def pack(self, store: TensorStore) -> str:
        """Put all edges into a file's store.

        Parameters
        ----------
        store : TensorStore
            Where to put them.

        Returns
        -------
        str
            "tree" or "graph".
        """

    def check(self, name: str) -> None:
        """Refuse edges that make no tree or graph, because files can be forged.

        Parameters
        ----------
        name : str
            Name of the context, for messages.
        """

    @property
    def arrays(self) -> list[Any]:
        """All numbers, for a fingerprint."""


@dataclass(frozen=True, eq=False)
class TreeKinship(Kinship):
    """A taxonomy. A label hangs on its parent, the mean of several; roots on zero.

    Parameters
    ----------
    hierarchy : Hierarchy
        The taxonomy.
    """

    hierarchy: Hierarchy

    @property
    def all_nodes(self) -> tuple[str, ...]:
        return self.hierarchy.nodes

    @cached_property
    def _parents(self) -> sp.csr_array:
        """Share of each parent: (nodes, nodes). Empty rows are roots."""
        n = len(self.hierarchy.nodes)
        child, parent = self.hierarchy.edges.T
        share = 1.0 / np.bincount(child, minlength=n)[child]
        return sp.csr_array((share, (child, parent)), shape=(n, n))

    def nodes_for(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Nodes above two or more labels or branches.

        A chain of single children would only add variance with its length, so its nodes
        are left out. A label that is above another label hangs on its own node.
        """
        tree = self.hierarchy
        known = [label for label in labels if label in tree.index]
        _, nodes, steps = tree.ancestor_distances(known)
        is_above = np.zeros(len(tree.nodes), dtype=bool)
        is_above[nodes[steps > 0]] = True
        is_label = np.zeros(len(tree.nodes), dtype=bool)
        is_label[[tree.index[label] for label in known]] = True
        child, parent = tree.edges.T
        counted = is_above[child] | is_label[child]
        n_below = np.bincount(parent[counted], minlength=len(tree.nodes))
        n_below += is_label & is_above  # the label itself
        return tuple(tree.nodes[i] for i in np.flatnonzero(is_above & (n_below > 1)))

    def places(self, labels: Sequence[str], nodes: Sequence[str]) -> sp.csr_array:
        """Parents of labels, or their nearest ancestors among the nodes."""
        tree, known = self.hierarchy, index_of(nodes)
        at = [tree.index.get(label, -1) for label in labels]
        start = take_rows(self._parents, at)
        own = [(row, at[row]) for row, label in enumerate(labels) if label in known]
        if own:  # a label that is a node of the fit hangs on itself
            rows, columns = np.array(own).T
            keep = np.ones(len(labels))
            keep[rows] = 0.0
            own_node = sp.csr_array(
                (np.ones(len(own)), (rows, columns)), shape=start.shape
            )
            start = sp.csr_array(sp.diags_array(keep) @ start + own_node)
        return self._climbed(start, nodes)

    def bonds(self, nodes: Sequence[str]) -> sp.csr_array:
        """(I − T)ᵀ Ω (I − T), where T takes the mean of a node's parents.

        Ω is the identity, or has one part in the length of the way up to the parents,
        with a mean of one: variance grows with length, as in Brownian motion.
        """
        up = self._up(nodes)
        apart = sp.csr_array(sp.eye_array(len(nodes)) - up)
        if self.hierarchy.lengths is None:
            return _in_order(apart.T @ apart)
        ways = self._ways_up(nodes)
        below = ways > 0  # the others hang on nothing
        inverse = 1.0 / ways[below]
        closeness = np.ones(len(nodes))
        closeness[below] = inverse * len(inverse) / (inverse.sum() or 1.0)
        return _in_order(apart.T @ sp.diags_array(closeness) @ apart)

    def _ways_up(self, nodes: Sequence[str]) -> Floats:
        """Lengths of the ways from nodes to those that they hang on, or to the top."""
        tree, n = self.hierarchy, len(self.hierarchy.nodes)
        child = tree.edges[:, 0]
        total = np.bincount(child, weights=tree.lengths, minlength=n)
        own = total / np.maximum(np.bincount(child, minlength=n), 1)
        at = [tree.index[node] for node in nodes]
        is_node = np.zeros(n)
        is_node[at] = 1.0
        start = sp.csr_array(sp.eye_array(n))[at]
        found = np.zeros(len(nodes))
        while start.nnz:  # ends, because a hierarchy has no cycle
            found = found + np.asarray(start @ own)
            start = sp.csr_array(start @ self._parents @ sp.diags_array(1.0 - is_node))
            start.eliminate_zeros()
        return found

    def _up(self, nodes: Sequence[str]) -> sp.csr_array:
        """Share of each parent among the nodes of a fit."""
        at = [self.hierarchy.index[node] for node in nodes]
        return self._climbed(take_rows(self._parents, at), nodes)

    def taught(self, nodes: Sequence[str], direct: Flags) -> Flags:
        up = sp.csr_array(self._up(nodes).T)
        while True:
            found = direct | (up @ direct.astype(np.float64) > 0)
            if (found == direct).all():
                return direct
            direct = found

    def _climbed(self, start: sp.csr_array, nodes: Sequence[str]) -> sp.csr_array:
        """Replace nodes that the fit lacks by their parents, until none is left."""
        tree = self.hierarchy
        at = np.array([tree.index[node] for node in nodes], dtype=np.int64)
        is_node = np.zeros(len(tree.nodes))
        is_node[at] = 1.0
        kept, gone = sp.diags_array(is_node), sp.diags_array(1.0 - is_node)
        found = sp.csr_array(start @ kept)
        start = sp.csr_array(start @ gone)
        start.eliminate_zeros()
        while start.nnz:  # ends, because a hierarchy has no cycle
            start = sp.csr_array(start @ self._parents)
            found = found + start @ kept
            start = sp.csr_array(start @ gone)
            start.eliminate_zeros()
        return _in_order(sp.csr_array(found)[:, at])

    def extended(self, new: TreeKinship, *, name: str) -> TreeKinship:
        nodes, edges = new.hierarchy.nodes, new.hierarchy.edges
        is_new = np.array([node not in self.hierarchy.index for node in nodes])
        added = Hierarchy(nodes, edges[is_new[edges[:, 0]]])
        added = added.measured(new.hierarchy.lengths_by_edge)
        if not len(added.edges):
            return self
        return TreeKinship(self.hierarchy.extended(added, name=name))

    def pack(self, store: TensorStore) -> str:
        self.hierarchy.pack(store)
        return "tree"

    def check(self, name: str) -> None:
        self.hierarchy.check(name)

    @property
    def arrays(self) -> list[Any]:
        tree = self.hierarchy
        return [
            list(tree.nodes),
            tree.edges,
            *([] if tree.lengths is None else [tree.lengths]),
        ]


@dataclass(frozen=True, eq=False)
class GraphKinship(Kinship):
    """A graph. Every label hangs on its own node, and nodes on their neighbours.

    Parameters
    ----------
    names : tuple of str
        Names of the nodes, which are labels.
    weights : csr_array of shape (nodes, nodes)
        Weights of the edges; counted in both directions.
    triples : LabelLinks, optional
        The links that were counted, if they are of several relations.
    """

    names: tuple[str, ...]
    weights: sp.csr_array
    triples: LabelLinks | None = None

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        columns: Sequence[str],
        counts: sp.csr_array,
        triples: LabelLinks | None,
    ) -> GraphKinship:
        """Make a graph from the edges of some labels only.

        Parameters
        ----------
        labels : sequence of str
            Names of the rows.
        columns : sequence of str
            Names of the columns, which are labels too.
        counts : csr_array of shape (labels, columns)
            Weights of the edges.
        triples : LabelLinks or None
            The links that were counted, if they are of several relations.

        Returns
        -------
        GraphKinship
            The graph of rows and columns, with every edge in both directions.
        """
        names = tuple(dict.fromkeys((*labels, *columns)))
        at, n = index_of(names), len(names)
        found = sp.coo_array(counts)
        ends = [
            np.array([at[name] for name in axis], dtype=np.int64)[i]
            for axis, i in zip((labels, columns), found.coords, strict=True)
        ]
        weights = sp.csr_array((found.data, ends), shape=(n, n))
        return cls(names, sp.csr_array(weights.maximum(weights.T)), triples)

    @property
    def all_nodes(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return index_of(self.names)

    def nodes_for(self, labels: Sequence[str]) -> tuple[str, ...]:
        """All labels that have an edge to another one."""
        here = [label for label in labels if label in self._index]
        linked = self._degrees(self._among(here)) > 0
        return tuple(label for label, is_in in zip(here, linked, strict=True) if is_in)

    def _among(self, names: Sequence[str]) -> sp.csr_array:
        """Weights between some nodes, in both directions."""
        at = np.array([self._index[name] for name in names], dtype=np.int64)
        part = sp.csr_array(self.weights[at][:, at])
        return sp.csr_array(part + part.T)

    @staticmethod
    def _degrees(weights: sp.csr_array) -> Floats:
        return np.asarray(weights.sum(axis=1), np.float64).ravel()

    def places(self, labels: Sequence[str], nodes: Sequence[str]) -> sp.csr_array:
        """A label's own node; a new label hangs between its neighbours."""
        known = index_of(nodes)
        is_new = [x in self._index and x not in known for x in labels]
        ground = 0.0
        if any(is_new):
            ground = GROUND * float(self._degrees(self._among(nodes)).mean())
        rows, columns, shares = [], [], []
        for row, label in enumerate(labels):
            near = {known[label]: 1.0} if label in known else {}
            if is_new[row]:
                near = self._neighbours(label, known)
                total = sum(near.values()) + ground
                near = {column: size / total for column, size in near.items()}
            rows += [row] * len(near)
            columns += list(near)
            shares += list(near.values())
        return sp.csr_array(
            (shares, (rows, columns)), shape=(len(labels), len(nodes)), dtype=np.float64
        )

    def _neighbours(self, label: str, known: Mapping[str, int]) -> dict[int, float]:
        """Weights of the edges from a label to nodes of the fit."""
        at = self._index[label]
        both = sp.coo_array(self.weights[[at]] + self.weights[:, [at]].T)
        return {
            known[self.names[i]]: float(size)
            for i, size in zip(both.coords[1], both.data, strict=True)
            if self.names[i] in known
        }

    def bonds(self, nodes: Sequence[str]) -> sp.csr_array:
        """The Laplacian with a mean degree of one, and a weak pull to zero."""
        among = self._among(nodes)
        degrees = self._degrees(among)
        unit = (float(degrees.sum()) or 1.0) / max(len(nodes), 1)
        held = sp.diags_array(degrees / unit + GROUND)
        return _in_order(held - among / unit)

    def taught(self, nodes: Sequence[str], direct: Flags) -> Flags:
        _, part = connected_components(self._among(nodes), directed=False)
        return np.isin(part, part[direct])

    def extended(self, new: GraphKinship, *, name: str) -> GraphKinship:
        names = tuple(dict.fromkeys((*self.names, *new.names)))
        at, n = index_of(names), len(names)
        moved = np.array([at[name] for name in new.names], dtype=np.int64)
        found = sp.coo_array(new.weights)
        ends = np.array([moved[i] for i in found.coords])
        is_new = (ends >= len(self.names)).any(axis=0)
        added = sp.csr_array((found.data[is_new], ends[:, is_new]), shape=(n, n))
        old = sp.coo_array(self.weights)
        larger = sp.csr_array((old.data, old.coords), shape=(n, n))
        return GraphKinship(
            names, sp.csr_array(larger + added), joined(self.triples, new.triples)
        )

    def pack(self, store: TensorStore) -> str:
        store.put_names("nodes", self.names)
        store.put_sparse("graph", self.weights)
        if self.triples is not None:
            self.triples.pack(store)
        return "graph"

    def check(self, name: str) -> None:
        if len(set(self.names)) < len(self.names):
            raise ContextError(f"a node of {name!r} occurs twice")
        if self.weights.shape != (len(self.names),) * 2:
            raise ContextError(f"the edges of {name!r} name nodes that it lacks")
        weights = self.weights.data
        if not ((weights >= 0) & (weights <= LARGEST)).all():
            raise ContextError(f"the edges of {name!r} must be from 0 to {LARGEST:g}")

    @property
    def arrays(self) -> list[Any]:
        return [list(self.names), self.weights]


def _in_order(matrix: Any) -> sp.csr_array:
    """The matrix without stored zeros, in sorted order: PyTorch refuses another."""
    found = sp.csr_array(matrix)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def unpack_kinship(shape: str, store: TensorStore) -> Kinship:
    """Make what `Kinship.pack` stored.

    Parameters
    ----------
    shape : str
        "tree" or "graph".
    store : TensorStore
        Names and edges.

    Returns
    -------
    Kinship
        The tree or graph, not checked yet.
    """
    match shape:
        case "tree":
            return TreeKinship(Hierarchy.unpack(store))
        case "graph":
            names = store.names("nodes")
            weights = store.sparse("graph", len(names))
            return GraphKinship(names, weights, LabelLinks.unpack(store))
    raise ContextError(f"relatives must be in a tree or a graph. Got {shape!r}")


@dataclass(frozen=True, eq=False)
class FamilyContext(Context):
    """Relatives of labels. The vectors of relatives are pulled together.

    It is made at the fit from a `RelationalContext` whose role is "family" or "both".

    Parameters
    ----------
    name : str
        Name of the context.
    labels : tuple of str
        Labels that have relatives.
    columns : tuple of str
        Nodes that the fit gives vectors to; empty before the fit.
    kinship : TreeKinship or GraphKinship
        The tree or graph.
    given_name : str
        Name of the context that it was made from.
    """

    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    kinship: Kinship
    given_name: str

    kind = "family"
    order = 0

    @property
    def has_values(self) -> npt.NDArray[np.bool_]:
        """Every label has its place."""
        return np.ones(len(self.labels), dtype=bool)

    @property
    def n_stored(self) -> int:
        """How many labels have a place."""
        return len(self.labels)

    def fingerprint_arrays(self) -> list[Any]:
        """All numbers, for a fingerprint of the data."""
        return self.kinship.arrays

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The nodes on which labels hang."""
        return self.kinship.nodes_for(self.labels)

    def stored_cells(self) -> tuple[Any, Any, Any]:
        """Where each label hangs."""
        places = sp.coo_array(self.kinship.places(self.labels, self.cell_columns))
        rows, columns = (axis.astype(np.int64) for axis in places.coords)
        return rows, columns, places.data

    def relatives(self) -> Kinship:
        """The tree or graph."""
        return self.kinship

    @property
    def links(self) -> LabelLinks | None:
        """Links between labels, if they are in a graph."""
        if not isinstance(self.kinship, GraphKinship):
            return None
        names, weights = self.kinship.names, self.kinship.weights
        return self.kinship.triples or LabelLinks.between(names, names, weights)

    def in_fit(self, labels: Sequence[str]) -> FittedFamily:
        """Find the nodes that these labels need, and where the labels hang."""
        from phcle.contexts.family.fitted import FittedFamily

        nodes = self.kinship.nodes_for(labels)
        return FittedFamily(
            name=self.name,
            columns=nodes,
            data=self,
            places=self.kinship.places(labels, nodes),
            informed=np.ones(len(labels), dtype=bool),
        )
