"""Taxonomies: the graph, and the constructions against NetworkX and brute force."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import cells

from phcle import RelationalContext
from phcle.contexts import Hierarchy
from phcle.errors import ContextError, ContextWarning, GuessWarning, OptionError

KINDS = ("ancestors", "path")
PETS = [("cat", "pet"), ("dog", "pet"), ("wolf", "wild"), ("dog", "canine")]
PETS += [("wolf", "canine"), ("pet", "animal"), ("wild", "animal")]
PETS += [("canine", "animal")]


@st.composite
def dags(draw):
    """Edges from higher to lower numbers: acyclic, any number of roots and parents."""
    n = draw(st.integers(3, 12))
    pairs = [(child, parent) for child in range(n) for parent in range(child)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return [(f"n{child}", f"n{parent}") for child, parent in chosen]


def climb(edges):
    """The fewest steps from every node to every node at or above it, by NetworkX."""
    return dict(nx.all_pairs_shortest_path_length(nx.DiGraph(edges)))


def shortest(up, a, b):
    """The shortest path of two labels over a common ancestor, or None."""
    common = up[a].keys() & up[b].keys()
    return min((up[a][x] + up[b][x] for x in common), default=None)


def counted(edges, labels, **options):
    """Counts of a hierarchy by label and column; none if it relates no labels."""
    try:
        context = RelationalContext.from_hierarchy(edges, labels=labels, **options)
    except ContextError as error:
        if "is empty" not in str(error):
            raise
        return {}
    return cells(context)


def even_tree(size):
    """Three nodes below each node, level by level up to a single one."""
    edges, level = [], 0
    while size > 1:
        edges += [(f"{level}-{i}", f"{level + 1}-{i // 3}") for i in range(size)]
        size, level = (size + 2) // 3, level + 1
    return edges


# The graph


def test_a_path_follows_first_parents_and_nodes_below_count_once():
    edges = [("a", "x"), ("a", "y"), ("x", "top"), ("y", "top"), ("b", "y")]
    tree = Hierarchy.from_edges(edges)
    assert tree.path_to("a") == ("top", "x", "a")
    assert tree.path_to("b") == ("top", "y", "b")
    assert tree.children_of("y") == ("a", "b")
    assert {tree.nodes[i] for i in tree.nodes_below("y")} == {"a", "b", "y"}
    assert len(tree.nodes_below("top")) == len(tree.nodes) == 5
    assert [tree.nodes[i] for i in tree.nodes_below("b")] == ["b"]


def test_pairs_frames_and_graphs_give_the_same_hierarchy():
    frame = pd.DataFrame(PETS, columns=["child", "parent"])
    for edges in (
        iter(PETS),
        np.array(PETS),
        frame,
        frame[["parent", "child"]],
        nx.DiGraph(PETS),
    ):
        tree = Hierarchy.from_edges(edges)
        pairs = {(tree.nodes[c], tree.nodes[p]) for c, p in tree.edges}
        assert pairs == set(PETS)


def test_cycle_is_refused_and_named_from_child_to_parent():
    edges = [("leaf", "a"), ("a", "b"), ("b", "c"), ("c", "a")]
    with pytest.raises(
        ContextError, match=r"'mine' has a cycle: .*remove one"
    ) as error:
        Hierarchy.from_edges(edges, name="mine")
    walk = str(error.value).split("cycle: ")[1].split(";")[0].split(" → ")
    assert walk[0] == walk[-1]
    assert set(walk) == {"a", "b", "c"}
    assert set(pairwise(walk)) <= set(edges)


def test_whole_numbers_are_nodes_and_other_titles_are_guessed_aloud():
    with pytest.warns(GuessWarning, match="child is 'lower', parent is 'upper'"):
        tree = Hierarchy.from_edges(pd.DataFrame({"lower": [1, 2], "upper": 3}))
    assert tree.leaves == ("1", "2")


def frame(*rows):
    return pd.DataFrame(rows, columns=["child", "parent"], dtype=object)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        *(
            (frame(("a", "b"), ("b", x)), "edge 2: the parent of 'b' is empty.*remove")
            for x in (None, "", "  ", float("nan"), pd.NA, pd.NaT)
        ),
        *(
            ([("x", "y"), x], r"edge 2: must be a \(child, parent\) pair")
            for x in ("ab", ("a",), ("a", "b", "c"), {"a": 1, "b": 2}, 3)
        ),
        ([(np.nan, "b")], "edge 1: the child is empty"),
        ([("a", 1.5)], "a parent of 'a' must be text.*Got 1.5"),
        ([("a", "b"), ("a", " a")], "has a cycle: a → a; remove"),
        ([], "'mine' is empty: it has no edge"),
        (frame(), "'mine' is empty: it has no edge"),
        (frame(("a", "b"))[["child"]], "'parent' is not in its header 'child'"),
        (nx.Graph([("a", "b")]), "must be a directed graph"),
    ],
)
def test_what_is_no_hierarchy_is_refused_with_its_place(edges, message):
    with pytest.raises(ContextError, match=message):
        Hierarchy.from_edges(edges, name="mine")


def test_repeated_edge_is_counted_once_with_a_warning_at_the_caller():
    with pytest.warns(ContextWarning, match=r"'t': 2 of 3 edges repeat") as caught:
        context = RelationalContext.from_hierarchy(
            [("a", "r"), ("a", "r"), (" a", "r")], name="t", labels=["a", "r"]
        )
    assert caught[0].filename == __file__
    assert len(context.hierarchy.edges) == 1


@pytest.mark.parametrize(
    "new",
    [
        [("fox", "animal")],
        [("red fox", "fox"), ("fox", "animal"), ("fox", "pet")],
        [("cat", "pet"), ("fox", "cat")],  # of which one is known
    ],
)
def test_extended_hierarchy_is_that_of_all_edges_together(new):
    old = [("cat", "pet"), ("dog", "pet"), ("pet", "animal")]
    grown = Hierarchy.from_edges(old).extended(Hierarchy.from_edges(new), name="t")
    whole = Hierarchy.from_edges(list(dict.fromkeys(old + new)))
    assert grown.nodes == whole.nodes
    assert grown.edges.tolist() == whole.edges.tolist()


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (("fox", "canin"), "'canin' of 'fox' is not one of its nodes.*mean 'canine'"),
        (("animal", "cat"), "'t' has a cycle: "),
    ],
)
def test_later_edges_that_do_not_fit_are_refused(new, message):
    tree = Hierarchy.from_edges(PETS)
    with pytest.raises(ContextError, match=message):
        tree.extended(Hierarchy.from_edges([new]), name="t")


# The constructions


@given(dags(), st.sampled_from([None, 0.5, 3.0]))
@settings(max_examples=60)
def test_ancestor_counts_match_networkx(edges, decay):
    up = climb(edges)
    labels = list(up)
    internal = {parent for _, parent in edges}
    expected = {
        (label, node): np.exp(-steps / (decay or 4.0))
        for label in labels
        for node, steps in up[label].items()
        if node in internal and sum(node in up[x] for x in labels) > 1
    }
    assert counted(edges, labels, decay=decay) == pytest.approx(expected)


@given(dags(), st.sampled_from([None, 1.0]), st.booleans())
@settings(max_examples=60)
def test_path_counts_match_brute_force(edges, decay, leaves_only):
    up = climb(edges)
    labels = list(Hierarchy.from_edges(edges).leaves if leaves_only else up)
    expected = {}
    for a, b in product(labels, labels):
        path = shortest(up, a, b)
        if a != b and path is not None:
            expected[a, b] = np.exp(-path / (decay or 2.0))
    found = counted(edges, labels, kind="path", decay=decay)
    assert found == pytest.approx(expected)


# Options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decay": 0.0}, "decay must be above 0. Got 0.0"),
        ({"decay": float("nan")}, "decay must be above 0. Got nan"),
        ({"kind": "ancestor"}, "'ancestor' instead. Did you mean 'ancestors'"),
        ({"kind": "walks"}, "kind must be one of ancestors, path. Got 'walks'"),
    ],
)
def test_option_out_of_range_or_without_meaning_is_refused(options, words):
    with pytest.raises(OptionError, match=words):
        RelationalContext.from_hierarchy(PETS, **options)


def test_labels_are_the_leaves_unless_named():
    assert RelationalContext.from_hierarchy(PETS).labels == ("cat", "dog", "wolf")
    named = RelationalContext.from_hierarchy(PETS, labels=["wolf", "canine"])
    assert named.labels == ("wolf", "canine")
    with pytest.raises(ContextError, match="'t': labels 'fox' are not in the hierarch"):
        RelationalContext.from_hierarchy(PETS, labels=["cat", "fox"], name="t")


# Size


def test_many_leaves_stay_sparse_and_pairs_of_too_many_are_refused():
    edges = even_tree(6_000)
    tracemalloc.start()
    context = RelationalContext.from_hierarchy(edges)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(context.observed_labels) > 5_700
    assert context.counts.nnz < 1_200_000
    assert peak < 150e6  # half of a dense matrix
    with pytest.raises(OptionError, match="Got 6,000; use kind='ancestors'"):
        RelationalContext.from_hierarchy(edges, kind="path")
