"""Time, memory and objective of PHCLE and of libraries that factorise counts.

    python benchmarks/speed.py --peers pmi,implicit,gensim --repeat 3 --json speed.json

The data are the hypernyms of the 1000 ImageNet labels, which come with phcle. Every
method runs in a process of its own. A peer is trained at its customary settings, its
factors are read as s·x + t for the s and t that suit our objective best, and the gap
(objective − floor) is noted. The table also says when PHCLE had come to this gap.
Seconds are given by the clock and by the processor: the second kind is fair on a busy
machine.
"""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from measuring import (
    Stopwatch,
    parser_of,
    peak_mb,
    print_head,
    print_row,
    run_apart,
    yardstick,
)
from peers import PEERS
from problems import warm_up
from scipy.optimize import minimize

from phcle import PHCLE
from phcle.contexts.alignment import align
from phcle.datasets import load_imagenet1k
from phcle.model.objective import objective_terms
from phcle.model.problem import Problem, penalties_of, pose
from phcle.model.weights import equal_weights
from phcle.options import DEFAULTS

Floats = npt.NDArray[np.floating]

SEARCHED = 300
"""Labels on which s and t are searched; the gap is then that of all."""


def hypernym_problem(dim: int) -> Problem:
    """Hypernyms as a problem for solvers, with default penalties."""
    context = load_imagenet1k().hierarchy()
    return pose(align(context), penalties_of(DEFAULTS), dim)


def run_fit(dim: int) -> dict[str, Any]:
    """PHCLE as a user calls it, with all other options at their defaults."""
    context = load_imagenet1k().hierarchy()
    warm_up("auto")
    watch = Stopwatch()
    model = PHCLE(dim=dim).fit(context)
    seconds, gaps = ([x[key] for x in model.history_] for key in ("seconds", "gap"))
    return {
        "method": "PHCLE().fit",
        **watch.read(),
        "peak_mb": peak_mb(),
        "labels": len(model.embedding_),
        "gap": model.history_[-1]["gap"],
        "timeline": list(zip(accumulate(seconds), gaps, strict=True)),
        "gflops": yardstick(),
    }


def run_peer(dim: int, name: str) -> dict[str, Any]:
    """A peer at its customary settings, judged by our objective."""
    line: dict[str, Any] = {"method": PEERS[name].title}
    problem = hypernym_problem(dim)
    try:
        train = PEERS[name].prepare()
        watch = Stopwatch()
        W, C = train(problem.contexts[0], dim)
    except ImportError as error:
        return {**line, "failed": f"not installed: {error}"}
    except Exception as error:  # a peer's failure is a result, not the end of the run
        return {**line, "failed": repr(error)}
    line |= {**watch.read(), "peak_mb": peak_mb()}
    return {**line, "gap": gap_of_peer(problem, W, C)}


def gap_of_peer(problem: Problem, W: Floats, C: Floats) -> float:
    """Our gap at s·x + t, for the s and t that lower it most.

    s is split between the factors at the least penalty; t is one more dimension.
    """
    lam, data = problem.penalties, problem.contexts[0]
    W, C = np.asarray(W, np.float64), np.asarray(C, np.float64)
    rows = np.random.default_rng(0).permutation(len(W))[:SEARCHED]
    x, D = W[rows] @ C.T, data.rows[rows].toarray()
    B = lam.negatives * np.outer(data.masses[0][rows], data.column_mass) / data.total
    Q, even = B + D, np.sqrt(lam.ridge * lam.context_ridge)
    length = np.linalg.norm(W) * np.linalg.norm(C)

    def value(p: Floats) -> float:
        z = p[0] * x + p[1]
        loss = float((Q * np.logaddexp(z, 0.0) - D * z).sum()) * len(W) / len(rows)
        constant = np.sqrt(len(W) * len(C))
        return loss + even * (abs(p[0]) * length + abs(p[1]) * constant)

    s, t = minimize(value, [1 / max(x.std(), 1e-9), -3.0], method="Nelder-Mead").x
    a, u = np.sqrt(abs(s)), np.sqrt(abs(t))
    ridges = np.sqrt(lam.context_ridge / lam.ridge)
    share = np.sqrt(np.linalg.norm(C) / np.linalg.norm(W) * ridges)
    constant = np.sqrt(np.sqrt(len(C) / len(W)) * ridges)
    left, right = np.full((len(W), 1), u * constant), np.full((len(C), 1), u / constant)
    terms = objective_terms(
        problem,
        np.hstack([a * share * W, left]),
        [np.hstack([np.sign(s) * a / share * C, np.sign(t) * right])],
        equal_weights(problem),
    )
    return terms["gap"]


def measure(dim: int, peers: list[str], repeat: int) -> list[dict[str, Any]]:
    """All methods, each in its own process; the fastest run counts."""
    fits = [run_apart(run_fit, dim) for _ in range(repeat)]
    fit = min(fits, key=lambda run: run["cpu_seconds"])
    lines = [fit]
    for name in peers:
        runs = [run_apart(run_peer, dim, name) for _ in range(repeat)]
        line = min(runs, key=lambda run: run.get("cpu_seconds", np.inf))
        gap = line.get("gap", -np.inf)
        there = [seconds for seconds, own in fit["timeline"] if own <= gap]
        line["phcle_seconds"] = there[0] if there else None
        lines.append(line)
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Measure all and print a table."""
    parser = parser_of(__doc__)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--repeat", type=int, default=1, help="runs of each method")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    peers = options.peers.split(",")
    lines = measure(options.dim, peers, options.repeat)
    show(lines)
    if options.json:
        options.json.write_text(json.dumps(lines, indent=1))


def show(lines: list[dict[str, Any]]) -> None:
    """Print a row for each method."""
    fit = lines[0]
    print(f"{fit['labels']:,} labels; matrix product {fit['gflops']:.0f} GFLOP/s")
    print_head("method", "seconds", "CPU seconds", "MB", "gap", "PHCLE there after")
    for line in lines:
        if "gap" not in line:
            print_row(line["method"], line["failed"], *[""] * 4)
            continue
        there = line.get("phcle_seconds")
        print_row(
            line["method"],
            *(f"{line[x]:.2f}" for x in ("seconds", "cpu_seconds")),
            *(f"{line[x]:,.0f}" for x in ("peak_mb", "gap")),
            "–" if there is None else f"{there:.2f} s",
        )


if __name__ == "__main__":
    main()
