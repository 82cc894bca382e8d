"""Taxonomies: the graph, and the constructions against NetworkX and brute force."""

from __future__ import annotations

import random
import tracemalloc
import warnings
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phcle import RelationalContext
from phcle.contexts.relational import hierarchy as constructions
from phcle.contexts.relational.hierarchy import KINDS, HierarchyCounts
from phcle.contexts.relational.taxonomy import Hierarchy
from phcle.errors import ContextError, ContextWarning, GuessWarning, OptionError

PETS = [
    ("cat", "pet"),
    ("dog", "pet"),
    ("wolf", "wild"),
    ("dog", "canine"),
    ("wolf", "canine"),
    ("pet", "animal"),
    ("wild", "animal"),
    ("canine", "animal"),
]


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


def cells(columns, labels, counts):
    matrix = counts.tocoo()
    return {
        (labels[i], columns[j]): value
        for i, j, value in zip(*matrix.coords, matrix.data, strict=True)
        if value
    }


def counted(edges, labels, **options):
    columns, counts = HierarchyCounts(Hierarchy.from_edges(edges), **options).count(
        labels
    )
    return cells(columns, labels, counts)


def random_tree(n_leaves, seed=0):
    """Join two to six random nodes below a new one until a single one is left."""
    rng = random.Random(seed)
    live = [f"leaf{i}" for i in range(n_leaves)]
    edges = []
    while len(live) > 1:
        node = f"node{len(edges)}"
        for _ in range(min(rng.randint(2, 6), len(live))):
            pick = rng.randrange(len(live))
            live[pick], live[-1] = live[-1], live[pick]
            edges.append((live.pop(), node))
        live.append(node)
    return edges


# The graph


@given(dags())
@settings(deadline=None, max_examples=80)
def test_ancestors_and_steps_match_networkx(edges):
    tree = Hierarchy.from_edges(edges)
    rows, nodes, steps = tree.ancestor_distances(tree.nodes)
    found = {
        (tree.nodes[r], tree.nodes[n]): s
        for r, n, s in zip(rows, nodes, steps, strict=True)
    }
    expected = {
        (a, b): s for a, above in climb(edges).items() for b, s in above.items()
    }
    assert found == expected
    assert len(rows) == len(found)


def test_leaves_are_nodes_without_children_and_roots_may_be_many():
    tree = Hierarchy.from_edges(PETS)
    assert tree.leaves == ("cat", "dog", "wolf")
    assert tree.parents_of("dog") == ("pet", "canine")
    assert Hierarchy.from_edges([("a", "r"), ("b", "s")]).leaves == ("a", "b")


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


def test_other_titles_of_a_frame_are_guessed_aloud():
    frame = pd.DataFrame(PETS, columns=["lower", "upper"]).assign(note="x")
    with pytest.warns(GuessWarning, match="takes 'lower' as child, 'upper' as parent"):
        tree = Hierarchy.from_edges(frame)
    pairs = {(tree.nodes[c], tree.nodes[p]) for c, p in tree.edges}
    assert pairs == set(PETS)


def test_whole_numbers_are_nodes():
    assert Hierarchy.from_edges(
        pd.DataFrame({"child": [1, 2], "parent": 3})
    ).leaves == (
        "1",
        "2",
    )


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


def test_self_loop_is_refused_and_named():
    with pytest.raises(ContextError, match=r"edge 2: 'a' is its own parent; remove"):
        Hierarchy.from_edges([("a", "b"), ("a", " a")])


@pytest.mark.parametrize("parent", [None, "", "  ", float("nan"), pd.NA, pd.NaT])
def test_empty_parent_is_refused_with_its_child(parent):
    frame = pd.DataFrame({"child": ["a", "b"], "parent": ["b", parent]}, dtype=object)
    with pytest.raises(
        ContextError, match=r"edge 2: the parent of 'b' is empty.*a root"
    ):
        Hierarchy.from_edges(frame)


def test_empty_child_is_refused():
    with pytest.raises(ContextError, match=r"edge 1: the child is empty"):
        Hierarchy.from_edges([(np.nan, "b")])


def test_parent_that_is_no_name_is_refused():
    with pytest.raises(ContextError, match=r"a parent must be text.*Got 1.5"):
        Hierarchy.from_edges([("a", 1.5)])


@pytest.mark.parametrize("pair", ["ab", ("a",), ("a", "b", "c"), {"a": 1, "b": 2}, 3])
def test_row_that_is_no_pair_is_refused(pair):
    with pytest.raises(ContextError, match=r"edge 2: must be a \(child, parent\) pair"):
        Hierarchy.from_edges([("x", "y"), pair])


