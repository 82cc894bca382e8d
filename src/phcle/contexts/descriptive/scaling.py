"""Where the values of a descriptive context lie, and how far they spread."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.descriptive.data import DescriptiveContext

__all__ = ["SMALLEST", "UNITS", "offset_and_scale"]

UNITS = 100.0
"""Counts, or squared deviation, of an average label in every context."""

SMALLEST = 1e-100
"""Values all below this are scaled up before they are squared."""

Floats = npt.NDArray[np.float64]


def offset_and_scale(context: DescriptiveContext) -> tuple[Floats, Floats]:
    """Mean of each column, and one scale for all (or each, if standardised)."""
    n_columns = len(context.columns)
    unit = _unit_of(context.values)
    if isinstance(context.values, np.ndarray):
        count, offset, deviation = _moments(context.values / unit)
    else:
        values = context.values / unit
        known = (
            np.full(n_columns, float(values.shape[0]))
            if context.observed is None
            else np.asarray(context.observed.sum(axis=0)).ravel()
        )
        count, offset, deviation = _sparse_moments(values, known)
    # Rounding leaves a trace of deviation on constant columns.
    rounding = np.finfo(np.float64).eps * offset
    deviation[deviation <= count * rounding**2] = 0.0
    if context.standardize:
        variance = deviation / np.maximum(count, 1)
        variance[variance == 0] = 1.0
    else:
        mean = deviation.sum() / max(count.sum(), 1)
        variance = np.full(n_columns, mean if mean > 0 else 1.0)
    scale = np.sqrt(variance * n_columns / UNITS) * unit
    return offset * unit, np.maximum(scale, np.finfo(np.float64).tiny)


def _unit_of(values: Floats | sp.csr_array) -> float:
    """A power of two by which values too small to be squared are divided; or else 1."""
    stored = values if isinstance(values, np.ndarray) else values.data
    largest = float(np.nanmax(np.abs(stored), initial=0.0))
    if 0 < largest < SMALLEST:
        return float(2.0 ** np.floor(np.log2(largest)))
    return 1.0


def _moments(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each column: known values, their mean, and the squared deviation from it."""
    known = ~np.isnan(values)
    count = known.sum(axis=0, dtype=np.float64)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    # The mean of a constant may be rounded; its deviation must be zero all the same.
    lowest = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    is_constant = lowest == np.where(known, values, -np.inf).max(
        axis=0, initial=-np.inf
    )
    mean = np.where(is_constant, lowest, mean)
    # Only now squared: large values that differ little would cancel each other.
    deviation = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
    return count, mean, deviation


def _sparse_moments(
    values: sp.csr_array, count: Floats
) -> tuple[Floats, Floats, Floats]:
    """The same of sparse values, of which `count` are known in each column."""
    mean = np.asarray(values.sum(axis=0)).ravel() / np.maximum(count, 1)
    at, n_columns = values.indices, values.shape[1]
    square = (values.data - mean[at]) ** 2
    deviation = np.bincount(at, weights=square, minlength=n_columns)
    n_stored = np.bincount(at, minlength=n_columns)
    return count, mean, deviation + (count - n_stored) * mean**2
