"""Rows without gaps, centred and scaled, for products with factors.

Dense rows are one array. Sparse rows stay sparse: the mean is subtracted from products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.backends.protocol import Array, Backend


class FullRows(ABC):
    """Centred and scaled rows without missing values, for products with factors."""

    @property
    @abstractmethod
    def arrays(self) -> list[Any]:
        """All numbers, for a fingerprint."""

    @abstractmethod
    def take(self, rows: Ints) -> FullRows:
        """Return some of the rows.

        Parameters
        ----------
        rows : array of int
            Positions of the rows.

        Returns
        -------
        FullRows
            These rows, in this order.
        """

    @abstractmethod
    def minus(self, shift: Floats) -> FullRows:
        """Subtract a number from each column.

        Parameters
        ----------
        shift : array of shape (columns,)
            The numbers.

        Returns
        -------
        FullRows
            The rows after that.
        """

    @abstractmethod
    def sums(self) -> Floats:
        """Compute the sum of each column."""

    @abstractmethod
    def toarray(self) -> Floats:
        """Return all values as one array.

        Returns
        -------
        array of shape (rows, columns)
            The values.
        """

    @abstractmethod
    def energy(self) -> Floats:
        """Compute the squared length of each row.

        Returns
        -------
        array of shape (rows,)
            The squared lengths.
        """

    @abstractmethod
    def squared_error(self, W: AnyFloats, U: AnyFloats) -> float:
        """Compute ‖A − W Uᵀ‖² in double precision, without making A dense.

        Parameters
        ----------
        W : array of shape (rows, dim)
            Vectors of the rows.
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        float
            The squared error.
        """

    @abstractmethod
    def place(self, backend: Backend) -> PlacedRows:
        """Move the rows to a back end.

        Parameters
        ----------
        backend : Backend
            Where to compute.

        Returns
        -------
        PlacedRows
            Products with the rows.
        """


class PlacedRows(Protocol):
    """Full rows A on a back end."""

    def product(self, U: Array) -> Array:
        """A U: (rows, d).

        Parameters
        ----------
        U : array of shape (columns, d)
            The other factor.

        Returns
        -------
        array
            Of shape (rows, d).
        """

    def transposed_product(self, W: Array) -> Array:
        """Aᵀ W: (columns, d).

        Parameters
        ----------
        W : array of shape (rows, d)
            Vectors of these rows.

        Returns
        -------
        array
            Of shape (columns, d).
        """


@dataclass(frozen=True, eq=False)
class DenseRows(FullRows):
    """Rows stored as one array.

    Attributes
    ----------
    values : array of shape (rows, columns)
        The values.
    """

    values: Floats

    @property
    def arrays(self) -> list[Any]:
        return [self.values, np.zeros(self.values.shape[1])]

    def take(self, rows: Ints) -> FullRows:
        return DenseRows(self.values[rows])

    def minus(self, shift: Floats) -> FullRows:
        return DenseRows(self.values - shift)

    def sums(self) -> Floats:
        return np.asarray(self.values.sum(axis=0))

    def toarray(self) -> Floats:
        return self.values

    def energy(self) -> Floats:
        return np.asarray((self.values**2).sum(axis=1))

    def squared_error(self, W: AnyFloats, U: AnyFloats) -> float:
        return float(((self.values - W @ U.T) ** 2).sum())

    def place(self, backend: Backend) -> PlacedRows:
        return _PlacedDense(backend.xp, backend.asarray(self.values))


@dataclass(frozen=True)
class _PlacedDense:
    xp: Any
    values: Array

    def product(self, U: Array) -> Array:
        return self.xp.matmul(self.values, U)

    def transposed_product(self, W: Array) -> Array:
        return self.xp.matmul(self.values.T, W)


@dataclass(frozen=True, eq=False)
class SparseRows(FullRows):
    """Sparse rows that stay sparse: A is `values` minus `shift` in every row.

    Attributes
    ----------
    values : sparse array of shape (rows, columns)
        Scaled values.
    shift : array of shape (columns,)
        Scaled means.
    """

    values: sp.csr_array
    shift: Floats

    @property
    def arrays(self) -> list[Any]:
        return [self.values, self.shift]

    def take(self, rows: Ints) -> FullRows:
        return SparseRows(self.values[rows], self.shift)

    def minus(self, shift: Floats) -> FullRows:
        return SparseRows(self.values, self.shift + shift)

    def sums(self) -> Floats:
        return np.asarray(self.values.sum(axis=0) - self.values.shape[0] * self.shift)

    def toarray(self) -> Floats:
        return np.asarray(self.values.toarray() - self.shift)

    def energy(self) -> Floats:
        squares = np.asarray(self.values.multiply(self.values).sum(axis=1)).ravel()
        cross = self.values @ self.shift
        return np.asarray(squares - 2 * cross + self.shift @ self.shift)

    def squared_error(self, W: AnyFloats, U: AnyFloats) -> float:
        # ‖A‖² − 2⟨A, WUᵀ⟩ + ⟨WᵀW, UᵀU⟩
        AU = self.values @ U - self.shift @ U
        cross = float((AU * W).sum())
        return float(self.energy().sum() - 2 * cross + ((W.T @ W) * (U.T @ U)).sum())

    def place(self, backend: Backend) -> PlacedRows:
        return _PlacedSparse(
            backend,
            backend.sparse(self.values),
            backend.sparse(sp.csr_array(self.values.T)),
            backend.asarray(self.shift),
        )


@dataclass(frozen=True)
class _PlacedSparse:
    backend: Backend
    values: Any
    transposed: Any
    shift: Array

    def product(self, U: Array) -> Array:
        shifted = self.backend.xp.matmul(self.shift[None, :], U)
        return self.backend.sparse_product(self.values, U) - shifted

    def transposed_product(self, W: Array) -> Array:
        total = self.backend.xp.sum(W, axis=0)
        found = self.backend.sparse_product(self.transposed, W)
        return found - self.shift[:, None] * total[None, :]
