"""Samples of the columns for sweeps that do not go over all pairs."""

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
"""Sweeps after which the sample grows by its first size: noise falls with progress."""


@dataclass(frozen=True)
class Drawn:
    """Samples of one sweep, one for each context; None where everything is used."""

    labels: list[Sample | None] | None = None  # for all labels, when factors change
    columns: list[Sample | None] | None = None  # for all columns, when W changes


class ColumnSamples:
    """Draws the samples of every sweep; the same seed and sweep give the same draw."""

    def __init__(self, problem: Problem, n: int, seed: int) -> None:
        self.masses = [context.masses for context in problem.contexts]
        self.n, self.seed = n, seed

    def draw(self, sweep: int) -> Drawn:
        """Samples for a sweep, of a size that grows as the fit settles."""
        n = self.n * (1 + sweep // GROWS_EVERY)
        rng = np.random.default_rng([self.seed, sweep])

        def sample(mass: Floats) -> Sample | None:
            return draw_columns(mass, n, rng) if n < np.count_nonzero(mass) else None

        pairs = [
            (None, None) if masses is None else (sample(masses[0]), sample(masses[1]))
            for masses in self.masses
        ]
        return Drawn([rows for rows, _ in pairs], [columns for _, columns in pairs])
