"""Sums over pairs of rows y and columns z, in plain array operations.

The dense part of a logistic term has every row with every column:

    value_y = Σ_c mass_c softplus(y·z_c)        gradient_y = Σ_c mass_c σ(y·z_c) z_c

B has rank one, so each row multiplies this by one factor of its own. `DensePart` stores
numbers for all pairs of a small block. `KnownEntries` has each row with its own few
columns. Back ends with faster code have classes of their own with the same attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Array = Any

FEWEST_SAMPLED, MOST_SAMPLED, SAMPLED_SHARE = 1024, 2048, 1 / 16
"""Size of the sample of columns from which a Newton step takes the curvature.

A sixteenth of the columns within these bounds: more columns save few steps and cost
more time each.
"""


def n_sampled_columns(n_columns: int) -> int:
    """Size of the sample of columns from which the curvature is taken.

    Parameters
    ----------
    n_columns : int
        Columns of the context.

    Returns
    -------
    int
        All columns, if they are few.

    Examples
    --------
    >>> n_sampled_columns(500), n_sampled_columns(1_000_000)
    (500, 2048)
    """
    share = max(FEWEST_SAMPLED, int(SAMPLED_SHARE * n_columns))
    return min(n_columns, share, MOST_SAMPLED)


def rounding_noise(dtype: str) -> float:
    """Relative rounding error of a row's value.

    Parameters
    ----------
    dtype : str
        "float32" or "float64".

    Returns
    -------
    float
        Eight times the machine epsilon.
    """
    return 8 * float(np.finfo(dtype).eps)


@dataclass(frozen=True)
class Columns:
    """The other factor Z with the mass of its rows, prepared once for all blocks.

    Attributes
    ----------
    other : array
        Z, (columns, d).
    mass : array
        Mass of every column, (columns,).
    weighted : array
        Mass · Z, (columns, d).
    share : array
        Share of each column in the trace of Zᵀ diag(mass) Z, (columns,).
    fused : FusedColumns or None
        The same for the fused kernel, where a back end has one.
    """

    other: Array
    mass: Array
    weighted: Array
    share: Array
    fused: Any = None

    @classmethod
    def of(cls, xp: Any, other: Array, mass: Array) -> Columns:
        """Prepare a factor and its masses.

        Parameters
        ----------
        xp : module
            The array-API namespace.
        other : array
            Z, (columns, d).
        mass : array
            Mass of every column, (columns,).

        Returns
        -------
        Columns
            Without the parts that only some back ends need.
        """
        trace = mass * xp.sum(other * other, axis=1)
        tiny = float(xp.finfo(other.dtype).smallest_normal)  # a factor may be zero
        share = trace / xp.clip(xp.sum(trace), min=tiny)
        return cls(other, mass, other * mass[:, None], share)


Probe = tuple[Array, Columns]
"""Positions of a sample of the columns, and these columns with what each represents."""


class DensePart:
    """The dense part at a block of rows.

    Parameters
    ----------
    backend : Backend
        Supplies the array operations.
    y : array
        Rows, (r, d).
    columns : Columns
        The prepared other factor.

    Attributes
    ----------
    value : array
        The value, (r,).
    gradient : array
        The gradient, (r, d).
    spread : array
        Σ_c share_c σ(1 − σ), the curvature relative to the Gram matrix's: (r,).
    """

    def __init__(self, backend: Any, y: Array, columns: Columns) -> None:
        self.backend, self.columns = backend, columns
        matmul = backend.xp.matmul
        self.sigmoid, softplus = backend.logistic(matmul(y, columns.other.T))
        self.value = matmul(softplus, columns.mass)
        self.gradient = matmul(self.sigmoid, columns.weighted)
        self.spread = matmul(self.sigmoid * (1 - self.sigmoid), columns.share)

    def value_at(self, y: Array) -> Array:
        """Compute the value alone at other rows.

        Parameters
        ----------
        y : array
            Rows, (r, d).

        Returns
        -------
        array
            Their values, (r,).
        """
        columns, matmul = self.columns, self.backend.xp.matmul
        x = matmul(y, columns.other.T)
        return matmul(self.backend.softplus(x), columns.mass)

    def curvature(self, probe: Probe | None = None) -> Callable[[Array], Array]:
        """Prepare products with the curvature.

        Parameters
        ----------
        probe : tuple, optional
            Positions of a sample of the columns, and these columns with the mass that
            each represents. By default all columns are used.

        Returns
        -------
        callable
            Multiplies every row of an array of shape (r, d) by its own curvature.
        """
        xp, sigmoid, columns = self.backend.xp, self.sigmoid, self.columns
        if probe is not None:
            at, columns = probe
            sigmoid = xp.take(sigmoid, at, axis=1)
        bend = sigmoid * (1 - sigmoid)

        def product(z: Array) -> Array:
            return xp.matmul(xp.matmul(z, columns.other.T) * bend, columns.weighted)

        return product


class KnownEntries:
    """Rows z_c of the other factor at the known columns c of every row, gathered once.

    Parameters
    ----------
    xp : module
        The array-API namespace.
    columns : array
        Positions of the known columns, (rows, width).
    other : array
        Z, (columns, d).
    """

    def __init__(self, xp: Any, columns: Array, other: Array) -> None:
        self.xp, self.columns, self.other = xp, columns, other

    @cached_property
    def gathered(self) -> Array:
        """z_c for every known column: (rows, width, d)."""
        flat = self.xp.take(self.other, self.xp.reshape(self.columns, (-1,)), axis=0)
        return self.xp.reshape(flat, (*self.columns.shape, self.other.shape[1]))

    def take(self, rows: Array | slice) -> KnownEntries:
        """Select rows.

        Parameters
        ----------
        rows : array of int, or slice
            Their positions.

        Returns
        -------
        KnownEntries
            The entries of these rows; all of them for a slice.
        """
        if isinstance(rows, slice):
            return self
        return type(self)(self.xp, self.columns[rows], self.other)

    def dots(self, y: Array) -> Array:
        """Compute y·z_c for every known column.

        Parameters
        ----------
        y : array
            (rows, d).

        Returns
        -------
        array
            (rows, width).
        """
        return self.xp.matmul(self.gathered, y[:, :, None])[:, :, 0]

    def sums(self, weights: Array) -> Array:
        """Compute Σ_c weight_c z_c for every row.

        Parameters
        ----------
        weights : array
            (rows, width).

        Returns
        -------
        array
            (rows, d).
        """
        return self.xp.matmul(weights[:, None, :], self.gathered)[:, 0]

    def bent(self, weights: Array, y: Array) -> Array:
        """Compute Σ_c weight_c (y·z_c) z_c for every row.

        Parameters
        ----------
        weights : array
            (rows, width).
        y : array
            (rows, d).

        Returns
        -------
        array
            (rows, d).
        """
        dots = self.xp.matmul(self.gathered, y[:, :, None])[:, :, 0]
        return self.xp.matmul((weights * dots)[:, None, :], self.gathered)[:, 0]
