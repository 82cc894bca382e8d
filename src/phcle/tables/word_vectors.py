"""Word vectors from files of word2vec and GloVe, as text or binary."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.labels import normal
from phcle.errors import ContextWarning, FileError, some
from phcle.files.reading import open_file

BOM = b"\xef\xbb\xbf"
SIZES = re.compile(rb"([0-9]{1,18}) +([0-9]{1,18}) *\r?\n?")
"""First line of word2vec files: the number of words and the length of vectors."""

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.IGNORECASE)

LONGEST_WORD = 1 << 16
"""Most bytes of a word in a binary file. Without this limit, a damaged file would be
read to its end as one word."""


Entries = Iterator[tuple[str, bytes, Any, int]]
"""Place, word and numbers, as a file has them, and how many numbers there must be."""


def read_word_vectors(path: Path, wanted: set[str] | None) -> dict[str, Floats]:
    """Read word vectors from a word2vec or GloVe file.

    If a word occurs more than once, its first vector is taken, with a warning.

    Parameters
    ----------
    path : Path
        The file; files that end in `.bin` are binary.
    wanted : set of str or None
        The words to read. None reads all.

    Returns
    -------
    dict
        Vectors by word.
    """
    found: dict[str, Floats] = {}
    repeated: dict[str, None] = {}
    # Of words that are not wanted, invalid text is no error.
    errors = "strict" if wanted is None else "replace"
    with open_file(path) as file:
        read = _binary if path.suffix == ".bin" else _text
        for where, raw, numbers, length in read(file, path):
            try:
                word = normal(raw.decode(errors=errors))
            except UnicodeDecodeError:
                word = "\0"
            if "\0" in word:
                raise FileError(
                    f"{where}: is not UTF-8 text; save the file as UTF-8 (a binary "
                    "file must be called .bin)."
                )
            if word in found:
                repeated[word] = None
            elif wanted is None or word in wanted:
                found[word] = _vector(where, word, numbers, length)
    if repeated:
        warnings.warn(
            f"{path}: {len(repeated)} words occur more than once: {some(repeated)}; "
            "the first vector of each was taken.",
            ContextWarning,
            stacklevel=3,
        )
    return found


def _vector(where: str, word: str, numbers: Any, length: int) -> Floats:
    """The numbers of a word; they must be finite, and as many as elsewhere."""
    try:
        with np.errstate(invalid="ignore"):  # a signalling NaN, which is refused below
            vector = np.array(numbers, dtype=np.float64)
    except ValueError:
        vector = np.array([np.nan])
    if not 0 < len(vector) == length or not np.isfinite(vector).all():
        got = b" ".join(x if isinstance(x, bytes) else b"%g" % x for x in numbers)
        raise FileError(
            f"{where}: a word and {length or 'some'} finite numbers, separated by "
            f"single spaces, were expected, but after {word[:40]!r} came "
            f"{got.decode(errors='replace')[:40]!r}; correct the line (a binary file "
            "must be called .bin)."
        )
    return vector


def _text(file: BinaryIO, path: Path) -> Entries:
    """Lines of a word and its numbers; the first line may hold the sizes."""
    length = n_words = None
    n_found = 0
    for number, raw in enumerate(file, 1):
        line = raw.removeprefix(BOM) if number == 1 else raw
        if number == 1 and (sizes := SIZES.fullmatch(line)):
            n_words, length = map(int, sizes.groups())
            continue
        word, *numbers = line.strip(b"\r\n ").split(b" ")
        if not word and not numbers:
            continue  # an empty line
        if length is None:
            length = len(numbers)
        excess = len(numbers) - length
        if excess > 0 and not NUMBER.fullmatch(numbers[excess - 1]):
            # The word contains spaces, as some words of GloVe do.
            word = b" ".join([word, *numbers[:excess]])
            numbers = numbers[excess:]
        n_found += 1
        yield f"{path}, line {number}", word, numbers, length
    if n_words not in (None, n_found) or not n_found:
        raise FileError(
            f"{path}: {n_words or 'some'} words and their numbers were expected, but "
            f"{n_found} came; it may be cut off, so get it again."
        )


def _binary(file: BinaryIO, path: Path) -> Entries:
    """word2vec's binary format: sizes, then word, space, float32 numbers."""
    first = file.readline(100)
    sizes = SIZES.fullmatch(first)
    if sizes is None:
        raise FileError(
            f"{path}: is not a binary word2vec file, which starts with two sizes; a "
            "text file must not be called .bin."
        )
    n_words, length = map(int, sizes.groups())
    size, number = path.stat().st_size, 0
    # Check the size first: each word takes at least a space and its numbers.
    is_whole = length > 0 and len(first) + n_words * (4 * length + 1) <= size
    while is_whole and number < n_words:
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b"") and len(word) <= LONGEST_WORD:
            word += byte.strip(b"\n")  # line ends between words are ignored
        raw = file.read(4 * length)
        is_whole = byte == b" " and len(raw) == 4 * length
        if is_whole:
            number += 1
            numbers = np.frombuffer(raw, dtype="<f4")
            yield f"{path}, word {number}", bytes(word), numbers, length
    if not is_whole or file.read(2).strip():
        raise FileError(
            f"{path}: its first line says {n_words} words of {length} numbers, which "
            f"do not fit its {size} bytes after word {number}; it is cut off or "
            "damaged, so get it again."
        )
