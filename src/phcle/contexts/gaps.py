"""One matrix with unknown cells, from the user's table to the solver and to files.

`Gaps` holds the numbers in the user's units. `ScaledRows` are its rows at their places
among the labels of a problem, centred and scaled; `Placed` are these on a back end.

With zeros at gaps, A U and Aᵀ W need no mask. Only sums of squares do: they are taken
over all cells less the gaps, or over the known cells, whichever are fewer in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Flags, Floats, Ints
from phcle.backends.protocol import Array, Backend
from phcle.contexts.matrices import LARGEST, as_csr, take_rows
from phcle.contexts.protocol import kept_by_backend
from phcle.errors import ContextError
from phcle.files.container import TensorStore

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


@dataclass(frozen=True, eq=False)
class Gaps:
    """Numbers of which some are unknown.

    Attributes
    ----------
    values : array or csr_array of shape (rows, columns)
        The numbers; NaN is a gap.
    rest_unknown : bool
        Whether cells that a sparse matrix does not store are gaps. Known zeros are then
        stored. By default these cells are zero.
    """

    values: Any
    rest_unknown: bool = False

    @classmethod
    def of(cls, values: Any, known: Any, name: str) -> Gaps:
        """Make a matrix from values and, for sparse values, an optional mask.

        Parameters
        ----------
        values : array or sparse matrix
            The numbers; NaN is a missing value in a dense array.
        known : sparse matrix or None
            Known cells of sparse values; None means all of them.
        name : str
            Name of the context, for error messages.

        Returns
        -------
        Gaps
            The matrix.
        """
        if not sp.issparse(values):
            if known is not None:
                raise ContextError(
                    f"context {name!r}: in dense values NaN is a missing value; "
                    "known= is for sparse values."
                )
            return cls(np.asarray(values, dtype=np.float64))
        values = as_csr(values, name)
        if known is None:
            return cls(values)
        known = as_csr(known, name).copy()
        if known.shape != values.shape:
            raise ContextError(
                f"context {name!r}: known has shape {known.shape}, values have "
                f"{values.shape}; give both the same."
            )
        rows, columns = known.tocoo().coords
        known.data = cls(values).cells(rows, columns)
        n_outside = values.nnz - np.count_nonzero(known.data)
        if n_outside:
            raise ContextError(
                f"context {name!r}: {n_outside} values are where known is false; "
                "remove them or mark them as known."
            )
        return cls(known, rest_unknown=True)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_rows, n_columns = self.values.shape
        return int(n_rows), int(n_columns)

    @property
    def is_sparse(self) -> bool:
        """Whether values are stored sparsely."""
        return bool(sp.issparse(self.values))

    @property
    def stored(self) -> Floats:
        """The numbers that are stored, in an array of any shape; NaN is a gap."""
        return np.asarray(self.values.data if self.is_sparse else self.values)

    def toarray(self) -> Floats:
        """All values as one array; NaN is missing."""
        if not self.is_sparse:
            return np.asarray(self.values)
        found = np.full(self.shape, np.nan if self.rest_unknown else 0.0)
        found[self.values.tocoo().coords] = self.values.data
        return found

    @property
    def known(self) -> Flags:
        """Which cells are known, as a dense array of shape (rows, columns)."""
        return np.asarray(~np.isnan(self.toarray()))

    def n_known_along(self, axis: int) -> Floats:
        """Count the known cells of every column (axis 0) or row (axis 1)."""
        is_gap = np.isnan(self.stored)
        if not self.is_sparse:
            return np.asarray(np.sum(~is_gap, axis=axis, dtype=np.float64))
        lines, n_lines = self.values.tocoo().coords[1 - axis], self.shape[1 - axis]
        found = np.bincount(lines[is_gap ^ self.rest_unknown], minlength=n_lines)
        known = found if self.rest_unknown else self.shape[axis] - found
        return known.astype(np.float64)

    @cached_property
    def n_known(self) -> int:
        """Number of known cells."""
        return int(self.n_known_along(0).sum())

    @property
    def known_rows(self) -> Flags:
        """Rows with at least one known value."""
        return np.asarray(self.n_known_along(1) > 0)

    @property
    def arrays(self) -> tuple[Any, sp.csr_array | None]:
        """Values and mask as the user gives them; dense values have no mask."""
        if not self.is_sparse or not (self.rest_unknown or np.isnan(self.stored).any()):
            return self.values, None
        at = self.known_cells()
        values = sp.csr_array((self.cells(*at), at), self.shape)
        values.eliminate_zeros()
        return values, sp.csr_array((np.ones(len(at[0])), at), self.shape)

    def take(self, rows: Sequence[int] | Ints | slice) -> Gaps:
        """Return some of the rows, in this order."""
        at = rows if isinstance(rows, slice) else np.asarray(rows, dtype=np.int64)
        return replace(self, values=self.values[at])

    @cached_property
    def turned(self) -> Gaps:
        """Columns as rows."""
        values = self.values.T
        return replace(self, values=sp.csr_array(values) if self.is_sparse else values)

    def on_columns(self, at: Ints) -> Gaps:
        """Return some of the columns.

        Parameters
        ----------
        at : array of int
            Positions of the columns; −1 stands for a column without values.

        Returns
        -------
        Gaps
            These columns, in this order.
        """
        if not self.is_sparse:
            return Gaps(np.where(at >= 0, self.values[:, at], np.nan))
        return replace(self, values=take_rows(self.turned.values, at)).turned

    def stacked(self, below: Gaps) -> Gaps:
        """Append the rows of another matrix with the same columns, in any layout."""
        if not (self.is_sparse or below.is_sparse):
            return Gaps(np.vstack([self.values, below.values]))
        rest_unknown = self.rest_unknown or below.rest_unknown
        parts = [each._stored(rest_unknown) for each in (self, below)]
        return Gaps(sp.csr_array(sp.vstack(parts)), rest_unknown)

    def _stored(self, rest_unknown: bool) -> sp.csr_array:
        """Sparse values, of which those that are not stored are unknown, or zero."""
        if rest_unknown == self.rest_unknown:
            return sp.csr_array(self.values)
        at = self.known_cells()
        return sp.csr_array((self.cells(*at), at), self.shape)

    def row(self, i: int) -> Floats:
        """Return the values of one row; NaN is missing."""
        return np.array(self.take(slice(i, i + 1)).toarray()[0])

    def column(self, i: int) -> Floats:
        """Return the values of one column; NaN is missing."""
        return self.turned.row(i)

    def known_cells(self) -> tuple[Ints, Ints]:
        """Return the rows and the columns of all known cells."""
        if not self.rest_unknown:
            rows, columns = np.nonzero(self.known)
        else:
            is_known = ~np.isnan(self.values.data)
            rows, columns = (axis[is_known] for axis in self.values.tocoo().coords)
        return rows.astype(np.int64), columns.astype(np.int64)

    def cells(self, rows: Ints, columns: Ints) -> Floats:
        """Return the values of known cells."""
        if not len(rows):  # SciPy then returns a sparse matrix
            return np.zeros(0)
        return np.asarray(self.values[rows, columns], np.float64).ravel()

    def without(self, rows: Ints, columns: Ints) -> Gaps:
        """Return the matrix without some known cells."""
        if self.is_sparse and not self.rest_unknown:
            gaps = (np.full(len(rows), np.nan), (rows, columns))
            return Gaps(sp.csr_array(self.values + sp.csr_array(gaps, self.shape)))
        values = self.values.copy()
        values[rows, columns] = np.nan
        return replace(self, values=values)

    def threshold(self, mean: Floats) -> Floats:
        """Return the value of each column above which a label has an attribute.

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
        if self.is_sparse:
            return np.zeros_like(mean)
        return np.where(self.is_truth(), 0.5, mean)  # if all are ones, all have it

    def largest(self) -> Floats:
        """Return the largest known value of each column; −inf if none is known."""
        if self.is_sparse:
            return np.asarray(self.values.nanmax(axis=0).toarray()).ravel()
        return np.asarray(np.fmax.reduce(self.values, axis=0, initial=-np.inf))

    def is_truth(self) -> Flags:
        """Find the columns whose known values are all 0 or 1.

        Returns
        -------
        array of bool of shape (columns,)
            The columns; a dense column without known values is none of them.
        """
        is_other = ~((self.stored == 0) | (self.stored == 1) | np.isnan(self.stored))
        if self.is_sparse:
            others = self.values.indices[is_other]
            return np.asarray(np.bincount(others, minlength=self.shape[1]) == 0)
        return np.asarray(~is_other.any(axis=0) & (self.n_known_along(0) > 0))

    def moments(self) -> Moments:
        """Compute count, mean and squared deviation of each column without overflow.

        Returns
        -------
        Moments
            The statistics. Columns that deviate by rounding alone count as constant.
        """
        n_columns, count = self.shape[1], self.n_known_along(0)
        largest, unit = float(np.nanmax(np.abs(self.stored), initial=0.0)), 1.0
        if 0 < largest < SMALLEST:  # a power of two, so that no digit is lost
            unit = float(2.0 ** np.floor(np.log2(largest)))
        values, known = self.stored / unit, ~np.isnan(self.stored)
        if self.is_sparse:
            at, values = self.values.indices[known], values[known]
            mean = _sums(at, values, n_columns) / np.maximum(count, 1)
            n_zeros = count - _sums(at, np.ones(len(at)), n_columns)
            squares = _sums(at, (values - mean[at]) ** 2, n_columns) + n_zeros * mean**2
        else:
            mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
            # The mean of equal values may be rounded; their deviation must be zero.
            low = np.fmin.reduce(values, axis=0, initial=np.inf)
            high = np.fmax.reduce(values, axis=0, initial=-np.inf)
            mean = np.where(low == high, low, mean)
            # Subtract before squaring: large values that differ little would cancel.
            squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        rounding = np.finfo(np.float64).eps * mean
        squares[squares <= count * rounding**2] = 0.0
        return Moments(count, mean * unit, squares, unit)

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
        above = self.values > (0 if self.is_sparse else self.threshold(found.mean))
        n_having = np.asarray(above.sum(axis=0), np.float64).ravel()
        return np.asarray((n_having + 0.5) / (n_known + 1))

    def wrong_cell(self, least: float = -LARGEST) -> tuple[int, int, float] | None:
        """Find row, column and value of the first that is infinite, or out of range."""
        wrong = (self.stored < least) | (self.stored > LARGEST)  # false for NaN
        if self.is_sparse:
            wrong |= np.isnan(self.stored)
        if not wrong.any():
            return None
        at = np.unravel_index(np.argmax(wrong), wrong.shape)
        if self.is_sparse:
            at = tuple(axis[at] for axis in self.values.tocoo().coords)
        return int(at[0]), int(at[1]), float(self.values[at])

    def pack(self, store: TensorStore) -> str:
        """Put the matrix into the store of a file; the layout is for `unpack`."""
        values, mask = self.arrays
        if not self.is_sparse:
            store["values"] = values
            return "dense"
        store.put_sparse("values", values)
        if mask is None:
            return "sparse"
        store.put_sparse("observed", mask)
        return "masked"

    @classmethod
    def unpack(cls, layout: str, store: TensorStore, n_columns: int, name: str) -> Gaps:
        """Make the matrix that `pack` stored; an unknown layout is sparse."""
        if layout == "dense":
            return cls.of(store["values"], None, name)
        mask = store.sparse("observed", n_columns) if layout == "masked" else None
        return cls.of(store.sparse("values", n_columns), mask, name)


