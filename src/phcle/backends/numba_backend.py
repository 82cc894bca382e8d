"""NumPy arrays, with compiled loops for the dense part and the known entries.

NumPy makes about ten passes over memory for softplus and sigmoid; these make one, and
the compiler turns it into vector instructions. For that the exponential and the
logarithm are written as polynomials in single precision, sums may be reordered, and
division by zero is left to IEEE. Loops index the arrays themselves: a function that
adds one row to another would not know that the two do not overlap.

Each pass releases the interpreter lock, so blocks run side by side in threads. Compiled
code is kept in numba's cache, so only the first run on a machine waits for it.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import factorial
from typing import Any

import numba
import numpy as np

from phcle.backends.numpy_backend import NumpyBackend
from phcle.backends.pairs import Columns, DensePart, KnownEntries
from phcle.backends.protocol import Array

CHUNK = 512
"""Numbers summed in single precision before the sum moves to a double."""

ZERO, HALF, ONE, TWO = (np.float32(x) for x in (0, 0.5, 1, 2))
LEAST, LOG2E = np.float32(-87.0), np.float32(1 / np.log(2))
HIGH, LOW = np.float32(0.693359375), np.float32(np.log(2) - 0.693359375)
"""log 2 in two parts; n times the first is exact."""

E = tuple(np.float32(1 / factorial(k)) for k in range(8))
A = tuple(np.float32(2 / (2 * k + 1)) for k in range(8))
"""Terms of exp(r), |r| ≤ log(2)/2, and of 2 artanh(t)/t in t², t ≤ 1/3."""


def compiled(function: Any) -> Any:
    """Compile for vectors, and keep the code if there is somewhere to keep it."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        # NaN and infinity keep their meaning: a diverged factor must be seen.
        "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    }
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # no folder that can be written to
        return numba.njit(function, **options)


# Horner's rule in straight lines: a loop in here would keep vectors away.
@compiled
def _exp_of_minus(x: Any) -> Any:
    """exp(−|x|)."""
    x = max(-abs(x), LEAST)
    n = np.floor(x * LOG2E + HALF)
    r = (x - n * HIGH) - n * LOW
    s = (E[7] * r + E[6]) * r + E[5]
    s = ((s * r + E[4]) * r + E[3]) * r + E[2]
    power_of_two = np.int32((np.int32(n) + 127) << 23).view(np.float32)
    return ((s * r + E[1]) * r + E[0]) * power_of_two


@compiled
def _log1p(e: Any) -> Any:
    """log(1 + e) for 0 ≤ e ≤ 1."""
    t = e / (TWO + e)
    q = t * t
    s = ((A[7] * q + A[6]) * q + A[5]) * q + A[4]
    return ((((s * q + A[3]) * q + A[2]) * q + A[1]) * q + A[0]) * t


@compiled
def _logistic_chunk(x: Any, mass: Any, share: Any, sigmoid: Any) -> Any:
    value = spread = ZERO
    for j in range(x.size):
        e = _exp_of_minus(x[j])
        upper = ONE / (ONE + e)
        lower = e * upper
        sigmoid[j] = upper if x[j] >= ZERO else lower
        value += mass[j] * (max(x[j], ZERO) + _log1p(e))
        spread += share[j] * (upper * lower)
    return value, spread


@compiled
def logistic(
    x: Any, mass: Any, share: Any, sigmoid: Any, value: Any, spread: Any
) -> None:
    """Fill in σ(x), Σ_c mass softplus(x) and Σ_c share σ(1 − σ)."""
    for i in range(x.shape[0]):
        value_sum = spread_sum = 0.0
        for a in range(0, x.shape[1], CHUNK):
            b = min(x.shape[1], a + CHUNK)
            v, s = _logistic_chunk(x[i, a:b], mass[a:b], share[a:b], sigmoid[i, a:b])
            value_sum += v
            spread_sum += s
        value[i] = value_sum
        spread[i] = spread_sum


@compiled
def _softplus_chunk(x: Any, mass: Any) -> Any:
    value = ZERO
    for j in range(x.size):
        value += mass[j] * (max(x[j], ZERO) + _log1p(_exp_of_minus(x[j])))
    return value


@compiled
def softplus_sums(x: Any, mass: Any, value: Any) -> None:
    """Fill in Σ_c mass softplus(x)."""
    for i in range(x.shape[0]):
        total = 0.0
        for a in range(0, x.shape[1], CHUNK):
            b = min(x.shape[1], a + CHUNK)
            total += _softplus_chunk(x[i, a:b], mass[a:b])
        value[i] = total


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


class NumbaBackend(NumpyBackend):
    """NumPy with compiled loops: softplus and sigmoid take less than the products.

    In double precision the dense part is NumPy's.

    Parameters
    ----------
    dtype : str
        "float32" or "float64".
    """

    name = "numba"
    tile = 2_000_000  # with one pass per tile, larger products are faster
    gathered = 8_000_000  # known entries are read in place, so this can be more

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__(dtype)
        if dtype == "float32":
            self.dense_part = partial(_CompiledPart, self)
        self.known_entries = partial(_CompiledEntries, self.xp)
        _keep_freed_memory()


@lru_cache
def _keep_freed_memory() -> None:
    """Let glibc keep the arrays of a block for the next one.

    It returns larger ones to the system than it has seen before, and each new page has
    to be cleared: on one core, sweeps of 10,000 labels would take a tenth longer.
    """
    np.empty(31 << 20, np.uint8)  # just below the largest size that it learns from


class _CompiledPart(DensePart):
    """The dense part from one pass over the products of a block."""

    def __init__(self, backend: Any, y: Array, columns: Columns) -> None:
        self.backend, self.columns = backend, columns
        x = y @ columns.other.T
        self.sigmoid = np.empty_like(x)
        self.value, self.spread = np.empty((2, len(x)), x.dtype)
        logistic(x, columns.mass, columns.share, self.sigmoid, self.value, self.spread)
        self.gradient = self.sigmoid @ columns.weighted

    def value_at(self, y: Array) -> Array:
        """Σ mass softplus(x) of every row, in one pass."""
        x, result = y @ self.columns.other.T, np.empty(len(y), y.dtype)
        softplus_sums(x, self.columns.mass, result)
        return result


class _CompiledEntries(KnownEntries):
    """Known entries that are read in place, without gathering."""

    def dots(self, y: Array) -> Array:
        """y·z_c for every known column: (rows, width)."""
        result = np.empty(self.columns.shape, self.other.dtype)
        dots(self.columns, self.other, y, result)
        return result

    def sums(self, weights: Array) -> Array:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        result = np.empty((len(weights), self.other.shape[1]), self.other.dtype)
        sums(self.columns, self.other, weights, result)
        return result

    def bent(self, weights: Array, y: Array) -> Array:
        """Σ_c weight_c (y·z_c) z_c for every row: (rows, d)."""
        return self.sums(weights * self.dots(y))
