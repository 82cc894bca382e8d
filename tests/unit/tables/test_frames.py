"""The same data gives the same context, whichever library holds it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from phcle import DescriptiveContext
from phcle.errors import ContextError, GuessWarning

ANIMALS = {
    "animal": ["cat", "whale", "bat"],
    "legs": [4, 0, 2],
    "weight": [4.5, None, 0.01],
    "flies": [False, False, True],
    "lives": ["land", "sea", None],
}


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
    expected = [[4, 4.5, 0, 1, 0], [0, np.nan, 0, 0, 1], [2, 0.01, 1, np.nan, np.nan]]
    np.testing.assert_array_equal(found.values, expected)


def test_a_column_that_is_not_there_is_named_with_the_nearest(make):
    with pytest.raises(ContextError, match=r"no column 'animl'.*Did you mean 'animal'"):
        DescriptiveContext.from_frame(make(ANIMALS), labels="animl")


def test_a_lazy_frame_must_be_collected():
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    with pytest.raises(ContextError, match="collect it first"):
        DescriptiveContext.from_frame(polars.DataFrame(ANIMALS).lazy())


# The column of labels

NAMES = ["cat", "whale", "bat"]
WHERE_LABELS_STAND = {
    "a first column of texts": {"what": NAMES, "legs": [4, 0, 2]},
    "a later column called name": {"legs": [4, 0, 2], "Name": NAMES, "x": list("abc")},
    "whole numbers called id": {"legs": [4, 0, 2], "item_id": [7, 8, 9]},
    "the only column of texts": {"legs": [4, 0, 2], "what": NAMES},
    "different texts before repeated ones": {"sex": list("mmf"), "what": NAMES},
    "label before all others": {"what": NAMES, "label": list("xyz")},
}


@pytest.mark.parametrize("cells", WHERE_LABELS_STAND.values(), ids=WHERE_LABELS_STAND)
def test_the_column_of_labels_is_found(make, cells):
    own = next(x for x in ("label", "Name", "item_id", "what") if x in cells)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = DescriptiveContext.from_frame(make(cells))
    assert found.labels == tuple(map(str, cells[own]))
    assert [x.category for x in said] == ([] if own == "label" else [GuessWarning])


NO_LABELS = {
    "only numbers": ({"a": [1.5, 2], "b": [0.5, 0.7]}, "repeat or hold numbers; name"),
    "two candidates": (
        {"legs": [4, 2], "one": ["a", "b"], "other": ["c", "d"]},
        "may be in 'one', 'other'; name the column: labels='one'",
    ),
    "a label is missing": (
        {"name": ["cat", None], "legs": [4, 2]},
        "is empty; fill it",
    ),
}


@pytest.mark.parametrize(("cells", "message"), NO_LABELS.values(), ids=NO_LABELS)
def test_a_frame_without_labels_is_refused_with_the_remedy(make, cells, message):
    with pytest.raises(ContextError, match=message):
        DescriptiveContext.from_frame(make(cells))


@pytest.mark.parametrize("rows", [[0, 2], [2, 0, 1]], ids=["selected", "sorted"])
def test_numbers_of_rows_are_no_labels(rows):
    frame = pd.DataFrame({"what": NAMES, "legs": [4, 0, 2]}).iloc[rows]
    with pytest.warns(GuessWarning, match="'what'"):
        found = DescriptiveContext.from_frame(frame)
    assert found.labels == tuple(NAMES[i] for i in rows)


def test_several_rows_of_a_label_are_observations_of_it(make):
    cells = {
        "name": ["cat", "cat", "dog", "cat", "dog", "bat", "bat"],
        "legs": [4, 3, 4, 2, None, 2, 2],
        "coat": ["grey", "red", "red", "grey", "blue", "grey", "grey"],
    }
    said = "1 identical row dropped; 2 labels have several rows: the mean"
    with pytest.warns(GuessWarning, match=said):
        found = DescriptiveContext.from_frame(make(cells), labels="name")
    assert found.labels == ("cat", "dog", "bat")
    assert found.columns == ("legs", "coat=grey")  # red and blue are a tie
    np.testing.assert_array_equal(found.values, [[3, 1], [4, np.nan], [2, 1]])
    with pytest.warns(GuessWarning):
        first = DescriptiveContext.from_frame(
            make(cells), labels="name", repeats="first"
        )
    np.testing.assert_array_equal(first.values, [[4, 1, 0], [4, 0, 1], [2, 1, 0]])
    with pytest.raises(ContextError, match="'cat', 'dog' have several rows"):
        DescriptiveContext.from_frame(make(cells), labels="name", repeats="refuse")


# Rows
