"""What a matrix with missing values offers, in either layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.full_rows import FullRows
from phcle.files.container import TensorStore

if TYPE_CHECKING:
    from phcle.contexts.masked.sparse_values import SparseValues


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


def unit_of(stored: Floats) -> float:
    """Return what to divide values by, so that they can be squared.

    Parameters
    ----------
    stored : array
        Values; NaN is missing.

    Returns
    -------
    float
        A power of two for values too small to be squared; otherwise 1.
    """
    largest = float(np.nanmax(np.abs(stored), initial=0.0))
    if 0 < largest < SMALLEST:
        return float(2.0 ** np.floor(np.log2(largest)))
    return 1.0


def moments_of_scaled(
    count: Floats, mean: Floats, squares: Floats, unit: float
) -> Moments:
    """Return the statistics of values that were divided by a unit.

    Parameters
    ----------
    count : array of shape (columns,)
        Number of known values.
    mean : array of shape (columns,)
        Mean of the divided values.
    squares : array of shape (columns,)
        Sum of their squared deviations from the mean.
    unit : float
        What the values were divided by.

    Returns
    -------
    Moments
        The statistics. Columns that deviate by rounding alone count as constant.
    """
    # Constant columns have a small deviation from rounding: set it to zero.
    rounding = np.finfo(np.float64).eps * mean
    squares[squares <= count * rounding**2] = 0.0
    return Moments(count, mean * unit, squares, unit)


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
    def _as_sparse(self) -> SparseValues:
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

    def with_logs(self, log_shift: Floats) -> MaskedMatrix:
        """Return the matrix with logarithms in some columns.

        Parameters
        ----------
        log_shift : array of shape (columns,)
            What is added to the values of a column before their logarithm, which must
            be above zero; NaN leaves a column as it is.

        Returns
        -------
        MaskedMatrix
            The new matrix, or this one if no column is chosen.
        """
        from phcle.contexts.masked.dense_values import DenseValues  # imports this one

        if np.isnan(log_shift).all():
            return self
        values = np.array([self.row(i) for i in range(self.shape[0])])
        return DenseValues(logs_of(values.reshape(self.shape), log_shift))

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
