"""The term of a descriptive context: squared errors of scaled columns.

`offset_and_scale` gives every column its scale, `SquaredTerm` computes the term for the
rows of W, and `DescriptionUpdate` updates U, with a penalty on absolute values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from phcle.arrays import Floats
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, pad_rows, split_rows
from phcle.contexts.gaps import Gaps, Marked, ScaledRows
from phcle.contexts.protocol import (
    EVERY,
    UNITS,
    Blocks,
    FactorUpdate,
    Local,
    Sample,
    Term,
    padded_blocks,
)
from phcle.errors import check_choice

TRUTH_SPREAD, VALUE_SPREAD = 0.5, 0.5**0.5
"""What truth values, and values of a category, are scaled by where numbers are scaled
by their spread: the spread of a yes that half of the labels have, and of both values of
such a category. By its own spread, a yes that few labels have would outweigh all their
other cells, and a category with many values all other columns."""


def offset_and_scale(
    matrix: Gaps, titles: Sequence[str], *, standardize: bool
) -> tuple[Floats, Floats]:
    """Compute the mean of each column, and one scale for all columns or one for each.

    Scaled values have about `UNITS` of squared deviation per fully described label.
    Columns that are unknown or constant say nothing, so they change no scale.

    Parameters
    ----------
    matrix : Gaps
        Values in the user's units.
    titles : sequence of str
        For each column the title of its field; values of a category share one.
    standardize : bool
        Give each column its own scale.

    Returns
    -------
    offset, scale : arrays of shape (columns,)
        Offsets and scales, in the user's units.
    """
    found = matrix.moments()
    if standardize:
        _, field, size = np.unique(titles, return_inverse=True, return_counts=True)
        n_varying = len(np.unique(field[found.varies]))
        spread = np.where(found.varies, found.deviation, found.unit)
        spread[matrix.is_truth()] = TRUTH_SPREAD
        spread[size[field] > 1] = VALUE_SPREAD
    else:
        n_varying = int(found.varies.sum())
        mean = found.squares.sum() / max(found.count[found.varies].sum(), 1)
        spread = np.full(
            matrix.shape[1], np.sqrt(mean if mean > 0 else 1.0) * found.unit
        )
    scale = spread * np.sqrt(max(n_varying, 1) / UNITS)
    return found.mean, np.maximum(scale, np.finfo(np.float64).tiny)


SKEWED, ENOUGH_TO_TELL, MANY = 1.0, 8, 10_000
"""A column without negative numbers whose skewness exceeds this, on at least so many
values, is fitted on a log scale; whether it is a yes or no is seen among so many. An
exponential distribution has a skewness of 2."""


def choose_log_shifts(
    columns: Sequence[str],
    titles: Sequence[str],
    values: Floats,
    log: bool | Iterable[str] | None,
    name: str,
) -> dict[str, float]:
    """Choose the columns that are fitted on a log scale, and what is added before.

    Where numbers are skewed and some are zero, the median of the others is added.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    titles : sequence of str
        For each column the title that it came from; another name marks a category.
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    log : bool, iterable of str, or None
        The user's choice; None leaves it to the skewness of the columns.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from str to float
        What is added to the numbers of each of these columns before their logarithm.
    """
    if log is False:
        return {}
    asked = None if log is None or log is True else tuple(log)
    for column in asked or ():
        check_choice("log column", column, columns, f"context {name!r}")
    found = {}
    for column, title, own in zip(columns, titles, values.T, strict=True):
        known = own[np.isfinite(own)]
        above = known[known > 0]
        shift = float(np.median(above)) if len(above) and (known == 0).any() else 0.0
        may_be = column == title and len(known) > 0 and known.min() >= 0
        is_fitting = may_be and (log is True or _is_skewed(known, shift))
        if is_fitting if asked is None else column in asked:
            found[column] = shift
    return found


def _is_skewed(known: Floats, shift: float) -> bool:
    """Whether the numbers of a column are skewed, and less so in logarithms."""
    if len(known) < ENOUGH_TO_TELL or len(np.unique(known[:MANY])) <= 2:
        return False
    skewness = _skewness(known)
    return skewness > SKEWED and abs(_skewness(np.log(known + shift))) < skewness


def _skewness(values: Floats) -> float:
    """Third standardised moment; 0 for a constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = values - values.mean()
        spread = float(np.sqrt((away**2).mean()))
        return float(((away / spread) ** 3).mean()) if spread > 0 else 0.0


