"""Hashes of many names at once, the same in every process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

BASE = np.uint64(0x9E3779B97F4A7C15)
"""Odd multiplier of the polynomial, so that no character is lost."""

AT_ONCE = 1 << 20
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
    for start in range(0, len(names), AT_ONCE):
        part = [name.encode("utf-8") for name in names[start : start + AT_ONCE]]
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
