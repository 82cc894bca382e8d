"""Word vectors from files of word2vec and GloVe."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import ContextWarning, FileError
from phcle.tables import read_word_vectors


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
    with pytest.raises(
        FileError, match=r"word 1: a word and 1 finite numbers.* 'cat' came 'inf'"
    ):
        read_word_vectors(write(tmp_path, raw, "vectors.bin"), None)


def test_binary_called_text_is_refused(tmp_path):
    raw = b"2 2\ncat " + np.float32([1, 2]).tobytes() + b"\n"
    with pytest.raises(FileError, match=r"line 2.*must be called .bin"):
        read_word_vectors(write(tmp_path, raw), None)
