"""Single-precision numbers as float16, for products on a GPU's matrix units.

In mixed precision a number is a power of two times one float16. In full precision it is
a power of two times the sum of two float16, the second of which holds the rounding
error of the first: 22 bits together. Three products of such parts replace one product
in single precision, and are still faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from phcle.backends.pairs import Columns

LARGEST_HALF = 65_504.0
"""Largest float16. Numbers are clipped to it: infinity times zero would be NaN."""

LARGEST_MASS = 2.0**14
"""What the largest mass in a product is scaled to, so that no product overflows."""

LARGEST = 2.0**4
"""What the largest column entry is scaled to; leaves room for small ones and rows."""


@dataclass(frozen=True)
class HalfColumns:
    """Columns in float16, made once for all blocks; z = size · (high + low).

    Attributes
    ----------
    high : Tensor
        (columns, d), float16.
    low : Tensor or None
        Rounding error of `high`; None in mixed precision.
    size : Tensor
        Powers of two, (columns,); in mixed precision one for all, ().
    mass : Tensor
        (columns,), in a unit in which no product overflows.
    unit : Tensor
        Unit of the mass, (); a tensor, so that nothing leaves the device.
    """

    high: torch.Tensor
    low: torch.Tensor | None
    size: torch.Tensor
    mass: torch.Tensor
    unit: torch.Tensor

    @property
    def scale(self) -> torch.Tensor:
        """Factor for a product of mass and float16 numbers: ()."""
        return self.unit * self.size if self.low is None else self.unit

    @classmethod
    def of(cls, columns: Columns, *, precise: bool) -> HalfColumns:
        """Convert columns.

        Parameters
        ----------
        columns : Columns
            In single precision.
        precise : bool
            Split every number in two for full precision, or round it to one.

        Returns
        -------
        HalfColumns
            The converted columns.
        """
        z = columns.other
        if precise:
            size = _power_of_two(z.abs().amax(dim=1))
            high, low = _split(z / size[:, None])
        else:
            size = _power_of_two(z.abs().max()) / LARGEST
            high, low = (z / size).half(), None
        # In full precision the kernel multiplies the mass by the sizes before rounding.
        largest = (columns.mass * size if precise else columns.mass).max()
        unit = largest.clamp(min=1e-30) / LARGEST_MASS
        return cls(high, low, size, columns.mass / unit, unit)


@dataclass(frozen=True)
class HalfRows:
    """Rows in float16 that fit given columns; y = size · (high + low).

    In mixed precision the rows include the size of the columns, so that
    high · columns.high is the whole product.

    Attributes
    ----------
    high : Tensor
        (rows, d), float16.
    low : Tensor or None
        Rounding error of `high`; None in mixed precision.
    size : Tensor or None
        Powers of two, (rows,); None in mixed precision.
    """

    high: torch.Tensor
    low: torch.Tensor | None
    size: torch.Tensor | None

    @classmethod
    def of(cls, y: torch.Tensor, columns: HalfColumns, unit: float = 1.0) -> HalfRows:
        """Convert rows in the same way as the columns.

        Parameters
        ----------
        y : Tensor
            Rows, (rows, d).
        columns : HalfColumns
            What the rows will be multiplied with.
        unit : float
            Factor that products include.

        Returns
        -------
        HalfRows
            The converted rows.
        """
        if columns.low is None:
            fitting = (y * (columns.size * unit)).clamp(-LARGEST_HALF, LARGEST_HALF)
            return cls(fitting.half(), None, None)
        size = _power_of_two(y.abs().amax(dim=1))
        return cls(*_split(y / size[:, None]), size * unit)


def _power_of_two(largest: torch.Tensor) -> torch.Tensor:
    """The next power of two above each number, exactly; 1 for zero."""
    mantissa, exponent = torch.frexp(largest)
    return torch.ldexp(torch.ones_like(mantissa), exponent)


def _split(numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    high = numbers.half()
    return high, (numbers - high.float()).half()
