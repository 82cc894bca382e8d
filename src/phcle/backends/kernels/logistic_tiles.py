"""Passes over tiles of x = Y Zᵀ, compiled by numba: no temporary arrays.

NumPy makes about ten passes over memory for softplus and sigmoid; these make one, and
the compiler turns it into vector instructions. For that the exponential and the
logarithm are written as polynomials (a call to the C library would be made number by
number), sums may be reordered, and division by zero is left to IEEE.

Each pass releases the interpreter lock, so blocks run side by side in threads. Compiled
code is kept in numba's cache, so only the first run on a machine waits for it.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from phcle.backends.kernels.compiling import compiled

CHUNK = 512
"""Numbers summed in the tile's precision before the sum moves to a double."""


def _constants(real: Any) -> Any:
    """What exp(−|x|) and log(1 + e) need in one precision.

    log 2 comes in two parts, of which n times the first is exact. The terms are those
    of exp(r), |r| ≤ log(2)/2, and of 2 artanh(t)/t in t², t ≤ 1/3.
    """
    is_single = real is np.float32
    high = 0.693359375 if is_single else 0.693145751953125
    n_exp, n_log = (7, 7) if is_single else (13, 16)
    return (
        real(-87.0 if is_single else -708.0),
        real(1 / np.log(2)),
        real(high),
        real(np.log(2) - high),
        tuple(real(1 / factorial(k)) for k in range(n_exp + 1)),
        tuple(real(2 / (2 * k + 1)) for k in range(n_log + 1)),
    )


LEAST32, LOG2E32, HIGH32, LOW32, E32, A32 = _constants(np.float32)
LEAST64, LOG2E64, HIGH64, LOW64, E64, A64 = _constants(np.float64)


@intrinsic
def _power_of_two(typing: Any, n: Any) -> Any:
    """2ⁿ for a whole number n held in a float, by setting the exponent's bits."""
    is_single = n == types.float32

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = ir.IntType(32 if is_single else 64)
        bias, place = (127, 23) if is_single else (1023, 52)
        exponent = builder.add(builder.fptosi(arguments[0], whole), whole(bias))
        bits = builder.shl(exponent, whole(place))
        return builder.bitcast(bits, ir.FloatType() if is_single else ir.DoubleType())

    return n(n), generate


def _exp_of_minus(x: Any) -> Any:
    """exp(−|x|)."""
    raise NotImplementedError


def _log1p(e: Any) -> Any:
    """log(1 + e) for 0 ≤ e ≤ 1."""
    raise NotImplementedError


# Horner's rule in straight lines: a loop in here would keep vectors away.


def _exp_single(x: Any) -> Any:
    x = max(-abs(x), LEAST32)
    n = np.floor(x * LOG2E32 + np.float32(0.5))
    r = (x - n * HIGH32) - n * LOW32
    s = (E32[7] * r + E32[6]) * r + E32[5]
    s = ((s * r + E32[4]) * r + E32[3]) * r + E32[2]
    return ((s * r + E32[1]) * r + E32[0]) * _power_of_two(n)


def _exp_double(x: Any) -> Any:
    x = max(-abs(x), LEAST64)
    n = np.floor(x * LOG2E64 + 0.5)
    r = (x - n * HIGH64) - n * LOW64
    s = (E64[13] * r + E64[12]) * r + E64[11]
    s = ((s * r + E64[10]) * r + E64[9]) * r + E64[8]
    s = ((s * r + E64[7]) * r + E64[6]) * r + E64[5]
    s = ((s * r + E64[4]) * r + E64[3]) * r + E64[2]
    return ((s * r + E64[1]) * r + E64[0]) * _power_of_two(n)


def _log_single(e: Any) -> Any:
    t = e / (np.float32(2) + e)
    q = t * t
    s = ((A32[7] * q + A32[6]) * q + A32[5]) * q + A32[4]
    return ((((s * q + A32[3]) * q + A32[2]) * q + A32[1]) * q + A32[0]) * t


def _log_double(e: Any) -> Any:
    t = e / (2.0 + e)
    q = t * t
    s = (A64[16] * q + A64[15]) * q + A64[14]
    s = ((s * q + A64[13]) * q + A64[12]) * q + A64[11]
    s = ((s * q + A64[10]) * q + A64[9]) * q + A64[8]
    s = ((s * q + A64[7]) * q + A64[6]) * q + A64[5]
    s = ((s * q + A64[4]) * q + A64[3]) * q + A64[2]
    return ((s * q + A64[1]) * q + A64[0]) * t


@overload(_exp_of_minus)
def _choose_exp(x: Any) -> Any:
    return _exp_single if x == types.float32 else _exp_double


@overload(_log1p)
def _choose_log(e: Any) -> Any:
    return _log_single if e == types.float32 else _log_double


@compiled
def _logistic_chunk(x: Any, mass: Any, share: Any, sigmoid: Any) -> Any:
    zero, one = x.dtype.type(0), x.dtype.type(1)
    value = spread = zero
    for j in range(x.size):
        e = _exp_of_minus(x[j])
        upper = one / (one + e)
        lower = e * upper
        sigmoid[j] = upper if x[j] >= zero else lower
        value += mass[j] * (max(x[j], zero) + _log1p(e))
        spread += share[j] * (upper * lower)
    return value, spread


@compiled
def logistic(
    x: Any, mass: Any, share: Any, sigmoid: Any, value: Any, spread: Any
) -> None:
    """Fill in σ(x), Σ_c mass softplus(x) and Σ_c share σ(1 − σ)."""
    n = x.shape[1]
    for i in range(x.shape[0]):
        value_sum = spread_sum = 0.0
        for a in range(0, n, CHUNK):
            b = min(n, a + CHUNK)
            v, s = _logistic_chunk(x[i, a:b], mass[a:b], share[a:b], sigmoid[i, a:b])
            value_sum += v
            spread_sum += s
        value[i] = value_sum
        spread[i] = spread_sum


@compiled
def _line_chunk(x: Any, slope: Any, step: Any, mass: Any) -> Any:
    zero = x.dtype.type(0)
    value = zero
    for j in range(x.size):
        moved = x[j] + step * slope[j]
        value += mass[j] * (max(moved, zero) + _log1p(_exp_of_minus(moved)))
    return value


@compiled
def line(x: Any, slope: Any, rows: Any, step: Any, mass: Any, value: Any) -> None:
    """Fill in Σ_c mass softplus(x + step · slope) of the given rows."""
    n = x.shape[1]
    for k in range(rows.size):
        i = rows[k]
        total = 0.0
        for a in range(0, n, CHUNK):
            b = min(n, a + CHUNK)
            total += _line_chunk(x[i, a:b], slope[i, a:b], step[k], mass[a:b])
        value[k] = total


@compiled
def _bend_chunk(sigmoid: Any, slope: Any) -> None:
    one = sigmoid.dtype.type(1)
    for j in range(sigmoid.size):
        slope[j] *= sigmoid[j] * (one - sigmoid[j])


@compiled
def bend(sigmoid: Any, slope: Any) -> None:
    """Multiply the slope by σ(1 − σ), in place."""
    for i in range(slope.shape[0]):
        _bend_chunk(sigmoid[i], slope[i])
