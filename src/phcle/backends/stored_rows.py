"""A sparse matrix on the device, from which blocks of padded rows are taken there.

The entries are moved once. Transposing, padding and other values of the same entries
then need no host: SciPy would take a minute for half a billion entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from phcle.backends.row_blocks import pad_rows, split_rows


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Entries of a matrix, row by row.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    indptr : ndarray of shape (rows + 1,)
        Where the entries of each row begin, on the host.
    first : Tensor of shape (rows + 1,)
        The same on the device.
    columns : Tensor of shape (entries,)
        Column of each entry, in 32 bits.
    values : Tensor of shape (entries,)
        Value of each entry.
    """

    shape: tuple[int, int]
    indptr: npt.NDArray[np.int64]
    first: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor

    @classmethod
    def of(cls, backend: Any, matrix: sp.csr_array) -> StoredRows:
        """Move a matrix to the device.

        Parameters
        ----------
        backend : TorchBackend
            Where to.
        matrix : csr_array
            On the host.

        Returns
        -------
        StoredRows
            The same entries.
        """
        indptr = matrix.indptr.astype(np.int64)
        columns = torch.from_numpy(matrix.indices.astype(np.int32, copy=False))
        return cls(
            matrix.shape,
            indptr,
            backend.indices(indptr),
            columns.to(backend.device),
            backend.asarray(matrix.data),
        )

    @property
    def rows(self) -> torch.Tensor:
        """Row of each entry, in 32 bits: (entries,)."""
        lengths = self.first[1:] - self.first[:-1]
        numbers = torch.arange(
            self.shape[0], dtype=torch.int32, device=self.first.device
        )
        return torch.repeat_interleave(numbers, lengths, output_size=len(self.columns))

    def with_values(self, values: torch.Tensor) -> StoredRows:
        """Return other values of the same entries.

        Parameters
        ----------
        values : Tensor of shape (entries,)
            The values.

        Returns
        -------
        StoredRows
            The matrix of these values.
        """
        return replace(self, values=values)

    def turned(self) -> StoredRows:
        """Return the transposed matrix, whose rows are sorted as well.

        Returns
        -------
        StoredRows
            Columns as rows.
        """
        n_rows, n_columns = self.shape
        sizes = torch.bincount(self.columns, minlength=n_columns)
        first = torch.nn.functional.pad(torch.cumsum(sizes, dim=0), (1, 0))
        order = torch.sort(self.columns, stable=True).indices
        return StoredRows(
            (n_columns, n_rows),
            first.cpu().numpy(),
            first,
            self.rows[order],
            self.values[order],
        )


TYPICAL_WIDTH = 128
"""Assumed width of dense factors when blocks are cut; wider ones take more memory."""


class SparseRows:
    """A sparse matrix whose products have the same bits in every run.

    cuSPARSE sums in an order that differs from run to run, so the results of a fit
    would differ too. Here one product of its known entries sums every row.

    Parameters
    ----------
    backend : Backend
        Where the entries are stored.
    matrix : csr_array or StoredRows
        The matrix.
    """

    def __init__(self, backend: Any, matrix: sp.csr_array | StoredRows) -> None:
        self.backend, self.n_rows = backend, matrix.shape[0]
        blocks = split_rows(
            backend, [matrix], self.n_rows, dim=TYPICAL_WIDTH, tile_columns=1
        )
        padded = [(block.at, pad_rows(matrix, block.rows, backend)) for block in blocks]
        self.blocks = [(rows, known) for rows, known in padded if known]

    def __matmul__(self, dense: Any) -> Any:
        """Multiply by a dense matrix.

        Parameters
        ----------
        dense : array
            (columns, width).

        Returns
        -------
        array
            (rows, width).
        """
        shape = (self.n_rows, dense.shape[1])
        result = self.backend.xp.zeros(shape, dtype=dense.dtype, device=dense.device)
        for rows, known in self.blocks:
            result[rows] = self.backend.known_entries(known.columns, dense).sums(
                known.values
            )
        return result
