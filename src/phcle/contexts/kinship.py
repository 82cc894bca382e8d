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

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.cooccurrence import LabelLinks
from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.labels import index_of, positions_of, some_names
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
    shape = "tree"

    @property
    def index(self) -> Mapping[str, int]:
        """Position of every node, whether a fit needs it or not."""
        return self.hierarchy.index

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
        tree, n = self.hierarchy, len(self.index)
        known = [label for label in labels if label in self.index]
        _, nodes, steps = tree.ancestor_distances(known)
        is_above, is_label = np.zeros((2, n), dtype=bool)
        is_above[nodes[steps > 0]] = True
        is_label[nodes[steps == 0]] = True
        child, parent = tree.edges.T
        counted = (is_above | is_label)[child]
        n_below = np.bincount(parent[counted], minlength=n) + is_label
        return some_names(tree.nodes, np.flatnonzero(is_above & (n_below > 1)))

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
        itself = sp.csr_array(sp.eye_array(len(self.index)))
        return self._climbed(take_rows(itself, positions_of(labels, self.index)), nodes)

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
        at = positions_of(nodes, self.index)
        up = self._climbed(take_rows(self._parents, at), nodes)
        apart = sp.csr_array(sp.eye_array(len(nodes)) - up)
        closeness = np.ones(len(nodes))
        if self.hierarchy.lengths is not None:
            ways = self._ways_up(at)
            below = ways > 0  # the others hang on nothing
            closeness[below] = 1.0 / ways[below]
            closeness[below] /= closeness[below].mean() if below.any() else 1.0
        return _in_order(apart.T @ sp.diags_array(closeness) @ apart)

    def _ways_up(self, at: Ints) -> Floats:
        """Lengths of the ways from some nodes to those of them above, or to the top."""
        n, child = len(self.index), self.hierarchy.edges[:, 0]
        total = np.bincount(child, weights=self.hierarchy.lengths, minlength=n)
        way = own = total / np.maximum(np.bincount(child, minlength=n), 1)
        while True:  # ends, because a hierarchy has no cycle
            beyond = way.copy()
            beyond[at] = 0.0
            longer = own + self._parents @ beyond
            if (longer == way).all():
                return np.asarray(way[at])
            way = longer

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
        known = [node for node, is_in in zip(nodes, direct, strict=True) if is_in]
        _, above, _ = self.hierarchy.ancestor_distances(known)
        return np.isin(positions_of(nodes, self.index), above)

    def _climbed(self, start: sp.csr_array, nodes: Sequence[str]) -> sp.csr_array:
        """Replace nodes that the fit lacks by their parents, until none is left."""
        at = positions_of(nodes, self.index)
        is_gone = np.ones(len(self.index))
        is_gone[at] = 0.0
        found = sp.csr_array(start[:, at])
        while start.nnz:  # ends, because a hierarchy has no cycle
            start = sp.csr_array(start @ sp.diags_array(is_gone) @ self._parents)
            start.eliminate_zeros()
            found = found + start[:, at]
        return _in_order(found)

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
        tree = new.hierarchy
        is_new = positions_of(tree.nodes, self.index) < 0
        added = Hierarchy(tree.nodes, tree.edges[is_new[tree.edges[:, 0]]])
        if not len(added.edges):
            return self
        added = added.measured(tree.lengths_by_edge)
        return TreeKinship(self.hierarchy.extended(added, name=name))

    def pack(self, store: TensorStore) -> None:
        """Put all edges into a file's store.

        Parameters
        ----------
        store : TensorStore
            Where to put them.
        """
        self.hierarchy.pack(store)

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
    shape = "graph"

    @property
    def links(self) -> LabelLinks | None:
        """Its edges, with their relations if they have any."""
        return self.triples or LabelLinks.between(self.names, self.names, self.weights)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of every node, whether a fit needs it or not."""
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
        here = [label for label in labels if label in self.index]
        return some_names(here, np.flatnonzero(_degrees(self._among(here)) > 0))

    def _among(self, names: Sequence[str]) -> sp.csr_array:
        """Weights between some nodes, in both directions."""
        at = positions_of(names, self.index)
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
        own, among = positions_of(labels, index_of(nodes)), self._among(nodes)
        new = np.where(own < 0, positions_of(labels, self.index), -1)
        both = sp.csr_array(self.weights + self.weights.T)
        shares = take_rows(both, new)[:, positions_of(nodes, self.index)]
        ground = GROUND * float(_degrees(among).mean()) if shares.nnz else 1.0
        shares = sp.diags_array(1 / (_degrees(shares) + ground)) @ shares
        itself = sp.csr_array(sp.eye_array(len(nodes)))
        return sp.csr_array(shares + take_rows(itself, own))

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
        n, found = len(self.names), sp.coo_array(new.weights)
        ends = positions_of(new.names, index_of(names))[np.array(found.coords)]
        is_new = (ends >= n).any(axis=0)
        later = sp.csr_array((len(names) - n, len(names) - n))
        old = sp.csr_array(sp.block_diag([self.weights, later]))
        added = sp.csr_array((found.data[is_new], ends[:, is_new]), shape=old.shape)
        links = self.triples and self.triples.joined(new.triples)
        return GraphKinship(names, sp.csr_array(old + added), links)

    def pack(self, store: TensorStore) -> None:
        """Put all edges into a file's store.

        Parameters
        ----------
        store : TensorStore
            Where to put them.
        """
        store.put_names("nodes", self.names)
        store.put_sparse("graph", self.weights)
        if self.triples is not None:
            self.triples.pack(store)

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
    if shape == "tree":
        return TreeKinship(Hierarchy.unpack(store))
    if shape != "graph":
        raise ContextError(f"relatives must be in a tree or a graph. Got {shape!r}")
    names = store.names("nodes")
    weights = store.sparse("graph", len(names))
    return GraphKinship(names, weights, LabelLinks.unpack(store))
