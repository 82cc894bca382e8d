"""U: a separate elastic net for every description, solved by FISTA.

With W fixed, row u_a of U minimises

    λ1 β / 2 · Σ_{w observed} (A_wa − w·u_a)² + λ2 ‖u_a‖₁ + λ3 / 2 · ‖u_a‖²

Only the Gram matrix of the observed labels and Aᵀ W are needed, so the cost of an
iteration, descriptions × d², does not depend on the number of labels. This is Algorithm
2 of the paper with a step size that fits the masked loss, a restart, and a check that
the objective does not rise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, pad_rows, split_rows
from phcle.contexts.gaps import Marked, ScaledRows
from phcle.contexts.terms import FactorUpdate, RowUpdate, Sample

MOST_STEPS = 50
"""Most FISTA steps per sweep: InnerMaxIter of the paper."""

ROW_PASSES = 20
"""Arrays of a block that an iteration uses. It sets the block size so that they fit
into the cache together."""


class DescriptionUpdate(FactorUpdate):
    """Updates U of one descriptive context, in blocks of descriptions.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    values : ScaledRows
        A and I of the context.
    dim : int
        Length of a vector.
    sparsity : float
        λ2.
    ridge : float
        λ3.
    """

    def __init__(
        self,
        backend: Backend,
        values: ScaledRows,
        dim: int,
        *,
        sparsity: float,
        ridge: float,
    ) -> None:
        self.backend, self.sparsity, self.ridge = backend, sparsity, ridge
        marked, self.values = values.by_column, values.placed(backend)
        self.blocks = _split(backend, marked, dim)
        self.by_gaps = [bool(marked.by_gaps[x.rows[0]]) for x in self.blocks]
        self.padded = [pad_rows(marked.cells, x.rows, backend) for x in self.blocks]

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
        """Improve U for this W; `weight` is λ1 β. A sample of labels is not used."""
        xp, backend = self.backend.xp, self.backend
        U = xp.asarray(factor, copy=True)
        target = weight * self.values.turned_product(W)  # (columns, d)
        known = xp.take(W, self.values.rows, axis=0)
        whole = weight * xp.matmul(known.T, known)
        # λmax over all labels with values is at least that of each description.
        steepest = float(xp.linalg.eigvalsh(whole)[-1])

        def improve(number: int) -> None:
            at, padded = self.blocks[number].at, self.padded[number]
            aim = xp.take(target, at, axis=0)
            gram = whole if self.by_gaps[number] else xp.zeros_like(whole)
            bend = self._bend(number, gram, W, weight)
            U[at] = elastic_net(  # no two blocks share a row
                backend,
                bend,
                gram if padded is None else None,
                aim,
                xp.take(U, at, axis=0),
                sparsity=self.sparsity,
                ridge=self.ridge,
                steepest=steepest,
                max_iter=MOST_STEPS,
                tol=tol,
            )

        own = backend.processes.own_blocks(len(self.blocks))
        backend.map_blocks(lambda i: improve(own[i]), len(own))
        none = np.empty(0, dtype=np.int64)
        rows = np.concatenate([none, *(self.blocks[number].rows for number in own)])
        return backend.processes.exchange_rows(U, rows)

    def _bend(
        self, number: int, gram: Array, W: Array, weight: float
    ) -> Callable[[Array], Array]:
        """Products with the Gram matrix of each description of a block.

        They share `gram`, with their own known cells, or without their own gaps.
        """
        xp, padded = self.backend.xp, self.padded[number]
        if padded is None:
            return lambda u: xp.matmul(u, gram)
        entries = self.backend.known_entries(padded.columns, W)
        weights = (-weight if self.by_gaps[number] else weight) * padded.known
        if not _is_wide(padded.columns.shape[1], W.shape[1]):
            return lambda u: xp.matmul(u, gram) + entries.bent(weights, u)
        flat = xp.take(W, xp.reshape(padded.columns, (-1,)), axis=0)
        cells = xp.reshape(flat, (*padded.columns.shape, W.shape[1]))
        cells = xp.sqrt(xp.abs(weights))[:, :, None] * cells
        own = xp.matmul(xp.permute_dims(cells, (0, 2, 1)), cells)
        grams = gram - own if self.by_gaps[number] else gram + own
        return lambda u: xp.matmul(u[:, None, :], grams)[:, 0]


def _is_wide(n_cells: Any, dim: int) -> Any:
    """Whether products with the sum of the cells' matrices are the faster ones."""
    return 2 * n_cells > dim


