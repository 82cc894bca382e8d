"""Samples of columns for sweeps that do not compute all pairs."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.contexts.logistic import (
    SHUFFLED,
    draw_columns,
    draw_strata,
)
from phcle.contexts.terms import Sample
from phcle.model.problem import DeviceProblem, Problem

Floats = npt.NDArray[np.floating]

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
    labels : list of Sample or None
        Labels for updates of the factors; None where all labels are used.
    columns : list of Sample or None
        Columns for updates of W; None where all columns are used.
    """

    n: int
    labels: list[Sample | None]
    columns: list[Sample | None]


class _Masses:
    """Masses from which samples are drawn, with what every draw needs."""

    def __init__(self, mass: Floats) -> None:
        self.mass, self.n_positive = mass, int(np.count_nonzero(mass))
        # The draw from very many columns begins with this sum.
        self.passed = np.cumsum(mass) if len(mass) > SHUFFLED else None

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        if self.passed is not None:
            return draw_strata(self.passed, n, rng)
        return draw_columns(self.mass, n, rng)


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
        self.masses = [
            None if context.masses is None else tuple(map(_Masses, context.masses))
            for context in problem.contexts
        ]
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

        def sample(masses: _Masses) -> Sample | None:
            return masses.draw(n, rng) if n < masses.n_positive else None

        pairs = [
            (None, None) if masses is None else (sample(masses[0]), sample(masses[1]))
            for masses in self.masses
        ]
        rows, columns = zip(*pairs, strict=True)
        return Drawn(n, list(rows), list(columns))


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
    n_labels = len(device.problem.labels)
    is_gpu = device.backend.is_accelerated
    most = GPU_EXACT_PAIRS if is_gpu else EXACT_PAIRS
    is_large = any(
        n_labels * context.n_dense_columns > most for context in device.problem.contexts
    )
    if mode == "exact" or (mode == "auto" and not is_large):
        return None
    if not is_gpu:
        return ColumnSamples(device.problem, SAMPLE, seed)
    return ColumnSamples(device.problem, GPU_SAMPLE, seed, most=2 * GPU_SAMPLE)
