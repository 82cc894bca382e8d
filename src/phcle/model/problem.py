"""A problem, contexts over common labels scaled alike, on the host and on a back end.

`Problem` and `State` are values: they can be inspected, tested, stored and resumed.
`DeviceProblem` holds the terms of a problem as seen from W, and what updates the factor
of every context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, split_rows
from phcle.contexts.alignment import Aligned
from phcle.contexts.labels import as_names
from phcle.contexts.protocol import Context
from phcle.contexts.terms import Penalties, RowUpdate, Sample, View
from phcle.embedding.family_means import Groups


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
    def groups(self) -> list[list[Context]]:
        """Contexts by kind. The weights of each group sum to one."""
        found: dict[str, list[Context]] = {}
        for context in self.contexts:
            found.setdefault(context.kind, []).append(context)
        return list(found.values())

    @cached_property
    def families(self) -> Groups:
        """Families of the labels in all hierarchies."""
        return Groups.of_contexts(self.labels, self.contexts)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of labels and columns that an exact sweep computes."""
        n_columns = sum(context.n_dense_columns for context in self.contexts)
        return len(self.labels) * n_columns

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
        told = tuple(context.beside(informed) for context in contexts)
        return replace(self, labels=as_names(labels), contexts=told)


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

    @property
    def iteration(self) -> int:
        """Sweeps made so far."""
        return len(self.history)


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


class LabelRows:
    """The terms of all contexts for updates of the rows of W.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    problem : Problem
        Labels and contexts.
    """

    def __init__(self, backend: Backend, problem: Problem) -> None:
        contexts, dim = problem.contexts, problem.dim
        widest = max((context.n_dense_columns for context in contexts), default=0)
        self.backend, self.problem = backend, problem
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
        """Return the same rows on a back end that only multiplies in another way.

        Parameters
        ----------
        backend : Backend
            The other back end.

        Returns
        -------
        LabelRows
            The rows there.
        """
        rows = copy(self)
        rows.backend = backend
        rows.terms = [term.on(backend) for term in self.terms]
        return rows

    def views(
        self,
        factors: Sequence[Array],
        weights: Mapping[str, float],
        *,
        samples: Sequence[Sample | None] | None = None,
    ) -> list[View]:
        """Fix the factors and weights of all terms.

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
        list of View
            The terms in the order of the contexts.
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
    """A problem on a back end, with the updates of all factors.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    problem : Problem
        Labels and contexts.
    """

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
        """Improve the factors of contexts once.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factors : sequence of arrays
            One for each context.
        weights : mapping
            α and β by context.
        update_rows : callable
            The solver's update of rows.
        samples : sequence of Sample or None, optional
            For each context the labels that represent all labels. By default all labels
            are used.
        chosen : sequence of bool, optional
            Which contexts to update. By default all of them.
        tol : float, default 1e-5
            Relative change at which an iteration of a context's own ends.

        Returns
        -------
        tuple of arrays
            The new factors.
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
        """Compute the penalties λ2, λ3 and λ4.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factors : sequence of arrays
            One for each context.

        Returns
        -------
        dict
            A number for each penalty.
        """
        return penalty_terms(self.backend.xp, self.problem, W, factors)

    def gram(self, factor: Array) -> Array:
        """Compute factorᵀ factor in double precision.

        Parameters
        ----------
        factor : array of shape (rows, dim)
            W or the factor of a context.

        Returns
        -------
        array of shape (dim, dim)
            The Gram matrix.
        """
        xp = self.backend.xp
        precise = xp.astype(factor, xp.float64)
        return xp.matmul(precise.T, precise)

    def to_numpy(self, factors: Sequence[Array]) -> tuple[np.ndarray, ...]:
        """Copy factors to NumPy arrays in double precision.

        Parameters
        ----------
        factors : sequence of arrays
            Arrays of the back end.

        Returns
        -------
        tuple of arrays
            The same numbers.
        """
        return tuple(
            np.asarray(self.backend.to_numpy(factor), dtype=np.float64)
            for factor in factors
        )


def penalty_terms(
    xp: Any, problem: Problem, W: Array, factors: Sequence[Array]
) -> dict[str, float]:
    """Compute the penalties λ2, λ3 and λ4.

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
            total[name] = total.get(name, 0.0) + value
    return total


def values_and_gradient(
    backend: Backend, factor: Array, views: Sequence[View], blocks: Sequence[Block]
) -> tuple[np.ndarray, Array]:
    """Compute the value of each term over all rows, and the gradient of their sum.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    factor : array of shape (rows, dim)
        The factor.
    views : sequence of View
        The terms.
    blocks : sequence of Block
        Blocks of rows.

    Returns
    -------
    values : array of shape (terms,)
        The value of each term.
    gradient : array of shape (rows, dim)
        The gradient of their sum.
    """
    xp = backend.xp
    totals = np.zeros(len(views))
    gradient = xp.zeros_like(factor)
    for number, block in enumerate(blocks):
        y = xp.take(factor, block.at, axis=0)
        for i, view in enumerate(views):
            local = view.local(number, y)
            totals[i] += float(xp.sum(local.value, dtype=xp.float64))
            gradient[block.at] += local.gradient
    return totals, gradient
