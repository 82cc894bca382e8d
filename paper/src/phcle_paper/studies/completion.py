"""Attribute completion: the attributes of some labels are hidden and predicted.

Whole labels are hidden. PHCLE predicts their attributes from their place in WordNet and
from sentence vectors of their glosses. Its rivals are the mean of each attribute, the
nearest relative in the hierarchy whose attributes are known, a ridge regression from
the sentence vectors, one from all contexts side by side, and rivals for single cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.contexts import DescriptiveContext
from phcle.datasets import WORDNET_FOLDER, WordNetNouns, load_wordnet_nouns
from phcle.errors import check_choice
from phcle.tuning.completion import (
    CompletionTask,
    Floats,
    Rows,
    draw,
    predict_without,
    scores,
)
from phcle.uses.zero_shot import corrected_error
from phcle_paper.parallel import in_parallel
from phcle_paper.studies.cell_rivals import RIVALS as CELL_RIVALS
from phcle_paper.studies.completion_readings import CHOSEN, READINGS, choose, readings
from phcle_paper.studies.completion_rivals import rivals
from phcle_paper.studies.noun_contexts import (
    ATTRIBUTES,
    attributes_with_sentences,
    noun_hierarchy,
)
from phcle_paper.studies.whole_label_rivals import cell_rivals
from phcle_paper.tables.saved_results import SavedResults, digest_of, digest_of_context

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = [
    "COLUMNS",
    "NEEDS",
    "Row",
    "Settings",
    "chosen_rivals",
    "findings",
    "run",
    "score_split",
    "scored",
    "splits",
    "summaries",
]

NEEDS = ("awa", "lad", WORDNET_FOLDER)

Row = dict[str, Any]
DEFAULT = "PHCLE, default options"
SCORES = {"r2": "R²", "auc": "AUC"}
COLUMNS = {
    "dataset": ("data",),
    "method": ("method",),
    "r2": ("R²", ".3f", "r2_error"),
    "auc": ("AUC", ".3f", "auc_error"),
    "r2_lead": ("lead in R²", "+.3f", "r2_lead_error"),
    "r2_ahead": ("splits ahead",),
    "auc_lead": ("lead in AUC", "+.3f", "auc_lead_error"),
    "auc_ahead": ("splits ahead",),
}


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    datasets: Sequence[str]
    share: float
    n_splits: int
    split_seed: int
    n_validations: int
    reference: str
    rivals: Sequence[str]  # of those for single cells, see `cell_rivals`
    shared: Mapping[str, Any]
    options: Sequence[Mapping[str, Any]]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: every method on every data set, and PHCLE's lead over it."""
    check_choice("reference", settings.reference, (*READINGS, CHOSEN))
    if request.quick:
        few = settings.options[:2]
        settings = replace(settings, n_splits=2, n_validations=1, options=few)
    settings = replace(settings, rivals=chosen_rivals(settings.rivals, request))
    nouns = load_wordnet_nouns()
    notes: dict[str, None] = {}
    rows: list[Row] = []
    tasks: dict[str, CompletionTask] = {}
    for name in settings.datasets:
        check_choice("a data set", name, ATTRIBUTES)
        tasks[name], note = _task(name, nouns, request)
        notes[note] = None
    for name, task in tasks.items():
        found = _scored(name, task, settings, request)
        rows += summaries(
            {"dataset": name, "labels": len(task.labels)},
            found,
            share=settings.share,
            reference=settings.reference,
        )
    return _table(settings, tasks, rows, list(notes))


def chosen_rivals(rivals: Sequence[str], request: Request) -> list[str]:
    """Rivals for single cells that this run asks for."""
    if request.quick:
        return []
    for method in request.methods:
        check_choice("a method", method, CELL_RIVALS)
    return list(request.methods or rivals)


def score_split(
    task: CompletionTask,
    settings: Settings,
    known: Rows,
    hidden: Rows,
    by_neighbours: bool = False,
) -> list[Row]:
    """Scores of every method in one split, with the options chosen for PHCLE."""
    choices = choose(
        task,
        known,
        [{**settings.shared, **own} for own in settings.options],
        share=settings.share,
        n_validations=settings.n_validations,
        seed=settings.split_seed,
    )
    found: list[Row] = []
    for method, options, predicted in readings(task, known, hidden, choices):
        found.append(_score(task, known, hidden, method, predicted))
        found[-1]["options"] = dict(options)
    _, predicted = predict_without(task, known, hidden, {})
    found.append(_score(task, known, hidden, DEFAULT, predicted))
    for method, predicted in rivals(task, known, hidden, by_neighbours=by_neighbours):
        found.append(_score(task, known, hidden, method, predicted))
    for method, predicted in cell_rivals(
        task, hidden, settings.rivals, settings.split_seed
    ):
        found.append(_score(task, known, hidden, method, predicted))
    return found


def _score(
    task: CompletionTask, known: Rows, hidden: Rows, method: str, predicted: Floats
) -> Row:
    r2, auc = scores(task.values, known, hidden, predicted)
    return {"method": method, "r2": r2, "auc": auc}


