"""Share length between W and the other factors: the fits stay, the penalties fall.

W R and C R⁻ᵀ, U R⁻ᵀ have the same products for any invertible R. Sweeps move along
these directions only slowly, so each begins by solving for the best R. Without λ2 that
is the geometric mean of two Gram matrices; with it, it is taken only if it is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from phcle.backends.protocol import Array
from phcle.solver.layout import Layout
from phcle.solver.state import State

__all__ = ["balance"]

REGULAR = 1e-8
"""Smallest eigenvalue, relative to the largest, of a Gram matrix that is inverted."""

WORTH = 1e-4
"""Smallest relative fall of the penalties that is worth the rounding of a change."""


def balance(layout: Layout, state: State) -> State:
    """Lower the penalties without changing any product; never raises them."""
    xp, lam = layout.backend.xp, layout.problem.penalties
    before = sum(layout.penalties(state.W, state.C, state.U).values())
    own = lam.ridge * _gram(xp, [state.W])
    others = lam.context_ridge * _gram(xp, state.C) + lam.ridge * _gram(xp, state.U)
    candidates = [_diagonal(xp, own, others)]
    if _is_regular(xp, own) and _is_regular(xp, others):
        candidates.insert(0, _full(xp, own, others))
    for change, undo in candidates:
        move, back = (xp.astype(part, state.W.dtype) for part in (change, undo))
        W = xp.matmul(state.W, move)
        C = tuple(xp.matmul(factor, back) for factor in state.C)
        U = tuple(xp.matmul(factor, back) for factor in state.U)
        if sum(layout.penalties(W, C, U).values()) < (1 - WORTH) * before:
            return replace(state, W=W, C=C, U=U)
    return state


def _gram(xp: Any, factors: Sequence[Array]) -> Array | float:
    """Σ factorᵀ factor in double precision."""
    total: Array | float = 0.0
    for factor in factors:
        precise = xp.astype(factor, xp.float64)
        total = total + xp.matmul(precise.T, precise)
    return total


def _full(xp: Any, own: Array, others: Array) -> tuple[Array, Array]:
    """R = P^½ with P own P = others, and its inverse."""
    root, inverse = _roots(xp, own)
    middle, _ = _roots(xp, root @ others @ root)
    return _roots(xp, inverse @ middle @ inverse)


def _is_regular(xp: Any, gram: Array) -> bool:
    """Whether a Gram matrix can be inverted without blowing up its rounding."""
    values = xp.linalg.eigvalsh(gram)
    return bool(values[0] > REGULAR * values[-1])


def _roots(xp: Any, matrix: Array) -> tuple[Array, Array]:
    """Symmetric square root of a positive matrix, and its inverse."""
    values, vectors = xp.linalg.eigh(matrix)
    root = xp.sqrt(xp.clip(values, min=REGULAR**2 * float(values[-1])))
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T


def _diagonal(xp: Any, own: Array, others: Array) -> tuple[Array, Array]:
    """The best scale of each dimension, ignoring λ2; and its inverse."""
    a, b = xp.linalg.diagonal(own), xp.linalg.diagonal(others)
    least = 1e-9 * float(xp.max(a + b)) + 1e-30
    scale = (xp.clip(b, min=least) / xp.clip(a, min=least)) ** 0.25
    eye = xp.eye(a.shape[0], dtype=a.dtype, device=a.device)
    return eye * scale, eye / scale
