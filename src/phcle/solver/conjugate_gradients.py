"""Conjugate gradients for many small systems at once, one per row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from phcle.backends.protocol import Array, Backend

__all__ = ["conjugate_gradients"]


def conjugate_gradients(
    backend: Backend,
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    target: Array,
    *,
    n_steps: int,
    solved: float = 0.0,
) -> Array:
    """Solve H_r x_r = target_r roughly for every row r, H_r positive definite.

    `product` multiplies every row by its own H. `precondition` may be any rough
    inverse, even a few steps of another solver: the update of the search direction
    allows for it (Polak–Ribière). Ends after `n_steps`, or when every residual fell to
    the share `solved`. Stopped early, x still lowers each row's ½ xᵀHx − target·x.
    """
    xp = backend.xp
    tiny = float(np.finfo(backend.dtype).tiny)
    x = xp.zeros_like(target)
    residual = target
    search = precondition(residual)
    strength = xp.sum(residual * search, axis=1)
    enough = solved**2 * strength
    # Below this a row is solved to rounding, and further steps would amplify noise.
    eps = float(np.finfo(backend.dtype).eps)
    noise = xp.clip((4 * eps) ** 2 * strength, min=tiny / eps)
    for step in range(n_steps):
        bent = product(search)
        slope = xp.sum(residual * search, axis=1)
        length = slope / xp.clip(xp.sum(search * bent, axis=1), min=tiny)
        goes_on = strength > noise
        length = xp.where(goes_on, length, 0.0)
        x = x + length[:, None] * search
        if step + 1 == n_steps:
            break
        before, residual = residual, residual - length[:, None] * bent
        better = precondition(residual)
        renewed = xp.sum(residual * better, axis=1)
        if solved and bool(xp.all(renewed <= enough)):
            break
        turned = renewed - xp.sum(before * better, axis=1)
        ratio = xp.where(goes_on, turned / xp.clip(strength, min=tiny), 0.0)
        search = better + ratio[:, None] * search
        strength = renewed
    return x
