"""Update the vectors of columns as the solver updates those of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, split_rows
from phcle.contexts.terms import FactorUpdate, RowUpdate, Sample, Term


class ColumnUpdate(FactorUpdate):
    """Updates a factor by the term of its context, transposed.

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

    def improve(
        self,
        W: Array,
        factor: Array,
        weight: float,
        update_rows: RowUpdate,
        *,
        sample: Sample | None = None,
        tol: float = 1e-5,
    ) -> Array:
        """Let the solver update every row once."""
        view = self.term.at(W, weight, sample=sample)
        return update_rows(factor, [view], self.ridge, self.blocks)
