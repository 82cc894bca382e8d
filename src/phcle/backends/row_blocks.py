"""Rows in blocks: bounded memory, and sparse rows padded to one width per block.

The known entries of a block become dense arrays (rows, width) of positions and values.
Rows are sorted by width first, so there is little padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Ints
from phcle.backends.protocol import Array, Backend

if TYPE_CHECKING:
    from phcle.backends.stored_rows import StoredRows


@dataclass(frozen=True)
class Block:
    """Some rows of a factor.

    Attributes
    ----------
    rows : ndarray
        Positions of the rows, on the host.
    at : array
        The same positions on the device.
    """

    rows: Ints
    at: Array


@dataclass(frozen=True)
class PaddedRows:
    """Known entries of a block of rows, padded to the same width.

    Attributes
    ----------
    columns : array
        Positions of the columns, (rows, width); 0 where padded.
    values : array
        (rows, width); zero where padded.
    known : array
        (rows, width); 1 for an entry, 0 for padding.
    """

    columns: Array
    values: Array
    known: Array

    def take(self, rows: Array) -> PaddedRows:
        """Select rows.

        Parameters
        ----------
        rows : array
            Positions in this block, or a mask.

        Returns
        -------
        PaddedRows
            The selected rows, with the same width.
        """
        return PaddedRows(self.columns[rows], self.values[rows], self.known[rows])


def split_rows(
    backend: Backend,
    patterns: Sequence[sp.csr_array | StoredRows],
    n_rows: int,
    *,
    dim: int,
    tile_columns: int,
) -> list[Block]:
    """Partition rows into blocks, so that temporary arrays stay small.

    On a CPU they do not depend on the number of processes, so these give equal results.

    Parameters
    ----------
    backend : Backend
        Its limits apply.
    patterns : sequence of csr_array or StoredRows
        Known entries of every context.
    n_rows : int
        Rows in all.
    dim : int
        Length of a vector.
    tile_columns : int
        Columns for which the dense part stores numbers.

    Returns
    -------
    list of Block
        Every row is in one block.
    """
    width = np.zeros(n_rows, dtype=np.int64)
    for pattern in patterns:
        width = np.maximum(width, np.diff(pattern.indptr))
    order = np.argsort(width, kind="stable")
    most = min(backend.tile // max(tile_columns, dim), backend.most_rows)
    if backend.is_accelerated:  # its blocks are so large that some would have none
        most = min(most, -(-n_rows // backend.processes.size))
    blocks, start = [], 0
    while start < n_rows:
        # Rows are sorted by width, so the last row of a block sets its width.
        widths = width[order[start : start + max(1, most)]]
        numbers = np.arange(1, len(widths) + 1) * widths * dim
        fitting = int(np.searchsorted(numbers, backend.gathered, side="right"))
        stop = start + max(1, fitting)
        rows = np.sort(order[start:stop])
        blocks.append(Block(rows, backend.indices(rows)))
        start = stop
    return blocks


def pad_rows(
    pattern: sp.csr_array | StoredRows, rows: Ints, backend: Backend
) -> PaddedRows | None:
    """Pad the known entries of some rows to a common width.

    Entries are moved to the device first and padded there.

    Parameters
    ----------
    pattern : csr_array or StoredRows
        Known entries of all rows.
    rows : ndarray
        Positions of the rows, ascending.
    backend : Backend
        Where the result is stored.

    Returns
    -------
    PaddedRows or None
        None if these rows have no known entries.
    """
    lengths = pattern.indptr[rows + 1] - pattern.indptr[rows]
    width = int(lengths.max(initial=0))
    if width == 0:
        return None
    xp, move = backend.xp, backend.indices
    if sp.issparse(pattern):
        some = pattern[rows] if len(rows) < pattern.shape[0] else pattern
        first, columns = move(some.indptr[:-1]), move(some.indices)
        numbers = backend.asarray(some.data)
    else:  # the entries are on the device already
        first, columns = pattern.first[move(rows)], pattern.columns
        numbers = pattern.values
    step = move(np.arange(width))
    known = step < move(lengths)[:, None]
    at = xp.where(known, first[:, None] + step, 0)
    return PaddedRows(
        xp.astype(xp.where(known, columns[at], 0), xp.int64),
        xp.where(known, numbers[at], 0.0),
        backend.asarray(known),
    )
