"""Cells, words and vector files as numbers: what descriptive contexts are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.errors import ContextError, FileError

__all__ = ["encode_columns", "read_word_vectors", "units_differ", "weigh_words"]

Floats = npt.NDArray[np.float64]

TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def encode_columns(
    labels: Sequence[str], cells: Mapping[str, Sequence[Any]], name: str
) -> tuple[tuple[str, ...], Floats]:
    """Numbers as they are, text one column per value, empty cells as NaN."""
    names: list[str] = []
    columns: list[Floats] = []
    for title, raw in cells.items():
        numbers = [_number(cell) for cell in raw]
        texts = [i for i, number in enumerate(numbers) if number is None]
        known = [
            i for i, n in enumerate(numbers) if n is not None and not math.isnan(n)
        ]
        if texts and known:
            raise ContextError(
                f"context {name!r}: column {title!r} holds numbers, but "
                f"{raw[texts[0]]!r} for label {labels[texts[0]]!r}; correct it, or "
                "leave it empty if it is unknown."
            )
        if not texts:
            names.append(title)
            columns.append(np.array(numbers, dtype=np.float64))
            continue
        for value in sorted({str(raw[i]).strip() for i in texts}):
            names.append(f"{title}={value}")
            columns.append(
                np.array(
                    [
                        float(str(cell).strip() == value) if number is None else np.nan
                        for cell, number in zip(raw, numbers, strict=True)
                    ]
                )
            )
    values = np.column_stack(columns) if columns else np.empty((len(labels), 0))
    return tuple(names), values


def _number(cell: Any) -> float | None:
    """A cell as a number, NaN if it is empty, None if it is text."""
    if cell is None:
        return math.nan
    if not isinstance(cell, str):
        try:
            return float(cell)  # pandas' NA cannot be converted: it is unknown
        except (TypeError, ValueError):
            return math.nan if str(cell) in ("<NA>", "NaT") else None
    text = cell.strip().lower()
    if text in ("", "nan", "na", "n/a", "null", "none"):
        return math.nan
    if text in TRUTH:
        return TRUTH[text]
    try:
        return float(text)
    except ValueError:
        return None


def units_differ(values: Floats) -> bool:
    """Whether the columns' spreads differ more than tenfold from their median."""
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / count
    spread = np.sqrt((np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / count)
    spread = spread[spread > 0]
    if len(spread) < 2:
        return False
    middle = np.median(spread)
    return bool(spread.max() > 10 * middle or spread.min() < middle / 10)


def weigh_words(
    documents: Sequence[str], min_count: int, name: str
) -> tuple[tuple[str, ...], sp.csr_array]:
    """TF-IDF of the words, without stop words; rows have unit length."""
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
    return tuple(vectorizer.get_feature_names_out()), sp.csr_array(words)


def read_word_vectors(path: Path, wanted: set[str] | None) -> dict[str, Floats]:
    """Vectors of the wanted words from a word2vec or GloVe file (`.bin`: binary)."""
    try:
        with path.open("rb") as file:
            pairs = _binary(file, path) if path.suffix == ".bin" else _text(file, path)
            return {
                word: vector
                for word, vector in pairs
                if wanted is None or word in wanted
            }
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error


def _text(file: BinaryIO, path: Path) -> Iterator[tuple[str, Floats]]:
    """Lines of a word and its numbers; word2vec's first line of sizes is skipped."""
    length: int | None = None
    for number, line in enumerate(file, 1):
        word, *numbers = line.decode("utf-8", errors="replace").rstrip().split(" ")
        if not numbers or (number == 1 and len(numbers) == 1):
            continue
        try:
            vector = np.array(numbers, dtype=np.float64)
        except ValueError as error:
            raise FileError(
                f"{path}, line {number}: a word and numbers separated by single "
                f"spaces were expected ({error})."
            ) from error
        if length is None:
            length = len(vector)
        if len(vector) != length or not np.isfinite(vector).all():
            raise FileError(
                f"{path}, line {number}: {length} finite numbers were expected for "
                f"{word!r}, but {len(vector)} came."
            )
        yield word, vector


def _binary(file: BinaryIO, path: Path) -> Iterator[tuple[str, Floats]]:
    """word2vec's binary layout: sizes, then word, space, float32 numbers."""
    try:
        n_words, length = map(int, file.readline(100).split())
    except ValueError as error:
        raise FileError(f"{path}: not a binary word2vec file.") from error
    for _ in range(n_words):
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b""):
            if byte != b"\n":
                word += byte
        raw = file.read(4 * length)
        if len(raw) < 4 * length:
            raise FileError(f"{path}: ends after {len(word)} bytes of a word; damaged.")
        yield (
            word.decode("utf-8", errors="replace"),
            np.frombuffer(raw, dtype="<f4").astype(np.float64),
        )
