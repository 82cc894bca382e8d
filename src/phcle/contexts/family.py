"""FamilyContext: relatives of labels, whose vectors are pulled together.

A tree or a graph, a `Kinship`, says with two sparse matrices how labels are related.
`places` S says where labels hang: each label is pulled to its centre S P, the mean of
the nodes that it hangs on. `bonds` Q holds the nodes together: the penalty on their
vectors is tr(Pᵀ Q P). W sees a linear term; P is solved from W.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from array_api_compat import to_device
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.backends.distributed import Processes
from phcle.backends.protocol import Array, Backend
from phcle.contexts.cooccurrence import LabelLinks
from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.labels import index_of, positions_of, some_names
from phcle.contexts.matrices import LARGEST, take_rows
from phcle.contexts.protocol import (
    AT,
    EVERY,
    HAS,
    LACKS,
    Blocks,
    Codes,
    Context,
    LinearUpdate,
    Local,
    Pair,
    Penalties,
    Reasons,
    Sample,
    Target,
    Term,
    sparse_target,
)
from phcle.errors import ContextError, some
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
        counted = tree.edges[(is_above | is_label)[tree.edges[:, 0]]]
        n_below = np.bincount(counted[:, 1], minlength=n) + is_label
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


SHARED = 0.2
"""A relative is one of both labels if its share in the centre of one is at least this
part of its share in the other. Siblings have about equal shares of their relatives; one
level between them divides a share by ten or more."""


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
    source : str
        Name of the context that it was made from.
    informed : array of bool of shape (labels,)
        In a fit: labels of the problem that other contexts say something about.
    teachers : tuple of str
        Labels that the nodes were solved from.
    """

    kinship: Kinship
    source: str
    informed: Any = field(default=None, kw_only=True)
    teachers: tuple[str, ...] = field(default=(), kw_only=True)

    kind = "family"
    order = 0
    turns_with_labels = True
    flat_files = ("edges",)

    @property
    def given_name(self) -> str:
        """Name of the context that it was made from."""
        return self.source

    @property
    def has_values(self) -> Flags:
        """Every label has its place."""
        return np.ones(len(self.labels), dtype=bool)

    def relatives(self, known: Collection[str] = ()) -> Kinship:
        """The tree or graph."""
        return self.kinship

    # ---- in a fit ----

    def in_fit(self, labels: Sequence[str]) -> FamilyContext:
        """Find the nodes that these labels need, and where the labels hang."""
        found = self.changed(columns=self.kinship.nodes_for(labels))
        return found._placed(labels, are_told=True)

    def _placed(self, labels: Sequence[str], *, are_told: bool) -> FamilyContext:
        rows = self.kinship.places(labels, self.columns)
        return self.changed(rows=rows, informed=np.full(len(labels), are_told))

    @property
    def informs(self) -> Flags:
        """Nothing: relatives only share what other contexts say."""
        return np.zeros(self.rows.shape[0], dtype=bool)

    @property
    def entries(self) -> sp.csr_array:
        """Nothing, because centres are no entries of rows."""
        return sp.csr_array(self.rows.shape)

    def beside(self, informed: Flags) -> FamilyContext:
        """The context with the labels that other contexts know."""
        return self.changed(informed=informed)

    def take(self, rows: Ints) -> FamilyContext:
        """The context over some of the labels of the problem."""
        return self.changed(rows=self.rows[rows], informed=self.informed[rows])

    def uninformed_error(self, labels: Sequence[str]) -> ContextError | None:
        """The error if labels hang on nodes about which nothing is known."""
        if not self.informed.any():
            return ContextError(
                f"context {self.name!r}: with role='family', relatives share what "
                "other contexts tell about them, and no other context knows any "
                "label; use role='counts'."
            )
        direct = np.asarray(self.rows[self.informed].sum(axis=0)).ravel() > 0
        taught = self.kinship.taught(self.columns, direct)
        lost = ~self.informed & self.observed & (self.rows @ taught == 0)
        if not lost.any():
            return None
        names = some(some_names(labels, np.flatnonzero(lost)))
        return ContextError(
            f"context {self.name!r}: nothing is known about {names}, nor "
            "about any label of their families, so they would all get one vector; "
            "use role='both' or 'counts', or leave them out."
        )

    @cached_property
    def bonds(self) -> sp.csr_array:
        """What holds the nodes of the fit together."""
        return self.kinship.bonds(self.columns)

    def fingerprint_arrays(self) -> list[Any]:
        """Where labels hang, and what holds the nodes together."""
        return [self.rows, self.bonds]

    def term_weight(self, weight: float, lam: Penalties) -> float:
        """λ3 α."""
        return weight * lam.ridge

    def label_term(self, backend: Backend, blocks: Blocks, lam: Penalties) -> Term:
        return CentreTerm(backend, self.rows, blocks)

    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> NodeUpdate:
        return NodeUpdate(backend, self, lam)

    def penalties(self, xp: Any, factor: Array, lam: Penalties) -> Mapping[str, float]:
        """What holds the nodes together: λ3 γ tr(Pᵀ Q P) / 2."""
        P = np.asarray(to_device(factor, "cpu"), np.float64)
        square = float((P * (self.bonds @ P)).sum())
        return {"family": 0.5 * lam.ridge * lam.stiffness * square}

    def target(self, backend: Backend, weight: float, lam: Penalties) -> Target:
        return sparse_target(backend, self.entries, 0.0)

    def teaches(self, weight: float) -> Flags:
        """Find the labels from whose vectors the nodes are solved.

        Parameters
        ----------
        weight : float
            α of the family.

        Returns
        -------
        array of bool of shape (labels,)
            Labels that hang on nodes. At a weight of one, an uninformed label lies on
            its centre and teaches the nodes nothing; below one, it lies elsewhere.
        """
        return self.observed & self.informed if weight >= 1 else self.observed

    def learned(
        self, labels: Sequence[str], weight: float, factor: AnyFloats
    ) -> FamilyContext:
        """The context with the labels that hang somewhere, and those that teach."""
        own, teach = (np.flatnonzero(x) for x in (self.observed, self.teaches(weight)))
        found = super().learned(labels, weight, factor)
        teachers = self.teachers or some_names(labels, teach)
        return found.changed(labels=some_names(labels, own), teachers=teachers)

    # ---- in an embedding ----

    def _hang(self, labels: Sequence[str]) -> AnyFloats:
        """Where labels hang: (labels, nodes)."""
        places = self.kinship.places(labels, self.columns)
        return np.asarray(places.toarray(), np.float64)

    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
        return np.asarray(self.term_weight(self.weight, lam) * self._hang([label])[0])

    def standing(self, label: str) -> Codes:
        return np.where(self._hang([label])[0] > 0, HAS, LACKS).astype(np.int8)

    @property
    def verbs(self) -> tuple[str, str]:
        is_tree = self.hierarchy is not None
        return ("are below", "is below") if is_tree else ("are near", "is near")

    def reasons(self, pair: Pair) -> Reasons:
        """The labels that teach the nodes on which both labels hang."""
        vectors = pair.vectors_of(self.teachers)
        if vectors is None or not (self.weight and self.teachers):
            return super().reasons(pair)
        places = self.kinship.places(self.teachers, self.columns)
        solver = _factorised(places, self.bonds, self.weight, pair.lam.stiffness)
        shares = self.weight * (places @ solver.solve(self._hang(pair.labels).T)).T
        weight = self.term_weight(self.weight, pair.lam) / 2
        parts = weight * shares * (pair.vectors[::-1] @ vectors.T)  # (2, teachers)
        is_shared, own = shares.min(axis=0) >= SHARED * shares.max(axis=0), np.zeros(2)
        groups = np.where(is_shared, AT["relatives_of_both"], AT["relatives_of_one"])
        for i, at in enumerate(positions_of(pair.labels, index_of(self.teachers))):
            if at >= 0:
                own[i], parts[i, at] = parts[i, at], 0.0
                groups[at] = AT["each_other"]
        found = np.append(parts.sum(axis=0), own)
        groups = np.append(groups, [AT["own_data"]] * 2)
        names, unnamed = (*self.teachers, *pair.labels), np.zeros(len(found), bool)
        return Reasons(names, found, groups, found, unnamed)

    def for_new_labels(
        self, context: Context | None, labels: Sequence[str], names: Mapping[str, str]
    ) -> FamilyContext:
        kinship = self.kinship
        if context is not None:
            new = context.relatives(self.kinship.index)
            if type(new) is not type(kinship):
                raise self.other_kind_error()
            kinship = kinship.extended(new, name=self.name)  # type: ignore[arg-type]
        found = self.changed(kinship=kinship, labels=tuple(labels))
        return found._placed(labels, are_told=False)

    def _joined(self, later: FamilyContext) -> dict[str, Any]:
        return {"kinship": later.kinship}

    def pack(self, store: TensorStore) -> dict[str, Any]:
        store.put_names("labels", self.labels)
        store.put_names("teachers", self.teachers)
        self.kinship.pack(store)
        return {"kinship": self.kinship.shape, "given_name": self.source}

    @classmethod
    def _unpacked(cls, packed: Mapping[str, Any], store: TensorStore) -> dict[str, Any]:
        return {
            "kinship": unpack_kinship(packed["kinship"], store),
            "source": packed["given_name"],
            "teachers": store.names("teachers"),
        }

    def check(self) -> None:
        where = f"context {self.name!r}"
        self.kinship.check(self.name)
        named = (*self.columns, *self.teachers)
        unknown = [x for x in named if x not in self.kinship.index]
        if unknown:
            raise ContextError(f"{where} has no node {unknown[0]!r}")
        if not 0 <= self.weight <= 1:
            raise ContextError(f"the weight of {where} must be from 0 to 1")
        if not isinstance(self.source, str):
            raise ContextError(f"{where} does not say which context it comes from")


