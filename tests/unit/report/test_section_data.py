from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.report import section_data
from phcle.report.hierarchy_branches import find_branches, hierarchy_of


def test_coverage_counts_pairs_and_combinations(zoo_embedding):
    found = section_data.coverage(zoo_embedding)
    tree, looks = (set(c.observed_labels) for c in zoo_embedding.contexts)
    assert found["names"] == ["tree", "looks"]
    assert found["together"] == [
        [len(tree), len(tree & looks)],
        [len(tree & looks), len(looks)],
    ]
    assert sum(row["labels"] for row in found["combinations"]) == len(zoo_embedding)
    assert found["combinations"][0] == {
        "contexts": ["tree"],
        "labels": len(tree - looks),
        "share": len(tree - looks) / len(zoo_embedding),
    }


def test_terms_of_the_history_add_up_to_the_objective(zoo_embedding):
    found = section_data.convergence(zoo_embedding)
    total = np.sum([term["values"] for term in found["terms"]], axis=0)
    np.testing.assert_allclose(total, found["objective"], rtol=1e-6)
    assert {"tree", "looks", "ridge on C"} <= {x["name"] for x in found["terms"]}


def test_attributes_near_zero_are_counted_and_named(zoo_embedding):
    looks = zoo_embedding.contexts[1]
    factor = np.array(looks.factor)
    factor[looks.columns.index("bark")] = 0
    silent = replace(
        zoo_embedding,
        contexts=(zoo_embedding.contexts[0], replace(looks, factor=factor)),
    )
    (found,) = section_data.sparsity(silent)
    assert (found["kept"], found["near_zero"]) == (2, 1)
    assert [name for name, _ in found["weakest"]] == ["bark"]
    assert {name for name, _ in found["strongest"]} == set(looks.columns)
    assert found["zero_entries"] == pytest.approx((factor == 0).mean())


def test_labels_shown_come_from_every_branch(zoo_embedding):
    branches = find_branches(hierarchy_of(zoo_embedding)[1], zoo_embedding.labels)
    shown = section_data.spread_labels(zoo_embedding, branches, 3)
    codes = [branches.codes[zoo_embedding.labels.index(label)] for label in shown]
    assert sorted(codes) == [0, 1, 2]


def test_without_branches_the_labels_shown_are_spread_over_the_list(rng):
    labels = tuple(f"label {i}" for i in range(10))
    plain = LabelEmbedding(labels, rng.standard_normal((10, 3)))
    assert section_data.spread_labels(plain, None, 4) == [
        *("label 0", "label 3", "label 6", "label 9")
    ]


def test_neighbours_are_those_of_the_embedding(zoo_embedding):
    (found,) = section_data.retrieval(zoo_embedding, ["lion"], 3)
    expected = zoo_embedding.nearest("lion", k=3)
    assert [x["name"] for x in found["neighbours"]] == [
        zoo_embedding.name_of(label) for label, _ in expected
    ]
    assert found["why"]["b"]["label"] == expected[0][0]
    assert found["why"]["lines"][0]["words"] == "both are below"
