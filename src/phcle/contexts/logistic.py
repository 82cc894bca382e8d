"""The term of a relational context: counts, and a dense part of rank one.

`LogisticTerm` computes it on a back end. The functions below it are the same term in
plain NumPy and double precision: the reference, its floor, and held-out losses.

The dense part sums over all pairs of labels and columns. A sample of the columns, drawn
in proportion to their mass, gives an unbiased estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import AnyFloats
from phcle.backends.pairs import Columns, n_sampled_columns
from phcle.backends.protocol import Array, Backend
from phcle.contexts.protocol import (
    EVERY,
    Blocks,
    Local,
    Sample,
    Target,
    Term,
    padded_blocks,
    sparse_target,
)

TILE = 4_000_000
"""Most numbers of W Cᵀ in memory at once: 32 MB."""


ENTRIES = 100_000
"""Known entries computed at once, so that their vectors fit into the cache."""


AT_ONCE = 50_000_000
"""Known entries whose floor is computed at once, which takes 2 GB."""
BELOW = 2.5
"""Pairs without a count start this far below no association, x = −log k. At 2.5, their
odds are a twelfth, so that the start already keeps unrelated labels apart."""


Rates = tuple[AnyFloats, AnyFloats]
"""Rates of rows, and masses of columns."""


class LogisticTerm(Term):
    """The term α Σ_c [ Q_yc softplus(x_yc) − D_yc x_yc ] with Q = D + rate · massᵀ.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    counts : csr_array or StoredRows of shape (rows, columns)
        D.
    rates : tuple of two arrays
        Rate of each row, and mass of each column.
    blocks : sequence of Block
        Blocks of rows that are updated together.
    """

    other: Array
    weight: float
    sample: Sample | None
    gram: Array
    trace: Any  # of the Gram matrix
    columns: Columns

    def __init__(
        self, backend: Backend, counts: Any, rates: Rates, blocks: Blocks
    ) -> None:
        row_rate, self.column_mass = rates
        self.backend, self.mass = backend, backend.asarray(self.column_mass)
        self.rates = [backend.asarray(row_rate[block.rows]) for block in blocks]
        self.padded = padded_blocks(backend, counts, blocks)

    def on(self, backend: Backend) -> LogisticTerm:
        term = copy(self)
        term.backend = backend
        return term

    def at(self, other: Array, weight: float, *, sample: Sample | None = None) -> Self:
        """Fix the other factor and the weight; the Gram matrix stays exact."""
        view, xp = copy(self), self.backend.xp
        view.other, view.weight, view.sample = other, weight, sample
        # Σ_c mass_c z zᵀ, shared by all rows: B has rank one.
        weighted = other * self.mass[:, None]
        view.gram = xp.matmul(weighted.T, other)
        view.trace = xp.sum(xp.linalg.diagonal(view.gram))
        if sample is None:
            view.columns = self.backend.columns(other, self.mass)
        else:
            view.columns = view._pick(*sample)
        return view

    @cached_property
    def probe(self) -> tuple[Array, Columns] | None:
        """A sample of the columns for products with the curvature; None takes all."""
        at, mass = None, self.column_mass
        if self.sample is not None:
            at, mass = self.sample
        n = n_sampled_columns(len(mass))
        if n == len(mass):
            return None
        # Any seed works, because the optimum does not depend on it.
        chosen, masses = draw_columns(mass, n, np.random.default_rng(0))
        columns = self._pick(chosen if at is None else at[chosen], masses)
        return self.backend.indices(chosen), columns

    def _pick(self, at: npt.NDArray[np.int64], mass: AnyFloats) -> Columns:
        other = self.backend.xp.take(self.other, self.backend.indices(at), axis=0)
        return self.backend.columns(other, self.backend.asarray(mass))

    @cached_property
    def squares(self) -> Array:
        """Squared length of every row of the other factor: (columns,)."""
        return self.backend.xp.sum(self.other * self.other, axis=1)

    def local(self, block: int, y: Array, chosen: Array | slice = EVERY) -> Local:
        return _LocalLogistic(self, block, y, chosen)


class _LocalLogistic(Local):
    """The term at some rows."""

    def __init__(
        self, view: LogisticTerm, block: int, y: Array, chosen: Array | slice
    ) -> None:
        backend, xp = view.backend, view.backend.xp
        self.view, self.xp = view, xp
        self.rate = view.weight * view.rates[block][chosen]  # (r,)
        padded = view.padded[block].take(chosen)
        self.dense = backend.dense_part(y, view.columns)
        self.padded, self.weights = padded, view.weight * padded.values  # α D
        self.entries = backend.known_entries(padded.columns, view.other)
        x = self.entries.dots(y)  # (r, width)
        self.near_sigmoid, softplus = backend.logistic(x)
        pull = self.weights * (self.near_sigmoid - 1)
        near = xp.sum(self.weights * (softplus - x), axis=1)
        self.value = self.rate * self.dense.value + near
        dense = self.rate[:, None] * self.dense.gradient
        self.gradient = dense + self.entries.sums(pull)

    @cached_property
    def _bends(self) -> tuple[Array, Array]:
        """Curvature of counts, and of the dense part, at known entries: (r, width)."""
        bend = self.near_sigmoid * (1 - self.near_sigmoid)
        mass = self.rate[:, None] * self.view.mass[self.padded.columns]
        return self.weights * bend, mass * self.padded.known * bend

    @cached_property
    def _near(self) -> Array:
        """Curvature of both at the known entries: (r, width)."""
        counts, dense = self._bends
        return counts + dense

    @cached_property
    def _elsewhere(self) -> Array:
        """What multiplies the shared Gram matrix: (r,).

        Of the dense part's trace, that is what the known entries leave.
        """
        squares = self.view.squares[self.padded.columns]
        near = self.xp.sum(self._bends[1] * squares, axis=1)
        trace = self.xp.clip(self.view.trace, min=_tiny(self.view.backend))
        return self.xp.clip(self.rate * self.dense.spread - near / trace, min=0.0)

    @cached_property
    def _probed(self) -> Callable[[Array], Array]:
        """Products with the curvature of the dense part."""
        return self.dense.curvature(self.view.probe)

    def product(self, z: Array, *, exact: bool = False) -> Array:
        if exact:
            result = self.rate[:, None] * self._probed(z)
        else:
            result = self._elsewhere[:, None] * self.xp.matmul(z, self.view.gram)
        near = self._bends[0] if exact else self._near
        return result + self.entries.bent(near, z)

    def mean_curvature(self) -> Array:
        xp = self.xp
        # An approximation: known entries have the mean direction of the mass.
        mass = xp.clip(xp.sum(self.view.mass), min=_tiny(self.view.backend))
        near = xp.sum(self._near) / (self._near.shape[0] * mass)
        return (xp.mean(self._elsewhere) + near) * self.view.gram

    def lighten(self) -> None:
        _made_from_it = self._probed, self._elsewhere
        del self.dense

    def value_at(self, y: Array, chosen: Array | slice) -> Array:
        backend = self.view.backend
        dense = self.rate[chosen] * self.dense.value_at(y)
        x = self.entries.take(chosen).dots(y)
        pulls = self.weights[chosen] * (backend.softplus(x) - x)
        return dense + self.xp.sum(pulls, axis=1)


def _tiny(backend: Backend) -> float:
    """A positive number that keeps a division defined."""
    return float(np.finfo(backend.dtype).tiny)


def log_ratio_target(
    backend: Backend, counts: Any, rates: Rates, negatives: float, weight: float
) -> Target:
    """Make the start of a relational context: x is the log ratio of counts.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    counts : csr_array or StoredRows of shape (labels, columns)
        Scaled counts.
    rates : tuple of two arrays
        Rate of each row, and mass of each column.
    negatives : float
        k.
    weight : float
        Weight of the target.

    Returns
    -------
    Target
        log(D / expected) where a count is known, −log(1 + k) − `BELOW` elsewhere.
    """
    low, xp = np.log1p(negatives) + BELOW, backend.xp
    rate, mass = map(backend.asarray, rates)
    rows, columns, values = _cells(counts)
    expected = xp.take(rate, rows) * xp.take(mass, columns)
    ratio = xp.log(values / xp.clip(expected, min=_tiny(backend))) + low
    if isinstance(counts, sp.csr_array):
        found = sp.csr_array((ratio, counts.indices, counts.indptr), counts.shape)
    else:
        found = counts.with_values(ratio)
    above = sparse_target(backend, found, weight)
    known = backend.asarray((rates[0] > 0)[:, None])
    below = backend.asarray(low * np.ones((counts.shape[1], 1)))
    return Target(
        weight,
        lambda V: above.product(V) - known * (below.T @ V),
        lambda W: above.transposed(W) - below * (known.T @ W),
    )


def _cells(counts: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and values of counts, on the host or on a device."""
    if isinstance(counts, sp.csr_array):
        found = sp.coo_array(counts)
        return found.coords[0], found.coords[1], found.data
    return counts.rows, counts.columns, counts.values


