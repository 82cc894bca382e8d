"""The term of descriptive values, squared errors, and their spectral start."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.descriptive.scaled_values import ScaledValues
from phcle.contexts.matrices import keep_entries
from phcle.contexts.terms import (
    Curvature,
    Line,
    Local,
    Sample,
    StartTarget,
    Term,
    View,
)


class SquaredTerm(Term):
    """The term λ1 β / 2 · Σ_{a observed} (A_ya − x_ya)².

    Parameters
    ----------
    backend : Backend
        Where to compute.
    values : ScaledValues
        A and I of the context.
    blocks : sequence of Block
        Blocks of labels that are updated together.
    """

    def __init__(
        self, backend: Backend, values: ScaledValues, blocks: Sequence[Block]
    ) -> None:
        by_gaps = values.by_row.by_gaps
        self.backend = backend
        self.blocks = blocks
        own = backend.processes.own_blocks(len(blocks))
        self.padded = [
            values.by_row.pad(block.rows, backend) if number in own else None
            for number, block in enumerate(blocks)
        ]
        # A row with few gaps is complete, with zeros at its gaps, less these gaps:
        # Σ_known (a − x)² = Σ_all (a − x)² − Σ_gaps x².
        filled = keep_entries(values.entries, by_gaps[:, None])
        is_full = by_gaps.astype(np.float64)
        is_full[values.full_rows] = 1.0
        energy = np.asarray(filled.multiply(filled).sum(axis=1)).ravel()
        energy[values.full_rows] = values.full.energy()
        self.full = [backend.asarray(is_full[block.rows]) for block in blocks]
        self.energy = [backend.asarray(energy[block.rows]) for block in blocks]
        # (labels, columns), with empty rows for labels with many gaps.
        self.full_values = SpreadRows(backend, values, filled)

    def on(self, backend: Backend) -> SquaredTerm:
        """The term itself: it has no large product to compute in another way."""
        return self

    def at(
        self, other: Array, weight: float, *, sample: Sample | None = None
    ) -> _SquaredView:
        """Fix U and the weight λ1 β. All columns are used, never a sample."""
        return _SquaredView(self, other, weight)


class SpreadRows:
    """Complete rows of A, at their places among all labels, and some other cells.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    values : ScaledValues
        A and I of the context.
    others : csr_array of shape (labels, columns)
        Known values of rows that are not complete.
    """

    def __init__(
        self, backend: Backend, values: ScaledValues, others: sp.csr_array
    ) -> None:
        self.backend, self.xp = backend, backend.xp
        self.rows = backend.indices(values.full_rows)
        self.n_rows = values.entries.shape[0]
        self.values = values.full.place(backend)
        self.others = others

    @cached_property
    def _others(self) -> Any:
        return self.backend.sparse(self.others)

    @cached_property
    def _turned(self) -> Any:
        return self.backend.sparse(sp.csr_array(self.others.T))

    def product(self, U: Array) -> Array:
        """Compute A U.

        Parameters
        ----------
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        array of shape (labels, dim)
            The product; zero for labels without a value here.
        """
        shape = (self.n_rows, U.shape[1])
        result = self.xp.zeros(shape, dtype=U.dtype, device=U.device)
        result[self.rows] = self.values.product(U)
        if self.others.nnz:
            result += self.backend.sparse_product(self._others, U)
        return result

    def transposed_product(self, W: Array) -> Array:
        """Compute Aᵀ W.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.

        Returns
        -------
        array of shape (columns, dim)
            The product.
        """
        own = self.xp.take(W, self.rows, axis=0)
        result = self.values.transposed_product(own)
        if self.others.nnz:
            result = result + self.backend.sparse_product(self._turned, W)
        return result


class ValueTarget(StartTarget):
    """The centred values at the spectral start; missing ones default to the mean.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    values : ScaledValues
        A and I of the context.
    weight : float
        Square root of the weight of the term.
    """

    def __init__(self, backend: Backend, values: ScaledValues, weight: float) -> None:
        self.weight = weight
        self.values = SpreadRows(backend, values, values.entries)

    def product(self, V: Array) -> Array:
        return self.values.product(V)

    def transposed(self, W: Array) -> Array:
        return self.values.transposed_product(W)


class _SquaredView(View):
    def __init__(self, term: SquaredTerm, other: Array, weight: float) -> None:
        xp = term.backend.xp
        self.term, self.other, self.weight = term, other, weight
        self.gram = xp.matmul(other.T, other)  # UᵀU, shared by fully known rows
        self.target = term.full_values.product(other)  # A U

    def local(self, block: int, y: Array, chosen: Array | None = None) -> _LocalSquared:
        return _LocalSquared(self, block, y, chosen)


class _LocalSquared(Local):
    def __init__(
        self, view: _SquaredView, block: int, y: Array, chosen: Array | None
    ) -> None:
        term, backend = view.term, view.term.backend
        xp = backend.xp
        self.view, self.xp = view, xp
        full, energy = term.full[block], term.energy[block]
        rows = term.blocks[block].at
        self.padded = term.padded[block]
        if chosen is not None:
            full, energy, rows = full[chosen], energy[chosen], rows[chosen]
            self.padded = None if self.padded is None else self.padded.take(chosen)
        self.full = view.weight * full  # (r,): λ1 β unless there are many gaps
        target = xp.take(view.target, rows, axis=0)
        fitted = xp.matmul(y, view.gram)
        # ‖a − U y‖² = ‖a‖² − 2 y·(Uᵀa) + yᵀ(UᵀU)y
        self.value = 0.5 * (
            self.full * xp.sum(y * (fitted - 2 * target), axis=1) + view.weight * energy
        )
        self.gradient = self.full[:, None] * (fitted - target)
        if self.padded is None:
            return
        self.weights = view.weight * self.padded.known  # negative at gaps
        self.entries = backend.known_entries(self.padded.columns, view.other)
        residual = self.entries.dots(y) - self.padded.values
        pull = self.weights * residual
        self.value = self.value + 0.5 * xp.sum(pull * residual, axis=1)
        self.gradient = self.gradient + self.entries.sums(pull)

    def product(self, z: Array, curvature: Curvature) -> Array:
        xp = self.xp
        result = self.full[:, None] * xp.matmul(z, self.view.gram)
        if self.padded is None:
            return result
        return result + self.entries.bent(self.weights, z)

    def mean_curvature(self) -> Array:
        xp = self.xp
        level = xp.mean(self.full)
        if self.padded is not None:
            n_columns = self.view.other.shape[0]
            level = level + xp.sum(self.weights) / (self.weights.shape[0] * n_columns)
        return level * self.view.gram

    def bound_trace(self) -> Array:
        trace = self.full * self.xp.sum(self.xp.linalg.diagonal(self.view.gram))
        if self.padded is None:
            return trace
        return trace + self.entries.norms(self.weights)

    def along(self, direction: Array) -> _SquaredLine:
        return _SquaredLine(self, direction)


class _SquaredLine(Line):
    """A parabola per row."""

    def __init__(self, local: _LocalSquared, direction: Array) -> None:
        xp = local.xp
        self.value_at_zero = local.value
        self.slope = xp.sum(local.gradient * direction, axis=1)
        bend = local.product(direction, Curvature.PROBED)
        self.half_bend = 0.5 * xp.sum(bend * direction, axis=1)

    def value(self, step: Array, chosen: Array | slice) -> Array:
        return self.value_at_zero[chosen] + step * (
            self.slope[chosen] + step * self.half_bend[chosen]
        )
