"""Labels are text: checks and conversion of the labels that a user gives.

The same text can be encoded in several ways: é is one character, or an e and an accent.
Labels are converted to Unicode's normal form C, so that files from different programs
agree. Characters that only look alike, such as a Latin and a Cyrillic a, stay
different. Spaces around a label are removed; spaces inside stay.

Labels are a tuple of texts. Millions of them can be a `NameArray` instead, which
behaves like one; the functions below are fast for both.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from phcle.contexts.name_arrays import NameArray, is_name_array
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
        Texts or whole numbers, or a Hugging Face `ClassLabel`.
    where : str
        Where they stand, for messages.

    Returns
    -------
    tuple of str, or NameArray
        The labels in the given order; an array if they came as an array of bytes.
    """
    if not isinstance(values, (list, tuple)) and is_name_array(values):
        return as_names(NameArray.of(values, where))
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


def as_cell(value: Any) -> str:
    """Return a value of a table as the text of a cell; unknown ones are empty.

    Parameters
    ----------
    value : object
        A text, number, truth value or date, or None.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> [as_cell(x) for x in (None, True, 2, 0.5, " word ")]
    ['', 'true', '2', '0.5', 'word']
    """
    if is_missing(value):
        return ""
    return str(value).lower() if isinstance(value, bool) else normal(str(value)).strip()


def index_of(labels: Iterable[str]) -> Mapping[str, int]:
    """Map each label to its position.

    Parameters
    ----------
    labels : iterable of str
        Different labels.

    Returns
    -------
    mapping
        Position by label.
    """
    if isinstance(labels, NameArray):
        return labels.index_of
    return {label: position for position, label in enumerate(labels)}


def as_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple; a `NameArray` behaves like one and stays as it is.

    Parameters
    ----------
    names : sequence of str
        The names.

    Returns
    -------
    tuple of str, or NameArray
        The names.
    """
    if isinstance(names, NameArray):
        return cast(tuple[str, ...], names)
    return tuple(names)


def same_names(a: Sequence[str], b: Sequence[str]) -> bool:
    """Tell whether names are the same, in the same order.

    Parameters
    ----------
    a : sequence of str
        Names.
    b : sequence of str
        Other names.

    Returns
    -------
    bool
        Whether all are equal.
    """
    return a is b or (len(a) == len(b) and bool(as_names(a) == as_names(b)))


def positions_of(names: Sequence[str], index: Mapping[str, int]) -> npt.NDArray[Any]:
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
    if hasattr(index, "positions"):
        return cast(npt.NDArray[Any], index.positions(names))
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
    tuple of str, or NameArray
        These names, in this order.
    """
    if isinstance(names, NameArray):
        return as_names(names.take(at))
    return tuple(names[i] for i in at.tolist())


def union_of(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Join lists of names; each name stands where it occurs first.

    Parameters
    ----------
    lists : sequence of sequences of str
        Names, each once in its list.

    Returns
    -------
    tuple of str, or NameArray
        All names; an array if one of the lists is one.
    """
    first = lists[0]
    others = [names for names in lists[1:] if not same_names(names, first)]
    if not others:
        return as_names(first)
    if not any(isinstance(names, NameArray) for names in lists):
        return tuple(dict.fromkeys(chain.from_iterable(lists)))
    joined = NameArray.of(first, "labels") if is_name_array(first) else _packed(first)
    for names in others:
        own = names if isinstance(names, NameArray) else _packed(names)
        new = own.take(joined.index_of.positions(own) < 0)
        joined = NameArray(np.concatenate([joined.bytes, new.bytes]))
    return as_names(joined)


def _packed(names: Sequence[str]) -> NameArray:
    return NameArray(np.array([name.encode() for name in names], dtype=np.bytes_))


SAME_LETTER = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼ", "'"),
        **dict.fromkeys("“”„‟", '"'),
        **dict.fromkeys("\u2010\u2011", "-"),  # hyphens; dashes stay what they are
        **dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff", None),  # invisible
    }
)
"""Characters that are typed or printed in several ways, and characters without ink.
Joiners (U+200C, U+200D) stay, because some scripts spell with them."""

FORMS = ("<wide>", "<narrow>", "<noBreak>", "<initial>", "<medial>", "<final>")
"""Compatibility forms of Unicode that are the same letter in another shape. Without
superscripts, fractions and letters of mathematics: 10² is not 102, and ℝ is not R."""


def match_key(label: str) -> str:
    """Return what labels have in common that are joined.

    Case, spaces and Unicode form do not make another label: é as one character or two,
    ﬁ as one letter, a full-width Ｃ, ’ for '.

    Parameters
    ----------
    label : str
        A label.

    Returns
    -------
    str
        The label in lower case, in one Unicode form, with single spaces.

    Examples
    --------
    >>> match_key("Café  TABLES") == match_key("Cafe\u0301 tables")
    True
    >>> match_key("résumé") == match_key("resume")
    False
    """
    if label.isascii() and label.isprintable() and "  " not in label:
        return label.strip().lower()
    return _lower(_spaced(_formed(label)))


def _lower(text: str) -> str:
    """Lower case that keeps words apart: no ss for ß (Maße, Masse), no i for ı or İ."""
    return normal(text).lower().replace("ς", "σ").replace("ſ", "s")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _formed(text: str) -> str:
    """The usual form of each letter, composed."""
    if text.isascii():
        return text
    plain = "".join(x if x.isascii() else _plain_letter(x) for x in text)
    return unicodedata.normalize("NFC", plain.translate(SAME_LETTER))


def _plain_letter(letter: str) -> str:
    form, _, codes = unicodedata.decomposition(letter).partition(" ")
    if form in (*FORMS, "<isolated>", "<vertical>", "<compat>"):
        plain = "".join(chr(int(code, 16)) for code in codes.split())
        # Of the many characters called <compat>, only letters: ﬁ, ĳ, µ, Ⅳ.
        if form != "<compat>" or plain.isalpha():
            return "".join(map(_plain_letter, plain))  # a form of a form
    return letter


PARTS = {"case": _lower, "spaces": _spaced, "Unicode form": _formed}
"""What `match_key` undoes, by what a report calls it."""


def differences(a: str, b: str) -> tuple[str, ...]:
    """Say in what two labels with the same key differ.

    Parameters
    ----------
    a : str
        A label.
    b : str
        Another label.

    Returns
    -------
    tuple of str
        Some of "case", "spaces" and "Unicode form".

    Examples
    --------
    >>> differences("BABY  grows", "Baby grows")
    ('case', 'spaces')
    """
    found = []
    for part in PARTS:
        left, right = a, b
        # The form comes first in `match_key`, because it may bring spaces and capitals.
        for name, undo in reversed(PARTS.items()):
            if name != part:
                left, right = undo(left), undo(right)
        if left != right:
            found.append(part)
    return tuple(found)
