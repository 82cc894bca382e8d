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

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import torch
import triton
from measuring import parser_of, print_head, print_row
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


def errors(found, y, z, mass, n: int = 256) -> list[float]:
    """Relative errors of value and gradient of the first rows against float64."""
    x = y[:n].double() @ z.double().T
    softplus, s = torch.nn.functional.softplus(x), torch.sigmoid(x)
    true = softplus @ mass.double(), (s * mass.double()) @ z.double()
    pairs = zip(found, true, strict=False)
    return [float((a[:n].double() - b).norm() / b.norm()) for a, b in pairs]


def plain(y, z, weighted, mass, rows: int = 4096) -> None:
    """Value and gradient in blocks of plain torch, to compare with."""
    for block in y.split(rows):
        x = block @ z.T
        torch.nn.functional.softplus(x) @ mass
        torch.sigmoid(x) @ weighted


def measure(n_rows: int, n_columns: int, dim: int, kind: str) -> list[str]:
    """One line of the table."""
    y, z, mass, share = make(n_rows, n_columns, dim)
    weighted = mass[:, None] * z
    given = Columns(z, mass, weighted, share)
    columns = FusedColumns.of(given, precise=kind == "full").every

    def launch(with_gradient: bool = True) -> Any:
        return fused_dense.fused_dense(y, columns, with_gradient=with_gradient)

    taken = milliseconds(launch)
    tflops = 4 * n_rows * n_columns * dim / taken / 1e9
    rate = matrix_rate(torch.float32 if kind == "full" else torch.bfloat16)
    others = (lambda: launch(False)), (lambda: plain(y, z, weighted, mass))
    return [
        f"{n_rows} x {n_columns}",
        str(dim),
        kind,
        f"{taken:.2f}",
        f"{tflops:.0f}",
        f"{tflops / rate:.0%}",
        *(f"{milliseconds(x):.2f}" for x in others),
        *(f"{x:.0e}" for x in errors(launch(), y, z, mass)),
    ]


def inspect(width: int, *, precise: bool, with_gradient: bool) -> dict[str, Any]:
    """What the dense kernel takes, compiled as a launch would compile it."""
    cut = default_blocking(width, precise=precise, with_gradient=with_gradient)
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
    if not precise:  # these are None
        fixed |= dict.fromkeys(("y_low_at", "y_size_at", "z_low_from"))
    kernel = fused_dense._kernel
    block = f"tensordesc<fp16[{cut.columns}, {width}]>"
    kinds = {x: block for x in kernel.arg_names if x.endswith("_from")}
    kinds |= {"y_at": "*fp16", "y_low_at": "*fp16"}
    # All sizes but one are multiples of 16, and a launch finds out.
    odd = {"n_rows", *fixed, *(x for x in kinds if x.endswith("_from"))}
    known = [i for i, x in enumerate(kernel.arg_names) if x not in odd]
    attributes = {(i,): [["tt.divisibility", 16]] for i in known}
    options = {"num_warps": cut.warps, "num_stages": cut.stages}
    return {
        "width": width,
        "precision": "full" if precise else "mixed",
        "blocking": [cut.rows, cut.columns, cut.warps, cut.stages],
        "gradient": with_gradient,
        **resources(kernel, fixed, kinds, attributes, **options),
    }


def inspect_entries() -> Iterator[dict[str, Any]]:
    """What the kernel of known entries takes, with d = 128 and rows of any length."""
    sizes = {"BLOCK_ENTRIES": fused_entries.BLOCK // 128, "BLOCK_DIM": 128}
    kinds = {"columns_at": "*i64"}
    for what in ("DOTS", "SUMS", "BENT"):
        fixed = {**sizes, "WHAT": getattr(fused_entries, what)}
        found = resources(fused_entries._kernel, fixed, kinds, {}, num_warps=4)
        yield {"sums": what.lower(), **found}


def resources(
    kernel: Any, fixed: dict, kinds: dict, attributes: dict, **options: int
) -> dict[str, int]:
    """Registers, memory and instructions of a kernel that is compiled for Hopper."""
    names = kernel.arg_names
    usual = {x: "*fp32" if x.endswith("_at") else "i32" for x in names}
    source = ASTSource(
        fn=kernel,
        signature={**usual, **kinds, **dict.fromkeys(fixed, "constexpr")},
        constexprs={(i,): fixed[x] for i, x in enumerate(names) if x in fixed},
        attrs=attributes,
    )
    target = GPUTarget("cuda", HOPPER, 32)
    compiled_to = triton.compile(source, target=target, options=options)
    ptx = compiled_to.asm["ptx"]
    assembler = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "kernel.ptx"
        written.write_text(ptx)
        said = subprocess.run(
            [assembler, "-v", "--gpu-name", "sm_90a", written, "-o", f"{written}.out"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
    registers = int(re.search(r"Used (\d+) registers", said)[1])
    shared = int(compiled_to.metadata.shared)
    by_registers = REGISTERS // (registers * 32 * options["num_warps"])
    return {
        "registers": registers,
        "spilled": int(re.search(r"(\d+) bytes spill stores", said)[1]),
        "shared": shared,
        "programs": min(SHARED_MEMORY // (shared + RESERVED_MEMORY), by_registers),
        "matrix_instructions": len(re.findall(r"wgmma\.mma_async|mma\.sync", ptx)),
    }


def main() -> None:
    """Measure all and print a table, or print what was found as JSON."""
    parser = parser_of(__doc__)
    parser.add_argument("--precision", choices=["mixed", "full"], action="append")
    parser.add_argument("--inspect", action="store_true", help="compile only")
    parser.add_argument("--width", type=int, choices=WIDTHS, action="append")
    parser.add_argument("--entries", action="store_true", help="known entries only")
    options = parser.parse_args()
    kinds = options.precision or ["mixed", "full"]
    if options.inspect:
        found = product(kinds, options.width or WIDTHS, (True, False))
        lines = (
            inspect_entries()
            if options.entries
            else [
                inspect(width, precise=kind == "full", with_gradient=with_gradient)
                for kind, width, with_gradient in found
            ]
        )
        print(json.dumps(list(lines), indent=1))
        return
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here; --inspect needs none.")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print_head(
        *("size", "d", "precision", "ms", "TFLOP/s", "share"),
        *("value, ms", "torch, ms", "error of value", "of gradient"),
    )
    for kind in kinds:
        for size in FULL if kind == "full" else SIZES:
            print_row(*measure(*size, kind))


if __name__ == "__main__":
    main()
