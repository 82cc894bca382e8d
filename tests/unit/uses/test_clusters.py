"""Clusters of labels, families of a taxonomy, and the pictures."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

from phcle import LabelEmbedding
from phcle.contexts import Hierarchy
from phcle.errors import BackendError, ContextError, OptionError
from phcle.uses.clusters import (
    agreement,
    cluster_labels,
    families,
    family_level,
    path_lengths,
)
from phcle.uses.similarity_heatmap import draw_heatmaps

EDGES = [
    *((f"cat{i}", "felid") for i in range(4)),
    *((f"dog{i}", "canid") for i in range(4)),
    *((f"carp{i}", "cyprinid") for i in range(4)),
    *(("felid", "carnivore"), ("canid", "carnivore"), ("carnivore", "animal")),
    *(("cyprinid", "fish"), ("fish", "animal")),
    ("dog0", "animal"),  # a short cut
]


@pytest.fixture
def tree():
    return Hierarchy.from_edges(EDGES)


@pytest.fixture
def zoo(tree, rng):
    """Vectors that say what the tree says, with a little noise."""
    labels = tree.leaves
    centres = {"cat": [1, 0, 0.4], "dog": [0, 1, 0.4], "carp": [-1, -1, 0.2]}
    vectors = np.array([centres[x.rstrip("0123")] for x in labels], float)
    return LabelEmbedding(labels, vectors + 0.05 * rng.normal(size=vectors.shape))


def test_clusters_are_the_groups_in_the_vectors(zoo):
    found = cluster_labels(zoo, n=3)
    kinds = {frozenset(x.rstrip("0123") for x in group) for group in found.groups}
    assert kinds == {frozenset({"cat"}), frozenset({"dog"}), frozenset({"carp"})}
    assert set(found.group_of("dog2")) == {f"dog{i}" for i in range(4)}
    assert sorted(found.labels) == sorted(zoo.labels)


def test_similarity_and_heights_belong_to_the_ordered_labels(zoo):
    found = cluster_labels(zoo, n=3)
    ordered = zoo.select(found.labels)
    apart = pdist(ordered.vectors, "cosine")
    assert np.allclose(found.similarity, 1 - squareform(apart))
    heights = squareform(cophenet(linkage(apart, "average")))
    assert np.allclose(found.heights, heights)


def test_number_of_clusters_is_as_asked_or_refused(zoo):
    for n in (1, 5, 12):
        assert len(cluster_labels(zoo, n=n).groups) == n
    with pytest.raises(OptionError, match="from 1 to 12"):
        cluster_labels(zoo, n=13)
    with pytest.raises(ContextError, match="two labels or more"):
        cluster_labels(zoo, ["cat0"], n=1)


def test_more_labels_than_memory_holds_are_refused(zoo, monkeypatch):
    monkeypatch.setattr("phcle.uses.clusters.MOST_LABELS", 11)
    with pytest.raises(ContextError, match="at most 11 labels"):
        cluster_labels(zoo)


def test_path_lengths_are_the_shortest_over_a_common_ancestor(tree):
    labels = ["cat0", "cat1", "dog0", "dog1", "carp0"]
    expected = [
        [0, 2, 4, 4, 6],
        [2, 0, 4, 4, 6],
        [4, 4, 0, 2, 4],  # dog0 is an animal at once
        [4, 4, 2, 0, 6],
        [6, 6, 4, 6, 0],
    ]
    assert np.allclose(path_lengths(tree, labels), expected)


def test_labels_of_other_roots_are_farthest():
    forest = Hierarchy.from_edges([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    assert path_lengths(forest, ["a", "b", "c"]).tolist() == [
        [0, 2, 3],
        [2, 0, 3],
        [3, 3, 0],
    ]


def test_families_are_nodes_at_a_level_whatever_short_cuts_there_are(tree):
    labels = ["cat0", "dog0", "carp0", "animal"]
    assert families(tree, labels, 1) == ("carnivore", "carnivore", "fish", "animal")
    assert families(tree, labels, 2) == ("felid", "canid", "cyprinid", "animal")
    assert families(tree, labels, 3) == tuple(labels)
    assert family_level(tree, tree.leaves, 3) == 2
    with pytest.raises(ContextError, match="'cat9' is not a node"):
        families(tree, ["cat9"], 1)


def test_agreement_is_perfect_for_the_taxonomys_own_clusters(zoo, tree, rng):
    found = agreement(cluster_labels(zoo, n=3), tree)
    assert found.rand_index == 1.0
    assert found.n_families == 3
    assert found.cophenetic > 0.8
    noise = LabelEmbedding(zoo.labels, rng.normal(size=(12, 30)))
    chance = agreement(cluster_labels(noise, n=3), tree)
    assert chance.rand_index < 0.5
    assert chance.cophenetic < 0.5


def test_cophenetic_agreement_is_a_plain_correlation(zoo, tree):
    clusters = cluster_labels(zoo, n=3)
    above = np.triu_indices(12, 1)
    paths = path_lengths(tree, clusters.labels)[above]
    expected = np.corrcoef(clusters.heights[above], paths)[0, 1]
    assert agreement(clusters, tree).cophenetic == pytest.approx(expected)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_heatmaps_are_drawn_and_drawn_the_same_again(zoo, tmp_path, ending):
    pytest.importorskip("matplotlib", reason="the extra 'figures' is not installed")
    panels = {"one": cluster_labels(zoo, n=3), "two": cluster_labels(zoo, n=2)}
    files = [tmp_path / f"{i}.{ending}" for i in range(2)]
    for file in files:
        draw_heatmaps(panels, file, name_of=str.upper)
    assert files[0].read_bytes() == files[1].read_bytes()
    if ending == "svg":
        text = files[0].read_text()
        assert "CAT0" in text
        # Three boxes and two.
        assert text.count("stroke-width: 1.4") == 5


def test_a_picture_of_another_sort_is_refused(zoo, tmp_path):
    with pytest.raises(OptionError, match=r"\.png, \.svg, \.pdf"):
        draw_heatmaps({"zoo": cluster_labels(zoo)}, tmp_path / "zoo.gif")


def test_without_the_extra_the_remedy_is_named(zoo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BackendError, match=r"pip install 'phcle\[figures\]'"):
        draw_heatmaps({"zoo": cluster_labels(zoo)}, tmp_path / "zoo.png")
