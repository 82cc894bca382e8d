"""Each row against its own few columns, compiled by numba: nothing is gathered.

Loops index the arrays themselves. A function that adds one row to another would not
know that the two do not overlap, and take three times as long.
"""

from __future__ import annotations

from typing import Any

from phcle.backends.kernels.compiling import compiled


@compiled
def _dot(a: Any, b: Any) -> Any:
    total = a.dtype.type(0)
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compiled
def dots(columns: Any, other: Any, y: Any, result: Any) -> None:
    """Fill in y_r·z_c at every row's columns: (rows, width)."""
    for r in range(columns.shape[0]):
        for k in range(columns.shape[1]):
            result[r, k] = _dot(y[r], other[columns[r, k]])


@compiled
def sums(columns: Any, other: Any, weights: Any, result: Any) -> None:
    """Fill in Σ_c weight_c z_c over every row's columns: (rows, d)."""
    for r in range(columns.shape[0]):
        result[r] = 0
        for k in range(columns.shape[1]):
            weight, column = weights[r, k], columns[r, k]
            if weight != 0:
                for i in range(other.shape[1]):
                    result[r, i] += weight * other[column, i]
