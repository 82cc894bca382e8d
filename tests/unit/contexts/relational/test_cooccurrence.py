"""Edges, annotations and text as counts."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from problems import cells

from phcle import RelationalContext
from phcle.errors import ContextError, ContextWarning, OptionError

# Edges


def linked(edges, **options):
    return cells(RelationalContext.from_edges(edges, **options))


def test_edges_count_both_ways_and_their_weights_add_up():
    found = linked([("a", "b"), ("b", "c", 2), ("b", "a", 0.5)])
    once = {("a", "b"): 1.5, ("b", "c"): 2.0}
    assert found == once | {(b, a): weight for (a, b), weight in once.items()}


def test_directed_edges_count_one_way():
    context = RelationalContext.from_edges([("a", "b", 3)], directed=True)
    assert cells(context) == {("a", "b"): 3.0}
    assert context.labels == ("a", "b")
    assert context.observed_labels == ("a",)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        *(
            ([("x", "y"), x], r"edge 2: must be \(label, label\) or")
            for x in ("ab", ("a",), ("a", "b", 1, 2), {"a": 1, "b": 2}, {"a", "b"}, 7)
        ),
        *(
            ([("a", "b", x)], f"edge 1: a weight must be a finite number.*{x}")
            for x in (-1, np.nan, np.inf, "nan", None)
        ),
        ([("a", "b", 1), ("b", "c", "heavy")], "edge 2: a weight must be.*heavy"),
        ([("a", " ")], "'edges', edge 1: the label is empty"),
        ([], "'edges' is empty"),
        ([("a", "b", 0)], "'edges' is empty"),
        ("edges.csv", r"rows of \(source, target\) are needed"),
        ({"a": "b"}, r"rows of \(source, target\) are needed"),
    ],
)
def test_what_is_no_list_of_edges_is_refused(edges, message):
    with pytest.raises(ContextError, match=message):
        RelationalContext.from_edges(edges)


def test_edges_of_a_label_to_itself_are_left_out_and_counted_unless_meant():
    edges = [("a", "b"), ("c", "c"), ("a", "a")]
    with pytest.warns(ContextWarning, match="2 of 3 edges link a label to itself"):
        assert linked(edges) == {("a", "b"): 1.0, ("b", "a"): 1.0}
    assert linked(edges, self_loops=True)["c", "c"] == 1.0


# Triples

TRIPLES = [("Bonn", "in", "NRW"), ("Bonn", "on", "Rhine"), ("Kiel", "in", "Holstein")]


def named(links):
    """Links as triples."""
    names, kinds = links.names, links.relations
    return [(names[a], kinds[kind], names[b]) for a, b, kind in links.ends.T]


def test_triples_count_like_edges_and_keep_relation_and_direction():
    context = RelationalContext.from_triples(TRIPLES)
    assert cells(context) == linked([(a, b) for a, _, b in TRIPLES])
    # Texts in third place make edges triples.
    for found in (context, RelationalContext.from_edges(TRIPLES)):
        assert named(found.links) == TRIPLES


def test_numbers_in_third_place_are_labels_only_where_triples_are_said():
    rows = [(1, 0, 2), (2, 1, 3)]
    as_triples = RelationalContext.from_triples(rows)
    assert named(as_triples.links) == [("1", "0", "2"), ("2", "1", "3")]
    assert linked(rows)["2", "1"] == 3.0


def test_renamed_triples_keep_their_links():
    context = RelationalContext.from_triples(TRIPLES).renamed({"Bonn": "Kiel"})
    assert named(context.links)[1] == ("Kiel", "on", "Rhine")
    assert set(context.labels) == set(context.links.names)


def test_only_counts_of_labels_with_labels_are_links():
    plain = RelationalContext.from_edges([("a", "b")], directed=True)
    assert named(plain.links) == [("a", "", "b")]
    words = RelationalContext.from_text(["a cat and a cat"], ["cat"])
    tree = RelationalContext.from_hierarchy([("cat", "felid"), ("lion", "felid")])
    assert words.links is None
    assert tree.links is None


# Annotations


def test_annotations_count_items_that_have_both_labels():
    images = {1: ["cat", "sofa"], 2: ["cat", "sofa", "dog"], 3: ["bird"]}
    rows = [(item, label) for item, labels in images.items() for label in labels]
    context = RelationalContext.from_annotations(rows)
    pairs = [x for labels in images.values() for x in permutations(labels, 2)]
    assert cells(context) == Counter(pairs)
    assert context.labels == ("cat", "sofa", "dog", "bird")
    assert "bird" not in context.observed_labels


def test_repeated_annotation_is_counted_once_with_a_warning():
    rows = [("i", "a"), ("i", "b"), ("i", "a")]
    with pytest.warns(ContextWarning, match=r"'annotations': 1 of 3 rows repeat"):
        context = RelationalContext.from_annotations(rows)
    assert cells(context)["a", "b"] == 1.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "a"), (2, "b"), (3, "a")], "'annotations' is empty.*leave it out"),
        ([("i", "a", "b")], r"row 1: must be a \(item, label\) pair. Got"),
        ([("i", "a"), (None, "a")], "row 2: the item is empty"),
        ([("i", np.nan)], "row 1: the label of 'i' is empty"),
        (pd.DataFrame({"label": ["a"]}), "'item' is not in its header 'label'"),
    ],
)
def test_what_is_no_list_of_annotations_is_refused(rows, message):
    with pytest.raises(ContextError, match=message):
        RelationalContext.from_annotations(rows)


# Text


def near(documents, labels, window=1, min_count=1):
    options = {"window": window, "min_count": min_count}
    return cells(RelationalContext.from_text(documents, labels, **options))


def test_words_around_a_label_are_counted_within_the_window():
    found = near(["the old cat sat down"], ["cat"])
    assert found == {("cat", "old"): 1.0, ("cat", "sat"): 1.0}


def test_labels_of_several_words_match_whatever_joins_them_and_the_longest_wins():
    documents = ["one Sea-Lion.", "one sea lion", "one SEA_LION", "the lion roars"]
    found = near(documents, ["sea_lion", "lion"])
    assert found == {("sea_lion", "one"): 3, ("lion", "the"): 1, ("lion", "roars"): 1}


def test_label_without_a_mention_is_listed_but_unknown():
    context = RelationalContext.from_text(["red cat"], ["cat", "yeti"], min_count=1)
    assert context.labels == ("cat", "yeti")
    assert context.observed_labels == ("cat",)


@pytest.mark.parametrize(
    ("documents", "labels", "message"),
    [
        (["nothing here"], ["cat"], "'text' is empty"),
        (["x"], ["Sea Lion", "sea_lion"], "'Sea Lion' and 'sea_lion' are the same"),
        (["x"], ["++"], r"the label '\+\+' has no word"),
        (["a cat", None], ["cat"], "document 2: must be text. Got NoneType"),
        ("a cat", ["cat"], "list of texts is needed. Got a single"),
    ],
)
def test_texts_and_labels_that_cannot_be_counted_are_refused(
    documents, labels, message
):
    with pytest.raises(ContextError, match=message):
        RelationalContext.from_text(documents, labels)
    for option in ("window", "min_count"):
        with pytest.raises(OptionError, match=rf"{option} must be 1 or more. Got 0"):
            RelationalContext.from_text(["a cat"], ["cat"], **{option: 0})
