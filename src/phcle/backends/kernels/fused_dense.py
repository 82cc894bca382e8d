"""The dense part on a GPU in one Triton kernel: no tile reaches global memory.

It has the shape of attention without softmax. A program holds a block of rows y and
goes over blocks of columns z:

    x = y zᵀ   σ = 1 / (1 + e⁻ˣ)   gradient += (σ · mass) z   value += softplus(x) mass

Both products run on the matrix units, in halves with single accumulators: one product
in mixed precision, three of split numbers in full precision. The same block of z serves
both, which spares half of the traffic.

Beside them a multiprocessor has few instructions to spare for a pair, and fewer still
of the special functions: with d = 128 the matrix units do 8 pairs in a cycle, and 16
special functions are done. So x comes in units of log 2, columns are padded in memory,
and in mixed precision two pairs share one reciprocal, and no pair is guarded against
overflow unless the lengths of its rows and columns allow one. The curvature is needed
only roughly: it comes from a sample of the columns, in a launch of its own.

The columns can be split over several programs per block of rows, so that few rows fill
the device as well; their partial sums are added afterwards, always in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from phcle.backends.torch_dense import HalfColumns, HalfRows


@dataclass(frozen=True)
class Blocking:
    """How a launch is cut up."""

    rows: int
    columns: int
    warps: int
    stages: int


# By width: with the gradient, and for a number per row alone. From 64 on these were the
# best of several on an H200, or within 2 % of it; the rest were chosen by what the
# compiler makes of them (`benchmarks/kernel.py --inspect` shows it without a GPU).
_MIXED = {
    16: (Blocking(64, 64, 4, 3), Blocking(64, 64, 4, 3)),
    32: (Blocking(64, 64, 4, 3), Blocking(64, 64, 4, 3)),
    64: (Blocking(64, 64, 4, 3), Blocking(64, 64, 4, 3)),
    128: (Blocking(64, 64, 4, 3), Blocking(128, 64, 8, 3)),
    256: (Blocking(64, 64, 4, 2), Blocking(128, 64, 8, 3)),
    512: (Blocking(64, 64, 8, 2), Blocking(64, 64, 4, 2)),
}
_FULL = {
    16: (Blocking(64, 64, 4, 3), Blocking(64, 64, 4, 3)),
    32: (Blocking(64, 64, 4, 3), Blocking(64, 64, 4, 3)),
    64: (Blocking(64, 64, 4, 3), Blocking(128, 128, 8, 2)),
    128: (Blocking(64, 64, 4, 2), Blocking(128, 128, 8, 2)),
    256: (Blocking(128, 32, 8, 2), Blocking(128, 32, 8, 2)),
    512: (Blocking(32, 16, 8, 2), Blocking(64, 16, 4, 3)),
}

_PROGRAMS = 5200
"""Programs that fill a large GPU a dozen times over, so that few wait for the last."""

_COLUMNS_AT_ONCE = 128
"""Columns are padded to a multiple of this; every block's number divides it."""

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class PaddedColumns:
    """Columns as the kernel reads them: zero columns and dimensions fill them up."""

    halves: HalfColumns
    share: torch.Tensor  # (columns,), float32
    longest: torch.Tensor  # (): the largest Euclidean length of a column

    @classmethod
    def of(
        cls, halves: HalfColumns, share: torch.Tensor, longest: torch.Tensor
    ) -> PaddedColumns:
        """Fill up with columns without mass; made once for all rows."""
        n_columns, dim = halves.high.shape
        more = -n_columns % _COLUMNS_AT_ONCE
        wider = padded_width(dim) - dim
        pad = torch.nn.functional.pad

        def wide(part: torch.Tensor) -> torch.Tensor:
            return pad(part, (0, wider, 0, more)).contiguous()

        low, size = halves.low, halves.size
        filled = replace(
            halves,
            high=wide(halves.high),
            low=None if low is None else wide(low),
            size=size if low is None else pad(size, (0, more), value=1.0),
            mass=pad(halves.mass, (0, more)),
        )
        return cls(filled, pad(share, (0, more)), longest)

    @property
    def is_precise(self) -> bool:
        """Whether the columns are split, for full precision."""
        return self.halves.low is not None


def padded_width(dim: int) -> int:
    """The power of two that d is padded to in a block, 16 at least."""
    return int(max(16, triton.next_power_of_2(dim)))


# Triton would read annotations of the kernel, and knows no `Any`. It would also compile
# it once more for numbers of rows that 16 divides.


