"""Completion of single cells: some cells of a table are hidden and predicted.

The other cells of a label stay known, and so do the groups above it. The rivals see the
same and choose their settings on inner hidden cells. PHCLE has default options.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import phcle
from phcle.contexts.readers.delimited import read_lines
from phcle.errors import OptionError, check_choice
from phcle_paper.context_values import Floats
from phcle_paper.studies.cell_rivals import RIVALS
from phcle_paper.studies.cell_tasks import (
    TASKS,
    CellTask,
    cell_task,
    complete,
    score_of,
)
from phcle_paper.tables.paired_splits import corrected_error
from phcle_paper.tables.saved_results import SavedResults, digest_of

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["METHODS", "NEEDS", "Settings", "code_digest", "run", "score_cells"]

Row = dict[str, Any]

NEEDS: Mapping[str, tuple[str, ...]] = {
    "pantheria": ("pantheria",),
    "grambank": ("grambank",),
    "sigtyp": ("sigtyp2020",),
    "debian-facets": ("debian",),
}
"""Folders of data by study."""

PHCLE = "phcle"
METHODS = {PHCLE: "PHCLE", **{key: title for key, (title, _) in RIVALS.items()}}
"""Titles of all methods."""

TITLES = {"r2": "R²", "auc": "AUC"}
TEST = "test"
"""The split of a shared task whose every scoring is recorded."""


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    dataset: str
    title: str
    n_splits: int
    split_seed: int
    methods: Sequence[str]
    caveats: Sequence[str]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: every method, and PHCLE's lead over it."""
    if request.quick:
        settings = replace(settings, n_splits=1, methods=[PHCLE, "mean", "family"])
    methods = list(request.methods or settings.methods)
    for method in methods:
        check_choice("a method", method, METHODS)
    if settings.n_splits < 1:
        raise OptionError(f"n_splits must be 1 or more. Got {settings.n_splits!r}.")
    caveats = list(settings.caveats)
    if request.split == TEST:
        name = f"{settings.dataset}-{TEST}"
        check_choice("a data set with a test split", name, TASKS)
        settings = replace(settings, dataset=name, n_splits=1)
    found = _scored(settings, methods, request)
    if request.split == TEST:
        caveats.append(_count(_log(settings, request)))
    task = _task(settings.dataset, request.data, settings.split_seed)
    share = None
    if task.scored_by == "cells":
        share = float(task.hidden.sum() / task.table.known.sum())
    scores = list(found[0][methods[0]]["scores"])
    rows = list(_summaries(methods, found, share))
    return _table(replace(settings, caveats=caveats), task, share, scores, rows)


def score_cells(
    dataset: str, data: Path, seed: int, method: str, log: Path | None = None
) -> list[Row]:
    """Scores of one method for the cells that one seed hides; a log lists them."""
    task = _task(dataset, data, seed)
    start = perf_counter()
    if method == PHCLE:
        predicted = complete(task)
    else:
        predicted = RIVALS[method][1](task, np.random.default_rng(seed))
    row: Row = {"seconds": perf_counter() - start, "scores": task.scores(predicted)}
    if task.scored_by != "cells":
        parts = task.parts(predicted)
        row["parts"] = {x: [y.tolist() for y in own] for x, own in parts.items()}
    if log is not None:
        _record(log, method, row["scores"])
    return [row]


@lru_cache(maxsize=1)
def _task(dataset: str, data: Path, seed: int) -> CellTask:
    """The task, kept for the next method."""
    return cell_task(dataset, data, seed)


def _scored(
    settings: Settings, methods: Sequence[str], request: Request
) -> list[dict[str, Row]]:
    """Rows of all draws by method; saved ones are read, the others computed."""
    name = settings.dataset
    log = _log(settings, request) if request.split == TEST else None
    mark = digest_of([name, _task(name, request.data, settings.split_seed).digest])
    kept = SavedResults(request.out / f"cells-{name}.cells.jsonl", mark)
    seeds = [settings.split_seed + n for n in range(settings.n_splits)]
    marks = {
        method: f" {code_digest()}" if method == PHCLE else "" for method in methods
    }
    calls = {
        f"{seed} {method}{marks[method]}": (name, request.data, seed, method, log)
        for seed in seeds
        for method in methods
    }
    left = kept.unfinished(calls, request.tell)
    kept.compute(score_cells, left, request.jobs, request.tell)
    return [
        {x: kept.cells[f"{seed} {x}{marks[x]}"][0] for x in methods} for seed in seeds
    ]