def units_differ(matrix: Gaps, titles: Sequence[str]) -> bool:
    """Tell whether columns seem to be in different units.

    Parameters
    ----------
    matrix : Gaps
        The numbers.
    titles : sequence of str
        For each column the title of its field; values of a category share one, and so
        one spread.

    Returns
    -------
    bool
        Whether the spread of any field is more than ten times larger or smaller than
        the median spread.
    """
    _, field = np.unique(titles, return_inverse=True)
    spread = np.sqrt(np.bincount(field, matrix.moments().deviation ** 2))
    spread = spread[spread > 0]
    if len(spread) < 2:
        return False
    middle = np.median(spread)
    return bool(spread.max() > 10 * middle or spread.min() < middle / 10)


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

    other: Array
    weight: float
    gram: Array
    target: Array

    def __init__(self, backend: Backend, values: ScaledRows, blocks: Blocks) -> None:
        self.backend, self.blocks = backend, blocks
        (cells, by_gaps), self.values = values.by_row, values.placed(backend)
        self.padded = padded_blocks(backend, cells, blocks)
        self.full = [backend.asarray(by_gaps[block.rows]) for block in blocks]
        self.energy = [backend.asarray(values.energy[block.rows]) for block in blocks]

    def at(self, other: Array, weight: float, *, sample: Sample | None = None) -> Self:
        view = copy(self)
        view.other, view.weight = other, weight
        # UᵀU, shared by rows with few gaps
        view.gram = self.backend.xp.matmul(other.T, other)
        view.target = self.values.product(other)  # A U
        return view

    def local(self, block: int, y: Array, chosen: Array | slice = EVERY) -> Local:
        return _LocalSquared(self, block, y, chosen)


class _LocalSquared(Local):
    """Squared errors at the rows y: value, gradient and curvature."""

    def __init__(
        self, view: SquaredTerm, block: int, y: Array, chosen: Array | slice
    ) -> None:
        xp = view.backend.xp
        self.view, self.xp = view, xp
        rows, padded = view.blocks[block].at[chosen], view.padded[block].take(chosen)
        # (r,): λ1 β unless there are many gaps
        self.full = view.weight * view.full[block][chosen]
        # Known cells of a row with many gaps count, gaps of another are taken away.
        self.weights = (view.weight - 2 * self.full)[:, None] * padded.known
        self.entries = view.backend.known_entries(padded.columns, view.other)
        self.target = view.weight * xp.take(view.target, rows, axis=0)
        self.energy = 0.5 * view.weight * view.energy[block][chosen]
        bent = self._bent(y, EVERY)
        self.value = self._value(y, bent, EVERY)
        self.gradient = bent - self.target

    def _value(self, y: Array, bent: Array, chosen: Array | slice) -> Array:
        """‖a − U y‖² = ‖a‖² − 2 y·(Uᵀa) + yᵀ(UᵀU)y, halved and weighted."""
        steep = 0.5 * bent - self.target[chosen]
        return self.energy[chosen] + self.xp.sum(y * steep, axis=1)

    def value_at(self, y: Array, chosen: Array | slice) -> Array:
        return self._value(y, self._bent(y, chosen), chosen)

    def product(self, z: Array, *, exact: bool = False) -> Array:
        return self._bent(z, EVERY)

    def _bent(self, z: Array, chosen: Array | slice) -> Array:
        """Σ u (u·z) over the known cells of some rows."""
        bent = self.full[chosen][:, None] * self.xp.matmul(z, self.view.gram)
        return bent + self.entries.take(chosen).bent(self.weights[chosen], z)

    def mean_curvature(self) -> Array:
        xp = self.xp
        n_cells = self.weights.shape[0] * self.view.other.shape[0]
        level = xp.mean(self.full) + xp.sum(self.weights) / n_cells
        return level * self.view.gram


