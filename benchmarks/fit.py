"""What fits cost: stages, completion, and refits.

    OMP_NUM_THREADS=1 python benchmarks/fit.py stages --data nouns --labels 10000
    python benchmarks/fit.py stages --labels 1000000 --device cuda --mixed
    python benchmarks/fit.py completion --labels 3000 --completion full
    OMP_NUM_THREADS=1 python benchmarks/fit.py refit 1000 10000

`stages` wraps the functions of the library that make up a fit by timers, which wait for
the GPU before they read the clock. Its data are leaves of a tree with counts for leaves
near them ("random"), leaves of a tree with their ancestors ("tree"), a made-up tree and
table ("table"), or WordNet's nouns ("nouns").
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from measuring import (
    NEAR,
    Stopwatch,
    parser_of,
    peak_mb,
    print_head,
    print_row,
    yardstick,
)
from problems import (
    noun_contexts,
    random_tree_context,
    table_contexts,
    tree_contexts,
)

import phcle.estimator
from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.contexts.protocol import Context
from phcle.errors import PhcleWarning
from phcle.model.fit import Solver
from phcle.model.problem import State

STAGES = {
    "match labels": (phcle.estimator, "match_contexts"),
    "align": (phcle.estimator, "align"),
    "choosing": (phcle.estimator, "choose"),
    "layout": (phcle.estimator, "DeviceProblem"),
    "start": (phcle.estimator, "first_state"),
    "sweeps": (Solver, "sweep"),
    "last solve": (phcle.estimator, "solve_labels"),
    "embedding": (phcle.estimator, "LabelEmbedding"),
    "completion": (PHCLE, "_complete"),
}
"""Stages by their function. What runs inside another stage counts for that one."""

WARM_UP = 10_000
"""Labels of a fit before the clock starts, which loads torch and compiles kernels; so
many that the last solve uses the same ones."""

NEW_ROWS, CORRECTED, MOST_COMPARED = 0.05, 0.01, 2_000
"""Of `refit`: shares of new labels and of wrong values, labels compared."""


def gpu() -> Any:
    """What torch knows of the GPU, if there is one."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch and torch.cuda.is_available() else None


def wait_for_gpu() -> None:
    """Wait until the GPU, if there is one, is done."""
    if cuda := gpu():
        cuda.synchronize()


class StageTimes:
    """Seconds and CPU seconds by stage."""

    def __init__(self) -> None:
        self.taken: dict[str, Any] = {}
        self.is_open = False

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that notes how long it takes."""

        def call(*args: Any, **options: Any) -> Any:
            if self.is_open:
                return function(*args, **options)
            wait_for_gpu()
            watch, self.is_open = Stopwatch(), True
            try:
                return function(*args, **options)
            finally:
                wait_for_gpu()
                self.is_open = False
                self.taken.setdefault(stage, Counter()).update(watch.read())

        return call

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time all stages of the fits inside."""
        with ExitStack() as stack:
            for stage, (owner, name) in STAGES.items():
                timed = self.timed(stage, getattr(owner, name))
                stack.enter_context(mock.patch.object(owner, name, timed))
            yield


def measure(contexts: list[Context], **options: Any) -> tuple[dict[str, Any], PHCLE]:
    """Fit once; seconds by stage, and when the fit came near its end."""
    times = StageTimes()
    timeline: list[tuple[float, float]] = []
    watch = Stopwatch()

    def note(state: State) -> None:
        timeline.append((watch.read()["seconds"], state.history[-1]["gap"]))

    model = PHCLE(**options)
    with times.watching():
        model.fit(contexts, on_step=note)
    whole = watch.read()
    gap = model.history_[-1]["gap"]
    return {
        "labels": len(model.embedding_),
        "dim": model.embedding_.dim,
        "near": next((after for after, there in timeline if there <= NEAR * gap), None),
        "gap": gap,
        "stages": {**times.taken, "whole fit": whole},
        "timeline": timeline,
        "host_gb": peak_mb() / 1000,
        "gpu_gb": cuda.max_memory_allocated() / 1e9 if (cuda := gpu()) else 0.0,
        "gflops": yardstick(),
        "options": options,
    }, model


