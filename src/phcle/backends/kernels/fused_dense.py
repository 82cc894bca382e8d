"""The dense part on a GPU in one Triton kernel: no tile reaches global memory.

It has the shape of attention without softmax. A program holds a block of rows y and
goes over blocks of columns z:

    x = y zᵀ   σ = 1 / (1 + e⁻ˣ)   gradient += σ (mass · z)   value += softplus(x) mass

Both products run on the matrix units, in half precision with single accumulators or in
single precision throughout. Beside them a multiprocessor can run about 16 instructions
per pair without slowing down the matrix units (d = 128). So e = exp(−|x|) and
1 / (1 + e) are one instruction each, log(1 + e) is a short polynomial, and columns are
padded in memory, which spares all tests for the last one.

The columns can be split over several programs per block of rows, so that few rows fill
the device as well; their partial sums are added afterwards, always in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

__all__ = [
    "Blocking",
    "PaddedColumns",
    "default_blocking",
    "fused_dense",
    "pad_columns",
    "padded_width",
]


@dataclass(frozen=True)
class Blocking:
    """How a launch is cut up."""

    rows: int
    columns: int
    warps: int
    stages: int


# By width. Compiled for Hopper these spill no registers or next to none, and leave room
# for their buffers: `python tools/inspect_kernel.py` shows it without a GPU.
_HALF = {
    16: Blocking(128, 128, 8, 3),
    32: Blocking(128, 128, 8, 3),
    64: Blocking(128, 128, 8, 3),
    128: Blocking(128, 64, 8, 3),
    256: Blocking(128, 64, 8, 2),
    512: Blocking(64, 32, 8, 2),
}
_SINGLE = {
    16: Blocking(64, 64, 4, 2),
    32: Blocking(64, 64, 4, 2),
    64: Blocking(64, 32, 4, 2),
    128: Blocking(64, 32, 4, 2),
    256: Blocking(32, 32, 8, 2),
    512: Blocking(32, 16, 8, 2),
}

_PROGRAMS = 512
"""Programs that fill a large GPU several times over."""


_COLUMNS_AT_ONCE = 128
"""Columns are padded to a multiple of this; every block's number divides it."""


@dataclass(frozen=True)
class PaddedColumns:
    """Columns as the kernel reads them: zero columns and dimensions fill them up."""

    z: torch.Tensor  # (columns, width), float32 or float16
    weighted: torch.Tensor  # mass · z, perhaps to a scale; may also be bfloat16
    mass: torch.Tensor  # (columns,), float32
    share: torch.Tensor  # (columns,), float32


def pad_columns(
    z: torch.Tensor, weighted: torch.Tensor, mass: torch.Tensor, share: torch.Tensor
) -> PaddedColumns:
    """Fill up with columns without mass; made once for all rows."""
    n_columns, dim = z.shape
    more = -n_columns % _COLUMNS_AT_ONCE
    wider = padded_width(dim) - dim
    pad = torch.nn.functional.pad
    return PaddedColumns(
        pad(z, (0, wider, 0, more)).contiguous(),
        pad(weighted, (0, wider, 0, more)).contiguous(),
        pad(mass, (0, more)),
        pad(share, (0, more)),
    )


def padded_width(dim: int) -> int:
    """The power of two that d is padded to in a block, 16 at least."""
    return int(max(16, triton.next_power_of_2(dim)))


# Annotations of the functions below would be read by Triton, which knows no `Any`.


@triton.jit
def _exp2(x, FAST: tl.constexpr):  # type: ignore[no-untyped-def]
    """2ˣ; fast, it is one instruction that gives 0 for what is below 2⁻¹²⁶."""
    if FAST:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;",
            "=f,f",
            [x],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
    return tl.exp2(x)


@triton.jit
def _reciprocal(x, FAST: tl.constexpr):  # type: ignore[no-untyped-def]
    """1 / x for 1 ≤ x ≤ 2; fast, it is one instruction, right to 1 in 2²³."""
    if FAST:
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;",
            "=f,f",
            [x],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
    return 1.0 / x


@triton.jit
def _log1p_over(e, PRECISE: tl.constexpr):  # type: ignore[no-untyped-def]
    """log(1 + e) / e for 0 ≤ e ≤ 1, to 9e-6 or, precise, to single precision."""
    if PRECISE:
        s = 0.0052534579 * e - 0.0295885075
        s = s * e + 0.0783616677
        s = s * e - 0.1367477030
        s = s * e + 0.1911143064
        s = s * e - 0.2484436929
        s = s * e + 0.3331927061
        s = s * e - 0.4999950230
        return s * e + 1.0
    s = -0.0239795726 * e + 0.1015000492
    s = s * e - 0.2102936953
    s = s * e + 0.3252951503
    s = s * e - 0.4993726015
    return s * e + 0.9999918342


