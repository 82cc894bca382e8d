"""The dense part on a GPU in one Triton kernel: no tile reaches global memory.

It has the shape of attention without softmax. A program holds a block of rows y and
goes over blocks of columns z:

    x = y zᵀ   σ = 1 / (1 + e⁻ˣ)   gradient += σ (mass · z)   value += softplus(x) mass

Both products run on the matrix units, in half precision with single accumulators or in
single precision throughout. e = exp(−|x|) is the only exponential; log(1 + e) is a
polynomial, because the special-function units would be the bottleneck.

The columns can be split over several programs per block of rows, so that few rows fill
the device as well; their partial sums are added afterwards, always in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

__all__ = ["Blocking", "fused_dense", "padded_width"]


@dataclass(frozen=True)
class Blocking:
    """How a launch is cut up; the defaults by width are in `_BLOCKING`."""

    rows: int
    columns: int
    warps: int
    stages: int


_BLOCKING = {
    16: Blocking(128, 128, 4, 3),
    32: Blocking(128, 128, 4, 3),
    64: Blocking(128, 128, 8, 3),
    128: Blocking(128, 128, 8, 3),
    256: Blocking(128, 64, 8, 2),
    512: Blocking(64, 32, 8, 2),
}

_PROGRAMS = 512
"""Programs that fill a large GPU several times over."""


def padded_width(dim: int) -> int:
    """The power of two that d is padded to in a block, 16 at least."""
    return int(max(16, triton.next_power_of_2(dim)))


@triton.jit
def _log1p(e: Any) -> Any:
    """log(1 + e) for 0 ≤ e ≤ 1, by 2 artanh(e / (2 + e)), to 2e-8."""
    t = e / (2.0 + e)
    q = t * t
    s = 0.15384616 * q + 0.18181819
    s = s * q + 0.22222222
    s = s * q + 0.28571430
    s = s * q + 0.4
    s = s * q + 0.66666669
    s = s * q + 2.0
    return s * t


@triton.jit
def _kernel(
    y_at: Any,
    z_at: Any,
    weighted_at: Any,
    mass_at: Any,
    share_at: Any,
    value_at: Any,
    spread_at: Any,
    gradient_at: Any,
    n_rows: Any,
    n_columns: Any,
    dim: Any,
    columns_per_split: Any,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    WITH_GRADIENT: tl.constexpr,
    PRECISION: tl.constexpr,
) -> None:
    split = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    axes = tl.arange(0, WIDTH)
    is_row = rows < n_rows
    is_axis = axes < dim
    y = tl.load(
        y_at + rows[:, None].to(tl.int64) * dim + axes[None, :],
        mask=is_row[:, None] & is_axis[None, :],
        other=0.0,
    )
    value = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    spread = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    gradient = tl.zeros((BLOCK_ROWS, WIDTH), dtype=tl.float32)
    first = split * columns_per_split
    last = tl.minimum(first + columns_per_split, n_columns)
    for start in range(first, last, BLOCK_COLUMNS):
        columns = start + tl.arange(0, BLOCK_COLUMNS)
        is_column = columns < last
        place = columns[:, None].to(tl.int64) * dim + axes[None, :]
        here = is_column[:, None] & is_axis[None, :]
        z = tl.load(z_at + place, mask=here, other=0.0)
        # Columns beyond the last one have no mass and no share.
        mass = tl.load(mass_at + columns, mask=is_column, other=0.0)
        x = tl.dot(y, tl.trans(z), input_precision=PRECISION)
        e = tl.exp2(tl.abs(x) * -1.4426950408889634)
        value += tl.sum((tl.maximum(x, 0.0) + _log1p(e)) * mass[None, :], axis=1)
        if WITH_GRADIENT:
            share = tl.load(share_at + columns, mask=is_column, other=0.0)
            upper = 1.0 / (1.0 + e)
            lower = e * upper
            spread += tl.sum(upper * lower * share[None, :], axis=1)
            sigmoid = tl.where(x >= 0.0, upper, lower)
            weighted = tl.load(weighted_at + place, mask=here, other=0.0)
            gradient += tl.dot(
                sigmoid.to(weighted.dtype), weighted, input_precision=PRECISION
            )
    at = split * n_rows + rows
    tl.store(value_at + at, value, mask=is_row)
    if WITH_GRADIENT:
        tl.store(spread_at + at, spread, mask=is_row)
        tl.store(
            gradient_at + at[:, None].to(tl.int64) * dim + axes[None, :],
            gradient,
            mask=is_row[:, None] & is_axis[None, :],
        )


def fused_dense(
    y: torch.Tensor,
    z: torch.Tensor,
    weighted: torch.Tensor,
    mass: torch.Tensor,
    share: torch.Tensor,
    *,
    with_gradient: bool = True,
    blocking: Blocking | None = None,
    splits: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Value (r,), spread (r,) and gradient (r, d) of the dense part, in float32.

    `y` and `z` have one dtype, float32 or float16; `weighted` (mass · z, perhaps to a
    scale) may also be bfloat16. d is 512 at most. Without the gradient the last two
    come back empty.
    """
    (n_rows, dim), n_columns = y.shape, z.shape[0]
    cut = blocking or _BLOCKING[padded_width(dim)]
    if blocking is None and y.dtype == torch.float32:
        # Twice the bytes in shared memory.
        cut = Blocking(cut.rows // 2, max(16, cut.columns // 2), cut.warps, 2)
    n_blocks = triton.cdiv(n_rows, cut.rows)
    if splits is None:
        splits = max(1, min(_PROGRAMS // n_blocks, n_columns // (8 * cut.columns), 16))
    per_split = triton.cdiv(triton.cdiv(n_columns, splits), cut.columns) * cut.columns
    splits = triton.cdiv(n_columns, per_split)

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.float32, device=y.device)

    n_kept = n_rows if with_gradient else 0
    value, spread = empty(splits, n_rows), empty(splits, n_kept)
    gradient = empty(splits, n_kept, dim)
    if n_rows:
        _kernel[(n_blocks, splits)](
            y.contiguous(),
            z.contiguous(),
            weighted.contiguous(),
            mass,
            share,
            value,
            spread,
            gradient,
            n_rows,
            n_columns,
            dim,
            per_split,
            BLOCK_ROWS=cut.rows,
            BLOCK_COLUMNS=cut.columns,
            WIDTH=padded_width(dim),
            WITH_GRADIENT=with_gradient,
            PRECISION="ieee" if y.dtype == torch.float32 else "tf32",
            num_warps=cut.warps,
            num_stages=cut.stages,
        )
    if splits == 1:
        return value[0], spread[0], gradient[0]
    return value.sum(dim=0), spread.sum(dim=0), gradient.sum(dim=0)
