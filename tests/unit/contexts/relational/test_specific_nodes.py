"""Nodes that say much about labels, and those above nearly all."""

from __future__ import annotations

import pytest

from phcle import RelationalContext
from phcle.contexts.relational import specific_nodes
from phcle.contexts.relational.specific_nodes import SpecificNodes

LABELS = [f"x{i}" for i in range(40)]
EDGES = [
    *((label, f"pair {i // 2}") for i, label in enumerate(LABELS)),
    *((f"pair {i}", "few" if i < 5 else "many") for i in range(20)),
    *((f"pair {i}", "both") for i in range(3)),
    *((x, "all") for x in ("few", "many", "both")),
]


@pytest.fixture
def tree():
    return RelationalContext.from_hierarchy(EDGES).hierarchy.hierarchy


def test_the_node_above_the_fewest_labels_comes_first_and_general_ones_are_left_out(
    tree,
):
    nodes = SpecificNodes(tree, LABELS)
    assert nodes.first(["all", "few", "many", "both", "pair 0"]) == (
        "pair 0",
        "both",
        "few",
    )
    assert nodes.is_general("many")
    assert not nodes.is_general("not a node")


def test_among_few_labels_no_node_is_general(tree):
    nodes = SpecificNodes(tree, LABELS[:4])
    assert nodes.first(["all", "pair 0"]) == ("pair 0", "all")


def test_of_many_labels_some_are_looked_at(tree, monkeypatch):
    monkeypatch.setattr(specific_nodes, "MOST", 9)
    nodes = SpecificNodes(tree, LABELS)
    assert nodes.first(["all", "many", "few"]) == ("few",)
