"""MaskedMatrix: numbers with missing values, dense or sparse.

Code outside this module never asks for the layout. There are two layouts:

- dense: an array in which NaN is a missing value;
- sparse: stored values, zeros elsewhere, and a mask of the known cells. Without a mask
  every cell is known, so a tag that a listed label lacks is a known zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.full_rows import DenseRows, FullRows, SparseRows
from phcle.contexts.matrices import LARGEST, as_csr, csr_with_zeros, take_rows
from phcle.errors import ContextError
from phcle.files.tensor_store import TensorStore

__all__ = [
    "MaskedMatrix",
    "Moments",
    "logs_of",
    "masked_matrix",
    "unpack_matrix",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SMALLEST = 1e-100
"""If all values are smaller than this, they are scaled up before they are squared: the
square of 1e-100 is still a normal number."""


@dataclass(frozen=True)
class Moments:
    """Statistics of each column over its known values.

    Attributes
    ----------
    count : array of shape (columns,)
        Number of known values.
    mean : array of shape (columns,)
        Mean, in the user's units.
    squares : array of shape (columns,)
        Sum of squared deviations from the mean, in units of `unit`².
    unit : float
        Unit of `squares`. It is small for tiny values, which would otherwise become
        zero when squared.
    """

    count: Floats
    mean: Floats
    squares: Floats
    unit: float

    @property
    def varies(self) -> Flags:
        """Columns whose known values are not all equal."""
        return np.asarray(self.squares > 0)

    @property
    def deviation(self) -> Floats:
        """Standard deviation of each column, in the user's units."""
        return np.sqrt(self.squares / np.maximum(self.count, 1)) * self.unit