class CentreTerm(Term):
    """The term α Σ_y [ ½‖c_y‖² − c_y · y ] with the centres C = S P.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    places : csr_array of shape (labels, nodes)
        S.
    blocks : sequence of Block
        Blocks of labels that are updated together.
    """

    centres: Array
    weight: float

    def __init__(self, backend: Backend, places: sp.csr_array, blocks: Blocks) -> None:
        self.backend, self.blocks = backend, blocks
        self.places = backend.sparse(places)

    def at(self, other: Array, weight: float, *, sample: Sample | None = None) -> Self:
        view = copy(self)
        view.centres = self.places @ other
        view.weight = weight
        return view

    def local(self, block: int, y: Array, chosen: Array | slice = EVERY) -> Local:
        xp, rows = self.backend.xp, self.blocks[block].at[chosen]
        return _LocalCentre(xp, y, xp.take(self.centres, rows, axis=0), self.weight)


class _LocalCentre(Local):
    def __init__(self, xp: Any, y: Array, centre: Array, weight: float) -> None:
        self.xp, self.weight = xp, weight
        self.centre, self.gradient = centre, -weight * centre
        self.value = self.value_at(y, slice(None))

    def value_at(self, y: Array, chosen: Array | slice) -> Array:
        centre = self.centre[chosen]
        return self.weight * self.xp.sum(centre * (0.5 * centre - y), axis=1)

    def product(self, z: Array, *, exact: bool = False) -> Array:
        return self.xp.zeros_like(z)

    def mean_curvature(self) -> Array:
        like = self.gradient[:0]
        return self.xp.matmul(like.T, like)


