"""The same data gives the same context, whichever library holds it."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import DescriptiveContext, RelationalContext
from phcle.errors import ContextError

ANIMALS = {
    "animal": ["cat", "whale", "bat"],
    "legs": [4, 0, 2],
    "weight": [4.5, None, 0.01],
    "flies": [False, False, True],
    "lives": ["land", "sea", None],
}
EDGES = {"child": ["cat", "bat"], "parent": ["mammal", "mammal"]}


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def make(request):
    library = pytest.importorskip(
        request.param, reason=f"{request.param} is not installed"
    )
    if request.param == "pyarrow":
        return library.table
    return library.DataFrame


def test_attributes_are_the_same_in_every_library(make):
    found = DescriptiveContext.from_frame(make(ANIMALS), labels="animal")
    assert found.labels == ("cat", "whale", "bat")
    assert found.columns == ("legs", "weight", "flies", "lives=land", "lives=sea")
    expected = [
        [4, 4.5, 0, 1, 0],
        [0, np.nan, 0, 0, 1],
        [2, 0.01, 1, np.nan, np.nan],
    ]
    np.testing.assert_array_equal(found.values, expected)


def test_a_frame_without_an_index_has_its_labels_first():
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    found = DescriptiveContext.from_frame(polars.DataFrame(ANIMALS))
    assert found.labels == ("cat", "whale", "bat")
    assert "animal" not in found.columns


def test_edges_come_from_any_frame(make):
    found = RelationalContext.from_hierarchy(make(EDGES), labels=["cat", "bat"])
    plain = RelationalContext.from_hierarchy(
        [("cat", "mammal"), ("bat", "mammal")], labels=["cat", "bat"]
    )
    assert found.labels == plain.labels
    assert found.columns == plain.columns
    np.testing.assert_array_equal(found.counts.toarray(), plain.counts.toarray())


def test_a_column_that_is_not_there_is_named_with_the_nearest(make):
    with pytest.raises(ContextError, match=r"no column 'animl' .* 'animal'"):
        DescriptiveContext.from_frame(make(ANIMALS), labels="animl")


def test_a_lazy_frame_must_be_collected():
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    with pytest.raises(ContextError, match="collect it first"):
        DescriptiveContext.from_frame(polars.DataFrame(ANIMALS).lazy())


def test_what_is_no_frame_is_refused():
    with pytest.raises(ContextError, match="Got dict instead"):
        DescriptiveContext.from_frame({"legs": [4]})
