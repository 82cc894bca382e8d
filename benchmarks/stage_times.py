"""Where the time of a fit goes: one line per stage, from one call.

    PYTHONPATH=src python benchmarks/stage_times.py --synthetic 1000000 --mixed
    PYTHONPATH=src python benchmarks/stage_times.py --nouns nouns.npz

The functions of the library that make up a fit are wrapped by timers, which wait for
the GPU before they read the clock. Waiting costs next to nothing: a stage begins when
the one before has ended.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from noun_problem import load_contexts, random_tree_context

import phcle.estimator
import phcle.solver.label_solve
import phcle.solver.setting_choice
from phcle.contexts.base.context import Context
from phcle.errors import ConvergenceWarning
from phcle.estimator import PHCLE
from phcle.fit_speed import NEAR
from phcle.solver.sweep import MajoriseSolver, State

STAGES = {
    "match labels": (phcle.estimator, "match_contexts"),
    "align": (phcle.estimator, "align"),
    "pose": (phcle.solver.setting_choice, "pose_setting"),
    "layout": (phcle.estimator, "DeviceProblem"),
    "floor": (MajoriseSolver, "__init__"),
    "start": (phcle.estimator, "start_factors"),
    "sweeps": (MajoriseSolver, "step"),
    "last solve, layout": (phcle.solver.label_solve, "LabelRows"),
    "last solve, steps": (phcle.solver.label_solve, "solve_rows"),
    "last solve": (phcle.estimator, "solve_labels"),
    "embedding": (phcle.estimator, "LabelEmbedding"),
    "calibration": (phcle.estimator, "calibrate"),
}
"""Stages by their function. A stage inside another is not counted twice."""

WARM_UP = 10_000
"""Labels of a fit before the clock starts, which loads torch and compiles kernels; so
many that the last solve uses the same ones."""


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
        self.inside: list[float] = [0.0]

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that notes how long it takes."""

        def call(*args: Any, **options: Any) -> Any:
            own_name = stage
            if stage == "last solve, steps":
                own_name = f"{stage} ({args[0].precision})"
            synchronise()
            began = time.perf_counter()
            self.inside.append(0.0)
            try:
                return function(*args, **options)
            finally:
                synchronise()
                took = time.perf_counter() - began
                own = took - self.inside.pop()
                self.inside[-1] += took
                self.seconds[own_name] = self.seconds.get(own_name, 0.0) + own
                if self.is_told:
                    print(f"  {own_name}: {own:.2f} s", flush=True)

        return call

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
    import resource

    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return host, 0.0
    return host, torch.cuda.max_memory_allocated() / 1e9


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
    began = time.perf_counter()

    def note(state: State) -> None:
        timeline.append((time.perf_counter() - began, state.history[-1]["gap"]))
        if is_told:
            print("  {:.1f} s: gap {:.6g}".format(*timeline[-1]), flush=True)
        if timeline[-1][0] > sweep_until:
            raise KeyboardInterrupt

    model = PHCLE(**options)
    with times.watching(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(contexts, on_step=note)
        except KeyboardInterrupt:
            print(f"sweeps stopped after {len(timeline)}", flush=True)
    seconds = time.perf_counter() - began
    gap = model.history_[-1]["gap"]
    near = [after for after, there in timeline if there <= NEAR * gap]
    stages = times.seconds | {"other": seconds - sum(times.seconds.values())}
    return {
        "labels": len(model.embedding_.labels),
        "seconds": seconds,
        "seconds_near": near[0] if near else None,
        "sweeps": len(timeline),
        "gap": gap,
        "stages": stages,
        "timeline": timeline,
        "peak_gb": peak_gb(),
        "options": options,
    }, model


def show(line: dict[str, Any]) -> None:
    """Print a table of one fit."""
    host, device = line["peak_gb"]
    near = line["seconds_near"]
    print(
        f"{line['labels']} labels: {line['seconds']:.2f} s, {line['sweeps']} sweeps, "
        f"within 5 % after {'-' if near is None else f'{near:.2f}'} s, "
        f"gap {line['gap']:.6g}, {host:.1f} GB host, {device:.1f} GB GPU"
    )
    for stage, seconds in line["stages"].items():
        print(f"  {stage:<20} {seconds:8.2f} s")
    print("  sweeps end at " + ", ".join(f"{t:.2f}" for t, _ in line["timeline"]))
    print(
        "  gaps " + ", ".join(f"{gap:.5g}" for _, gap in line["timeline"]), flush=True
    )


def main() -> None:
    """Measure all and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nouns", type=Path, help="file of noun_problem.py")
    parser.add_argument("--synthetic", type=int, default=0, help="leaves of a tree")
    parser.add_argument("--nonzeros", type=int, default=50)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--no-choose", action="store_true", help="given settings")
    parser.add_argument("--mixed", action="store_true", help="precision='mixed'")
    parser.add_argument("--repeat", type=int, default=1, help="the last run is kept")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    if options.nouns:
        contexts = load_contexts(options.nouns)
    else:
        tree = random_tree_context(options.synthetic, options.nonzeros, as_array=True)
        contexts = [tree]
    print(f"contexts made in {time.perf_counter() - began:.1f} s", flush=True)
    chosen = {
        "dim": options.dim,
        "choose": not options.no_choose,
        "backend": "torch",
        "device": options.device,
        "precision": "mixed" if options.mixed else "full",
    }
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        n_labels = WARM_UP if options.device == "cuda" else 100
        PHCLE(max_iter=2, **chosen).fit(random_tree_context(n_labels, 10))
    print(f"imports and kernels: {time.perf_counter() - began:.1f} s", flush=True)
    for _ in range(options.repeat):
        line, _ = measure(contexts, mode=options.mode, **chosen)
        show(line)
    if options.json:
        options.json.write_text(json.dumps(line, indent=1))


if __name__ == "__main__":
    main()
