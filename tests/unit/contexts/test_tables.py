"""Cells as numbers, and files of word vectors."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phcle.contexts.descriptive.encoding import encode_columns, units_differ
from phcle.contexts.readers.word_vectors import read_word_vectors
from phcle.errors import ContextError, ContextWarning, FileError

UNKNOWN = [None, "", " ", "nan", "NA", "n/a", "NULL", "None", np.nan, pd.NA, pd.NaT]


def encode(**cells):
    n = len(next(iter(cells.values())))
    names, titles, values = encode_columns(
        [f"label{i}" for i in range(n)], cells, "mine"
    )
    assert all(
        x in (title, f"{title}={x[len(title) + 1 :]}")
        for x, title in zip(names, titles, strict=True)
    )
    return names, values


# Cells


@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))),
    st.booleans(),
)
@settings(deadline=None)
def test_numbers_come_back_as_they_were_and_gaps_as_nan(numbers, as_text):
    raw = ["" if n is None else repr(n) for n in numbers] if as_text else numbers
    names, values = encode(x=raw)
    assert names == ("x",)
    expected = [np.nan if n is None else n for n in numbers]
    np.testing.assert_array_equal(values[:, 0], expected)


@given(
    st.lists(st.sampled_from(["red", "blue", "no", None, "light green"]), min_size=1)
)
@settings(deadline=None)
def test_words_come_back_from_their_columns(words):
    names, values = encode(x=[*words, "red"])  # one word that is no truth value
    decoded = [
        None if np.isnan(row).all() else names[int(np.argmax(row))].removeprefix("x=")
        for row in values
    ]
    assert decoded == [*words, "red"]
    known = ~np.isnan(values)
    assert (known.all(axis=1) | ~known.any(axis=1)).all()
    assert (np.nansum(values, axis=1)[known.all(axis=1)] == 1).all()
    assert list(names) == sorted(set(names))


@pytest.mark.parametrize("cell", UNKNOWN)
def test_empty_cell_is_unknown_in_a_column_of_numbers_and_of_text(cell):
    _, numbers = encode(x=[1.5, cell])
    np.testing.assert_array_equal(numbers, [[1.5], [np.nan]])
    _, text = encode(x=["red", cell])
    np.testing.assert_array_equal(text, [[1.0], [np.nan]])


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (True, 1.0),
        (np.False_, 0.0),
        ("Yes", 1.0),
        ("FALSE", 0.0),
        (" 2.5 ", 2.5),
        ("-1e3", -1000.0),
        (np.float32(0.5), 0.5),
        (decimal.Decimal("0.25"), 0.25),
    ],
)
def test_truth_values_and_numbers_in_any_form_are_numbers(cell, number):
    names, values = encode(x=[cell])
    assert names == ("x",)
    assert values[0, 0] == number


def test_truth_words_beside_other_words_are_text():
    names, values = encode(x=["yes", "no", "maybe"])
    assert names == ("x=maybe", "x=no", "x=yes")
    np.testing.assert_array_equal(values, [[0, 0, 1], [0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize("number", [2, "2", True, 0.0])
def test_text_in_a_column_of_numbers_is_refused_with_its_label(number):
    with pytest.raises(
        ContextError,
        match=r"'mine': column 'x' holds numbers.*'two' for label 'label1'",
    ):
        encode(x=[number, "two"])


def test_infinite_cell_reaches_the_context_and_is_refused_there():
    from phcle import DescriptiveContext

    with pytest.raises(ContextError, match=r"Got inf for label 'a' and column 'x'"):
        DescriptiveContext.from_frame(
            pd.DataFrame({"x": ["inf", "1"]}, index=["a", "b"])
        )


def test_no_columns_give_an_empty_table():
    names, _, values = encode_columns(["a", "b"], {}, "mine")
    assert names == ()
    assert values.shape == (2, 0)


@pytest.mark.parametrize(
    ("columns", "differ"),
    [
        ([[0, 1], [0, 9]], False),
        ([[0, 1], [0, 1], [0, 11]], True),
        ([[0, 1], [0, 1], [0, 0.05]], True),
        ([[0, 1], [0, 1], [5, 5]], False),  # a constant column has no unit
        ([[0, 1], [np.nan, np.nan]], False),
        ([[0, 100]], False),
    ],
)
def test_units_differ_when_a_spread_is_far_from_the_median(columns, differ):
    assert units_differ(np.array(columns, dtype=float).T) is differ


# Word vectors


def write(tmp_path, content, name="vectors.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_glove_text_has_no_first_line_of_sizes(tmp_path):
    path = write(tmp_path, "cat 1 2\ndog 3 4.5\n\n")
    found = read_word_vectors(path, None)
    assert {word: list(v) for word, v in found.items()} == {
        "cat": [1.0, 2.0],
        "dog": [3.0, 4.5],
    }


def test_word_with_spaces_is_read_as_one(tmp_path):
    path = write(tmp_path, "cat 1 2\n. . . 3 4\nmail to a@b.c 5 6\n")
    found = read_word_vectors(path, {". . .", "mail to a@b.c"})
    assert {word: list(v) for word, v in found.items()} == {
        ". . .": [3.0, 4.0],
        "mail to a@b.c": [5.0, 6.0],
    }


def test_lines_may_end_with_a_space_and_carriage_return(tmp_path):
    path = write(tmp_path, "2 2\r\ncafé 1 2 \r\nnaïve 3 4 \r\n")
    assert list(read_word_vectors(path, None)) == ["café", "naïve"]


@pytest.mark.parametrize(
    ("line", "got"),
    [
        ("dog 3", "after 'dog' came '3'"),
        ("dog 3 4 5", "after 'dog' came '3 4 5'"),
        ("dog 3 x", "after 'dog' came '3 x'"),
        ("dog 3 nan", "after 'dog' came '3 nan'"),
        ("dog", "after 'dog' came ''"),
    ],
)
def test_damaged_line_is_refused_with_its_number_and_word(tmp_path, line, got):
    path = write(tmp_path, f"cat 1 2\n{line}\n")
    with pytest.raises(FileError, match=f"line 2: a word and 2 finite numbers.*{got}"):
        read_word_vectors(path, None)


def test_text_file_that_is_cut_off_is_refused(tmp_path):
    path = write(tmp_path, "3 2\ncat 1 2\ndog 3 4\n")
    with pytest.raises(FileError, match=r"first line says 3 words, but 2 came"):
        read_word_vectors(path, None)


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.bin"])
def test_repeated_word_keeps_its_first_vector_with_a_warning(tmp_path, name):
    content: str | bytes = "3 1\ncat 1\ndog 2\ncat 3\n"
    if name.endswith("bin"):
        rows = [(b"cat", 1), (b"dog", 2), (b"cat", 3)]
        content = b"3 1\n" + b"".join(
            word + b" " + np.float32(n).tobytes() + b"\n" for word, n in rows
        )
    path = write(tmp_path, content, name)
    with pytest.warns(ContextWarning, match=r"1 words occur more than once: 'cat'"):
        found = read_word_vectors(path, None)
    assert {word: list(v) for word, v in found.items()} == {"cat": [1.0], "dog": [2.0]}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        *((keep, "says 2 words of 2 numbers, which do not fit") for keep in (5, 9, 20)),
        (24, "says 2 words, but it ends after 1;"),
    ],
)
def test_binary_file_that_is_cut_off_is_refused_with_what_came(tmp_path, keep, message):
    whole = b"2 2\ncat " + np.float32([1, 2]).tobytes() + b"\ndog "
    whole += np.float32([3, 4]).tobytes()
    path = write(tmp_path, whole[:keep], "vectors.bin")
    with pytest.raises(FileError, match=message):
        read_word_vectors(path, None)


def test_binary_vector_that_is_not_finite_is_refused_by_word(tmp_path):
    raw = b"1 1\ncat " + np.float32([np.inf]).tobytes()
    with pytest.raises(FileError, match=r"the vector of 'cat' must be finite"):
        read_word_vectors(write(tmp_path, raw, "vectors.bin"), None)


def test_text_called_binary_is_refused(tmp_path):
    path = write(tmp_path, "cat 1 2\n", "vectors.bin")
    with pytest.raises(FileError, match=r"is not a binary word2vec file"):
        read_word_vectors(path, None)


def test_binary_called_text_is_refused(tmp_path):
    raw = b"2 2\ncat " + np.float32([1, 2]).tobytes() + b"\n"
    with pytest.raises(FileError, match=r"line 2.*must be called .bin"):
        read_word_vectors(write(tmp_path, raw), None)


def test_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(FileError, match=r"nowhere.txt: no such file"):
        read_word_vectors(tmp_path / "nowhere.txt", None)
