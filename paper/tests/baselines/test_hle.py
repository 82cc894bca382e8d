"""HLE by hand on a tree of six nodes, and by brute force on others."""

from __future__ import annotations

from math import log

import networkx as nx
import numpy as np
import pytest

from phcle import RelationalContext
from phcle.contexts import Hierarchy
from phcle.errors import ContextError, OptionError
from phcle_paper.baselines import hierarchy_embedding

EDGES = [
    ("cat", "felid"),
    ("lion", "felid"),
    ("dog", "canid"),
    ("felid", "animal"),
    ("canid", "animal"),
]
NODES = ("cat", "lion", "dog", "felid", "canid", "animal")
LEAF, FELID = log(3), log(3 / 2)  # information content; canid has but one leaf: log 3

BY_HAND = {
    "path": {
        "cat": [1, 1 / 3, 1 / 5, 1 / 2, 1 / 4, 1 / 3],
        "dog": [1 / 5, 1 / 5, 1, 1 / 4, 1 / 2, 1 / 3],
    },
    "lin": {
        "cat": [1, FELID / LEAF, 0, 2 * FELID / (LEAF + FELID), 0, 0],
        "dog": [0, 0, 1, 0, 1, 0],
    },
}


@pytest.fixture
def tree():
    return Hierarchy.from_edges(EDGES)


@pytest.mark.parametrize("similarity", BY_HAND)
def test_similarities_equal_those_by_hand_and_are_mutual(tree, similarity):
    embedding = hierarchy_embedding(tree, nodes=NODES, similarity=similarity)
    assert embedding.labels == ("cat", "lion", "dog")
    for label, vector in BY_HAND[similarity].items():
        np.testing.assert_allclose(embedding[label], vector, err_msg=label)
    everyone = hierarchy_embedding(tree, NODES, nodes=NODES, similarity=similarity)
    np.testing.assert_allclose(np.diag(everyone.vectors), 1)
    np.testing.assert_allclose(everyone.vectors, everyone.vectors.T)


def test_path_agrees_with_networkx_on_a_random_tree(rng):
    edges = [(f"n{i}", f"n{rng.integers(0, i)}") for i in range(1, 40)]
    tree = Hierarchy.from_edges(edges)
    embedding = hierarchy_embedding(tree, tree.nodes)
    # In a tree every path leads over a common ancestor.
    paths = dict(nx.all_pairs_shortest_path_length(nx.Graph(edges)))
    expected = [[1 / (1 + paths[a][b]) for b in tree.nodes] for a in tree.nodes]
    np.testing.assert_allclose(embedding.vectors, expected)


@pytest.mark.parametrize("similarity", ["path", "lin"])
def test_coffeepot_has_the_neighbours_of_the_paper(imagenet, similarity):
    embedding = hierarchy_embedding(
        imagenet.hierarchy(),
        nodes=imagenet.labels,
        similarity=similarity,
        names=imagenet.names,
    )
    assert embedding.vectors.shape == (1000, 1000)
    near = {imagenet.names[x]: c for x, c in embedding.nearest("coffeepot", k=12)}
    # The paper lists cauldron, teapot, barrel, bathtub, bucket: two and three that tie.
    assert set(list(near)[:2]) == {"caldron", "teapot"}
    third = list(near.values())[2]
    for name in ("barrel", "bathtub", "bucket"):
        assert near[name] == pytest.approx(third, abs=1e-9)


def test_wrong_input_is_named(tree):
    with pytest.raises(OptionError, match=r"path, lin. Got 'lim'.*Did you mean 'lin'"):
        hierarchy_embedding(tree, similarity="lim")
    with pytest.raises(ContextError, match=r"labels: 'lio'.*Did you mean 'lion'"):
        hierarchy_embedding(tree, ["lio"])
    with pytest.raises(ContextError, match="nodes: 'plant' is not a node"):
        hierarchy_embedding(tree, nodes=["plant"])
    with pytest.raises(ContextError, match="Got 'friends' instead"):
        hierarchy_embedding(RelationalContext.from_edges([("a", "b")], name="friends"))
