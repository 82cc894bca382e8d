"""Values and gradients of the terms over all rows of a factor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import View

__all__ = ["values_and_gradient"]


def values_and_gradient(
    backend: Backend, factor: Array, views: Sequence[View], blocks: Sequence[Block]
) -> tuple[np.ndarray, Array]:
    """Compute the value of each term over all rows, and the gradient of their sum.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    factor : array of shape (rows, dim)
        The factor.
    views : sequence of View
        The terms.
    blocks : sequence of Block
        Blocks of rows.

    Returns
    -------
    values : array of shape (terms,)
        The value of each term.
    gradient : array of shape (rows, dim)
        The gradient of their sum.
    """
    xp = backend.xp
    totals = np.zeros(len(views))
    gradient = xp.zeros_like(factor)
    for number, block in enumerate(blocks):
        y = xp.take(factor, block.at, axis=0)
        for i, view in enumerate(views):
            local = view.local(number, y)
            totals[i] += float(xp.sum(local.value, dtype=xp.float64))
            gradient[block.at] += local.gradient
    return totals, gradient
