"""NumPy arrays, with compiled loops for the dense part and the known entries."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.dense import Columns, DensePart, LineValue
from phcle.backends.kernels import numba_passes
from phcle.backends.known_entries import KnownEntries
from phcle.backends.numpy_backend import NumpyBackend

Numbers = npt.NDArray[Any]


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
        _keep_freed_memory()

    def dense_part(self, y: Numbers, columns: Columns) -> DensePart:
        """The dense part of a logistic term at a block of rows."""
        if self.dtype == "float64":
            return super().dense_part(y, columns)
        return _CompiledPart(y, columns)

    def known_entries(self, columns: Numbers, other: Numbers) -> KnownEntries:
        """Rows of the other factor at every row's known columns (rows, width)."""
        return _CompiledEntries(columns, other)


@lru_cache
def _keep_freed_memory() -> None:
    """Let glibc keep the arrays of a block for the next one.

    It returns larger ones to the system than it has seen before, and each new page has
    to be cleared: on one core, sweeps of 10,000 labels would take a tenth longer.
    """
    np.empty(31 << 20, np.uint8)  # just below the largest size that it learns from


class _CompiledEntries(KnownEntries):
    """Known entries that are read in place, without gathering."""

    def __init__(self, columns: Numbers, other: Numbers) -> None:
        self.columns, self.other = columns, other

    def dots(self, y: Numbers) -> Numbers:
        """y·z_c for every known column: (rows, width)."""
        result = np.empty(self.columns.shape, self.other.dtype)
        numba_passes.dots(self.columns, self.other, y, result)
        return result

    def sums(self, weights: Numbers) -> Numbers:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        result = np.empty((len(weights), self.other.shape[1]), self.other.dtype)
        numba_passes.sums(self.columns, self.other, weights, result)
        return result


class _Curvature:
    """The curvature of the dense part, from σ of every pair (r, columns)."""

    def __init__(self, sigmoid: Numbers, columns: Columns) -> None:
        self.sigmoid, self.columns = sigmoid, columns

    def product(self, z: Numbers) -> Numbers:
        """The exact curvature times z, row by row: (r, d)."""
        bent = z @ self.columns.other.T
        numba_passes.bend(self.sigmoid, bent)
        return np.asarray(bent @ self.columns.weighted)


class _CompiledPart(_Curvature):
    """The dense part of a block: two matrix products and one pass."""

    def __init__(self, y: Numbers, columns: Columns) -> None:
        self.x = y @ columns.other.T
        super().__init__(np.empty_like(self.x), columns)
        self.value, self.spread = np.empty((2, len(y)), self.x.dtype)
        numba_passes.logistic(
            self.x, columns.mass, columns.share, self.sigmoid, self.value, self.spread
        )

    @cached_property
    def gradient(self) -> Numbers:
        """The gradient, which products with the curvature do not need: (r, d)."""
        return np.asarray(self.sigmoid @ self.columns.weighted)

    def curvature_at(self, at: Numbers, columns: Columns) -> _Curvature:
        """The curvature at the same rows, from a sample of the columns."""
        return _Curvature(np.take(self.sigmoid, at, axis=1), columns)

    def along(self, direction: Numbers) -> LineValue:
        """The value along one direction from each row."""
        columns, whole = self.columns, None  # the slope, once all rows are asked for

        def value(step: Numbers, chosen: Any) -> Numbers:
            nonlocal whole
            if isinstance(chosen, slice):
                whole = direction @ columns.other.T
            x, result = self.x[chosen], np.empty(len(step), self.x.dtype)
            slope = (
                direction[chosen] @ columns.other.T if whole is None else whole[chosen]
            )
            numba_passes.line(x, slope, step, columns.mass, result)
            return result

        return value
