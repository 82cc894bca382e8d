"""DenseValues: a masked matrix as an array in which NaN is a missing value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.full_rows import DenseRows, FullRows
from phcle.contexts.masked.masked_matrix import (
    MaskedMatrix,
    Moments,
    moments_of_scaled,
    unit_of,
)
from phcle.contexts.masked.sparse_values import SparseValues
from phcle.contexts.matrices import LARGEST, as_csr, csr_with_zeros
from phcle.errors import ContextError
from phcle.files.container import TensorStore


class DenseValues(MaskedMatrix):
    """An array in which NaN is a missing value.

    Parameters
    ----------
    values : array of shape (rows, columns)
        The numbers.
    """

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.shape = values.shape

    @cached_property
    def known(self) -> Flags:
        """Which cells are known: (rows, columns)."""
        return np.asarray(~np.isnan(self.values))

    @cached_property
    def n_known(self) -> int:  # type: ignore[override]
        """Number of known cells."""
        return int(np.count_nonzero(self.known))

    @property
    def n_stored(self) -> int:
        return self.n_known

    @property
    def arrays(self) -> tuple[Floats, None]:
        return self.values, None

    @property
    def known_rows(self) -> Flags:
        return np.asarray(self.known.any(axis=1))

    def take(self, rows: Sequence[int] | Ints) -> MaskedMatrix:
        return DenseValues(self.values[np.asarray(rows, dtype=np.int64)])

    def on_columns(self, at: Ints) -> MaskedMatrix:
        return DenseValues(np.where(at >= 0, self.values[:, at], np.nan))

    def stacked(self, below: MaskedMatrix) -> MaskedMatrix:
        if isinstance(below, DenseValues):
            return DenseValues(np.vstack([self.values, below.values]))
        return self._as_sparse().stacked(below)

    def _as_sparse(self) -> SparseValues:
        values = sp.csr_array(np.nan_to_num(self.values, nan=0.0))
        mask = None if self.is_complete else sp.csr_array(self.known.astype(np.float64))
        return SparseValues(values, mask)

    def row(self, i: int) -> Floats:
        return np.array(self.values[i])

    def known_cells(self) -> tuple[Ints, Ints]:
        rows, columns = np.nonzero(self.known)
        return rows, columns

    def cells(self, rows: Ints, columns: Ints) -> Floats:
        return np.asarray(self.values[rows, columns])

    def column(self, i: int) -> Floats:
        return np.array(self.values[:, i])

    def threshold(self, mean: Floats) -> Floats:
        return np.where(self.is_truth(), 0.5, mean)  # if all are ones, all have it

    def n_having(self, mean: Floats) -> Floats:
        above = self.values > self.threshold(mean)
        return np.asarray(above.sum(axis=0), np.float64)

    def largest(self) -> Floats:
        known = np.where(self.known, self.values, -np.inf)
        return np.asarray(known.max(axis=0, initial=-np.inf))

    def is_truth(self) -> Flags:
        known = self.known
        found = ((self.values == 0) | (self.values == 1) | ~known).all(axis=0)
        return np.asarray(found & known.any(axis=0))

    def moments(self) -> Moments:
        unit = unit_of(self.values)
        values, known = self.values / unit, self.known
        count = known.sum(axis=0, dtype=np.float64)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
        # The mean of equal values may be rounded; their deviation must still be zero.
        low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        mean = np.where(low == high, low, mean)
        # Subtract before squaring: large values that differ little would cancel.
        squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        return moments_of_scaled(count, mean, squares, unit)

    def split(self, offset: Floats, scale: Floats) -> tuple[Ints, FullRows, Any]:
        is_full = np.asarray(self.known.all(axis=1))
        centred = (self.values - offset) / scale
        rows, columns = np.nonzero(self.known & ~is_full[:, None])
        entries = csr_with_zeros(rows, columns, centred[rows, columns], self.shape)
        return np.flatnonzero(is_full), DenseRows(centred[is_full]), entries

    def wrong_cell(self) -> tuple[int, int, float] | None:
        wrong = np.abs(self.values) > LARGEST  # false for NaN
        if not wrong.any():
            return None
        row, column = np.unravel_index(int(np.argmax(wrong)), self.shape)
        return int(row), int(column), float(self.values[row, column])

    def pack(self, store: TensorStore) -> str:
        store["values"] = self.values
        return "dense"


def masked_matrix(values: Any, observed: Any, name: str) -> MaskedMatrix:
    """Make a matrix from values and, for sparse values, an optional mask.

    Parameters
    ----------
    values : array or sparse matrix
        The numbers; NaN is a missing value in a dense array.
    observed : sparse matrix or None
        Known cells of sparse values; None means all of them.
    name : str
        Name of the context, for error messages.

    Returns
    -------
    MaskedMatrix
        The matrix in the layout of `values`.
    """
    if isinstance(values, MaskedMatrix):
        return values
    if not sp.issparse(values):
        if observed is not None:
            raise ContextError(
                f"context {name!r}: in dense values NaN is a missing value; "
                "observed= is for sparse values."
            )
        return DenseValues(np.asarray(values, dtype=np.float64))
    values = as_csr(values, name)
    if observed is None:
        return SparseValues(values, None)
    mask = as_csr(observed, name).copy()
    mask.data[:] = 1.0
    if mask.shape != values.shape:
        raise ContextError(
            f"context {name!r}: observed has shape {mask.shape}, values have "
            f"{values.shape}; give both the same."
        )
    n_outside = values.nnz - sp.csr_array(values * mask).nnz
    if n_outside:
        raise ContextError(
            f"context {name!r}: {n_outside} values are where observed is false; "
            "remove them or mark them as observed."
        )
    return SparseValues(values, mask)


def unpack_matrix(layout: str, store: TensorStore, n_columns: int) -> tuple[Any, Any]:
    """Return the values and the mask that `MaskedMatrix.pack` stored, without checks.

    Parameters
    ----------
    layout : str
        What `MaskedMatrix.pack` returned.
    store : TensorStore
        Where the matrix is stored.
    n_columns : int
        Columns that it must have.

    Returns
    -------
    tuple
        Values, and a mask or None.
    """
    if layout == "dense":
        return store["values"], None
    mask = store.sparse("observed", n_columns) if layout == "masked" else None
    return store.sparse("values", n_columns), mask
