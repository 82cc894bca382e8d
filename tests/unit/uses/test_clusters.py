"""Clusters of labels, and the picture of them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from phcle import LabelEmbedding
from phcle.errors import BackendError, ContextError, OptionError
from phcle.uses.clusters import cluster_labels
from phcle.uses.similarity_heatmap import save_heatmap


@pytest.fixture
def zoo(rng):
    """Vectors of three groups, with a little noise."""
    labels = tuple(f"{kind}{i}" for kind in ("cat", "dog", "carp") for i in range(4))
    centres = {"cat": [1, 0, 0.4], "dog": [0, 1, 0.4], "carp": [-1, -1, 0.2]}
    vectors = np.array([centres[x.rstrip("0123")] for x in labels], float)
    return LabelEmbedding(labels, vectors + 0.05 * rng.normal(size=vectors.shape))


def test_clusters_are_the_groups_in_the_vectors(zoo):
    found = cluster_labels(zoo, n=3)
    kinds = {frozenset(x.rstrip("0123") for x in group) for group in found.groups}
    assert kinds == {frozenset({"cat"}), frozenset({"dog"}), frozenset({"carp"})}
    assert set(found.group_of("dog2")) == {f"dog{i}" for i in range(4)}
    assert sorted(found.labels) == sorted(zoo.labels)


def test_similarity_belongs_to_the_ordered_labels(zoo):
    found = cluster_labels(zoo, n=3)
    ordered = zoo.select(found.labels)
    apart = pdist(ordered.vectors, "cosine")
    assert np.allclose(found.similarity, 1 - squareform(apart))


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


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_heatmaps_have_names_and_a_box_for_each_cluster(zoo, tmp_path, ending):
    pytest.importorskip("matplotlib", reason="the extra 'figures' is not installed")
    file = tmp_path / f"zoo.{ending}"
    save_heatmap(cluster_labels(zoo, n=3), file, name_of=str.upper)
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert file.read_bytes().startswith(begin[ending])
    if ending == "svg":
        text = file.read_text()
        assert "CAT0" in text
        assert text.count("stroke-width: 1.4") == 3


def test_a_picture_of_another_sort_is_refused(zoo, tmp_path):
    with pytest.raises(OptionError, match=r"\.png, \.svg, \.pdf"):
        save_heatmap(cluster_labels(zoo), tmp_path / "zoo.gif")


def test_without_the_extra_the_remedy_is_named(zoo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BackendError, match=r"pip install 'phcle\[figures\]'"):
        save_heatmap(cluster_labels(zoo), tmp_path / "zoo.png")
