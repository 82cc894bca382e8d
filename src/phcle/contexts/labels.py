"""Labels are text: how whatever a user gives becomes a checked tuple of names.

The same text can be written in several ways: é is one character, or an e and an accent.
Labels are brought to one of them (Unicode's NFC), so that files of different makers
meet. What merely looks alike, such as a Latin and a Cyrillic a, stays different. Blanks
around a label are dropped; those inside stay as they are.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from phcle.errors import ContextError, some

__all__ = [
    "as_label",
    "as_labels",
    "index_of",
    "is_missing",
    "listed",
    "normal",
    "refuse_half_characters",
]


def as_label(value: Any, where: str, what: str = "label") -> str:
    """Return one label as text; whole numbers are taken, nothing else is guessed.

    >>> as_label(7, "row 1")
    '7'
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    if is_missing(value):
        raise ContextError(
            f"{where}: the {what} is empty; fill it in, or remove the row."
        )
    if not isinstance(value, str):
        raise ContextError(
            f"{where}: a {what} must be text or a whole number. Got {value!r} instead."
        )
    # A plain str also where NumPy's own text type came.
    text = normal(str(value)).strip()
    refuse_half_characters(text, where, what)
    return text


def normal(text: str) -> str:
    """The text in Unicode's normal form C."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def refuse_half_characters(text: str, where: str, what: str) -> None:
    """Refuse half of a surrogate pair: no file can hold it."""
    if not text.isascii() and any("\ud800" <= x <= "\udfff" for x in text):
        raise ContextError(
            f"{where}: the {what} {text[:40]!a} holds half of a character; correct it."
        )


def listed(labels: Any) -> Any:
    """The names of Hugging Face's `ClassLabel`; anything else as it is."""
    return labels.names if hasattr(labels, "int2str") else labels


def as_labels(values: Iterable[Any], where: str) -> tuple[str, ...]:
    """Return labels as a tuple of distinct names, or name the ones that repeat."""
    values = listed(values)
    if isinstance(values, str):
        raise ContextError(
            f"{where}: a list of labels is needed. Got the text {values!r} instead."
        )
    values = list(values)
    labels = _plain(values)
    if labels is None:
        labels = tuple(
            as_label(value, f"{where}, position {i}")
            for i, value in enumerate(values, 1)
        )
    if len(set(labels)) < len(labels):
        repeated = [name for name, count in Counter(labels).items() if count > 1]
        raise ContextError(
            f"{where}: every label must occur once, but {some(repeated)} "
            "occur more often; merge or remove the extra rows."
        )
    return labels


def _plain(values: list[Any]) -> tuple[str, ...] | None:
    """Texts of ASCII characters, stripped, as most are: a million take no time.

    None if others are among them, or a blank one.
    """
    if not set(map(type, values)) <= {str} or not "".join(values).isascii():
        return None
    stripped = tuple(map(str.strip, values))
    return stripped if all(stripped) else None


def is_missing(value: Any) -> bool:
    """Whether a cell says nothing: None, NaN, pandas' NA, or blank text."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def index_of(labels: Iterable[str]) -> dict[str, int]:
    """Map each label to its position."""
    return {label: position for position, label in enumerate(labels)}
