"""Columns of cells as people write them."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest

from phcle import PHCLE, DescriptiveContext, fold_in
from phcle.contexts.descriptive.column_reading import read_column
from phcle.contexts.descriptive.date_notations import decimal_year, moment_of_year
from phcle.contexts.unknown_markers import UnknownMarkers
from phcle.errors import ContextError, GuessWarning

NAN = np.nan


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
        (["1e3", "2.5E-1"], [1000, 0.25], None),
        (["605.57", "1.299,00"], [605.57, 1299], "in another notation"),
    ],
)
def test_numbers_are_read_as_their_column_writes_them(cells, numbers, remark):
    found = read_column(cells)
    assert found.kind == "number"
    assert found.numbers == numbers
    assert not found.faults
    assert (remark is None and not found.remarks) or remark in found.remarks[0]


@pytest.mark.parametrize(
    "cells", [["2XL", "3XL"], ["1.2.3", "1.10.0"], ["A1", "B2"], ["1-2", "3-4"]]
)
def test_codes_stay_categories(cells):
    assert read_column(cells).words == cells


def test_all_cells_that_are_no_numbers_are_faults():
    found = read_column(["1", "2", "many", "3", "3 kg", "?"])
    assert list(found.faults) == [2, 4]


def test_a_few_numbers_among_texts_are_a_category_with_a_remark():
    found = read_column(["one size", "small", "large", "38"])
    assert found.kind == "category"
    assert found.remarks == ["read as a category, though 1 cells are numbers"]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["0", "N", "yes"], [0, 0, 1]),
        (["T", "f"], [1, 0]),
        (["on", "OFF", "-"], [1, 0, NAN]),
        (["yes", "yes"], [1, 1]),
        ([True, "no"], [1, 0]),
        (["x", "", "X"], [1, 0, 1]),
        (["Ja", "nein", "k.A."], [1, 0, NAN]),
    ],
)
def test_truth_values_in_the_usual_spellings(cells, numbers):
    found = read_column(cells)
    assert found.kind == "truth"
    np.testing.assert_array_equal(found.numbers, numbers)


def test_letters_of_one_kind_are_no_truth_values():
    assert read_column(["F", "F", ""]).kind == "category"
    assert read_column(["F", "M"]).kind == "category"
    assert read_column(["0", "1"]).kind == "number"


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
    found = read_column(cells)
    assert found.kind == "date"
    assert found.numbers[:2] == [decimal_year(date(2021, 7, 2)), 2020.0]
    assert moment_of_year(found.numbers[0]).date() == date(2021, 7, 2)
    assert "dates read as years" in found.remarks[-1]


def test_an_open_order_of_day_and_month_is_a_remark_and_a_mixed_one_a_fault():
    assert "month taken to come first" in read_column(["3/4/2021"]).remarks[0]
    assert read_column(["25/4/2021", "26/4/2021", "4/25/2021"]).faults.keys() == {2}


def test_markers_are_unknown_unless_they_are_kept():
    cells = ["NA", "DE", "none"]
    assert read_column(cells).words == [None, "DE", None]
    assert read_column(cells, UnknownMarkers(keep_na=True)).words == cells
    kept = UnknownMarkers(na=("none",), keep_na=True)
    assert read_column(cells, kept).words == ["NA", "DE", None]
    assert np.isnan(read_column([-99, 4], UnknownMarkers(na=("-99",))).numbers[0])


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
    model = PHCLE(dim=2, backend="numpy", max_iter=200, tol=0.1, calibrate=False)
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
