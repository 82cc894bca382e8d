"""What the family says about a cell, against a plain loop over the hierarchy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts import Hierarchy
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.family_means import FamilyMeans, Groups
from phcle.contexts.masked import masked_matrix
from phcle.embedding.family_values import FamilyValues


def plain_means(values, labels, tree):
    """Means over the nearest group with a known value, one cell after the other."""
    found = np.full(values.shape, np.nan)
    inside = [i for i, label in enumerate(labels) if label in tree.index]
    rows, nodes, steps = tree.ancestor_distances([labels[i] for i in inside])
    rows = np.array(inside)[rows]
    members = {node: rows[nodes == node] for node in set(nodes.tolist())}
    for i in inside:
        for step in range(steps.max() + 1):
            for column in range(values.shape[1]):
                own = nodes[(rows == i) & (steps == step)]
                seen = [values[m, column] for n in own for m in members[n] if m != i]
                known = [x for x in seen if not np.isnan(x)]
                if np.isnan(found[i, column]) and known:
                    found[i, column] = np.mean(known)
    return found


@pytest.fixture
def tree(rng):
    """A tree of four levels in which some nodes have two parents."""
    names = [f"n{i}" for i in range(40)]
    edges = {(names[i], names[int(rng.integers(0, i))]) for i in range(1, 40)}
    edges |= {(names[i], names[int(rng.integers(0, i - 5))]) for i in (30, 35, 39)}
    return Hierarchy.from_edges(sorted(edges))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_means_equal_those_of_a_plain_loop(tree, rng):
    labels = [*tree.nodes, "not in the tree"]
    values = rng.normal(size=(len(labels), 3))
    values[rng.random(values.shape) < 0.7] = np.nan
    means = FamilyMeans(masked_matrix(values, None, "x"), Groups.of(labels, [tree]))
    rows = rng.permutation(len(labels))
    expected = plain_means(values, labels, tree)[rows]
    np.testing.assert_allclose(means.at(rows), expected, atol=1e-12)
    assert np.isnan(means.at(np.array([len(labels) - 1]))).all()


@pytest.mark.parametrize("has_mask", [True, False])
def test_sparse_values_give_the_means_of_dense_ones(tree, rng, has_mask):
    labels = list(tree.nodes)
    values = (rng.random((len(labels), 4)) < 0.2).astype(float)
    known = rng.random(values.shape) < 0.6 if has_mask else np.ones_like(values) > 0
    groups = Groups.of(labels, [tree])
    dense = masked_matrix(np.where(known, values, np.nan), None, "x")
    mask = sp.csr_array(known.astype(float)) if has_mask else None
    sparse = masked_matrix(sp.csr_array(values * known), mask, "x")
    every = np.arange(len(labels))
    np.testing.assert_allclose(
        FamilyMeans(sparse, groups).at(every), FamilyMeans(dense, groups).at(every)
    )


def test_a_label_never_sees_its_own_value(tree, rng):
    labels = list(tree.nodes)
    values = rng.normal(size=(len(labels), 1))
    groups = Groups.of(labels, [tree])
    before = FamilyMeans(masked_matrix(values, None, "x"), groups).at(np.array([7]))
    values[7] += 100
    after = FamilyMeans(masked_matrix(values, None, "x"), groups).at(np.array([7]))
    np.testing.assert_allclose(after, before)


@pytest.mark.parametrize("role", ["counts", "family", "both"])
def test_the_family_says_means_and_most_common_values_in_every_role(role):
    edges = [("cat", "felid"), ("lion", "felid"), ("tiger", "felid")]
    edges += [("dog", "canid"), ("wolf", "canid"), ("felid", "all"), ("canid", "all")]
    labels = ["cat", "lion", "tiger", "dog", "wolf"]
    looks = DescriptiveContext(
        "looks",
        labels,
        ["weight", "wild", "size=large", "size=small"],
        [[4, 0, 0, 1], [100, 1, 1, 0], [np.nan] * 4, [20, 0, 0, 1], [np.nan] * 4],
        log_columns=("weight",),
    )
    tree = RelationalContext.from_hierarchy(edges, labels=labels, role=role)
    model = PHCLE(dim=2, choose=False, calibrate=False)
    embedding = model.fit([tree, looks]).embedding_
    context = embedding.predicting[0]
    fields = [
        Field("weight", "number", slice(0, 1)),
        Field("wild", "truth", slice(1, 2)),
        Field("size", "category", slice(2, 4), ("large", "small")),
    ]
    rows = np.array([embedding.labels.index(x) for x in ("tiger", "wolf")])
    weight, wild, size = FamilyValues(embedding, context).at(rows, fields)
    assert weight == pytest.approx([20.0, 20.0])  # of 4 and 100: geometric
    assert wild == [False, False]
    assert size == ["small", "small"]  # a tie, which most labels decide


def test_without_a_hierarchy_the_family_says_nothing():
    looks = DescriptiveContext("looks", ["a", "b"], ["x", "y"], [[1, 0], [0, 1]])
    embedding = PHCLE(dim=1, choose=False, calibrate=False).fit(looks).embedding_
    found = FamilyValues(embedding, embedding.predicting[0])
    assert found.at(np.arange(2), [Field("x", "number", slice(0, 1))]) == [[None, None]]
