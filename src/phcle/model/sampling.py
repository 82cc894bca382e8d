"""A few columns that stand for all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["draw_columns"]

Floats = npt.NDArray[np.float64]


def draw_columns(
    mass: Floats, n: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Floats]:
    """About `n` columns drawn in proportion to their mass, and what each stands for.

    A column is in the sample with probability p = min(1, t · mass), where t makes the
    p's sum up to n, and stands for mass / p there. So every sum over columns of mass
    times something has the sum over the sample as an unbiased estimate, and a column
    that outweighs a draw is always there, without any error. The draw is systematic:
    one random number and a random order, so the size hardly varies.
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
