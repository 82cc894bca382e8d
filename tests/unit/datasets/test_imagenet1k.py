"""The embedded labels."""

from __future__ import annotations

import networkx as nx

from phcle.contexts import Hierarchy


def test_there_are_1000_labels_with_unique_names(imagenet):
    assert len(set(imagenet.labels)) == 1000
    assert len({imagenet.names[label] for label in imagenet.labels}) == 1000
    assert imagenet.labels[0] == "n01440764"  # tench, class 0
    assert imagenet.names["n01440764"] == "tench"


def test_every_label_reaches_the_root_entity(imagenet):
    graph = nx.DiGraph(imagenet.edges)
    roots = [node for node in graph if graph.out_degree(node) == 0]
    assert [imagenet.names[root] for root in roots] == ["entity"]
    for label in imagenet.labels:
        assert nx.has_path(graph, label, roots[0])


def test_no_label_lies_above_another(imagenet):
    tree = Hierarchy.from_edges(imagenet.edges)
    assert set(imagenet.labels) == set(tree.leaves)


def test_properties_are_of_every_fourth_label_and_agree_with_its_name(imagenet):
    properties = imagenet.properties()
    assert properties.labels == imagenet.labels[::4]
    assert properties.n_observed < 250 * len(properties.columns)  # some are left open
    fur = dict(zip(properties.labels, properties.values[:, 0], strict=True))
    by_name = {imagenet.names[label]: fur[label] for label in properties.labels}
    assert (by_name["tiger"], by_name["laptop"]) == (1, 0)
