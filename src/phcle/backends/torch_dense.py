"""The dense part on torch's matrix units: halves go in, single-precision sums come out.

In mixed precision x = Y Zᵀ is a product of halves, whose ten bits of mantissa keep it
precise, and so is the product with σ · mass. Everything between the two is single. The
fused kernel does the same without keeping x, and in full precision too. Products with
the curvature are of halves in both: they only tell where a step goes.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import torch

from phcle.backends.dense import Columns, LineValue, TilePart, n_sampled_columns
from phcle.backends.half_precision import HalfColumns, HalfRows

__all__ = ["WIDEST", "FusedColumns", "FusedPart", "MixedPart", "can_fuse"]

WIDEST = {"mixed": 512, "full": 256}
"""Largest d for which the fused kernel beats plain torch, by precision.

The rows' accumulators must fit into registers; full precision needs two of each.
"""

SHARED_MEMORY, RESERVED_MEMORY = 228 * 1024, 1024
"""Bytes that a multiprocessor of Hopper has, and those of them that no program gets.

The widest blocks of the fused kernel take nearly all.
"""


@dataclass(frozen=True)
class FusedColumns:
    """Columns as the fused kernel reads them: all, and those that tell the spread."""

    every: Any  # PaddedColumns
    probe: Any
    columns: Columns  # what both were made of

    @classmethod
    def of(cls, columns: Columns, *, precise: bool) -> FusedColumns:
        """Pad the columns, and draw some in proportion to their share of the trace."""
        every = _padded(columns, precise=precise)
        n = n_sampled_columns(len(columns.other))
        if n == len(columns.other):
            return cls(every, every, columns)
        # Evenly spaced over the shares, so that a large share is drawn that often.
        there = (torch.arange(n, device=columns.share.device) + 0.5) / n
        at = torch.searchsorted(columns.share.cumsum(dim=0), there)
        at = at.clamp(max=len(columns.other) - 1)
        even = torch.full_like(columns.mass[at], 1 / n)
        few = Columns(columns.other[at], columns.mass[at], columns.weighted[at], even)
        return cls(every, _padded(few, precise=precise), columns)

    @cached_property
    def rounded(self) -> HalfColumns:
        """All columns rounded once, for products with the curvature."""
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


class FusedPart:
    """The dense part from the fused kernel; keeps nothing but sums."""

    def __init__(self, backend: Any, y: torch.Tensor, columns: Columns) -> None:
        self.backend, self.columns, self.y = backend, columns, y

    @cached_property
    def _sums(self) -> tuple[torch.Tensor, torch.Tensor]:
        from phcle.backends.kernels.fused_dense import fused_dense

        return fused_dense(self.y, self.columns.fused.every)

    @property
    def value(self) -> torch.Tensor:
        """The value: (r,)."""
        return self._sums[0]

    @property
    def gradient(self) -> torch.Tensor:
        """The gradient: (r, d)."""
        return self._sums[1]

    @cached_property
    def spread(self) -> torch.Tensor:
        """The mean of σ(1 − σ), weighted by each column's share of the trace: (r,)."""
        from phcle.backends.kernels.fused_dense import fused_spread

        return fused_spread(self.y, self.columns.fused.probe)

    @cached_property
    def _curvature(self) -> list[HalfCurvature]:
        """The curvature of some rows at a time; its columns are few, a probe."""
        height = max(1, self.backend.tile // max(1, len(self.columns.other)))
        fused = self.columns.fused
        return [HalfCurvature(rows, fused) for rows in self.y.split(height)]

    def product(self, z: torch.Tensor) -> torch.Tensor:
        """The curvature times z, row by row, to three digits: (r, d)."""
        parts, start = [], 0
        for curvature in self._curvature:
            stop = start + len(curvature.bend)
            parts.append(curvature.product(z[start:stop]))
            start = stop
        return torch.cat(parts)

    def along(self, direction: torch.Tensor) -> LineValue:
        """The value along one direction from each row."""
        from phcle.backends.kernels.fused_dense import fused_dense

        def value(step: torch.Tensor, chosen: Any) -> torch.Tensor:
            moved = self.y[chosen] + step[:, None] * direction[chosen]
            return fused_dense(moved, self.columns.fused.every, with_gradient=False)[0]

        return value


class HalfCurvature:
    """mass σ(1 − σ) of every pair in halves, and products with it."""

    def __init__(self, y: torch.Tensor, fused: FusedColumns) -> None:
        self.fused, half = fused, fused.rounded
        sigmoid = torch.sigmoid(_product(HalfRows.of(y, half).high, half.high.T))
        self.bend = (sigmoid * (1 - sigmoid) * half.mass).half()  # (r, columns)

    def product(self, z: torch.Tensor) -> torch.Tensor:
        """The curvature times z, row by row: (r, d)."""
        half = self.fused.rounded
        # Rows of a length for which no product with a column is above 1.
        size = torch.linalg.vector_norm(z, dim=1, keepdim=True) * self.fused.longest
        size = size.clamp(min=torch.finfo(z.dtype).tiny)
        bent = (HalfRows.of(z / size, half).high @ half.high.T) * self.bend
        return _product(bent, half.high) * (half.scale * size)


class MixedPart(TilePart):
    """Mixed precision in plain torch: what the fused kernel is compared with."""

    def __init__(self, backend: Any, y: torch.Tensor, columns: Columns) -> None:
        half: HalfColumns = columns.rounded
        self.backend, self.columns, self.half = backend, columns, half
        self.x = _product(HalfRows.of(y, half).high, half.high.T)
        self.sigmoid, softplus = backend.logistic(self.x)
        self.value = softplus @ columns.mass
        pulled = (self.sigmoid * half.mass).half()
        self.gradient = _product(pulled, half.high) * half.scale

    def along(self, direction: torch.Tensor) -> LineValue:
        """The value along one direction from each row."""
        slope = _product(HalfRows.of(direction, self.half).high, self.half.high.T)

        def value(step: torch.Tensor, chosen: Any) -> torch.Tensor:
            x = self.x[chosen] + step[:, None] * slope[chosen]
            return self.backend.softplus(x) @ self.columns.mass

        return value


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product of halves, accumulated in single precision."""
    if a.is_cuda:
        return torch.mm(a, b, out_dtype=torch.float32)
    return a.to(torch.float32) @ b.to(torch.float32)


@lru_cache
def can_fuse(device: str) -> bool:
    """Whether the fused kernel runs here: Triton, and a GPU with Hopper's room."""
    if device == "cpu" or importlib.util.find_spec("triton") is None:
        return False
    properties = torch.cuda.get_device_properties(device)
    return bool(properties.shared_memory_per_multiprocessor >= SHARED_MEMORY)
