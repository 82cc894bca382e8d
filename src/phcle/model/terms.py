"""The terms of the objective, seen from the rows of the factor that is updated.

Both kinds answer the same questions about a block of rows y (r × d) of one factor
while the other factor is fixed: value and gradient at y, a curvature to build a step
from, and the value along a step. `W` sees every context; `C_i` sees its own,
transposed; a label folded in later sees whatever it has. One update serves all.

Symbols: y a row being updated, Z the other factor, x = y·z, σ the logistic function.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend
from phcle.model.blocks import Rows, pad_rows
from phcle.model.problem import DescriptiveData

__all__ = ["Curvature", "Line", "Local", "LogisticTerm", "SquaredTerm", "Term", "View"]

Floats = npt.NDArray[np.float64]


class Curvature(Enum):
    """Which second derivative of the logistic terms a step is built from."""

    MATCHED = auto()  # exact on known entries, matched in trace on the dense part
    EXACT = auto()  # exact everywhere; a product costs as much as a gradient
    BOUND = auto()  # an upper bound for every y: softplus'' is at most 1/4


class Line(Protocol):
    """A term along one direction from each row."""

    def value(self, step: Array, chosen: Array | slice) -> Array:
        """Values at y + step × direction, for the chosen rows: (chosen,)."""


class Local(Protocol):
    """A term at a block of rows."""

    value: Array  # (r,)
    gradient: Array  # (r, d)

    def product(self, z: Array, curvature: Curvature) -> Array:
        """Curvature times z, row by row: (r, d)."""

    def mean_curvature(self, curvature: Curvature) -> Array:
        """Roughly the mean curvature over the block, to precondition with: (d, d)."""

    def bound_trace(self) -> Array:
        """Trace of the bound on the curvature, so at least its norm: (r,)."""

    def along(self, direction: Array) -> Line:
        """The term along a direction (r, d)."""


class View(Protocol):
    """A term with the other factor and the context's weight filled in."""

    def local(self, block: int, y: Array) -> Local:
        """The term at rows `y` of a block."""


class Term(Protocol):
    """One context, laid out over blocks of rows."""

    def at(self, other: Array, weight: float) -> View:
        """Fix the other factor and the weight."""


class LogisticTerm:
    """α Σ_c [ Q_yc softplus(x_yc) − D_yc x_yc ] with Q = D + rate · massᵀ."""

    def __init__(
        self,
        backend: Backend,
        counts: sp.csr_array,
        row_rate: Floats,
        column_mass: Floats,
        blocks: Sequence[Rows],
    ) -> None:
        self.backend = backend
        self.mass = backend.asarray(column_mass)
        self.rates = [backend.asarray(row_rate[rows]) for rows in blocks]
        self.padded = [pad_rows(counts, rows, backend) for rows in blocks]

    def at(self, other: Array, weight: float) -> _LogisticView:
        """Fix the other factor and the weight."""
        return _LogisticView(self, other, weight)


class _LogisticView:
    def __init__(self, term: LogisticTerm, other: Array, weight: float) -> None:
        xp = term.backend.xp
        self.term, self.other, self.weight = term, other, weight
        # Σ_c mass_c z zᵀ, shared by all rows: B has rank one.
        self.gram = xp.matmul((other * term.mass[:, None]).T, other)
        self.trace_share = term.mass * xp.sum(other * other, axis=1)
        self.trace_share = self.trace_share / xp.clip(
            xp.sum(self.trace_share), min=_tiny(term.backend)
        )

    def local(self, block: int, y: Array) -> _LocalLogistic:
        return _LocalLogistic(self, block, y)


