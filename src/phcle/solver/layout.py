"""A problem on a back end: its terms as seen from W and from each C and U."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
import scipy.sparse as sp

from phcle.backends.blocks import split_rows
from phcle.backends.protocol import Array, Backend
from phcle.contexts.descriptive.elastic_net import DescriptionUpdate
from phcle.contexts.descriptive.loss import SquaredTerm
from phcle.contexts.relational.loss import LogisticTerm
from phcle.contexts.relational.sampling import Sample
from phcle.contexts.terms import View
from phcle.solver.problem import Problem, RelationalData

__all__ = ["ColumnSide", "LabelSide", "Layout"]


class LabelSide:
    """All contexts from the rows of W: for sweeps, and for folding labels in."""

    def __init__(self, backend: Backend, problem: Problem) -> None:
        patterns = [data.counts for data in problem.relational]
        patterns += [data.entries for data in problem.descriptive]
        widest = max((len(data.columns) for data in problem.relational), default=1)
        self.problem = problem
        dim = problem.dim
        self.blocks = split_rows(
            backend,
            patterns,
            len(problem.labels),
            dim=dim,
            tile_columns=backend.kept_columns(widest, dim),
        )
        self.logistic = [
            LogisticTerm(
                backend,
                data.counts,
                problem.penalties.negatives * data.row_mass / data.total,
                data.column_mass,
                self.blocks,
            )
            for data in problem.relational
        ]
        self.squared = [
            SquaredTerm(backend, data, self.blocks) for data in problem.descriptive
        ]

    def on(self, backend: Backend) -> LabelSide:
        """The same side on a back end that differs only in how it multiplies."""
        side = copy(self)
        side.logistic = [term.on(backend) for term in self.logistic]
        return side

    def views(
        self,
        C: Sequence[Array],
        U: Sequence[Array],
        weights: Mapping[str, float],
        *,
        samples: Sequence[Sample | None] | None = None,
    ) -> list[View]:
        """Every term with its factor and weight, in the order of problem.names.

        `samples` stand for all columns of the relational contexts.
        """
        samples = samples or [None] * len(self.logistic)
        alphas = [weights[data.name] for data in self.problem.relational]
        betas = [
            weights[data.name] * self.problem.penalties.descriptive
            for data in self.problem.descriptive
        ]
        views: list[View] = [
            term.at(factor, alpha, sample=sample)
            for term, factor, alpha, sample in zip(
                self.logistic, C, alphas, samples, strict=True
            )
        ]
        views += [
            term.at(factor, beta)
            for term, factor, beta in zip(self.squared, U, betas, strict=True)
        ]
        return views


class ColumnSide:
    """One relational context from the rows of its C: D transposed."""

    def __init__(
        self, backend: Backend, data: RelationalData, negatives: float, dim: int
    ) -> None:
        counts = sp.csr_array(data.counts.T)
        counts.sort_indices()
        self.blocks = split_rows(
            backend,
            [counts],
            counts.shape[0],
            dim=dim,
            tile_columns=backend.kept_columns(counts.shape[1], dim),
        )
        self.term = LogisticTerm(
            backend,
            counts,
            negatives * data.column_mass / data.total,
            data.row_mass,
            self.blocks,
        )


class Layout:
    """Both sides of every context, and the updates of U."""

    def __init__(self, backend: Backend, problem: Problem) -> None:
        self.backend = backend
        self.problem = problem
        self.labels = LabelSide(backend, problem)
        self.columns = [
            ColumnSide(backend, data, problem.penalties.negatives, problem.dim)
            for data in problem.relational
        ]
        self.descriptions = [
            DescriptionUpdate(backend, data, problem.dim)
            for data in problem.descriptive
        ]

    def update_descriptions(
        self,
        W: Array,
        U: Sequence[Array],
        weights: Mapping[str, float],
        *,
        max_iter: int,
        tol: float,
    ) -> tuple[Array, ...]:
        """FISTA on every U."""
        lam = self.problem.penalties
        return tuple(
            update(
                W,
                factor,
                weight=lam.descriptive * weights[data.name],
                sparsity=lam.sparsity,
                ridge=lam.ridge,
                max_iter=max_iter,
                tol=tol,
            )
            for update, factor, data in zip(
                self.descriptions, U, self.problem.descriptive, strict=True
            )
        )

    def penalties(
        self, W: Array, C: Sequence[Array], U: Sequence[Array]
    ) -> dict[str, float]:
        """λ2, λ3 and λ4 times what they penalise, by name."""
        xp, lam = self.backend.xp, self.problem.penalties

        def square(factor: Array) -> float:
            return float(xp.sum(factor * factor, dtype=xp.float64))

        absolute = sum(float(xp.sum(xp.abs(u), dtype=xp.float64)) for u in U)
        return {
            "sparsity": lam.sparsity * absolute,
            "ridge": 0.5 * lam.ridge * (square(W) + sum(map(square, U))),
            "context_ridge": 0.5 * lam.context_ridge * sum(map(square, C)),
        }

    def to_numpy(self, factors: Sequence[Array]) -> tuple[np.ndarray, ...]:
        """Factors on the host, in double precision."""
        return tuple(
            np.asarray(self.backend.to_numpy(factor), dtype=np.float64)
            for factor in factors
        )
