"""How labels hang on nodes, and nodes on each other: in a tree, or in a graph.

Both answer with two sparse matrices. `places` S says where labels hang: S P are the
vectors that labels are pulled to. `bonds` Q holds the nodes together: the penalty on
their vectors is tr(Pᵀ Q P).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from phcle.arrays import Flags, Floats
from phcle.contexts.cooccurrence import LabelLinks, joined
from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.labels import index_of, positions_of
from phcle.contexts.matrices import LARGEST, take_rows
from phcle.errors import ContextError
from phcle.files.container import TensorStore

GROUND = 0.1
"""Pull of the nodes of a graph to zero, as a share of their mean bond to neighbours.
Without it, a part of the graph without data would be free to lie anywhere."""


@dataclass(frozen=True, eq=False)
class TreeKinship:
    """A taxonomy. A label hangs on its parent, the mean of several; roots on zero.

    Parameters
    ----------
    hierarchy : Hierarchy
        The taxonomy.
    """

    hierarchy: Hierarchy

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """Names of all nodes, whether a fit needs them or not."""
        return self.hierarchy.nodes

    @cached_property
    def _parents(self) -> sp.csr_array:
        """Share of each parent: (nodes, nodes). Empty rows are roots."""
        n = len(self.hierarchy.nodes)
        child, parent = self.hierarchy.edges.T
        share = 1.0 / np.bincount(child, minlength=n)[child]
        return sp.csr_array((share, (child, parent)), shape=(n, n))

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
        tree, n = self.hierarchy, len(self.hierarchy.nodes)
        known = [label for label in labels if label in tree.index]
        _, nodes, steps = tree.ancestor_distances(known)
        is_above, is_label = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        is_above[nodes[steps > 0]] = True
        is_label[nodes[steps == 0]] = True
        child, parent = tree.edges.T
        counted = is_above[child] | is_label[child]
        n_below = np.bincount(parent[counted], minlength=n)
        n_below += is_label & is_above  # the label itself
        return tuple(tree.nodes[i] for i in np.flatnonzero(is_above & (n_below > 1)))

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
        at = positions_of(labels, self.hierarchy.index)
        # A label that is a node of the fit hangs on itself.
        is_own = positions_of(labels, index_of(nodes)) >= 0
        start = take_rows(self._parents, np.where(is_own, -1, at))
        itself = sp.csr_array(sp.eye_array(len(self.all_nodes)))
        start = start + take_rows(itself, np.where(is_own, at, -1))
        return self._climbed(sp.csr_array(start), nodes)

    def bonds(self, nodes: Sequence[str]) -> sp.csr_array:
        """Return the penalty (I − T)ᵀ Ω (I − T), where T takes the mean of parents.

        Ω is the identity, or has one part in the length of the way up to the parents,
        with a mean of one: variance grows with length, as in Brownian motion.

        Parameters
        ----------
        nodes : sequence of str
            Nodes of the fit.

        Returns
        -------
        csr_array of shape (nodes, nodes)
            Q.
        """
        apart = sp.csr_array(sp.eye_array(len(nodes)) - self._up(nodes))
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
        at = positions_of(nodes, self.hierarchy.index)
        return self._climbed(take_rows(self._parents, at), nodes)

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
        up = sp.csr_array(self._up(nodes).T)
        while True:
            found = direct | (up @ direct.astype(np.float64) > 0)
            if (found == direct).all():
                return direct
            direct = found

    def _climbed(self, start: sp.csr_array, nodes: Sequence[str]) -> sp.csr_array:
        """Replace nodes that the fit lacks by their parents, until none is left."""
        at = positions_of(nodes, self.hierarchy.index)
        is_node = np.zeros(len(self.all_nodes))
        is_node[at] = 1.0
        kept, gone = sp.diags_array(is_node), sp.diags_array(1.0 - is_node)
        found = sp.csr_array(start @ kept)
        while True:  # ends, because a hierarchy has no cycle
            start = sp.csr_array(start @ gone)
            start.eliminate_zeros()
            if not start.nnz:
                return _in_order(sp.csr_array(found)[:, at])
            start = sp.csr_array(start @ self._parents)
            found = found + start @ kept

    def extended(self, new: TreeKinship, *, name: str) -> TreeKinship:
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
        nodes, edges = new.hierarchy.nodes, new.hierarchy.edges
        is_new = np.array([node not in self.hierarchy.index for node in nodes])
        added = Hierarchy(nodes, edges[is_new[edges[:, 0]]])
        if not len(added.edges):
            return self
        added = added.measured(new.hierarchy.lengths_by_edge)
        return TreeKinship(self.hierarchy.extended(added, name=name))

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
        self.hierarchy.pack(store)
        return "tree"

    def check(self, name: str) -> None:
        """Refuse edges that make no tree or graph, because files can be forged.

        Parameters
        ----------
        name : str
            Name of the context, for messages.
        """
        self.hierarchy.check(name)


@dataclass(frozen=True, eq=False)
class GraphKinship:
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
        at, found = index_of(names), sp.coo_array(counts)
        ends = [
            positions_of(own, at)[i]
            for own, i in zip((labels, columns), found.coords, strict=True)
        ]
        weights = sp.csr_array((found.data, ends), shape=(len(names),) * 2)
        return cls(names, sp.csr_array(weights.maximum(weights.T)), triples)

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """Names of all nodes, whether a fit needs them or not."""
        return self.names

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return index_of(self.names)

    def nodes_for(self, labels: Sequence[str]) -> tuple[str, ...]:
        """All labels that have an edge to another one.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        tuple of str
            The nodes.
        """
        here = [label for label in labels if label in self._index]
        linked = _degrees(self._among(here)) > 0
        return tuple(label for label, is_in in zip(here, linked, strict=True) if is_in)

    def _among(self, names: Sequence[str]) -> sp.csr_array:
        """Weights between some nodes, in both directions."""
        at = positions_of(names, self._index)
        part = sp.csr_array(self.weights[at][:, at])
        return sp.csr_array(part + part.T)

    def places(self, labels: Sequence[str], nodes: Sequence[str]) -> sp.csr_array:
        """A label's own node; a new label hangs between its neighbours.

        Parameters
        ----------
        labels : sequence of str
            The labels.
        nodes : sequence of str
            Nodes of the fit.

        Returns
        -------
        csr_array of shape (labels, nodes)
            S.
        """
        own = positions_of(labels, index_of(nodes))
        at, among = positions_of(labels, self._index), positions_of(nodes, self._index)
        new = np.where(own < 0, at, -1)
        back = sp.csr_array(self.weights.T)
        near = sp.csr_array(take_rows(self.weights, new) + take_rows(back, new))
        shares, ground = sp.csr_array(near[:, among]), 1.0
        if near.nnz:
            ground = GROUND * float(_degrees(self._among(nodes)).mean())
        shares = sp.csr_array(sp.diags_array(1 / (_degrees(shares) + ground)) @ shares)
        itself = take_rows(sp.csr_array(sp.eye_array(len(nodes))), own)
        return sp.csr_array(shares + itself)

    def bonds(self, nodes: Sequence[str]) -> sp.csr_array:
        """The Laplacian with a mean degree of one, and a weak pull to zero.

        Parameters
        ----------
        nodes : sequence of str
            Nodes of the fit.

        Returns
        -------
        csr_array of shape (nodes, nodes)
            Q.
        """
        among = self._among(nodes)
        degrees = _degrees(among)
        unit = (float(degrees.sum()) or 1.0) / max(len(nodes), 1)
        held = sp.diags_array(degrees / unit + GROUND)
        return _in_order(held - among / unit)

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
        _, part = connected_components(self._among(nodes), directed=False)
        return np.isin(part, part[direct])

    def extended(self, new: GraphKinship, *, name: str) -> GraphKinship:
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
        names = tuple(dict.fromkeys((*self.names, *new.names)))
        n, moved = len(names), positions_of(new.names, index_of(names))
        found, old = sp.coo_array(new.weights), sp.coo_array(self.weights)
        ends = np.array([moved[i] for i in found.coords])
        is_new = (ends >= len(self.names)).any(axis=0)
        added = sp.csr_array((found.data[is_new], ends[:, is_new]), shape=(n, n))
        larger = sp.csr_array((old.data, old.coords), shape=(n, n))
        return GraphKinship(
            names, sp.csr_array(larger + added), joined(self.triples, new.triples)
        )

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
        store.put_names("nodes", self.names)
        store.put_sparse("graph", self.weights)
        if self.triples is not None:
            self.triples.pack(store)
        return "graph"

    def check(self, name: str) -> None:
        """Refuse edges that make no tree or graph, because files can be forged.

        Parameters
        ----------
        name : str
            Name of the context, for messages.
        """
        if len(set(self.names)) < len(self.names):
            raise ContextError(f"a node of {name!r} occurs twice")
        if self.weights.shape != (len(self.names),) * 2:
            raise ContextError(f"the edges of {name!r} name nodes that it lacks")
        weights = self.weights.data
        if not ((weights >= 0) & (weights <= LARGEST)).all():
            raise ContextError(f"the edges of {name!r} must be from 0 to {LARGEST:g}")


Kinship = TreeKinship | GraphKinship
"""What makes labels relatives of each other."""


def _degrees(weights: sp.csr_array) -> Floats:
    return np.asarray(weights.sum(axis=1), np.float64).ravel()


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
