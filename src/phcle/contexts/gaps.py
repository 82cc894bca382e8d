"""One matrix with unknown cells, from the user's table to the solver and to files.

`Gaps` holds the numbers in the user's units. `ScaledRows` are its rows at their places
among the labels of a problem, centred and scaled; `Placed` are these on a back end.

With zeros at gaps, A U and Aᵀ W need no mask. Only sums of squares do: they are taken
over all cells less the gaps, or over the known cells, whichever are fewer in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.backends.protocol import Array, Backend
from phcle.contexts.labels import index_of, positions_of
from phcle.contexts.matrices import LARGEST, as_csr, take_columns, take_rows
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
        The numbers. In a dense array, NaN is a gap. In a sparse one, what is not stored
        is zero.
    listed : csr_array of shape (rows, columns), or None
        Sparse only: ones in the known cells, or in the gaps; None if there is no gap.
    lists_gaps : bool
        Which of them `listed` has. Values at gaps are not stored.
    """

    values: Any
    listed: sp.csr_array | None = None
    lists_gaps: bool = False

    @classmethod
    def of(cls, values: Any, observed: Any, name: str) -> Gaps:
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
        Gaps
            The matrix.
        """
        if isinstance(values, Gaps):
            return values
        if not sp.issparse(values):
            if observed is not None:
                raise ContextError(
                    f"context {name!r}: in dense values NaN is a missing value; "
                    "observed= is for sparse values."
                )
            return cls(np.asarray(values, dtype=np.float64))
        values = as_csr(values, name)
        if observed is None:
            return cls(values)
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
        return cls(values, mask)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_rows, n_columns = self.values.shape
        return int(n_rows), int(n_columns)

    @property
    def is_sparse(self) -> bool:
        """Whether values are stored sparsely."""
        return bool(sp.issparse(self.values))

    @cached_property
    def known(self) -> Flags:
        """Which cells are known, as a dense array of shape (rows, columns)."""
        if not self.is_sparse:
            return np.asarray(~np.isnan(self.values))
        if self.listed is None:
            return np.ones(self.shape, dtype=bool)
        return np.asarray((self.listed.toarray() > 0) ^ self.lists_gaps)

    def n_known_along(self, axis: int) -> Floats:
        """Count the known cells of every column (axis 0) or row (axis 1).

        Parameters
        ----------
        axis : int
            What to sum over.

        Returns
        -------
        array
            The counts.
        """
        if not self.is_sparse:
            n_gaps = np.isnan(self.values).sum(axis=axis, dtype=np.float64)
            return np.asarray(self.shape[axis] - n_gaps)
        n = np.full(self.shape[1 - axis], float(self.shape[axis]))
        if self.listed is None:
            return n
        listed = np.asarray(self.listed.sum(axis=axis), np.float64).ravel()
        return n - listed if self.lists_gaps else listed

    @cached_property
    def n_known(self) -> int:
        """Number of known cells."""
        return int(self.n_known_along(0).sum())

    @property
    def is_complete(self) -> bool:
        """Whether every cell is known."""
        return self.n_known == self.shape[0] * self.shape[1]

    @property
    def arrays(self) -> tuple[Any, sp.csr_array | None]:
        """Values and mask as the user gives them; dense values have no mask."""
        if self.lists_gaps:
            return self.values, sp.csr_array(self.known.astype(np.float64))
        return self.values, self.listed

    @property
    def known_rows(self) -> Flags:
        """Rows with at least one known value."""
        return np.asarray(self.n_known_along(1) > 0)

    def _each(self, change: Callable[[Any], Any]) -> Gaps:
        """Change both sparse parts in the same way."""
        listed = None if self.listed is None else change(self.listed)
        return replace(self, values=change(self.values), listed=listed)

    def take(self, rows: Sequence[int] | Ints) -> Gaps:
        """Return some of the rows.

        Parameters
        ----------
        rows : sequence of int
            Positions of the rows.

        Returns
        -------
        Gaps
            These rows, in this order.
        """
        if not self.is_sparse:
            return Gaps(self.values[np.asarray(rows, dtype=np.int64)])
        return self._each(lambda part: take_rows(part, rows))

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
        if (at < 0).any():
            return self._each(lambda part: take_columns(part, at))
        return self._by_column._each(lambda part: sp.csr_array(part[:, at]))

    def stacked(self, below: Gaps) -> Gaps:
        """Append the rows of another matrix.

        Parameters
        ----------
        below : Gaps
            A matrix with the same columns, in any layout.

        Returns
        -------
        Gaps
            The rows of both.
        """
        both = (self, below)
        if not any(x.is_sparse for x in both):
            return Gaps(np.vstack([self.values, below.values]))
        values = sp.vstack([sp.csr_array(np.nan_to_num(x.arrays[0])) for x in both])
        if all(x.is_complete for x in both):
            return Gaps(sp.csr_array(values))
        masks = [x.arrays[1] for x in both]
        known = [
            sp.csr_array(x.known.astype(np.float64)) if mask is None else mask
            for x, mask in zip(both, masks, strict=True)
        ]
        return Gaps(sp.csr_array(values), sp.csr_array(sp.vstack(known)))

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
        return self._line(i) if self.is_sparse else np.array(self.values[i])

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
        if not self.is_sparse:
            return np.array(self.values[:, i])
        return self._by_column._line(i)

    @cached_property
    def _by_column(self) -> Gaps:
        """Sparse parts by column, so that one is found without a look at all cells."""
        return self._each(sp.csc_array)

    def _line(self, i: int) -> Floats:
        """A row of rows, or a column of columns, with NaN at gaps."""
        found = _dense_line(self.values, i)
        if self.listed is None:
            return found
        is_known = (_dense_line(self.listed, i) > 0) ^ self.lists_gaps
        return np.where(is_known, found, np.nan)

    def toarray(self) -> Floats:
        """Return all values as one array; NaN is missing.

        Returns
        -------
        array of shape (rows, columns)
            The values.
        """
        if not self.is_sparse:
            return np.asarray(self.values)
        return np.where(self.known, self.values.toarray(), np.nan)

    def known_cells(self) -> tuple[Ints, Ints]:
        """Return the positions of all known cells.

        Returns
        -------
        rows, columns : arrays of int
            Positions of their rows and columns.
        """
        if self.is_sparse and self.listed is not None and not self.lists_gaps:
            rows, columns = self.listed.nonzero()
            return rows.astype(np.int64), columns.astype(np.int64)
        at, places = np.nonzero(self.known)
        return at, places

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
        if not len(rows):  # SciPy then returns a sparse matrix
            return np.zeros(0)
        return np.asarray(self.values[rows, columns], np.float64).ravel()

    def without(self, rows: Ints, columns: Ints) -> Gaps:
        """Return the matrix with more gaps.

        Parameters
        ----------
        rows, columns : arrays of int
            Positions of known cells.

        Returns
        -------
        Gaps
            The matrix without these cells.
        """
        if not self.is_sparse:
            values = self.values.copy()
            values[rows, columns] = np.nan
            return Gaps(values)
        cells = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=self.shape)
        values = sp.csr_array(self.values - self.values * cells)
        values.eliminate_zeros()
        if self.listed is None:
            return Gaps(values, cells, lists_gaps=True)
        sign = 1 if self.lists_gaps else -1
        listed = sp.csr_array(self.listed + sign * cells)
        listed.eliminate_zeros()
        return replace(self, values=values, listed=listed)

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
        if self.is_sparse:
            return np.zeros_like(mean)
        return np.where(self.is_truth(), 0.5, mean)  # if all are ones, all have it

    def largest(self) -> Floats:
        """Return the largest known value of each column.

        Returns
        -------
        array of shape (columns,)
            The values; −inf for a column without known values.
        """
        if self.is_sparse:
            return np.asarray(self.values.max(axis=0).toarray(), np.float64).ravel()
        known = np.where(self.known, self.values, -np.inf)
        return np.asarray(known.max(axis=0, initial=-np.inf))

    def is_truth(self) -> Flags:
        """Find the columns whose known values are all 0 or 1.

        Returns
        -------
        array of bool of shape (columns,)
            The columns; a dense column without known values is none of them.
        """
        if self.is_sparse:
            stored = sp.coo_array(self.values)
            others = stored.coords[1][(stored.data != 0) & (stored.data != 1)]
            return np.asarray(np.bincount(others, minlength=self.shape[1]) == 0)
        known = self.known
        found = ((self.values == 0) | (self.values == 1) | ~known).all(axis=0)
        return np.asarray(found & known.any(axis=0))

    def moments(self) -> Moments:
        """Compute count, mean and squared deviation of each column without overflow.

        Returns
        -------
        Moments
            The statistics. Columns that deviate by rounding alone count as constant.
        """
        unit = _unit_of(self.values.data if self.is_sparse else self.values)
        count = self.n_known_along(0)
        if self.is_sparse:
            values, n_columns = sp.csr_array(self.values / unit), self.shape[1]
            mean = np.asarray(values.sum(axis=0)).ravel() / np.maximum(count, 1)
            at = values.indices
            stored = (values.data - mean[at]) ** 2
            n_stored = np.bincount(at, minlength=n_columns)
            squares = (count - n_stored) * mean**2
            squares = squares + np.bincount(at, weights=stored, minlength=n_columns)
        else:
            values, known = self.values / unit, self.known
            mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
            # The mean of equal values may be rounded; their deviation must be zero.
            low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
            high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
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

    def with_logs(self, log_shift: Floats) -> Gaps:
        """Return the matrix with logarithms in some columns.

        Parameters
        ----------
        log_shift : array of shape (columns,)
            What is added to the values of a column before their logarithm, which must
            be above zero; NaN leaves a column as it is.

        Returns
        -------
        Gaps
            The new matrix, or this one if no column is chosen.
        """
        if np.isnan(log_shift).all():
            return self
        values = self.toarray() if self.is_sparse else self.values
        return Gaps(logs_of(values, log_shift))

    def wrong_cell(self) -> tuple[int, int, float] | None:
        """Find the first value that is infinite or too large.

        Returns
        -------
        tuple of (int, int, float), or None
            Its row, column and value; None if there is none.
        """
        stored = self.values.data if self.is_sparse else self.values
        wrong = np.abs(stored) > LARGEST  # false for NaN
        if self.is_sparse:
            wrong |= np.isnan(stored)
        if not wrong.any():
            return None
        first = int(np.argmax(wrong))
        places = np.unravel_index(first, stored.shape)
        if self.is_sparse:
            places = tuple(axis[first] for axis in sp.coo_array(self.values).coords)
        return int(places[0]), int(places[1]), float(stored.ravel()[first])

    def pack(self, store: TensorStore) -> str:
        """Put the matrix into the store of a file.

        Parameters
        ----------
        store : TensorStore
            Where to.

        Returns
        -------
        str
            The layout, which `unpack_gaps` needs.
        """
        if not self.is_sparse:
            store["values"] = self.values
            return "dense"
        values, mask = self.arrays
        store.put_sparse("values", values)
        if mask is None:
            return "sparse"
        store.put_sparse("observed", mask)
        return "masked"


def unpack_gaps(layout: str, store: TensorStore, n_columns: int) -> tuple[Any, Any]:
    """Return the values and the mask that `Gaps.pack` stored, without checks.

    Parameters
    ----------
    layout : str
        What `Gaps.pack` returned.
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


