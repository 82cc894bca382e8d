"""The spectral start of a relational context."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend

__all__ = ["LogRatioTarget"]

Floats = npt.NDArray[np.float64]

BELOW = 2.5
"""How far below no association (x = −log k) pairs without a count start."""


class LogRatioTarget:
    """Log-ratio log(D/B) of the counts, and one low value everywhere else.

    Parameters
    ----------
    backend : Backend
        Where products are computed.
    counts : sparse array of shape (labels, columns)
        D, scaled.
    row_rate, column_mass : arrays
        B = rate · massᵀ, with k in the rate.
    negatives : float
        k.
    weight : float
        Weight of the target among those of all contexts.
    """

    def __init__(
        self,
        backend: Backend,
        counts: sp.csr_array,
        row_rate: Floats,
        column_mass: Floats,
        negatives: float,
        weight: float,
    ) -> None:
        self.backend, self.weight = backend, weight
        low = np.log1p(negatives) + BELOW
        D = sp.coo_array(counts)
        expected = row_rate[D.coords[0]] * column_mass[D.coords[1]]
        expected = np.maximum(expected, np.finfo(np.float64).tiny)
        above = sp.csr_array((np.log(D.data / expected) + low, D.coords), shape=D.shape)
        self.above = backend.sparse(above)
        self.turned = backend.sparse(sp.csr_array(above.T))
        self.known = backend.asarray((row_rate > 0)[:, None])
        self.low = backend.asarray(low * np.ones((D.shape[1], 1)))

    def product(self, V: Array) -> Array:
        """Target times V: (columns, p) → (labels, p)."""
        return self.backend.sparse_product(self.above, V) - self.known * (
            self.low.T @ V
        )

    def transposed(self, W: Array) -> Array:
        """Transposed target times W: (labels, p) → (columns, p)."""
        return self.backend.sparse_product(self.turned, W) - self.low * (
            self.known.T @ W
        )
