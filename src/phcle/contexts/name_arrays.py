"""Millions of names in one NumPy array, in the place of a tuple of texts.

Ten million Python texts take a gigabyte, and a dictionary of them another one and a
half. As an array they take as many bytes as they have letters, and the index is two
arrays of numbers: hashes in ascending order, and where each of them stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.errors import ContextError, some

AT_ONCE = 1 << 16
"""Names turned into texts at once while iterating."""


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
        if values.dtype.kind == "T":
            values = np.array([text.encode() for text in values], dtype=np.bytes_)
        stripped = np.strings.strip(values)
        if (np.strings.str_len(stripped) == 0).any():
            raise ContextError(
                f"{where}: a name is empty; fill it in, or remove the row."
            )
        letters = np.ascontiguousarray(stripped).view(np.uint8)
        if (letters >= 0x80).any():
            stripped = _normal(stripped, where)
        found = cls(stripped)
        found.index_of.refuse_repeated(where)
        return found

    @cached_property
    def index_of(self) -> NameIndex:
        """Position of each name."""
        return NameIndex(self)

    def __len__(self) -> int:
        return len(self.bytes)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> NameArray: ...

    def __getitem__(self, at: int | slice) -> str | NameArray:
        found = self.bytes[at]
        if isinstance(at, slice):
            return NameArray(found)
        return bytes(found).decode()

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), AT_ONCE):
            for name in self.bytes[start : start + AT_ONCE].tolist():
                yield name.decode()

    def __contains__(self, name: object) -> bool:
        return name in self.index_of

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, NameArray):
            return len(self) == len(other) and bool((self.bytes == other.bytes).all())
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), *self.bytes[:3].tolist()))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        more = ", …" if len(self) > 3 else ""
        return f"NameArray({len(self)} names: {shown}{more})"

    def take(self, at: npt.NDArray[Any]) -> NameArray:
        """Return some of the names.

        Parameters
        ----------
        at : array of int or bool
            Their positions, or a mask.

        Returns
        -------
        NameArray
            These names, in this order.
        """
        return NameArray(self.bytes[at])


class NameIndex(Mapping[str, int]):
    """Position of each name of a `NameArray`, by hashes in ascending order.

    Parameters
    ----------
    names : NameArray
        The names.
    """

    def __init__(self, names: NameArray) -> None:
        self.names = names
        hashes = hash_bytes(names.bytes)
        self.order = np.argsort(hashes, kind="stable")
        self.hashes = hashes[self.order]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

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
        if isinstance(names, NameArray):
            wanted = names.bytes
        else:
            wanted = np.array([name.encode() for name in names], dtype=np.bytes_)
        hashes = hash_bytes(wanted)
        found = np.full(len(wanted), -1, dtype=np.int64)
        place = np.searchsorted(self.hashes, hashes)
        left = np.arange(len(wanted))
        while len(left):  # again only for names whose hash another name has
            left = left[place[left] < len(self.hashes)]
            left = left[self.hashes[place[left]] == hashes[left]]
            at = self.order[place[left]]
            is_it = self.names.bytes[at] == wanted[left]
            found[left[is_it]] = at[is_it]
            left = left[~is_it]
            place[left] += 1
        return found

    def refuse_repeated(self, where: str) -> None:
        """Refuse names that occur more than once.

        Parameters
        ----------
        where : str
            Where they stand, for messages.
        """
        same = np.flatnonzero(self.hashes[1:] == self.hashes[:-1])
        if not len(same):
            return
        # Different names may share a hash, so only these few are compared.
        runs = np.unique(np.concatenate([same, same + 1]))
        texts, counts = np.unique(
            self.names.bytes[self.order[runs]], return_counts=True
        )
        repeated = [text.decode() for text in texts[counts > 1].tolist()]
        if repeated:
            raise ContextError(
                f"{where}: every label must occur once, but {some(repeated)} "
                "occur more often; merge or remove the extra rows."
            )


def _normal(names: npt.NDArray[np.bytes_], where: str) -> npt.NDArray[np.bytes_]:
    """Names in Unicode's normal form C, in UTF-8."""
    from phcle.contexts.labels import as_label

    try:
        texts = [name.decode() for name in names.tolist()]
    except UnicodeDecodeError as error:
        raise ContextError(f"{where}: names must be UTF-8 ({error}).") from error
    return np.array([as_label(x, where).encode() for x in texts], dtype=np.bytes_)


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
    if hasattr(names, "bytes"):  # they are an array already
        return hash_bytes(names.bytes)
    found = np.empty(len(names), dtype=np.uint64)
    for start in range(0, len(names), HASHED_AT_ONCE):
        part = [name.encode("utf-8") for name in names[start : start + HASHED_AT_ONCE]]
        found[start : start + len(part)] = hash_bytes(np.array(part, dtype=np.bytes_))
    return found


def hash_bytes(names: npt.NDArray[np.bytes_]) -> npt.NDArray[np.uint64]:
    """Return a hash in 64 bits of each name of an array.

    Parameters
    ----------
    names : array of bytes of shape (names,)
        Names in UTF-8.

    Returns
    -------
    array of shape (names,)
        The same hashes for any width of the array.
    """
    width = names.dtype.itemsize
    if not len(names) or not width:
        return np.zeros(len(names), dtype=np.uint64)
    letters = np.ascontiguousarray(names).view(np.uint8).reshape(len(names), width)
    total = np.zeros(len(names), dtype=np.uint64)
    power = np.uint64(1)
    with np.errstate(over="ignore"):
        for i in range(width):  # zeros, which fill up a name, add nothing
            total += letters[:, i] * power
            power = power * BASE
        total ^= total >> np.uint64(32)
        total *= BASE
        total ^= total >> np.uint64(29)
    return total