def saturated_floor(backend: Backend, counts: Any, rates: Rates) -> float:
    """Compute the loss of the best x for each pair: a lower bound for any model.

    Parameters
    ----------
    backend : Backend
        Where the counts are; it computes in double precision.
    counts : csr_array or StoredRows of shape (labels, columns)
        D.
    rates : tuple of two arrays
        Rate of each row, k times its mass over the total, and mass of each column, so
        that B = rate · massᵀ.

    Returns
    -------
    float
        The lower bound. Pairs without a count add zero.
    """
    xp, precise = backend.xp, backend.with_dtype("float64")
    tiny = float(np.finfo(np.float64).tiny)

    def entropy(x: Array) -> Array:
        return x * xp.log(xp.clip(x, min=tiny))

    rate, mass = map(precise.asarray, rates)
    rows, columns, values = _cells(counts)
    total = 0.0
    for start in range(0, len(values), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        D = xp.astype(values[part], xp.float64)
        B = xp.take(rate, rows[part]) * xp.take(mass, columns[part])
        total += float(xp.sum(entropy(B + D) - entropy(D) - entropy(B)))
    return total


def draw_columns(mass: AnyFloats, n: int, rng: np.random.Generator) -> Sample:
    """Draw `n` times in proportion to mass, once in each of `n` shares of the total.

    The order of the columns makes the shares, so that neighbours are not all drawn or
    all left out. The sum of something over the sample, times the masses, is an unbiased
    estimate of the sum over all columns.

    Parameters
    ----------
    mass : array of shape (columns,)
        Mass of each column.
    n : int
        How many to draw; one that is drawn twice counts twice and is listed once.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    tuple of two arrays
        Positions of the drawn columns, and the masses that they stand for.
    """
    passed = np.cumsum(mass)
    share = passed[-1] / n
    there = (np.arange(n) + rng.random(n)) * share
    drawn = np.searchsorted(passed, there, side="right")
    # Rounding may carry the last one beyond the end.
    last = np.searchsorted(passed, passed[-1])
    at, times = np.unique(np.minimum(drawn, last), return_counts=True)
    return at, times * share
