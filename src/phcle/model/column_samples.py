"""Samples of columns for sweeps that do not compute all pairs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phcle.arrays import AnyFloats
from phcle.contexts.logistic import draw_columns
from phcle.contexts.protocol import Sample
from phcle.model.problem import DeviceProblem, Problem

GROWS_EVERY = 4
"""After this many sweeps the sample grows by its first size, because the fit needs more
exact estimates as it converges."""

EXACT_PAIRS, GPU_EXACT_PAIRS = 300_000_000, 100_000_000_000
"""mode="auto" samples contexts with more pairs than this, on a CPU and on a GPU, where
an exact sweep would take longer than a few seconds, or than half a second."""

SAMPLE, GPU_SAMPLE = 2_048, 32_768
"""Columns in the first sample, on a CPU and on a GPU. It grows with the sweeps, on a
GPU to twice as many: with more, they would take longer than known entries do."""


@dataclass(frozen=True)
class Drawn:
    """Samples of one sweep, one for each context.

    Attributes
    ----------
    n : int
        About how many labels and columns were drawn from each context.
    labels : list of Sample or None, or None
        Labels for updates of the factors; None where all labels are used.
    columns : list of Sample or None, or None
        Columns for updates of W; None where all columns are used.
    """

    n: int = 0
    labels: Sequence[Sample | None] | None = None
    columns: Sequence[Sample | None] | None = None


EVERYTHING = Drawn()
"""All labels and columns."""


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
    most : int, optional
        Largest number of columns; by default there is no limit.
    """

    def __init__(
        self, problem: Problem, n: int, seed: int, most: int = sys.maxsize
    ) -> None:
        self.masses = [context.masses for context in problem.contexts]
        self.n, self.seed, self.most = n, seed, most

    def draw(self, sweep: int, least: int = 0) -> Drawn:
        """Draw the samples of a sweep; they grow during the fit.

        Parameters
        ----------
        sweep : int
            Number of sweeps made so far.
        least : int, default 0
            Columns that are needed, even if so many were not planned for this sweep.

        Returns
        -------
        Drawn
            A sample for each context.
        """
        n = max(min(self.n * (1 + sweep // GROWS_EVERY), self.most), least)
        rng = np.random.default_rng([self.seed, sweep])

        def some(mass: AnyFloats) -> Sample | None:
            is_all = n >= np.count_nonzero(mass)
            return None if is_all else draw_columns(mass, n, rng)

        drawn = [tuple(map(some, x)) if x else (None, None) for x in self.masses]
        labels, columns = zip(*drawn, strict=True)
        return Drawn(n, labels, columns)


def samples_for(device: DeviceProblem, mode: str, seed: int) -> ColumnSamples | None:
    """Return what draws the columns of a sampled fit.

    Parameters
    ----------
    device : DeviceProblem
        The problem, where it is solved.
    mode : {"auto", "exact", "sampled"}
        Whether to draw samples; "auto" draws them from large contexts.
    seed : int
        Seed of the samples.

    Returns
    -------
    ColumnSamples or None
        None for an exact fit.
    """
    problem, is_gpu = device.problem, device.backend.is_accelerated
    widest = max((context.n_dense_columns for context in problem.contexts), default=0)
    is_large = len(problem.labels) * widest > (
        GPU_EXACT_PAIRS if is_gpu else EXACT_PAIRS
    )
    if mode == "exact" or (mode == "auto" and not is_large):
        return None
    if is_gpu:
        return ColumnSamples(problem, GPU_SAMPLE, seed, most=2 * GPU_SAMPLE)
    return ColumnSamples(problem, SAMPLE, seed)
