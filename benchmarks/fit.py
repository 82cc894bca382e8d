"""What fits cost: stages, growth with size, choosing settings, and labels that arrive.

    OMP_NUM_THREADS=1 python benchmarks/fit.py stages --data nouns --labels 10000
    python benchmarks/fit.py stages --data nouns.npz --device cuda
    python benchmarks/fit.py stages --labels 1000000 --device cuda --mixed
    python benchmarks/fit.py stages --data tree --labels 20000 --dim 100
    python benchmarks/fit.py growth --json growth.json
    python benchmarks/fit.py choosing --sizes 1000 10000
    python benchmarks/fit.py transform --known 10000 --new 10000

`stages` wraps the functions of the library that make up a fit by timers, which wait for
the GPU before they read the clock. Waiting costs next to nothing: a stage begins when
the one before has ended. Its data are leaves of a tree with counts for leaves near them
("random", see `noun_problem.py`), leaves of a tree with their ancestors ("tree"),
WordNet's nouns ("nouns"), a made-up tree and table ("table"), or a file
that `noun_problem.py` wrote.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from measuring import NEAR, Stopwatch, peak_mb, run_apart, yardstick
from noun_problem import load_contexts, random_tree_context, warm_up
from trees import noun_contexts, random_tree, table_contexts

import phcle.estimator
import phcle.solver.label_solve
import phcle.solver.setting_choice
from phcle import PHCLE, RelationalContext
from phcle.contexts.base.context import Context
from phcle.errors import ConvergenceWarning, PhcleWarning
from phcle.solver import folds
from phcle.solver.sweep import MajoriseSolver, State

STAGES = {
    "match labels": (phcle.estimator, "match_contexts"),
    "align": (phcle.estimator, "align"),
    "choosing": (phcle.estimator.SettingChoice, "chosen"),
    "pose": (phcle.solver.setting_choice, "pose_setting"),
    "layout": (phcle.estimator, "DeviceProblem"),
    "floor": (MajoriseSolver, "__init__"),
    "start": (phcle.estimator, "start_factors"),
    "start of a fold": (folds, "start_factors"),
    "sweeps": (MajoriseSolver, "step"),
    "last solve, layout": (phcle.solver.label_solve, "LabelRows"),
    "last solve, steps": (phcle.solver.label_solve, "solve_rows"),
    "last solve": (phcle.estimator, "solve_labels"),
    "last solve of a fold": (folds, "solve_labels"),
    "embedding": (phcle.estimator, "LabelEmbedding"),
    "folds": (phcle.estimator, "out_of_fold"),
}
"""Stages by their function. A stage inside another is not counted twice."""

WITH_TRIALS = ("choosing", "folds")
"""Stages that make short fits of their own, whose stages are named after them."""

WARM_UP = 10_000
"""Labels of a fit before the clock starts, which loads torch and compiles kernels; so
many that the last solve uses the same ones."""

BASE = {"labels": 4000, "nonzeros": 50, "dim": 100, "contexts": 1}
VARIED = {
    "labels": [1000, 2000, 4000, 8000, 16_000, 32_000],
    "nonzeros": [10, 20, 50, 100, 200, 400],
    "dim": [25, 50, 100, 200, 400],
    "contexts": [1, 2, 4, 8],
}
"""What `growth` varies, one at a time."""


def synchronise() -> None:
    """Wait for the GPU, if there is one."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()