def _sums(lines: Ints, numbers: Any, n_lines: int) -> Floats:
    """The sum of the numbers of each line."""
    return np.bincount(lines, numbers, n_lines).astype(np.float64, copy=False)


Marked = tuple[sp.csr_array, Flags]
"""For each line, a row or a column, ones in its known cells, or in its gaps if they are
fewer: (lines, across); and whether they are gaps: (lines,)."""


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """(value − offset) / scale where known, for the labels of a problem.

    Attributes
    ----------
    gaps : Gaps
        Values of the labels that are known, on the scale of `offset`.
    rows : array of int
        Positions of these labels among all, ascending.
    n_labels : int
        Number of all labels.
    offset, scale : arrays of shape (columns,)
        What is subtracted, and what is divided by.
    varies : array of bool of shape (columns,)
        Columns whose known values are not all equal.
    """

    gaps: Gaps
    rows: Ints
    n_labels: int
    offset: Floats
    scale: Floats
    varies: Flags

    @property
    def observed(self) -> Flags:
        """Whether each label has a known value: (labels,)."""
        return np.asarray(self._at_labels(self.gaps.known_rows))

    @property
    def informs(self) -> Flags:
        """Whether each label has a known value in a column that varies: (labels,)."""
        if self.varies.all():
            return self.observed
        own = self.gaps.on_columns(np.flatnonzero(self.varies))
        return np.asarray(self._at_labels(own.known_rows))

    def _at_labels(self, own: np.ndarray[Any, Any]) -> Any:
        """Something for each row, at the places of their labels; zero elsewhere."""
        found = np.zeros(self.n_labels, dtype=own.dtype)
        found[self.rows] = own
        return found

    def __getitem__(self, rows: Ints) -> Self:
        """The rows of some labels, in this order."""
        at = np.full(self.n_labels, -1)
        at[self.rows] = np.arange(len(self.rows))
        own = np.flatnonzero(at[rows] >= 0)
        gaps = self.gaps.take(at[rows[own]])
        return replace(self, gaps=gaps, rows=own, n_labels=len(rows))

    def without(self, rows: Ints, columns: Ints | None = None) -> Self:
        """Return the values without some known cells, or without all of some labels.

        They lie around their own means, on the same scale. A mean that includes a
        hidden cell would tell on which side of it the cell is: what is left would lie
        on the other side, and predictions with it.
        """
        if columns is None:
            kept = np.flatnonzero(~np.isin(self.rows, rows))
            left, places = self.gaps.take(kept), self.rows[kept]
        else:
            at, places = np.searchsorted(self.rows, rows), self.rows
            left = self.gaps.without(at, columns)
        found = left.moments()
        offset = np.where(found.count > 0, found.mean, self.offset)
        return replace(self, gaps=left, rows=places, offset=offset)

    @cached_property
    def filled(self) -> tuple[Any, Floats]:
        """The scaled rows A with zeros at gaps: `values` less `shift` in every row."""
        values, none = self.gaps.values, np.zeros(len(self.scale))
        if not self.gaps.is_sparse:
            return np.nan_to_num((values - self.offset) / self.scale, nan=0.0), none
        scaled = values.data * (1 / self.scale)[values.indices]
        shift = self.offset / self.scale
        shifts = shift[values.indices]
        if self.gaps.rest_unknown:  # known zeros are centred, too
            data, shift = np.nan_to_num(scaled - shifts, nan=0.0), none
        else:
            data = np.where(np.isnan(scaled), shifts, scaled)
        return sp.csr_array((data, values.indices, values.indptr), values.shape), shift

    @property
    def arrays(self) -> list[Any]:
        """All numbers, for a fingerprint: complete rows, then other known cells."""
        gaps, shape = self.gaps, (self.n_labels, self.gaps.shape[1])
        if gaps.is_sparse and gaps.arrays[1] is None:
            return [self.rows, *self.filled, sp.csr_array(shape)]
        is_full, full = np.zeros(len(self.rows), dtype=bool), np.empty((0, shape[1]))
        if not gaps.is_sparse:
            is_full = np.asarray(gaps.known.all(axis=1))
            full = self.filled[0][is_full]
        at, columns = gaps.known_cells()
        at, columns = at[~is_full[at]], columns[~is_full[at]]
        values = (gaps.cells(at, columns) - self.offset[columns]) / self.scale[columns]
        others = sp.csr_array((values, (self.rows[at], columns)), shape)
        return [self.rows[is_full], full, np.zeros(shape[1]), others]

    @cached_property
    def energy(self) -> Floats:
        """Squared length of the row of each label: (labels,)."""
        values, shift = self.filled
        squares = np.asarray((values * values).sum(axis=1)).ravel()
        moved = squares - 2 * (values @ shift) + shift @ shift
        return np.asarray(self._at_labels(moved))

    @cached_property
    def noise_level(self) -> float:
        """About the largest singular value that pure noise would have.

        It is the spread of a known value times (√n + √m), where n and m are the mean
        numbers of known values of a column and of a row that have any.
        """
        by_column, by_row = self.gaps.n_known_along(0), self.gaps.n_known_along(1)
        known = float(by_row.sum())
        if not known:
            return 0.0
        sizes = sum(np.sqrt(known / np.count_nonzero(n)) for n in (by_column, by_row))
        return float(np.sqrt(self.energy.sum() / known) * sizes)

    @cached_property
    def by_row(self) -> Marked:
        """Marked cells of every label."""
        cells, by_gaps = self._marked(1)
        return cells, self._at_labels(by_gaps)

    @cached_property
    def by_column(self) -> Marked:
        """Marked cells of every column, among the labels with values."""
        cells, by_gaps = self._marked(0)
        return sp.csr_array(cells.T), by_gaps

    def _marked(self, axis: int) -> Marked:
        """Marked cells of all columns (axis 0) or labels (axis 1), and which are gaps.

        Of sparse values, all lines mark what is stored: gaps, or known cells.
        """
        gaps = self.gaps
        if gaps.is_sparse:
            by_gaps = np.full(gaps.shape[1 - axis], not gaps.rest_unknown)
            is_marked = np.isnan(gaps.values.data) ^ gaps.rest_unknown
            at, columns = (place[is_marked] for place in gaps.values.tocoo().coords)
        else:
            by_gaps = 2 * gaps.n_known_along(axis) > gaps.shape[axis]
            is_gap = by_gaps[:, None] if axis else by_gaps[None, :]
            at, columns = np.nonzero(gaps.known ^ is_gap)
        cells = (np.ones(len(at)), (self.rows[at], columns))
        return sp.csr_array(cells, (self.n_labels, gaps.shape[1])), by_gaps

    @kept_by_backend
    def placed(self, backend: Backend) -> Placed:
        """The rows on a back end, moved there once."""
        return Placed(backend, self)


