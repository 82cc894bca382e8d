"""The known entries of a block of rows: each row against its own few columns."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["GatheredEntries", "KnownEntries"]

Array = Any


class KnownEntries(Protocol):
    """Rows of the other factor z_c at every row's known columns c (rows, width)."""

    def dots(self, y: Array) -> Array:
        """y·z_c for every known column: (rows, width)."""

    def sums(self, weights: Array) -> Array:
        """Σ_c weight_c z_c for every row: (rows, d)."""

    def norms(self, weights: Array) -> Array:
        """Σ_c weight_c ‖z_c‖² for every row: (rows,)."""


class GatheredEntries:
    """The plain version: gathers z_c once, (rows, width, d)."""

    def __init__(self, xp: Any, columns: Array, other: Array) -> None:
        self.xp = xp
        flat = xp.take(other, xp.reshape(columns, (-1,)), axis=0)
        self.entries = xp.reshape(flat, (*columns.shape, other.shape[1]))

    def dots(self, y: Array) -> Array:
        """y·z_c for every known column: (rows, width)."""
        return self.xp.matmul(self.entries, y[:, :, None])[:, :, 0]

    def sums(self, weights: Array) -> Array:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        return self.xp.matmul(weights[:, None, :], self.entries)[:, 0]

    def norms(self, weights: Array) -> Array:
        """Σ_c weight_c ‖z_c‖² for every row: (rows,)."""
        return self.xp.sum(
            weights * self.xp.sum(self.entries * self.entries, axis=2), axis=1
        )
