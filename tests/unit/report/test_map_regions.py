"""Names of parts of the map."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, LabelEmbedding
from phcle.contexts import Hierarchy
from phcle.report.map_regions import attribute_regions, group_regions, node_regions


def test_a_group_is_named_where_most_of_its_labels_are(rng):
    crowd = rng.normal((0.5, 0.5), 0.02, (40, 2))
    places = np.vstack([crowd, [[-0.9, -0.9]] * 5, [[0, 0]]]).astype(np.float32)
    codes = np.array([0] * 45 + [1])
    (found,) = group_regions("branch", ["crowd", "other"], codes, places)
    assert (found.name, found.labels, found.of) == ("crowd", 45, "branch")
    np.testing.assert_allclose((found.x, found.y), (0.5, 0.5), atol=0.05)
    assert found.reach < 0.1


def test_nodes_that_lie_together_are_named_and_scattered_ones_are_not(rng):
    cats, dogs = (tuple(f"{x}{i}" for i in range(20)) for x in ("cat", "dog"))
    labels = cats + dogs
    odd = [(label, "odd") for label in (*cats[::4], *dogs[::4])]
    tree = Hierarchy.from_edges(
        [
            *((label, "feline") for label in cats),
            *((label, "canine") for label in dogs),
            *odd,
            ("feline", "beast"),
            ("canine", "beast"),
        ]
    )
    places = np.vstack([rng.normal(x, 0.05, (20, 2)) for x in (-0.6, 0.6)])
    embedding = LabelEmbedding(labels, rng.standard_normal((40, 2)))
    found = node_regions(embedding, tree, places.astype(np.float32))
    assert {x.name for x in found} == {"feline", "canine"}
    assert all(x.of is None and x.labels == 20 for x in found)


def test_the_name_of_several_groups_stands_between_them(rng):
    middles = {"left": (-0.6, 0.5), "right": (0.0, 0.5), "low": (0.7, -0.8)}
    labels = tuple(f"{x}{i}" for x in middles for i in range(20 + 20 * (x == "low")))
    edges = [(label, label.rstrip("0123456789")) for label in labels]
    edges += [("left", "high"), ("right", "high"), ("high", "all"), ("low", "all")]
    places = [
        rng.normal(middles[label.rstrip("0123456789")], 0.05, (1, 2))
        for label in labels
    ]
    embedding = LabelEmbedding(labels, rng.standard_normal((80, 2)))
    tree = Hierarchy.from_edges(edges)
    found = node_regions(embedding, tree, np.vstack(places).astype(np.float32))
    (high,) = (x for x in found if x.name == "high")
    np.testing.assert_allclose((high.x, high.y), (-0.3, 0.5), atol=0.1)


def test_without_a_hierarchy_parts_are_named_after_shared_attributes(rng):
    kinds = {f"{x}{i}": [x] for x in ("wings", "fins") for i in range(60)}
    plain = {f"plain{i}": [f"own{i}"] for i in range(60)}
    context = DescriptiveContext.from_tags({**kinds, **plain}, name="looks")
    embedding = PHCLE(dim=3, backend="numpy", max_iter=3, tol=1.0).fit([context])
    embedding = embedding.embedding_
    middle = {"wings": -0.7, "fins": 0.7, "plain": 0.0}
    places = [
        rng.normal(middle[label.rstrip("0123456789")], 0.03, 2)
        for label in embedding.labels
    ]
    found = attribute_regions(embedding, np.array(places, np.float32))
    for region in found:
        assert region.x == pytest.approx(middle[region.name], abs=0.15)
    assert {x.name for x in found} <= {"wings", "fins"}
    assert found
