"""Cells as numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phcle import DescriptiveContext

UNKNOWN = [None, "", " ", "nan", "NA", "n/a", "NULL", "None", np.nan, pd.NA, pd.NaT]


def encode(**cells):
    n = len(next(iter(cells.values())))
    # A further label and column, because a context without a known cell is refused.
    labels = [*(f"label{i}" for i in range(n)), "last"]
    cells = {title: [*column, ""] for title, column in cells.items()}
    cells["rest"] = [*range(n), n]
    context = DescriptiveContext.from_cells(labels, cells, "mine")
    at = [i for i, title in enumerate(context.titles) if title != "rest"]
    return tuple(context.columns[i] for i in at), context.values[:-1, at]


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e100, 1e100))),
    st.booleans(),
)
@settings(deadline=None)
def test_numbers_come_back_as_they_were_and_gaps_as_nan(numbers, as_text):
    raw = ["" if n is None else repr(n) for n in numbers] if as_text else numbers
    names, values = encode(x=raw)
    if not numbers or set(numbers) == {None}:
        return  # nothing is known of the column
    assert names == ("x",)
    expected = [np.nan if n is None else n for n in numbers]
    np.testing.assert_array_equal(values[:, 0], expected)


@pytest.mark.parametrize("cell", UNKNOWN)
def test_empty_cell_is_unknown_in_a_column_of_numbers_and_of_text(cell):
    _, numbers = encode(x=[1.5, cell])
    np.testing.assert_array_equal(numbers, [[1.5], [np.nan]])
    _, text = encode(x=["red", cell])
    np.testing.assert_array_equal(text, [[1.0], [np.nan]])


@pytest.mark.parametrize("title", ["", "Unnamed: 0", "index"])
def test_row_numbers_of_an_exported_table_are_left_out(title):
    labels = [f"x{i}" for i in range(6)]
    numbered = {title: ["3", "1", "2", "4", "6", "5"], "mass": ["1"] * 6}
    context = DescriptiveContext.from_cells(labels, numbered, "mine")
    assert context.columns == ("mass",)
    assert context.left_out == {title: "it numbers the rows"}
    for column in ({title: ["1", "2", "3", "4", "6", ""]}, {"rank": list("123456")}):
        assert not DescriptiveContext.from_cells(labels, column, "mine").left_out