def _dense_line(matrix: sp.csr_array | sp.csc_array, i: int) -> Floats:
    """Row i, or column i if columns are stored together; SciPy takes far longer."""
    found = np.zeros(matrix.shape[1] if matrix.format == "csr" else matrix.shape[0])
    own = slice(matrix.indptr[i], matrix.indptr[i + 1])
    np.add.at(found, matrix.indices[own], matrix.data[own])
    return found


def _unit_of(stored: Floats) -> float:
    """What to divide values by, so that they can be squared: a power of two, or 1."""
    largest = float(np.nanmax(np.abs(stored), initial=0.0))
    if 0 < largest < SMALLEST:
        return float(2.0 ** np.floor(np.log2(largest)))
    return 1.0


def logs_of(values: Floats, log_shift: Floats) -> Floats:
    """Take the logarithms of some columns.

    Parameters
    ----------
    values : array of shape (..., columns)
        Numbers; NaN is missing.
    log_shift : array of shape (columns,)
        What is added before the logarithm; NaN leaves a column as it is.

    Returns
    -------
    array of the same shape
        The numbers, with logarithms in these columns.

    Examples
    --------
    >>> logs_of(np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, np.nan]))
    array([0., 0., 1.])
    """
    result = np.array(values, dtype=np.float64)
    is_log = ~np.isnan(log_shift)
    shifted = result[..., is_log] + log_shift[is_log]
    result[..., is_log] = np.log(np.maximum(shifted, np.finfo(np.float64).tiny))
    return result


