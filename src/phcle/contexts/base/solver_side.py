"""SolverSide: what the solver asks a context for, over the labels of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Ints
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import FactorUpdate, Penalties, StartTarget, Term
from phcle.errors import ContextError


@dataclass(frozen=True, eq=False, kw_only=True)
class SolverSide(ABC):
    """The half of a `FittedContext` that the solver uses.

    Its numbers are arranged by the labels of a problem.

    Attributes
    ----------
    name : str
        Name of the context.
    columns : tuple of str
        Names of the columns that some label uses.
    data : Context or None
        The user's rows of the present labels; None if the context knows none of them.
    weight : float
        α or β, the weight of the context in the objective.
    factor : array of shape (columns, dim)
        Learned vectors; empty until they are learned.
    kind : str
        Name of the kind of context.
    updated_after_labels : bool
        Whether the paper's Algorithm 1 updates the factor after W.
    turns_with_labels : bool
        Whether the factor lies in the space of W, so that both are solved together.
    """

    kind: ClassVar[str]
    updated_after_labels: ClassVar[bool]
    turns_with_labels: ClassVar[bool] = False
    name: str
    columns: tuple[str, ...]
    data: Any
    weight: float = 1.0
    factor: AnyFloats = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def given_name(self) -> str:
        """Name of the user's context that this one was made from."""
        return self.name

    @property
    def informs(self) -> Flags:
        """Labels that the context tells something about by itself: (labels,)."""
        return self.observed

    def beside(self, informed: Flags) -> Self:
        """Return the context, told which labels any context of the problem informs.

        Parameters
        ----------
        informed : array of bool of shape (labels,)
            The labels.

        Returns
        -------
        FittedContext
            The context, or the context itself.
        """
        return self

    def uninformed_error(self, labels: Sequence[str]) -> ContextError | None:
        """Say which labels would get no vector of their own, if any.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        ContextError or None
            The error, to be raised by a fit.
        """
        return None

    @property
    @abstractmethod
    def observed(self) -> Flags:
        """Whether the context knows each label of the problem: (labels,)."""

    @property
    @abstractmethod
    def entries(self) -> sp.csr_array:
        """Cells that the term of W computes one by one: (labels, columns)."""

    @property
    def is_shrunk(self) -> bool:
        """Whether the factor has a penalty of its own instead of the common ridge."""
        return False

    @property
    def n_dense_columns(self) -> int:
        """Number of columns that the term of W computes for every label."""
        return 0

    @property
    def masses(self) -> tuple[AnyFloats, AnyFloats] | None:
        """Masses of labels and columns for drawing samples; None if none are drawn."""
        return None

    @abstractmethod
    def take(self, rows: Ints) -> Self:
        """Return the context over some of the labels of the problem.

        Parameters
        ----------
        rows : array of int
            Positions of the labels.

        Returns
        -------
        FittedContext
            The context over these labels, in this order.
        """

    def again(self, labels: Sequence[str]) -> Self:
        """Arrange the stored data by labels, to fit them again.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        FittedContext
            The context, not learned yet.
        """
        fitted: Self = self.data.in_fit(labels)
        return fitted

    @property
    def log_columns(self) -> tuple[str, ...]:
        """Columns that are fitted on a log scale."""
        return ()

    def shrunk(self, shrinkage: float | None) -> Self:
        """Return the context with another shrinkage of its factor.

        Parameters
        ----------
        shrinkage : float or None
            See `PHCLE`; None leaves the factor to the ridge.

        Returns
        -------
        FittedContext
            The context, or the context itself if it has no shrinkage.
        """
        return self

    @abstractmethod
    def fingerprint_arrays(self) -> list[Any]:
        """Return all scaled numbers, for the fingerprint of a checkpoint.

        Returns
        -------
        list of arrays
            Dense or sparse arrays.
        """

    @abstractmethod
    def term_weight(self, weight: float, lam: Penalties) -> float:
        """Return the number that multiplies the term of the context.

        Parameters
        ----------
        weight : float
            α or β.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        float
            The weight, times λ1 for some kinds.
        """

    @abstractmethod
    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> Term:
        """Return the term of the objective for updates of W.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        blocks : sequence of Block
            Blocks of labels that are updated together.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        Term
            The term over the rows of W.
        """

    @abstractmethod
    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> FactorUpdate:
        """Return what updates the factor while W is fixed.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        dim : int
            Length of a vector.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        FactorUpdate
            The update of this kind of context.
        """

    @abstractmethod
    def factor_penalties(
        self, xp: Any, factor: Array, lam: Penalties
    ) -> Mapping[str, float]:
        """Compute the penalties on the factor.

        Parameters
        ----------
        xp : module
            Array namespace of the factor.
        factor : array of shape (columns, dim)
            The factor.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        mapping from str to float
            Value by name of the penalty.
        """

    @abstractmethod
    def factor_ridge(self, lam: Penalties) -> float:
        """Return the λ of the squared penalty on the factor.

        Parameters
        ----------
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        float
            λ3 or λ4. It balances the factor against W.
        """

    def rebalanced(self, xp: Any, factor: Array, change: Array, undo: Array) -> Array:
        """Return the factor after W was multiplied by a matrix.

        Parameters
        ----------
        xp : module
            Array namespace of the factor.
        factor : array of shape (columns, dim)
            The factor before.
        change : array of shape (dim, dim)
            What W was multiplied by.
        undo : array of shape (dim, dim)
            Its inverse, transposed, so that W times the factor stays the same. A
            factor in the space of the labels would take `change` instead.

        Returns
        -------
        array of shape (columns, dim)
            The factor that belongs to the new W.
        """
        return xp.matmul(factor, undo)

    @abstractmethod
    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> StartTarget:
        """Return what W times the factor should be at the spectral start.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        weight : float
            Weight of the term.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        StartTarget
            Products with the target.
        """

    @abstractmethod
    def loss(self, W: AnyFloats, factor: AnyFloats, lam: Penalties) -> float:
        """Compute the unweighted term in NumPy and double precision, as a reference.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factor : array of shape (columns, dim)
            The factor.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        float
            The term.
        """

    def floor(self, lam: Penalties, backend: Backend | None = None) -> float:
        """Return a lower bound of `loss` over all factors.

        Parameters
        ----------
        lam : Penalties
            Penalties of the fit.
        backend : Backend, optional
            A GPU computes it if this is one; by default NumPy.

        Returns
        -------
        float
            The bound, 0 by default.
        """
        return 0.0

    def learned(self, labels: Sequence[str], weight: float, factor: AnyFloats) -> Self:
        """Return the context as the embedding stores it.

        Parameters
        ----------
        labels : sequence of str
            Labels of the embedding.
        weight : float
            α or β at the end of the fit.
        factor : array of shape (columns, dim)
            Learned vectors.

        Returns
        -------
        FittedContext
            The context without what only the solver needs.
        """
        return replace(self, weight=weight, factor=factor)