class _LocalLogistic:
    def __init__(self, view: _LogisticView, block: int, y: Array) -> None:
        term, backend = view.term, view.term.backend
        xp = backend.xp
        self.view, self.xp = view, xp
        self.rate = view.weight * term.rates[block]  # (r,)
        self.x = xp.matmul(y, view.other.T)  # (r, columns)
        sigmoid, softplus = backend.logistic(self.x)
        self.sigmoid = sigmoid
        self.value = self.rate * xp.matmul(softplus, term.mass)
        self.gradient = self.rate[:, None] * xp.matmul(sigmoid * term.mass, view.other)
        self.padded = term.padded[block]
        if self.padded is None:
            return
        self.weights = view.weight * self.padded.values  # (r, width): α D
        self.near = self.padded.gather(view.other, backend)  # (r, width, d)
        self.near_x = xp.matmul(self.near, y[:, :, None])[:, :, 0]
        self.near_sigmoid, softplus = backend.logistic(self.near_x)
        self.value = self.value + xp.sum(
            self.weights * (softplus - self.near_x), axis=1
        )
        pull = self.weights * (self.near_sigmoid - 1)
        self.gradient = self.gradient + xp.matmul(pull[:, None, :], self.near)[:, 0]

    @cached_property
    def _spread(self) -> Array:
        """σ(1 − σ) on the dense part: (r, columns)."""
        return self.sigmoid * (1 - self.sigmoid)

    @cached_property
    def _exact(self) -> Array:
        """Curvature of every pair of the dense part, but for the rate: (r, columns)."""
        return self._spread * self.view.term.mass

    @cached_property
    def _matched(self) -> Array:
        """Factor on the shared Gram matrix that gives each row's true trace: (r,)."""
        return self.rate * self.xp.matmul(self._spread, self.view.trace_share)

    def _shared(self, curvature: Curvature) -> Array:
        return 0.25 * self.rate if curvature is Curvature.BOUND else self._matched

    def _entries(self, curvature: Curvature) -> Array:
        """Curvature of each known entry: (r, width)."""
        if curvature is Curvature.BOUND:
            return 0.25 * self.weights
        return self.weights * self.near_sigmoid * (1 - self.near_sigmoid)

    def product(self, z: Array, curvature: Curvature) -> Array:
        xp, view = self.xp, self.view
        if curvature is Curvature.EXACT:
            bent = xp.matmul(z, view.other.T) * self._exact
            result = self.rate[:, None] * xp.matmul(bent, view.other)
        else:
            result = self._shared(curvature)[:, None] * xp.matmul(z, view.gram)
        if self.padded is None:
            return result
        return result + _weighted_product(xp, self.near, self._entries(curvature), z)

    def mean_curvature(self, curvature: Curvature) -> Array:
        xp = self.xp
        level = xp.mean(self._shared(curvature))
        if self.padded is not None:
            # As if the known entries lay where the mass lies.
            mass = xp.clip(
                xp.sum(self.view.term.mass), min=_tiny(self.view.term.backend)
            )
            entries = self._entries(curvature)
            level = level + xp.sum(entries) / (entries.shape[0] * mass)
        return level * self.view.gram

    def bound_trace(self) -> Array:
        trace = 0.25 * self.rate * self.xp.sum(self.xp.linalg.diagonal(self.view.gram))
        if self.padded is None:
            return trace
        return trace + 0.25 * _weighted_norms(self.xp, self.near, self.weights)

    def along(self, direction: Array) -> _LogisticLine:
        return _LogisticLine(self, direction)


class _LogisticLine:
    def __init__(self, local: _LocalLogistic, direction: Array) -> None:
        xp = local.xp
        self.local = local
        self.slope = xp.matmul(direction, local.view.other.T)
        if local.padded is not None:
            self.near_slope = xp.matmul(local.near, direction[:, :, None])[:, :, 0]

    def value(self, step: Array, chosen: Array | slice) -> Array:
        local, xp = self.local, self.local.xp
        backend, mass = local.view.term.backend, local.view.term.mass
        x = local.x[chosen] + step[:, None] * self.slope[chosen]
        total = local.rate[chosen] * xp.matmul(backend.softplus(x), mass)
        if local.padded is None:
            return total
        x = local.near_x[chosen] + step[:, None] * self.near_slope[chosen]
        return total + xp.sum(local.weights[chosen] * (backend.softplus(x) - x), axis=1)


class SquaredTerm:
    """λ1 β / 2 · Σ_{a observed} (A_ya − x_ya)²."""

    def __init__(
        self, backend: Backend, data: DescriptiveData, blocks: Sequence[Rows]
    ) -> None:
        n_rows = data.entries.shape[0]
        self.backend = backend
        self.data = data
        self.blocks = [backend.indices(rows) for rows in blocks]
        self.padded = [pad_rows(data.entries, rows, backend) for rows in blocks]
        self.is_full = np.zeros(n_rows)
        self.is_full[data.full_rows] = 1.0
        energy = np.zeros(n_rows)
        energy[data.full_rows] = data.full_energy
        self.full = [backend.asarray(self.is_full[rows]) for rows in blocks]
        self.energy = [backend.asarray(energy[rows]) for rows in blocks]
        # (labels, columns), with empty rows where a label is not known in full.
        self.full_values = SpreadRows(backend, data, n_rows)

    def at(self, other: Array, weight: float) -> _SquaredView:
        """Fix the other factor and the weight (λ1 β)."""
        return _SquaredView(self, other, weight)


