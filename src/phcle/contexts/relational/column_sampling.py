"""A few columns that stand for all of them.

The dense part of the objective sums over all pairs of labels and columns. A sample of
the columns, drawn in proportion to their mass, estimates it without bias.
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
    p's sum up to n, and stands for the mass / p. So the sum over the sample of mass
    times something is an unbiased estimate of the sum over all columns, and a column
    with p = 1 adds no error. The draw is systematic (one random number and a random
    order), so the size hardly varies.

    Parameters
    ----------
    mass : array of shape (columns,)
        What the columns are drawn by.
    n : int
        About how many columns to draw.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of two arrays
        Positions of the drawn columns, and the mass that each stands for.
    """
    chance = _chances(mass, n)
    order = rng.permutation(len(mass))
    passed = np.cumsum(chance[order]) + rng.random()
    is_in = np.empty(len(mass), dtype=bool)
    is_in[order] = np.diff(np.floor(passed), prepend=0.0) > 0
    at = np.flatnonzero(is_in)
    return at, mass[at] / chance[at]


def _chances(mass: Floats, n: int) -> Floats:
    """min(1, t · mass), with the t for which they sum up to n (or all are 1)."""
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
