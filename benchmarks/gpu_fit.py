"""Whole fits on a GPU: WordNet's nouns from a file, and a synthetic million.

    python benchmarks/noun_problem.py --out nouns.npz          # where WordNet is
    PYTHONPATH=src python benchmarks/gpu_fit.py --nouns nouns.npz --json fit.json

Seconds run from contexts in memory (posing, layout, start, sweeps) until objective −
floor is within 5 % of the converged one: a long run in float32, or float64 with
--reference float64. Whole fits, as a user has them, are timed beside it: they go on
until they have converged, solve W to the end and calibrate.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from noun_problem import load_contexts, posed, random_tree_context

from phcle.backends.protocol import choose_backend
from phcle.contexts.base.context import Context
from phcle.errors import ConvergenceWarning
from phcle.fit_speed import NEAR, measure_fit
from phcle.solver import label_solve
from phcle.solver.problem import DeviceProblem
from phcle.solver.start import start_factors
from phcle.solver.sweep import MajoriseSolver, State, run
from phcle.solver.weights import equal_weights


def synchronise(device: str) -> None:
    """Wait for the device."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def peak_memory(device: str) -> float:
    """Gigabytes that the device held at most since the last question."""
    if device != "cuda":
        return 0.0
    import torch

    peak = torch.cuda.max_memory_allocated() / 1e9
    torch.cuda.reset_peak_memory_stats()
    return peak


class Fit:
    """A fit in stages, each with its seconds."""

    def __init__(
        self, contexts: list[Context], options: argparse.Namespace, **chosen: str
    ) -> None:
        self.device = options.device
        peak_memory(self.device)
        self.chosen = {"dtype": "float32", "precision": "full", "init": "spectral"}
        self.chosen |= chosen
        backend = choose_backend(
            "torch",
            options.device,
            self.chosen["dtype"],
            precision=self.chosen["precision"],
        )
        self.seconds: dict[str, float] = {}
        self.began = time.perf_counter()
        self.problem = posed(contexts, options.dim)
        self.weights = equal_weights(self.problem)
        self._note("pose")
        self.device = DeviceProblem(backend, self.problem)
        self._note("layout")
        rng = np.random.default_rng(0)
        start = start_factors(
            self.problem, self.weights, self.chosen["init"], rng, backend=backend
        )
        self.solver = MajoriseSolver(self.device, tol=1e-5)
        self.state: State = self.solver.init(start, self.weights)
        self._note("start")

    def _note(self, stage: str) -> None:
        synchronise(self.device)
        since = time.perf_counter() - self.began
        self.seconds[stage] = since - sum(self.seconds.values())

    def sweep(self, times: int, *, until: float = 0.0) -> Fit:
        """Sweep until a gap is reached, until converged, or so many times."""
        for _ in range(times):
            if self.solver.converged(self.state):
                break
            self.state = run(self.solver, self.state, max_iter=self.state.iteration + 1)
            if self.state.history[-1]["gap"] <= until:
                break
        self._note("sweeps")
        return self

    def solve(self) -> tuple[np.ndarray, float]:
        """W at its optimum, and the gap there."""
        state, device = self.state, self.device
        solved = label_solve.solve_labels(
            device.backend, self.problem, state.W, state.factors, self.weights
        )
        self._note("last solve")
        terms = self.solver.terms(solved.values, self.weights, solved.penalties)
        return solved.W, terms["gap"]

    def report(self) -> dict[str, Any]:
        """What is kept of it."""
        return {
            **self.chosen,
            "labels": len(self.problem.labels),
            "columns": [len(data.columns) for data in self.problem.contexts],
            "seconds": sum(self.seconds.values()),
            "stages": self.seconds,
            "gaps": [record["gap"] for record in self.state.history],
            "sweep_seconds": [record["seconds"] for record in self.state.history],
            "peak_gb": peak_memory(self.device),
        }


