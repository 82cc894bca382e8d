from __future__ import annotations

import numpy as np

from phcle.contexts import Hierarchy
from phcle.report import find_branches


def test_the_root_and_chains_below_it_are_never_branches(tree_edges):
    chain = [("animal", "thing"), ("thing", "entity")]
    tree = Hierarchy.from_edges([*tree_edges, *chain])
    assert set(find_branches(tree, tree.leaves).nodes) == {"felid", "canid", "bird"}


def test_every_label_is_in_its_branch_and_a_stranger_in_none(tree_edges):
    tree = Hierarchy.from_edges(tree_edges)
    labels = (*tree.leaves, "stone")
    found = find_branches(tree, labels)
    parents = dict(tree_edges)
    for label, code in zip(labels, found.codes, strict=True):
        if label == "stone":
            assert code == len(found.nodes)
        else:
            assert found.nodes[code] == parents[label]


def test_there_are_never_more_branches_than_asked_for():
    edges = [(f"leaf {i}", f"branch {i % 20}") for i in range(200)]
    edges += [(f"branch {i}", "root") for i in range(20)]
    tree = Hierarchy.from_edges(edges)
    found = find_branches(tree, tree.leaves, most=5)
    assert len(found.nodes) <= 5
    assert len(np.unique(found.codes)) == len(found.nodes) + (
        len(found.nodes) in found.codes
    )


def test_a_label_below_two_branches_is_in_the_larger():
    edges = [(f"a{i}", "A") for i in range(6)] + [(f"b{i}", "B") for i in range(4)]
    tree = Hierarchy.from_edges([*edges, ("b0", "A"), ("A", "all"), ("B", "all")])
    found = find_branches(tree, tree.leaves)
    assert found.nodes == ("A", "B")
    assert found.codes[tree.leaves.index("b0")] == 0


def test_branches_are_sorted_by_the_labels_that_are_left_to_them():
    edges = [(f"a{i}", "A") for i in range(9)] + [(f"c{i}", "C") for i in range(5)]
    edges += [(f"a{i}", "B") for i in range(4)] + [(f"b{i}", "B") for i in range(3)]
    tree = Hierarchy.from_edges([*edges, *((x, "all") for x in "ABC")])
    found = find_branches(tree, tree.leaves)
    assert found.nodes == ("A", "C", "B")
    assert np.bincount(found.codes).tolist() == [9, 5, 3]