@pytest.mark.parametrize("edges", [[], pd.DataFrame({"child": [], "parent": []})])
def test_hierarchy_without_an_edge_is_refused(edges):
    with pytest.raises(ContextError, match=r"'mine' is empty: it has no edge"):
        Hierarchy.from_edges(edges, name="mine")


def test_frame_of_one_column_is_refused():
    with pytest.raises(
        ContextError, match=r"columns 'child', 'parent' are needed. Got 'child'"
    ):
        Hierarchy.from_edges(pd.DataFrame({"child": ["a"]}))


def test_undirected_graph_is_refused():
    with pytest.raises(ContextError, match=r"'hierarchy' must be a directed graph"):
        Hierarchy.from_edges(nx.Graph([("a", "b")]))


def test_repeated_edge_is_counted_once_with_a_warning_at_the_caller():
    with pytest.warns(ContextWarning, match=r"'t': 2 of 3 edges repeat") as caught:
        context = RelationalContext.from_hierarchy(
            [("a", "r"), ("a", "r"), (" a", "r")], name="t", labels=["a", "r"]
        )
    assert caught[0].filename == __file__
    assert len(context.hierarchy.hierarchy.edges) == 1


def test_graph_nodes_without_an_edge_are_left_out_with_a_warning_at_the_caller():
    graph = nx.DiGraph(PETS)
    graph.add_node("stone")
    with pytest.warns(ContextWarning, match=r"1 nodes have no edge.*'stone'") as caught:
        context = RelationalContext.from_hierarchy(graph)
    assert caught[0].filename == __file__
    assert "stone" not in context.labels


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


def test_extended_hierarchy_has_the_old_and_the_new_edges():
    new = Hierarchy.from_edges([("tabby", "housecat"), ("housecat", "cat")])
    tree = Hierarchy.from_edges(PETS).extended(new, name="t")
    assert set(tree.leaves) == {"tabby", "dog", "wolf"}
    assert tree.parents_of("housecat") == ("cat",)
    assert len(tree.edges) == len(PETS) + 2


def test_unknown_parent_of_a_later_label_is_refused_with_the_nearest_spelling():
    tree = Hierarchy.from_edges(PETS)
    with pytest.raises(
        ContextError,
        match=r"parent 'canin' of 'fox' is not one of its nodes.*mean 'canine'",
    ):
        tree.extended(Hierarchy.from_edges([("fox", "canin")]), name="t")


def test_later_edges_that_close_a_cycle_are_refused():
    tree = Hierarchy.from_edges(PETS)
    with pytest.raises(ContextError, match=r"'t' has a cycle: "):
        tree.extended(Hierarchy.from_edges([("animal", "cat")]), name="t")


# The constructions


@given(dags(), st.sampled_from([None, 0.5, 3.0]))
@settings(deadline=None, max_examples=60)
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


def test_node_above_a_single_label_is_no_column():
    context = RelationalContext.from_hierarchy(PETS)
    assert "wild" not in context.columns  # above the wolf alone
    assert set(context.columns) == {"pet", "canine", "animal"}


@given(dags(), st.sampled_from([None, 1.0]), st.sampled_from([None, 2]), st.booleans())
@settings(deadline=None, max_examples=60)
def test_path_counts_match_brute_force(edges, decay, radius, leaves_only):
    up = climb(edges)
    labels = list(Hierarchy.from_edges(edges).leaves if leaves_only else up)
    expected = {}
    for a, b in product(labels, labels):
        path = shortest(up, a, b)
        if a != b and path is not None and path <= (radius or 99):
            expected[a, b] = np.exp(-path / (decay or 2.0))
    found = counted(edges, labels, kind="path", decay=decay, radius=radius)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
