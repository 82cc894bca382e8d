"""Samples of columns for sweeps that do not compute all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.contexts.relational.column_sampling import draw_columns
from phcle.contexts.terms import Sample
from phcle.solver.problem import Problem

__all__ = ["ColumnSamples", "Drawn"]

Floats = npt.NDArray[np.floating]

GROWS_EVERY = 4
"""After this many sweeps the sample grows by its first size, because the fit needs more
exact estimates as it converges."""


@dataclass(frozen=True)
class Drawn:
    """Samples of one sweep, one for each context.

    Attributes
    ----------
    labels : list of Sample or None, or None
        Labels for updates of the factors; None where all labels are used.
    columns : list of Sample or None, or None
        Columns for updates of W; None where all columns are used.
    """

    labels: list[Sample | None] | None = None
    columns: list[Sample | None] | None = None


class ColumnSamples:
    """Draws the samples of every sweep. The same seed and sweep give the same samples.

    Parameters
    ----------
    problem : Problem
        The contexts.
    n : int
        Number of columns at the first sweep.
    seed : int
        Seed of the samples.
    """

    def __init__(self, problem: Problem, n: int, seed: int) -> None:
        self.masses = [context.masses for context in problem.contexts]
        self.n, self.seed = n, seed

    def draw(self, sweep: int) -> Drawn:
        """Draw the samples of a sweep; they grow during the fit.

        Parameters
        ----------
        sweep : int
            Number of sweeps made so far.

        Returns
        -------
        Drawn
            A sample for each context.
        """
        n = self.n * (1 + sweep // GROWS_EVERY)
        rng = np.random.default_rng([self.seed, sweep])

        def sample(mass: Floats) -> Sample | None:
            return draw_columns(mass, n, rng) if n < np.count_nonzero(mass) else None

        pairs = [
            (None, None) if masses is None else (sample(masses[0]), sample(masses[1]))
            for masses in self.masses
        ]
        return Drawn([rows for rows, _ in pairs], [columns for _, columns in pairs])
