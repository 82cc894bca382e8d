"""Where the factors start.

"spectral" is one joint SVD of what every context asks for: log-ratios of the counts,
shifted so that pairs without a count start low, beside the scaled descriptions.
"ones" is the paper's start, kept for the record: every dimension then gets the same
gradient for ever, so W never leaves rank one. Turned onto its only direction it is a
problem of one dimension, and is solved as such: rounding would otherwise break the tie.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend, choose_backend
from phcle.contexts.descriptive.loss import SpreadRows
from phcle.errors import PhcleWarning
from phcle.solver.problem import UNITS, DescriptiveData, Problem, RelationalData

__all__ = ["Factors", "spread_ones", "start_factors"]

Floats = npt.NDArray[np.float64]

NOISE = 0.01
"""Size of the seeded noise: where W and U both start at zero they would stay there."""


LONG = 2000
"""Rows from which on the seconds that Cholesky saves are worth it."""

ALIKE = 1e-6
"""Columns of which one has less than this share of its length apart from the others."""

AT_ONCE = 1024
"""Rows that are drawn at once."""


@dataclass(frozen=True)
class Factors:
    """W, the C's and the U's as NumPy arrays."""

    W: Floats
    C: tuple[Floats, ...]
    U: tuple[Floats, ...]


def start_factors(
    problem: Problem,
    weights: Mapping[str, float],
    init: str,
    rng: np.random.Generator,
    *,
    backend: Backend | None = None,
) -> Factors:
    """Make the start that `init` names; the same seed gives the same numbers.

    The singular vectors are found on the back end if it is a GPU, or else on NumPy in
    double precision: so they are the same on every CPU.
    """
    if backend is None or not backend.is_accelerated:
        backend = choose_backend("numpy", "cpu", "float64")
    if init == "ones":
        warnings.warn(
            "init='ones', the paper's start, leaves every dimension the same for ever: "
            "the embedding will have rank one. Use init='spectral'.",
            PhcleWarning,
            stacklevel=2,
        )
        length = np.sqrt(problem.dim)
        rows = [problem.labels, *(data.columns for data in problem.data)]
        parts = [np.full((len(names), 1), length) for names in rows]
    else:
        parts = [
            _in_name_order(problem.labels, problem.dim, rng),
            *_draw_for_columns(problem, problem.dim, rng),
        ]
        if init == "random":
            for part in parts:
                part /= np.sqrt(problem.dim)
        else:
            spectral = _spectral(problem, weights, rng, backend)
            for part, found in zip(parts, spectral, strict=True):
                part *= NOISE
                part += found
    n_relational = len(problem.relational)
    return Factors(
        parts[0], tuple(parts[1 : 1 + n_relational]), tuple(parts[1 + n_relational :])
    )


def spread_ones(factor: Floats, dim: int) -> Floats:
    """One dimension of a fit from "ones" as the equal dimensions it stands for."""
    return np.repeat(factor / np.sqrt(dim), dim, axis=1)


def _in_name_order(
    names: Sequence[str], width: int, rng: np.random.Generator
) -> Floats:
    """Normal numbers, one row per name, drawn in the order of the sorted names."""
    drawn = np.empty((len(names), width))
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    for start in range(0, len(names), AT_ONCE):  # so that each part stays in cache
        some = order[start : start + AT_ONCE]
        drawn[some] = rng.standard_normal((len(some), width))
    return drawn


def _draw_for_columns(
    problem: Problem, width: int, rng: np.random.Generator
) -> list[Floats]:
    """Normal numbers for the columns of every context, drawn by sorted names.

    So neither the order of the contexts nor that of their columns matters.
    """
    drawn = {
        data.name: _in_name_order(data.columns, width, rng)
        for data in sorted(problem.data, key=lambda data: data.name)
    }
    return [drawn[name] for name in problem.names]


@dataclass(frozen=True)
class _Wish:
    """What one context asks W times its factor to be, up to a weight."""

    n_columns: int
    weight: float
    product: Callable[[Array], Array]  # (columns, p) -> (labels, p)
    transposed: Callable[[Array], Array]  # (labels, p) -> (columns, p)


def _spectral(
    problem: Problem,
    weights: Mapping[str, float],
    rng: np.random.Generator,
    backend: Backend,
) -> list[Floats]:
    """Randomised SVD of all wishes side by side, split evenly between the factors."""
    xp = backend.xp
    wishes = [
        _relational_wish(backend, data, weights[data.name], problem.penalties.negatives)
        for data in problem.relational
    ]
    wishes += [
        _descriptive_wish(
            backend, data, weights[data.name] * problem.penalties.descriptive
        )
        for data in problem.descriptive
    ]
    edges = [int(edge) for edge in np.cumsum([0, *(w.n_columns for w in wishes)])]

    def product(V: Array) -> Array:
        shape = (len(problem.labels), V.shape[1])
        total = xp.zeros(shape, dtype=V.dtype, device=V.device)
        for wish, a, b in zip(wishes, edges, edges[1:], strict=False):
            if wish.weight:
                total += wish.weight * wish.product(V[a:b])
        return total

    def transposed(W: Array) -> Array:
        return xp.concat([w.weight * w.transposed(W) for w in wishes])

    rank = min(problem.dim, len(problem.labels), edges[-1])
    width = min(rank + 10, len(problem.labels), edges[-1])
    probe = backend.asarray(np.concatenate(_draw_for_columns(problem, width, rng)))
    basis = _orthonormal(backend, product(probe))
    for _ in range(3):
        across = _orthonormal(backend, transposed(basis))
        basis = _orthonormal(backend, product(across))
    right, strength, left = map(
        backend.to_numpy, xp.linalg.svd(transposed(basis), full_matrices=False)
    )
    # A singular vector's sign is free; its largest entry shall be positive, whatever
    # order labels and columns came in.
    sign = np.sign(right[np.abs(right).argmax(axis=0), np.arange(right.shape[1])])
    right, left = right * sign, left * sign[:, None]
    root = np.sqrt(strength[:rank])
    own = backend.to_numpy(xp.matmul(basis, backend.asarray(left[:rank].T)))
    found = [_pad(own * root, problem.dim)]
    for wish, a, b in zip(wishes, edges, edges[1:], strict=False):
        factor = right[a:b, :rank] * root
        found.append(
            _pad(factor / wish.weight if wish.weight else 0 * factor, problem.dim)
        )
    return found


def _orthonormal(backend: Backend, columns: Array) -> Array:
    """Orthonormal columns that span the same.

    Long ones on a CPU by Cholesky's decomposition of their Gram matrix, twice, which
    takes two matrix products where QR takes many times as long. By QR where they are
    too much alike for that, and on a GPU, whose single precision asks for it.
    """
    xp = backend.xp
    if not backend.is_accelerated and columns.shape[0] >= LONG:
        for _ in range(2):
            try:
                lower = xp.linalg.cholesky(xp.matmul(columns.T, columns))
            except np.linalg.LinAlgError:
                break
            diagonal = xp.linalg.diagonal(lower)
            if xp.min(diagonal) < ALIKE * xp.max(diagonal):
                break
            columns = xp.matmul(columns, xp.linalg.inv(lower).T)
        else:
            return columns
    return xp.linalg.qr(columns)[0]


def _pad(factor: Floats, dim: int) -> Floats:
    """Fill up with zero dimensions where the rank is smaller than `dim`."""
    return np.pad(factor, ((0, 0), (0, dim - factor.shape[1])))


def _relational_wish(
    backend: Backend, data: RelationalData, alpha: float, negatives: float
) -> _Wish:
    """Log-ratio log(D/B) of the counts, and a constant low value everywhere else."""
    low = np.log1p(negatives) + 2.5
    D = sp.coo_array(data.counts)
    expected = data.row_mass[D.coords[0]] * data.column_mass[D.coords[1]] / data.total
    expected = np.maximum(expected, np.finfo(np.float64).tiny)
    ratio = np.log(D.data / (negatives * expected))
    matrix = sp.csr_array((ratio + low, D.coords), shape=D.shape)
    raised, turned = backend.sparse(matrix), backend.sparse(sp.csr_array(matrix.T))
    known = backend.asarray((data.row_mass > 0)[:, None])
    lowered = backend.asarray(low * np.ones((D.shape[1], 1)))
    # About the curvature of the logistic loss at an average pair.
    weight = np.sqrt(alpha * UNITS / D.shape[1])
    return _Wish(
        D.shape[1],
        float(weight),
        lambda V: backend.sparse_product(raised, V) - known * (lowered.T @ V),
        lambda W: backend.sparse_product(turned, W) - lowered * (known.T @ W),
    )


def _descriptive_wish(backend: Backend, data: DescriptiveData, weight: float) -> _Wish:
    """The centred values; unknown ones wish for the mean."""
    n_labels, n_columns = data.entries.shape
    full = SpreadRows(backend, data, n_labels)
    entries = backend.sparse(data.entries)
    turned = backend.sparse(sp.csr_array(data.entries.T))

    def product(V: Array) -> Array:
        return full.product(V) + backend.sparse_product(entries, V)

    def transposed(W: Array) -> Array:
        return full.transposed_product(W) + backend.sparse_product(turned, W)

    return _Wish(n_columns, float(np.sqrt(weight)), product, transposed)
