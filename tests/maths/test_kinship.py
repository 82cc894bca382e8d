"""Where labels hang in a tree or graph, against a slow oracle in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phcle import RelationalContext
from phcle.contexts import Hierarchy
from phcle.contexts.family import GROUND, GraphKinship, TreeKinship


def kinship(edges):
    return TreeKinship(Hierarchy.from_edges(edges))


def centres(kinship, labels):
    """Shares of the nodes in every label's centre, by name."""
    nodes = kinship.nodes_for(labels)
    places = kinship.places(labels, nodes).toarray()
    return {
        label: {node: share for node, share in zip(nodes, row, strict=True) if share}
        for label, row in zip(labels, places, strict=True)
    }


class Oracle:
    """The same tree, followed edge by edge."""

    def __init__(self, edges, labels):
        self.parents, self.children = {}, {}
        for child, parent in edges:
            self.parents.setdefault(child, []).append(parent)
            self.children.setdefault(parent, []).append(child)
        self.names = {end for edge in edges for end in edge}
        self.labels = [label for label in labels if label in self.names]
        self.nodes = {name for name in self.names if self.is_kept(name)}

    def leads_to_a_label(self, name):
        return name in self.labels or any(
            self.leads_to_a_label(child) for child in self.children.get(name, [])
        )

    def is_kept(self, name):
        below = [c for c in self.children.get(name, []) if self.leads_to_a_label(c)]
        return bool(below) and len(below) + (name in self.labels) > 1

    def mean_above(self, name):
        total = {}
        parents = self.parents.get(name, [])
        for parent in parents:
            found = {parent: 1.0} if parent in self.nodes else self.mean_above(parent)
            for node, share in found.items():
                total[node] = total.get(node, 0.0) + share / len(parents)
        return total

    def centre(self, label):
        return {label: 1.0} if label in self.nodes else self.mean_above(label)


@st.composite
def trees(draw):
    n = draw(st.integers(2, 12))
    edges = [
        (f"n{child}", f"n{parent}")
        for child in range(n - 1)
        for parent in draw(
            st.sets(st.integers(child + 1, n - 1), max_size=3).map(sorted)
        )
    ]
    labels = draw(st.sets(st.integers(0, n), min_size=1).map(sorted))
    return edges or [("n0", "n1")], [f"n{i}" for i in labels]  # one may be outside


@given(trees())
def test_centres_and_bonds_of_any_tree_agree_with_the_oracle(tree):
    edges, labels = tree
    found, oracle = kinship(edges), Oracle(edges, labels)
    nodes = found.nodes_for(labels)
    assert set(nodes) == oracle.nodes
    for label, centre in centres(found, labels).items():
        expected = oracle.centre(label) if label in oracle.names else {}
        assert centre == pytest.approx(expected)
    apart = np.eye(len(nodes))
    for i, node in enumerate(nodes):
        for parent, share in oracle.mean_above(node).items():
            apart[i, nodes.index(parent)] -= share
    assert np.allclose(found.bonds(nodes).toarray(), apart.T @ apart)


@given(trees(), st.integers(0, 1000))
def test_nodes_with_data_below_them_are_taught(tree, seed):
    edges, labels = tree
    found, oracle = kinship(edges), Oracle(edges, labels)
    nodes = found.nodes_for(labels)
    direct = np.random.default_rng(seed).random(len(nodes)) < 0.3
    expected = {
        node for node, is_direct in zip(nodes, direct, strict=True) if is_direct
    }
    while True:
        more = {p for node in expected for p in oracle.mean_above(node)} - expected
        if not more:
            break
        expected |= more
    taught = found.taught(nodes, direct)
    assert {nodes[i] for i in np.flatnonzero(taught)} == expected


CATS = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]
BEASTS = [*CATS, ("felid", "beast"), ("canid", "beast")]


