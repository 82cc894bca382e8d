"""Cells, words and vector files as numbers: what descriptive contexts are made of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.labels import is_missing
from phcle.errors import ContextError, OptionError

__all__ = [
    "as_number",
    "encode_columns",
    "units_differ",
    "weigh_known_words",
    "weigh_words",
]

Floats = npt.NDArray[np.float64]

TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
UNKNOWN = ("", "nan", "na", "n/a", "null", "none")

OTHER_NUMBER = re.compile(
    r"[+-]?(\d{1,3}([,.' \u00a0\u2009\u202f]\d{3})+([.,]\d+)?|\d+,\d+|\d+([.,]\d+)?%)"
)
"""Numbers as people write them in some places: 1,000 or 3,5 or 1.000.000 or 50%. But
neither 1.2.3 nor 2020.01.31, which are no numbers anywhere."""


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
        _refuse_other_numbers(title, [(labels[i], raw[i]) for i in texts], name)
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


def _refuse_other_numbers(
    title: str, cells: Sequence[tuple[str, Any]], name: str
) -> None:
    """Refuse a column of texts that are all numbers in another notation.

    As texts they would become a column for each value, which nobody means.
    """
    if not all(OTHER_NUMBER.fullmatch(str(cell).strip()) for _, cell in cells):
        return
    label, cell = cells[0]
    raise ContextError(
        f"context {name!r}: column {title!r} holds numbers such as {cell!r} for label "
        f"{label!r}; write them like 1000 or 3.5, without separators of thousands, "
        "decimal commas or percent signs."
    )


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
        if "_" in cell:  # Python would take 1_000 for a number, nobody else does
            return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def units_differ(values: Floats) -> bool:
    """Whether the columns' spreads differ more than tenfold from their median."""
    known = np.isfinite(values)  # an infinite value is refused later, by name
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / count
    with np.errstate(over="ignore"):  # values beyond 1e150 differ from any others
        squares = np.where(known, filled - mean, 0.0) ** 2
        spread = np.sqrt(squares.sum(axis=0) / count)
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
