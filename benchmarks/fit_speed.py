"""How fast solvers and peers get near the minimum, on the embedded ImageNet-1K labels.

    python benchmarks/fit_speed.py --json fit_speed.json

Every gap in the table is objective − saturated floor from one function,
`phcle.solver.objective.objective_terms`. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from peers import PEERS
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from threadpoolctl import threadpool_info

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.base.penalties import Penalties
from phcle.datasets.imagenet1k import load_imagenet1k
from phcle.errors import PhcleError
from phcle.estimator import PHCLE
from phcle.fit_speed import yardstick
from phcle.options import OPTIONS
from phcle.solver.objective import objective_terms
from phcle.solver.paper import PaperSolver
from phcle.solver.problem import DeviceProblem, Problem, pose
from phcle.solver.settings import Setting
from phcle.solver.start import Factors, start_factors
from phcle.solver.sweep import MajoriseSolver, SweepSolver, run
from phcle.solver.weights import equal_weights

Floats = npt.NDArray[np.float64]

NEAR = 1.05
"""The target: a gap of at most this times the gap of the converged reference."""

PRINTED_STEP = 1e-5
"""The step size that the paper prints."""

CAPTION = (
    "gap = objective − floor, misfit = gap without the penalties. Peers minimise "
    "something else: they are judged at the s·x + t that suits them best."
)

PACKAGES = (
    "phcle",
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "implicit",
    "gensim",
)

MM_CASES = [  # method, library, precision, start
    ("mm, NumPy float32", "numpy", "float32", "spectral"),
    ("mm, NumPy float64", "numpy", "float64", "spectral"),
    ("mm, torch CPU float32", "torch", "float32", "spectral"),
    ("mm, NumPy float32, random start", "numpy", "float32", "random"),
]

GROUPS = ("mm", "paper", *PEERS)


@dataclass(frozen=True)
class Result:
    """One line of the table; without a gap, `note` says why."""

    method: str
    gflops: float  # of the yardstick, just before
    seconds: float | None = None
    gap: float | None = None  # objective − saturated floor
    misfit: float | None = None  # the gap without the penalties
    reached: bool = False
    sweeps: int | None = None
    note: str = ""


class Bench:
    """The problem all methods share, and the one function that judges them."""

    def __init__(self, dim: int, reference_tol: float) -> None:
        default = {option.name: option.default for option in OPTIONS}
        penalties = Penalties(
            negatives=Setting.negatives,
            descriptive=Setting.descriptive_weight,
            sparsity=default["sparsity"],
            ridge=default["ridge"],
            context_ridge=default["context_ridge"],
        )
        self.context = load_imagenet1k().hierarchy()
        self.problem: Problem = pose(align(self.context), penalties, dim)
        self.weights = equal_weights(self.problem)
        self.reference_tol = reference_tol
        self.reference = self._converge()

    @property
    def target(self) -> float:
        """The gap to reach."""
        return NEAR * self.reference["gap"]

    def judge(self, W: Floats, C: Floats) -> dict[str, float]:
        """The objective's terms at these factors, and the misfit: gap − penalties."""
        terms = objective_terms(self.problem, W, [C], self.weights)
        penalties = terms["ridge"] + terms["context_ridge"]
        return {**terms, "misfit": terms["gap"] - penalties}

    def start(self, init: str) -> Factors:
        """Factors to start from, the same for every solver."""
        rng = np.random.default_rng(0)
        return start_factors(self.problem, self.weights, init, rng)

    def _converge(self) -> dict[str, float]:
        """A long run of `mm` in double precision."""
        device = DeviceProblem(choose_backend("numpy", "cpu", "float64"), self.problem)
        solver = MajoriseSolver(device, tol=self.reference_tol)
        state = solver.init(self.start("spectral"), self.weights)
        state = run(solver, state, max_iter=5000)
        terms = self.judge(state.W, state.factors[0])
        return {**terms, "sweeps": float(state.iteration), "tol": self.reference_tol}


