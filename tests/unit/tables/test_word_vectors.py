"""Word vectors from files of word2vec and GloVe."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import FileError
from phcle.tables import read_word_vectors


@pytest.fixture
def read(tmp_path):
    """Write a file and read its vectors, as lists by word."""

    def read(content, name="vectors.txt", wanted=None):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = read_word_vectors(path, wanted)
        return {word: list(vector) for word, vector in found.items()}

    return read


def test_glove_text_has_no_first_line_of_sizes(read):
    assert read("cat 1 2\ndog 3 4.5\n\n") == {"cat": [1, 2], "dog": [3, 4.5]}


def test_word_with_spaces_is_read_as_one(read):
    wanted = {". . .": [3, 4], "mail to a@b.c": [5, 6]}
    text = "cat 1 2\n. . . 3 4\nmail to a@b.c 5 6\n"
    assert read(text, wanted=set(wanted)) == wanted


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
def test_damaged_line_is_refused_with_its_number_and_word(read, line, got):
    with pytest.raises(FileError, match=f"line 2: a word and 2 finite numbers.*{got}"):
        read(f"cat 1 2\n{line}\n")


def binary(first, **vectors):
    """A binary file of word2vec."""
    rows = (
        word.encode() + b" " + np.float32(numbers).tobytes() + b"\n"
        for word, numbers in vectors.items()
    )
    return first + b"\n" + b"".join(rows)


WHOLE = binary(b"2 2", cat=[1, 2], dog=[3, 4])


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("3 2\ncat 1 2\ndog 3 4\n", "v.txt", "3 words and .* expected, but 2 came"),
        *((WHOLE[:n], "v.bin", "2 words of 2 numbers, which do") for n in (5, 9, 20)),
        (WHOLE[:25], "v.bin", "25 bytes after word 1;"),
        (binary(b"1 1", cat=[np.inf]), "v.bin", "word 1: .* after 'cat' came 'inf'"),
        (WHOLE, "v.txt", r"line 2.*must be called .bin"),
    ],
)
def test_damaged_files_are_refused_with_what_came(read, content, name, message):
    with pytest.raises(FileError, match=message):
        read(content, name)
