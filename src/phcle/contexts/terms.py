"""How the solver uses the term of a context when it updates the rows of a factor.

While the other factor is fixed, every kind of context answers the same questions about
a block of rows y (r × d): value and gradient at y, a curvature for a step, and the
value after a step. `W` depends on every context, the factor of a context on its own
context only, and a label that is folded in on the contexts that know it. One update
serves all of them.

Symbols: y a row that is updated, Z the other factor, x = y·z, σ the logistic function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, PaddedRows, pad_rows, split_rows

Sample = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Positions of sampled columns, and the mass that each represents."""


Made = TypeVar("Made")


class Local(Protocol):
    """A term at a block of rows.

    Attributes
    ----------
    value : array of shape (r,)
        Value of each row.
    gradient : array of shape (r, dim)
        Gradient of each row.
    """

    value: Array
    gradient: Array

    def value_at(self, y: Array, chosen: Array | slice) -> Array:
        """Compute the value of some rows that have moved.

        Parameters
        ----------
        y : array of shape (chosen, dim)
            Where these rows are now.
        chosen : array of int, or slice
            The rows.

        Returns
        -------
        array of shape (chosen,)
            Their values.
        """

    def product(self, z: Array, *, exact: bool = False) -> Array:
        """Multiply the curvature of each row by a vector.

        Parameters
        ----------
        z : array of shape (r, dim)
            A vector for each row.
        exact : bool, default False
            Take the curvature of a Newton step. The one of a sweep is cheaper: exact
            for known entries, elsewhere only its trace is exact.

        Returns
        -------
        array of shape (r, dim)
            The products.
        """

    def mean_curvature(self) -> Array:
        """Estimate the mean curvature of the block, for preconditioning.

        Returns
        -------
        array of shape (dim, dim)
            A rough mean.
        """

    def lighten(self) -> None:
        """Free what neither `mean_curvature` nor exact products need.

        So all blocks of rows can be kept at once. By default nothing is freed.
        """
        return


class Term(Protocol):
    """The term of one context, arranged in blocks of rows."""

    def on(self, backend: Backend) -> Term:
        """Return the same term on a back end that only multiplies in another way.

        Parameters
        ----------
        backend : Backend
            The other back end.

        Returns
        -------
        Term
            The term there; by default the same one.
        """
        return self

    def at(self, other: Array, weight: float, *, sample: Sample | None = None) -> Self:
        """Fix the other factor and the weight.

        Parameters
        ----------
        other : array of shape (columns, dim)
            The other factor.
        weight : float
            Weight of the term.
        sample : Sample, optional
            Columns that represent all columns in the dense part. By default all are
            used.

        Returns
        -------
        Term
            The term for this factor and weight.
        """

    def local(self, block: int, y: Array, chosen: Array | None = None) -> Local:
        """Evaluate the term at a block of rows, for a fixed other factor.

        Parameters
        ----------
        block : int
            Number of the block.
        y : array of shape (r, dim)
            The rows.
        chosen : array of int, optional
            Positions of `y` in the block. By default `y` is the whole block.

        Returns
        -------
        Local
            The term at these rows.
        """


class FactorUpdate(Protocol):
    """Updates the factor of one context while W is fixed."""

    def improve(
        self, W: Array, factor: Array, weight: float, *, tol: float = 1e-5
    ) -> Array:
        """Improve the factor, so that it gets no worse.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factor : array of shape (columns, dim)
            The factor.
        weight : float
            Weight of the term.
        tol : float, default 1e-5
            Relative change at which an iteration of the context's own ends.

        Returns
        -------
        array of shape (columns, dim)
            The improved factor.
        """

    def label_grams(
        self, W: Array, factor: Array, weight: float
    ) -> tuple[Array, Array] | None:
        """Compute what changes when W and the factor are multiplied by one matrix.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factor : array of shape (columns, dim)
            The factor.
        weight : float
            Weight of the term.

        Returns
        -------
        tuple of arrays of shape (dim, dim), or None
            Two matrices; half their traces are the term and the penalty on the factor.
            None if the factor does not turn with W.
        """
        return None


class LinearUpdate(FactorUpdate, Protocol):
    """Updates a factor that is a linear function of W, and pulls W in turn."""

    def response(self, change: Array, weight: float) -> Array:
        """Compute how the factor that follows a change of W pulls the labels in turn.

        Parameters
        ----------
        change : array of shape (labels, dim)
            The change; zero in rows of other processes.
        weight : float
            Weight of the term.

        Returns
        -------
        array of shape (labels, dim)
            Minus the change of the gradient in W; zero for labels that the factor is
            not solved from.
        """


