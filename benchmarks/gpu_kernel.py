"""The fused kernel on a GPU beside a matrix product of the same run.

    PYTHONPATH=src python benchmarks/gpu_kernel.py --json kernel.json

For every width and precision it checks the kernel against float64 on a part of the
rows, times it with several blockings, and prints its rate as a share of a large matrix
product's. Work counted: 4 · rows · columns · d, the two products. Needs torch and
Triton, nothing else that is not in the core.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
import triton

from phcle.backends.kernels.fused_dense import Blocking, fused_dense, pad_columns

CANDIDATES = [
    Blocking(rows, columns, warps, stages)
    for rows, columns, warps in [
        (64, 32, 4),
        (64, 64, 4),
        (128, 32, 8),
        (128, 64, 8),
        (128, 128, 8),
        (256, 32, 8),
        (256, 64, 16),
    ]
    for stages in (2, 3, 4)
]


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


def errors(found, y, z, mass, share, n: int = 256) -> dict[str, float]:
    """Relative errors of the first rows against float64."""
    x = y[:n].double() @ z.double().T
    s = torch.sigmoid(x)
    expected = {
        "value": torch.nn.functional.softplus(x) @ mass.double(),
        "spread": (s * (1 - s)) @ share.double(),
        "gradient": (s * mass.double()) @ z.double(),
    }
    return {
        name: float((one[:n].double() - expected[name]).norm() / expected[name].norm())
        for name, one in zip(expected, found, strict=True)
    }


def plain(y, z, weighted, mass, rows: int = 4096) -> None:
    """Value and gradient in blocks of plain torch, to compare with."""
    for block in y.split(rows):
        x = block @ z.T
        torch.nn.functional.softplus(x) @ mass
        torch.sigmoid(x) @ weighted


def measure(n_rows: int, n_columns: int, dim: int, kind: str, quick: bool) -> dict:
    """One line of the table."""
    y, z, mass, share = make(n_rows, n_columns, dim)
    weighted = mass[:, None] * z
    if kind == "float32":
        rate = matrix_rate(torch.float32)
        rows, columns = y, pad_columns(z, weighted, mass, share)
    else:
        rate = matrix_rate(torch.bfloat16)
        halves = z.half(), weighted.bfloat16()
        rows, columns = y.half(), pad_columns(*halves, mass, share)
    work = 4 * n_rows * n_columns * dim
    tried = []
    for cut in [None, *([] if quick else CANDIDATES)]:
        try:
            launch = lambda: fused_dense(rows, columns, blocking=cut)  # noqa: B023, E731
            found = launch()
            taken = milliseconds(launch)
        except Exception as error:  # a blocking that does not fit is a result too
            tried.append({"blocking": str(cut), "failed": str(error)[:200]})
            continue
        tried.append(
            {
                "blocking": str(cut),
                "ms": taken,
                "tflops": work / taken / 1e9,
                "errors": errors(found, y, z, mass, share),
            }
        )
    ran = [t for t in tried if "ms" in t]
    best = min(ran, key=lambda t: t["ms"]) if ran else {}
    value_ms = milliseconds(lambda: fused_dense(rows, columns, with_gradient=False))
    plain_ms = milliseconds(lambda: plain(y, z, weighted, mass), repeats=500)
    return {
        "rows": n_rows,
        "columns": n_columns,
        "dim": dim,
        "kind": kind,
        "matrix_tflops": rate,
        "best": best,
        "share": best.get("tflops", 0.0) / rate,
        "value_only_ms": value_ms,
        "plain_torch_ms": plain_ms,
        "tried": tried,
    }


def main() -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="default blockings only")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here.")
    sizes = [(82_115, 82_115, 128), (82_115, 17_157, 128), (17_157, 82_115, 128)]
    sizes += [(82_115, 82_115, 64), (82_115, 82_115, 256), (40_000, 40_000, 512)]
    lines = []
    for size in sizes:
        for kind in ("mixed", "float32") if size == sizes[0] else ("mixed",):
            lines.append(measure(*size, kind, options.quick))
            print(json.dumps({k: v for k, v in lines[-1].items() if k != "tried"}))
    report = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "lines": lines,
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    print(f"{'size':>22} {'d':>4} {'kind':>8} {'ms':>8} {'TFLOP/s':>8} {'share':>6}")
    for line in lines:
        size = f"{line['rows']} x {line['columns']}"
        best = line["best"]
        print(
            f"{size:>22} {line['dim']:>4} {line['kind']:>8} {best.get('ms', 0):8.2f} "
            f"{best.get('tflops', 0):8.0f} {line['share']:6.0%}  {best.get('blocking')}"
        )


if __name__ == "__main__":
    main()
