"""Compile the fused kernels for a GPU that need not be there, and say what they take.

    python tools/inspect_kernel.py
    python tools/inspect_kernel.py --width 128 --precision mixed --blocking 64,128,4,3
    python tools/inspect_kernel.py --entries

Triton brings NVIDIA's assembler along. For every width and precision the answer has
registers, bytes of spilled registers, shared memory, programs that fit into one
multiprocessor at a time, and instructions for the matrix units. That says whether a
blocking can be good; how fast it is, only a GPU can tell (benchmarks/gpu_kernel.py).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from phcle.backends.kernels import fused_dense, fused_entries
from phcle.backends.kernels.fused_dense import Blocking, default_blocking
from phcle.backends.torch_dense import RESERVED_MEMORY, SHARED_MEMORY

HOPPER = 90
REGISTERS = 65_536  # of a multiprocessor of Hopper
WIDTHS = (16, 32, 64, 128, 256, 512)


def compiled(width: int, cut: Blocking, *, precise: bool, with_gradient: bool) -> Any:
    """The kernel, compiled for Hopper as a launch would compile it."""
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
    return for_hopper(source, num_warps=cut.warps, num_stages=cut.stages)


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


def inspect(
    width: int, cut: Blocking, *, precise: bool, with_gradient: bool = True
) -> dict[str, Any]:
    """What a compiled kernel takes."""
    kernel = compiled(width, cut, precise=precise, with_gradient=with_gradient)
    return {
        "width": width,
        "precision": "full" if precise else "mixed",
        "blocking": [cut.rows, cut.columns, cut.warps, cut.stages],
        "gradient": with_gradient,
        **resources(kernel, warps=cut.warps),
    }


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
    """Print what was found as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--width", type=int, choices=WIDTHS, action="append")
    parser.add_argument("--precision", choices=["mixed", "full"], action="append")
    parser.add_argument("--blocking", help="rows,columns,warps,stages")
    parser.add_argument("--entries", action="store_true", help="known entries only")
    options = parser.parse_args()
    if options.entries:
        print(json.dumps(inspect_entries(), indent=1))
        return
    lines = []
    for precision in options.precision or ["mixed", "full"]:
        precise = precision == "full"
        for width in options.width or WIDTHS:
            for with_gradient in (True, False):
                cut = default_blocking(
                    width, precise=precise, with_gradient=with_gradient
                )
                if options.blocking:
                    cut = Blocking(*map(int, options.blocking.split(",")))
                lines.append(
                    inspect(width, cut, precise=precise, with_gradient=with_gradient)
                )
    print(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