@dataclass(frozen=True)
class StartTarget:
    """What W times the factor of a context should be at the spectral start.

    Attributes
    ----------
    weight : float
        Weight of this target among the targets of all contexts.
    product : callable
        Multiplies the target by a matrix V of shape (columns, p).
    transposed : callable
        Multiplies the transposed target by a matrix W of shape (labels, p).
    """

    weight: float
    product: Callable[[Array], Array]
    transposed: Callable[[Array], Array]


def sparse_target(backend: Backend, matrix: Any, weight: float) -> StartTarget:
    """Make a target from a sparse matrix.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    matrix : csr_array or StoredRows of shape (labels, columns)
        What W times the factor should be.
    weight : float
        Weight of the target.

    Returns
    -------
    StartTarget
        Products with the matrix.
    """
    here, turned = backend.sparse(matrix), backend.sparse(backend.turned(matrix))
    return StartTarget(
        weight,
        lambda V: here @ V,
        lambda W: turned @ W,
    )


def padded_blocks(
    backend: Backend, entries: Any, blocks: Sequence[Block]
) -> dict[int, PaddedRows]:
    """Pad the entries of the blocks that this process updates.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    entries : csr_array or StoredRows of shape (rows, columns)
        The entries.
    blocks : sequence of Block
        Blocks of rows that are updated together.

    Returns
    -------
    dict
        The entries by number of the block. Rows without any have one unknown cell.
    """

    def padded(rows: Ints) -> PaddedRows:
        none = np.zeros((len(rows), 1), dtype=np.int64)
        found = pad_rows(entries, rows, backend)
        zeros = backend.asarray(none)
        return found or PaddedRows(backend.indices(none), zeros, zeros)

    own = backend.processes.own_blocks(len(blocks))
    return {number: padded(blocks[number].rows) for number in own}


class ColumnUpdate:
    """The term of a context over its columns, which the solver updates as rows.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    entries : csr_array or StoredRows of shape (labels, columns)
        Known cells of the context, perhaps from `Backend.stored`.
    make_term : callable
        Makes the transposed term from the transposed entries and the blocks of columns.
    ridge : float
        The λ of the squared penalty on the factor.
    dim : int
        Length of a vector.
    """

    def __init__(
        self,
        backend: Backend,
        entries: Any,
        make_term: Callable[[Any, Sequence[Block]], Term],
        ridge: float,
        dim: int,
    ) -> None:
        turned = backend.turned(entries)
        self.ridge = ridge
        self.blocks = split_rows(
            backend,
            [turned],
            turned.shape[0],
            dim=dim,
            tile_columns=backend.columns_in_memory(turned.shape[1], dim),
        )
        self.term = make_term(turned, self.blocks)


def kept_by_backend(make: Callable[[Any, Backend], Made]) -> Callable[..., Made]:
    """Keep what a method makes for a back end, because moving it there takes time.

    Parameters
    ----------
    make : callable
        The method.

    Returns
    -------
    callable
        The method, which makes it once for back ends that are alike.
    """

    @wraps(make)
    def kept(self: Any, backend: Backend) -> Made:
        made = vars(self).setdefault(f"{make.__name__} by back end", {})
        key = (backend.name, str(getattr(backend, "device", "cpu")), backend.dtype)
        if key not in made:
            made[key] = make(self, backend)
        return cast(Made, made[key])

    return kept


UNITS = 100.0
"""Contexts are scaled to this sum of counts, or of squared deviations, per label. The
value is a convention: the default penalties were chosen for it."""


@dataclass(frozen=True)
class Penalties:
    """The penalties λ of the objective, and k.

    Attributes
    ----------
    negatives : float
        k, the negatives per count of relational contexts.
    descriptive : float
        λ1, the weight of descriptive contexts against relational ones.
    sparsity : float
        λ2, the penalty on absolute values of U.
    ridge : float
        λ3, the penalty on squares of W and U.
    context_ridge : float
        λ4, the penalty on squares of C.
    stiffness : float
        γ, how strongly the nodes of a family hold together, relative to λ3.
    """

    negatives: float
    descriptive: float
    sparsity: float
    ridge: float
    context_ridge: float
    stiffness: float = 1.0
