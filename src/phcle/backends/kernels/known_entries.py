"""Each row against its own few columns, compiled by numba: nothing is gathered.

Loops index the arrays themselves. A function that adds one row to another would not
know that the two do not overlap, and take three times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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


@compiled
def norms(columns: Any, other: Any, weights: Any, result: Any) -> None:
    """Fill in Σ_c weight_c ‖z_c‖² over every row's columns: (rows,)."""
    for r in range(columns.shape[0]):
        result[r] = 0
        for k in range(columns.shape[1]):
            if weights[r, k] != 0:
                z = other[columns[r, k]]
                result[r] += weights[r, k] * _dot(z, z)


@compiled
def correct(vectors: Any, moved: Any) -> None:
    """Turn moved = V M⁻¹ of every row into F with (M + VᵀV)⁻¹ = M⁻¹ − FᵀF.

    By Woodbury's formula F = L⁻¹ V M⁻¹, where L Lᵀ = 1 + V M⁻¹ Vᵀ.
    """
    n_rows, width, dim = vectors.shape
    lower = np.empty((width, width), vectors.dtype)
    for r in range(n_rows):
        for i in range(width):
            for j in range(i + 1):
                total = _dot(moved[r, i], vectors[r, j])
                for k in range(j):
                    total -= lower[i, k] * lower[j, k]
                if i == j:
                    lower[i, i] = np.sqrt(total + 1)
                else:
                    lower[i, j] = total / lower[j, j]
        for i in range(width):
            for j in range(i):
                for k in range(dim):
                    moved[r, i, k] -= lower[i, j] * moved[r, j, k]
            for k in range(dim):
                moved[r, i, k] /= lower[i, i]
