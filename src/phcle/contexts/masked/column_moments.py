"""Statistics of columns, without overflow of large and loss of tiny values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["SMALLEST", "Moments", "moments_of_scaled", "unit_of"]

Floats = npt.NDArray[np.float64]
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