def show(line: dict[str, Any]) -> None:
    """Print a table of one fit."""
    near = "-" if line["near"] is None else f"{line['near']:.2f}"
    print(
        f"{line['labels']:,} labels, d = {line['dim']}: {len(line['timeline'])} "
        f"sweeps, within 5 % after {near} s, gap {line['gap']:.6g}, "
        f"{line['host_gb']:.2f} GB host, {line['gpu_gb']:.1f} GB GPU; "
        f"{line['gflops']:.0f} GFLOP/s on the host"
    )
    print_head("stage", "seconds", "CPU seconds")
    for stage, took in line["stages"].items():
        print_row(stage, *(f"{x:.2f}" for x in took.values()))


def stages(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds and memory of one fit by its stages."""
    n = options.labels
    made: dict[str, Callable[[], list[Context]]] = {
        "random": lambda: [random_tree_context(n, options.nonzeros)],
        "tree": lambda: tree_contexts(n),
        "table": lambda: table_contexts(n),
        "nouns": lambda: noun_contexts(n),
    }
    contexts = made[options.data]()
    chosen: dict[str, Any] = {
        "dim": options.dim,
        "choose": options.choose,
        "device": options.device,
        "precision": "mixed" if options.mixed else "full",
    }
    if options.device == "cuda":
        chosen["backend"] = "torch"
    n_first = WARM_UP if options.device == "cuda" else 100
    PHCLE(max_iter=2, **chosen).fit(random_tree_context(n_first, 10))
    for _ in range(options.repeat):
        line, _ = measure(contexts, mode=options.mode, **chosen)
        show(line)
    return line


def completion(options: argparse.Namespace) -> dict[str, Any]:
    """Time, file and memory of a fit that predicts the gaps of a made-up table.

    The table has 16 numbers and 4 categories that follow five hidden numbers of each
    label, and 30 % of its cells are unknown. Labels stand in a tree, ten to a group.
    """
    n = options.labels
    rng = np.random.default_rng(0)
    labels = [f"x{i}" for i in range(n)]
    tree = [(label, f"g{i // 10}") for i, label in enumerate(labels)]
    tree += [(f"g{g}", f"t{g // 10}") for g in range(n // 10)]
    tree += [(f"t{t}", "all") for t in range(max(n // 100, 1))]
    hidden = rng.normal(size=(n // 10, 5)).repeat(10, 0) + rng.normal(size=(n, 5))
    numbers = hidden @ rng.normal(size=(5, 16)) + 0.3 * rng.normal(size=(n, 16))
    cells = {f"number {i}": numbers[:, i].tolist() for i in range(16)}
    for j in range(4):
        kind = np.digitize(hidden[:, j], [-1, 0, 1])
        cells[f"kind {j}"] = np.array(list("abcd"))[kind].tolist()
    left = {k: [x if rng.random() < 0.7 else None for x in v] for k, v in cells.items()}
    table = DescriptiveContext.from_cells(tuple(labels), left, "table")
    contexts = [RelationalContext.from_hierarchy(tree, name="tree"), table]
    watch = Stopwatch()
    embedding = PHCLE(completion=options.completion).fit(contexts).embedding_
    took = watch.read()
    n_cells = len(embedding.complete())
    with tempfile.TemporaryDirectory() as folder:
        embedding.save(Path(folder) / "x.phcle")
        size = (Path(folder) / "x.phcle").stat().st_size
    print(
        f"{n:,} labels, {options.completion}: fit {took['seconds']:.1f} s "
        f"({took['cpu_seconds']:.1f} CPU s), {n_cells:,} cells, "
        f"file {size / 1e6:.1f} MB, peak {peak_mb():.0f} MB; "
        f"matrix product {yardstick():.0f} GFLOP/s"
    )
    return {"labels": n, **took, "cells": n_cells, "bytes": size, "peak_mb": peak_mb()}


Change = tuple[str, list[Context], list[str] | None, list[Context], Any]
"""Name, contexts and labels before, contexts now, and a score of an embedding."""


def planted_changes(n: int) -> Iterator[Change]:
    """Changes of a made-up tree and table, and how well hidden cells are predicted."""
    tree, table = table_contexts(n)
    rng = np.random.default_rng(1)
    values = np.array(table.values)
    hidden = ~np.isnan(values) & (rng.random(values.shape) < 0.1)
    left = np.where(hidden, np.nan, values)
    spread = np.nanstd(left, axis=0)

    def both(cells: np.ndarray, at: slice = slice(None)) -> list[Context]:
        columns = table.columns[at]
        return [tree, DescriptiveContext("table", table.labels, columns, cells[:, at])]

    def score(embedding: LabelEmbedding) -> str:
        found = next(x for x in embedding.contexts if x.name == "table")
        predicted = found.predict(embedding.select(table.labels).vectors)
        errors, means = (
            ((x - values) / spread)[hidden]
            for x in (predicted, np.nanmean(left, axis=0))
        )
        return f"R² {1 - np.mean(errors**2) / np.mean(means**2):.3f}"

    early = [x for x in table.labels if rng.random() > NEW_ROWS]
    yield "5 % new rows", both(left), early, both(left), score
    yield "1 new column", both(left, slice(0, -1)), None, both(left), score
    wrong = left.copy()
    rows, columns = np.nonzero(~np.isnan(left))
    at = rng.choice(len(rows), int(CORRECTED * len(rows)), replace=False)
    wrong[rows[at], columns[at]] = left[rng.permutation(rows[at]), columns[at]]
    wrong = np.where(np.isnan(wrong) & ~np.isnan(left), 0.0, wrong)
    yield "1 % corrected", both(wrong), None, both(left), score


def cosine_difference(one: LabelEmbedding, other: LabelEmbedding) -> float:
    """Root mean square difference of the cosines of pairs of labels."""
    labels = list(one.labels)
    if len(labels) > MOST_COMPARED:
        rng = np.random.default_rng(0)
        labels = rng.choice(labels, MOST_COMPARED, replace=False).tolist()
    units = [x.select(labels).unit_vectors.astype(float) for x in (one, other)]
    first, second = (unit @ unit.T for unit in units)
    return float(np.sqrt(np.mean((first - second) ** 2)))


def cold_at(model: PHCLE, contexts: list[Context]) -> PHCLE:
    """A fit from scratch at the settings that another model has chosen."""
    setting = model.chosen_.setting
    roles = dict(setting.roles)
    placed = [x.changed(role=roles[x.name]) if x.name in roles else x for x in contexts]
    return PHCLE(
        choose=False,
        completion="none",
        dim=setting.dim,
        shrinkage=setting.shrinkage.get("table", 0.2),
    ).fit(placed)


def refit(options: argparse.Namespace) -> None:
    """Fits from scratch beside those that start from an earlier embedding.

    The earlier embedding knows the data without 5 % of the labels, without one column,
    or with 1 % wrong values. Seconds are CPU seconds of fits that predict no gaps. The
    objective and the cosines of all pairs of labels are compared with a fit from
    scratch at the settings of the refit.
    """
    print(f"matrix product: {yardstick():.0f} GFLOP/s")
    titles = "data change scratch refit ratio sweeps objective cosines score score"
    print_head(*titles.split(), texts=2)
    for name in options.labels:
        for title, before, early, now, score in planted_changes(name):
            model = PHCLE(completion="none")
            earlier = model.fit(before, labels=early).embedding_
            cold, warm = PHCLE(completion="none"), PHCLE(completion="none")
            began = time.process_time()
            cold.fit(now)
            middle = time.process_time()
            warm.fit(now, warm_start=earlier)
            seconds = middle - began, time.process_time() - middle
            usual = cold_at(warm, now)
            gap = warm.history_[-1]["gap"] / usual.history_[-1]["gap"] - 1
            far = cosine_difference(warm.embedding_, usual.embedding_)
            n_cold, n_warm = (len(x.history_) - 1 for x in (usual, warm))
            print_row(
                *(name, title, *(f"{x:.2f} s" for x in seconds)),
                *(f"{seconds[1] / seconds[0]:.2f}", f"{n_cold} → {n_warm}"),
                *(f"{gap:+.1e}", f"{far:.3f}"),
                *(score(x.embedding_) for x in (cold, warm)),
            )


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for, and write it down."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(required=True)

    def command(run: Callable[..., Any], **numbers: int) -> argparse.ArgumentParser:
        own = commands.add_parser(run.__name__, help=(run.__doc__ or "").split("\n")[0])
        own.set_defaults(run=run)
        own.add_argument("--json", type=Path, metavar="FILE")
        own.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
        for name, default in numbers.items():
            own.add_argument(f"--{name}", type=int, default=default)
        return own

    own = command(stages, labels=10_000, nonzeros=50, dim=128, repeat=1)
    own.add_argument("--data", default="random")
    own.add_argument("--mode", default="auto")
    own.add_argument("--choose", action="store_true", help="choose settings, too")
    own.add_argument("--mixed", action="store_true", help="precision='mixed'")
    own = command(completion, labels=3_000)
    own.add_argument("--completion", default="full")
    own = command(refit)
    own.add_argument("labels", type=int, nargs="+")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        report = options.run(options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
