"""Each row against its own few columns, compiled by numba: nothing is gathered."""

from __future__ import annotations

from typing import Any

from phcle.backends.kernels.compiling import compiled

__all__ = ["dots", "sums"]


@compiled
def _dot(a: Any, b: Any) -> Any:
    total = a.dtype.type(0)
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@compiled
def _add(weight: Any, a: Any, total: Any) -> None:
    for k in range(a.size):
        total[k] += weight * a[k]


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
            if weights[r, k] != 0:
                _add(weights[r, k], other[columns[r, k]], result[r])