@lru_cache
def code_digest() -> str:
    """A fingerprint of phcle's code: results of another model are not reused."""
    digest = sha256()
    for path in sorted(Path(phcle.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _log(settings: Settings, request: Request) -> Path:
    """The file that lists every scoring of a test split."""
    return request.out / f"{settings.dataset}.scorings.jsonl"


def _record(log: Path, method: str, scores: Mapping[str, float]) -> None:
    """Add a scoring of the test split to the log; nothing removes it."""
    entry = {"method": method, "code": code_digest(), "scores": dict(scores)}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _count(log: Path) -> str:
    """How often the test split was scored, in words."""
    entries = [json.loads(line) for line in read_lines(log)] if log.exists() else []
    own = sum(entry["method"] == PHCLE for entry in entries)
    return (
        f"the test was scored {len(entries)} times, {own} of them by PHCLE ({log.name})"
    )


def _summaries(
    methods: Sequence[str], found: Sequence[Mapping[str, Row]], share: float | None
) -> Iterator[Row]:
    """Every method's scores over all draws, and PHCLE's lead over it, with errors.

    With the share of hidden cells, errors are over draws; without, clustered by label.
    """

    def estimate(method: str, score: str) -> tuple[float, Floats]:
        """A score, and its values by draw or how much each label moves it."""
        if share is None:
            parts = [x[method]["parts"][score] for x in found]
            return score_of(*np.sum(parts, axis=0))
        values = np.array([x[method]["scores"][score] for x in found])
        return float(values.mean()), values

    def error(own: Floats) -> float | None:
        if share is None:
            return float(np.linalg.norm(own))
        value = corrected_error(own, share / (1 - share))
        return None if np.isnan(value) else value

    for method in methods:
        summary: Row = {"method": METHODS[method]}
        for score in found[0][method]["scores"]:
            value, own = estimate(method, score)
            summary |= {score: value, f"{score}_error": error(own)}
            if method != PHCLE and PHCLE in methods:
                best, ahead = estimate(PHCLE, score)
                summary[f"{score}_lead"] = best - value
                summary[f"{score}_lead_error"] = error(ahead - own)
        summary["seconds"] = float(np.mean([x[method]["seconds"] for x in found]))
        yield summary


def _table(
    settings: Settings,
    task: CellTask,
    share: float | None,
    scores: Sequence[str],
    rows: Sequence[Row],
) -> dict[str, Any]:
    """The table with its titles and findings."""
    columns: dict[str, Any] = {"method": ("method",)}
    for score in scores:
        columns[score] = (TITLES.get(score, score), ".3f", f"{score}_error")
        columns[f"{score}_lead"] = ("PHCLE ahead", "+.3f", f"{score}_lead_error")
    columns["seconds"] = ("seconds", ".0f")
    how = (
        "± is the standard error, clustered by label"
        if share is None
        else "± is the corrected standard error over draws"
    )
    return {
        "table": settings.dataset,
        "title": settings.title,
        "dataset": settings.dataset,
        "lead": [
            f"{len(task.table.labels):,} labels, {len(task.table.fields)} fields; "
            f"{int(task.hidden.sum()):,} cells are hidden beside "
            f"{int((task.table.known & ~task.hidden).sum()):,} known ones. "
            f"Draws: {settings.n_splits}; {how}:"
        ],
        "columns": columns,
        "rows": list(rows),
        "findings": [x for score in scores for x in _findings(rows, score)],
        "caveats": [
            "PHCLE has default options; settings of the rivals are chosen on inner "
            "hidden cells",
            *settings.caveats,
        ],
    }


def _findings(rows: Sequence[Row], score: str) -> Iterator[str]:
    """Whether PHCLE is first by a score."""
    rivals = [row for row in rows if f"{score}_lead" in row]
    if not rivals:
        return
    best = min(rivals, key=lambda row: row[f"{score}_lead"])
    lead = best[f"{score}_lead"]
    place = "is first" if lead > 0 else "**is not first**"
    yield (
        f"{TITLES.get(score, score)}: PHCLE {place}; {best['method']} is "
        f"{abs(lead):.3f} {'behind' if lead > 0 else 'ahead'}"
    )
