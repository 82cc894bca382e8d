"""MaskedMatrix: numbers with missing values, dense or sparse.

Code outside this package never asks for the layout. There are two layouts:

- `dense_values`: an array in which NaN is a missing value;
- `sparse_values`: stored values, zeros elsewhere, and a mask of the known cells.
  Without a mask every cell is known: a tag that a listed label lacks is a known zero.

`masked_matrix` is what both offer, with statistics of columns.
"""

from phcle.contexts.masked.dense_values import masked_matrix, unpack_matrix
from phcle.contexts.masked.masked_matrix import (
    SMALLEST,
    MaskedMatrix,
    Moments,
    logs_of,
    without_logs,
)

__all__ = [
    "SMALLEST",
    "MaskedMatrix",
    "Moments",
    "logs_of",
    "masked_matrix",
    "unpack_matrix",
    "without_logs",
]
