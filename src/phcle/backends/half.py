"""The dense part in mixed precision: half-precision products, single accumulators.

x = Y Zᵀ is taken in float16, whose ten bits of mantissa keep x precise. The products
with mass · Z are taken in bfloat16 on a GPU: masses differ by many orders of magnitude,
and its range has room for them. Everything between the two products is single.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from typing import Any

import torch

from phcle.backends.dense import Columns, LineValue, TilePart

__all__ = ["WIDEST", "FusedPart", "HalfColumns", "MixedPart", "can_fuse", "padded"]

WIDEST = 512
"""Largest d of the fused kernel: the rows' accumulators must fit into registers."""


class HalfColumns:
    """Columns rounded to half precision, made once for all blocks."""

    def __init__(self, columns: Columns, weighted_dtype: torch.dtype) -> None:
        self.other = columns.other.to(torch.float16)
        # To the largest weight, so that none overflows; no number leaves the device.
        self.scale = columns.weighted.abs().max().clamp(min=1e-30)
        self.weighted = (columns.weighted / self.scale).to(weighted_dtype)


def padded(columns: Columns) -> Any:
    """Columns, rounded or not, as the fused kernel reads them."""
    from phcle.backends.kernels.fused_dense import pad_columns

    source = columns if columns.rounded is None else columns.rounded
    return pad_columns(source.other, source.weighted, columns.mass, columns.share)


class FusedPart(TilePart):
    """The dense part from the fused kernel; keeps nothing but sums."""

    def __init__(self, backend: Any, y: torch.Tensor, columns: Columns) -> None:
        self.backend, self.columns, self.y = backend, columns, y
        self.value, self.spread, self.gradient = self._fused(y, with_gradient=True)

    def _fused(
        self, y: torch.Tensor, *, with_gradient: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        from phcle.backends.kernels.fused_dense import fused_dense

        there, half = self.columns.padded, self.columns.rounded
        value, spread, gradient = fused_dense(
            y.to(there.z.dtype), there, with_gradient=with_gradient
        )
        return value, spread, gradient if half is None else gradient * half.scale

    def product(self, z: torch.Tensor) -> torch.Tensor:
        """The exact curvature times z, row by row: (r, d), in blocks of plain torch."""
        height = max(1, self.backend.tile // max(1, len(self.columns.other)))
        parts = [
            TilePart(self.backend, y, self.columns).product(some)
            for y, some in zip(self.y.split(height), z.split(height), strict=True)
        ]
        return torch.cat(parts) if parts else z

    def along(self, direction: torch.Tensor) -> LineValue:
        """The value along one direction from each row."""

        def value(step: torch.Tensor, chosen: Any) -> torch.Tensor:
            moved = self.y[chosen] + step[:, None] * direction[chosen]
            return self._fused(moved, with_gradient=False)[0]

        return value


class MixedPart(TilePart):
    """The same precision in plain torch: what the fused kernel is compared with."""

    def __init__(self, backend: Any, y: torch.Tensor, columns: Columns) -> None:
        half: HalfColumns = columns.rounded
        self.backend, self.columns, self.half = backend, columns, half
        self.x = _product(y.to(torch.float16), half.other.T)
        self.sigmoid, softplus = backend.logistic(self.x)
        self.value = softplus @ columns.mass
        rounded = self.sigmoid.to(half.weighted.dtype)
        self.gradient = _product(rounded, half.weighted) * half.scale

    def along(self, direction: torch.Tensor) -> LineValue:
        """The value along one direction from each row."""
        slope = _product(direction.to(torch.float16), self.half.other.T)

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
    """Whether the fused kernel runs here: Triton, and a GPU from Ampere on."""
    if device == "cpu" or importlib.util.find_spec("triton") is None:
        return False
    return bool(torch.cuda.get_device_capability()[0] >= 8)
