"""Sums over the known entries of a block: each row with its own few columns."""

from __future__ import annotations

from typing import Any, Protocol

Array = Any


class KnownEntries(Protocol):
    """Rows z_c of the other factor at the known columns c of every row."""

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
        return self.sums(weights * self.dots(y))


class GatheredEntries(KnownEntries):
    """The plain version for any array library: gathers z_c once, (rows, width, d).

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
        self.xp = xp
        flat = xp.take(other, xp.reshape(columns, (-1,)), axis=0)
        self.gathered = xp.reshape(flat, (*columns.shape, other.shape[1]))

    def dots(self, y: Array) -> Array:
        """y·z_c for every known column: (rows, width)."""
        return self.xp.matmul(self.gathered, y[:, :, None])[:, :, 0]

    def sums(self, weights: Array) -> Array:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        return self.xp.matmul(weights[:, None, :], self.gathered)[:, 0]
