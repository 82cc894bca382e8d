"""The k nearest of many vectors by cosine: exact, for one query or for thousands.

A matrix product gives every cosine roughly; whatever may be among the k best is then
computed again, each by itself and in double precision. So a neighbour does not depend
on what else is asked at the same time, and vectors that are the same, as hierarchies
give to siblings, get the same cosine and keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["Found", "best_of", "nearest_rows", "unit_rows"]

Floats = npt.NDArray[np.floating]
Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]

CELLS_AT_ONCE = 1 << 23
"""Cosines that are held at a time, so that memory stays bounded."""

ROUNDING = 128
"""How far a product may be off, in units of its precision."""


def unit_rows(vectors: Floats) -> Floats:
    """Vectors at length one, in single precision or better; a zero stays zero."""
    vectors = vectors.astype(np.result_type(vectors, np.float32), copy=False)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1))


def nearest_rows(
    units: Floats,
    queries: Floats,
    k: int,
    *,
    own: Sequence[int | None] | None = None,
) -> Iterator[Found]:
    """For each query the k best rows and their cosines, best first.

    Parameters
    ----------
    units
        Vectors of length one to search: (rows, d).
    queries
        Vectors of length one to search for: (queries, d).
    k
        How many; all there are if there are fewer.
    own
        A row for each query that is never its answer; None: any row may be.
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


def best_of(units: Floats, query: Floats, rows: npt.NDArray[np.int64], k: int) -> Found:
    """The k best of some rows, in ascending order, and their cosines.

    Of rows that are equally near the first ones are taken.
    """
    cosine = np.einsum("rd,d->r", units[rows].astype(np.float64), query.astype(float))
    cosine = np.clip(cosine, -1.0, 1.0)  # the same vector is never more than the same
    order = np.argsort(-cosine, kind="stable")[:k]
    return rows[order], cosine[order]
