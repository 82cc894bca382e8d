"""Functions for Triton kernels that take few instructions.

With FAST they are single instructions of NVIDIA's GPUs, right to about 1 in 2²².
Without it they are Triton's own, for its interpreter.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["exp2", "log2", "log2_1p_over", "reciprocal", "shared_reciprocal"]

# Triton would read annotations, and knows no `Any`.


@triton.jit
def _instruction(CODE: tl.constexpr, x):  # type: ignore[no-untyped-def]
    return tl.inline_asm_elementwise(
        CODE, "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


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
