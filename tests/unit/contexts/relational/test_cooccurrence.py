"""Edges, annotations and text as counts."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from phcle import RelationalContext
from phcle.errors import ContextError, ContextWarning, GuessWarning, OptionError


def cells(context):
    """Counts by (label, column)."""
    matrix = context.counts.tocoo()
    return {
        (context.labels[i], context.columns[j]): value
        for i, j, value in zip(*matrix.coords, matrix.data, strict=True)
    }


# Edges


def test_edges_count_both_ways_and_their_weights_add_up():
    edges = [("a", "b"), ("b", "c", 2), ("b", "a", 0.5)]
    context = RelationalContext.from_edges(edges)
    assert cells(context) == {
        ("a", "b"): 1.5,
        ("b", "a"): 1.5,
        ("b", "c"): 2.0,
        ("c", "b"): 2.0,
    }


def test_directed_edges_count_one_way():
    context = RelationalContext.from_edges([("a", "b", 3)], directed=True)
    assert cells(context) == {("a", "b"): 3.0}
    assert context.labels == ("a", "b")
    assert context.observed_labels == ("a",)


def test_random_graph_gives_its_weighted_adjacency_matrix():
    graph = nx.gnp_random_graph(30, 0.2, seed=3)
    rng = np.random.default_rng(0)
    edges = [(a, b, float(rng.integers(1, 9))) for a, b in graph.edges]
    graph.add_weighted_edges_from(edges)
    context = RelationalContext.from_edges(edges)
    nodes = [int(label) for label in context.labels]
    np.testing.assert_array_equal(
        context.counts.toarray(), nx.to_numpy_array(graph, nodelist=nodes)
    )


def test_edge_frame_is_read_by_column_names_or_else_by_position():
    frame = pd.DataFrame(
        {"weight": [2.0], "target": ["b"], "source": ["a"], "note": ["x"]}
    )
    named = RelationalContext.from_edges(frame, directed=True)
    assert cells(named) == {("a", "b"): 2.0}
    frame = pd.DataFrame([["a", "b", 4]], columns=["one", "other", "n"])
    with pytest.warns(GuessWarning, match="takes 'one' as source, 'other' as target"):
        plain = RelationalContext.from_edges(frame, directed=True)
    assert cells(plain) == {("a", "b"): 4.0}


def test_self_loop_is_refused_by_name_unless_meant():
    edges = [("a", "b"), ("c", "c")]
    with pytest.raises(
        ContextError, match=r"edge 2: 'c' is joined to itself.*self_loops"
    ):
        RelationalContext.from_edges(edges)
    loops = RelationalContext.from_edges(edges, self_loops=True)
    assert cells(loops)["c", "c"] == 1.0


@pytest.mark.parametrize(
    "edge", ["ab", ("a",), ("a", "b", 1, 2), {"a": 1, "b": 2}, {"a", "b"}, 7]
)
def test_edge_of_another_form_is_refused(edge):
    with pytest.raises(ContextError, match=r"edge 2: must be \(label, label\) or"):
        RelationalContext.from_edges([("x", "y"), edge])


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, "heavy", None])
def test_bad_weight_is_refused_with_its_edge(weight):
    with pytest.raises(
        ContextError, match=f"edge 1: a weight must be a finite number.*{weight}"
    ):
        RelationalContext.from_edges([("a", "b", weight)])


def test_edge_with_an_empty_end_is_refused():
    with pytest.raises(ContextError, match=r"'mine', edge 1: the label is empty"):
        RelationalContext.from_edges([("a", " ")], name="mine")


@pytest.mark.parametrize("edges", [[], [("a", "b", 0)]])
def test_edges_without_any_weight_are_an_empty_context(edges):
    with pytest.raises(ContextError, match=r"'edges' is empty"):
        RelationalContext.from_edges(edges)


@pytest.mark.parametrize("edges", ["edges.csv", {"a": "b"}])
def test_a_text_or_mapping_is_no_list_of_edges(edges):
    with pytest.raises(ContextError, match=r"rows of \(source, target\) are needed"):
        RelationalContext.from_edges(edges)


# Annotations


def test_annotations_count_items_that_have_both_labels():
    images = {1: ["cat", "sofa"], 2: ["cat", "sofa", "dog"], 3: ["bird"]}
    rows = [(item, label) for item, labels in images.items() for label in labels]
    context = RelationalContext.from_annotations(rows)
    expected: dict[tuple[str, str], float] = {}
    for labels in images.values():
        for pair in permutations(labels, 2):
            expected[pair] = expected.get(pair, 0.0) + 1.0
    assert cells(context) == expected
    assert context.labels == ("cat", "sofa", "dog", "bird")
    assert "bird" not in context.observed_labels


def test_annotation_frame_is_read_by_column_names():
    frame = pd.DataFrame({"label": ["a", "b"], "score": [1, 2], "item": [10, 10]})
    context = RelationalContext.from_annotations(frame)
    assert cells(context) == {("a", "b"): 1.0, ("b", "a"): 1.0}


def test_repeated_annotation_is_counted_once_with_a_warning():
    rows = [("i", "a"), ("i", "b"), ("i", "a")]
    with pytest.warns(ContextWarning, match=r"'annotations': 1 of 3 rows repeat"):
        context = RelationalContext.from_annotations(rows)
    assert cells(context)["a", "b"] == 1.0


def test_annotations_with_one_label_per_item_are_refused():
    with pytest.raises(ContextError, match=r"'annotations' is empty.*leave it out"):
        RelationalContext.from_annotations([(1, "a"), (2, "b"), (3, "a")])


def test_annotation_of_another_form_is_refused():
    with pytest.raises(ContextError, match=r"row 1: must be \(item, label\). Got"):
        RelationalContext.from_annotations([("i", "a", "b")])


def test_annotation_without_item_or_label_is_refused():
    with pytest.raises(ContextError, match=r"row 2: the item is empty"):
        RelationalContext.from_annotations([("i", "a"), (None, "a")])
    with pytest.raises(ContextError, match=r"row 1: the label is empty"):
        RelationalContext.from_annotations([("i", np.nan)])


def test_frame_with_too_few_columns_is_refused():
    with pytest.raises(ContextError, match=r"'item', 'label' are needed. Got 'label'"):
        RelationalContext.from_annotations(pd.DataFrame({"label": ["a"]}))


# Text


def test_words_around_a_label_are_counted_within_the_window():
    context = RelationalContext.from_text(
        ["the old cat sat down"], ["cat"], window=1, min_count=1
    )
    assert cells(context) == {("cat", "old"): 1.0, ("cat", "sat"): 1.0}


def test_labels_of_several_words_match_whatever_joins_them_and_the_longest_wins():
    documents = ["one Sea-Lion.", "one sea lion", "one SEA_LION", "the lion roars"]
    labels = ["sea_lion", "lion"]
    context = RelationalContext.from_text(documents, labels, window=1, min_count=1)
    assert cells(context) == {
        ("sea_lion", "one"): 3.0,
        ("lion", "the"): 1.0,
        ("lion", "roars"): 1.0,
    }


def test_apostrophe_does_not_split_a_word():
    context = RelationalContext.from_text(
        ["don't cat's-eye here"], ["cat's eye"], window=1, min_count=1
    )
    assert context.columns == ("don't", "here")


def test_rare_words_are_left_out():
    documents = ["red cat", "red dog", "blue dog"]
    context = RelationalContext.from_text(documents, ["cat", "dog"], min_count=2)
    assert context.columns == ("red",)


def test_label_without_a_mention_is_listed_but_unknown():
    context = RelationalContext.from_text(["red cat"], ["cat", "yeti"], min_count=1)
    assert context.labels == ("cat", "yeti")
    assert context.observed_labels == ("cat",)


def test_text_without_any_mention_is_refused():
    with pytest.raises(ContextError, match=r"'text' is empty"):
        RelationalContext.from_text(["nothing here"], ["cat"])


def test_labels_of_the_same_words_are_refused_by_name():
    with pytest.raises(ContextError, match=r"'Sea Lion' and 'sea_lion' are the same"):
        RelationalContext.from_text(["x"], ["Sea Lion", "sea_lion"])


def test_label_without_a_word_is_refused_by_name():
    with pytest.raises(ContextError, match=r"the label '\+\+' has no word"):
        RelationalContext.from_text(["x"], ["++"])


def test_document_that_is_no_text_is_refused_with_its_number():
    with pytest.raises(ContextError, match=r"document 2: must be text. Got NoneType"):
        RelationalContext.from_text(["a cat", None], ["cat"])
    with pytest.raises(ContextError, match=r"list of texts is needed. Got a single"):
        RelationalContext.from_text("a cat", ["cat"])


@pytest.mark.parametrize("option", ["window", "min_count"])
def test_text_options_below_one_are_refused(option):
    with pytest.raises(OptionError, match=f"{option} must be 1 or more. Got 0"):
        RelationalContext.from_text(["a cat"], ["cat"], **{option: 0})
