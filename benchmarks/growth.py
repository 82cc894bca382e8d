"""How the cost of a fit grows with labels, known entries, d and contexts.

    python benchmarks/growth.py --json growth.json --plot growth.png

One of the four is varied, the others stay. Labels are leaves of a random tree, counted
with leaves near them (`noun_problem.random_tree_context`); there are as many columns as
labels. Every fit runs in a process of its own; seconds are those of the processor, for
a sweep and for the whole fit, and memory is the peak above what the contexts need.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from noun_problem import random_tree_context, warm_up
from own_process import Stopwatch, peak_mb, run_apart

from phcle import PHCLE
from phcle.errors import ConvergenceWarning
from phcle.fit_speed import yardstick
from phcle.solver.column_samples import EXACT_PAIRS

BASE = {"labels": 4000, "nonzeros": 50, "dim": 100, "contexts": 1}
VARIED = {
    "labels": [1000, 2000, 4000, 8000, 16_000, 32_000],
    "nonzeros": [10, 20, 50, 100, 200, 400],
    "dim": [25, 50, 100, 200, 400],
    "contexts": [1, 2, 4, 8],
}


def fit(
    labels: int, nonzeros: int, dim: int, contexts: int, sweeps: int
) -> dict[str, Any]:
    """One fit with default options and a fixed number of sweeps."""
    trees = [
        random_tree_context(labels, nonzeros, seed=i, name=f"tree{i}")
        for i in range(contexts)
    ]
    warnings.simplefilter("ignore", ConvergenceWarning)
    warm_up("numpy")
    warm_up("numba")
    before = peak_mb()
    watch = Stopwatch()
    moments: list[float] = []

    def note(state: object) -> None:
        moments.append(watch.read()["cpu_seconds"])

    PHCLE(dim=dim, max_iter=sweeps, tol=0.0).fit(trees, on_step=note)
    return {
        "labels": labels,
        "nonzeros": nonzeros,
        "dim": dim,
        "contexts": contexts,
        "sweep_cpu_seconds": float(np.median(np.diff(moments))),
        "fit_cpu_seconds": watch.read()["cpu_seconds"],
        "extra_mb": peak_mb() - before,
        "peak_mb": peak_mb(),
    }


def is_sampled(line: dict[str, Any]) -> bool:
    """Whether a fit of this size takes a sample of the columns."""
    return line["labels"] ** 2 > EXACT_PAIRS


def power(lines: list[dict[str, Any]], varied: str, cost: str) -> float:
    """The exponent of the growth over the larger half of the exact sizes."""
    exact = [line for line in lines if not is_sampled(line)]
    upper = exact[(len(exact) - 1) // 2 :]
    sizes, costs = ([line[key] for line in upper] for key in (varied, cost))
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def plot(report: dict[str, Any], path: Path) -> None:
    """Seconds of a sweep and of a fit, one panel for what is varied."""
    from matplotlib.figure import Figure

    panels = report["lines"]
    figure = Figure(figsize=(3 * len(panels), 3.4), layout="constrained")
    names = {"labels": "labels", "nonzeros": "known entries per label"}
    names |= {"dim": "dimensions", "contexts": "contexts"}
    costs = {"fit_cpu_seconds": "whole fit", "sweep_cpu_seconds": "a sweep"}
    places = figure.subplots(1, len(panels), sharey=True)
    for axes, (varied, lines) in zip(places, panels.items(), strict=True):
        sizes = [line[varied] for line in lines]
        for cost, label in costs.items():
            (drawn,) = axes.plot(
                sizes, [line[cost] for line in lines], "o-", label=label
            )
            sampled = [line for line in lines if is_sampled(line)]
            axes.plot(
                [line[varied] for line in sampled],
                [line[cost] for line in sampled],
                "o",
                color=drawn.get_color(),
                markerfacecolor="white",
            )
        grown = power(lines, varied, "sweep_cpu_seconds")
        axes.set(xscale="log", yscale="log", xlabel=names[varied])
        axes.set_title(f"time of a sweep ∝ size^{grown:.1f}", fontsize="medium")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    places[0].set_ylabel("CPU seconds")
    places[0].legend(fontsize="small", loc="upper left")
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vary", choices=VARIED, action="append")
    parser.add_argument("--sizes", type=int, nargs="+", help="with one --vary")
    parser.add_argument("--sweeps", type=int, default=6)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args(arguments)
    report: dict[str, Any] = {"gflops": yardstick(), "lines": {}}
    for varied in options.vary or VARIED:
        report["lines"][varied] = []
        for size in options.sizes or VARIED[varied]:
            case = {**BASE, varied: size}
            line = run_apart(fit, *case.values(), options.sweeps)
            report["lines"][varied].append(line)
            print(
                f"{varied} {size:>7,}: sweep {line['sweep_cpu_seconds']:7.2f} cpu s, "
                f"fit {line['fit_cpu_seconds']:7.2f} cpu s, {line['extra_mb']:5.0f} MB",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    if options.plot:
        plot(report, options.plot)


if __name__ == "__main__":
    main()
