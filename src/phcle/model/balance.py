"""Balance the length of W against the other factors: same predictions, lower penalties.

W R and F R⁻ᵀ have the same product for any invertible R, where F is the factor of any
context. Sweeps are slow along these directions, so each sweep begins with the best R.
Without λ2, that is the geometric mean of two Gram matrices. With λ2, it is used only if
it lowers the penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from phcle.backends.protocol import Array
from phcle.model.problem import DeviceProblem, State

REGULAR = 1e-8
"""A Gram matrix is inverted if its smallest eigenvalue is above this share of the
largest. Below, rounding errors would dominate the inverse."""

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
    xp, lam = device.backend.xp, device.problem.penalties
    contexts = device.problem.contexts

    def turning(W: Array, factors: Sequence[Array]) -> list[tuple[Array, Array]]:
        """Gram matrices of the factors that lie in the space of W."""
        found = (
            update.label_grams(
                W, factor, context.term_weight(state.weights[context.name], lam)
            )
            for context, update, factor in zip(
                contexts, device.updates, factors, strict=True
            )
            if context.turns_with_labels
        )
        return [grams for grams in found if grams is not None]

    def cost(W: Array, factors: Sequence[Array]) -> float:
        """All that a change of balance may lower."""
        terms = sum(float(xp.linalg.trace(term)) for term, _ in turning(W, factors))
        return sum(device.penalties(W, factors).values()) + 0.5 * terms

    before = cost(state.W, state.factors)
    own = lam.ridge * device.gram(state.W)
    for term, penalty in turning(state.W, state.factors):
        own = own + term + penalty
    others = sum(
        context.factor_ridge(lam) * device.gram(factor)
        for context, factor in zip(contexts, state.factors, strict=True)
        if not context.turns_with_labels
    )
    candidates = [_diagonal(xp, own, others)]
    if _is_regular(xp, own) and _is_regular(xp, others):
        candidates.insert(0, _full(xp, own, others))
    for change, undo in candidates:
        move, back = (xp.astype(part, state.W.dtype) for part in (change, undo))
        W = xp.matmul(state.W, move)
        factors = tuple(
            context.rebalanced(xp, factor, move, back)
            for context, factor in zip(contexts, state.factors, strict=True)
        )
        if cost(W, factors) < (1 - WORTH) * before:
            return replace(state, W=W, factors=factors)
    return state


def _full(xp: Any, own: Array, others: Array) -> tuple[Array, Array]:
    """R = P^½ with P own P = others, and its inverse."""
    root, inverse = _roots(xp, own)
    middle, _ = _roots(xp, root @ others @ root)
    return _roots(xp, inverse @ middle @ inverse)


def _is_regular(xp: Any, gram: Array) -> bool:
    """Whether a Gram matrix can be inverted without large rounding errors."""
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
