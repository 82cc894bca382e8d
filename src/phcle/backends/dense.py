"""The dense part of a logistic term: every row with every column.

    value_y = Σ_c mass_c softplus(y·z_c)        gradient_y = Σ_c mass_c σ(y·z_c) z_c

B has rank one, so each row multiplies this by one factor of its own. `TilePart` is the
plain version for any array library: it stores the products x = Y Zᵀ of a small block.
Back ends with faster code have classes of their own with the same attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

Array = Any

FEWEST_SAMPLED, MOST_SAMPLED, SAMPLED_SHARE = 1024, 2048, 1 / 16
"""Size of the sample of columns from which a Newton step takes the curvature.

A sixteenth of the columns within these bounds: more columns save few steps and cost
more time each.
"""

LineValue = Callable[[Array, Any], Array]
"""Values at y + step × direction from (step, chosen rows): (chosen,)."""


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


class DenseCurvature(Protocol):
    """The curvature of the dense part at a block of rows."""

    def product(self, z: Array) -> Array:
        """Multiply by the curvature, row by row.

        Parameters
        ----------
        z : array
            (r, d).

        Returns
        -------
        array
            (r, d).
        """


class DensePart(DenseCurvature, Protocol):
    """The dense part at a block of rows."""

    @property
    def value(self) -> Array:
        """The value: (r,)."""

    @property
    def gradient(self) -> Array:
        """The gradient: (r, d)."""

    @property
    def spread(self) -> Array:
        """Σ_c share_c σ(1 − σ), the curvature relative to the Gram matrix's: (r,)."""

    def curvature_at(self, at: Array, columns: Columns) -> DenseCurvature:
        """Estimate the curvature at the same rows from a sample of the columns.

        Parameters
        ----------
        at : array of int
            Positions of the sampled columns.
        columns : Columns
            These columns, with the mass that each represents.

        Returns
        -------
        DenseCurvature
            Products with the curvature.
        """

    def along(self, direction: Array) -> LineValue:
        """Prepare the value along one direction from each row.

        Parameters
        ----------
        direction : array
            (r, d).

        Returns
        -------
        callable
            Takes steps and the rows that take them; see `LineValue`.
        """


class TileCurvature:
    """The curvature in plain array operations.

    Parameters
    ----------
    xp : module
        The array-API namespace.
    bend : array
        σ(1 − σ) of every pair, (r, columns).
    columns : Columns
        The prepared other factor.
    """

    def __init__(self, xp: Any, bend: Array, columns: Columns) -> None:
        self.xp, self.bend, self.columns = xp, bend, columns

    def product(self, z: Array) -> Array:
        """Multiply by the curvature, row by row.

        Parameters
        ----------
        z : array
            (r, d).

        Returns
        -------
        array
            (r, d).
        """
        bent = self.xp.matmul(z, self.columns.other.T) * self.bend
        return self.xp.matmul(bent, self.columns.weighted)


class TilePart:
    """The dense part in plain array operations; stores (r, columns) numbers.

    Parameters
    ----------
    backend : Backend
        Supplies the array operations.
    y : array
        Rows, (r, d).
    columns : Columns
        The prepared other factor.
    """

    def __init__(self, backend: Any, y: Array, columns: Columns) -> None:
        self.backend, self.columns = backend, columns
        self.x = backend.xp.matmul(y, columns.other.T)
        self.sigmoid, self.value, self.spread = backend.tile_sums(self.x, columns)

    @cached_property
    def gradient(self) -> Array:
        """The gradient, which products with the curvature do not need: (r, d)."""
        return self.backend.xp.matmul(self.sigmoid, self.columns.weighted)

    @cached_property
    def bend(self) -> Array:
        """σ(1 − σ) of every pair: (r, columns)."""
        return self.sigmoid * (1 - self.sigmoid)

    def product(self, z: Array) -> Array:
        """Multiply by the curvature, row by row.

        Parameters
        ----------
        z : array
            (r, d).

        Returns
        -------
        array
            (r, d).
        """
        return TileCurvature(self.backend.xp, self.bend, self.columns).product(z)

    def curvature_at(self, at: Array, columns: Columns) -> DenseCurvature:
        """Estimate the curvature at the same rows from a sample of the columns.

        Parameters
        ----------
        at : array of int
            Positions of the sampled columns.
        columns : Columns
            These columns, with the mass that each represents.

        Returns
        -------
        DenseCurvature
            Products with the curvature.
        """
        sigmoid = self.backend.xp.take(self.sigmoid, at, axis=1)
        return TileCurvature(self.backend.xp, sigmoid * (1 - sigmoid), columns)

    def along(self, direction: Array) -> LineValue:
        """Prepare the value along one direction from each row.

        Parameters
        ----------
        direction : array
            (r, d).

        Returns
        -------
        callable
            Takes steps and the rows that take them; see `LineValue`.
        """
        matmul, other = self.backend.xp.matmul, self.columns.other.T
        whole: Array = None  # the slope, once all rows are asked for

        def value(step: Array, chosen: Any) -> Array:
            nonlocal whole
            if isinstance(chosen, slice):
                whole = matmul(direction, other)
            slope = matmul(direction[chosen], other) if whole is None else whole[chosen]
            mass = self.columns.mass
            return self.backend.line_sums(self.x[chosen], slope, step, mass)

        return value