def _factorised(
    places: sp.csr_array, bonds: sp.csr_array, pull: float, stiffness: float
) -> Any:
    """Factorise pull · SᵀS + stiffness · Q; `solve` multiplies by the inverse."""
    matrix = sp.csc_array(pull * (places.T @ places) + stiffness * bonds)
    # It is symmetric and positive definite: no pivoting, and little fill for trees.
    return splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


class NodeUpdate(LinearUpdate):
    """Solves the node vectors P for fixed W, exactly and on the host.

    Labels about which no other context knows anything are left out if the family is the
    only one: at the optimum they lie on their centres, and would only slow sweeps down.

    Parameters
    ----------
    backend : Backend
        Where W and P are.
    family : FamilyContext
        Places S of labels on nodes, and bonds Q of the nodes.
    lam : Penalties
        λ3 and γ.
    """

    def __init__(self, backend: Backend, family: FamilyContext, lam: Penalties) -> None:
        self.backend, self.family = backend, family
        self.ridge, self.stiffness = lam.ridge, lam.ridge * lam.stiffness
        self.places = backend.sparse(family.rows)
        self.bonds = backend.sparse(family.bonds)
        self.prepared = lru_cache(maxsize=1)(self._prepared)

    def _prepared(self, weight: float) -> tuple[Array, sp.csr_array, Any]:
        """Labels that the nodes are solved from, their places, and the solver."""
        rows = np.flatnonzero(self.family.teaches(weight / self.ridge))
        places = sp.csr_array(self.family.rows[rows])
        solver = _factorised(places, self.family.bonds, weight, self.stiffness)
        return self.backend.indices(rows), places, solver

    def improve(self, W: Array, factor: Array, weight: float) -> Array:
        """Solve for all nodes, which depend on W linearly."""
        return self._nodes(W, weight, Processes())

    def response(self, change: Array, weight: float) -> Array:
        """Solve for the change of the nodes, and for how these pull the labels."""
        nodes = self._nodes(change, weight, self.backend.processes)
        pulled = self.backend.xp.zeros_like(change)
        if nodes.shape[0] and weight:
            at, _, _ = self.prepared(weight)
            centres = self.places @ nodes
            pulled[at] = weight * self.backend.xp.take(centres, at, axis=0)
        return pulled

    def _nodes(self, W: Array, weight: float, processes: Processes) -> Array:
        """The nodes for rows whose parts are held by some processes."""
        n_nodes = len(self.family.columns)
        if not (n_nodes and weight):
            return self.backend.asarray(np.zeros((n_nodes, W.shape[1])))
        at, places, solver = self.prepared(weight)
        known = self.backend.to_numpy(self.backend.xp.take(W, at, axis=0))
        target = weight * (places.T @ np.asarray(known, np.float64))
        target = np.ascontiguousarray(processes.sum_over(target))
        return self.backend.asarray(solver.solve(target))

    def label_grams(
        self, W: Array, factor: Array, weight: float
    ) -> tuple[Array, Array]:
        """Gram matrices of the term and of the penalty on the nodes."""
        xp = self.backend.xp
        centres, bent = self.places @ factor, self.bonds @ factor
        C, W, P, QP = (xp.astype(x, xp.float64) for x in (centres, W, factor, bent))
        across = xp.matmul(C.T, W)
        of_term = weight * (xp.matmul(C.T, C) - across - across.T)
        return of_term, self.stiffness * xp.matmul(P.T, QP)
