"""Whole fits on a GPU: WordNet's nouns from a file, and a synthetic million.

    python benchmarks/noun_problem.py --out nouns.npz          # where WordNet is
    PYTHONPATH=src python benchmarks/gpu_fit.py --nouns nouns.npz --json fit.json

Seconds run from contexts in memory (posing, layout, start, sweeps) until objective −
floor is within 5 % of the converged one: a long run in float32, or float64 with
--reference float64. The last solve of W and a fold-in of labels are timed apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from noun_problem import load_contexts, posed, random_tree_context

from phcle.backends.protocol import choose_backend
from phcle.contexts.alignment import Context
from phcle.model.foldin import solve_labels
from phcle.model.layout import Layout
from phcle.model.solver import MajoriseSolver, run
from phcle.model.start import start_factors
from phcle.model.weights import equal_weights

NEAR = 1.05


def synchronise(device: str) -> None:
    """Wait for the device."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def peak_memory(device: str) -> float:
    """Gigabytes that the device held at most."""
    if device != "cuda":
        return 0.0
    import torch

    return torch.cuda.max_memory_allocated() / 1e9


def fit(
    contexts: list[Context],
    *,
    dim: int,
    device: str,
    dtype: str,
    precision: str,
    init: str,
    max_iter: int,
    tol: float,
    target: float | None = None,
) -> dict[str, Any]:
    """Fit until the target or until converged; seconds by stage and the gaps."""
    backend = choose_backend("torch", device, dtype, precision=precision)
    began = time.perf_counter()
    problem = posed(contexts, dim)
    weights = equal_weights(problem)
    seconds = {"pose": time.perf_counter() - began}
    layout = Layout(backend, problem)
    solver = MajoriseSolver(layout, tol=tol)
    synchronise(device)
    seconds["layout"] = time.perf_counter() - began - sum(seconds.values())
    rng = np.random.default_rng(0)
    start = start_factors(problem, weights, init, rng, backend=backend)
    state = solver.init(start, weights)
    synchronise(device)
    seconds["start"] = time.perf_counter() - began - sum(seconds.values())
    while state.iteration < max_iter and not solver.converged(state):
        state = run(solver, state, max_iter=state.iteration + 1)
        synchronise(device)
        if target is not None and state.history[-1]["gap"] <= target:
            break
    total = time.perf_counter() - began
    seconds["sweeps"] = total - sum(seconds.values())
    began = time.perf_counter()
    arrays = [layout.to_numpy(part) for part in ([state.W], state.C, state.U)]
    W, values = solve_labels(
        backend, problem, arrays[0][0], arrays[1], arrays[2], weights
    )
    last = time.perf_counter() - began
    penalties = layout.penalties(backend.asarray(W), state.C, state.U)
    end = solver.terms(values, weights, penalties)
    return {
        "labels": len(problem.labels),
        "columns": [len(data.columns) for data in problem.data],
        "dtype": dtype,
        "precision": precision,
        "init": init,
        "seconds": total,
        "stages": seconds,
        "sweeps": state.iteration,
        "gaps": [record["gap"] for record in state.history],
        "sweep_seconds": [record["seconds"] for record in state.history],
        "gap_after_last_solve": end["gap"],
        "last_solve_seconds": last,
        "peak_gb": peak_memory(device),
    }


def main() -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nouns", type=Path, help="file of noun_problem.py")
    parser.add_argument("--synthetic", type=int, default=1_000_000)
    parser.add_argument("--nonzeros", type=int, default=50)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--reference", default="float32")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    common = {"dim": options.dim, "device": options.device}
    report: dict[str, Any] = {"nouns": [], "synthetic": []}
    if options.nouns:
        contexts = load_contexts(options.nouns)
        reference = fit(
            contexts,
            **common,
            dtype=options.reference,
            precision="full",
            init="spectral",
            max_iter=60,
            tol=1e-5,
        )
        report["reference"] = reference
        target = NEAR * reference["gap_after_last_solve"]
        for precision in ("full", "mixed"):
            for init in ("spectral", "random"):
                for _ in range(2):  # the first run compiles the kernel
                    line = fit(
                        contexts,
                        **common,
                        dtype="float32",
                        precision=precision,
                        init=init,
                        max_iter=40,
                        tol=0.0,
                        target=target,
                    )
                line["reached"] = line["gaps"][-1] <= target
                report["nouns"].append(line)
                print(json.dumps(line), flush=True)
        whole = [
            fit(
                contexts,
                **common,
                dtype="float32",
                precision=precision,
                init="spectral",
                max_iter=60,
                tol=1e-5,
            )
            for precision in ("full", "mixed")
        ]
        report["mixed_over_full"] = (
            whole[1]["gap_after_last_solve"] / whole[0]["gap_after_last_solve"]
        )
    if options.synthetic:
        tree = random_tree_context(options.synthetic, options.nonzeros)
        line = fit(
            [tree],
            **common,
            dtype="float32",
            precision="mixed",
            init="random",
            max_iter=25,
            tol=1e-3,
        )
        report["synthetic"].append(line)
        print(json.dumps(line), flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    print(
        f"{'labels':>9} {'precision':>9} {'init':>9} {'s':>8} {'sweeps':>6} {'GB':>6}"
    )
    for line in [*report["nouns"], *report["synthetic"]]:
        print(
            f"{line['labels']:>9} {line['precision']:>9} {line['init']:>9} "
            f"{line['seconds']:8.2f} {line['sweeps']:>6} {line['peak_gb']:6.1f}"
        )
    if "mixed_over_full" in report:
        print(f"gap of mixed over full precision: {report['mixed_over_full']:.4f}")


if __name__ == "__main__":
    sys.exit(main())
