"""The dense part from the fused kernel: float16 products, summed in float32.

In mixed precision x = Y Zᵀ and the product with σ · mass are products of float16
numbers; everything between them is float32, and x is never stored. There a number is a
power of two times one float16. In full precision it is a power of two times the sum of
two float16, the second of which holds the rounding error of the first: 22 bits
together. Three products of such parts replace one product in single precision, and are
still faster. Products with the curvature are of float16 numbers in both: they only set
the direction of a step.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import torch

from phcle.backends.pairs import Columns, DensePart, Probe, n_sampled_columns

WIDEST = {"mixed": 512, "full": 256}
"""Largest d for which the fused kernel beats plain torch, by precision.

The accumulators of the rows must fit into registers; full precision needs two of each.
"""

SHARED_MEMORY, RESERVED_MEMORY = 228 * 1024, 1024
"""Bytes that a Hopper multiprocessor has, and how many of them are reserved.

The widest blocks of the fused kernel need nearly all.
"""


LARGEST_HALF = 65_504.0
"""Largest float16. Numbers are clipped to it: infinity times zero would be NaN."""

LARGEST_MASS = 2.0**14
"""What the largest mass in a product is scaled to, so that no product overflows."""

LARGEST = 2.0**4
"""What the largest column entry is scaled to; leaves room for small ones and rows."""


@dataclass(frozen=True)
class HalfColumns:
    """Columns in float16, made once for all blocks; z = size · (high + low).

    Attributes
    ----------
    high : Tensor
        (columns, d), float16.
    low : Tensor or None
        Rounding error of `high`; None in mixed precision.
    size : Tensor
        Powers of two, (columns,); in mixed precision one for all, ().
    mass : Tensor
        (columns,), in a unit in which no product overflows.
    unit : Tensor
        Unit of the mass, (); a tensor, so that nothing leaves the device.
    """

    high: torch.Tensor
    low: torch.Tensor | None
    size: torch.Tensor
    mass: torch.Tensor
    unit: torch.Tensor

    @property
    def scale(self) -> torch.Tensor:
        """Factor for a product of mass and float16 numbers: ()."""
        return self.unit * self.size if self.low is None else self.unit

    @classmethod
    def of(cls, columns: Columns, *, precise: bool) -> HalfColumns:
        """Convert columns.

        Parameters
        ----------
        columns : Columns
            In single precision.
        precise : bool
            Split every number in two for full precision, or round it to one.

        Returns
        -------
        HalfColumns
            The converted columns.
        """
        z = columns.other
        if precise:
            size = _power_of_two(z.abs().amax(dim=1))
            high, low = _split(z / size[:, None])
        else:
            size = _power_of_two(z.abs().max()) / LARGEST
            high, low = (z / size).half(), None
        # In full precision the kernel multiplies the mass by the sizes before rounding.
        largest = (columns.mass * size if precise else columns.mass).max()
        unit = largest.clamp(min=1e-30) / LARGEST_MASS
        return cls(high, low, size, columns.mass / unit, unit)


@dataclass(frozen=True)
class HalfRows:
    """Rows in float16 that fit given columns; y = size · (high + low).

    In mixed precision the rows include the size of the columns, so that
    high · columns.high is the whole product.

    Attributes
    ----------
    high : Tensor
        (rows, d), float16.
    low : Tensor or None
        Rounding error of `high`; None in mixed precision.
    size : Tensor or None
        Powers of two, (rows,); None in mixed precision.
    """

    high: torch.Tensor
    low: torch.Tensor | None
    size: torch.Tensor | None

    @classmethod
    def of(cls, y: torch.Tensor, columns: HalfColumns, unit: float = 1.0) -> HalfRows:
        """Convert rows in the same way as the columns.

        Parameters
        ----------
        y : Tensor
            Rows, (rows, d).
        columns : HalfColumns
            What the rows will be multiplied with.
        unit : float
            Factor that products include.

        Returns
        -------
        HalfRows
            The converted rows.
        """
        if columns.low is None:
            fitting = (y * (columns.size * unit)).clamp(-LARGEST_HALF, LARGEST_HALF)
            return cls(fitting.half(), None, None)
        size = _power_of_two(y.abs().amax(dim=1))
        return cls(*_split(y / size[:, None]), size * unit)


def _power_of_two(largest: torch.Tensor) -> torch.Tensor:
    """The next power of two above each number, exactly; 1 for zero."""
    mantissa, exponent = torch.frexp(largest)
    return torch.ldexp(torch.ones_like(mantissa), exponent)


def _split(numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    high = numbers.half()
    return high, (numbers - high.float()).half()


@dataclass(frozen=True)
class FusedColumns:
    """Columns as the fused kernel reads them.

    Attributes
    ----------
    every : PaddedColumns
        All columns.
    sample : PaddedColumns
        The sample of columns for the curvature.
    columns : Columns
        The columns from which both were made.
    """

    every: Any
    sample: Any
    columns: Columns

    @classmethod
    def of(cls, columns: Columns, *, precise: bool) -> FusedColumns:
        """Pad the columns, and draw a sample in proportion to the share of the trace.

        Parameters
        ----------
        columns : Columns
            In single precision.
        precise : bool
            For full rather than mixed precision.

        Returns
        -------
        FusedColumns
            Made once for all blocks.
        """
        every = _padded(columns, precise=precise)
        n = n_sampled_columns(len(columns.other))
        if n == len(columns.other):
            return cls(every, every, columns)
        # Evenly spaced over the cumulative shares: large ones are drawn several times.
        there = (torch.arange(n, device=columns.share.device) + 0.5) / n
        at = torch.searchsorted(columns.share.cumsum(dim=0), there)
        at = at.clamp(max=len(columns.other) - 1)
        even = torch.full_like(columns.mass[at], 1 / n)
        few = Columns(columns.other[at], columns.mass[at], columns.weighted[at], even)
        return cls(every, _padded(few, precise=precise), columns)

    @cached_property
    def rounded(self) -> HalfColumns:
        """All columns in float16, for products with the curvature."""
        return HalfColumns.of(self.columns, precise=False)

    @cached_property
    def longest(self) -> torch.Tensor:
        """The largest Euclidean length of a column: ()."""
        return _longest(self.columns)


def _padded(columns: Columns, *, precise: bool) -> Any:
    from phcle.backends.kernels.fused_dense import PaddedColumns

    halves = HalfColumns.of(columns, precise=precise)
    longest = _longest(columns) / halves.size.max()
    return PaddedColumns.of(halves, columns.share, longest)


def _longest(columns: Columns) -> torch.Tensor:
    return torch.linalg.vector_norm(columns.other, dim=1).max()


class FusedPart(DensePart):
    """The dense part from the fused kernel; stores only sums.

    Parameters
    ----------
    backend : TorchBackend
        Its limits apply.
    y : Tensor
        Rows, (r, d).
    columns : Columns
        The prepared other factor, with its fused part.
    """

    def __init__(self, backend: Any, y: torch.Tensor, columns: Columns) -> None:
        from phcle.backends.kernels.fused_dense import fused_dense, fused_spread

        self.backend, self.columns, self.y = backend, columns, y
        self.value, self.gradient = fused_dense(y, columns.fused.every)
        self.spread = fused_spread(y, columns.fused.sample)

    def value_at(self, y: torch.Tensor) -> torch.Tensor:
        """The value alone."""
        from phcle.backends.kernels.fused_dense import fused_dense

        return fused_dense(y, self.columns.fused.every, with_gradient=False)[0]

    def curvature(
        self, probe: Probe | None = None
    ) -> Callable[[torch.Tensor], torch.Tensor]:
        """Products with the curvature, to three digits."""
        columns = self.columns if probe is None else probe[1]
        # Some rows at a time, which bounds the memory.
        height = max(1, self.backend.tile // max(1, len(columns.other)))
        parts = [_HalfCurvature(y, columns.fused) for y in self.y.split(height)]

        def product(z: torch.Tensor) -> torch.Tensor:
            pairs = zip(parts, z.split(height), strict=True)
            return torch.cat([part.product(own) for part, own in pairs])

        return product


class _HalfCurvature:
    """mass σ(1 − σ) of every pair in float16, and products with it."""

    def __init__(self, y: torch.Tensor, fused: FusedColumns) -> None:
        self.fused, half = fused, fused.rounded
        sigmoid = torch.sigmoid(_product(HalfRows.of(y, half).high, half.high.T))
        self.bend = (sigmoid * (1 - sigmoid) * half.mass).half()  # (r, columns)

    def product(self, z: torch.Tensor) -> torch.Tensor:
        """The curvature times z, row by row: (r, d)."""
        half = self.fused.rounded
        # Scale the rows so that no product with a column is above 1.
        size = torch.linalg.vector_norm(z, dim=1, keepdim=True) * self.fused.longest
        size = size.clamp(min=torch.finfo(z.dtype).tiny)
        bent = (HalfRows.of(z / size, half).high @ half.high.T) * self.bend
        return _product(bent, half.high) * (half.scale * size)


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product of float16 numbers, summed in float32."""
    if a.is_cuda:
        return torch.mm(a, b, out_dtype=torch.float32)
    return a.to(torch.float32) @ b.to(torch.float32)


@lru_cache
def can_fuse(device: str) -> bool:
    """Whether the fused kernel runs here: needs Triton and a GPU like Hopper.

    Parameters
    ----------
    device : str
        "cpu" or "cuda".

    Returns
    -------
    bool
        Whether Triton is installed and the GPU has enough shared memory.
    """
    if device == "cpu" or importlib.util.find_spec("triton") is None:
        return False
    properties = torch.cuda.get_device_properties(device)
    return bool(properties.shared_memory_per_multiprocessor >= SHARED_MEMORY)
