"""Run an experiment cell by cell: one split, one classifier, one embedding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from phcle.errors import FileError
from phcle.files import make_folder
from phcle.images import ZeroShotTask, resplits
from phcle_paper.tables.comparison import accuracy_table, statistics_table
from phcle_paper.tables.embeddings import available, make_embeddings
from phcle_paper.tables.image_benchmarks import ImageBenchmark, load_benchmark, thinned
from phcle_paper.tables.paired_splits import evaluate_variants
from phcle_paper.tables.rendering import write_table
from phcle_paper.tables.saved_results import SavedResults, fingerprint
from phcle_paper.tables.settings import Experiment

__all__ = ["reproduce", "run_cells"]

Tell = Callable[[str], None]
Row = dict[str, Any]


def reproduce(
    experiment: Experiment,
    data: str | Path,
    out: str | Path,
    *,
    command: str = "",
    jobs: int = 1,
    tell: Tell = lambda message: None,
) -> dict[str, Any]:
    """Make one table of one data set, write it to `out`, and return it.

    Parameters
    ----------
    experiment
        From `load_shipped` or `load_config`.
    data
        The folder that holds `xlsa17/AWA1`, `awa` and `tiny-imagenet`.
    out
        The folder for `NAME.md`, `NAME.csv`, `NAME.json` and the finished cells,
        `NAME.cells.jsonl`; run again, an interrupted experiment goes on from there.
    command
        What the user typed; it is written into the table.
    jobs
        How many processes work on cells side by side.
    tell
        Called with a line of text whenever there is news.
    """
    data, out = Path(data), Path(out)
    if not data.is_dir():
        raise FileError(f"{data}: no such folder of data.")
    make_folder(out)
    if experiment.table == "table1":
        table = statistics_table(experiment, data)
    else:
        benchmark = load_benchmark(
            experiment.dataset,
            data,
            features=experiment.features,
        )
        experiment, notes = available(experiment, benchmark)
        rows = run_cells(experiment, benchmark, out, tell, jobs)
        table = accuracy_table(experiment, rows, [*benchmark.notes, *notes])
    table["command"] = command
    write_table(table, out / experiment.name)
    return table


def run_cells(
    experiment: Experiment,
    benchmark: ImageBenchmark,
    out: Path,
    tell: Tell,
    jobs: int = 1,
) -> list[Row]:
    """Rows of all cells; saved ones are read, the others computed."""
    mark = fingerprint(experiment, benchmark.digest)
    kept = SavedResults(out / f"{experiment.name}.cells.jsonl", mark)
    if kept.changed:
        tell("settings or data have changed: earlier results are dropped")
    wanted = {
        f"{task.name}/{task.split}/{classifier}/{plan.name}": (
            task,
            classifier,
            plan.name,
        )
        for task in _tasks(experiment, benchmark)
        for classifier in experiment.classifiers
        for plan in experiment.embeddings
    }
    left = kept.unfinished(wanted, tell)
    embeddings = make_embeddings(experiment, benchmark, tell) if left else {}
    calls = {
        cell: (experiment, {name: embeddings[name]}, task, classifier)
        for cell, (task, classifier, name) in left.items()
    }
    kept.compute(_evaluate, calls, jobs, tell)
    return [row for cell in wanted for row in kept.cells[cell]]


def _tasks(experiment: Experiment, benchmark: ImageBenchmark) -> list[ZeroShotTask]:
    """The paper's split and random splits, each with its number of images."""
    plan = experiment.splits
    paper = thinned(benchmark.task, plan.images_per_class_paper, plan.split_seed)
    random = thinned(benchmark.task, plan.images_per_class, plan.split_seed)
    drawn = (
        resplits(
            replace(random, name="random"), plan.random, plan.n_unseen, plan.split_seed
        )
        if plan.random
        else []
    )
    return [replace(paper, name="paper"), *drawn]


def _evaluate(
    experiment: Experiment, embeddings: Any, task: ZeroShotTask, classifier: str
) -> list[Row]:
    plan = experiment.splits
    with warnings.catch_warnings():
        # A logistic regression that stops early is as good for ranking options.
        warnings.filterwarnings("ignore", module="sklearn")
        frame = evaluate_variants(
            embeddings,
            {classifier: experiment.searches[classifier]},
            task,
            seeds=plan.seeds,
            generalised=experiment.generalised,
            n_validation=plan.n_validation,
            validation_share=plan.validation_share,
        )
    return [
        {str(key): value for key, value in row.items()}
        for row in frame.to_dict("records")
    ]
