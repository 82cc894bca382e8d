"""The dense part of a logistic term: every row against every column.

    value_y = Σ_c mass_c softplus(y·z_c)        gradient_y = Σ_c mass_c σ(y·z_c) z_c

B has rank one, so each row only multiplies this by a rate of its own. `TilePart` is the
plain version in any array library: it keeps a block's products x = Y Zᵀ, and the blocks
are small. Back ends with something faster give another class that answers the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

__all__ = [
    "Columns",
    "DensePart",
    "LineValue",
    "TilePart",
    "n_sampled_columns",
    "rounding_noise",
]

Array = Any

FEWEST_SAMPLED, MOST_SAMPLED, SAMPLED_SHARE = 1024, 2048, 1 / 16
"""Columns that stand for all in the curvature of a Newton step, and their share."""

LineValue = Callable[[Array, Any], Array]
"""Values at y + step × direction from (step, chosen rows): (chosen,)."""


def n_sampled_columns(n_columns: int) -> int:
    """How many of the columns tell the curvature: more spare steps, and cost more."""
    share = max(FEWEST_SAMPLED, int(SAMPLED_SHARE * n_columns))
    return min(n_columns, share, MOST_SAMPLED)


def rounding_noise(dtype: str) -> float:
    """Relative error of a row's value that rounding leaves."""
    return 8 * float(np.finfo(dtype).eps)


@dataclass(frozen=True)
class Columns:
    """The other factor Z with the mass of its rows, prepared once for all blocks."""

    other: Array  # Z (columns, d)
    mass: Array  # (columns,)
    weighted: Array  # mass · Z (columns, d)
    share: Array  # of the trace of Zᵀ diag(mass) Z that each column has (columns,)
    rounded: Any = None  # in half precision, for back ends that multiply in it
    fused: Any = None  # for back ends with a kernel of their own

    @classmethod
    def of(cls, xp: Any, other: Array, mass: Array) -> Columns:
        """Prepare a factor and its masses."""
        trace = mass * xp.sum(other * other, axis=1)
        tiny = float(xp.finfo(other.dtype).smallest_normal)  # a factor may be zero
        share = trace / xp.clip(xp.sum(trace), min=tiny)
        return cls(other, mass, other * mass[:, None], share)


class DensePart(Protocol):
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

    def product(self, z: Array) -> Array:
        """The exact curvature times z, row by row: (r, d)."""

    def along(self, direction: Array) -> LineValue:
        """The value along one direction from each row."""


class TilePart:
    """The dense part in plain array operations; keeps (r, columns) numbers."""

    def __init__(self, backend: Any, y: Array, columns: Columns) -> None:
        xp = backend.xp
        self.backend, self.columns = backend, columns
        self.x = xp.matmul(y, columns.other.T)
        self.sigmoid, softplus = backend.logistic(self.x)
        self.value = xp.matmul(softplus, columns.mass)
        self.gradient = xp.matmul(self.sigmoid, columns.weighted)

    @cached_property
    def bend(self) -> Array:
        """σ(1 − σ) of every pair: (r, columns)."""
        return self.sigmoid * (1 - self.sigmoid)

    @cached_property
    def spread(self) -> Array:
        """The mean of σ(1 − σ), weighted by each column's share of the trace: (r,)."""
        return self.backend.xp.matmul(self.bend, self.columns.share)

    def product(self, z: Array) -> Array:
        """The exact curvature times z, row by row: (r, d)."""
        xp = self.backend.xp
        bent = xp.matmul(z, self.columns.other.T) * self.bend
        return xp.matmul(bent, self.columns.weighted)

    def along(self, direction: Array) -> LineValue:
        """The value along one direction from each row."""
        backend, xp = self.backend, self.backend.xp
        slope = xp.matmul(direction, self.columns.other.T)

        def value(step: Array, chosen: Any) -> Array:
            x = self.x[chosen] + step[:, None] * slope[chosen]
            return xp.matmul(backend.softplus(x), self.columns.mass)

        return value
