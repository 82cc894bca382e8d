"""The term of descriptive values, squared errors, and their spectral start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, pad_rows
from phcle.contexts.gaps import Placed, ScaledRows
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

    A row with few gaps is complete, with zeros at its gaps, less these gaps:
    Σ_known (a − x)² = Σ_all (a − x)² − Σ_gaps x².

    Parameters
    ----------
    backend : Backend
        Where to compute.
    values : ScaledRows
        A and I of the context.
    blocks : sequence of Block
        Blocks of labels that are updated together.
    """

    def __init__(
        self, backend: Backend, values: ScaledRows, blocks: Sequence[Block]
    ) -> None:
        self.backend, self.blocks = backend, blocks
        marked, self.values = values.by_row, values.placed(backend)
        own = backend.processes.own_blocks(len(blocks))
        self.padded = [
            pad_rows(marked.cells, block.rows, backend) if number in own else None
            for number, block in enumerate(blocks)
        ]
        by_gaps = marked.by_gaps.astype(np.float64)
        self.full = [backend.asarray(by_gaps[block.rows]) for block in blocks]
        self.energy = [backend.asarray(values.energy[block.rows]) for block in blocks]

    def on(self, backend: Backend) -> SquaredTerm:
        """The term itself: it has no large product to compute in another way."""
        return self

    def at(
        self, other: Array, weight: float, *, sample: Sample | None = None
    ) -> _SquaredView:
        """Fix U and the weight λ1 β. All columns are used, never a sample."""
        return _SquaredView(self, other, weight)


class ValueTarget(StartTarget):
    """The centred values at the spectral start; missing ones default to the mean.

    Parameters
    ----------
    values : Placed
        A on a back end.
    weight : float
        Square root of the weight of the term.
    """

    def __init__(self, values: Placed, weight: float) -> None:
        self.values, self.weight = values, weight

    def product(self, V: Array) -> Array:
        return self.values.product(V)

    def transposed(self, W: Array) -> Array:
        return self.values.turned_product(W)


class _SquaredView(View):
    def __init__(self, term: SquaredTerm, other: Array, weight: float) -> None:
        xp = term.backend.xp
        self.term, self.other, self.weight = term, other, weight
        self.gram = xp.matmul(other.T, other)  # UᵀU, shared by rows with few gaps
        self.target = term.values.product(other)  # A U

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
        if self.padded is not None:
            # Known cells of a row with many gaps count, gaps of another are taken away.
            signs = view.weight - 2 * self.full
            self.weights = signs[:, None] * self.padded.known
            self.entries = backend.known_entries(self.padded.columns, view.other)
        target = view.weight * xp.take(view.target, rows, axis=0)
        bent = self._bent(y)
        # ‖a − U y‖² = ‖a‖² − 2 y·(Uᵀa) + yᵀ(UᵀU)y
        self.value = 0.5 * view.weight * energy + xp.sum(
            y * (0.5 * bent - target), axis=1
        )
        self.gradient = bent - target

    def _bent(self, z: Array) -> Array:
        """Σ u (u·z) over the known cells of each row."""
        bent = self.full[:, None] * self.xp.matmul(z, self.view.gram)
        if self.padded is None:
            return bent
        return bent + self.entries.bent(self.weights, z)

    def product(self, z: Array, curvature: Curvature) -> Array:
        return self._bent(z)

    def mean_curvature(self) -> Array:
        xp = self.xp
        level = xp.mean(self.full)
        if self.padded is not None:
            n_columns = self.view.other.shape[0]
            level = level + xp.sum(self.weights) / (self.weights.shape[0] * n_columns)
        return level * self.view.gram

    def along(self, direction: Array) -> _SquaredLine:
        return _SquaredLine(self, direction)


class _SquaredLine(Line):
    """A parabola per row."""

    def __init__(self, local: _LocalSquared, direction: Array) -> None:
        xp = local.xp
        self.value_at_zero = local.value
        self.slope = xp.sum(local.gradient * direction, axis=1)
        bend = local._bent(direction)
        self.half_bend = 0.5 * xp.sum(bend * direction, axis=1)

    def value(self, step: Array, chosen: Array | slice) -> Array:
        return self.value_at_zero[chosen] + step * (
            self.slope[chosen] + step * self.half_bend[chosen]
        )