class StageTimes:
    """Seconds by stage, and the share of a fit that no stage has."""

    def __init__(self, *, is_told: bool = False) -> None:
        self.is_told = is_told  # print every stage when it ends
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}
        self.open: list[str] = []
        self.inside: list[tuple[float, float]] = [(0.0, 0.0)]

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that notes how long it takes."""

        def call(*args: Any, **options: Any) -> Any:
            own_name = stage
            if stage == "last solve, steps":
                own_name = f"{stage} ({args[0].precision})"
            outer = next((name for name in WITH_TRIALS if name in self.open), None)
            if outer is not None:
                own_name = f"{outer}: {own_name}"
            synchronise()
            watch = Stopwatch()
            self.inside.append((0.0, 0.0))
            self.open.append(stage)
            try:
                return function(*args, **options)
            finally:
                synchronise()
                self.open.pop()
                self._note(own_name, watch)

        return call

    def _note(self, stage: str, watch: Stopwatch) -> None:
        """Add to a stage what its inner stages did not take."""
        took = tuple(watch.read().values())
        inner = self.inside.pop()
        before = self.inside.pop()
        self.inside.append((before[0] + took[0], before[1] + took[1]))
        own, own_cpu = took[0] - inner[0], took[1] - inner[1]
        self.seconds[stage] = self.seconds.get(stage, 0.0) + own
        self.cpu_seconds[stage] = self.cpu_seconds.get(stage, 0.0) + own_cpu
        if self.is_told:
            print(f"  {stage}: {own:.2f} s", flush=True)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time all stages of the fits inside."""
        with ExitStack() as stack:
            for stage, (owner, name) in STAGES.items():
                timed = self.timed(stage, getattr(owner, name))
                if isinstance(owner, type):  # a method needs its object

                    def method(
                        self: Any, *args: Any, _to: Any = timed, **o: Any
                    ) -> Any:
                        return _to(self, *args, **o)

                    timed = method
                stack.enter_context(mock.patch.object(owner, name, timed))
            yield


def peak_gb() -> tuple[float, float]:
    """The most memory of this process and on the GPU, in GB."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return peak_mb() / 1000, 0.0
    return peak_mb() / 1000, torch.cuda.max_memory_allocated() / 1e9


def measure(
    contexts: list[Context],
    *,
    is_told: bool = False,
    sweep_until: float = float("inf"),
    **options: Any,
) -> tuple[dict[str, Any], PHCLE]:
    """Fit once; seconds by stage, and when the fit came near its end.

    After `sweep_until` seconds, sweeps are stopped as Ctrl-C would stop them: the fit
    solves for the labels and keeps the result.
    """
    times = StageTimes(is_told=is_told)
    timeline: list[tuple[float, float]] = []
    watch = Stopwatch()

    def note(state: State) -> None:
        timeline.append((watch.read()["seconds"], state.history[-1]["gap"]))
        if is_told:
            print("  {:.1f} s: gap {:.6g}".format(*timeline[-1]), flush=True)
        if timeline[-1][0] > sweep_until:
            raise KeyboardInterrupt

    model = PHCLE(**options)
    with times.watching(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", PhcleWarning)
        try:
            model.fit(contexts, on_step=note)
        except KeyboardInterrupt:
            print(f"sweeps stopped after {len(timeline)}", flush=True)
    whole = watch.read()
    gap = model.history_[-1]["gap"]
    near = [after for after, there in timeline if there <= NEAR * gap]
    counted = [c for c in model.embedding_.contexts if c.kind == "relational"]
    other = whole["seconds"] - sum(times.seconds.values())
    other_cpu = whole["cpu_seconds"] - sum(times.cpu_seconds.values())
    return {
        "labels": len(model.embedding_.labels),
        "columns": sum(len(context.columns) for context in counted),
        "dim": model.embedding_.dim,
        **whole,
        "seconds_near": near[0] if near else None,
        "sweeps": len(timeline),
        "gap": gap,
        "stages": times.seconds | {"other": other},
        "cpu_stages": times.cpu_seconds | {"other": other_cpu},
        "timeline": timeline,
        "peak_gb": peak_gb(),
        "gflops": yardstick(),
        "options": options,
    }, model


def show(line: dict[str, Any]) -> None:
    """Print a table of one fit."""
    host, device = line["peak_gb"]
    near = line["seconds_near"]
    print(
        f"{line['labels']:,} labels, {line['columns']:,} columns of counts, "
        f"d = {line['dim']}: {line['seconds']:.2f} s, {line['sweeps']} sweeps, "
        f"within 5 % after {'-' if near is None else f'{near:.2f}'} s, "
        f"gap {line['gap']:.6g}, {host:.2f} GB host, {device:.1f} GB GPU; "
        f"{line['gflops']:.0f} GFLOP/s on the host"
    )
    print("| stage | seconds | CPU seconds | share of the sweeps |")
    print("| --- | --: | --: | --: |")
    sweeps = line["cpu_stages"].get("sweeps", float("nan"))
    for stage, seconds in (line["stages"] | {"whole fit": line["seconds"]}).items():
        cpu = line["cpu_stages"].get(stage, line["cpu_seconds"])
        print(f"| {stage} | {seconds:.2f} | {cpu:.2f} | {cpu / sweeps:.2f} |")
    print("sweeps end at " + ", ".join(f"{t:.2f}" for t, _ in line["timeline"]))
    print("gaps " + ", ".join(f"{gap:.5g}" for _, gap in line["timeline"]), flush=True)


def stage_contexts(data: str, n: int, nonzeros: int) -> list[Context]:
    """The data of `stages`."""
    if data == "random":
        return [random_tree_context(n, nonzeros, as_array=True)]
    if data == "tree":
        return [RelationalContext.from_hierarchy(random_tree(n))]
    if data == "nouns":
        return noun_contexts(n)
    if data == "table":
        return table_contexts(n)
    return load_contexts(Path(data))


def stages(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds and memory of one fit by its stages."""
    watch = Stopwatch()
    contexts = stage_contexts(options.data, options.labels, options.nonzeros)
    print(f"contexts made in {watch.read()['seconds']:.1f} s", flush=True)
    chosen: dict[str, Any] = {
        "dim": options.dim,
        "choose": options.choose,
        "device": options.device,
        "precision": "mixed" if options.mixed else "full",
    }
    if options.device == "cuda":
        chosen["backend"] = "torch"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        n_labels = WARM_UP if options.device == "cuda" else 100
        PHCLE(max_iter=2, **chosen).fit(random_tree_context(n_labels, 10))
    for _ in range(options.repeat):
        line, _ = measure(contexts, mode=options.mode, **chosen)
        show(line)
    return line