def time_solver(
    bench: Bench,
    method: str,
    make: Callable[[DeviceProblem], SweepSolver],
    *,
    backend: Backend,
    init: str,
    limit: float,
) -> Result:
    """Time the device, the start and the sweeps until the target or the limit."""
    gflops = yardstick()
    began = time.perf_counter()
    solver = make(DeviceProblem(backend, bench.problem))
    state = solver.init(bench.start(init), bench.weights)
    seconds = time.perf_counter() - began
    W, C = solver.device.to_numpy([state.W, state.factors[0]])
    found = begun = bench.judge(W, C)
    while found["gap"] > bench.target and seconds < limit:
        began = time.perf_counter()
        try:
            state = solver.step(state)
        except PhcleError as error:
            return Result(method, gflops, seconds, note=f"{error}")
        seconds += time.perf_counter() - began
        # The sweep's own record says when it is worth asking the common function.
        if state.history[-1]["gap"] <= bench.target or seconds >= limit:
            W, C = solver.device.to_numpy([state.W, state.factors[0]])
            found = bench.judge(W, C)
    reached = found["gap"] <= bench.target
    return Result(
        method,
        gflops,
        seconds,
        found["gap"],
        found["misfit"],
        reached,
        state.iteration,
        "" if reached else f"not in {limit:.0f} s; began at {begun['gap']:,.0f}",
    )


def time_fit(bench: Bench) -> Result:
    """Time the whole estimator as a user calls it: all options at their defaults."""
    gflops = yardstick()
    began = time.perf_counter()
    model = PHCLE(dim=bench.problem.dim, backend="numpy").fit(bench.context)
    seconds = time.perf_counter() - began
    embedding = model.embedding_
    found = bench.judge(embedding.vectors, embedding.contexts[0].factor)
    return Result(
        "PHCLE().fit, to its own end",
        gflops,
        seconds,
        found["gap"],
        found["misfit"],
        found["gap"] <= bench.target,
        len(model.history_) - 1,
    )


def time_peer(bench: Bench, name: str) -> Result:
    """Time a peer; judge its factors after the affine map that suits them best."""
    gflops = yardstick()
    peer = PEERS[name]
    try:
        train = peer.prepare()
        began = time.perf_counter()
        W, C = train(bench.problem.contexts[0], bench.problem.dim)
        seconds = time.perf_counter() - began
    except ImportError as error:
        return Result(peer.title, gflops, note=f"not installed: {error}")
    except Exception as error:  # a peer's failure is a result, not the end of the run
        return Result(peer.title, gflops, note=f"failed: {error!r}")
    found, slope, shift = judge_mapped(bench, W, C)
    return Result(
        peer.title,
        gflops,
        seconds,
        found["gap"],
        found["misfit"],
        found["gap"] <= bench.target,
        note=f"another loss; read as {slope:.2f}·x {shift:+.2f}",
    )


def judge_mapped(
    bench: Bench, W: Floats, C: Floats
) -> tuple[dict[str, float], float, float]:
    """Judge s·x + t in place of x = W Cᵀ, for the s and t with the lowest objective.

    Peers know nothing of our scale and penalties, so both are chosen for them: s is
    split between the factors at the least penalty, t becomes one more dimension. The
    objective is convex in (s, t).
    """
    lam = bench.problem.penalties
    W, C = np.asarray(W, np.float64), np.asarray(C, np.float64)
    even = np.sqrt(lam.context_ridge / lam.ridge)
    length = np.linalg.norm(W) * np.linalg.norm(C) or 1.0
    share = np.sqrt(even * np.linalg.norm(C) / (np.linalg.norm(W) or 1.0)) or 1.0
    constant = np.sqrt(even * np.sqrt(len(C) / len(W)))

    def judge(s: float, t: float) -> dict[str, float]:
        a, u = np.sqrt(abs(s)), np.sqrt(abs(t))
        left = np.full((len(W), 1), u * constant)
        right = np.full((len(C), 1), np.sign(t) * u / constant)
        return bench.judge(
            np.hstack([a * share * W, left]),
            np.hstack([np.sign(s) * a / share * C, right]),
        )

    # Searched in units of typical size: s such that x is about 1, t near −3.
    unit = np.sqrt(W.shape[0] * C.shape[0] * W.shape[1]) / length
    best = minimize(
        lambda p: judge(p[0] * unit, p[1])["gap"],
        x0=[1.0, -3.0],
        method="Nelder-Mead",
        options={"xatol": 0.01, "fatol": 1.0, "maxiter": 200},
    ).x
    s, t = float(best[0] * unit), float(best[1])
    return judge(s, t), s, t


def mm_results(bench: Bench, repeats: int) -> Iterator[Result]:
    """The default solver on every CPU back end, and the whole fit."""
    for method, library, dtype, init in MM_CASES:
        try:
            backend = choose_backend(library, "cpu", dtype)
        except PhcleError as error:
            yield Result(method, yardstick(), note=str(error))
            continue
        runs = [
            time_solver(
                bench,
                method,
                lambda device: MajoriseSolver(device, tol=0.0),
                backend=backend,
                init=init,
                limit=600.0,
            )
            for _ in range(repeats)
        ]
        yield fastest(runs)
    yield fastest([time_fit(bench) for _ in range(repeats)])


