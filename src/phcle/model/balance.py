"""Balance the length of W against the other factors: same predictions, lower penalties.

W R and F R⁻ᵀ have the same product for any invertible R, where F is the factor of any
context. Sweeps are slow along these directions, so each sweep begins with the best R:
without λ2, the geometric mean of two Gram matrices. It is used if it lowers the
penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from phcle.backends.protocol import Array
from phcle.contexts.protocol import FactorUpdate
from phcle.model.problem import DeviceProblem, State

REGULAR = 1e-8
"""Eigenvalues of a Gram matrix below this share of the largest are raised to it. Their
inverses would be made of rounding errors."""

WORTH = 1e-4
"""A change must lower the penalties by this share. Less is not worth the rounding
errors that it adds."""


def balance(device: DeviceProblem, state: State) -> State:
    """Lower the penalties without changing any product of factors.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors to balance.

    Returns
    -------
    State
        The same state, or one with lower penalties.
    """
    xp, problem = device.backend.xp, device.problem
    lam, contexts = problem.penalties, problem.contexts
    sizes = problem.term_weights(state.weights)

    def turning(W: Array, factors: Sequence[Array]) -> list[tuple[Array, Array]]:
        """Gram matrices of the factors that lie in the space of W."""
        found = (
            cast(FactorUpdate, update).label_grams(W, factor, size)
            for context, update, factor, size in zip(
                contexts, device.updates, factors, sizes, strict=True
            )
            if context.turns_with_labels
        )
        return [grams for grams in found if grams is not None]

    def cost(W: Array, factors: Sequence[Array]) -> float:
        """All that a change of balance may lower."""
        terms = sum(float(xp.linalg.trace(term)) for term, _ in turning(W, factors))
        return sum(problem.penalty_terms(xp, W, factors).values()) + 0.5 * terms

    own = lam.ridge * _gram(xp, state.W)
    for term, penalty in turning(state.W, state.factors):
        own = own + term + penalty
    others = sum(
        context.factor_ridge(lam) * _gram(xp, factor)
        for context, factor in zip(contexts, state.factors, strict=True)
        if not context.turns_with_labels
    )
    # R = P^½ with P own P = others.
    root, inverse = _roots(xp, own)
    middle, _ = _roots(xp, root @ others @ root)
    move, back = (
        xp.astype(part, state.W.dtype)
        for part in _roots(xp, inverse @ middle @ inverse)
    )
    W = xp.matmul(state.W, move)
    factors = tuple(
        xp.matmul(factor, move if context.turns_with_labels else back)
        for context, factor in zip(contexts, state.factors, strict=True)
    )
    is_worth = cost(W, factors) < (1 - WORTH) * cost(state.W, state.factors)
    return replace(state, W=W, factors=factors) if is_worth else state


def _gram(xp: Any, factor: Array) -> Array:
    """Compute factorᵀ factor in double precision."""
    precise = xp.astype(factor, xp.float64)
    return xp.matmul(precise.T, precise)


def _roots(xp: Any, matrix: Array) -> tuple[Array, Array]:
    """Symmetric square root of a positive matrix, and its inverse."""
    values, vectors = xp.linalg.eigh(matrix)
    least = REGULAR * float(values[-1]) + 1e-30
    root = xp.sqrt(xp.clip(values, min=least))
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T
