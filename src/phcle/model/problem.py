"""A problem, contexts over common labels scaled alike, on the host and on a back end.

`Problem` and `State` are values: they can be inspected, tested, stored and resumed.
`DeviceProblem` holds the terms of a problem as seen from W, and what updates the factor
of every context.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from phcle.arrays import AnyFloats
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import split_rows
from phcle.contexts.alignment import Aligned
from phcle.contexts.logistic import draw_columns
from phcle.contexts.protocol import (
    ColumnUpdate,
    Context,
    FactorUpdate,
    Penalties,
    Sample,
)
from phcle.model.rows import Rows

Weights = Mapping[str, float]
"""α and β by context."""


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
class Problem:
    """All that the objective needs, except factors and weights.

    Attributes
    ----------
    labels : tuple of str
        Labels of all rows of W.
    contexts : tuple of Context
        The contexts over these labels.
    penalties : Penalties
        The λ's and k.
    dim : int
        Length of a vector.
    """

    labels: tuple[str, ...]
    contexts: tuple[Context, ...]
    penalties: Penalties
    dim: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all contexts."""
        return tuple(context.name for context in self.contexts)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms of all contexts in the history."""
        return tuple(f"{context.kind}:{context.name}" for context in self.contexts)

    @property
    def groups(self) -> list[list[Context]]:
        """Contexts by kind. The weights of each group sum to one."""
        found: dict[str, list[Context]] = {}
        for context in self.contexts:
            found.setdefault(context.kind, []).append(context)
        return list(found.values())

    @property
    def n_pairs(self) -> int:
        """Number of pairs of labels and columns that an exact sweep computes."""
        n_columns = sum(context.n_dense_columns for context in self.contexts)
        return len(self.labels) * n_columns

    def uninformed(self, weights: Weights, *, is_fit: bool = True) -> list[str]:
        """Find the labels about which no context with a weight tells anything.

        Parameters
        ----------
        weights : mapping
            α and β by context.
        is_fit : bool, default True
            Whether columns whose values are all equal tell nothing.

        Returns
        -------
        list of str
            The labels.
        """
        informed = np.zeros(len(self.labels), dtype=bool)
        for context in self.contexts:
            if weights[context.name] > 0:
                is_strict = is_fit and not context.turns_with_labels
                informed |= context.informs if is_strict else context.observed
        return [self.labels[i] for i in np.flatnonzero(~informed)]

    def over(self, labels: Sequence[str], contexts: Sequence[Context]) -> Problem:
        """Return the same model over other labels or values.

        Parameters
        ----------
        labels : sequence of str
            The labels.
        contexts : sequence of Context
            The contexts over these labels.

        Returns
        -------
        Problem
            The new problem.
        """
        informed = np.any([context.informs for context in contexts], axis=0)
        informed_contexts = tuple(context.beside(informed) for context in contexts)
        return replace(self, labels=tuple(labels), contexts=informed_contexts)

    def term_weights(self, weights: Weights) -> list[float]:
        """Compute what multiplies the term of each context.

        Parameters
        ----------
        weights : mapping
            α and β by context.

        Returns
        -------
        list of float
            The weights, with λ1 for some kinds.
        """
        lam = self.penalties
        return [
            context.term_weight(weights[context.name], lam) for context in self.contexts
        ]

    def penalty_terms(
        self, xp: Any, W: Array, factors: Sequence[Array]
    ) -> dict[str, float]:
        """Compute the penalties λ2, λ3 and λ4.

        Parameters
        ----------
        xp : module
            Array namespace of the factors.
        W : array of shape (labels, dim)
            Label vectors.
        factors : sequence of arrays
            One for each context.

        Returns
        -------
        dict
            A number for each penalty.
        """
        lam, square = self.penalties, float(xp.sum(W * W, dtype=xp.float64))
        total = {"sparsity": 0.0, "ridge": 0.5 * lam.ridge * square}
        total["context_ridge"] = 0.0
        for context, factor in zip(self.contexts, factors, strict=True):
            for name, value in context.penalties(xp, factor, lam).items():
                total[name] = total.get(name, 0.0) + value
        return total


@dataclass(frozen=True)
class State:
    """Factors and weights after some sweeps, and the history.

    Attributes
    ----------
    W : array of shape (labels, dim)
        Label vectors.
    factors : tuple of arrays
        The factor of each context, in the order of the problem.
    weights : dict
        α and β by context.
    history : tuple of dict
        A record for each sweep.
    risen : str or None
        Name of the context whose loss rose most in a sweep that was given up; the fit
        ends before that sweep.
    """

    W: Array
    factors: tuple[Array, ...]
    weights: dict[str, float]
    history: tuple[dict[str, float], ...] = ()
    risen: str | None = None

    @classmethod
    def at(cls, start: Sequence[Array], weights: Weights) -> Self:
        """Return the state before the first sweep.

        Parameters
        ----------
        start : sequence of arrays
            W, then the factor of each context.
        weights : mapping
            α and β by context.

        Returns
        -------
        State
            The state.
        """
        return cls(start[0], tuple(start[1:]), dict(weights))

    @property
    def iteration(self) -> int:
        """Sweeps made so far."""
        return len(self.history)


def penalties_of(options: Mapping[str, Any]) -> Penalties:
    """Take the λ's and k from the options of a fit.

    Parameters
    ----------
    options : mapping from str to object
        All options.

    Returns
    -------
    Penalties
        The λ's and k.
    """
    names = ("negatives", "sparsity", "ridge", "context_ridge", "stiffness")
    numbers = {name: float(options[name]) for name in names}
    return Penalties(**numbers, descriptive=float(options["descriptive_weight"]))


def pose(aligned: Aligned, penalties: Penalties, dim: int) -> Problem:
    """Scale aligned contexts and arrange them by the common labels.

    Parameters
    ----------
    aligned : Aligned
        Contexts and their vocabulary.
    penalties : Penalties
        The λ's and k.
    dim : int
        Length of a vector.

    Returns
    -------
    Problem
        The problem to solve.
    """
    contexts = [
        part.in_fit(aligned.labels)
        for context in aligned.contexts
        for part in context.parts()
    ]
    return Problem((), (), penalties, dim).over(aligned.labels, contexts)


class DeviceProblem:
    """A problem on a back end: the terms of W, and the updates of all factors.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    problem : Problem
        Labels and contexts.
    """

    def __init__(self, backend: Backend, problem: Problem) -> None:
        contexts, dim = problem.contexts, problem.dim
        self.backend, self.problem = backend, problem
        self.widest = max((x.n_dense_columns for x in contexts), default=0)
        self.blocks = split_rows(
            backend,
            [context.entries for context in contexts],
            len(problem.labels),
            dim=dim,
            tile_columns=backend.columns_in_memory(max(self.widest, 1), dim),
        )
        self.terms = [
            context.label_term(backend, self.blocks, problem.penalties)
            for context in contexts
        ]

    @cached_property
    def updates(self) -> list[FactorUpdate | ColumnUpdate]:
        """What updates the factor of each context."""
        backend, problem = self.backend, self.problem
        return [
            context.factor_update(backend, problem.dim, problem.penalties)
            for context in problem.contexts
        ]

    def on(self, backend: Backend) -> DeviceProblem:
        """Return the same problem on a back end that only multiplies in another way.

        Parameters
        ----------
        backend : Backend
            The other back end.

        Returns
        -------
        DeviceProblem
            The problem there.
        """
        if backend is self.backend:
            return self
        there = copy(self)
        there.backend = backend
        there.terms = [term.on(backend) for term in self.terms]
        return there

    def rows(
        self,
        factors: Sequence[Array],
        weights: Weights,
        samples: Sequence[Sample | None] | None = None,
    ) -> Rows:
        """Fix the factors and weights of all terms of W.

        Parameters
        ----------
        factors : sequence of arrays
            One for each context.
        weights : mapping
            α and β by context.
        samples : sequence of Sample or None, optional
            For each context the columns that represent all its columns. By default all
            columns are used.

        Returns
        -------
        Rows
            The rows of W.
        """
        sizes = self.problem.term_weights(weights)
        samples = samples or [None] * len(sizes)
        terms = [
            term.at(factor, size, sample=sample)
            for term, factor, size, sample in zip(
                self.terms, factors, sizes, samples, strict=True
            )
        ]
        return Rows(self.backend, terms, self.problem.penalties.ridge, self.blocks)

    def columns(
        self,
        update: ColumnUpdate,
        W: Array,
        weight: float,
        sample: Sample | None = None,
    ) -> Rows:
        """Fix W in the term of a context whose columns are updated like rows.

        Parameters
        ----------
        update : ColumnUpdate
            One of `updates`.
        W : array of shape (labels, dim)
            Label vectors.
        weight : float
            Weight of the term.
        sample : Sample, optional
            Labels that represent all labels. By default all are used.

        Returns
        -------
        Rows
            The columns.
        """
        term = update.term.at(W, weight, sample=sample)
        return Rows(self.backend, [term], update.ridge, update.blocks)

    def to_numpy(self, factors: Sequence[Array]) -> tuple[AnyFloats, ...]:
        """Copy factors to the host, in double precision.

        Parameters
        ----------
        factors : sequence of arrays
            Arrays of the back end.

        Returns
        -------
        tuple of arrays
            The same numbers.
        """
        on_host = map(self.backend.to_numpy, factors)
        return tuple(np.asarray(factor, dtype=np.float64) for factor in on_host)


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
    problem, sizes = device.problem, (EXACT_PAIRS, SAMPLE, sys.maxsize)
    if device.backend.is_accelerated:
        sizes = GPU_EXACT_PAIRS, GPU_SAMPLE, 2 * GPU_SAMPLE
    exact_pairs, first, most = sizes
    is_large = len(problem.labels) * device.widest > exact_pairs
    if mode == "exact" or (mode == "auto" and not is_large):
        return None
    return ColumnSamples(problem, first, seed, most)
