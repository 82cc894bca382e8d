"""Find the k nearest of many vectors by cosine, exactly, for one query or thousands.

A matrix product gives approximate cosines. Those that may be among the k best are then
computed again, separately and in double precision. So a neighbour does not depend on
the other queries, and equal vectors, which hierarchies give to siblings, have equal
cosines and keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral

import numpy as np

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.errors import ContextError

Found = tuple[Ints, Floats]

CELLS_AT_ONCE = 1 << 23
"""Most cosines in memory at once: 32 MB in single precision."""

ROUNDING = 128
"""Largest error of an approximate cosine, in units of its precision. Errors are in fact
smaller; a larger margin only computes a few more cosines again."""

MOST_PAIRS = 100_000
"""Most pairs of rows that `cosines_of_pairs` takes. The share of pairs below a cosine
is then known to 0.2 points, and at 99.9 % to 0.01."""

PAIRS_AT_ONCE = 1 << 14
"""Pairs whose vectors are in memory at once."""


def check_count(k: object) -> None:
    """Refuse a number of neighbours that is not a whole number above zero.

    Parameters
    ----------
    k : object
        How many neighbours are wanted.
    """
    if not isinstance(k, Integral):
        raise ContextError(f"k must be a whole number. Got {k!r} instead.")
    if k < 1:
        raise ContextError(f"k must be 1 or more. Got {k!r} instead.")


def unit_rows(vectors: AnyFloats) -> AnyFloats:
    """Scale vectors to length one, in single precision or better.

    Parameters
    ----------
    vectors : array of shape (rows, dim)
        The vectors.

    Returns
    -------
    array of shape (rows, dim)
        Vectors of length one; a zero vector stays zero.
    """
    vectors = vectors.astype(np.result_type(vectors, np.float32), copy=False)
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
    limits = np.finfo(vectors.dtype)
    # Squares of numbers near either end of the range overflow or vanish.
    is_safe = (length > np.sqrt(limits.tiny) / limits.eps) & (length < np.inf)
    if not is_safe.all():
        largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
        power = np.where(is_safe, 0, -np.frexp(largest)[1])
        vectors = np.ldexp(vectors, power)  # exact: other rows keep their bits
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1))


def nearest_rows(
    units: AnyFloats,
    queries: AnyFloats,
    k: int,
    *,
    own: Sequence[int | None] | None = None,
) -> Iterator[Found]:
    """Find for each query the k best rows and their cosines, best first.

    Parameters
    ----------
    units : array of shape (rows, dim)
        Vectors of length one to search.
    queries : array of shape (queries, dim)
        Vectors of length one to search for.
    k : int
        How many rows; fewer if there are not enough.
    own : sequence of int or None, optional
        For each query a row that is never its answer. By default any row may be.

    Yields
    ------
    tuple of two arrays
        Positions of the rows, and their cosines.
    """
    slack = ROUNDING * np.finfo(units.dtype).eps
    at_once = max(1, CELLS_AT_ONCE // max(len(units), 1))
    for start in range(0, len(queries), at_once):
        block = queries[start : start + at_once]
        cosines = block.astype(units.dtype) @ units.T  # (block, rows)
        for i, cosine in enumerate(cosines):
            left_out = None if own is None else own[start + i]
            if left_out is not None:
                cosine[left_out] = -np.inf
            most = min(k, len(units) - (left_out is not None))
            if most < 1:
                yield np.zeros(0, np.int64), np.zeros(0)
                continue
            last = np.partition(cosine, len(units) - most)[len(units) - most]
            yield best_of(units, block[i], np.flatnonzero(cosine >= last - slack), most)


def best_of(units: AnyFloats, query: AnyFloats, rows: Ints, k: int) -> Found:
    """Return the k best of some rows and their cosines.

    Of rows that are equally near, the first ones are taken.

    Parameters
    ----------
    units : array of shape (all rows, dim)
        Vectors of length one.
    query : array of shape (dim,)
        A vector of length one.
    rows : array of int
        Positions of the rows to compare, in ascending order.
    k : int
        How many rows.

    Returns
    -------
    tuple of two arrays
        Positions of the rows, best first, and their cosines.
    """
    cosine = np.einsum("rd,d->r", units[rows].astype(np.float64), query.astype(float))
    cosine = np.clip(cosine, -1.0, 1.0)  # rounding may exceed 1
    order = np.argsort(-cosine, kind="stable")[:k]
    return rows[order], cosine[order]


def cosines_of_pairs(vectors: AnyFloats) -> Floats:
    """Return the cosines of all pairs of different rows, or of a fixed sample of them.

    Parameters
    ----------
    vectors : array of shape (rows, dim)
        The vectors, of any length.

    Returns
    -------
    array of float
        At most `MOST_PAIRS` cosines, in ascending order; the same at every call.
    """
    n = len(vectors)
    if n * (n - 1) // 2 <= MOST_PAIRS:
        one, other = np.triu_indices(n, 1)
    else:
        rng = np.random.default_rng(0)
        one, other = (
            rng.integers(n, size=MOST_PAIRS),
            rng.integers(n - 1, size=MOST_PAIRS),
        )
        other += other >= one  # never a row with itself
    cosines = np.empty(len(one))
    for start in range(0, len(one), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        a, b = (unit_rows(vectors[rows[part]]) for rows in (one, other))
        cosines[part] = np.einsum("pd,pd->p", a, b, dtype=np.float64)
    return np.sort(cosines)
