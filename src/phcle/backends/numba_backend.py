"""NumPy arrays, with compiled loops for the dense part and the known entries."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from phcle.backends.kernels import numba_passes
from phcle.backends.numpy_backend import NumpyBackend
from phcle.backends.pairs import Columns, DensePart, KnownEntries
from phcle.backends.protocol import Array


class NumbaBackend(NumpyBackend):
    """NumPy with compiled loops: softplus and sigmoid take less than the products.

    In double precision the dense part is NumPy's.

    Parameters
    ----------
    dtype : str
        "float32" or "float64".
    """

    name = "numba"
    tile = 2_000_000  # with one pass per tile, larger products are faster
    gathered = 8_000_000  # known entries are read in place, so this can be more

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__(dtype)
        if dtype == "float32":
            self.dense_part = partial(_CompiledPart, self)
        self.known_entries = partial(_CompiledEntries, self.xp)
        _keep_freed_memory()


@lru_cache
def _keep_freed_memory() -> None:
    """Let glibc keep the arrays of a block for the next one.

    It returns larger ones to the system than it has seen before, and each new page has
    to be cleared: on one core, sweeps of 10,000 labels would take a tenth longer.
    """
    np.empty(31 << 20, np.uint8)  # just below the largest size that it learns from


class _CompiledPart(DensePart):
    """The dense part from one pass over the products of a block."""

    def __init__(self, backend: Any, y: Array, columns: Columns) -> None:
        self.backend, self.columns = backend, columns
        x = y @ columns.other.T
        self.sigmoid = np.empty_like(x)
        self.value, self.spread = np.empty((2, len(x)), x.dtype)
        numba_passes.logistic(
            x, columns.mass, columns.share, self.sigmoid, self.value, self.spread
        )
        self.gradient = self.sigmoid @ columns.weighted

    def value_at(self, y: Array) -> Array:
        """Σ mass softplus(x) of every row, in one pass."""
        x, result = y @ self.columns.other.T, np.empty(len(y), y.dtype)
        numba_passes.softplus_sums(x, self.columns.mass, result)
        return result


class _CompiledEntries(KnownEntries):
    """Known entries that are read in place, without gathering."""

    def dots(self, y: Array) -> Array:
        """y·z_c for every known column: (rows, width)."""
        result = np.empty(self.columns.shape, self.other.dtype)
        numba_passes.dots(self.columns, self.other, y, result)
        return result

    def sums(self, weights: Array) -> Array:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        result = np.empty((len(weights), self.other.shape[1]), self.other.dtype)
        numba_passes.sums(self.columns, self.other, weights, result)
        return result