def _task(
    name: str, nouns: WordNetNouns, request: Request
) -> tuple[CompletionTask, str]:
    """Attributes of a data set under wnids, with hierarchy and sentence vectors."""
    attributes, sentences, note = attributes_with_sentences(
        name, nouns, request.data, request.sentences
    )
    hierarchy = noun_hierarchy(nouns, attributes.labels)
    return CompletionTask(attributes, (hierarchy, sentences)), note


def _scored(
    name: str, task: CompletionTask, settings: Settings, request: Request
) -> list[list[Row]]:
    """Rows of all splits; saved ones are read, the others computed."""
    # More splits leave the first ones unchanged, so their rows stay valid.
    same = asdict(replace(settings, n_splits=0, datasets=[name], reference=""))
    described = [c for c in task.others if isinstance(c, DescriptiveContext)]
    numbers = [digest_of_context(c) for c in (task.attributes, *described)]
    drawn = splits(
        len(task.labels), settings.share, settings.n_splits, settings.split_seed
    )
    calls = [(task, settings, known, hidden) for known, hidden in drawn]
    return scored(
        f"completion-{name.lower()}", score_split, calls, [same, numbers], request
    )


def splits(
    n_labels: int, share: float, n_splits: int, seed: int
) -> Iterator[tuple[Rows, Rows]]:
    """Random known and hidden labels; more splits leave the first ones unchanged."""
    rng = np.random.default_rng(seed)
    for _ in range(n_splits):
        yield draw(np.arange(n_labels), share, rng)


def scored(
    name: str,
    score: Callable[..., list[Row]],
    calls: Sequence[tuple[Any, ...]],
    depends_on: Any,
    request: Request,
) -> list[list[Row]]:
    """Rows of all calls; saved ones are read, the others computed."""
    kept = SavedResults(request.out / f"{name}.cells.jsonl", digest_of(depends_on))
    left = [n for n in range(len(calls)) if str(n) not in kept.cells]
    work = in_parallel(score, [calls[n] for n in left], request.jobs)
    for done, (i, rows) in enumerate(work, 1):
        kept.add(str(left[i]), rows)
        request.tell(f"{name}: {done} of {len(left)} splits")
    return [kept.cells[str(n)] for n in range(len(calls))]


def summaries(
    about: Row, found: Sequence[Sequence[Row]], *, share: float, reference: str
) -> Iterator[Row]:
    """Mean of every method over the splits, and the reference's lead over it."""
    ratio = share / (1 - share)
    methods = [row["method"] for row in found[0]]
    for method in methods:
        summary: Row = {**about, "method": method}
        for score in SCORES:
            own, ahead = (
                np.array([_of(rows, x)[score] for rows in found])
                for x in (method, reference)
            )
            lead = ahead - own
            summary[score] = float(own.mean())
            summary[f"{score}_error"] = _or_none(corrected_error(own, ratio))
            if method != reference:
                summary[f"{score}_lead"] = float(lead.mean())
                summary[f"{score}_lead_error"] = _or_none(corrected_error(lead, ratio))
                summary[f"{score}_ahead"] = int((lead > 0).sum())
        yield summary


def _of(rows: Sequence[Row], method: str) -> Row:
    return next(row for row in rows if row["method"] == method)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _table(
    settings: Settings,
    tasks: Mapping[str, CompletionTask],
    rows: list[Row],
    notes: Sequence[str],
) -> dict[str, Any]:
    """The table with its titles and findings."""
    sizes = ", ".join(
        f"{name} {len(task.labels)} labels and {len(task.attributes.columns)} "
        "attributes"
        for name, task in tasks.items()
    )
    return {
        "title": "Attributes of labels that were hidden",
        "dataset": ", ".join(tasks),
        "lead": [
            f"All attributes of {settings.share:.0%} of the labels are hidden and "
            f"predicted, {settings.n_splits} times ({sizes}): R² over all hidden "
            "values, mean AUC over attributes, ± corrected standard error, and the "
            f"lead of “{settings.reference}”:"
        ],
        "columns": COLUMNS,
        "rows": rows,
        "findings": [
            finding
            for name in tasks
            for finding in findings(name, rows, settings.reference)
        ],
        "caveats": [
            "options, the stretch and the reading of PHCLE are chosen on validation "
            "labels among the known ones of each split",
            "hidden labels keep their place in the hierarchy and their sentence "
            "vectors, for every method",
            *notes,
        ],
    }


def findings(name: str, rows: Sequence[Row], reference: str) -> Iterator[str]:
    """Which methods the reference beats, by each score."""
    rival = [x for x in rows if x["dataset"] == name and "PHCLE" not in x["method"]]
    for score, title in SCORES.items():
        behind = [x for x in rival if x[f"{score}_lead"] > 0]
        ahead = [x for x in rival if x[f"{score}_lead"] <= 0]
        text = f"{name}, {title}: {reference} is ahead of {len(behind)} of "
        text += f"{len(rival)} rivals"
        for row in ahead:
            text += (
                f"; {row['method']} is **ahead of it** by {-row[f'{score}_lead']:.3f}"
            )
        close = [
            x["method"]
            for x in rival
            if abs(x[f"{score}_lead"]) < 2 * (x[f"{score}_lead_error"] or 0.0)
        ]
        if close:
            text += f"; not clear of chance against {', '.join(close)}"
        yield text