@triton.jit(do_not_specialize=["n_rows"])
def _kernel(  # type: ignore[no-untyped-def]
    y_at,
    y_low_at,
    y_size_at,
    z_from,
    z_low_from,
    z_size_at,
    mass_at,
    share_at,
    longest_at,
    value_at,
    gradient_at,
    n_rows,
    n_columns,
    columns_per_split,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    WITH_GRADIENT: tl.constexpr,
    WITH_SPREAD: tl.constexpr,
    PRECISE: tl.constexpr,
    GUARDED: tl.constexpr,
    FAST: tl.constexpr,
):
    split = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    axes = tl.arange(0, WIDTH)
    is_row = rows < n_rows
    at = split * n_rows + rows
    place = rows[:, None].to(tl.int64) * WIDTH + axes[None, :]
    y = tl.load(y_at + place, mask=is_row[:, None], other=0.0)
    first = split * columns_per_split
    last = tl.minimum(first + columns_per_split, n_columns)
    if PRECISE:
        y_low = tl.load(y_low_at + place, mask=is_row[:, None], other=0.0)
        y_size = tl.load(y_size_at + rows, mask=is_row, other=0.0)
    else:
        # No |x| exceeds the product of lengths, so one of two launches does the block.
        # In the other it has neither columns nor rows.
        wide = y.to(tl.float32)
        length = tl.sqrt(tl.max(tl.sum(wide * wide, axis=1), axis=0))
        most = length * tl.load(longest_at)
        is_others = most < 60.0 if GUARDED else most >= 60.0
        last = tl.where(is_others, first, last)
        n_rows = tl.where(is_others, 0, n_rows)
    value = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    gradient = tl.zeros((BLOCK_ROWS, WIDTH), dtype=tl.float32)
    for start in range(first, last, BLOCK_COLUMNS):
        columns = start + tl.arange(0, BLOCK_COLUMNS)
        z = z_from.load([start, 0])
        x = tl.dot(y, tl.trans(z))
        if PRECISE:
            z_low = z_low_from.load([start, 0])
            z_size = tl.load(z_size_at + columns)
            x = tl.dot(y_low, tl.trans(z), x)
            x = tl.dot(y, tl.trans(z_low), x)
            x *= y_size[:, None] * z_size[None, :]
            e = exp2(-tl.abs(x), FAST)
            upper = reciprocal(1.0 + e, FAST)
            lower = e * upper
            sigmoid = tl.where(x >= 0.0, upper, lower)
            bend = upper * lower
            softplus = e * log2_1p_over(e) + tl.maximum(x, 0.0)
        else:
            e = exp2(tl.minimum(x, 60.0) if GUARDED else x, FAST)
            rest = shared_reciprocal(1.0 + e, FAST)
            sigmoid = e * rest
            bend = sigmoid * rest
            softplus = log2(1.0 + e, FAST)
            if GUARDED:
                softplus = tl.maximum(softplus, x)
        if WITH_SPREAD:
            value += tl.sum(bend * tl.load(share_at + columns)[None, :], axis=1)
        else:
            mass = tl.load(mass_at + columns)
            value += tl.sum(softplus * mass[None, :], axis=1)
        if WITH_GRADIENT:
            if PRECISE:
                mass *= z_size
            pulled = sigmoid * mass[None, :]
            high = pulled.to(z.dtype)
            if PRECISE:
                # Matrix units cut off what does not fit when they add to a sum; over
                # many blocks that would cost a third of the digits.
                low = (pulled - high.to(tl.float32)).to(z.dtype)
                block = tl.dot(high, z)
                block = tl.dot(low, z, block)
                block = tl.dot(high, z_low, block)
                gradient += block
            else:
                gradient = tl.dot(high, z, gradient)
    tl.store(value_at + at, value, mask=rows < n_rows)
    if WITH_GRADIENT:
        tl.store(
            gradient_at + at[:, None].to(tl.int64) * WIDTH + axes[None, :],
            gradient,
            mask=(rows < n_rows)[:, None],
        )


def default_blocking(width: int, *, precise: bool, with_gradient: bool) -> Blocking:
    """How a launch of this width is cut up if nothing else is asked for."""
    gradient, number = (_FULL if precise else _MIXED)[width]
    return gradient if with_gradient else number


