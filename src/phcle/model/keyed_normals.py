"""Normal numbers that are hashes of names, drawn where they are needed.

A label's numbers do not depend on its place, and a GPU draws billions of them at once.
To draw them in the order of sorted names would take longer than the rest of a start.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.contexts.labels import hash_names
from phcle.model.problem import Problem

DRAWN_AT_ONCE = 1 << 26
"""Numbers drawn at once: a few arrays of 512 MB."""

MULTIPLIERS = (-0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15)
"""Constants of SplitMix64's last step, as signed numbers."""

STEP = -0x61C8864680B583EB
"""What SplitMix64 adds to its state: 2⁶⁴ over the golden ratio, as a signed number."""


def draw_on_device(
    problem: Problem, width: int, seed: int, backend: Backend
) -> list[Array]:
    """Draw normal numbers for all labels, then for the columns of every context.

    Parameters
    ----------
    problem : Problem
        Labels and contexts.
    width : int
        How many numbers for each.
    seed : int
        Seed of the numbers.
    backend : Backend
        Where to draw them.

    Returns
    -------
    list of arrays
        One of shape (labels, width), then one of shape (columns, width) each.
    """
    found = [normal_rows(backend, hash_names(problem.labels), width, seed)]
    for context in problem.contexts:
        own = int(hash_names([context.name])[0]) ^ seed
        found.append(normal_rows(backend, hash_names(context.columns), width, own))
    return found


def normal_rows(
    backend: Backend, keys: npt.NDArray[np.uint64], width: int, seed: int
) -> Array:
    """Draw a row of normal numbers for every key.

    A generator with a state gives numbers in the order in which they are drawn. Here
    every number is a hash of its key, its position and the seed, so that a device draws
    billions of them at once, and a label has the same ones wherever it stands.

    Parameters
    ----------
    backend : Backend
        Where to draw.
    keys : array of shape (rows,)
        Keys in 64 bits.
    width : int
        Numbers in a row.
    seed : int
        Other seeds give other numbers.

    Returns
    -------
    array of shape (rows, width)
        On the device.

    Examples
    --------
    >>> from phcle.backends.protocol import choose_backend
    >>> keys = np.array([3, 7], dtype=np.uint64)
    >>> backend = choose_backend("numpy")
    >>> one, two = normal_rows(backend, keys, 2, seed=0)
    >>> bool((normal_rows(backend, keys[::-1], 2, seed=0)[0] == two).all())
    True
    """
    xp = backend.xp
    like = backend.asarray(np.zeros(1))
    drawn = xp.empty((len(keys), width), dtype=like.dtype, device=like.device)
    # Two normal numbers come from one hash, so there are half as many.
    half = -(-width // 2)
    steps = backend.indices(_signed(np.arange(1, half + 1, dtype=np.uint64)) * STEP)
    salt = int(_mixed(_signed(np.array([seed % 2**64], dtype=np.uint64)))[0])
    height = max(1, DRAWN_AT_ONCE // max(1, half))
    for start in range(0, len(keys), height):
        own = backend.indices(_signed(keys[start : start + height]))
        hashed = _mixed(_mixed(own ^ salt)[:, None] + steps)
        # 53 and 24 bits would overlap in 64; single precision needs 24 each.
        first = xp.astype((hashed >> 40) & 0xFFFFFF, like.dtype)
        second = xp.astype((hashed >> 8) & 0xFFFFFF, like.dtype)
        length = xp.sqrt(-2.0 * xp.log((first + 0.5) / 2**24))
        angle = (2 * math.pi / 2**24) * second
        stop = start + own.shape[0]
        drawn[start:stop, :half] = length * xp.cos(angle)
        drawn[start:stop, half:] = (length * xp.sin(angle))[:, : width - half]
    return drawn


def _signed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The same bits as signed numbers, which all array libraries multiply."""
    return np.ascontiguousarray(values, np.uint64).view(np.int64)


def _mixed(x: Array) -> Array:
    """SplitMix64's last step: every bit of the result depends on every bit of x."""
    for shift, factor in zip((30, 27), MULTIPLIERS, strict=True):
        x = (x ^ ((x >> shift) & (2 ** (64 - shift) - 1))) * factor
    return x ^ ((x >> 31) & (2**33 - 1))
