"""Word vectors from files of word2vec and GloVe, as text or binary."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.labels import normal
from phcle.errors import ContextWarning, FileError, some
from phcle.files.reading import open_file

BOM = b"\xef\xbb\xbf"
SIZES = re.compile(r"([0-9]{1,18}) +([0-9]{1,18}) *\r?\n?")
"""First line of word2vec files: the number of words and the length of vectors."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.IGNORECASE)

LONGEST_WORD = 1 << 16
"""Most bytes of a word in a binary file. Without this limit, a damaged file would be
read to its end as one word."""


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
        for word, vector in read(file, path, wanted):
            if word in found:
                repeated[word] = None
            else:
                found[word] = vector
    if repeated:
        warnings.warn(
            f"{path}: {len(repeated)} words occur more than once: {some(repeated)}; "
            "the first vector of each was taken.",
            ContextWarning,
            stacklevel=3,
        )
    return found


def _text(
    file: BinaryIO, path: Path, wanted: set[str] | None
) -> Iterator[tuple[str, Floats]]:
    """Read lines of a word and its numbers; the first line may hold the sizes."""
    length = n_words = None
    n_found = 0
    for number, raw in enumerate(file, 1):
        where = f"{path}, line {number}"
        line = _decoded(raw.removeprefix(BOM) if number == 1 else raw, where, wanted)
        word, *numbers = line.strip("\r\n ").split(" ")
        if number == 1 and (sizes := SIZES.fullmatch(line)):
            n_words, length = map(int, sizes.groups())
            continue
        if not word and not numbers:
            continue  # an empty line
        if length is None:
            length = len(numbers)
        excess = len(numbers) - length
        if excess > 0 and not NUMBER.fullmatch(numbers[excess - 1]):
            # The word contains spaces, as some words of GloVe do.
            word = " ".join([word, *numbers[:excess]])
            numbers = numbers[excess:]
        n_found += 1
        word = normal(word)
        if wanted is None or word in wanted:
            yield word, _vector(numbers, length, where, word)
    if n_words is not None and n_found != n_words:
        raise FileError(
            f"{path}: its first line says {n_words} words, but {n_found} came; it may "
            "be cut off, so get it again."
        )
    if not n_found:
        raise FileError(f"{path}: is empty; words and their numbers were expected.")


def _decoded(raw: bytes, where: str, wanted: set[str] | None) -> str:
    """Decode a line. If only some words are wanted, invalid text is no error."""
    if b"\0" in raw:
        raise FileError(
            f"{where}: holds a NUL byte, as UTF-16 and binary files do; save it as "
            "UTF-8 text (a binary file must be called .bin)."
        )
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if wanted is None:
            raise FileError(
                f"{where}: is not UTF-8 text; save the file as UTF-8."
            ) from error
        return raw.decode("utf-8", errors="replace")


def _vector(numbers: list[str], length: int, where: str, word: str) -> Floats:
    """Convert the numbers of a line; they must be finite, and as many as elsewhere."""
    try:
        vector = np.array(numbers, dtype=np.float64)
    except ValueError:
        vector = np.array([np.nan])
    if length == 0 or len(vector) != length or not np.isfinite(vector).all():
        raise FileError(
            f"{where}: a word and {length or 'some'} finite numbers, separated by "
            f"single spaces, were expected, but after {word[:40]!r} came "
            f"{' '.join(numbers)[:40]!r}; correct the line (a binary file must be "
            "called .bin)."
        )
    return vector


def _binary(
    file: BinaryIO, path: Path, wanted: set[str] | None
) -> Iterator[tuple[str, Floats]]:
    """Read word2vec's binary format: sizes, then word, space, float32 numbers."""
    first = file.readline(100)
    sizes = SIZES.fullmatch(first.decode("latin-1"))
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
    for n_found in range(n_words):
        word = _binary_word(file, path, n_found + 1)
        raw = file.read(4 * length)
        if len(raw) < 4 * length:
            raise damaged(f", but it ends after {n_found}")
        name = normal(_decoded(word, f"{path}, word {n_found + 1}", wanted))
        if wanted is not None and name not in wanted:
            continue
        vector = np.frombuffer(raw, dtype="<f4")
        if not np.isfinite(vector).all():
            raise FileError(
                f"{path}: the vector of {name[:40]!r} must be finite numbers; get the "
                "file again."
            )
        yield name, vector.astype(np.float64)
    if file.read(2).strip():
        raise damaged(", but more follow")


def _binary_word(file: BinaryIO, path: Path, number: int) -> bytes:
    """Read up to the next space; line ends between words are ignored."""
    word = bytearray()
    while (byte := file.read(1)) not in (b" ", b""):
        if byte != b"\n":
            word += byte
        if len(word) > LONGEST_WORD:
            raise FileError(
                f"{path}: word {number} has more than {LONGEST_WORD} bytes; the file "
                "is damaged or no binary word2vec file, so get it again."
            )
    return bytes(word)
