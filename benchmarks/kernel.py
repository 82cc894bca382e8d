"""The fused kernels: their speed on a GPU, and what they take, which needs none.

    python benchmarks/kernel.py
    python benchmarks/kernel.py --inspect --width 128 --precision mixed
    python benchmarks/kernel.py --inspect --entries

For every width and precision the kernel is checked against float64 on a part of the
rows, and timed with the gradient and for the value alone. Its rate is printed as a
share of a large matrix product's. Work counted: 4 · rows · columns · d.

`--inspect` compiles for a Hopper GPU that need not be there, as Triton brings NVIDIA's
assembler along, and prints registers, bytes of spilled registers, shared memory,
programs that fit into one multiprocessor at a time, and instructions for the matrix
units. It needs torch and Triton, nothing else that is not in the core.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from phcle.backends.kernels import fused_dense, fused_entries
from phcle.backends.kernels.fused_dense import default_blocking
from phcle.backends.pairs import Columns
from phcle.backends.torch_dense import RESERVED_MEMORY, SHARED_MEMORY, FusedColumns

HOPPER = 90
REGISTERS = 65_536  # of a multiprocessor of Hopper
WIDTHS = (16, 32, 64, 128, 256, 512)
SIZES = [
    (82_115, 82_115, 128),
    (82_115, 17_157, 128),
    (17_157, 82_115, 128),
    (82_115, 82_115, 64),
    (82_115, 82_115, 256),
    (40_000, 40_000, 512),
]
FULL = (SIZES[0], *SIZES[-2:])
"""Sizes that are measured in full precision, too."""


def milliseconds(function, repeats: int = 200) -> float:
    """Median time of a launch, in milliseconds."""
    return float(triton.testing.do_bench(function, rep=repeats, return_mode="median"))


def matrix_rate(dtype: torch.dtype, n: int = 8192) -> float:
    """TFLOP/s of a large product of random matrices."""
    a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
    return 2 * n**3 / milliseconds(lambda: a @ b) / 1e9


def make(n_rows: int, n_columns: int, dim: int):
    """Random rows, columns and masses, as a fit has them."""
    generator = torch.Generator("cuda").manual_seed(0)
    draw = lambda *s: torch.randn(*s, device="cuda", generator=generator)  # noqa: E731
    y, z = draw(n_rows, dim) / dim**0.25, draw(n_columns, dim) / dim**0.25
    mass = torch.rand(n_columns, device="cuda", generator=generator) ** 3
    trace = mass * (z * z).sum(1)
    return y, z, mass, trace / trace.sum()


def errors(found, y, z, mass, n: int = 256) -> dict[str, float]:
    """Relative errors of the first rows against float64."""
    x = y[:n].double() @ z.double().T
    s = torch.sigmoid(x)
    expected = {
        "value": torch.nn.functional.softplus(x) @ mass.double(),
        "gradient": (s * mass.double()) @ z.double(),
    }
    return {
        name: float((one[:n].double() - expected[name]).norm() / expected[name].norm())
        for name, one in zip(expected, found, strict=False)
    }


def plain(y, z, weighted, mass, rows: int = 4096) -> None:
    """Value and gradient in blocks of plain torch, to compare with."""
    for block in y.split(rows):
        x = block @ z.T
        torch.nn.functional.softplus(x) @ mass
        torch.sigmoid(x) @ weighted


def measure(n_rows: int, n_columns: int, dim: int, kind: str) -> dict[str, Any]:
    """One line of the table."""
    y, z, mass, share = make(n_rows, n_columns, dim)
    weighted = mass[:, None] * z
    columns = FusedColumns.of(
        Columns(z, mass, weighted, share), precise=kind == "full"
    ).every

    def launch(with_gradient: bool = True) -> Any:
        return fused_dense.fused_dense(y, columns, with_gradient=with_gradient)

    taken = milliseconds(launch)
    tflops = 4 * n_rows * n_columns * dim / taken / 1e9
    rate = matrix_rate(torch.float32 if kind == "full" else torch.bfloat16)
    return {
        "size": f"{n_rows} x {n_columns}",
        "dim": dim,
        "kind": kind,
        "ms": taken,
        "tflops": tflops,
        "share": tflops / rate,
        "value_ms": milliseconds(lambda: launch(False)),
        "torch_ms": milliseconds(lambda: plain(y, z, weighted, mass)),
        "errors": errors(launch(), y, z, mass),
    }


def inspect(width: int, *, precise: bool, with_gradient: bool) -> dict[str, Any]:
    """What the kernel takes, compiled for Hopper as a launch would compile it."""
    cut = default_blocking(width, precise=precise, with_gradient=with_gradient)
    split_only = {"y_low_at", "y_size_at", "z_low_from"}  # None in mixed precision
    fixed: dict[str, Any] = {
        "BLOCK_ROWS": cut.rows,
        "BLOCK_COLUMNS": cut.columns,
        "WIDTH": width,
        "WITH_GRADIENT": with_gradient,
        "WITH_SPREAD": False,
        "PRECISE": precise,
        "GUARDED": False,
        "FAST": True,
    }
    if not precise:
        fixed |= dict.fromkeys(split_only)
    kernel = fused_dense._kernel
    signature, constants, known = {}, {}, {}
    for place, name in enumerate(kernel.arg_names):
        if name in fixed:
            signature[name], constants[place,] = "constexpr", fixed[name]
            continue
        if name.endswith("_from"):
            signature[name] = f"tensordesc<fp16[{cut.columns}, {width}]>"
            continue
        kind = "*fp16" if name in ("y_at", "y_low_at") else "*fp32"
        signature[name] = kind if name.endswith("_at") else "i32"
        if name != "n_rows":  # all else is a multiple of 16, and a launch finds out
            known[place,] = [["tt.divisibility", 16]]
    source = ASTSource(
        fn=kernel, signature=signature, constexprs=constants, attrs=known
    )
    kernel = for_hopper(source, num_warps=cut.warps, num_stages=cut.stages)
    return {
        "width": width,
        "precision": "full" if precise else "mixed",
        "blocking": [cut.rows, cut.columns, cut.warps, cut.stages],
        "gradient": with_gradient,
        **resources(kernel, warps=cut.warps),
    }


def for_hopper(source: ASTSource, **options: int) -> Any:
    """A kernel, compiled for Hopper."""
    target = GPUTarget("cuda", HOPPER, 32)
    return triton.compile(source, target=target, options=options)


def inspect_entries() -> list[dict[str, Any]]:
    """What the kernel of known entries takes, with d = 128 and rows of any length."""
    kernel, found = fused_entries._kernel, []
    for what in ("DOTS", "SUMS", "BENT"):
        fixed = {
            "BLOCK_ENTRIES": fused_entries.BLOCK // 128,
            "BLOCK_DIM": 128,
            "WHAT": getattr(fused_entries, what),
        }
        signature, constants = {}, {}
        for place, name in enumerate(kernel.arg_names):
            kind = "*i64" if name == "columns_at" else "*fp32"
            signature[name] = kind if name.endswith("_at") else "i32"
            if name in fixed:
                signature[name], constants[place,] = "constexpr", fixed[name]
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        compiled_to = for_hopper(source, num_warps=4)
        found.append({"sums": what.lower(), **resources(compiled_to, warps=4)})
    return found


def resources(kernel: Any, *, warps: int) -> dict[str, int]:
    """Registers, memory and instructions of a compiled kernel."""
    ptx = kernel.asm["ptx"]
    assembler = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx)
        said = subprocess.run(
            [assembler, "-v", "--gpu-name", "sm_90a", source, "-o", f"{source}.out"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
    registers = int(re.search(r"Used (\d+) registers", said)[1])
    shared = int(kernel.metadata.shared)
    by_registers = REGISTERS // (registers * 32 * warps)
    return {
        "registers": registers,
        "spilled": int(re.search(r"(\d+) bytes spill stores", said)[1]),
        "shared": shared,
        "programs": min(SHARED_MEMORY // (shared + RESERVED_MEMORY), by_registers),
        "matrix_instructions": len(re.findall(r"wgmma\.mma_async|mma\.sync", ptx)),
    }


def main() -> None:
    """Measure all and print a table, or print what was found as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--precision", choices=["mixed", "full"], action="append")
    parser.add_argument("--inspect", action="store_true", help="compile only")
    parser.add_argument("--width", type=int, choices=WIDTHS, action="append")
    parser.add_argument("--entries", action="store_true", help="known entries only")
    options = parser.parse_args()
    kinds = options.precision or ["mixed", "full"]
    if options.inspect:
        lines = (
            inspect_entries()
            if options.entries
            else [
                inspect(width, precise=kind == "full", with_gradient=with_gradient)
                for kind in kinds
                for width in options.width or WIDTHS
                for with_gradient in (True, False)
            ]
        )
        print(json.dumps(lines, indent=1))
        return
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here; --inspect needs none.")
    cases = [(*size, "mixed") for size in SIZES] + [(*size, "full") for size in FULL]
    lines = [measure(*case) for case in cases if case[-1] in kinds]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print("| size | d | precision | ms | TFLOP/s | share | value, ms | torch, ms |")
    print("| --- | --: | --- | --: | --: | --: | --: | --: |")
    for line in lines:
        print(
            f"| {line['size']} | {line['dim']} | {line['kind']} | {line['ms']:.2f} "
            f"| {line['tflops']:.0f} | {line['share']:.0%} | {line['value_ms']:.2f} "
            f"| {line['torch_ms']:.2f} |"
        )


if __name__ == "__main__":
    main()
