"""NumPy arrays, with compiled loops for the dense part and the known entries."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.dense import Columns, LineValue
from phcle.backends.kernels import known_entries, logistic_tiles
from phcle.backends.known_entries import KnownEntries
from phcle.backends.numpy_backend import NumpyBackend


class NumbaBackend(NumpyBackend):
    """NumPy with compiled loops: softplus and sigmoid take less than the products.

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

    def dense_part(self, y: npt.NDArray[Any], columns: Columns) -> _CompiledPart:
        """The dense part of a logistic term at a block of rows."""
        return _CompiledPart(y, columns)

    def known_entries(
        self, columns: npt.NDArray[Any], other: npt.NDArray[Any]
    ) -> _CompiledEntries:
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

    def __init__(self, columns: npt.NDArray[Any], other: npt.NDArray[Any]) -> None:
        self.columns, self.other = columns, other

    def dots(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """y·z_c for every known column: (rows, width)."""
        result = np.empty(self.columns.shape, self.other.dtype)
        known_entries.dots(self.columns, self.other, y, result)
        return result

    def sums(self, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        result = np.empty((len(weights), self.other.shape[1]), self.other.dtype)
        known_entries.sums(self.columns, self.other, weights, result)
        return result


class _Curvature:
    """The curvature of the dense part, from σ of every pair (r, columns)."""

    def __init__(self, sigmoid: npt.NDArray[Any], columns: Columns) -> None:
        self.sigmoid, self.columns = sigmoid, columns

    def product(self, z: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The exact curvature times z, row by row: (r, d)."""
        bent = z @ self.columns.other.T
        logistic_tiles.bend(self.sigmoid, bent)
        return np.asarray(bent @ self.columns.weighted)


class _CompiledPart(_Curvature):
    """The dense part of a block: two matrix products and one pass."""

    def __init__(self, y: npt.NDArray[Any], columns: Columns) -> None:
        self.x = y @ columns.other.T
        super().__init__(np.empty_like(self.x), columns)
        self.value = np.empty(len(y), self.x.dtype)
        self.spread = np.empty(len(y), self.x.dtype)
        logistic_tiles.logistic(
            self.x, columns.mass, columns.share, self.sigmoid, self.value, self.spread
        )

    @cached_property
    def gradient(self) -> npt.NDArray[Any]:
        """The gradient, which products with the curvature do not need: (r, d)."""
        return np.asarray(self.sigmoid @ self.columns.weighted)

    def curvature_at(self, at: npt.NDArray[Any], columns: Columns) -> _Curvature:
        """The curvature at the same rows, from a sample of the columns."""
        return _Curvature(np.take(self.sigmoid, at, axis=1), columns)

    def along(self, direction: npt.NDArray[Any]) -> LineValue:
        """The value along one direction from each row."""
        return _CompiledLine(self, direction)


class _CompiledLine:
    """The value of a dense part along one direction from each row."""

    def __init__(self, part: _CompiledPart, direction: npt.NDArray[Any]) -> None:
        self.part, self.direction = part, direction
        self.slope: npt.NDArray[Any] | None = None  # once all rows are asked for

    def __call__(self, step: npt.NDArray[Any], chosen: Any) -> npt.NDArray[Any]:
        x, columns = self.part.x, self.part.columns
        if isinstance(chosen, slice):
            self.slope = self.direction @ columns.other.T
        if self.slope is None:
            x, slope = x[chosen], self.direction[chosen] @ columns.other.T
            rows = np.arange(len(x))
        else:
            slope, rows = self.slope, np.arange(len(x))[chosen]
        result = np.empty(len(rows), x.dtype)
        logistic_tiles.line(x, slope, rows, step, columns.mass, result)
        return result
