"""Cells, words and vector files as numbers: what descriptive contexts are made of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.labels import is_missing
from phcle.errors import ContextError, ContextWarning, FileError, OptionError, some

__all__ = [
    "as_number",
    "encode_columns",
    "read_word_vectors",
    "units_differ",
    "weigh_known_words",
    "weigh_words",
]

Floats = npt.NDArray[np.float64]

TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
UNKNOWN = ("", "nan", "na", "n/a", "null", "none")


def encode_columns(
    labels: Sequence[str], cells: Mapping[str, Sequence[Any]], name: str
) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
    """Numbers as they are, text one column per value, empty cells as NaN.

    A column of `yes` and `no` is numbers; beside other words they are two more values.
    Returns the columns' names, the titles they came from, and the values.
    """
    names: list[str] = []
    titles: list[str] = []
    columns: list[Floats] = []
    for title, raw in cells.items():
        numbers = [as_number(cell) for cell in raw]
        texts = [i for i, number in enumerate(numbers) if number is None]
        if not texts:
            names.append(title)
            titles.append(title)
            columns.append(np.array(numbers, dtype=np.float64))
            continue
        for cell, number in zip(raw, numbers, strict=True):
            if number is not None and not math.isnan(number) and not _is_word(cell):
                raise ContextError(
                    f"context {name!r}: column {title!r} holds numbers, such as "
                    f"{cell!r}, but {raw[texts[0]]!r} for label {labels[texts[0]]!r}; "
                    "correct it, or leave it empty if it is unknown."
                )
        words = [
            None if number is not None and math.isnan(number) else str(cell).strip()
            for cell, number in zip(raw, numbers, strict=True)
        ]
        for value in sorted({word for word in words if word is not None}):
            names.append(f"{title}={value}")
            titles.append(title)
            columns.append(
                np.array([np.nan if word is None else word == value for word in words])
            )
    values = np.column_stack(columns) if columns else np.empty((len(labels), 0))
    return tuple(names), tuple(titles), values


def _is_word(cell: Any) -> bool:
    """Whether a cell that counts as a number is written as a word."""
    return isinstance(cell, str) and cell.strip().lower() in TRUTH


def as_number(cell: Any) -> float | None:
    """A cell as a number, NaN if it is empty, None if it is text."""
    if is_missing(cell):
        return math.nan
    if isinstance(cell, str):
        cell = cell.strip().lower()
        if cell in UNKNOWN:
            return math.nan
        if cell in TRUTH:
            return TRUTH[cell]
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def units_differ(values: Floats) -> bool:
    """Whether the columns' spreads differ more than tenfold from their median."""
    known = np.isfinite(values)  # an infinite value is refused later, by name
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / count
    spread = np.sqrt((np.where(known, filled - mean, 0.0) ** 2).sum(axis=0) / count)
    spread = spread[spread > 0]
    if len(spread) < 2:
        return False
    middle = np.median(spread)
    return bool(spread.max() > 10 * middle or spread.min() < middle / 10)


def weigh_words(
    documents: Sequence[str], min_count: int, name: str
) -> tuple[tuple[str, ...], Floats, sp.csr_array]:
    """TF-IDF of the words, without stop words; rows have unit length.

    Returns the words, how rare they are, and the values.
    """
    if min_count < 1:
        raise OptionError(f"min_count must be 1 or more. Got {min_count!r} instead.")
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(
        min_df=min(min_count, len(documents)), stop_words="english", sublinear_tf=True
    )
    try:
        words = vectorizer.fit_transform(documents)
    except ValueError as error:
        raise ContextError(
            f"context {name!r}: no word occurs in {min_count} of the texts; "
            "give longer texts or a smaller min_count."
        ) from error
    return (
        tuple(vectorizer.get_feature_names_out()),
        np.asarray(vectorizer.idf_),
        sp.csr_array(words),
    )


def weigh_known_words(
    documents: Sequence[str], words: Sequence[str], rarity: Floats
) -> sp.csr_array:
    """TF-IDF of documents that came later, by the words and rarities of others."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(vocabulary=words, sublinear_tf=True)
    vectorizer.idf_ = rarity
    return sp.csr_array(vectorizer.transform(documents))


def read_word_vectors(path: Path, wanted: set[str] | None) -> dict[str, Floats]:
    """Vectors of the wanted words from a word2vec or GloVe file (`.bin`: binary).

    Of a word that occurs more than once the first vector is taken, with a warning.
    """
    found: dict[str, Floats] = {}
    repeated: dict[str, None] = {}
    try:
        with path.open("rb") as file:
            read = _binary if path.suffix == ".bin" else _text
            for word, vector in read(file, path, wanted):
                if word in found:
                    repeated[word] = None
                else:
                    found[word] = vector
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
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
    """Lines of a word and its numbers, after word2vec's first line of sizes, if any."""
    length = n_words = None
    n_found = 0
    for number, line in enumerate(file, 1):
        word, *numbers = (
            line.decode("utf-8", errors="replace").strip("\r\n ").split(" ")
        )
        if (
            number == 1
            and len(numbers) == 1
            and word.isdigit()
            and numbers[0].isdigit()
        ):
            n_words, length = int(word), int(numbers[0])
            continue
        if not word and not numbers:
            continue  # an empty line
        if length is None:
            length = len(numbers)
        excess = len(numbers) - length
        if excess > 0 and as_number(numbers[excess - 1]) is None:
            # The word itself holds spaces, as some of GloVe's do.
            word = " ".join([word, *numbers[:excess]])
            numbers = numbers[excess:]
        n_found += 1
        if wanted is None or word in wanted:
            yield word, _vector(numbers, length, f"{path}, line {number}", word)
    if n_words is not None and n_found != n_words:
        raise FileError(
            f"{path}: its first line says {n_words} words, but {n_found} came; it may "
            "be cut off, so get it again."
        )


def _vector(numbers: list[str], length: int, where: str, word: str) -> Floats:
    """The numbers of one line, all of them finite and as many as in other lines."""
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
    """word2vec's binary layout: sizes, then word, space, float32 numbers."""
    try:
        n_words, length = map(int, file.readline(100).split())
    except ValueError as error:
        raise FileError(
            f"{path}: is not a binary word2vec file, which starts with two sizes; a "
            "text file must not be called .bin."
        ) from error
    for n_found in range(n_words):
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b""):
            if byte != b"\n":
                word += byte
        raw = file.read(4 * length)
        if len(raw) < 4 * length:
            raise FileError(
                f"{path}: its first line says {n_words} words, but it ends after "
                f"{n_found}; it is cut off, so get it again."
            )
        name = word.decode("utf-8", errors="replace")
        if wanted is not None and name not in wanted:
            continue
        vector = np.frombuffer(raw, dtype="<f4").astype(np.float64)
        if not np.isfinite(vector).all():
            raise FileError(
                f"{path}: the vector of {name[:40]!r} must be finite numbers; get the "
                "file again."
            )
        yield name, vector
