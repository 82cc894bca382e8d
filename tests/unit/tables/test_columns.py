"""Columns of cells as people write them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phcle import PHCLE, DescriptiveContext, fold_in, load
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
        (["1,299.00", "1,100", "7"], [1299, 1100, 7], "'1,299.00' read as 1299"),
        (["1.299", "2.45"], [1.299, 2.45], None),
        (["1.299", "2,45"], [1299, 2.45], "'2,45' read as 2.45"),
        (["1299", "1.450"], [1299, 1.45], "'1.450' read as 1.45"),
        (["\u00a324,600", "\u00a338,900"], [24600, 38900], "read as 24600"),
        (["5 kg", "500 g"], [5, 0.5], "'g' converted to 'kg'"),
        (["1 room", "3 rooms", "2 rooms"], [1, 3, 2], "'1 room' read as 1 and"),
        (["12", "-\u00a345", "(\u00a33)"], [12, -45, -3], "'-\u00a345' read as -45"),
        (["EUR 5", "7 EUR"], [5, 7], "'EUR 5' read as 5"),
        (["3cm", "4cm"], [3, 4], "'3cm' read as 3"),
        (["1e3", " 2.5E-1", np.float32(0.5), Decimal(-2)], [1000, 0.25, 0.5, -2], None),
        (["605.57", "1.299,00"], [605.57, 1299], "1 in another notation"),
    ],
)
def test_numbers_are_read_as_their_column_writes_them(cells, numbers, remark):
    context = read(cells)
    assert numbers_of(context) == numbers
    assert (remark is None and not context.remarks) or remark in str(context.remarks)


def test_a_number_that_names_its_word_is_part_of_a_category():
    cells = ["1 None"] * 9 + ["2 High and mid"]
    assert words_of(read(cells)) == cells


def test_a_few_numbers_among_texts_are_a_category_with_a_remark():
    context = read(["one size", "small", "large", "38"])
    assert words_of(context) == ["one size", "small", "large", "38"]
    assert context.remarks == ("'x': read as a category, though 1 cells are numbers",)


DOUBTS = {
    "decimals or thousands": (["1.299", "2.450"], "'1.299' may be 1.299 or 1299"),
    "two signs": (["1.234", "1,234"], "'1.234' may be 1.234 or 1234"),
    "day or month": (["3/4/2021", "5/6/2021"], "may have the day or the month first"),
    "season or month": (["2009-10", "2010-11"], "'2009-10' may be a season or a month"),
    "yes or Slovenia": (["NO", "SI", "NO"], "NO and SI may be codes of countries"),
    "more than 15 digits": ([2**60, 2**60 + 1], "more than 15 digits"),
    "two masses": (["5 kg", "3 lb"], "its units are mixed, as in '5 kg' and '3 lb'"),
    "a unit or none": (["5 kg", "3"], "its units are mixed, as in '5 kg' and '3'"),
    "two currencies": (
        ["\u00a35", "$3"],
        "its units are mixed, as in '\u00a35' and '$3'",
    ),
    "one date or number": (["20101231"], "may be a date or a number"),
}


@pytest.mark.parametrize(("cells", "why"), DOUBTS.values(), ids=DOUBTS)
def test_what_can_be_read_in_two_ways_stays_text_with_a_remark(cells, why):
    context = read(cells)
    assert words_of(context) == [str(cell) for cell in cells]
    (remark,) = (x for x in context.remarks if "left as text, because" in x)
    assert why in remark
    assert "--read x=" in remark


@pytest.mark.parametrize(
    ("cells", "how", "numbers"),
    [
        (["1.299", "2.450"], "point", [1.299, 2.45]),
        (["1.299", "2.450"], "comma", [1299, 2450]),
        (["3/4/2021"], "day-first", [2021 + 92 / 365]),
        (["3/4/2021"], "month-first", [2021 + 62 / 365]),
        (["2009-10", "2010-11"], "date", [2009 + 273 / 365, 2010 + 304 / 365]),
        (["NO", "SI"], "truth", [0, 1]),
        (["02134", "90210"], "number", [2134, 90210]),
        (["5 kg", "6 kg", "3 lb"], "number", [5, 6, NAN]),
        (["1999", "2004"], "date", [1999, 2004]),
    ],
)
def test_the_user_decides_how_a_column_is_read(cells, how, numbers):
    context = read(cells, read_as={"x": how})
    np.testing.assert_allclose(numbers_of(context), numbers, atol=1e-6)
    assert "left as text" not in str(context.remarks)


def test_identifiers_are_left_out_with_their_reason():
    table = {"code": ["17", "23", "99", "45", "62"], "x": list("12345")}
    found = DescriptiveContext.from_cells(tuple("abcde"), table, "table")
    assert found.columns == ("x",)
    assert "--read code=number" in found.left_out["code"]


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
        GuessWarning, match=r"1 cell unknown: 'n/a' 1; 'price': '£1,299.00' read as"
    ):
        context = DescriptiveContext.from_frame(frame)
    assert context.columns == ("price", "size=large", "size=small")
    np.testing.assert_array_equal(context.values[:, 0], [1299, NAN, 45])


def test_new_labels_may_write_numbers_otherwise_but_not_in_another_unit(tmp_path):
    labels = tuple("abcdef")
    cells = {
        "mass": [f"{i} kg" for i in range(1, 7)],
        "price": ["\u00a33", *"45678"],
        "size": ["Big", "Big", "Big", "small", "small", "small"],
    }
    context = DescriptiveContext.from_cells(labels, cells, "looks")
    model = PHCLE(dim=2, backend="numpy", max_iter=200, tol=0.1, completion="none")
    model.fit(context).embedding_.save(tmp_path / "x.phcle")
    embedding = load(tmp_path / "x.phcle")

    def new(mass, price="5"):
        own = {"mass": [mass], "price": [price], "size": ["BIG"]}
        return DescriptiveContext.from_cells(("new",), own, "looks")

    with pytest.raises(ContextError, match="was fitted in 'kg'"):
        fold_in(embedding, new("3 lb"))
    with pytest.raises(ContextError, match=r"in 'GBP'\. Got 'USD'"):
        fold_in(embedding, new("3 kg", "$5"))
    one, other = (fold_in(embedding, new(x)) for x in ("2,5 kg", "2.5"))
    np.testing.assert_array_equal(one.vectors, other.vectors)


def test_odd_cells_are_unknown_listed_and_stay_with_the_embedding(tmp_path):
    rng = np.random.default_rng(0)
    table = {x: [f"{v:.3f}" for v in rng.normal(size=20)] for x in "xyz"}
    table["x"][7] = "1xx9"
    labels = tuple(f"label{i}" for i in range(20))
    context = DescriptiveContext.from_cells(labels, table, "table")
    assert np.isnan(context.values[7]).tolist() == [True, False, False]
    assert "1 odd cell taken as unknown: '1xx9' is no number" in context.remarks[0]
    model = PHCLE(dim=2, choose=False, completion="none", max_iter=200, tol=0.1)
    model.fit(context).embedding_.save(tmp_path / "x.phcle")
    (stored,) = load(tmp_path / "x.phcle").contexts
    assert stored.source.odd == (("label7", "x", "1xx9", "is no number"),)


UNKNOWN = [None, "", " ", "nan", "NA", "n/a", "NULL", "None", NAN, pd.NA, pd.NaT]


@pytest.mark.parametrize("cell", UNKNOWN)
def test_an_empty_cell_is_unknown_in_a_column_of_numbers_and_of_text(cell):
    np.testing.assert_array_equal(numbers_of(read([1.5, cell])), [1.5, NAN])
    assert words_of(read(["red", cell])) == ["red", None]


@given(st.lists(st.floats(-1e100, 1e100), min_size=1), st.booleans())
def test_numbers_come_back_as_they_were(numbers, as_text):
    cells = [repr(x) for x in numbers] if as_text else numbers
    np.testing.assert_array_equal(numbers_of(read(cells)), numbers)


@pytest.mark.parametrize("title", ["", "Unnamed: 0", "index"])
def test_row_numbers_of_an_exported_table_are_left_out(title):
    labels = [f"x{i}" for i in range(6)]
    numbered = {title: ["3", "1", "2", "4", "6", "5"], "mass": ["1"] * 6}
    context = DescriptiveContext.from_cells(labels, numbered, "mine")
    assert context.columns == ("mass",)
    assert context.left_out == {title: "it numbers the rows"}
    for column in ({title: ["1", "2", "3", "4", "6", ""]}, {"rank": list("123456")}):
        assert not DescriptiveContext.from_cells(labels, column, "mine").left_out
