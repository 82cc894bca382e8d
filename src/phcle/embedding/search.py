"""Find the nearest labels by cosine, exactly, for one query or thousands.

A matrix product gives approximate cosines. Those that may be among the k best are then
computed again, separately and in double precision. So a neighbour does not depend on
the other queries, and equal vectors, which hierarchies give to siblings, have equal
cosines and keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from numbers import Integral
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.errors import ContextError

Found = tuple[npt.NDArray[np.integer], Floats]
"""Rows and their cosines, best first."""


class Neighbours(NamedTuple):
    """The nearest rows of every row, best first.

    Parameters
    ----------
    rows : array of int of shape (labels, k)
        The rows.
    cosines : array of shape (labels, k)
        Their cosines.
    """

    rows: npt.NDArray[np.integer]
    cosines: Floats


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

SAME_COSINE = 1e-6
"""Cosines that differ by less are equal: siblings with one vector have a cosine of 1 up
to rounding in single precision."""

MOST_KEPT = 50
"""Neighbours that a table has of each label: a map needs 45, pages show fewer."""

ROWS_AT_ONCE = 500
"""Labels of a table that are searched for at a time; it bounds memory, and progress is
reported after each."""


class Search:
    """The nearest of some vectors, and how unusual a cosine is among them.

    Parameters
    ----------
    vectors : array of shape (labels, dim)
        The vectors.

    Attributes
    ----------
    table : Neighbours or None
        The nearest labels of all labels and their cosines, if somebody keeps them here.
        They then need no search.

    Examples
    --------
    >>> search = Search(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))
    >>> next(search.nearest(np.array([[1.0, 0.0]]), 1, [0]))
    (array([1]), array([0.6]))
    >>> round(search.percentile(0.7))  # cosines of the pairs are 0, 0.6 and 0.8
    67
    """

    def __init__(self, vectors: AnyFloats) -> None:
        self.vectors = vectors
        self.table: Neighbours | None = None

    @cached_property
    def units(self) -> AnyFloats:
        """Vectors scaled to length one; a zero vector stays zero."""
        return unit_rows(self.vectors)

    @cached_property
    def pair_cosines(self) -> Floats:
        """Cosines of all pairs of rows in ascending order; a fixed sample of many."""
        return cosines_of_pairs(self.vectors)

    def percentile(self, cosine: float) -> float:
        """Say how unusual a cosine is among pairs of different rows.

        Parameters
        ----------
        cosine : float
            A cosine similarity.

        Returns
        -------
        float
            Share of the pairs that have a smaller cosine, in percent.
        """
        below = np.searchsorted(self.pair_cosines, cosine - SAME_COSINE)
        return float(100 * below / max(len(self.pair_cosines), 1))

    def nearest(
        self,
        queries: AnyFloats,
        k: int,
        own: Sequence[int | None],
        among: Ints | None = None,
    ) -> Iterator[Found]:
        """Find the rows that are nearest to some vectors.

        Parameters
        ----------
        queries : array of shape (queries, dim)
            The vectors.
        k : int
            How many rows of each.
        own : sequence of int or None
            For each query the row that it is, which is left out; None for no row.
        among : array of int, optional
            Rows to search; by default all.

        Yields
        ------
        tuple of two arrays
            Positions of the rows, and their cosines.
        """
        kept, n = self.table, len(self.vectors)
        is_enough = kept is not None and kept.rows.shape[1] >= min(k, n - 1)
        if kept is not None and is_enough and among is None and None not in own:
            yield from ((kept.rows[i, :k], kept.cosines[i, :k]) for i in own)
            return
        rows = np.arange(n) if among is None else among
        units = self.units if among is None else unit_rows(self.vectors[among])
        slack = ROUNDING * np.finfo(units.dtype).eps
        # In double precision, as vectors that are asked for.
        queries = unit_rows(np.asarray(queries, np.float64))
        at_once = max(1, CELLS_AT_ONCE // max(len(units), 1))
        for start in range(0, len(queries), at_once):
            block = queries[start : start + at_once]
            every = block.astype(units.dtype) @ units.T  # (block, rows)
            for i, cosine in enumerate(every):
                others = np.flatnonzero(rows != own[start + i])
                most = min(k, len(others))
                cosine = cosine[others]
                last = np.partition(cosine, -most)[-most] if most else 0.0
                near = others[cosine >= last - slack]
                exact = np.einsum("rd,d->r", units[near].astype(np.float64), block[i])
                exact = np.clip(exact, -1.0, 1.0)  # rounding may exceed 1
                order = np.argsort(-exact, kind="stable")[:k]
                yield rows[near[order]], exact[order]

    def neighbour_table(
        self,
        k: int = MOST_KEPT,
        *,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Neighbours:
        """Find the nearest rows of all rows.

        Parameters
        ----------
        k : int, default 50
            Number of neighbours of each row; fewer if there are fewer rows.
        progress : callable, optional
            Called with the number of rows done and the number of all rows.

        Returns
        -------
        Neighbours
            Positions of the nearest rows, and their cosines.
        """
        n = len(self.vectors)
        k = min(k, n - 1)
        near, cosines = np.empty((n, k), np.int32), np.empty((n, k))
        for start in range(0, n if k else 0, ROWS_AT_ONCE):
            rows = range(start, min(n, start + ROWS_AT_ONCE))
            every = self.nearest(self.vectors[rows], k, rows)
            for i, found in zip(rows, every, strict=True):
                near[i], cosines[i] = found
            progress(rows.stop, n)
        return Neighbours(near, cosines)


def check_count(k: object) -> None:
    """Refuse a number of neighbours that is not a whole number above zero.

    Parameters
    ----------
    k : object
        How many neighbours are wanted.
    """
    if not isinstance(k, Integral) or k < 1:
        raise ContextError(f"k must be a whole number above 0. Got {k!r} instead.")


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


def shown_percentile(percentile: float) -> str:
    """Write a percentile, with more digits where they matter.

    Parameters
    ----------
    percentile : float
        Share of pairs that are less similar, in percent.

    Returns
    -------
    str
        Whole percents; from 99 % on tenths, and 99.9 % at most.

    Examples
    --------
    >>> [shown_percentile(x) for x in (3.4, 98.7, 99.62, 100.0)]
    ['3 %', '98 %', '99.6 %', '99.9 %']
    """
    if percentile < 99:
        return f"{int(percentile)} %"
    return f"{min(int(10 * percentile) / 10, 99.9)} %"