def fused_dense(
    y: torch.Tensor,
    columns: PaddedColumns,
    *,
    with_gradient: bool = True,
    blocking: Blocking | None = None,
    splits: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Value (r,) and gradient (r, d) of the dense part, in float32; d is 512 at most.

    Without the gradient the last comes back empty.
    """
    value, gradient = _launch(
        y, columns, blocking, splits, WITH_GRADIENT=with_gradient, WITH_SPREAD=False
    )
    z = columns.halves
    return value * (z.unit / LOG2_E), gradient * z.scale


def fused_spread(
    y: torch.Tensor, columns: PaddedColumns, *, blocking: Blocking | None = None
) -> torch.Tensor:
    """Σ share σ(1 − σ) over the columns: (r,), in float32."""
    spread, _ = _launch(
        y, columns, blocking, None, WITH_GRADIENT=False, WITH_SPREAD=True
    )
    return spread


def _launch(
    y: torch.Tensor,
    columns: PaddedColumns,
    blocking: Blocking | None,
    splits: int | None,
    **parts: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A number per row, and perhaps a gradient; both in the units of the kernel."""
    z = columns.halves
    (n_rows, dim), (n_columns, width) = y.shape, z.high.shape
    cut = blocking or default_blocking(
        width, precise=columns.is_precise, with_gradient=parts["WITH_GRADIENT"]
    )
    n_blocks = triton.cdiv(n_rows, cut.rows)
    if splits is None:
        splits = min(_PROGRAMS // max(1, n_blocks), n_columns // (8 * cut.columns), 16)
    per_split = triton.cdiv(n_columns, max(1, splits) * cut.columns) * cut.columns
    splits = triton.cdiv(n_columns, per_split)

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.float32, device=y.device)

    value = empty(splits, n_rows)
    gradient = empty(splits, n_rows if parts["WITH_GRADIENT"] else 0, width)
    if n_rows:
        rows = HalfRows.of(torch.nn.functional.pad(y, (0, width - dim)), z, unit=LOG2_E)
        block = [cut.columns, width]
        for guarded in (False,) if columns.is_precise else (False, True):
            _kernel[(n_blocks, splits)](
                rows.high,
                rows.low,
                rows.size,
                TensorDescriptor.from_tensor(z.high, block),
                None if z.low is None else TensorDescriptor.from_tensor(z.low, block),
                z.size,
                z.mass,
                columns.share,
                columns.longest,
                value,
                gradient,
                n_rows,
                n_columns,
                per_split,
                BLOCK_ROWS=cut.rows,
                BLOCK_COLUMNS=cut.columns,
                WIDTH=width,
                PRECISE=columns.is_precise,
                GUARDED=guarded,
                FAST=y.is_cuda,
                num_warps=cut.warps,
                num_stages=cut.stages,
                **parts,
            )
    gradient = gradient[:, :, :dim]
    if splits == 1:
        return value[0], gradient[0]
    return value.sum(dim=0), gradient.sum(dim=0)


@triton.jit
def _instruction(CODE: tl.constexpr, x):  # type: ignore[no-untyped-def]
    return tl.inline_asm_elementwise(
        CODE, "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


# With FAST, the functions below are single instructions of NVIDIA's GPUs, right to
# about 1 in 2²². Without it they are Triton's own, for its interpreter.
@triton.jit
def exp2(x, FAST: tl.constexpr):  # type: ignore[no-untyped-def]
    """2ˣ; fast, it is one instruction that gives 0 for what is below 2⁻¹²⁶."""
    if FAST:
        return _instruction("ex2.approx.ftz.f32 $0, $1;", x)
    return tl.exp2(x)


@triton.jit
def log2(x, FAST: tl.constexpr):  # type: ignore[no-untyped-def]
    """log₂ x; fast, it is one instruction."""
    if FAST:
        return _instruction("lg2.approx.ftz.f32 $0, $1;", x)
    return tl.log2(x)


@triton.jit
def reciprocal(x, FAST: tl.constexpr):  # type: ignore[no-untyped-def]
    """1 / x for 1 ≤ x ≤ 2; fast, it is one instruction, right to 1 in 2²³."""
    if FAST:
        return _instruction("rcp.approx.ftz.f32 $0, $1;", x)
    return 1.0 / x


@triton.jit
def shared_reciprocal(x, FAST: tl.constexpr):  # type: ignore[no-untyped-def]
    """1 / x for 1 ≤ x ≤ 2⁶⁰; fast, a and b get theirs from 1 / (a b)."""
    if FAST:
        return tl.inline_asm_elementwise(
            """{
            .reg .f32 both;
            mul.ftz.f32 both, $2, $3;
            rcp.approx.ftz.f32 both, both;
            mul.ftz.f32 $0, both, $3;
            mul.ftz.f32 $1, both, $2;
            }""",
            "=&f,=&f,f,f",
            [x],
            dtype=tl.float32,
            is_pure=True,
            pack=2,
        )
    return 1.0 / x


@triton.jit
def log2_1p_over(e):  # type: ignore[no-untyped-def]
    """log₂(1 + e) / e for 0 ≤ e ≤ 1, to single precision."""
    s = 0.0075791378 * e - 0.0426871927
    s = s * e + 0.1130519894
    s = s * e - 0.1972852330
    s = s * e + 0.2757196623
    s = s * e - 0.3584284817
    s = s * e + 0.4806954647
    s = s * e - 0.7213403385
    return s * e + 1.4426950408889634
