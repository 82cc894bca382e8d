"""The fused kernel on a GPU beside a matrix product of the same run.

    PYTHONPATH=src python benchmarks/gpu_kernel.py --json kernel.json

For every width and precision it checks the kernel against float64 on a part of the
rows, times it with the gradient and for the value alone, and prints its rate as a share
of a large matrix product's. Work counted: 4 · rows · columns · d, the two products.
--search 128 also times other blockings of that width, which takes minutes to compile.
Needs torch and Triton, nothing else that is not in the core.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import triton

from phcle.backends.dense import Columns
from phcle.backends.kernels.fused_dense import Blocking, fused_dense
from phcle.backends.torch_dense import FusedColumns

CANDIDATES = [
    Blocking(rows, columns, warps, stages)
    for rows, columns, warps in [
        (64, 16, 4),
        (64, 16, 8),
        (64, 32, 4),
        (64, 32, 8),
        (64, 64, 4),
        (64, 64, 8),
        (64, 128, 4),
        (128, 16, 8),
        (128, 32, 8),
        (128, 64, 4),
        (128, 64, 8),
        (128, 128, 8),
    ]
    for stages in (2, 3, 4)
]


def candidates(dim: int) -> list[Blocking]:
    """Blockings whose buffers and accumulators can fit."""
    most = 16_384 // dim
    return [c for c in CANDIDATES if c.columns <= most and c.rows * dim <= 32_768]


SIZES = [
    (82_115, 82_115, 128),
    (82_115, 17_157, 128),
    (17_157, 82_115, 128),
    (82_115, 82_115, 64),
    (82_115, 82_115, 256),
    (40_000, 40_000, 512),
]


def milliseconds(function, repeats: int = 200) -> float:
    """Median time of a launch, in milliseconds."""
    return float(triton.testing.do_bench(function, rep=repeats, return_mode="median"))


def matrix_rate(dtype: torch.dtype, n: int = 8192) -> float:
    """TFLOP/s of a large product of random matrices."""
    a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
    return 2 * n**3 / milliseconds(lambda: a @ b) / 1e9


def clock_under(function, launches: int = 200) -> float:
    """GHz of the multiprocessors while something runs."""
    for _ in range(launches):
        function()
    asked = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    torch.cuda.synchronize()
    return float(said.split()[0]) / 1000


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


def operands(n_rows: int, n_columns: int, dim: int, kind: str):
    """Rows and columns as the kernel takes them, and what they were made of."""
    y, z, mass, share = made = make(n_rows, n_columns, dim)
    columns = Columns(z, mass, mass[:, None] * z, share)
    return y, FusedColumns.of(columns, precise=kind == "full").every, made


def try_all(rows, columns, made, cuts: list, *, with_gradient: bool) -> list[dict]:
    """Time and error of every blocking, the fastest first."""
    products = 2 if with_gradient else 1
    work = 2 * products * len(made[0]) * len(made[1]) * made[0].shape[1]
    ran, failed = [], []
    for cut in cuts:

        def launch(cut=cut):
            return fused_dense(rows, columns, with_gradient=with_gradient, blocking=cut)

        try:
            found = launch()
            taken = milliseconds(launch)
        except Exception as error:  # a blocking that does not fit is a result too
            failed.append({"blocking": str(cut), "failed": str(error)[:200]})
            continue
        ran.append(
            {
                "blocking": str(cut),
                "ms": taken,
                "tflops": work / taken / 1e9,
                "errors": errors(found[:products], *made[:3]),
            }
        )
    return sorted(ran, key=lambda one: one["ms"]) + failed


def measure(n_rows: int, n_columns: int, dim: int, kind: str, cuts: list) -> dict:
    """One line of the table."""
    rows, columns, made = operands(n_rows, n_columns, dim, kind)
    y, z, mass, _ = made
    rate = matrix_rate(torch.float32 if kind == "full" else torch.bfloat16)
    tried, values = (
        try_all(rows, columns, made, cuts, with_gradient=with_gradient)
        for with_gradient in (True, False)
    )
    plain_ms = milliseconds(lambda: plain(y, z, mass[:, None] * z, mass))
    return {
        "rows": n_rows,
        "columns": n_columns,
        "dim": dim,
        "kind": kind,
        "matrix_tflops": rate,
        "clock_ghz": clock_under(lambda: fused_dense(rows, columns)),
        "best": tried[0],
        "share": tried[0].get("tflops", 0.0) / rate,
        "value_only": values[0],
        "plain_torch_ms": plain_ms,
        "tried": tried,
        "tried_value_only": values,
    }


SPECIAL, INSTRUCTIONS = 2.5, 12.0
"""Of one pair in mixed precision, d = 128: read off the compiled loop."""


def plot(report: dict, path: Path) -> None:
    """Draw the measured rates and the limits of the hardware (a roofline)."""
    import matplotlib.pyplot as plt

    lines = [x for x in report["lines"] if x["rows"] == x["columns"]]
    mixed, full = ([x for x in lines if x["kind"] == k] for k in ("mixed", "full"))
    clock = 1e9 * sum(x["clock_ghz"] for x in mixed) / len(mixed)
    cycles = report["multiprocessors"] * clock
    dims = np.geomspace(32, 640, 50)
    figure, axes = plt.subplots(figsize=(7, 4.5), constrained_layout=True)
    roofs = {
        "matrix product of the same run": np.full_like(dims, mixed[0]["matrix_tflops"]),
        "special functions": 4 * dims * cycles * 16 / SPECIAL / 1e12,
        "instructions": 4 * dims * cycles * 128 / INSTRUCTIONS / 1e12,
    }
    for (name, roof), style in zip(roofs.items(), ("-", "--", ":"), strict=True):
        axes.plot(dims, roof, style, color="0.4", label=name)
    for points, marker, name in (
        (mixed, "o", "fused kernel, mixed precision"),
        (full, "s", "fused kernel, full precision"),
    ):
        points = sorted(points, key=lambda x: x["dim"])
        rates = [x["best"]["tflops"] for x in points]
        axes.plot([x["dim"] for x in points], rates, marker, label=name, ms=8)
    single = full[0]["matrix_tflops"]
    axes.axhline(single, color="0.7")
    axes.text(33, 1.05 * single, "matrix product in float32", color="0.4", fontsize=8)
    axes.set(xscale="log", yscale="log", xlabel="d", ylabel="TFLOP/s (4 d per pair)")
    axes.minorticks_off()
    for side, ticks in (
        (axes.xaxis, [32, 64, 128, 256, 512]),
        (axes.yaxis, [20, 50, 100, 200, 500, 1000]),
    ):
        side.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    axes.set_ylim(20, 1600)
    axes.set_title(f"Dense half-step on {report['device']}: rates and limits")
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure all and print a table, or plot what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--plot", type=Path, help="draw what --json holds; needs no GPU"
    )
    parser.add_argument(
        "--search", type=int, nargs="*", default=[], help="widths to try blockings of"
    )
    parser.add_argument("--kind", choices=["mixed", "full"], help="only this precision")
    options = parser.parse_args()
    if options.plot:
        plot(json.loads(options.json.read_text()), options.plot)
        return
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here.")
    cases = [(*size, "mixed") for size in SIZES]
    cases += [(*size, "full") for size in (SIZES[0], *SIZES[-2:])]
    cases = [case for case in cases if options.kind in (None, case[-1])]
    first = {(dim, kind): (n, m) for n, m, dim, kind in reversed(cases)}
    cuts = {
        (dim, kind): [None, *(candidates(dim) if dim in options.search else [])]
        for dim, kind in first
    }
    lines = []
    for n, m, dim, kind in cases:
        is_first = first[dim, kind] == (n, m)
        lines.append(measure(n, m, dim, kind, cuts[dim, kind] if is_first else [None]))
        for part in ("tried", "tried_value_only") if options.search else ():
            for one in lines[-1][part]:
                print(
                    dim, kind, part, one["blocking"], one.get("ms", one.get("failed"))
                )
    report = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "multiprocessors": torch.cuda.get_device_properties(0).multi_processor_count,
        "lines": lines,
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    print(
        f"{'size':>15} {'d':>4} {'kind':>6} {'ms':>7} {'TFLOP/s':>8} {'share':>6} "
        f"{'value':>7} {'torch':>7}  ms"
    )
    for line in lines:
        size, best = f"{line['rows']} x {line['columns']}", line["best"]
        print(
            f"{size:>15} {line['dim']:>4} {line['kind']:>6} {best.get('ms', 0):7.2f} "
            f"{best.get('tflops', 0):8.0f} {line['share']:6.0%} "
            f"{line['value_only'].get('ms', 0):7.2f} {line['plain_torch_ms']:7.2f}"
        )


if __name__ == "__main__":
    main()
