"""A problem on a back end: its terms as seen from W, and the updates of the factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import split_rows
from phcle.contexts.terms import RowUpdate, Sample, View
from phcle.solver.problem import Problem

__all__ = ["DeviceProblem", "LabelRows", "penalty_terms"]


class LabelRows:
    """All terms from the rows of W: for sweeps, and for folding labels in."""

    def __init__(self, backend: Backend, problem: Problem) -> None:
        contexts, dim = problem.contexts, problem.dim
        widest = max((context.n_dense_columns for context in contexts), default=0)
        self.problem = problem
        self.blocks = split_rows(
            backend,
            [context.entries for context in contexts],
            len(problem.labels),
            dim=dim,
            tile_columns=backend.columns_in_memory(max(widest, 1), dim),
        )
        self.terms = [
            context.label_term(backend, self.blocks, problem.penalties)
            for context in contexts
        ]

    def on(self, backend: Backend) -> LabelRows:
        """The same rows on a back end that differs only in how it multiplies."""
        rows = copy(self)
        rows.terms = [term.on(backend) for term in self.terms]
        return rows

    def views(
        self,
        factors: Sequence[Array],
        weights: Mapping[str, float],
        *,
        samples: Sequence[Sample | None] | None = None,
    ) -> list[View]:
        """Every term with its factor and weight, in the order of the contexts.

        `samples` stand for all columns of their contexts.
        """
        lam, contexts = self.problem.penalties, self.problem.contexts
        samples = samples or [None] * len(contexts)
        return [
            term.at(
                factor, context.term_weight(weights[context.name], lam), sample=sample
            )
            for context, term, factor, sample in zip(
                contexts, self.terms, factors, samples, strict=True
            )
        ]


class DeviceProblem:
    """A problem on a back end, with what updates the factor of every context."""

    def __init__(self, backend: Backend, problem: Problem) -> None:
        self.backend = backend
        self.problem = problem
        self.labels = LabelRows(backend, problem)
        self.updates = [
            context.factor_update(backend, problem.dim, problem.penalties)
            for context in problem.contexts
        ]

    def update_factors(
        self,
        W: Array,
        factors: Sequence[Array],
        weights: Mapping[str, float],
        update_rows: RowUpdate,
        *,
        samples: Sequence[Sample | None] | None = None,
        chosen: Sequence[bool] | None = None,
        tol: float = 1e-5,
    ) -> tuple[Array, ...]:
        """Improve the factor of every context, or of the chosen ones, once.

        `samples` stand for all labels.
        """
        lam, contexts = self.problem.penalties, self.problem.contexts
        samples = samples or [None] * len(contexts)
        chosen = chosen or [True] * len(contexts)
        return tuple(
            update.improve(
                W,
                factor,
                context.term_weight(weights[context.name], lam),
                update_rows,
                sample=sample,
                tol=tol,
            )
            if is_chosen
            else factor
            for context, update, factor, sample, is_chosen in zip(
                contexts, self.updates, factors, samples, chosen, strict=True
            )
        )

    def penalties(self, W: Array, factors: Sequence[Array]) -> dict[str, float]:
        """λ2, λ3 and λ4 times what they penalise, by name."""
        return penalty_terms(self.backend.xp, self.problem, W, factors)

    def to_numpy(self, factors: Sequence[Array]) -> tuple[np.ndarray, ...]:
        """Factors on the host, in double precision."""
        return tuple(
            np.asarray(self.backend.to_numpy(factor), dtype=np.float64)
            for factor in factors
        )


def penalty_terms(
    xp: Any, problem: Problem, W: Array, factors: Sequence[Array]
) -> dict[str, float]:
    """λ2, λ3 and λ4 times what they penalise, by name.

    Parameters
    ----------
    xp : module
        Array namespace of the factors.
    problem : Problem
        Contexts and penalties.
    W : array of shape (labels, dim)
        Label vectors.
    factors : sequence of arrays
        One for each context.

    Returns
    -------
    dict
        A number for each penalty.
    """
    lam = problem.penalties
    square = float(xp.sum(W * W, dtype=xp.float64))
    total = {"sparsity": 0.0, "ridge": 0.5 * lam.ridge * square, "context_ridge": 0.0}
    for context, factor in zip(problem.contexts, factors, strict=True):
        for name, value in context.factor_penalties(xp, factor, lam).items():
            total[name] += value
    return total
