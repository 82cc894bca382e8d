"""How far the confidences and intervals of predicted cells can be trusted.

Cells of real tables are hidden, and PHCLE predicts them: single cells of labels that
are otherwise known, and all cells of some labels. What it said is compared with the
truth. It learned its confidences from hidden cells of its own, and saw none of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from phcle.errors import check_choice
from phcle_paper.datasets import WORDNET_FOLDER
from phcle_paper.studies.cell_completion import code_digest
from phcle_paper.studies.cell_tasks import TASKS
from phcle_paper.studies.confidence_trials import (
    ALLOWED,
    CELLS,
    FEWEST,
    LABELS,
    coverage,
    reliability,
    run_trial,
)
from phcle_paper.tables.saved_results import SavedResults, digest_of

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "run"]

TABLES = ("sigtyp2020", "grambank", "lad", "debian", "pantheria", "awa")
NEEDS = (*TABLES, WORDNET_FOLDER)

Row = dict[str, Any]

TITLES = {
    "sigtyp": "SIGTYP (development)",
    "grambank": "Grambank",
    "lad": "LAD",
    "debian-facets": "Debian",
    "pantheria": "PanTHERIA",
    "awa": "AWA",
}
TYPES = {
    "category": "categories",
    "truth": "yes or no",
    "tag": "tags",
    "number": "numbers",
}
HIDDEN = {CELLS: "single cells", LABELS: "whole labels"}
COVERED = 0.8
"""Share of the truths that an interval should hold."""


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    datasets: Sequence[str]
    share: float
    seed: int
    n_splits: Mapping[str, int] | int  # by data set, or of every one


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: how far said and true shares lie apart, and what intervals hold."""
    if request.quick:
        settings = replace(settings, n_splits=1)
    for dataset in settings.datasets:
        check_choice("a data set", dataset, TASKS)
    found = _tried(settings, request)
    rows = [
        _row(dataset, hides, kind, trials)
        for (dataset, hides), by_type in found.items()
        for kind, trials in by_type.items()
    ]
    return {
        "title": "Confidence of predicted cells against the truth",
        "dataset": ", ".join(TITLES.get(x, x) for x in settings.datasets),
        "lead": [
            "Cells are hidden, and predicted by PHCLE with default options. ECE is the "
            "mean distance between what is said and what is true, over bins of the "
            f"probability; a bin may be off by {100 * ALLOWED:.0f} points and two "
            "standard errors, clustered by label. Intervals should hold "
            f"{COVERED:.0%} of the numbers:"
        ],
        "columns": {
            "dataset": ("data",),
            "type": ("type",),
            "hidden": ("hidden",),
            "n_cells": ("cells", ","),
            "ece": ("ECE", ".1%"),
            "worst_gap": ("worst bin", "+.1%"),
            "worst_allowed": ("allowed", ".1%"),
            "outside": ("bins outside",),
            "coverage": ("coverage", ".1%", "coverage_error"),
            "width": ("width", ".2f"),
        },
        "rows": rows,
        "caveats": [
            "said and true: the probability of the value shown and whether it is right "
            "(categories), or the probability of a yes, a tag or a number above its "
            "mean and whether it is so",
            "worst bin: the one that is farthest beyond what is allowed, or nearest to "
            f"it, of those with {FEWEST} cells or more; + if more is true than was "
            "said",
            "width: median width of the intervals, where 1 is the interval from the "
            "10 % to the 90 % quantile of the column",
            f"whole labels: all cells of {settings.share:.0%} of the labels, or of the "
            "development languages of SIGTYP; its test is never read",
        ],
    }


def _tried(
    settings: Settings, request: Request
) -> dict[tuple[str, str], dict[str, list[Row]]]:
    """Sums by data set, what is hidden, and type; saved ones are read."""
    mark = digest_of(settings.share)
    kept = SavedResults(request.out / "confidence.cells.jsonl", mark)
    cells = {
        f"{dataset} {hides} {seed} {code_digest()}": (dataset, hides, seed)
        for dataset in settings.datasets
        for hides in HIDDEN
        for seed in _seeds(settings, dataset)
    }
    calls = {
        cell: (dataset, hides, request.data, seed, settings.share)
        for cell, (dataset, hides, seed) in cells.items()
    }
    left = kept.unfinished(calls, request.tell)
    kept.compute(run_trial, left, request.jobs, request.tell)
    found: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for cell, (dataset, hides, _) in cells.items():
        for row in kept.cells[cell]:
            by_type = found.setdefault((dataset, hides), {})
            by_type.setdefault(row["type"], []).append(row)
    return found


def _seeds(settings: Settings, dataset: str) -> list[int]:
    n = settings.n_splits
    n = n if isinstance(n, int) else n.get(dataset, 1)
    return [settings.seed + i for i in range(n)]


def _row(dataset: str, hides: str, kind: str, trials: Sequence[Row]) -> Row:
    """One row of the table, with its bins."""
    bins = reliability(trials)
    n = sum(x["n_cells"] for x in bins)
    # With few cells anywhere, all bins are compared.
    judged = [x for x in bins if x["n_cells"] >= FEWEST] or bins
    worst = max(judged, key=lambda x: abs(x["gap"]) - x["allowed"])
    return {
        "dataset": TITLES.get(dataset, dataset),
        "type": TYPES[kind],
        "hidden": HIDDEN[hides],
        "n_cells": n,
        "ece": sum(x["n_cells"] * abs(x["gap"]) for x in bins) / n,
        "worst_gap": worst["gap"],
        "worst_allowed": worst["allowed"],
        "outside": sum(map(_is_outside, bins)),
        **coverage(trials),
        "bins": bins,
    }


def _is_outside(each: Row) -> bool:
    return bool(abs(each["gap"]) > each["allowed"] and each["n_cells"] >= FEWEST)
