"""A sparse matrix as blocks of padded rows.

cuSPARSE sums in an order that differs from run to run, so the results of a fit would
differ too. Here one product of its known entries sums every row.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from phcle.backends.row_blocks import pad_rows, split_rows
from phcle.backends.stored_rows import StoredRows

__all__ = ["SparseRows"]

TYPICAL_WIDTH = 128
"""Assumed width of dense factors when blocks are cut; wider ones take more memory."""


class SparseRows:
    """A sparse matrix whose products have the same bits in every run.

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

    def product(self, dense: Any) -> Any:
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
