"""Rows in blocks: bounded memory, and sparse rows padded to one width per block.

A block of rows with its few known columns becomes dense arrays (rows, width) of
positions and values. Rows are sorted by width first, so little of it is padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend

__all__ = ["Block", "PaddedRows", "pad_rows", "split_rows"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Some rows of a factor: where they are, on the host and on the device."""

    rows: Rows
    at: Array


@dataclass(frozen=True)
class PaddedRows:
    """Known entries of a block of rows; padding points at column 0 and is masked."""

    columns: Array  # (rows, width), positions
    values: Array  # (rows, width), zero where padded
    known: Array  # (rows, width), 1 or 0

    def take(self, rows: Array) -> PaddedRows:
        """Some of the rows."""
        return PaddedRows(self.columns[rows], self.values[rows], self.known[rows])

    def gather(self, factor: Array, backend: Backend) -> Array:
        """Rows of the other factor at the known columns: (rows, width, dim)."""
        xp = backend.xp
        flat = xp.take(factor, xp.reshape(self.columns, (-1,)), axis=0)
        return xp.reshape(flat, (*self.columns.shape, factor.shape[1]))


def split_rows(
    backend: Backend,
    patterns: Sequence[sp.csr_array],
    n_rows: int,
    *,
    dim: int,
    tile_columns: int,
) -> list[Block]:
    """Partition rows into blocks that keep both kinds of temporary array small."""
    width = np.zeros(n_rows, dtype=np.int64)
    for pattern in patterns:
        width = np.maximum(width, np.diff(pattern.indptr))
    order = np.argsort(width, kind="stable")
    most = min(backend.tile // max(tile_columns, dim), backend.most_rows)
    most = max(1, min(most, -(-n_rows // backend.processes.size)))
    blocks, start = [], 0
    while start < n_rows:
        # Rows are sorted by width, so the last row of a block sets its width.
        numbers = np.arange(1, n_rows - start + 1) * width[order[start:]] * dim
        fitting = int(np.searchsorted(numbers, backend.gathered, side="right"))
        stop = start + max(1, min(most, fitting))
        rows = np.sort(order[start:stop])
        blocks.append(Block(rows, backend.indices(rows)))
        start = stop
    return blocks


def pad_rows(pattern: sp.csr_array, rows: Rows, backend: Backend) -> PaddedRows | None:
    """Pad the known entries of some rows to a common width; None if there are none.

    The rows are in order. Entries are moved first and padded on the device.
    """
    if len(rows) < pattern.shape[0]:
        pattern = pattern[rows]
    lengths = np.diff(pattern.indptr)
    width = int(lengths.max(initial=0))
    if width == 0:
        return None
    xp, move = backend.xp, backend.indices
    first, columns = move(pattern.indptr[:-1]), move(pattern.indices)
    values = backend.asarray(pattern.data)
    step = move(np.arange(width))
    known = step < move(lengths)[:, None]
    at = xp.where(known, first[:, None] + step, 0)
    return PaddedRows(
        xp.where(known, columns[at], 0),
        xp.where(known, values[at], 0.0),
        backend.asarray(known),
    )