class Placed:
    """Scaled rows A on a back end, with zeros at gaps, for products with factors.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    scaled : ScaledRows
        The rows.
    """

    def __init__(self, backend: Backend, scaled: ScaledRows) -> None:
        (values, shift), is_sparse = scaled.filled, scaled.gaps.is_sparse
        self.backend, self.n_labels = backend, scaled.n_labels
        self.rows, self.shift = backend.indices(scaled.rows), backend.asarray(shift)
        self.values = backend.sparse(values) if is_sparse else backend.asarray(values)
        turned = backend.sparse(sp.csr_array(values.T)) if is_sparse else self.values.T
        self.turned = turned

    def product(self, U: Array) -> Array:
        """Compute A U.

        Parameters
        ----------
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        array of shape (labels, dim)
            The product; zero for labels without a value.
        """
        xp = self.backend.xp
        found = xp.zeros((self.n_labels, U.shape[1]), dtype=U.dtype, device=U.device)
        found[self.rows] = self.values @ U - xp.matmul(self.shift[None, :], U)
        return found

    def turned_product(self, W: Array) -> Array:
        """Compute Aᵀ W.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.

        Returns
        -------
        array of shape (columns, dim)
            The product.
        """
        xp = self.backend.xp
        own = xp.take(W, self.rows, axis=0)
        return self.turned @ own - self.shift[:, None] * xp.sum(own, axis=0)[None, :]