def test_a_deep_tree_of_pairs_keeps_every_level():
    edges = [(f"n{i}", f"n{i + 1}") for i in range(3000)]
    edges += [(f"leaf{i}", f"n{i}") for i in range(3001)]
    labels = [f"leaf{i}" for i in range(3001)] + ["n0"]
    found = kinship(edges)
    nodes = found.nodes_for(labels)
    assert len(nodes) == 3001
    assert found.places(labels, nodes).sum() == len(labels)


# ---- graphs ----


def graph(*edges):
    context = RelationalContext.from_edges(edges)
    return GraphKinship(context.labels, context.counts)


def test_bonds_of_a_graph_are_its_laplacian_with_a_mean_degree_of_one():
    found = graph(("cat", "dog"), ("dog", "wolf", 3))
    weights = np.array([[0, 1, 0], [1, 0, 3], [0, 3, 0]]) / (8 / 3)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    bonds = found.bonds(("cat", "dog", "wolf")).toarray()
    assert np.allclose(bonds, laplacian + GROUND * np.eye(3))


# ---- lengths ----


def dense_bonds(parent, length, nodes):
    """The inverse of the covariance of Brownian motion from the tops down.

    Two nodes share the variance of the steps above both. A step has its length over
    the harmonic mean of all steps; a top has one.
    """
    steps = {}
    for node in nodes:
        at, way = node, 0.0
        while at in parent:
            way += length[at]
            at = parent[at]
            if at in nodes:
                break
        steps[node] = (at if at in nodes and at != node else None, way)
    inverse = [1 / way for _, way in steps.values() if way]
    unit = len(inverse) / sum(inverse) if inverse else 1.0

    def above(node):
        found = {}
        while node is not None:
            up, way = steps[node]
            found[node] = way / unit if way else 1.0
            node = up
        return found

    ways = [above(node) for node in nodes]
    shared = [[sum(a[x] for x in a if x in b) for b in ways] for a in ways]
    return np.linalg.inv(shared)


@st.composite
def measured_trees(draw):
    n = draw(st.integers(3, 12))
    parent = {i: draw(st.integers(i + 1, n - 1)) for i in range(n - 1)}
    length = {i: draw(st.floats(0.01, 100)) for i in parent}
    labels = draw(st.sets(st.sampled_from(sorted(parent)), min_size=1))
    return parent, length, sorted(labels)


@given(measured_trees())
def test_bonds_of_a_tree_with_lengths_are_those_of_brownian_motion(drawn):
    parent, length, labels = drawn
    edges = [(str(i), str(p)) for i, p in parent.items()]
    lengths = {(str(i), str(parent[i])): x for i, x in length.items()}
    found = TreeKinship(Hierarchy.from_edges(edges).measured(lengths))
    nodes = found.nodes_for([str(i) for i in labels])
    assert nodes == kinship(edges).nodes_for([str(i) for i in labels])
    if nodes:
        expected = dense_bonds(parent, length, [int(x) for x in nodes])
        np.testing.assert_allclose(
            found.bonds(nodes).toarray(), expected, rtol=1e-6, atol=1e-9
        )


def test_lengths_stay_when_nodes_are_renamed_or_added():
    edges = [("a", "x"), ("b", "x"), ("x", "y"), ("c", "y")]
    tree = Hierarchy.from_edges(edges).measured({("a", "x"): 3.0, ("x", "y"): 1.0})
    assert tree.lengths.tolist() == [3.0, 2.0, 1.0, 2.0]  # the median, if unknown
    renamed = tree.renamed({"a": "A"}, name="t")
    assert renamed.lengths_by_edge["A", "x"] == 3.0
    joined = tree.renamed({"a": "b"}, name="t")
    assert joined.lengths_by_edge["x", "y"] == 1.0
    for new in ([("d", "x")], [("d", "x"), ("c", "x")]):
        larger = tree.extended(Hierarchy.from_edges(new), name="t")
        assert larger.lengths_by_edge == {
            **tree.lengths_by_edge,
            **dict.fromkeys(new, 2.0),
        }
