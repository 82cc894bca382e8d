"""Samples of columns that represent all columns.

The dense part of the objective sums over all pairs of labels and columns. A sample of
the columns, drawn in proportion to their mass, gives an unbiased estimate.
"""

from __future__ import annotations

import numpy as np

from phcle.arrays import AnyFloats
from phcle.contexts.terms import Sample

SHUFFLED = 1_000_000
"""Most columns that are put into a random order for a draw. A million take a tenth of a
second, as long as a sampled sweep over them on a GPU."""


def draw_columns(mass: AnyFloats, n: float, rng: np.random.Generator) -> Sample:
    """Draw about `n` columns in proportion to their mass.

    A column is in the sample with probability p = min(1, t · mass), where t makes the
    p's sum to n. Its mass is divided by p. So the sum of mass times something over the
    sample is an unbiased estimate of the sum over all columns, and a column with p = 1
    adds no error. The draw is systematic (one random number and a random order), so the
    size of the sample varies little. Among more than a million columns, it is
    stratified instead; see `draw_strata`.

    Parameters
    ----------
    mass : array of shape (columns,)
        Mass of each column.
    n : float
        About how many columns to draw.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of two arrays
        Positions of the drawn columns, and their masses divided by p.
    """
    if len(mass) > SHUFFLED:
        return draw_strata(np.cumsum(mass), round(n), rng)
    chance = _chances(mass, n)
    order = rng.permutation(len(mass))
    passed = np.cumsum(chance[order]) + rng.random()
    is_in = np.empty(len(mass), dtype=bool)
    is_in[order] = np.diff(np.floor(passed), prepend=0.0) > 0
    at = np.flatnonzero(is_in)
    return at, mass[at] / chance[at]


def draw_strata(passed: AnyFloats, n: int, rng: np.random.Generator) -> Sample:
    """Draw `n` times in proportion to mass, once in each of `n` shares of the total.

    The order of the columns makes the shares, so that neighbours are not all drawn or
    all left out. Estimates are unbiased here as well. It takes a few steps for each
    drawn column and none for the others.

    Parameters
    ----------
    passed : array of shape (columns,)
        Cumulative mass.
    n : int
        How many to draw; one that is drawn twice counts twice and is listed once.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of two arrays
        Positions of the drawn columns, and the masses that they stand for.
    """
    share = passed[-1] / n
    there = (np.arange(n) + rng.random(n)) * share
    drawn = np.searchsorted(passed, there, side="right")
    # Rounding may carry the last one beyond the end.
    last = np.searchsorted(passed, passed[-1])
    at, times = np.unique(np.minimum(drawn, last), return_counts=True)
    return at, times * share


def _chances(mass: AnyFloats, n: float) -> AnyFloats:
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