class MaskedMatrix(ABC):
    """Numbers of which some are missing.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and columns.
    n_known : int
        Number of known cells.
    """

    shape: tuple[int, int]
    n_known: int

    @property
    @abstractmethod
    def n_stored(self) -> int:
        """Number of known values that take memory; zeros of sparse values take none."""

    @property
    def is_complete(self) -> bool:
        """Whether every cell is known."""
        return self.n_known == self.shape[0] * self.shape[1]

    @property
    @abstractmethod
    def arrays(self) -> tuple[Any, sp.csr_array | None]:
        """Values and mask as the user gives them; dense values have no mask."""

    @property
    @abstractmethod
    def known_rows(self) -> Flags:
        """Rows with at least one known value."""

    @abstractmethod
    def take(self, rows: Sequence[int] | Ints) -> MaskedMatrix:
        """Return some of the rows.

        Parameters
        ----------
        rows : sequence of int
            Positions of the rows.

        Returns
        -------
        MaskedMatrix
            These rows, in this order.
        """

    @abstractmethod
    def on_columns(self, at: Ints) -> MaskedMatrix:
        """Return some of the columns.

        Parameters
        ----------
        at : array of int
            Positions of the columns; −1 stands for a column without values.

        Returns
        -------
        MaskedMatrix
            These columns, in this order.
        """

    @abstractmethod
    def stacked(self, below: MaskedMatrix) -> MaskedMatrix:
        """Append the rows of another matrix.

        Parameters
        ----------
        below : MaskedMatrix
            A matrix with the same columns, in any layout.

        Returns
        -------
        MaskedMatrix
            The rows of both.
        """

    @abstractmethod
    def _as_sparse(self) -> _Sparse:
        """The same values in the sparse layout."""

    @abstractmethod
    def row(self, i: int) -> Floats:
        """Return one row.

        Parameters
        ----------
        i : int
            Position of the row.

        Returns
        -------
        array of shape (columns,)
            Its values; NaN is missing.
        """

    @abstractmethod
    def known_cells(self) -> tuple[Ints, Ints]:
        """Return the positions of all known cells.

        Returns
        -------
        rows, columns : arrays of int
            Positions of their rows and columns.
        """

    @abstractmethod
    def cells(self, rows: Ints, columns: Ints) -> Floats:
        """Return the values of known cells.

        Parameters
        ----------
        rows : array of int
            Rows of the cells.
        columns : array of int
            Columns of the cells.

        Returns
        -------
        array of float
            Their values.
        """

    @abstractmethod
    def column(self, i: int) -> Floats:
        """Return one column.

        Parameters
        ----------
        i : int
            Position of the column.

        Returns
        -------
        array of shape (rows,)
            Its values; NaN is missing.
        """

    @abstractmethod
    def threshold(self, mean: Floats) -> Floats:
        """Return the value above which a label has an attribute.

        Parameters
        ----------
        mean : array of shape (columns,)
            Mean of each column.

        Returns
        -------
        array of shape (columns,)
            The means of dense values, a half for zeros and ones, and zeros for sparse
            values.
        """

    @abstractmethod
    def n_having(self, mean: Floats) -> Floats:
        """Count the known cells of each column that are above the threshold.

        Parameters
        ----------
        mean : array of shape (columns,)
            Mean of each column.

        Returns
        -------
        array of shape (columns,)
            The counts.
        """

    @abstractmethod
    def largest(self) -> Floats:
        """Return the largest known value of each column.

        Returns
        -------
        array of shape (columns,)
            The values; −inf for a column without known values.
        """

    @abstractmethod
    def smallest(self) -> Floats:
        """Return the smallest known value of each column.

        Returns
        -------
        array of shape (columns,)
            The values; inf for a column without known values.
        """

    @abstractmethod
    def is_truth(self) -> Flags:
        """Find the columns whose known values are all 0 or 1.

        Returns
        -------
        array of bool of shape (columns,)
            The columns; a column without known values is none of them.
        """

    @abstractmethod
    def moments(self) -> Moments:
        """Compute count, mean and squared deviation of each column without overflow.

        Returns
        -------
        Moments
            The statistics.
        """

    @abstractmethod
    def split(self, offset: Floats, scale: Floats) -> tuple[Ints, FullRows, Any]:
        """Centre and scale the values; separate complete rows from the others.

        Parameters
        ----------
        offset : array of shape (columns,)
            What is subtracted.
        scale : array of shape (columns,)
            What is divided by.

        Returns
        -------
        rows : array of int
            Positions of the complete rows.
        full : FullRows
            Their values.
        entries : csr_array of shape (rows, columns)
            Known cells of the other rows; zeros are stored.
        """

    def with_logs(self, is_log: Flags) -> MaskedMatrix:
        """Return the matrix with logarithms in some columns.

        Parameters
        ----------
        is_log : array of bool of shape (columns,)
            The columns; their known values are above zero.

        Returns
        -------
        MaskedMatrix
            The new matrix, or this one if no column is chosen.
        """
        if not is_log.any():
            return self
        values = np.array([self.row(i) for i in range(self.shape[0])])
        return _Dense(logs_of(values.reshape(self.shape), is_log))

    @abstractmethod
    def pack(self, store: TensorStore) -> str:
        """Put the matrix into the store of a file.

        Parameters
        ----------
        store : TensorStore
            Where to.

        Returns
        -------
        str
            The layout, which `unpack_matrix` needs.
        """

    @abstractmethod
    def wrong_cell(self) -> tuple[int, int, float] | None:
        """Find the first value that is infinite or too large.

        Returns
        -------
        tuple of (int, int, float), or None
            Its row, column and value; None if there is none.
        """

    def some_known_cells(
        self, most: int, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        """Return the positions of known cells, or of a random sample of them.

        Parameters
        ----------
        most : int
            Largest size of the sample.
        rng : numpy.random.Generator
            Draws the sample.

        Returns
        -------
        rows, columns : arrays of int
            Positions of their rows and columns.
        """
        rows, columns = self.known_cells()
        if len(rows) <= most:
            return rows, columns
        chosen = rng.choice(len(rows), most, replace=False)
        return rows[chosen], columns[chosen]

    def presence(self) -> Floats:
        """Estimate the share of labels that have each attribute.

        Half a label with the attribute and half a label without it are added, because
        an attribute that no known label has is still possible.

        Returns
        -------
        array of shape (columns,)
            Shares above 0 and below 1.
        """
        found = self.moments()
        # A column without known values counts as one label without the attribute.
        n_known = np.maximum(found.count, 1)
        return np.asarray((self.n_having(found.mean) + 0.5) / (n_known + 1))


def logs_of(values: Floats, is_log: Flags) -> Floats:
    """Take the logarithms of some columns.

    Parameters
    ----------
    values : array of shape (..., columns)
        Numbers; NaN is missing.
    is_log : array of bool of shape (columns,)
        The columns.

    Returns
    -------
    array of the same shape
        The numbers, with logarithms in these columns.

    Examples
    --------
    >>> logs_of(np.array([1.0, 1.0]), np.array([True, False]))
    array([0., 1.])
    """
    result = np.array(values, dtype=np.float64)
    smallest = np.finfo(np.float64).tiny
    result[..., is_log] = np.log(np.maximum(result[..., is_log], smallest))
    return result


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
        return _Dense(np.asarray(values, dtype=np.float64))
    values = as_csr(values, name)
    if observed is None:
        return _Sparse(values, None)
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
    return _Sparse(values, mask)


class _Dense(MaskedMatrix):
    """An array in which NaN is a missing value."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.shape = values.shape

    @cached_property
    def known(self) -> Flags:
        return np.asarray(~np.isnan(self.values))

    @cached_property
    def n_known(self) -> int:  # type: ignore[override]
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
        return _Dense(self.values[np.asarray(rows, dtype=np.int64)])

    def on_columns(self, at: Ints) -> MaskedMatrix:
        return _Dense(np.where(at >= 0, self.values[:, at], np.nan))

    def stacked(self, below: MaskedMatrix) -> MaskedMatrix:
        if isinstance(below, _Dense):
            return _Dense(np.vstack([self.values, below.values]))
        return self._as_sparse().stacked(below)

    def _as_sparse(self) -> _Sparse:
        values = sp.csr_array(np.nan_to_num(self.values, nan=0.0))
        mask = None if self.is_complete else sp.csr_array(self.known.astype(np.float64))
        return _Sparse(values, mask)

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

    def smallest(self) -> Floats:
        known = np.where(self.known, self.values, np.inf)
        return np.asarray(known.min(axis=0, initial=np.inf))

    def is_truth(self) -> Flags:
        known = self.known
        found = ((self.values == 0) | (self.values == 1) | ~known).all(axis=0)
        return np.asarray(found & known.any(axis=0))

    def moments(self) -> Moments:
        unit = _unit_of(self.values)
        values, known = self.values / unit, self.known
        count = known.sum(axis=0, dtype=np.float64)
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
        # The mean of equal values may be rounded; their deviation must still be zero.
        low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
        mean = np.where(low == high, low, mean)
        # Subtract before squaring: large values that differ little would cancel.
        squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        return _moments(count, mean, squares, unit)

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


class _Sparse(MaskedMatrix):
    """Stored values, and a mask of ones (None: every cell is known)."""

    def __init__(self, values: sp.csr_array, mask: sp.csr_array | None) -> None:
        self.values, self.mask = values, mask
        self.shape = values.shape

    @cached_property
    def n_known(self) -> int:  # type: ignore[override]
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
        return _Sparse(take_rows(self.values, rows), mask)

    def on_columns(self, at: Ints) -> MaskedMatrix:
        if len(at) == 1 and at[0] >= 0:  # asked for again and again by the explorer
            own, known = slice(at[0], at[0] + 1), self._mask_by_column
            return _Sparse(
                sp.csr_array(self._by_column[:, own]),
                None if known is None else sp.csr_array(known[:, own]),
            )
        present = np.flatnonzero(at >= 0)
        pick = sp.csr_array(
            (np.ones(len(present)), (at[present], present)),
            shape=(self.shape[1], len(at)),
        )
        mask = None if self.mask is None else sp.csr_array(self.mask @ pick)
        return _Sparse(sp.csr_array(self.values @ pick), mask)

    def stacked(self, below: MaskedMatrix) -> MaskedMatrix:
        other = below._as_sparse()
        values = sp.csr_array(sp.vstack([self.values, other.values]))
        if self.is_complete and other.is_complete:
            return _Sparse(values, None)
        masks = [self._full_mask(), other._full_mask()]
        return _Sparse(values, sp.csr_array(sp.vstack(masks)))

    def _as_sparse(self) -> _Sparse:
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

    def some_known_cells(
        self, most: int, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        if self.mask is not None or self.n_known <= most:
            return super().some_known_cells(most, rng)
        # No list of all cells: there may be far more than stored ones.
        chosen = rng.choice(self.n_known, most, replace=False)
        rows, columns = np.divmod(chosen, self.shape[1])
        return rows, columns

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

    def smallest(self) -> Floats:
        return np.asarray(self.values.min(axis=0).toarray(), np.float64).ravel()

    def is_truth(self) -> Flags:
        stored = sp.coo_array(self.values)
        others = stored.coords[1][(stored.data != 0) & (stored.data != 1)]
        return np.asarray(np.bincount(others, minlength=self.shape[1]) == 0)

    def moments(self) -> Moments:
        unit = _unit_of(self.values.data)
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
        return _moments(count, mean, squares, unit)

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


def _unit_of(stored: Floats) -> float:
    """A power of two that divides values too small to be squared; otherwise 1."""
    largest = float(np.nanmax(np.abs(stored), initial=0.0))
    if 0 < largest < SMALLEST:
        return float(2.0 ** np.floor(np.log2(largest)))
    return 1.0


def _moments(count: Floats, mean: Floats, squares: Floats, unit: float) -> Moments:
    """Statistics of values that were divided by `unit`."""
    # Constant columns have a small deviation from rounding: set it to zero.
    rounding = np.finfo(np.float64).eps * mean
    squares[squares <= count * rounding**2] = 0.0
    return Moments(count, mean * unit, squares, unit)


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


def _dense_row(matrix: sp.csr_array | sp.csc_array, i: int) -> Floats:
    """Row i, or column i if columns are stored together; SciPy takes far longer."""
    found = np.zeros(matrix.shape[1] if matrix.format == "csr" else matrix.shape[0])
    own = slice(matrix.indptr[i], matrix.indptr[i + 1])
    np.add.at(found, matrix.indices[own], matrix.data[own])
    return found
