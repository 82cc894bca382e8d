"""Single-precision numbers as halves, for products on a GPU's matrix units.

A number is a power of two times a half, and for full precision times the sum of two
halves, of which the second holds what the first had to drop: 22 bits together. Three
products of such halves make up one of single precision, and are still faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from phcle.backends.dense import Columns

__all__ = ["LARGEST_MASS", "HalfColumns", "HalfRows"]

LARGEST_HALF = 65_504.0
"""Where halves end; infinity times zero would be no number."""

LARGEST_MASS = 2.0**14
"""What the largest mass in a product is scaled to."""

LARGEST = 2.0**4
"""What the largest column entry is scaled to: room for small ones, and for the rows."""


@dataclass(frozen=True)
class HalfColumns:
    """Columns in halves, made once for all blocks; z = size · (high + low)."""

    high: torch.Tensor  # (columns, d), float16
    low: torch.Tensor | None  # the same of what high dropped; None in mixed precision
    size: torch.Tensor  # (columns,) powers of two; in mixed precision one for all, ()
    mass: torch.Tensor  # (columns,), in units of which none overflows in a product
    unit: torch.Tensor  # () of the mass; no number leaves the device

    @property
    def scale(self) -> torch.Tensor:
        """What a product of mass and halves is to be multiplied by: ()."""
        return self.unit * self.size if self.low is None else self.unit

    @classmethod
    def of(cls, columns: Columns, *, precise: bool) -> HalfColumns:
        """Round columns once, or split them."""
        z = columns.other
        if precise:
            size = _power_of_two(z.abs().amax(dim=1))
            high, low = _split(z / size[:, None])
        else:
            size = _power_of_two(z.abs().max()) / LARGEST
            high, low = (z / size).half(), None
        # In full precision the mass is multiplied by the sizes before it is rounded.
        largest = (columns.mass * size if precise else columns.mass).max()
        unit = largest.clamp(min=1e-30) / LARGEST_MASS
        return cls(high, low, size, columns.mass / unit, unit)


@dataclass(frozen=True)
class HalfRows:
    """Rows in halves, fit for some columns; y = size · (high + low).

    In mixed precision they have taken over the size of the columns, so that
    high · columns.high is the whole product.
    """

    high: torch.Tensor  # (rows, d), float16
    low: torch.Tensor | None
    size: torch.Tensor | None  # (rows,) powers of two

    @classmethod
    def of(cls, y: torch.Tensor, columns: HalfColumns, unit: float = 1.0) -> HalfRows:
        """Round or split rows as the columns are; products are in units of 1 / unit."""
        if columns.low is None:
            fitting = (y * (columns.size * unit)).clamp(-LARGEST_HALF, LARGEST_HALF)
            return cls(fitting.half(), None, None)
        size = _power_of_two(y.abs().amax(dim=1))
        return cls(*_split(y / size[:, None]), size * unit)


def _power_of_two(largest: torch.Tensor) -> torch.Tensor:
    """The power of two above these numbers, exact; 1 for zero."""
    mantissa, exponent = torch.frexp(largest)
    return torch.ldexp(torch.ones_like(mantissa), exponent)


def _split(numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    high = numbers.half()
    return high, (numbers - high.float()).half()
