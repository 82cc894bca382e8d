"""Contexts whose labels are spelled differently, before and in a fit."""

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, load
from phcle.contexts import match_contexts
from phcle.errors import ContextError, ContextWarning, GuessWarning

ROOMS = {"Bedroom": ["Beds", "Cots"], "Living room": ["Sofas"]}
EDGES = [(label, room) for room, own in ROOMS.items() for label in own]
EDGES += [(room, "Home") for room in ROOMS]
FAST = {"dim": 2, "choose": False, "completion": "none"}


@pytest.fixture
def tree():
    return RelationalContext.from_hierarchy(EDGES, name="tree")


def tags(**of):
    return DescriptiveContext.from_tags(of, name="tags")


def test_rows_columns_and_inner_nodes_are_renamed(tree):
    rows = [("b1", "BEDS"), ("b1", "sofas"), ("b2", "sofas"), ("b2", "Rugs")]
    baskets = RelationalContext.from_annotations(rows, name="baskets")
    looks = DescriptiveContext.from_cells(
        ("BEDROOM", "Sofas"), {"price": ["3", "4"]}, "looks"
    )
    found = match_contexts([tree, baskets, looks])
    assert found.contexts[0] is tree
    assert found.contexts[1].labels == found.contexts[1].columns
    assert found.contexts[1].labels == ("Beds", "Sofas", "Rugs")
    assert found.contexts[2].labels == ("Bedroom", "Sofas")
    assert found.contexts[2].source is looks.source
    np.testing.assert_array_equal(found.contexts[2].values, looks.values)


def test_taxonomy_takes_the_spelling_of_an_earlier_context(tree):
    found = match_contexts([tags(BEDS=["x"], HOME=["y"]), tree])
    renamed = found.contexts[1]
    assert renamed.labels == ("BEDS", "Cots", "Sofas")
    assert "HOME" in renamed.hierarchy.index
    assert "HOME" in renamed.columns
    assert "Home" not in renamed.columns


def test_synonyms_merge_rows_of_tags_counts_and_tables(tree):
    own = tags(Beds=["soft"], BEDS=["sale"], Sofas=["soft"])
    rows = [("b", "Beds"), ("b", "BEDS"), ("b", "Sofas")]
    baskets = RelationalContext.from_annotations(rows, name="baskets")
    cells = {"price": ["3", ""], "colour": ["", "red"]}
    looks = DescriptiveContext.from_cells(("BEDS", "Beds"), cells, "looks")
    found = match_contexts([tree, own, baskets, looks], synonyms={"BEDS": "Beds"})
    _, own, baskets, looks = found.contexts
    assert own.labels == ("Beds", "Sofas")
    assert own.values.toarray().tolist() == [[1, 1], [0, 1]]
    assert baskets.labels == ("Beds", "Sofas")
    assert baskets.counts.toarray().tolist() == [[0, 2], [2, 0]]
    assert looks.labels == ("Beds",)
    assert looks.values.tolist() == [[3, 1]]
    assert looks.source.cells == {"price": ["3"], "colour": ["red"]}


def test_synonyms_that_contradict_each_other_are_refused():
    cells = {"price": ["3", "4"], "size": ["1", "2"]}
    looks = DescriptiveContext.from_cells(("Beds", "BEDS"), cells, "looks")
    with pytest.raises(ContextError, match=r"'price' are 3 and 4; correct one"):
        match_contexts(looks, synonyms={"BEDS": "Beds"})


def test_of_several_texts_of_a_label_the_first_is_used():
    texts = {"Beds": "to sleep in", "BEDS": "of wood"}
    own = DescriptiveContext.from_texts(texts, min_count=1)
    with pytest.warns(ContextWarning, match="the first is used"):
        found = match_contexts(own, synonyms={"BEDS": "Beds"})
    assert found.contexts[0].source.documents == ("to sleep in",)


@pytest.mark.parametrize("kind", ["ancestors", "path"])
def test_matched_fit_is_that_of_clean_contexts(kind):
    tree = RelationalContext.from_hierarchy(EDGES, name="tree", kind=kind)
    clean = tags(Beds=["soft"], Cots=["soft", "small"], Sofas=["sale"])
    dirty = tags(BEDS=["soft"], Cots=["soft", "small"], sofas=["sale"])
    model = PHCLE(**FAST)
    expected = model.fit([tree, clean]).embedding_
    with pytest.warns(GuessWarning, match="BEDS → Beds, sofas → Sofas"):
        found = model.fit([tree, dirty]).embedding_
    assert found.labels == expected.labels
    np.testing.assert_array_equal(found.vectors, expected.vectors)
    assert found.spellings == {"BEDS": "Beds", "sofas": "Sofas"}
    assert model.match_.spellings == found.spellings


def test_stored_embedding_is_asked_by_any_spelling(tree, tmp_path):
    own = tags(BEDS=["soft"], Bedz=["soft"], Cots=["sale"])
    with pytest.warns(GuessWarning, match="BEDS → Beds"):
        model = PHCLE(**FAST).fit([tree, own], synonyms={"Bedz": "Sofas"})
    model.embedding_.save(tmp_path / "home.phcle")
    found = load(tmp_path / "home.phcle")
    assert found.spellings == {"BEDS": "Beds", "Bedz": "Sofas"}
    assert [found.resolve(x) for x in ("BEDS", "Bedz")] == ["Beds", "Sofas"]
    assert [found.called.spelled(x) for x in ("beds", "Bed")] == ["Beds", None]
    assert found.select(["Sofas"]).resolve("Bedz") == "Sofas"
