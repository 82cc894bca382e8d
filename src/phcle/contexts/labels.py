"""Labels are text: checks and conversion of the labels that a user gives.

The same text can be encoded in several ways: é is one character, or an e and an accent.
Labels are converted to Unicode's normal form C, so that files from different programs
agree. Characters that only look alike, such as a Latin and a Cyrillic a, stay
different. Spaces around a label are removed; spaces inside stay.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.errors import ContextError, some


def as_label(value: Any, where: str, what: str = "label") -> str:
    """Convert one label to text; only texts and whole numbers are accepted.

    Parameters
    ----------
    value : object
        What the user gave.
    where : str
        Where it stands, for messages.
    what : str, default "label"
        What it is called in messages.

    Returns
    -------
    str
        The label in normal form C, without spaces around it.

    Examples
    --------
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
    # NumPy's text type becomes a plain str.
    text = normal(str(value)).strip()
    refuse_half_characters(text, where, what)
    return text


def normal(text: str) -> str:
    """Convert a text to Unicode's normal form C.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The same text in normal form C.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def refuse_half_characters(text: str, where: str, what: str) -> None:
    """Refuse half of a surrogate pair, which no UTF-8 file can hold.

    Parameters
    ----------
    text : str
        The text to check.
    where : str
        Where it stands, for messages.
    what : str
        What it is called in messages.
    """
    if not text.isascii() and any("\ud800" <= x <= "\udfff" for x in text):
        raise ContextError(
            f"{where}: the {what} {text[:40]!a} holds half of a character; correct it."
        )


def listed(labels: Any) -> Any:
    """Return the names of a Hugging Face `ClassLabel`, and other values unchanged.

    Parameters
    ----------
    labels : object
        A `ClassLabel` or anything else.

    Returns
    -------
    object
        The list of names, or `labels` itself.
    """
    return labels.names if hasattr(labels, "int2str") else labels


def as_labels(values: Iterable[Any], where: str) -> tuple[str, ...]:
    """Convert labels to a tuple of different texts; repeated labels are refused.

    Parameters
    ----------
    values : iterable
        Texts or whole numbers, an array of texts or bytes, or a Hugging Face
        `ClassLabel`.
    where : str
        Where they stand, for messages.

    Returns
    -------
    tuple of str
        The labels in the given order.
    """
    values = listed(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "S":
        try:
            values = np.strings.decode(values, "utf-8")
        except UnicodeDecodeError as error:
            raise ContextError(f"{where}: names must be UTF-8 ({error}).") from error
    if isinstance(values, np.ndarray):
        values = values.tolist()
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
    """Strip ASCII texts at once, which is fast for millions of labels.

    Returns None if any value is blank, not ASCII or not a text.
    """
    if not set(map(type, values)) <= {str} or not "".join(values).isascii():
        return None
    stripped = tuple(map(str.strip, values))
    return stripped if all(stripped) else None


def is_missing(value: Any) -> bool:
    """Tell whether a cell is a missing value.

    Parameters
    ----------
    value : object
        The cell.

    Returns
    -------
    bool
        True for None, NaN, pandas' NA and NaT, and blank text.
    """
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def index_of(labels: Iterable[str]) -> dict[str, int]:
    """Map each label to its position.

    Parameters
    ----------
    labels : iterable of str
        Different labels.

    Returns
    -------
    dict
        Position by label.
    """
    return {label: position for position, label in enumerate(labels)}


def positions_of(names: Sequence[str], index: Mapping[str, int]) -> Ints:
    """Look up many names.

    Parameters
    ----------
    names : sequence of str
        The names to find.
    index : mapping from str to int
        What `index_of` returned.

    Returns
    -------
    array of int
        Position of each name; −1 for one that is not there.
    """
    found = (index.get(name, -1) for name in names)
    return np.fromiter(found, dtype=np.int64, count=len(names))


def some_names(names: Sequence[str], at: npt.NDArray[Any]) -> tuple[str, ...]:
    """Return the names at some positions.

    Parameters
    ----------
    names : sequence of str
        All names.
    at : array of int
        The positions.

    Returns
    -------
    tuple of str
        These names, in this order.
    """
    return tuple(names[i] for i in at.tolist())


def union_of(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Join lists of names; each name stands where it occurs first.

    Parameters
    ----------
    lists : iterable of sequences of str
        Names, each once in its list.

    Returns
    -------
    tuple of str
        All names.
    """
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


BASE = np.uint64(0x9E3779B97F4A7C15)
"""Odd multiplier of the polynomial, so that no character is lost."""


HASHED_AT_ONCE = 1 << 20
"""Names hashed at once: some tens of megabytes."""


def hash_names(names: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return a hash in 64 bits of each name.

    Parameters
    ----------
    names : sequence of str
        The names.

    Returns
    -------
    array of shape (names,)
        Equal names have equal hashes, and others almost never.

    Examples
    --------
    >>> a, b, c = hash_names(["cat", "dog", "cat"])
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    found = np.zeros(len(names), dtype=np.uint64)
    for start in range(0, len(names), HASHED_AT_ONCE):
        part = slice(start, start + HASHED_AT_ONCE)
        own = np.array([name.encode() for name in names[part]], dtype=np.bytes_)
        total, power = found[part], np.uint64(1)
        with np.errstate(over="ignore"):
            # Zeros, which fill up a name, add nothing.
            for column in own[:, None].view(np.uint8).T:
                total += column * power
                power = power * BASE
            total ^= total >> np.uint64(32)
            total *= BASE
            total ^= total >> np.uint64(29)
    return found