SETTLED = 1e-5
"""Relative change at which FISTA ends."""


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
        sparsity: float,
        ridge: float,
    ) -> None:
        self.backend, self.sparsity, self.ridge = backend, sparsity, ridge
        (cells, by_gaps), self.values = values.by_column, values.placed(backend)
        self.blocks = _split(backend, (cells, by_gaps), dim)
        self.by_gaps = [bool(by_gaps[x.rows[0]]) for x in self.blocks]
        self.padded = [pad_rows(cells, x.rows, backend) for x in self.blocks]

    def improve(self, W: Array, factor: Array, weight: float) -> Array:
        """Improve U for this W; `weight` is λ1 β."""
        xp, backend = self.backend.xp, self.backend
        U = xp.asarray(factor, copy=True)
        target = weight * self.values.turned_product(W)  # (columns, d)
        known = xp.take(W, self.values.rows, axis=0)
        whole = weight * xp.matmul(known.T, known)
        # λmax over all labels with values is at least that of each description. It is
        # raised a little, because eigenvalues are rounded.
        slack = 1 + 4 * W.shape[1] * float(np.finfo(backend.dtype).eps)
        tau = float(xp.linalg.eigvalsh(whole)[-1]) * slack + self.ridge

        def improve(number: int) -> None:
            at = self.blocks[number].at
            bend, shared = self._bend(number, whole, W, weight)
            aim, start = xp.take(target, at, axis=0), xp.take(U, at, axis=0)
            U[at] = self._settled(bend, shared, aim, start, tau)  # own rows

        own = backend.processes.own_blocks(len(self.blocks))
        if tau > 0:
            list(backend.each(improve, own))
        return backend.processes.exchange_rows(U, self.blocks)

    def _bend(
        self, number: int, whole: Array, W: Array, weight: float
    ) -> tuple[Callable[[Array], Array], Array | None]:
        """Products with the Gram matrix of each description, and that of all, if any.

        They share `whole` without their own gaps, or have only their known cells.
        """
        xp, padded, by_gaps = self.backend.xp, self.padded[number], self.by_gaps[number]
        gram = whole if by_gaps else xp.zeros_like(whole)
        if padded is None:
            return lambda u: xp.matmul(u, gram), gram
        flat = xp.take(W, xp.reshape(padded.columns, (-1,)), axis=0)
        cells = xp.reshape(flat, (*padded.columns.shape, W.shape[1]))
        weights = (-weight if by_gaps else weight) * padded.known
        turned = xp.permute_dims(weights[:, :, None] * cells, (0, 2, 1))
        grams = gram + xp.matmul(turned, cells)
        return lambda u: xp.matmul(u[:, None, :], grams)[:, 0], None

    def _settled(
        self,
        bend: Callable[[Array], Array],
        shared: Array | None,
        target: Array,
        start: Array,
        tau: float,
    ) -> Array:
        """Minimise ½ uᵀ G u − target·u + λ2‖u‖₁ + λ3/2 ‖u‖² for every row u, by FISTA.

        `bend` multiplies every row by its own G, `shared` is G if all have the same,
        and `tau` an upper bound of the curvature. No row gets worse.
        """
        xp, sparsity, ridge = self.backend.xp, self.sparsity, self.ridge

        def value(u: Array, bent: Array) -> Array:
            smooth = xp.sum(u * (0.5 * bent - target + 0.5 * ridge * u), axis=1)
            return smooth + sparsity * xp.sum(xp.abs(u), axis=1)

        best, lowest = start, value(start, bend(start))
        if shared is not None:
            guess = _with_fixed_signs(xp, shared, target, sparsity, ridge)
            guessed = value(guess, bend(guess))
            best = xp.where((guessed < lowest)[:, None], guess, best)
            lowest = xp.minimum(guessed, lowest)
        u, ahead, momentum = best, best, 1.0
        for _ in range(MOST_STEPS):
            gradient = bend(ahead) - target + ridge * ahead
            raw = ahead - gradient / tau
            # Each number moves by the threshold towards zero, and not beyond it.
            renewed = raw - xp.clip(raw, min=-sparsity / tau, max=sparsity / tau)
            moved = renewed - u
            uphill = xp.sum((ahead - renewed) * moved)
            sizes = [xp.max(xp.abs(moved)), xp.max(xp.abs(renewed))]
            # One question to the device, not three: it would wait for each.
            uphill, change, size = self.backend.to_numpy(xp.stack([uphill, *sizes]))
            # Momentum that points uphill is dropped (O'Donoghue and Candès).
            momentum = 1.0 if uphill > 0 else momentum
            following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
            ahead = renewed + (momentum - 1) / following * moved
            u, momentum = renewed, following
            if change <= SETTLED * max(size, 1e-12):
                break
        total = value(u, bend(u))
        return xp.where((total < lowest)[:, None], u, best)


def _split(backend: Backend, marked: Marked, dim: int) -> list[Block]:
    """Blocks of descriptions that have no marked cells, or all have cells or gaps."""
    (cells, by_gaps), found = marked, []
    has_cells = np.diff(cells.indptr) > 0
    for sort in (by_gaps, ~by_gaps):
        for alike, size in ((~has_cells, ROW_PASSES * dim), (has_cells, dim * dim)):
            some = np.flatnonzero(sort & alike)
            own = [cells[some]]
            parts = split_rows(backend, own, len(some), dim=dim, tile_columns=size)
            found += [some[part.rows] for part in parts]
    return [Block(columns, backend.indices(columns)) for columns in found]


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
