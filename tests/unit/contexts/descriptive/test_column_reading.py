"""Columns of cells as people write them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from phcle import PHCLE, DescriptiveContext, fold_in
from phcle.errors import ContextError, GuessWarning

NAN = np.nan


def read(cells, **options):
    """A table of one column, and a label of which only another column is known."""
    table = {"x": [*cells, ""], "rest": [*range(len(cells)), 7]}
    labels = [f"label{i}" for i in range(len(cells) + 1)]
    return DescriptiveContext.from_cells(labels, table, "table", **options)


def numbers_of(context):
    """The numbers of the column, which is one column of the fit."""
    assert context.columns[0] == "x"
    return context.values[:-1, 0].tolist()


def words_of(context):
    """The words of the column, each a column of the fit; None where unknown."""
    at = [i for i, title in enumerate(context.titles) if title == "x"]
    values = [context.columns[i].removeprefix("x=") for i in at]
    rows = context.values[:-1, at]
    return [None if np.isnan(row).any() else values[row.argmax()] for row in rows]


@pytest.mark.parametrize(
    ("cells", "numbers", "remark"),
    [
        (["1.299,00", "45,5", "1.100"], [1299, 45.5, 1100], "'1.299,00' read as 1299"),
        (["1,299.00", "1,100", "7"], [1299, 1100, 7], None),
        (["1.299", "2.450"], [1.299, 2.45], "though it may be 1299"),
        (["1.299", "2.45"], [1.299, 2.45], None),
        (["1.299", "2,45"], [1299, 2.45], "'2,45' read as 2.45"),
        (["1,299", "7"], [1299, 7], "though it may be 1.299"),
        (["0,125", "3"], [0.125, 3], "'0,125' read as 0.125"),
        (["12,34,567", "5"], [1234567, 5], None),
        (["£45", "12"], [45, 12], "currency of '£45' dropped"),
        (["-£45", "£-12", "(£3)"], [-45, -12, -3], "currency"),
        (["EUR 5", "7 EUR"], [5, 7], "currency"),
        (["12%", "3 %"], [12, 3], "percent sign of '12%' dropped"),
        (["3 kg", "4.5 kg"], [3, 4.5], "unit 'kg' dropped"),
        (["3cm", "4cm"], [3, 4], "unit 'cm' dropped"),
        (["3 rooms", "4 rooms"], [3, 4], "unit 'rooms' dropped"),
        (
            ["1e3", "2.5E-1", np.float32(0.5), Decimal("-2")],
            [1000, 0.25, 0.5, -2],
            None,
        ),
        (["605.57", "1.299,00"], [605.57, 1299], "in another notation"),
    ],
)
def test_numbers_are_read_as_their_column_writes_them(cells, numbers, remark):
    context = read(cells)
    assert numbers_of(context) == numbers
    assert (remark is None and not context.remarks) or remark in context.remarks[0]


def test_a_few_numbers_among_texts_are_a_category_with_a_remark():
    context = read(["one size", "small", "large", "38"])
    assert words_of(context) == ["one size", "small", "large", "38"]
    assert context.remarks == ("'x': read as a category, though 1 cells are numbers",)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["0", "N", "yes"], [0, 0, 1]),
        (["T", "f"], [1, 0]),
        (["on", "OFF", "-"], [1, 0, NAN]),
        (["yes", "yes"], [1, 1]),
        ([True, np.False_, "FALSE", "no"], [1, 0, 0, 0]),
        (["x", "", "X"], [1, 0, 1]),
        (["Ja", "nein", "k.A."], [1, 0, NAN]),
    ],
)
def test_truth_values_in_the_usual_spellings(cells, numbers):
    np.testing.assert_array_equal(numbers_of(read(cells)), numbers)


def test_letters_of_one_kind_are_no_truth_values():
    assert words_of(read(["F", "F", ""])) == ["F", "F", None]
    assert words_of(read(["F", "M"])) == ["F", "M"]


@pytest.mark.parametrize(
    "cells",
    [
        ["2021-07-02", "2020-01-01"],
        ["2021-07-02 00:00:00", "2020-01-01T00:00"],
        ["02.07.2021", "1.1.2020"],
        ["2/7/2021", "1/1/2020", "25/12/1999"],
        ["7/2/2021", "1/1/2020", "12/25/1999"],
        ["2 July 2021", "Jan 1, 2020"],
        [date(2021, 7, 2), datetime(2020, 1, 1)],
        [pd.Timestamp("2021-07-02"), pd.Timestamp("2020-01-01")],
    ],
)
def test_dates_are_years(cells):
    context = read(cells)
    years = [2021 + (date(2021, 7, 2) - date(2021, 1, 1)).days / 365, 2020.0]
    np.testing.assert_allclose(numbers_of(context)[:2], years)
    assert "dates read as years" in context.remarks[-1]


def test_an_open_order_of_day_and_month_is_a_remark_and_a_mixed_one_a_fault():
    assert "month taken to come first" in read(["3/4/2021"]).remarks[0]
    with pytest.raises(ContextError, match="'4/25/2021' for label 'label2'"):
        read(["25/4/2021", "26/4/2021", "4/25/2021"])


def test_markers_are_unknown_unless_they_are_kept():
    cells = ["NA", "DE", "none"]
    assert words_of(read(cells)) == [None, "DE", None]
    assert words_of(read(cells, keep_na=True)) == cells
    assert words_of(read(cells, na=["none"], keep_na=True)) == ["NA", "DE", None]
    assert np.isnan(numbers_of(read([-99, 4], na=["-99"]))[0])


def test_a_frame_of_texts_is_read_as_a_file_and_a_warning_says_so():
    frame = pd.DataFrame(
        {"price": ["£1,299.00", "n/a", "45"], "size": ["small", "Small", "large"]},
        index=["a", "b", "c"],
    )
    with pytest.warns(
        GuessWarning, match=r"1 cell unknown: 'n/a' 1; 'price': currency"
    ):
        context = DescriptiveContext.from_frame(frame)
    assert context.columns == ("price", "size=large", "size=small")
    np.testing.assert_array_equal(context.values[:, 0], [1299, NAN, 45])


def test_all_cells_that_cannot_be_read_are_in_one_error():
    frame = pd.DataFrame(
        {"x": ["1", "2", "3", "lot"], "y": ["4", "few", "5", "6"]}, index=list("abcd")
    )
    with pytest.raises(ContextError) as caught:
        DescriptiveContext.from_frame(frame)
    assert "column 'x' holds numbers, such as '1', but 'lot' for label 'd'" in str(
        caught.value
    )
    assert "'few' for label 'b'" in str(caught.value)


def test_new_labels_may_write_numbers_otherwise_but_not_in_another_unit(tmp_path):
    labels = tuple("abcdef")
    cells = {
        "mass": [f"{i} kg" for i in range(1, 7)],
        "size": ["Big", "Big", "Big", "small", "small", "small"],
    }
    context = DescriptiveContext.from_cells(labels, cells, "looks")
    model = PHCLE(dim=2, backend="numpy", max_iter=200, tol=0.1, completion="none")
    model.fit(context).embedding_.save(tmp_path / "x.phcle")
    from phcle import load

    embedding = load(tmp_path / "x.phcle")

    def new(mass):
        own = {"mass": [mass], "size": ["BIG"]}
        return DescriptiveContext.from_cells(("new",), own, "looks")

    with pytest.raises(ContextError, match="was fitted in 'kg'"):
        fold_in(embedding, new("3 lb"))
    one, other = (fold_in(embedding, new(x)) for x in ("2,5 kg", "2.5"))
    np.testing.assert_array_equal(one.vectors, other.vectors)
