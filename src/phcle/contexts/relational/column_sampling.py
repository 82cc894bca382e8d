"""Samples of columns that represent all columns.

The dense part of the objective sums over all pairs of labels and columns. A sample of
the columns, drawn in proportion to their mass, gives an unbiased estimate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from phcle.contexts.terms import Sample

__all__ = ["draw_columns"]

Floats = npt.NDArray[np.floating]


def draw_columns(mass: Floats, n: int, rng: np.random.Generator) -> Sample:
    """Draw about `n` columns in proportion to their mass.

    A column is in the sample with probability p = min(1, t · mass), where t makes the
    p's sum to n. Its mass is divided by p. So the sum of mass times something over the
    sample is an unbiased estimate of the sum over all columns, and a column with p = 1
    adds no error. The draw is systematic (one random number and a random order), so the
    size of the sample varies little.

    Parameters
    ----------
    mass : array of shape (columns,)
        Mass of each column.
    n : int
        About how many columns to draw.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of two arrays
        Positions of the drawn columns, and their masses divided by p.
    """
    chance = _chances(mass, n)
    order = rng.permutation(len(mass))
    passed = np.cumsum(chance[order]) + rng.random()
    is_in = np.empty(len(mass), dtype=bool)
    is_in[order] = np.diff(np.floor(passed), prepend=0.0) > 0
    at = np.flatnonzero(is_in)
    return at, mass[at] / chance[at]


def _chances(mass: Floats, n: int) -> Floats:
    """min(1, t · mass), with the t for which they sum to n (or all are 1)."""
    certain = np.zeros(len(mass), dtype=bool)
    while True:
        rest = mass[~certain].sum()
        left = n - np.count_nonzero(certain)
        if left <= 0 or rest <= 0:
            return certain.astype(np.float64)
        chance = np.where(certain, 1.0, mass * (left / rest))
        if (chance <= 1.0).all():
            return chance
        certain = chance >= 1.0
