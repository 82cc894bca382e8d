"""Labels are text: checks and conversion of the labels that a user gives.

The same text can be encoded in several ways: é is one character, or an e and an accent.
Labels are converted to Unicode's normal form C, so that files from different programs
agree. Characters that only look alike, such as a Latin and a Cyrillic a, stay
different. Spaces around a label are removed; spaces inside stay.

Labels are a tuple of texts. Ten million Python texts take a gigabyte, and a dictionary
of them another one and a half, so millions of labels can be a `NameArray` instead,
which behaves like a tuple. It takes as many bytes as it has letters, and its index is
the sorted names, and where each of them stands. The functions below are fast for both.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.errors import ContextError, some

AT_ONCE = 1 << 16
"""Names turned into texts at once while iterating."""


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
        refuse_repeated(labels, where)
    return labels


def refuse_repeated(names: Iterable[str], where: str) -> None:
    """Refuse labels of which one occurs twice.

    Parameters
    ----------
    names : iterable of str
        The labels.
    where : str
        Where they stand, for messages.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ContextError(
            f"{where}: every label must occur once, but {some(repeated)} "
            "occur more often; merge or remove the extra rows."
        )


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
        return as_names(names[at])
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
    every = np.concatenate([_bytes_of(names) for names in (first, *others)])
    _, firsts = np.unique(every, return_index=True)
    return as_names(NameArray(every[np.sort(firsts)]))


def _bytes_of(names: Iterable[str]) -> npt.NDArray[np.bytes_]:
    if isinstance(names, NameArray):
        return names.bytes
    return np.array([name.encode() for name in names], dtype=np.bytes_)


def is_name_array(values: Any) -> bool:
    """Tell whether names come as an array of bytes, or of NumPy's texts of any length.

    Parameters
    ----------
    values : object
        What the user gave.

    Returns
    -------
    bool
        True for a `NameArray` and for NumPy arrays of the types "S" and "T".
    """
    is_array = isinstance(values, np.ndarray) and values.dtype.kind in "ST"
    return is_array or isinstance(values, NameArray)


class NameArray(Sequence[str]):
    """Names in one array; it behaves like a tuple of texts.

    Parameters
    ----------
    names : array of bytes of shape (n,)
        Different names in UTF-8, without spaces around them, none of them empty.

    Attributes
    ----------
    bytes : array of bytes of shape (n,)
        The names.

    Examples
    --------
    >>> pets = NameArray(np.array([b"cat", b"dog", b"wolf"]))
    >>> pets
    NameArray(3 names: 'cat', 'dog', 'wolf')
    >>> pets[1], pets[1:] == ("dog", "wolf"), pets.index_of["wolf"]
    ('dog', True, 2)
    """

    def __init__(self, names: npt.NDArray[np.bytes_]) -> None:
        self.bytes = names

    @classmethod
    def of(cls, values: Any, where: str) -> NameArray:
        """Check names that a user gives as an array.

        Parameters
        ----------
        values : array of the type "S" or "T", or NameArray
            The names.
        where : str
            Where they stand, for messages.

        Returns
        -------
        NameArray
            The names; `values` itself if it is one.
        """
        if isinstance(values, NameArray):
            return values
        if values.ndim != 1:
            raise ContextError(
                f"{where}: names must be an array of one dimension. Got "
                f"{values.ndim} dimensions."
            )
        names = np.strings.strip(
            _bytes_of(values) if values.dtype.kind == "T" else values
        )
        if (np.strings.str_len(names) == 0).any():
            raise ContextError(
                f"{where}: a name is empty; fill it in, or remove the row."
            )
        if (np.ascontiguousarray(names).view(np.uint8) >= 0x80).any():
            try:
                texts = [name.decode() for name in names.tolist()]
            except UnicodeDecodeError as error:
                wrong = f"{where}: names must be UTF-8 ({error})."
                raise ContextError(wrong) from error
            names = _bytes_of(as_label(x, where) for x in texts)
        found = cls(names)
        ordered = found.index_of.names
        again = NameArray(ordered[1:][ordered[1:] == ordered[:-1]])
        refuse_repeated([*again, *again], where)
        return found

    @cached_property
    def index_of(self) -> NameIndex:
        """Position of each name."""
        return NameIndex(self)

    def __len__(self) -> int:
        return len(self.bytes)

    def __getitem__(self, at: Any) -> Any:
        found = self.bytes[at]
        return found.decode() if isinstance(found, bytes) else NameArray(found)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), AT_ONCE):
            for name in self.bytes[start : start + AT_ONCE].tolist():
                yield name.decode()

    def __contains__(self, name: object) -> bool:
        return name in self.index_of

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        if isinstance(other, NameArray):
            return self is other or bool((self.bytes == other.bytes).all())
        return all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), *self.bytes[:3].tolist()))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        more = ", …" if len(self) > 3 else ""
        return f"NameArray({len(self)} names: {shown}{more})"


class NameIndex(Mapping[str, int]):
    """Position of each name of a `NameArray`.

    Parameters
    ----------
    names : NameArray
        The names.
    """

    def __init__(self, names: NameArray) -> None:
        self.order = np.argsort(names.bytes)
        self.names = names.bytes[self.order]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(NameArray(self.names))

    def __getitem__(self, name: str) -> int:
        at = self.positions([name])[0] if isinstance(name, str) else -1
        if at < 0:
            raise KeyError(name)
        return int(at)

    def positions(self, names: Iterable[str]) -> Ints:
        """Find many names at once.

        Parameters
        ----------
        names : iterable of str
            The names to find.

        Returns
        -------
        array of int
            Position of each; −1 for a name that is not there.
        """
        wanted = _bytes_of(names)
        found = np.full(len(wanted), -1, dtype=np.int64)
        if len(self):
            turn = np.argsort(wanted)  # names in order are found far faster
            ordered = wanted[turn]
            at = np.searchsorted(self.names[:-1], ordered)  # the last if beyond all
            found[turn] = np.where(self.names[at] == ordered, self.order[at], -1)
        return found


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
        own, total, power = _bytes_of(names[part]), found[part], np.uint64(1)
        letters = np.ascontiguousarray(own)[:, None].view(np.uint8)
        with np.errstate(over="ignore"):
            for column in letters.T:  # zeros, which fill up a name, add nothing
                total += column * power
                power = power * BASE
            total ^= total >> np.uint64(32)
            total *= BASE
            total ^= total >> np.uint64(29)
    return found
