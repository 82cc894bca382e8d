"""Messages between linked labels, and where labels stand in a graph."""

import numpy as np
import pytest

from phcle import RelationalContext
from phcle.embedding.messages import Links, links_between, message_features


def both_ways(one, other, relation):
    """Links that both ends hear; each direction is a relation of its own."""
    return Links(
        np.concatenate([one, other]),
        np.concatenate([other, one]),
        np.concatenate([2 * relation, 2 * relation + 1]),
    )


def test_a_second_step_reaches_labels_two_links_away():
    n = 90
    place = np.arange(n) % 30  # three labels on one line: 0 - 30 - 60
    values = place * 10.0
    ends = np.arange(60)
    links = both_ways(ends, ends + 30, np.zeros(60, dtype=int))
    known = np.ones(n, dtype=bool)
    known[[30, 60]] = False
    first, second = message_features(links, values, known, np.zeros((n, 0)))[60, [2, 4]]
    assert np.isnan(first)
    assert second == pytest.approx(0.0, abs=1.0)


def test_labels_with_shared_links_are_alike():
    rng = np.random.default_rng(3)
    hub = rng.integers(0, 10, 300)
    values = np.concatenate([hub * 3.0 + rng.normal(0, 0.1, 300), np.zeros(10)])
    links = both_ways(np.arange(300), 300 + hub, np.zeros(300, dtype=int))
    known = np.concatenate([rng.random(300) < 0.8, np.zeros(10, dtype=bool)])
    shared = message_features(links, values, known, np.zeros((310, 0)))[:, 6]
    hidden = np.flatnonzero(~known[:300])
    assert np.corrcoef(shared[hidden], values[hidden])[0, 1] > 0.95


def test_each_direction_of_links_is_a_relation():
    triples = [("a", "in", "b"), ("b", "in", "c"), ("c", "near", "a")]
    names = ("a", "b", "c")
    directed = links_between([RelationalContext.from_triples(triples)], names)
    assert len(set(directed.relation)) == 4
    edges = RelationalContext.from_edges([("a", "b"), ("b", "c", 3)])
    plain = links_between([edges], names)
    assert set(plain.relation) == {0, 1}
    heaviest = plain.weight.argmax()
    assert {names[plain.source[heaviest]], names[plain.target[heaviest]]} == {"b", "c"}


def test_a_graph_in_two_roles_is_heard_once():
    graph = RelationalContext.from_triples([("a", "in", "b"), ("b", "in", "c")])
    once = links_between([graph], ("a", "b", "c"))
    both = links_between(graph.changed(role="both").parts(), ("a", "b", "c"))
    assert len(both.source) == len(once.source)


def test_graphs_have_links_and_hierarchies_have_none():
    labels = ("ox", "cat", "dog", "wolf")
    graph = RelationalContext.from_edges(
        [("cat", "dog"), ("dog", "wolf"), ("dog", "x")]
    )
    tree = RelationalContext.from_hierarchy([("cat", "felid"), ("dog", "canid")])
    links = links_between([tree, graph], labels)
    pairs = {
        (labels[a], labels[b]) for a, b in zip(links.source, links.target, strict=True)
    }
    assert pairs == {("cat", "dog"), ("dog", "cat"), ("dog", "wolf"), ("wolf", "dog")}
    assert links_between([tree], labels) is None
    assert links_between([graph], ("ox",)) is None
