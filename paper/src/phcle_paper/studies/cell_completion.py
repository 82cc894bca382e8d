"""Completion of single cells: some cells of a table are hidden and predicted.

The other cells of a label stay known, and so do the groups above it. The rivals see the
same and choose their settings on inner hidden cells. PHCLE has default options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import phcle
from phcle.errors import OptionError, check_choice
from phcle.uses.zero_shot import corrected_error
from phcle_paper.parallel import in_parallel
from phcle_paper.studies.cell_rivals import RIVALS
from phcle_paper.studies.cell_tasks import CellTask, cell_task, complete
from phcle_paper.tables.saved_results import SavedResults, digest_of

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["METHODS", "NEEDS", "Settings", "run", "score_cells"]

Row = dict[str, Any]

NEEDS: Mapping[str, tuple[str, ...]] = {
    "pantheria": ("pantheria",),
    "grambank": ("grambank",),
}
"""Folders of data by study."""

PHCLE = "phcle"
METHODS = {PHCLE: "PHCLE", **{key: title for key, (title, _) in RIVALS.items()}}
"""Titles of all methods."""

TITLES = {"r2": "R²", "accuracy": "accuracy"}


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
    found = _scored(settings, methods, request)
    task = _task(settings.dataset, request.data, settings.split_seed)
    share = float(task.hidden.sum() / task.table.known.sum())
    rows = list(_summaries(methods, found, share))
    scores = list(found[0][methods[0]]["scores"])
    return _table(settings, task, share, scores, rows)


def score_cells(dataset: str, data: Path, seed: int, method: str) -> list[Row]:
    """Scores of one method for the cells that one seed hides."""
    task = _task(dataset, data, seed)
    start = perf_counter()
    if method == PHCLE:
        predicted = complete(task)
    else:
        predicted = RIVALS[method][1](task, np.random.default_rng(seed))
    seconds = perf_counter() - start
    return [{"scores": task.scores(predicted), "seconds": seconds}]


@lru_cache(maxsize=1)
def _task(dataset: str, data: Path, seed: int) -> CellTask:
    """The task, kept for the next method."""
    return cell_task(dataset, data, seed)


def _scored(
    settings: Settings, methods: Sequence[str], request: Request
) -> list[dict[str, Row]]:
    """Rows of all draws by method; saved ones are read, the others computed."""
    name = settings.dataset
    mark = digest_of([name, _task(name, request.data, settings.split_seed).digest])
    kept = SavedResults(request.out / f"cells-{name}.cells.jsonl", mark)
    seeds = [settings.split_seed + n for n in range(settings.n_splits)]
    cells = {
        f"{seed} {method}" + (f" {_code()}" if method == PHCLE else ""): (seed, method)
        for seed in seeds
        for method in methods
    }
    left = [cell for cell in cells if cell not in kept.cells]
    calls = [(name, request.data, *cells[cell]) for cell in left]
    for done, (i, rows) in enumerate(in_parallel(score_cells, calls, request.jobs), 1):
        kept.add(left[i], rows)
        seed, method = cells[left[i]]
        request.tell(
            f"{done} of {len(left)}: {METHODS[method]}, draw {seed}: "
            f"{rows[0]['scores']} in {rows[0]['seconds']:.0f} s"
        )
    found: list[dict[str, Row]] = [{} for _ in seeds]
    for cell, (seed, method) in cells.items():
        found[seeds.index(seed)][method] = kept.cells[cell][0]
    return found


@lru_cache
def _code() -> str:
    """A fingerprint of phcle's code: results of another model are not reused."""
    digest = sha256()
    for path in sorted(Path(phcle.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _summaries(
    methods: Sequence[str], found: Sequence[Mapping[str, Row]], share: float
) -> Iterator[Row]:
    """Mean of every method over the draws, and PHCLE's lead over it."""
    ratio = share / (1 - share)
    for method in methods:
        summary: Row = {"method": METHODS[method]}
        summary["seconds"] = float(np.mean([x[method]["seconds"] for x in found]))
        for score in found[0][method]["scores"]:
            own = np.array([x[method]["scores"][score] for x in found])
            summary[score] = float(own.mean())
            summary[f"{score}_error"] = _or_none(corrected_error(own, ratio))
            if method != PHCLE and PHCLE in methods:
                ahead = np.array([x[PHCLE]["scores"][score] for x in found]) - own
                summary[f"{score}_lead"] = float(ahead.mean())
                summary[f"{score}_lead_error"] = _or_none(corrected_error(ahead, ratio))
        yield summary


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _table(
    settings: Settings,
    task: CellTask,
    share: float,
    scores: Sequence[str],
    rows: Sequence[Row],
) -> dict[str, Any]:
    """The table with its titles and findings."""
    columns: dict[str, Any] = {"method": ("method",)}
    for score in scores:
        title = TITLES[score]
        columns[score] = (title, ".3f", f"{score}_error")
        columns[f"{score}_lead"] = (
            f"lead of PHCLE in {title}",
            "+.3f",
            f"{score}_lead_error",
        )
    columns["seconds"] = ("seconds", ".0f")
    return {
        "title": settings.title,
        "dataset": settings.dataset,
        "lead": [
            f"{len(task.table.labels):,} labels, {len(task.table.fields)} fields; "
            f"{share:.0%} of the known cells are hidden in each of {settings.n_splits} "
            "draws. "
            "± is the corrected standard error over draws:"
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
        f"{TITLES[score]}: PHCLE {place}; {best['method']} is "
        f"{abs(lead):.3f} {'behind' if lead > 0 else 'ahead'}"
    )