@given(edges=dags(), shuffle=st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=20)
def test_counts_do_not_depend_on_the_order_of_labels(kind, edges, shuffle):
    labels = list(Hierarchy.from_edges(edges).nodes)
    other = labels.copy()
    shuffle.shuffle(other)
    assert counted(edges, labels, kind=kind) == pytest.approx(
        counted(edges, other, kind=kind)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_label_counted_later_gets_the_counts_of_the_fit(kind):
    edges = random_tree(25)
    recipe = HierarchyCounts(Hierarchy.from_edges(edges), kind=kind)
    labels = recipe.hierarchy.leaves
    columns, counts = recipe.count(labels)
    later = recipe.count_on(labels[3:6], trained=labels, columns=columns)
    np.testing.assert_allclose(later.toarray(), counts.toarray()[3:6])


@pytest.mark.parametrize("kind", KINDS)
def test_sibling_that_comes_later_is_counted_like_its_sibling(kind):
    edges = [("a", "r"), ("b", "r"), ("c", "s"), ("d", "s"), ("r", "t"), ("s", "t")]
    recipe = HierarchyCounts(Hierarchy.from_edges(edges), kind=kind)
    labels = recipe.hierarchy.leaves
    columns, _ = recipe.count(labels)
    longer = recipe.extended(Hierarchy.from_edges([("e", "r")]), name="t")
    found = longer.count_on(["e"], trained=labels, columns=columns).toarray()[0]
    by_column = dict(zip(columns, found, strict=True))
    near, far = ("r", "s") if kind == "ancestors" else ("a", "c")
    assert by_column[near] > by_column[far]


# Options


def test_unknown_kind_is_refused_with_the_nearest_one():
    with pytest.raises(
        OptionError, match=r"'ancestor' instead. Did you mean 'ancestors'"
    ):
        RelationalContext.from_hierarchy(PETS, kind="ancestor")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decay": 0.0}, "decay must be above 0. Got 0.0"),
        ({"decay": float("nan")}, "decay must be above 0. Got nan"),
        ({"radius": 0, "kind": "path"}, "radius must be a whole number.*Got 0"),
        ({"radius": 2.5, "kind": "path"}, "radius must be a whole number.*Got 2.5"),
        ({"radius": 3}, "radius has no meaning for kind='ancestors', only for 'path'"),
        ({"kind": "shared"}, "of 'ancestors', 'path'. Got 'shared'.* 'path' comes"),
        ({"kind": "walks"}, "Got 'walks' instead.* gone; 'ancestors' comes closest"),
    ],
)
def test_option_out_of_range_or_without_meaning_is_refused(options, words):
    with pytest.raises(OptionError, match=words):
        RelationalContext.from_hierarchy(PETS, **options)


def test_labels_are_the_leaves_unless_named():
    assert RelationalContext.from_hierarchy(PETS).labels == ("cat", "dog", "wolf")
    named = RelationalContext.from_hierarchy(PETS, labels=["wolf", "canine"])
    assert named.labels == ("wolf", "canine")
    assert named.naming_also(["dog"]) is named


def test_open_hierarchy_takes_further_nodes_as_labels():
    context = RelationalContext.from_hierarchy(PETS)
    grown = context.naming_also(["canine", "stone", "dog"])
    assert grown.labels == ("cat", "dog", "wolf", "canine")
    assert context.naming_also(["stone"]) is context


def test_label_outside_the_hierarchy_is_refused_by_name():
    with pytest.raises(
        ContextError, match=r"'t': labels 'fox' are not in the hierarchy"
    ):
        RelationalContext.from_hierarchy(PETS, labels=["cat", "fox"], name="t")


# Size


def test_large_groups_link_no_pairs_above_the_limit_and_who_is_lost_is_told(
    monkeypatch,
):
    monkeypatch.setattr(constructions, "DENSE_LIMIT", 4)
    monkeypatch.setattr(constructions, "LARGE_GROUP", 2)
    edges = [("a", "r"), ("b", "r"), ("r", "top")] + [(x, "top") for x in "cde"]
    with pytest.warns(ContextWarning, match=r"3 of 5 labels.*'c', 'd', 'e'") as caught:
        context = RelationalContext.from_hierarchy(edges, kind="path")
    assert caught[0].filename == __file__
    assert context.observed_labels == ("a", "b")


@pytest.mark.parametrize("kind", KINDS)
def test_many_leaves_stay_sparse(kind):
    edges = random_tree(6_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContextWarning)
        tracemalloc.start()
        context = RelationalContext.from_hierarchy(edges, kind=kind)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(context.labels) == 6_000
    assert len(context.observed_labels) > 5_700
    assert context.counts.nnz < 1_200_000
    assert peak < 150e6  # half of a dense matrix


def test_chain_of_thousands_of_nodes_is_read():
    edges = [(f"n{i}", f"n{i + 1}") for i in range(5_000)]
    context = RelationalContext.from_hierarchy(edges, labels=["n0", "n1"])
    assert context.counts.shape == (2, 5_000)
    assert np.all(context.counts.data > 0)
