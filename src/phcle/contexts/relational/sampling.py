"""A few columns that stand for all of them.

The dense part of the objective sums over all pairs of labels and columns. A sample of
the columns, drawn in proportion to their mass, estimates it without bias; the Gram
matrix, which the curvature is made of, needs no sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.solver.problem import Problem

__all__ = ["ColumnSamples", "Drawn", "Sample", "draw_columns"]

Floats = npt.NDArray[np.float64]

Sample = tuple[npt.NDArray[np.int64], Floats]
"""Positions of columns, and the mass that each of them stands for."""


@dataclass(frozen=True)
class Drawn:
    """Samples of one sweep, by relational context; None where all are taken."""

    labels: list[Sample | None]  # what stands for all labels when C is updated
    columns: list[Sample | None]  # what stands for all columns when W is updated

    @classmethod
    def all_columns(cls, n_contexts: int) -> Drawn:
        """No sample of any context."""
        return cls([None] * n_contexts, [None] * n_contexts)


class ColumnSamples:
    """Draws the samples of every sweep; the same seed and sweep give the same draw."""

    def __init__(self, problem: Problem, n: int, seed: int) -> None:
        self.masses = [(d.row_mass, d.column_mass) for d in problem.relational]
        self.n, self.seed = n, seed

    def draw(self, sweep: int) -> Drawn:
        """Samples for a sweep, of a size that grows as the fit settles."""
        n = self.n * (1 + sweep // GROWS_EVERY)
        rng = np.random.default_rng([self.seed, sweep])

        def sample(mass: Floats) -> Sample | None:
            return draw_columns(mass, n, rng) if n < np.count_nonzero(mass) else None

        pairs = [(sample(rows), sample(columns)) for rows, columns in self.masses]
        return Drawn([rows for rows, _ in pairs], [columns for _, columns in pairs])


GROWS_EVERY = 4
"""Sweeps after which the sample grows by its first size: noise falls with progress."""


def draw_columns(mass: Floats, n: int, rng: np.random.Generator) -> Sample:
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
