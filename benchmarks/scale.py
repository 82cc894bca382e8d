"""Time to the objective that a peer reaches, at growing numbers of labels.

    python benchmarks/scale.py --labels 1000 --labels 10000 --json scale.json

The data are the hypernyms of WordNet's nouns, drawn at random. Every peer is trained at
its customary settings on the same D, its factors are read as s·x + t for the s and t
that suit our objective best, and the gap (objective − floor) is noted. Then `mm` runs
in the same process, and the table says when it came to that gap. Seconds are given by
the clock and by the processor: the second kind is fair on a machine that is busy.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from noun_problem import default_penalties
from peers import PEERS
from scipy.optimize import minimize

from phcle.backends.protocol import choose_backend
from phcle.contexts import RelationalContext
from phcle.contexts.alignment import align
from phcle.datasets import load_wordnet_nouns
from phcle.experiments.speed import yardstick
from phcle.model.estimator import EXACT_PAIRS, SAMPLE
from phcle.model.layout import Layout
from phcle.model.objective import objective_terms, softplus
from phcle.model.paper import PaperSolver
from phcle.model.problem import Problem, pose
from phcle.model.sampling import ColumnSamples
from phcle.model.solver import MajoriseSolver, SweepSolver
from phcle.model.start import start_factors
from phcle.model.weights import equal_weights

Floats = npt.NDArray[np.floating]

SEARCHED = 300
"""Labels on which s and t are searched; the gap is then that of all."""


def noun_problem(n_labels: int, dim: int) -> Problem:
    """Hypernyms of nouns drawn at random."""
    nouns = load_wordnet_nouns()
    wnids = list(nouns.lemmas)
    if n_labels < len(wnids):
        rng = np.random.default_rng(0)
        drawn = np.sort(rng.choice(len(wnids), n_labels, replace=False))
        wnids = [wnids[i] for i in drawn]
    tree = RelationalContext.from_hierarchy(nouns.edges(wnids), labels=wnids)
    return pose(align(tree), default_penalties(), dim)


def timeline(
    solver: SweepSolver, problem: Problem, init: str, limit: float
) -> list[dict[str, float]]:
    """Seconds and gap after every sweep, from the layout on."""
    weights = equal_weights(problem)
    clock, processor = time.perf_counter(), time.process_time()
    rng = np.random.default_rng(0)
    start = start_factors(problem, weights, init, rng, backend=solver.layout.backend)
    state = solver.init(start, weights)
    points = []
    while not solver.converged(state) and time.process_time() - processor < limit:
        state = solver.step(state)
        points.append(
            {
                "seconds": time.perf_counter() - clock,
                "cpu_seconds": time.process_time() - processor,
                "gap": state.history[-1]["gap"],
            }
        )
    return points


def mm_timeline(problem: Problem, limit: float) -> tuple[str, list[dict[str, float]]]:
    """The default solver, as the estimator would set it up."""
    n_pairs = int(np.prod(problem.relational[0].counts.shape))
    backend = choose_backend("auto", "auto", "float32", n_pairs=n_pairs)
    is_sampled = n_pairs > EXACT_PAIRS and not backend.is_accelerated
    samples = ColumnSamples(problem, SAMPLE, 0) if is_sampled else None
    with backend.working():
        solver = MajoriseSolver(Layout(backend, problem), tol=1e-3, samples=samples)
        points = timeline(solver, problem, "spectral", limit)
    return f"mm, {backend.name}, {'sampled' if is_sampled else 'exact'}", points


def gap_of_peer(problem: Problem, W: Floats, C: Floats) -> float:
    """Our gap at s·x + t, for the s and t that lower it most.

    s is split between the factors at the least penalty; t is one more dimension.
    """
    lam, data = problem.penalties, problem.relational[0]
    W, C = np.asarray(W, np.float64), np.asarray(C, np.float64)
    rows = np.random.default_rng(0).permutation(len(W))[:SEARCHED]
    x, D = W[rows] @ C.T, data.counts[rows].toarray()
    B = lam.negatives * np.outer(data.row_mass[rows], data.column_mass) / data.total
    Q, even = B + D, np.sqrt(lam.ridge * lam.context_ridge)
    length = np.linalg.norm(W) * np.linalg.norm(C)

    def value(p: Floats) -> float:
        z = p[0] * x + p[1]
        loss = float((Q * softplus(z) - D * z).sum()) * len(W) / len(rows)
        constant = np.sqrt(len(W) * len(C))
        return loss + even * (abs(p[0]) * length + abs(p[1]) * constant)

    s, t = minimize(value, [1 / max(x.std(), 1e-9), -3.0], method="Nelder-Mead").x
    a, u = np.sqrt(abs(s)), np.sqrt(abs(t))
    share = np.sqrt(
        np.linalg.norm(C) / np.linalg.norm(W) * np.sqrt(lam.context_ridge / lam.ridge)
    )
    constant = np.sqrt(
        np.sqrt(lam.context_ridge / lam.ridge) * np.sqrt(len(C) / len(W))
    )
    left, right = np.full((len(W), 1), u * constant), np.full((len(C), 1), u / constant)
    terms = objective_terms(
        problem,
        np.hstack([a * share * W, left]),
        [np.hstack([np.sign(s) * a / share * C, np.sign(t) * right])],
        [],
        equal_weights(problem),
    )
    return terms["gap"]


def measure(n_labels: int, dim: int, peers: list[str], limit: float) -> dict[str, Any]:
    """All methods at one size."""
    problem = noun_problem(n_labels, dim)
    data = problem.relational[0]
    title, points = mm_timeline(problem, limit)
    lines = []
    for name in peers:
        if name == "paper":
            backend = choose_backend("numpy", "cpu", "float32")
            solver = PaperSolver(Layout(backend, problem), tol=0.0)
            with backend.working():
                run = timeline(solver, problem, "spectral", limit)
            last = run[-1]
            line = {"method": "paper, safe step", **last}
        else:
            try:
                train = PEERS[name].prepare()
            except ImportError as error:
                lines.append({"method": PEERS[name].title, "failed": str(error)})
                continue
            clock, processor = time.perf_counter(), time.process_time()
            W, C = train(data, dim)
            line = {
                "method": PEERS[name].title,
                "seconds": time.perf_counter() - clock,
                "cpu_seconds": time.process_time() - processor,
                "gap": gap_of_peer(problem, W, C),
            }
        there = next((p for p in points if p["gap"] <= line["gap"]), None)
        if there is not None:
            line["mm_seconds"] = there["seconds"]
            line["times_faster"] = line["seconds"] / there["seconds"]
            line["times_faster_cpu"] = line["cpu_seconds"] / there["cpu_seconds"]
        lines.append(line)
        print(json.dumps({"labels": n_labels, **line}), flush=True)
    return {
        "labels": n_labels,
        "columns": len(data.columns),
        "counts": int(data.counts.nnz),
        "dim": dim,
        "gflops": yardstick(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "mm": {"method": title, "timeline": points},
        "peers": lines,
    }


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """The gap against the processor's seconds, one panel per size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(results), 4), layout="constrained")
    for axes, result in zip(
        np.atleast_1d(figure.subplots(1, len(results))), results, strict=True
    ):
        points = result["mm"]["timeline"]
        axes.plot(
            [p["cpu_seconds"] for p in points],
            [p["gap"] for p in points],
            "o-",
            label=result["mm"]["method"],
        )
        for line in result["peers"]:
            if "gap" in line:
                axes.plot(line["cpu_seconds"], line["gap"], "s", label=line["method"])
        axes.set(xscale="log", yscale="log", xlabel="processor seconds")
        axes.set(ylabel="objective − floor", title=f"{result['labels']:,} labels")
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, action="append")
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--peers", default="pmi,implicit,gensim,paper")
    parser.add_argument("--limit", type=float, default=600.0, help="processor seconds")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    peers = options.peers.split(",")
    results = [
        measure(n, options.dim, peers, options.limit)
        for n in options.labels or [1000, 10_000]
    ]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.plot:
        plot(results, options.plot)
    for result in results:
        print(f"{result['labels']} labels, {result['gflops']:.0f} GFLOP/s")
        for line in result["peers"]:
            if "gap" not in line:
                print(f"  {line['method']}: {line['failed']}")
                continue
            print(
                f"  {line['method']:<28} {line['seconds']:9.2f} s "
                f"{line['cpu_seconds']:9.2f} cpu s  gap {line['gap']:14,.0f}  "
                f"mm there in {line.get('mm_seconds', float('nan')):7.2f} s: "
                f"{line.get('times_faster', 0):6.1f} × "
                f"({line.get('times_faster_cpu', 0):.1f} × cpu)"
            )


if __name__ == "__main__":
    main()