def without_logs(values: Floats, log_shift: Floats) -> Floats:
    """Turn logarithms back into the user's numbers.

    Parameters
    ----------
    values : array of shape (..., columns)
        What `logs_of` returns; NaN is missing.
    log_shift : array of shape (columns,)
        What was added before the logarithm; NaN leaves a column as it is.

    Returns
    -------
    array of the same shape
        The numbers.

    Examples
    --------
    >>> without_logs(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, np.nan]))
    array([1., 0., 1.])
    """
    result = np.array(values, dtype=np.float64)
    is_log = ~np.isnan(log_shift)
    with np.errstate(over="ignore"):
        result[..., is_log] = np.exp(result[..., is_log]) - log_shift[is_log]
    return result


@dataclass(frozen=True, eq=False)
class Marked:
    """For each line, a row or a column, its known cells, or its gaps if they are fewer.

    Attributes
    ----------
    cells : csr_array of shape (lines, across)
        Ones in the marked cells.
    by_gaps : array of bool of shape (lines,)
        Whether the marked cells of a line are gaps.
    """

    cells: sp.csr_array
    by_gaps: Flags


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

    @classmethod
    def over(
        cls,
        labels: Sequence[str],
        own_labels: Sequence[str],
        gaps: Gaps,
        offset: Floats,
        scale: Floats,
    ) -> Self:
        """Arrange the rows of a context by the labels of a problem.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.
        own_labels : sequence of str
            Labels of the rows; all are labels of the problem.
        gaps : Gaps
            Their values.
        offset, scale : arrays of shape (columns,)
            What is subtracted, and what is divided by.

        Returns
        -------
        ScaledRows
            The rows, without those of which nothing is known.
        """
        rows, varies = positions_of(own_labels, index_of(labels)), gaps.moments().varies
        order = np.argsort(rows)
        order = order[gaps.known_rows[order]]
        if len(order) < len(rows) or (np.diff(order) < 0).any():
            gaps, rows = gaps.take(order), rows[order]
        return cls(gaps, rows, len(labels), offset, scale, varies)

    @property
    def observed(self) -> Flags:
        """Whether each label has a known value: (labels,)."""
        return np.asarray(self._at_labels(self.gaps.known_rows))

    def _at_labels(self, own: np.ndarray[Any, Any]) -> Any:
        """Something for each row, at the places of their labels; zero elsewhere."""
        found = np.zeros(self.n_labels, dtype=own.dtype)
        found[self.rows] = own
        return found

    def known_in(self, columns: Flags) -> Flags:
        """Find the labels with a known value in some columns.

        Parameters
        ----------
        columns : array of bool of shape (columns,)
            The columns.

        Returns
        -------
        array of bool of shape (labels,)
            The labels.
        """
        if not columns.any():
            return np.zeros(self.n_labels, dtype=bool)
        own = self.gaps.on_columns(np.flatnonzero(columns))
        return np.asarray(self._at_labels(own.known_rows))

    def __getitem__(self, rows: Ints) -> Self:
        """The rows of some labels, in this order."""
        at = np.full(self.n_labels, -1)
        at[rows] = np.arange(len(rows))
        kept = np.flatnonzero(at[self.rows] >= 0)
        kept = kept[np.argsort(at[self.rows[kept]])]
        gaps, own = self.gaps.take(kept), at[self.rows[kept]]
        return replace(self, gaps=gaps, rows=own, n_labels=len(rows))

    def without(self, rows: Ints, columns: Ints) -> Self:
        """Return the values without some cells.

        Parameters
        ----------
        rows, columns : arrays of int
            Positions of known cells among the labels.

        Returns
        -------
        ScaledRows
            The other values, around their own means.
        """
        return self._centred(
            self.gaps.without(np.searchsorted(self.rows, rows), columns)
        )

    def without_rows(self, rows: Ints) -> Self:
        """Return the values as if nothing were known about some labels.

        Parameters
        ----------
        rows : array of int
            Positions of the labels.

        Returns
        -------
        ScaledRows
            Values over the same labels, around their own means.
        """
        kept = np.flatnonzero(~np.isin(self.rows, rows))
        return replace(self, rows=self.rows[kept])._centred(self.gaps.take(kept))

    def _centred(self, gaps: Gaps) -> Self:
        """Fewer values around their means, on the same scale.

        A mean that includes a hidden cell would tell on which side of it the cell is:
        what is left would lie on the other side, and predictions with it.
        """
        found = gaps.moments()
        offset = np.where(found.count > 0, found.mean, self.offset)
        return replace(self, gaps=gaps, offset=offset)

    @cached_property
    def filled(self) -> tuple[Any, Floats | None]:
        """The scaled rows A with zeros at gaps: `values` less `shift` in every row."""
        gaps, scale = self.gaps, self.scale
        if not gaps.is_sparse:
            return np.nan_to_num((gaps.values - self.offset) / scale, nan=0.0), None
        values = sp.csr_array(gaps.values.multiply(1 / scale))
        shift = self.offset / scale
        if gaps.listed is None:
            return values, shift
        at = sp.coo_array(gaps.listed).coords
        shifts: Any = shift[at[1]]
        cells = sp.csr_array((shifts, at), shape=gaps.shape)
        if gaps.lists_gaps:
            return sp.csr_array(values + cells), shift
        return sp.csr_array(values - cells), None  # known zeros are centred, too

    @property
    def arrays(self) -> list[Any]:
        """All numbers, for a fingerprint: complete rows, then other known cells."""
        gaps, shape = self.gaps, (self.n_labels, self.gaps.shape[1])
        if gaps.is_sparse and gaps.listed is None:
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
        if shift is not None:
            squares = squares - 2 * (values @ shift) + shift @ shift
        return np.asarray(self._at_labels(squares))

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
        return self._marked(1)

    @cached_property
    def by_column(self) -> Marked:
        """Marked cells of every column, among the labels with values."""
        return self._marked(0)

    def _marked(self, axis: int) -> Marked:
        gaps, n_columns = self.gaps, self.gaps.shape[1]
        if gaps.is_sparse:
            by_gaps = np.full(
                gaps.shape[1 - axis], gaps.listed is None or gaps.lists_gaps
            )
            at, columns = (
                (np.zeros(0, dtype=np.int64),) * 2
                if gaps.listed is None
                else sp.coo_array(gaps.listed).coords
            )
        else:
            by_gaps = 2 * gaps.n_known_along(axis) > gaps.shape[axis]
            is_gap = by_gaps[:, None] if axis else by_gaps[None, :]
            at, columns = np.nonzero(gaps.known ^ is_gap)
        rows, ones = self.rows[at], np.ones(len(at))
        if axis:
            cells = sp.csr_array((ones, (rows, columns)), (self.n_labels, n_columns))
            return Marked(cells, self._at_labels(by_gaps))
        cells = sp.csr_array((ones, (columns, rows)), (n_columns, self.n_labels))
        return Marked(cells, by_gaps)

    def loss(self, W: AnyFloats, U: AnyFloats) -> float:
        """Compute ½ ‖ I ⊙ (A − W Uᵀ) ‖² in double precision, as a reference.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        float
            The loss.
        """
        W, U = np.asarray(W, np.float64)[self.rows], np.asarray(U, np.float64)
        values, shift = self.filled
        if not self.gaps.is_sparse:
            return 0.5 * float((((values - W @ U.T) * self.gaps.known) ** 2).sum())
        # ‖A‖² − 2⟨A, WUᵀ⟩ + Σ x² over the known cells
        AU = values @ U - (0 if shift is None else shift @ U)
        squares = 0.0
        if self.gaps.listed is not None:
            rows, columns = sp.coo_array(self.gaps.listed).coords
            squares = float((np.einsum("ij,ij->i", W[rows], U[columns]) ** 2).sum())
        if self.gaps.listed is None or self.gaps.lists_gaps:
            squares = float(((W.T @ W) * (U.T @ U)).sum()) - squares
        return 0.5 * float(self.energy.sum() - 2 * (AU * W).sum() + squares)

    @cached_property
    def _placed(self) -> dict[tuple[str, str], Placed]:
        return {}

    def placed(self, backend: Backend) -> Placed:
        """Return the rows on a back end, moved there once.

        Parameters
        ----------
        backend : Backend
            Where to compute.

        Returns
        -------
        Placed
            The rows there.
        """
        key = (f"{backend.name} {getattr(backend, 'device', 'cpu')}", backend.dtype)
        if key not in self._placed:
            self._placed[key] = Placed(backend, self)
        return self._placed[key]


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
        values, shift = scaled.filled
        self.backend, self.n_labels = backend, scaled.n_labels
        self.rows, self.shift = backend.indices(scaled.rows), None
        if shift is not None:
            self.shift = backend.asarray(shift)
        self.is_sparse = bool(sp.issparse(values))
        if self.is_sparse:
            self.values = backend.sparse(values)
            self.turned = backend.sparse(sp.csr_array(values.T))
        else:
            self.values = backend.asarray(values)

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
        own = self.values @ U
        if self.shift is not None:
            own = own - xp.matmul(self.shift[None, :], U)
        found[self.rows] = own
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
        if not self.is_sparse:
            return xp.matmul(self.values.T, own)
        found = self.turned @ own
        if self.shift is None:
            return found
        return found - self.shift[:, None] * xp.sum(own, axis=0)[None, :]