def fit_of_size(
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

    def note(state: State) -> None:
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


def growth(options: argparse.Namespace) -> dict[str, Any]:
    """CPU seconds and memory, each fit in a process of its own, one thing varied."""
    report: dict[str, Any] = {"gflops": yardstick(), "lines": {}}
    for varied in options.vary or VARIED:
        report["lines"][varied] = []
        for size in options.sizes or VARIED[varied]:
            case = {**BASE, varied: size}
            line = run_apart(fit_of_size, *case.values(), options.sweeps)
            report["lines"][varied].append(line)
            print(
                f"{varied} {size:>7,}: sweep {line['sweep_cpu_seconds']:7.2f} cpu s, "
                f"fit {line['fit_cpu_seconds']:7.2f} cpu s, {line['extra_mb']:5.0f} MB",
                flush=True,
            )
    return report


def choosing(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What choosing settings and predicting gaps cost, as a ratio to a plain fit.

    A plain fit is given the chosen setting, and predicts no gaps. Both are
    repeated in turn, after a fit that is not counted, and medians are compared: a ratio
    of 4 means that choosing and predicting together cost three plain fits.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)
    fixed = {"device": options.device}
    if options.device == "cuda":
        fixed["backend"] = "torch"
    print(f"matrix product: {yardstick():.0f} GFLOP/s")
    print("| labels | plain fit | all defaults | ratio | trials | chosen |")
    print("| --- | --- | --- | --- | --- | --- |")
    lines = []
    for n in options.sizes:
        contexts = table_contexts(n)
        _, model = timed_fit(contexts, **fixed)
        placed, plain = plain_options(model, contexts)
        pairs = [
            (timed_fit(contexts, **fixed)[0], timed_fit(placed, **plain, **fixed)[0])
            for _ in range(options.repeat)
        ]
        whole, alone = (median(seconds) for seconds in zip(*pairs, strict=True))
        setting = model.chosen_.setting
        print(
            f"| {n:,} | {alone:.2f} s | {whole:.2f} s | {whole / alone:.1f} "
            f"| {len(model.chosen_.trials)} "
            f"| {setting.roles.get('tree', 'counts')}, dim {setting.dim} |",
            flush=True,
        )
        lines.append({"labels": n, "plain": alone, "defaults": whole})
    return lines


def timed_fit(contexts: list[Context], **options: Any) -> tuple[float, PHCLE]:
    """Seconds of one fit."""
    watch = Stopwatch()
    model = PHCLE(**options).fit(contexts)
    return watch.read()["seconds"], model


def plain_options(
    model: PHCLE, contexts: list[Context]
) -> tuple[list[Context], dict[str, Any]]:
    """Contexts and options of a plain fit with the setting that a model chose."""
    setting = model.chosen_.setting
    roles = dict(setting.roles)
    placed = [c.in_role(roles[c.name]) if c.name in roles else c for c in contexts]
    return placed, {
        "choose": False,
        "completion": "none",
        "dim": setting.dim,
        "negatives": setting.negatives,
        "descriptive_weight": setting.descriptive_weight,
        "stiffness": setting.stiffness,
        "shrinkage": setting.shrinkage.get("table", 0.2),
    }


def transform(options: argparse.Namespace) -> dict[str, Any]:
    """How long labels take that arrive later, the best of three."""
    known, new = split_context(options.known, options.new, options.nonzeros)
    model = PHCLE(dim=options.dim, device=options.device, max_iter=options.sweeps)
    watch = Stopwatch()
    model.fit(known)
    fitted = watch.read()["seconds"]
    runs = []
    for _ in range(3):
        watch = Stopwatch()
        model.transform(new)
        runs.append(watch.read())
    best = min(runs, key=lambda run: run["seconds"])
    gflops = yardstick()
    print(
        f"{options.new:,} new labels beside {options.known:,}, d = {options.dim}: "
        f"{best['seconds']:.2f} s ({best['cpu_seconds']:.2f} processor seconds), "
        f"{gflops:.0f} GFLOP/s; the fit took {fitted:.1f} s"
    )
    sizes = {"known": options.known, "new": options.new, "dim": options.dim}
    return {**sizes, "fit_seconds": fitted, "transform": runs, "gflops": gflops}


def split_context(
    n_known: int, n_new: int, nonzeros: int
) -> tuple[RelationalContext, RelationalContext]:
    """Leaves of one tree: those to fit, and those that come later.

    The later ones are spread over the tree, and keep the columns of the known ones.
    """
    whole = random_tree_context(n_known + n_new, nonzeros)
    order = np.random.default_rng(0).permutation(n_known + n_new)
    known, new = np.sort(order[:n_known]), np.sort(order[n_known:])
    columns = tuple(whole.columns[i] for i in known)

    def part(rows: np.ndarray) -> RelationalContext:
        counts = sp.csr_array(whole.counts[rows][:, known])
        labels = tuple(whole.labels[i] for i in rows)
        return RelationalContext("tree", labels, columns, counts)

    return part(known), part(new)


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command and its options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)

    def command(run: Callable[[argparse.Namespace], Any]) -> argparse.ArgumentParser:
        own = commands.add_parser(run.__name__, help=(run.__doc__ or "").split("\n")[0])
        own.set_defaults(run=run)
        own.add_argument("--json", type=Path, metavar="FILE")
        return own

    own = command(stages)
    own.add_argument(
        "--data", default="random", help="random, tree, nouns, table, or a file"
    )
    own.add_argument("--labels", type=int, default=10_000)
    own.add_argument("--nonzeros", type=int, default=50)
    own.add_argument("--dim", type=int, default=128)
    own.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    own.add_argument("--mode", default="auto")
    own.add_argument("--choose", action="store_true", help="choose settings, too")
    own.add_argument("--mixed", action="store_true", help="precision='mixed'")
    own.add_argument("--repeat", type=int, default=1, help="the last run is kept")

    own = command(growth)
    own.add_argument("--vary", choices=VARIED, action="append")
    own.add_argument("--sizes", type=int, nargs="+", help="with one --vary")
    own.add_argument("--sweeps", type=int, default=6)

    own = command(choosing)
    own.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    own.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    own.add_argument("--repeat", type=int, default=5, help="fits of each sort")

    own = command(transform)
    own.add_argument("--known", type=int, default=10_000)
    own.add_argument("--new", type=int, default=10_000)
    own.add_argument("--nonzeros", type=int, default=50)
    own.add_argument("--dim", type=int, default=100)
    own.add_argument("--sweeps", type=int, default=10)
    own.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for, and write it down."""
    options = read_arguments(arguments)
    report = options.run(options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