def _split(backend: Backend, marked: Marked, dim: int) -> list[Block]:
    """Blocks of descriptions that have no cells of their own, few or many.

    Those of a block have cells, or they have gaps.
    """
    n_cells = np.diff(marked.cells.indptr)
    is_wide, height = _is_wide(n_cells, dim), max(1, backend.tile // (ROW_PASSES * dim))
    found = []
    for by_gaps in (marked.by_gaps, ~marked.by_gaps):
        none = np.flatnonzero(by_gaps & (n_cells == 0))
        found += [none[a : a + height] for a in range(0, len(none), height)]
        for alike, size in ((~is_wide, ROW_PASSES * dim), (is_wide, dim * dim)):
            some = np.flatnonzero(by_gaps & alike & (n_cells > 0))
            cells = [marked.cells[some]]
            parts = split_rows(backend, cells, len(some), dim=dim, tile_columns=size)
            found += [some[part.rows] for part in parts]
    return [Block(columns, backend.indices(columns)) for columns in found]


def elastic_net(
    backend: Backend,
    bend: Callable[[Array], Array],
    shared: Array | None,
    target: Array,
    start: Array,
    *,
    sparsity: float,
    ridge: float,
    steepest: float,
    max_iter: int,
    tol: float,
) -> Array:
    """Minimise ½ uᵀ G u − target·u + sparsity‖u‖₁ + ridge/2 ‖u‖² for every row u.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    bend : callable
        Multiplies every row by its own G.
    shared : array of shape (dim, dim), or None
        G, if all rows have the same.
    target : array of shape (rows, dim)
        Targets.
    start : array of shape (rows, dim)
        Where the rows begin.
    sparsity : float
        λ2.
    ridge : float
        λ3.
    steepest : float
        Upper bound of the eigenvalues of all G.
    max_iter : int
        Most steps.
    tol : float
        Relative change at which the iteration ends.

    Returns
    -------
    array of shape (rows, dim)
        The rows; none is worse than at the start.
    """
    xp = backend.xp

    def value(u: Array, bent: Array) -> Array:
        smooth = xp.sum(u * (0.5 * bent - target + 0.5 * ridge * u), axis=1)
        return smooth + sparsity * xp.sum(xp.abs(u), axis=1)

    # τ is a little above the bound, because eigenvalues are rounded.
    slack = 1 + 4 * start.shape[1] * float(np.finfo(backend.dtype).eps)
    tau = steepest * slack + ridge
    if tau <= 0:
        return start
    best, lowest = start, value(start, bend(start))
    if shared is not None:
        guess = _with_fixed_signs(xp, shared, target, sparsity, ridge)
        guessed = value(guess, bend(guess))
        is_better = guessed < lowest
        best = xp.where(is_better[:, None], guess, best)
        lowest = xp.where(is_better, guessed, lowest)
    u, ahead, momentum = best, best, 1.0
    for _ in range(max_iter):
        gradient = bend(ahead) - target + ridge * ahead
        raw = ahead - gradient / tau
        # Each number moves by the threshold towards zero, and not beyond it.
        renewed = raw - xp.clip(raw, min=-sparsity / tau, max=sparsity / tau)
        moved = renewed - u
        uphill = xp.sum((ahead - renewed) * moved)
        sizes = [xp.max(xp.abs(moved)), xp.max(xp.abs(renewed))]
        # One question to the device, not three: it would wait for each.
        uphill, change, size = backend.to_numpy(xp.stack([uphill, *sizes]))
        # Momentum that points uphill is dropped (O'Donoghue and Candès).
        momentum = 1.0 if uphill > 0 else momentum
        following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = renewed + (momentum - 1) / following * moved
        u, momentum = renewed, following
        if change <= tol * max(size, 1e-12):
            break
    total = value(u, bend(u))
    return xp.where((total < lowest)[:, None], u, best)


def _with_fixed_signs(
    xp: Any, gram: Array, target: Array, sparsity: float, ridge: float
) -> Array:
    """The minimum if every entry had the sign that it has without sparsity.

    With little sparsity this is nearly the solution, and FISTA needs a fifth of its
    steps. It pays for a G that all rows share: one inverse serves them all.
    """
    eye = xp.eye(target.shape[1], dtype=target.dtype, device=target.device)
    inverse = xp.linalg.inv(gram + ridge * eye)
    signs = xp.sign(target @ inverse)
    return (target - sparsity * signs) @ inverse