@triton.jit
def _kernel(  # type: ignore[no-untyped-def]
    y_at,
    z_at,
    weighted_at,
    mass_at,
    share_at,
    value_at,
    spread_at,
    gradient_at,
    n_rows,
    n_columns,
    columns_per_split,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    WITH_GRADIENT: tl.constexpr,
    PRECISE: tl.constexpr,
    FAST: tl.constexpr,
):
    # Three products of shorter numbers are as good as single precision, and run on the
    # matrix units; wide rows leave no registers for them. Halves know no such choice.
    PRECISION: tl.constexpr = "tf32x3" if WIDTH <= 128 else "ieee"
    split = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    axes = tl.arange(0, WIDTH)
    is_row = rows < n_rows
    y = tl.load(
        y_at + rows[:, None].to(tl.int64) * WIDTH + axes[None, :],
        mask=is_row[:, None],
        other=0.0,
    )
    value = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    spread = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    gradient = tl.zeros((BLOCK_ROWS, WIDTH), dtype=tl.float32)
    first = split * columns_per_split
    last = tl.minimum(first + columns_per_split, n_columns)
    for start in range(first, last, BLOCK_COLUMNS):
        columns = start + tl.arange(0, BLOCK_COLUMNS)
        place = columns[:, None].to(tl.int64) * WIDTH + axes[None, :]
        z = tl.load(z_at + place)
        mass = tl.load(mass_at + columns)
        x = tl.dot(y, tl.trans(z), input_precision=PRECISION)
        e = _exp2(tl.abs(x) * -1.4426950408889634, FAST)
        softplus = e * _log1p_over(e, PRECISE) + tl.maximum(x, 0.0)
        value += tl.sum(softplus * mass[None, :], axis=1)
        if WITH_GRADIENT:
            share = tl.load(share_at + columns)
            upper = _reciprocal(1.0 + e, FAST)
            lower = e * upper
            spread += tl.sum(upper * lower * share[None, :], axis=1)
            sigmoid = tl.where(x >= 0.0, upper, lower)
            weighted = tl.load(weighted_at + place)
            gradient += tl.dot(
                sigmoid.to(weighted.dtype), weighted, input_precision=PRECISION
            )
    at = split * n_rows + rows
    tl.store(value_at + at, value, mask=is_row)
    if WITH_GRADIENT:
        tl.store(spread_at + at, spread, mask=is_row)
        tl.store(
            gradient_at + at[:, None].to(tl.int64) * WIDTH + axes[None, :],
            gradient,
            mask=is_row[:, None],
        )


def default_blocking(width: int, dtype: torch.dtype) -> Blocking:
    """How a launch of this width is cut up if nothing else is asked for."""
    return (_SINGLE if dtype == torch.float32 else _HALF)[width]


def fused_dense(
    y: torch.Tensor,
    columns: PaddedColumns,
    *,
    with_gradient: bool = True,
    blocking: Blocking | None = None,
    splits: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Value (r,), spread (r,) and gradient (r, d) of the dense part, in float32.

    `y` has the dtype of the columns' z. d is 512 at most. Without the gradient the last
    two come back empty.
    """
    (n_rows, dim), (n_columns, width) = y.shape, columns.z.shape
    cut = blocking or default_blocking(width, y.dtype)
    n_blocks = triton.cdiv(n_rows, cut.rows)
    if splits is None:
        splits = max(1, min(_PROGRAMS // n_blocks, n_columns // (8 * cut.columns), 16))
    per_split = triton.cdiv(triton.cdiv(n_columns, splits), cut.columns) * cut.columns
    splits = triton.cdiv(n_columns, per_split)

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.float32, device=y.device)

    n_kept = n_rows if with_gradient else 0
    value, spread = empty(splits, n_rows), empty(splits, n_kept)
    gradient = empty(splits, n_kept, width)
    if n_rows:
        _kernel[(n_blocks, splits)](
            torch.nn.functional.pad(y, (0, width - dim)).contiguous(),
            columns.z,
            columns.weighted,
            columns.mass,
            columns.share,
            value,
            spread,
            gradient,
            n_rows,
            n_columns,
            per_split,
            BLOCK_ROWS=cut.rows,
            BLOCK_COLUMNS=cut.columns,
            WIDTH=width,
            WITH_GRADIENT=with_gradient,
            PRECISE=y.dtype == torch.float32,
            FAST=y.is_cuda,
            num_warps=cut.warps,
            num_stages=cut.stages,
        )
    gradient = gradient[:, :, :dim]
    if splits == 1:
        return value[0], spread[0], gradient[0]
    return value.sum(dim=0), spread.sum(dim=0), gradient.sum(dim=0)
