"""SparseValues: a masked matrix as stored values and a mask of the known cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.full_rows import DenseRows, FullRows, SparseRows
from phcle.contexts.masked.masked_matrix import (
    MaskedMatrix,
    Moments,
    moments_of_scaled,
    unit_of,
)
from phcle.contexts.matrices import LARGEST, csr_with_zeros, take_columns, take_rows
from phcle.files.container import TensorStore


class SparseValues(MaskedMatrix):
    """Stored values, zeros elsewhere, and a mask.

    Parameters
    ----------
    values : csr_array of shape (rows, columns)
        The numbers.
    mask : csr_array of shape (rows, columns), or None
        Ones in the known cells; None if every cell is known.
    """

    def __init__(self, values: sp.csr_array, mask: sp.csr_array | None) -> None:
        self.values, self.mask = values, mask
        self.shape = values.shape

    @cached_property
    def n_known(self) -> int:  # type: ignore[override]
        """Number of known cells."""
        return self.shape[0] * self.shape[1] if self.mask is None else self.mask.nnz

    @property
    def n_stored(self) -> int:
        return int(self.values.nnz)

    @property
    def arrays(self) -> tuple[sp.csr_array, sp.csr_array | None]:
        return self.values, self.mask

    @property
    def known_rows(self) -> Flags:
        if self.mask is None:
            return np.ones(self.shape[0], dtype=bool)
        return np.asarray(np.diff(self.mask.indptr) > 0)

    def take(self, rows: Sequence[int] | Ints) -> MaskedMatrix:
        mask = None if self.mask is None else take_rows(self.mask, rows)
        return SparseValues(take_rows(self.values, rows), mask)

    def on_columns(self, at: Ints) -> MaskedMatrix:
        if len(at) == 1 and at[0] >= 0:  # asked for again and again by the explorer
            own, known = slice(at[0], at[0] + 1), self._mask_by_column
            return SparseValues(
                sp.csr_array(self._by_column[:, own]),
                None if known is None else sp.csr_array(known[:, own]),
            )
        mask = None if self.mask is None else take_columns(self.mask, at)
        return SparseValues(take_columns(self.values, at), mask)

    def stacked(self, below: MaskedMatrix) -> MaskedMatrix:
        other = below._as_sparse()
        values = sp.csr_array(sp.vstack([self.values, other.values]))
        if self.is_complete and other.is_complete:
            return SparseValues(values, None)
        masks = [self._full_mask(), other._full_mask()]
        return SparseValues(values, sp.csr_array(sp.vstack(masks)))

    def _as_sparse(self) -> SparseValues:
        return self

    def _full_mask(self) -> sp.csr_array:
        return sp.csr_array(np.ones(self.shape)) if self.mask is None else self.mask

    def row(self, i: int) -> Floats:
        values = _dense_row(self.values, i)
        if self.mask is None:
            return values
        return np.where(_dense_row(self.mask, i) > 0, values, np.nan)

    def known_cells(self) -> tuple[Ints, Ints]:
        if self.mask is None:
            rows, columns = np.divmod(np.arange(self.n_known), self.shape[1])
            return rows, columns
        rows, columns = self.mask.nonzero()
        return rows.astype(np.int64), columns.astype(np.int64)

    def cells(self, rows: Ints, columns: Ints) -> Floats:
        if not len(rows):  # SciPy then returns a sparse matrix
            return np.zeros(0)
        return np.asarray(self.values[rows, columns], np.float64).ravel()

    @cached_property
    def _by_column(self) -> sp.csc_array:
        """The values by column, so that one is found without a look at all cells."""
        return sp.csc_array(self.values)

    @cached_property
    def _mask_by_column(self) -> sp.csc_array | None:
        """The mask by column."""
        return None if self.mask is None else sp.csc_array(self.mask)

    def column(self, i: int) -> Floats:
        values = _dense_row(self._by_column, i)
        if self._mask_by_column is None:
            return values
        return np.where(_dense_row(self._mask_by_column, i) > 0, values, np.nan)

    def threshold(self, mean: Floats) -> Floats:
        return np.zeros_like(mean)

    def n_having(self, mean: Floats) -> Floats:
        return np.asarray((self.values > 0).sum(axis=0), np.float64).ravel()

    def largest(self) -> Floats:
        return np.asarray(self.values.max(axis=0).toarray(), np.float64).ravel()

    def is_truth(self) -> Flags:
        stored = sp.coo_array(self.values)
        others = stored.coords[1][(stored.data != 0) & (stored.data != 1)]
        return np.asarray(np.bincount(others, minlength=self.shape[1]) == 0)

    def moments(self) -> Moments:
        unit = unit_of(self.values.data)
        n_rows, n_columns = self.shape
        count = (
            np.full(n_columns, float(n_rows))
            if self.mask is None
            else np.asarray(self.mask.sum(axis=0), np.float64).ravel()
        )
        values = sp.csr_array(self.values / unit)
        mean = np.asarray(values.sum(axis=0)).ravel() / np.maximum(count, 1)
        at = values.indices
        stored = (values.data - mean[at]) ** 2
        squares = np.bincount(at, weights=stored, minlength=n_columns)
        n_stored = np.bincount(at, minlength=n_columns)
        squares = squares + (count - n_stored) * mean**2
        return moments_of_scaled(count, mean, squares, unit)

    def split(self, offset: Floats, scale: Floats) -> tuple[Ints, FullRows, Any]:
        if self.mask is None:
            rows = SparseRows(
                sp.csr_array(self.values.multiply(1 / scale)), offset / scale
            )
            return np.arange(self.shape[0]), rows, sp.csr_array(self.shape)
        r, c = self.known_cells()
        values = (self.cells(r, c) - offset[c]) / scale[c]
        entries = csr_with_zeros(r, c, values, self.shape)
        return np.arange(0), DenseRows(np.empty((0, self.shape[1]))), entries

    def wrong_cell(self) -> tuple[int, int, float] | None:
        stored = self.values.data
        wrong = (np.abs(stored) > LARGEST) | np.isnan(stored)
        if not wrong.any():
            return None
        first = int(np.argmax(wrong))
        row = int(np.searchsorted(self.values.indptr, first, side="right") - 1)
        return row, int(self.values.indices[first]), float(stored[first])

    def pack(self, store: TensorStore) -> str:
        store.put_sparse("values", self.values)
        if self.mask is None:
            return "sparse"
        store.put_sparse("observed", self.mask)
        return "masked"


def _dense_row(matrix: sp.csr_array | sp.csc_array, i: int) -> Floats:
    """Row i, or column i if columns are stored together; SciPy takes far longer."""
    found = np.zeros(matrix.shape[1] if matrix.format == "csr" else matrix.shape[0])
    own = slice(matrix.indptr[i], matrix.indptr[i + 1])
    np.add.at(found, matrix.indices[own], matrix.data[own])
    return found