def paper_results(bench: Bench, limit: float) -> Iterator[Result]:
    """The paper's solver: the printed step and the safe one, from two starts."""
    backend = choose_backend("numpy", "cpu", "float32")
    for step_name, step in (("printed step 1e-5", PRINTED_STEP), ("safe step", None)):
        for init in ("spectral", "random"):
            yield time_solver(
                bench,
                f"paper, {step_name}, {init} start",
                lambda device, step=step: PaperSolver(device, tol=0.0, step_size=step),
                backend=backend,
                init=init,
                limit=limit,
            )


def constant_result(bench: Bench) -> Result:
    """What a model that knows nothing gets: one constant for every pair."""
    data = bench.problem.contexts[0]
    nothing = [np.zeros((size, 1)) for size in data.counts.shape]
    found, _, shift = judge_mapped(bench, *nothing)
    return Result(
        "one constant, for scale",
        yardstick(),
        gap=found["gap"],
        misfit=found["misfit"],
        note=f"no model at all: {shift:+.2f}",
    )


def fastest(runs: list[Result]) -> Result:
    """The run that other work on the machine disturbed least."""
    return min(runs, key=lambda result: result.seconds or np.inf)


def describe_machine() -> dict[str, object]:
    """Hardware, threads and versions."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    threads = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
    return {
        "cpu": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "blas_threads": max(threads, default=1),
        "versions": versions,
    }


def show(report: dict[str, object], results: list[Result]) -> None:
    """Print the table."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    machine, problem = report["machine"], report["problem"]
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    rates = [result.gflops for result in results]
    console.print(
        f"{machine['cpu']}, {machine['cores']} cores, "
        f"{machine['blas_threads']} BLAS threads; float32 matrix product "
        f"{min(rates):.0f} to {max(rates):.0f} GFLOP/s during this run\n{versions}\n"
        f"D {problem['labels']} × {problem['columns']}, {problem['nonzeros']} counts, "
        f"d = {problem['dim']}, k = {problem['negatives']:g}, "
        f"λ3 = {problem['ridge']:g}, λ4 = {problem['context_ridge']:g}\n"
        f"converged gap {report['reference']['gap']:,.1f}, "
        f"target {report['target']:,.1f}, floor {report['floor']:,.1f}",
        highlight=False,
    )
    table = Table(caption=CAPTION)
    table.add_column("method", no_wrap=True)
    columns = ("seconds", "sweeps", "gap", "misfit", "within 5 %", "GFLOP/s")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("note")
    for result in results:
        table.add_row(
            result.method,
            _number(result.seconds, ".2f"),
            _number(result.sweeps, "d"),
            _number(result.gap, ",.0f"),
            _number(result.misfit, ",.0f"),
            "yes" if result.reached else "no",
            f"{result.gflops:.0f}",
            result.note,
        )
    console.print(table)


def _number(value: float | None, how: str) -> str:
    return "" if value is None else format(value, how)


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for, print it, and write it down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--paper-seconds", type=float, default=60.0, metavar="N")
    parser.add_argument("--repeats", type=int, default=3, help="the fastest counts")
    parser.add_argument("--reference-tol", type=float, default=1e-6)
    parser.add_argument("--only", default=",".join(GROUPS), help="which of the groups")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    groups = options.only.split(",")
    if unknown := set(groups) - set(GROUPS):
        parser.error(f"--only knows {', '.join(GROUPS)}. Got {', '.join(unknown)}.")

    bench = Bench(options.dim, options.reference_tol)
    results: list[Result] = []
    if "mm" in groups:
        results += mm_results(bench, options.repeats)
    if "paper" in groups:
        results += paper_results(bench, options.paper_seconds)
    for name in (name for name in PEERS if name in groups):
        results.append(
            fastest([time_peer(bench, name) for _ in range(options.repeats)])
        )
    results.append(constant_result(bench))

    counts: sp.csr_array = bench.problem.contexts[0].counts
    report = {
        "machine": describe_machine(),
        "problem": {
            "labels": counts.shape[0],
            "columns": counts.shape[1],
            "nonzeros": int(counts.nnz),
            "dim": options.dim,
            **asdict(bench.problem.penalties),
        },
        "reference": bench.reference,
        "target": bench.target,
        "floor": bench.reference["objective"] - bench.reference["gap"],
        "results": [asdict(result) for result in results],
    }
    show(report, results)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