def noun_fits(
    contexts: list[Context], options: argparse.Namespace
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The converged fit, and how long others take to come near."""
    reference = Fit(contexts, options, dtype=options.reference).sweep(40)
    with mock.patch.object(label_solve, "DOUBLE_UP_TO", float("inf")):
        precise, gap = reference.solve()
    converged = {**reference.report(), "gap_after_last_solve": gap}
    with mock.patch.object(label_solve, "DOUBLE_UP_TO", 0):
        single, _ = reference.solve()
    off = np.linalg.norm(single - precise, axis=1) / np.linalg.norm(precise, axis=1)
    converged["single_last_solve_off"] = {
        "median": float(np.median(off)),
        "99 %": float(np.quantile(off, 0.99)),
        "worst": float(off.max()),
    }
    near = []
    for precision in ("full", "mixed"):
        for _ in range(2):  # the first run compiles the kernel
            fit = Fit(contexts, options, precision=precision)
            fit.sweep(20, until=NEAR * gap)
        line = fit.report()
        near.append({**line, "reached": line["gaps"][-1] <= NEAR * gap})
    return converged, near


def whole_fit(contexts: list[Context], options: argparse.Namespace, **more: Any) -> Any:
    """A fit as a user has it."""
    peak_memory(options.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        measured = measure_fit(
            contexts, dim=options.dim, backend="torch", device=options.device, **more
        )
    return {**measured.to_dict(), **more, "peak_gb": peak_memory(options.device)}


def profile(contexts: list[Context], options: argparse.Namespace) -> str:
    """Where three sweeps in mixed precision spend their time."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    fit = Fit(contexts, options, precision="mixed").sweep(2)
    activities = [ProfilerActivity.CPU]
    if options.device == "cuda":
        activities.append(ProfilerActivity.CUDA)
    with profiler(activities=activities) as found:
        fit.sweep(3)
    sums = found.key_averages()
    by = ["self_cpu_time_total"]
    if options.device == "cuda":
        by.insert(0, "self_device_time_total")
    return "\n".join(sums.table(sort_by=key, row_limit=25) for key in by)


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
    parser.add_argument("--profile", type=Path, help="where sweeps spend their time")
    options = parser.parse_args()
    report: dict[str, Any] = {"near": [], "whole": []}

    def keep() -> None:
        if options.json:
            options.json.write_text(json.dumps(report, indent=1))

    if options.nouns:
        contexts = load_contexts(options.nouns)
        report["converged"], report["near"] = noun_fits(contexts, options)
        print(json.dumps(report["converged"]), flush=True)
        keep()
        for line in report["near"]:
            print(json.dumps(line), flush=True)
        if options.profile:
            options.profile.write_text(profile(contexts, options))
        for precision in ("full", "mixed"):
            report["whole"].append(whole_fit(contexts, options, precision=precision))
        full, mixed = (line["gap"] for line in report["whole"])
        report["mixed_over_full"] = mixed / full
        keep()
    if options.synthetic:
        began = time.perf_counter()
        tree = random_tree_context(options.synthetic, options.nonzeros)
        print(f"tree made in {time.perf_counter() - began:.0f} s", flush=True)
        report["whole"].append(
            whole_fit([tree], options, precision="mixed", verbose=True)
        )
        keep()
    for line in report["near"]:
        print(
            f"{line['labels']:>9} {line['precision']:>6} {line['init']:>9} within 5 %: "
            f"{line['seconds']:6.2f} s, {len(line['gaps'])} sweeps, "
            f"{line['peak_gb']:.1f} GB"
        )
    for line in report["whole"]:
        print(
            f"{line['labels']:>9} {line['precision']:>6} whole fit: "
            f"{line['seconds']:6.2f} s, {line['sweeps']} sweeps, within 5 % after "
            f"{line['seconds_near']:.2f} s; {line['peak_gb']:.1f} GB"
        )
    if "mixed_over_full" in report:
        print(f"gap of mixed over full precision: {report['mixed_over_full']:.4f}")


if __name__ == "__main__":
    sys.exit(main())
