"""Word vectors from files of word2vec and GloVe, as text or binary."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

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


class _Entry(NamedTuple):
    """A word and its numbers as they stand in a file."""

    where: str
    word: bytes
    numbers: Any
    length: int


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
    with open_file(path) as file:
        read = _binary if path.suffix == ".bin" else _text
        for entry in read(file, path):
            word = normal(_decoded(entry, is_wanted=wanted is None))
            if word in found:
                repeated[word] = None
            elif wanted is None or word in wanted:
                found[word] = _vector(entry, word)
    if repeated:
        warnings.warn(
            f"{path}: {len(repeated)} words occur more than once: {some(repeated)}; "
            "the first vector of each was taken.",
            ContextWarning,
            stacklevel=3,
        )
    return found


def _decoded(entry: _Entry, *, is_wanted: bool) -> str:
    """The word as text. If only some words are wanted, invalid text is no error."""
    _refuse_nul(entry.word, entry.where)
    try:
        return entry.word.decode("utf-8", errors="strict" if is_wanted else "replace")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{entry.where}: is not UTF-8 text; save the file as UTF-8."
        ) from error


def _refuse_nul(text: bytes, where: str) -> None:
    if b"\0" in text:
        raise FileError(
            f"{where}: holds a NUL byte, as UTF-16 and binary files do; save it as "
            "UTF-8 text (a binary file must be called .bin)."
        )


def _vector(entry: _Entry, word: str) -> Floats:
    """The numbers of a word; they must be finite, and as many as elsewhere."""
    try:
        with np.errstate(invalid="ignore"):  # a signalling NaN, which is refused below
            vector = np.array(entry.numbers, dtype=np.float64)
    except ValueError:
        vector = np.array([np.nan])
    if not 0 < len(vector) == entry.length or not np.isfinite(vector).all():
        got = " ".join(
            x.decode(errors="replace") if isinstance(x, bytes) else str(x)
            for x in entry.numbers
        )
        raise FileError(
            f"{entry.where}: a word and {entry.length or 'some'} finite numbers, "
            f"separated by single spaces, were expected, but after {word[:40]!r} came "
            f"{got[:40]!r}; correct the line (a binary file must be called .bin)."
        )
    return vector


def _text(file: BinaryIO, path: Path) -> Iterator[_Entry]:
    """Lines of a word and its numbers; the first line may hold the sizes."""
    length = n_words = None
    n_found = 0
    for number, raw in enumerate(file, 1):
        line = raw.removeprefix(BOM) if number == 1 else raw
        _refuse_nul(line, f"{path}, line {number}")
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
        yield _Entry(f"{path}, line {number}", word, numbers, length)
    if n_words is not None and n_found != n_words:
        raise FileError(
            f"{path}: its first line says {n_words} words, but {n_found} came; it may "
            "be cut off, so get it again."
        )
    if not n_found:
        raise FileError(f"{path}: is empty; words and their numbers were expected.")


def _binary(file: BinaryIO, path: Path) -> Iterator[_Entry]:
    """word2vec's binary format: sizes, then word, space, float32 numbers."""
    first = file.readline(100)
    sizes = SIZES.fullmatch(first)
    if sizes is None:
        raise FileError(
            f"{path}: is not a binary word2vec file, which starts with two sizes; a "
            "text file must not be called .bin."
        )
    n_words, length = map(int, sizes.groups())

    def damaged(what: str) -> FileError:
        return FileError(
            f"{path}: its first line says {n_words} words{what}; it is cut off or "
            "damaged, so get it again."
        )

    size = path.stat().st_size
    # Check the size first: each word takes at least a space and its numbers.
    if length < 1 or len(first) + n_words * (4 * length + 1) > size:
        raise damaged(f" of {length} numbers, which do not fit its {size} bytes")
    for number in range(1, n_words + 1):
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b""):
            word += byte.strip(b"\n")  # line ends between words are ignored
            if len(word) > LONGEST_WORD:
                raise damaged(f", but word {number} has more than {LONGEST_WORD} bytes")
        raw = file.read(4 * length)
        if len(raw) < 4 * length:
            raise damaged(f", but it ends after {number - 1}")
        numbers = np.frombuffer(raw, dtype="<f4")
        yield _Entry(f"{path}, word {number}", bytes(word), numbers, length)
    if file.read(2).strip():
        raise damaged(", but more follow")