class SpreadRows:
    """Fully known rows of A, centred, among all labels; dense or sparse."""

    def __init__(self, backend: Backend, data: DescriptiveData, n_rows: int) -> None:
        self.backend = backend
        self.rows = backend.indices(data.full_rows)
        self.n_rows = n_rows
        self.is_sparse = sp.issparse(data.full)
        self.shift = backend.asarray(data.shift)
        if isinstance(data.full, np.ndarray):
            self.values = backend.asarray(data.full)
        else:
            self.values = backend.sparse(data.full)
            self.transposed = backend.sparse(sp.csr_array(data.full.T))

    def product(self, U: Array) -> Array:
        """A U over all labels, zero where a label is not fully known: (labels, d)."""
        xp = self.backend.xp
        if self.is_sparse:
            known = self.backend.sparse_product(self.values, U)
            known = known - xp.matmul(self.shift[None, :], U)
        else:
            known = xp.matmul(self.values, U)
        result = self.backend.asarray(np.zeros((self.n_rows, U.shape[1])))
        result[self.rows] = known
        return result

    def transposed_product(self, W: Array) -> Array:
        """Aᵀ W over the fully known labels: (columns, d)."""
        xp = self.backend.xp
        W = xp.take(W, self.rows, axis=0)
        if not self.is_sparse:
            return xp.matmul(self.values.T, W)
        return self.backend.sparse_product(self.transposed, W) - (
            self.shift[:, None] * xp.sum(W, axis=0)[None, :]
        )


class _SquaredView:
    def __init__(self, term: SquaredTerm, other: Array, weight: float) -> None:
        xp = term.backend.xp
        self.term, self.other, self.weight = term, other, weight
        self.gram = xp.matmul(other.T, other)  # UᵀU, shared by fully known rows
        self.target = term.full_values.product(other)  # A U

    def local(self, block: int, y: Array) -> _LocalSquared:
        return _LocalSquared(self, block, y)


class _LocalSquared:
    def __init__(self, view: _SquaredView, block: int, y: Array) -> None:
        term, backend = view.term, view.term.backend
        xp = backend.xp
        self.view, self.xp = view, xp
        self.full = view.weight * term.full[block]  # (r,): λ1 β where fully known
        target = xp.take(view.target, term.blocks[block], axis=0)
        fitted = xp.matmul(y, view.gram)
        # ‖a − U y‖² = ‖a‖² − 2 y·(Uᵀa) + yᵀ(UᵀU)y
        self.value = 0.5 * (
            self.full * xp.sum(y * (fitted - 2 * target), axis=1)
            + view.weight * term.energy[block]
        )
        self.gradient = self.full[:, None] * (fitted - target)
        self.padded = term.padded[block]
        if self.padded is None:
            return
        self.weights = view.weight * self.padded.known
        self.near = self.padded.gather(view.other, backend)
        residual = xp.matmul(self.near, y[:, :, None])[:, :, 0] - self.padded.values
        pull = self.weights * residual
        self.value = self.value + 0.5 * xp.sum(pull * residual, axis=1)
        self.gradient = self.gradient + xp.matmul(pull[:, None, :], self.near)[:, 0]

    def product(self, z: Array, curvature: Curvature) -> Array:
        xp = self.xp
        result = self.full[:, None] * xp.matmul(z, self.view.gram)
        if self.padded is None:
            return result
        return result + _weighted_product(xp, self.near, self.weights, z)

    def mean_curvature(self, curvature: Curvature) -> Array:
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
        return trace + _weighted_norms(self.xp, self.near, self.weights)

    def along(self, direction: Array) -> _SquaredLine:
        return _SquaredLine(self, direction)


class _SquaredLine:
    """A parabola per row."""

    def __init__(self, local: _LocalSquared, direction: Array) -> None:
        xp = local.xp
        self.value_at_zero = local.value
        self.slope = xp.sum(local.gradient * direction, axis=1)
        bend = local.product(direction, Curvature.EXACT)
        self.half_bend = 0.5 * xp.sum(bend * direction, axis=1)

    def value(self, step: Array, chosen: Array | slice) -> Array:
        return self.value_at_zero[chosen] + step * (
            self.slope[chosen] + step * self.half_bend[chosen]
        )


def _weighted_product(xp: Any, near: Array, weights: Array, z: Array) -> Array:
    """Σ_c weight_c (z·near_c) near_c for each row: (r, d)."""
    inner = xp.matmul(near, z[:, :, None])[:, :, 0]
    return xp.matmul((weights * inner)[:, None, :], near)[:, 0]


def _weighted_norms(xp: Any, near: Array, weights: Array) -> Array:
    """Σ_c weight_c ‖near_c‖² for each row: (r,)."""
    return xp.sum(weights * xp.sum(near * near, axis=2), axis=1)


def _tiny(backend: Backend) -> float:
    """A positive number that keeps a division defined."""
    return float(np.finfo(backend.dtype).tiny)
