"""A relational context in shards: each process has the rows that it owns, no other.

A process owns some labels, with their counts and their rows of W, and some columns,
with their counts and their rows of C. To update its rows it needs rows of the other
factor: those at known entries, block by block, and for the dense part either all, piece
by piece, or a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.dense import Columns, DensePart, LineValue, n_sampled_columns
from phcle.backends.known_entries import KnownEntries
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, PaddedRows, pad_rows
from phcle.backends.shard_exchange import Layout, Plan, ShardExchange
from phcle.contexts.base.penalties import Penalties
from phcle.contexts.column_update import ColumnUpdate
from phcle.contexts.relational.column_sampling import draw_in_parts
from phcle.contexts.relational.fitted import FittedRelational
from phcle.contexts.relational.loss import (
    LocalLogistic,
    LogisticTerm,
    LogisticView,
    saturated_floor,
)
from phcle.contexts.relational.shard_blocks import most_near
from phcle.contexts.terms import Sample, Term

__all__ = ["ShardedRelational", "ShardedTerm", "sum_of"]

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

PIECE = 4096
"""Rows that are passed on at once: 2 MB at 128 dimensions."""


def sum_of(exchange: ShardExchange, backend: Backend, array: Array) -> Array:
    """Sum an array over all processes, in double precision on the way.

    Parameters
    ----------
    exchange : ShardExchange
        The processes.
    backend : Backend
        Of the array.
    array : array
        That of this process.

    Returns
    -------
    array
        The sum, of the same shape.
    """
    own = np.asarray(backend.to_numpy(array), np.float64)
    return backend.asarray(exchange.sum_over(own))


class ShardedTerm(LogisticTerm):
    """The logistic term at the own rows, while the other factor is in shards.

    Parameters
    ----------
    exchange : ShardExchange
        The processes.
    backend : Backend
        Where to compute.
    counts : csr_array of shape (own rows, all columns)
        D.
    row_rate : array of shape (own rows,)
        Rate of each row.
    column_mass : array of shape (own columns,)
        Mass of each column that this process owns.
    blocks : sequence of Block
        Blocks of rows that are updated together.
    others : Layout
        Which process owns which columns.

    Attributes
    ----------
    floor : float
        The saturated floor of the term over all processes.
    n_entries : int
        Known entries of the own rows.
    """

    def __init__(
        self,
        exchange: ShardExchange,
        backend: Backend,
        counts: sp.csr_array,
        row_rate: Doubles,
        column_mass: Doubles,
        blocks: Sequence[Block],
        others: Layout,
    ) -> None:
        self.exchange, self.backend, self.others = exchange, backend, others
        self.bounds, self.n_entries = others.bounds, counts.nnz
        self.column_mass = column_mass
        self.mass = backend.asarray(column_mass)
        self.total_mass = float(exchange.sum_over(column_mass.sum()[None])[0])
        self.rates = [backend.asarray(row_rate[block.rows]) for block in blocks]
        self.padded: list[PaddedRows] = []  # type: ignore[assignment]
        self.plans: list[Plan] = []
        self.has_hub: list[bool] = []
        self.near_mass: list[Array] = []
        self.n_rows = len(row_rate)
        self.rows = [block.at for block in blocks]
        floor = 0.0
        for block in blocks:
            own = counts[block.rows]
            near, at = np.unique(own.indices, return_inverse=True)
            if not len(near):  # rows without entries point to any row, with weight 0
                near = np.zeros(min(len(block.rows), 1), dtype=np.int64)
            compact = sp.csr_array(
                (own.data, at, own.indptr), shape=(len(block.rows), len(near))
            )
            self.plans.append(exchange.plan(near.astype(np.int64), self.bounds))
            self.has_hub.append(exchange.any_of(len(near) > self.most_near))
            mass = exchange.take(column_mass[:, None], self.plans[-1])[:, 0]
            self.near_mass.append(backend.asarray(mass))
            floor += saturated_floor(compact, row_rate[block.rows], mass)
            all_rows = np.arange(len(block.rows))
            padded = pad_rows(compact, all_rows, backend)
            self.padded.append(padded or _no_entries(backend, len(block.rows)))
        self.floor = float(exchange.sum_over(np.array([floor]))[0])

    @property
    def most_near(self) -> int:
        """Most rows of the other factor that a process asks for at once."""
        return most_near(self.others.n_rows, self.others.n_parts)

    def known_mass(self, block: int, columns: Array) -> Array:
        """Mass at the known columns; positions are among those the block asks for."""
        return self.near_mass[block][columns]

    def at(
        self, other: Array, weight: float, *, sample: Sample | None = None
    ) -> ShardedView:
        """Fix the other factor; sampled positions are among the own columns."""
        return ShardedView(self, other, weight, sample)

    def known_entries(self, block: int, columns: Array, other: Array) -> KnownEntries:
        """Collect rows of the other factor at the known columns of a block.

        Parameters
        ----------
        block : int
            Number of the block.
        columns : array of shape (rows, width)
            Positions among the rows that the block asks for.
        other : array of shape (own columns, dim)
            Own rows of the other factor.

        Returns
        -------
        KnownEntries
            Products and sums with these rows.
        """
        plan = self.plans[block]
        if self.has_hub[block]:
            return _HubEntries(self, plan, other)
        return self.backend.known_entries(columns, self.exchange.take(other, plan))

    def log_ratio_product(self, other: Array, low: float) -> Array:
        """Multiply the target of a spectral start by the other factor.

        Parameters
        ----------
        other : array of shape (own columns, width)
            Own rows of the other factor.
        low : float
            What pairs without a count have instead of log(D/B) is −low.

        Returns
        -------
        array of shape (own rows, width)
            Own rows of the product.
        """
        backend, xp = self.backend, self.backend.xp
        everything = sum_of(self.exchange, backend, xp.sum(other, axis=0))
        # As many rows as the term has, and as wide as the other factor.
        result = backend.asarray(np.zeros((self.n_rows, other.shape[1])))
        tiny = float(np.finfo(backend.dtype).tiny)
        for number, padded in enumerate(self.padded):
            mass = self.exchange.take(self.mass[:, None], self.plans[number])[:, 0]
            at = xp.reshape(padded.columns, (-1,))
            expected = xp.reshape(xp.take(mass, at, axis=0), padded.columns.shape)
            expected = expected * self.rates[number][:, None]
            is_known = padded.known > 0
            ratio = xp.where(is_known, padded.values / xp.clip(expected, min=tiny), 1.0)
            above = padded.known * (xp.log(ratio) + low)
            found = self.known_entries(number, padded.columns, other).sums(above)
            known = backend.asarray(self.rates[number] > 0)
            result[self.rows[number]] = found - low * known[:, None] * everything
        return result


class _HubEntries(KnownEntries):
    """Known entries of one row with very many: computed where the other rows are.

    Processes get the vector of the hub, or the weights of its entries, and return
    products or sums. Both are far smaller than the rows. In the same block every
    process has one hub or none.
    """

    def __init__(self, term: ShardedTerm, plan: Plan, other: Array) -> None:
        self.exchange, self.xp = term.exchange, term.backend.xp
        self.plan, self.other, self.most = plan, other, term.most_near
        self.served = term.backend.indices(plan.serve)
        self.edges = np.cumsum([0, *plan.sent]).tolist()
        self.zeros = term.backend.asarray(np.zeros(other.shape[1]))

    def dots(self, y: Array) -> Array:
        own = y[0] if len(y) else self.zeros
        vectors = self.exchange.swap(self.xp.stack([own] * self.exchange.size))
        found = [
            self.xp.matmul(rows, vectors[hub]) for hub, _, rows in self._portions()
        ]
        products = self.exchange.answer(self._joined(found), self.plan)
        return _at_least_one(self.xp, products[None][: len(y)])

    def sums(self, weights: Array) -> Array:
        return self._summed(weights, lambda rows: rows, len(self.zeros))

    def norms(self, weights: Array) -> Array:
        found = self._summed(
            weights, lambda rows: self.xp.sum(rows * rows, axis=1)[:, None], 1
        )
        return found[:, 0]

    def _summed(
        self, weights: Array, of: Callable[[Array], Array], width: int
    ) -> Array:
        """Sum weight times a function of the row over all entries: (rows, width)."""
        n_entries = sum(self.plan.received)
        own = weights[0, :n_entries] if len(weights) else self._joined([], n_entries)
        asked = self.exchange.ask(own, self.plan)
        sums = [self.zeros[:width]] * self.exchange.size
        for hub, at, rows in self._portions():
            sums[hub] = sums[hub] + self.xp.matmul(asked[at], of(rows))
        got = self.exchange.swap(self.xp.stack(sums))
        return self.xp.sum(got, axis=0)[None][: len(weights)]

    def _joined(self, parts: list[Array], n_zeros: int = 0) -> Array:
        """Numbers one after the other, then zeros."""
        zeros = self.xp.zeros(n_zeros, dtype=self.zeros.dtype, device=self.zeros.device)
        return self.xp.concat([*parts, zeros])

    def _portions(self) -> Iterator[tuple[int, slice, Array]]:
        """Own rows that the hub of each process asks for, not too many at once."""
        for hub, (start, stop) in enumerate(pairwise(self.edges)):
            for a in range(start, stop, self.most):
                at = slice(a, min(a + self.most, stop))
                yield hub, at, self.xp.take(self.other, self.served[at], axis=0)


def _no_entries(backend: Backend, n_rows: int) -> PaddedRows:
    """Known entries of rows that have none, one column wide."""
    nothing = np.zeros((n_rows, 1))
    zero = backend.asarray(nothing)
    return PaddedRows(backend.indices(nothing.astype(np.int64)), zero, zero)


def _at_least_one(xp: Any, dots: Array) -> Array:
    """Products as wide as the entries, which are padded to one column."""
    if dots.shape[1]:
        return dots
    return xp.zeros((dots.shape[0], 1), dtype=dots.dtype, device=dots.device)


class ShardedView(LogisticView):
    """The term with given other factor, of which this process has its own rows."""

    term: ShardedTerm

    def __init__(
        self, term: ShardedTerm, other: Array, weight: float, sample: Sample | None
    ) -> None:
        xp = term.backend.xp
        self.term, self.other, self.weight = term, other, weight
        self.is_sampled = sample is not None
        self._near: tuple[int, Array] | None = None  # rows for the last block
        self._coming: Callable[[], Array] | None = None  # those for the next one
        self.total_mass = term.backend.asarray(np.array(term.total_mass))
        own = xp.matmul((other * term.mass[:, None]).T, other)
        self.gram = sum_of(term.exchange, term.backend, own)
        self.trace = xp.sum(xp.linalg.diagonal(self.gram))
        if sample is not None:
            self.drawn = self._gathered(*sample)
        else:
            self.with_mass = xp.concat([other, term.mass[:, None]], axis=1)

    def _gathered(self, at: Rows, mass: Doubles) -> Array:
        """Rows that all processes have drawn, with the mass that each represents."""
        backend, xp = self.term.backend, self.term.backend.xp
        own = xp.take(self.other, backend.indices(at), axis=0)
        return self.term.exchange.gather(
            xp.concat([own, backend.asarray(mass)[:, None]], axis=1)
        )

    def pieces(self) -> Iterator[Columns]:
        """All columns, or those of the sample, piece by piece."""
        if self.is_sampled:
            for start in range(0, len(self.drawn), PIECE):
                yield self._columns(self.drawn[start : start + PIECE])
            return
        exchange, bounds = self.term.exchange, self.term.bounds
        for piece in exchange.around(self.with_mass, bounds, PIECE):
            yield self._columns(piece)

    def _columns(self, piece: Array) -> Columns:
        xp = self.term.backend.xp
        parts = piece[:, :-1], piece[:, -1]
        other, mass = (xp.asarray(part, copy=True) for part in parts)
        return self.term.backend.columns(other, mass)

    @cached_property
    def _probe(self) -> tuple[Array, Columns]:
        """A sample of the columns for products with the curvature."""
        term = self.term
        layout, start = term.others, term.others.start
        parts = [(number, a - start, b - start) for number, a, b in layout.parts]
        n = n_sampled_columns(layout.n_rows)
        drawn = draw_in_parts(term.column_mass, parts, n, term.total_mass, [0])
        return term.backend.indices(drawn[0]), self._columns(self._gathered(*drawn))

    def near_trace(self, local: LocalLogistic, weights: Array) -> Array:
        return local.entries.norms(weights)

    def dense(self, y: Array) -> DensePart:
        return _PassedPart(self.term.backend, y, self.pieces, float(self.trace))

    def known_entries(self, block: int, columns: Array) -> KnownEntries:
        if self.term.has_hub[block]:
            return self.term.known_entries(block, columns, self.other)
        if self._near is None or self._near[0] != block:
            self._near = block, (self._coming or self._asked(block))()
            # Blocks follow each other, and hubs come last.
            follows = (
                block + 1 < len(self.term.plans) and not self.term.has_hub[block + 1]
            )
            self._coming = self._asked(block + 1) if follows else None
        return self.term.backend.known_entries(columns, self._near[1])

    def _asked(self, block: int) -> Callable[[], Array]:
        """Ask for the rows of a block, which come while the block before it is used."""
        return self.term.exchange.start_take(self.other, self.term.plans[block])

    def exchanges(self, block: int) -> bool:
        return not self.is_sampled or self.term.has_hub[block]


class _PassedPart(DensePart):
    """The dense part at a block of rows, summed over pieces of the columns."""

    def __init__(
        self,
        backend: Backend,
        y: Array,
        pieces: Callable[[], Iterable[Columns]],
        trace: float,
    ) -> None:
        xp = backend.xp
        self.backend, self.y, self.pieces = backend, y, pieces
        self._value = xp.sum(y, axis=1) * 0
        self._gradient, self._spread = xp.zeros_like(y), self._value * 0
        tiny = float(np.finfo(backend.dtype).tiny)
        for columns in pieces():
            squares = xp.sum(columns.other * columns.other, axis=1)
            share = xp.sum(columns.mass * squares) / max(trace, tiny)
            for rows in self._tiles(y, columns):
                part = backend.dense_part(y[rows], columns)
                self._value[rows] += part.value
                self._gradient[rows] += part.gradient
                self._spread[rows] += share * part.spread

    @property
    def value(self) -> Array:
        return self._value

    @property
    def gradient(self) -> Array:
        return self._gradient

    @property
    def spread(self) -> Array:
        return self._spread

    def _tiles(self, y: Array, columns: Columns) -> Iterator[slice]:
        """Rows whose products with the columns fit into the cache."""
        n_columns, dim = columns.other.shape
        width = max(self.backend.columns_in_memory(n_columns, dim), 1)
        height = max(1, self.backend.tile // width)
        for start in range(0, y.shape[0], height):
            yield slice(start, start + height)

    def product(self, z: Array) -> Array:
        result = self.backend.xp.zeros_like(z)
        for columns in self.pieces():
            for rows in self._tiles(self.y, columns):
                part = self.backend.dense_part(self.y[rows], columns)
                result[rows] += part.product(z[rows])
        return result

    def curvature_at(self, at: Array, columns: Columns) -> DensePart:
        # No process has all numbers of a row, so they are computed again.
        return self.backend.dense_part(self.y, columns)

    def along(self, direction: Array) -> LineValue:
        backend, xp = self.backend, self.backend.xp

        def value(step: Array, chosen: Any) -> Array:
            y = self.y[chosen] + step[:, None] * direction[chosen]
            total = xp.sum(y, axis=1) * 0
            for columns in self.pieces():
                for rows in self._tiles(y, columns):
                    x = xp.matmul(y[rows], columns.other.T)
                    total[rows] += xp.matmul(backend.softplus(x), columns.mass)
            return total

        return value


class _ShardedColumns(ColumnUpdate):
    """Updates the own rows of C."""

    def __init__(
        self, term: ShardedTerm, blocks: Sequence[Block], ridge: float
    ) -> None:
        self.term, self.blocks, self.ridge = term, list(blocks), ridge


@dataclass(frozen=True, eq=False, kw_only=True)
class ShardedRelational(FittedRelational):
    """A relational context, of which this process has its own rows and columns.

    Attributes
    ----------
    own_row_mass : array of shape (own labels,)
        Sum of D over the columns.
    label_rows : ShardedTerm
        The term as seen from W.
    column_rows : ShardedTerm
        The term as seen from C.
    column_blocks : sequence of Block
        Blocks of the own columns.
    """

    own_row_mass: Doubles
    label_rows: ShardedTerm
    column_rows: ShardedTerm
    column_blocks: Sequence[Block]

    @property
    def masses(self) -> tuple[Doubles, Doubles]:
        return self.own_row_mass, self.column_mass

    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> Term:
        return self.label_rows

    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> ColumnUpdate:
        return _ShardedColumns(self.column_rows, self.column_blocks, lam.context_ridge)

    def floor(self, lam: Penalties, backend: Backend | None = None) -> float:
        return self.label_rows.floor
