"""One vocabulary over partial contexts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from phcle import DescriptiveContext, RelationalContext
from phcle.contexts import align
from phcle.errors import ContextError, ContextWarning

TREE = [("cat", "pet"), ("dog", "pet"), ("wolf", "beast"), ("bear", "beast")] + [
    (x, "animal") for x in ("pet", "beast")
]


def tags(mapping, name="tags"):
    return DescriptiveContext.from_tags(mapping, name=name)


def tree(**options):
    return RelationalContext.from_hierarchy(TREE, **options)


def test_vocabulary_is_the_union_in_order_of_appearance():
    edges = RelationalContext.from_edges([("b", "a")])
    aligned = align([edges, tags({"c": ["x"], "a": []})])
    assert aligned.labels == ("b", "a", "c")


def test_contexts_are_sorted_by_their_kind_and_kept_whole():
    edges = RelationalContext.from_edges([("b", "a")])
    described = tags({"c": ["x"]})
    aligned = align(iter([described, edges]))
    assert aligned.contexts == (edges, described)


def test_open_hierarchy_takes_the_internal_nodes_that_others_name():
    aligned = align([tree(), tags({"pet": ["tame"], "stone": ["hard"]})])
    assert aligned.labels == ("cat", "dog", "wolf", "bear", "pet", "stone")
    assert aligned.contexts[0].labels == ("cat", "dog", "wolf", "bear", "pet")


def test_labels_restrict_and_order_the_vocabulary():
    aligned = align([tree(), tags({"cat": ["x"], "stone": []})], labels=["pet", "cat"])
    assert aligned.labels == ("pet", "cat")
    assert "pet" in aligned.contexts[0].observed_labels


def test_complete_only_keeps_labels_that_every_context_observes():
    values = pd.DataFrame({"x": [1.0, np.nan, 2.0]}, index=["cat", "dog", "stone"])
    contexts = [tree(), DescriptiveContext.from_frame(values)]
    assert align(contexts, complete_only=True).labels == ("cat",)


def test_label_without_any_information_is_left_out_by_name():
    edges = RelationalContext.from_edges([("a", "b"), ("a", "alone", 0)])
    with pytest.warns(ContextWarning, match=r"about 1 of 3 labels.*left out: 'alone'"):
        assert align(edges).labels == ("a", "b")
    described = tags({"alone": []} | {"b": ["x"]})
    assert align([edges, described]).labels == ("a", "b", "alone")


STONE = tags({"stone": ["hard"]})
FOREST = RelationalContext.from_hierarchy([("a", "r"), ("b", "s")], name="forest")


@pytest.mark.parametrize(
    ("contexts", "options", "message"),
    [
        (
            [tree(), STONE],
            {"complete_only": True},
            "complete_only=True.*there are none",
        ),
        ([tree(), STONE], {"labels": ["cat"]}, "'tags' says nothing about .*'cat'"),
        (tree(), {"labels": ["cat", "yeti"]}, "1 of 2 labels: 'yeti'"),
        (tree(), {"labels": []}, "labels= is empty"),
        (
            [FOREST, tags({"a": ["x"], "b": ["y"]})],
            {},
            "'forest' relates no two labels",
        ),
        ([], {}, "at least one context is needed"),
        ([STONE, STONE], {}, "different names, but 'tags'.*give each"),
        ([pd.DataFrame({"x": [1.0]})], {}, "RelationalContext or.*Got DataFrame"),
    ],
)
def test_contexts_that_do_not_go_together_are_refused(contexts, options, message):
    with pytest.raises(ContextError, match=message):
        align(contexts, **options)
