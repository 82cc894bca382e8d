"""Places of labels, and the branches that colour them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import procrustes

from phcle.atlas import find_branches, lay_out
from phcle.contexts import Hierarchy

TREE = [
    *((cat, "felid") for cat in ("cat", "lion", "tiger", "lynx")),
    *((dog, "canid") for dog in ("dog", "wolf", "fox", "jackal")),
    *((bird, "bird") for bird in ("robin", "wren", "eagle", "hawk", "owl")),
    *[("felid", "carnivore"), ("canid", "carnivore")],
    *[("carnivore", "animal"), ("bird", "animal")],
]


@pytest.fixture
def clouds(rng):
    """Three far apart clouds of 40 vectors of length one."""
    centres = rng.standard_normal((3, 10))
    vectors = np.repeat(centres, 40, axis=0) + 0.05 * rng.standard_normal((120, 10))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")


def mean_own_share(places, n_clouds=3, k=10):
    """How many of a point's ten nearest in the plane are of its own cloud."""
    group = np.repeat(np.arange(n_clouds), len(places) // n_clouds)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    near = np.argsort(apart, axis=1)[:, 1 : k + 1]
    return (group[near] == group[:, None]).mean()


def test_similar_labels_lie_together(clouds):
    found = lay_out(clouds)
    assert found.method == "t-SNE (scikit-learn)"
    assert mean_own_share(found.places) > 0.97
    assert np.abs(found.places).max() <= 1 + 1e-6
    again = lay_out(clouds)
    np.testing.assert_array_equal(found.places, again.places)


def test_many_labels_are_laid_out_by_open_tsne(rng):
    pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    centres = np.repeat(rng.standard_normal((3, 10)), 1100, axis=0)
    vectors = centres + 0.05 * rng.standard_normal(centres.shape)
    units = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")
    found = lay_out(units)
    assert found.method == "t-SNE (openTSNE)"
    assert mean_own_share(found.places) > 0.97


def test_a_layout_that_starts_from_another_keeps_its_places(clouds, rng):
    first = lay_out(clouds).places
    # The same vectors, turned, with a little noise: only rounding changes distances.
    turn = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    other = (clouds @ turn + 0.002 * rng.standard_normal(clouds.shape)).astype("f4")
    other /= np.linalg.norm(other, axis=1, keepdims=True)

    def agreement(places):
        return 1 - procrustes(first, places)[2]

    found = lay_out(other, start=first)
    assert mean_own_share(found.places) > 0.97
    assert agreement(found.places) > 0.95
    assert agreement(found.places) > agreement(lay_out(other).places)


@pytest.mark.parametrize("n", [2, 3, 7, 9, 20])
def test_few_labels_have_places_too(rng, n):
    units = rng.standard_normal((n, 5)).astype("f4")
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    found = lay_out(units)
    assert found.places.shape == (n, 2)
    assert np.isfinite(found.places).all()


def test_labels_with_one_vector_do_not_hide_each_other(clouds):
    same = np.vstack([clouds, np.repeat(clouds[:1], 60, axis=0)])
    places = lay_out(same).places
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0


def test_copies_lie_around_one_spot_and_do_not_move_the_others(clouds):
    same = np.vstack([clouds, np.repeat(clouds[[0, 100]], 30, axis=0)])
    found = lay_out(same)
    assert mean_own_share(found.places[:120], k=5) > 0.97
    apart = np.linalg.norm(found.places[:, None] - found.places[None], axis=-1)
    own = np.array([0, *range(120, 150)])
    others = np.array([100, *range(150, 180)])
    assert apart[np.ix_(own, own)].max() < apart[np.ix_(own, others)].min()


def test_the_root_and_chains_below_it_are_never_branches():
    chain = [("animal", "thing"), ("thing", "entity")]
    tree = Hierarchy.from_edges([*TREE, *chain])
    assert set(find_branches(tree, tree.leaves).nodes) == {"felid", "canid", "bird"}


def test_every_label_is_in_its_branch_and_a_stranger_in_none():
    tree = Hierarchy.from_edges(TREE)
    labels = (*tree.leaves, "stone")
    found = find_branches(tree, labels)
    parents = dict(TREE)
    for label, code in zip(labels, found.codes, strict=True):
        if label == "stone":
            assert code == len(found.nodes)
        else:
            assert found.nodes[code] == parents[label]
