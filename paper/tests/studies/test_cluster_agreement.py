"""Agreement of clusters with a taxonomy, and its families."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.contexts import Hierarchy
from phcle_paper.studies.cluster_agreement import agreement, families, path_lengths
from phcle_paper.studies.label_clusters import cluster_labels, draw_panels

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
    centres = {"cat": [1, 0, 0.4], "dog": [0, 1, 0.4], "carp": [-1, -1, 0.2]}
    vectors = np.array([centres[x.rstrip("0123")] for x in tree.leaves], float)
    return LabelEmbedding(tree.leaves, vectors + 0.05 * rng.normal(size=vectors.shape))


def test_path_lengths_are_the_shortest_over_a_common_ancestor(tree):
    labels = ["cat0", "cat1", "dog0", "dog1", "carp0"]
    expected = [
        [0, 2, 4, 4, 6],
        [2, 0, 4, 4, 6],
        [4, 4, 0, 2, 4],  # dog0 is an animal at once
        [4, 4, 2, 0, 6],
        [6, 6, 4, 6, 0],
    ]
    assert path_lengths(tree, labels).tolist() == expected


def test_families_are_nodes_at_a_level_whatever_short_cuts_there_are(tree):
    labels = ["cat0", "dog0", "carp0", "animal"]
    assert families(tree, labels, 1) == ("carnivore", "carnivore", "fish", "animal")
    assert families(tree, labels, 2) == ("felid", "canid", "cyprinid", "animal")
    assert families(tree, labels, 3) == tuple(labels)


def test_agreement_is_perfect_for_the_taxonomys_own_clusters(zoo, tree, rng):
    cophenetic, rand_index = agreement(cluster_labels(zoo, n=3), tree, 2)
    assert rand_index == 1.0
    assert cophenetic > 0.8
    noise = LabelEmbedding(zoo.labels, rng.normal(size=(12, 30)))
    assert max(agreement(cluster_labels(noise, n=3), tree, 2)) < 0.5


def test_panels_have_names_and_a_box_around_each_cluster(zoo, tmp_path):
    panels = {"one": cluster_labels(zoo, n=3), "two": cluster_labels(zoo, n=2)}
    draw_panels(panels, tmp_path / "zoo.svg", str.upper)
    text = (tmp_path / "zoo.svg").read_text()
    assert "CAT0" in text
    assert text.count("stroke-width: 1.4") == 5  # three boxes and two
