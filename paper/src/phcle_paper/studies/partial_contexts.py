"""What a partial context does to the labels that it does not describe.

A description of a few dozen labels is added to contexts of all labels. Zero-shot
accuracies are compared with those without it: over all classes, the described ones, and
the others. Drift is how much closer labels of one group (described or not) are
to each other than to the other group, compared with the base alone.

Another seed changes the accuracy by as much as a small context does, so accuracies are
means over several seeds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle import PHCLE
from phcle.contexts import Context, DescriptiveContext
from phcle.embedding import LabelEmbedding
from phcle.errors import ConvergenceWarning, check_choice
from phcle.optional_imports import import_optional
from phcle.uses.zero_shot import (
    ZeroShotTask,
    corrected_error,
    evaluate,
    resplits,
)
from phcle_paper.datasets import (
    load_awa,
    load_imnet_attributes,
    load_lad,
    match_lad,
    match_wnids,
)
from phcle_paper.datasets.paper_splits import AWA_CORRECTED
from phcle_paper.parallel import in_parallel
from phcle_paper.tables.image_benchmarks import ImageBenchmark, load_benchmark
from phcle_paper.tables.saved_results import SavedResults, digest_of

if TYPE_CHECKING:
    import pandas as pd

    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "awa_of_imagenet", "run"]

NEEDS = ("tiny-imagenet", "awa", "lad", "imnet-attributes")

BASES = ("hierarchy", "hierarchy + sentences")
HALF = "half of the sentences"
GROUPS = ("all", "known", "unknown")
"""Classes by whether the description knows them."""
NOTHING = ""
"""The description of a base alone."""


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    classifiers: Sequence[str]
    bases: Sequence[str]
    partial: Sequence[str]
    fit_seeds: int
    random: int
    n_unseen: int
    split_seed: int
    n_validation: int
    options: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Addition:
    """A base, the description added to it, and options of PHCLE by their name."""

    base: str
    partial: str
    options: str


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: every addition and its gain over the base alone."""
    if request.quick:
        settings = replace(settings, fit_seeds=1, random=2, classifiers=["eszsl"])
    benchmark = load_benchmark(
        "tiny-imagenet", request.data, sentences=request.sentences
    )
    described = _descriptions(settings, benchmark, request.data)
    additions = list(_additions(settings))
    mark = digest_of([asdict(settings), benchmark.digest])
    kept = SavedResults(request.out / "partial.cells.jsonl", mark)
    tasks = resplits(
        benchmark.task, settings.random, settings.n_unseen, settings.split_seed
    )
    left = [task for task in tasks if str(task.split) not in kept.cells]
    request.tell(
        f"fitting {len(additions)} embeddings, {settings.fit_seeds} times each"
    )
    embeddings = {
        f"{number}/{seed}": _fit(settings, addition, benchmark, described, seed)
        for number, addition in enumerate(additions)
        for seed in range(settings.fit_seeds)
    }
    calls = [(embeddings, settings, task) for task in left]
    for done, (n, rows) in enumerate(in_parallel(_scores, calls, request.jobs), 1):
        kept.add(str(left[n].split), rows)
        request.tell(f"{done} of {len(left)} splits")
    frame = import_optional("pandas", extra="frames", purpose="the study").DataFrame(
        [row for task in tasks for row in kept.cells[str(task.split)]]
    )
    rows = [
        _row(number, additions, frame, described, embeddings, tasks[0])
        for number in range(len(additions))
    ]
    return _table(settings, benchmark, rows)


def _additions(settings: Settings) -> Iterator[Addition]:
    """Every base alone, then with every description that is not in it already."""
    for base in settings.bases:
        check_choice("a base", base, BASES)
        for options in settings.options:
            yield Addition(base, NOTHING, options)
            for partial in settings.partial:
                if not (partial == HALF and "sentences" in base):
                    yield Addition(base, partial, options)


def _descriptions(
    settings: Settings, benchmark: ImageBenchmark, data: Path
) -> dict[str, DescriptiveContext]:
    """The descriptions by name, each over ImageNet's labels."""
    sentences = benchmark.descriptions["words"]
    labels = sorted(sentences.labels)
    random = np.random.default_rng(settings.split_seed)
    half = random.permutation(labels)[: len(labels) // 2].tolist()
    loaders = {
        "AWA attributes": lambda: awa_of_imagenet(data / "awa"),
        "LAD attributes": lambda: match_lad(load_lad(data / "lad")).context,
        "ImNet attributes": lambda: (
            match_wnids(load_imnet_attributes(data / "imnet-attributes")).context
        ),
        HALF: lambda: sentences.rows_for(half),
    }
    for name in settings.partial:
        check_choice("a description", name, loaders)
    return {name: replace(loaders[name](), name=name) for name in settings.partial}


def awa_of_imagenet(folder: Path) -> DescriptiveContext:
    """AWA's animals that are ImageNet labels, under their wnids."""
    wnids = AWA_CORRECTED.wnids
    kept = load_awa(folder).attributes.rows_for(list(wnids))
    return replace(kept, labels=tuple(wnids[name] for name in kept.labels))


def _fit(
    settings: Settings,
    addition: Addition,
    benchmark: ImageBenchmark,
    described: Mapping[str, DescriptiveContext],
    seed: int,
) -> LabelEmbedding:
    """Vectors of the classes that have images."""
    contexts: list[Context] = [benchmark.hierarchy()]
    if "sentences" in addition.base:
        contexts.append(benchmark.descriptions["words"])
    if addition.partial:
        contexts.append(described[addition.partial])
    options = settings.options[addition.options]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PHCLE(**options, random_state=seed, calibrate=False).fit(contexts)
    return model.embedding_.select(benchmark.classes)


def _scores(
    embeddings: Mapping[str, LabelEmbedding], settings: Settings, task: ZeroShotTask
) -> list[dict[str, Any]]:
    """Accuracy of every embedding and class of one split, and of the validation."""
    with warnings.catch_warnings():
        # A logistic regression that stops early ranks options just as well.
        warnings.filterwarnings("ignore", module="sklearn")
        frame = evaluate(
            embeddings,
            settings.classifiers,
            [task],
            by_class=True,
            n_validation=settings.n_validation,
        )
    return [
        {
            "addition": int(row["embedding"].partition("/")[0]),
            "classifier": row["classifier"],
            "split": int(row["split"]),
            "validation": float(row["validation_accuracy"]),
            "classes": row["classes"],
        }
        for row in frame.to_dict("records")
    ]


def _row(
    number: int,
    additions: Sequence[Addition],
    frame: pd.DataFrame,
    described: Mapping[str, DescriptiveContext],
    embeddings: Mapping[str, LabelEmbedding],
    task: ZeroShotTask,
) -> dict[str, Any]:
    """What an addition changes, in points of accuracy, against its base alone."""
    addition = additions[number]
    base = additions.index(replace(addition, partial=NOTHING))
    observed: set[str] = set()
    if addition.partial:
        observed = set(described[addition.partial].observed_labels)
    found: dict[str, Any] = {
        **asdict(addition),
        "n_known": len(observed),
        "n_known_classes": len(observed & {*task.seen, *task.unseen}),
    }
    ratio = len(task.unseen) / len(task.seen)
    for group in ("validation", *GROUPS):
        ours, theirs = (_by_split(frame, n, group, observed) for n in (number, base))
        found[f"{group}_accuracy"] = _or_none(ours.mean())
        found[group] = _or_none((ours - theirs).mean())
        found[f"{group}_error"] = _or_none(corrected_error(ours - theirs, ratio))
    if addition.partial:
        found["drift"] = _drift(embeddings, number, observed) - _drift(
            embeddings, base, observed
        )
    return found


def _by_split(
    frame: pd.DataFrame, number: int, group: str, observed: set[str]
) -> pd.Series[float]:
    """Accuracy in percent by split, over seeds, classifiers and classes of a group."""
    own = frame[frame["addition"] == number]
    if group == "validation":
        return 100 * own.groupby("split")["validation"].mean()

    def mean(classes: Mapping[str, float]) -> float:
        values = [
            share
            for label, share in classes.items()
            if group == "all" or (label in observed) == (group == "known")
        ]
        return float(np.mean(values)) if values else float("nan")

    return 100 * own["classes"].map(mean).groupby(own["split"]).mean()


def _drift(
    embeddings: Mapping[str, LabelEmbedding], number: int, observed: set[str]
) -> float:
    """Mean cosine within a sort of labels less that between the sorts, over seeds."""
    found = []
    for name, embedding in embeddings.items():
        if name.partition("/")[0] != str(number):
            continue
        is_known = np.isin(embedding.labels, list(observed))
        cosine = embedding.unit_vectors @ embedding.unit_vectors.T
        np.fill_diagonal(cosine, np.nan)
        within = [cosine[np.ix_(x, x)] for x in (is_known, ~is_known)]
        between = cosine[np.ix_(is_known, ~is_known)]
        found.append(np.mean([np.nanmean(x) for x in within]) - between.mean())
    return float(np.mean(found))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _table(
    settings: Settings, benchmark: ImageBenchmark, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """The table with its titles, and whether any loss is significant."""
    findings = []
    for options in settings.options:
        added = [x for x in rows if x["options"] == options and x["partial"]]
        hurt = [
            f"{x['partial']} to {x['base']}"
            for x in added
            if x["validation"] < -(x["validation_error"] or 0.0)
        ]
        findings.append(
            f"{options}: of {len(added)} additions, {len(hurt)} lowered the validation "
            "result by more than one standard error"
            + (f" ({', '.join(hurt)})" if hurt else "")
        )
    return {
        "title": "What a partial context does to accuracy",
        "dataset": "tiny-imagenet",
        "lead": [
            f"Change in mean per-class accuracy (points, mean of "
            f"{', '.join(settings.classifiers)}) when a description is added, over "
            f"{settings.random} random class splits and {settings.fit_seeds} seeds of "
            "the fit, ± corrected standard error:"
        ],
        "columns": {
            "base": ("base",),
            "partial": ("added",),
            "options": ("options",),
            "n_known": ("labels known",),
            "n_known_classes": ("of 202 classes",),
            "validation": ("validation", "+.2f", "validation_error"),
            "all": ("all unseen", "+.2f", "all_error"),
            "known": ("known unseen", "+.2f", "known_error"),
            "unknown": ("unknown unseen", "+.2f", "unknown_error"),
            "drift": ("drift", "+.3f"),
        },
        "rows": rows,
        "findings": findings,
        "caveats": [
            "the network that made the features has seen all 1000 classes",
            "drift: cosine within a sort of labels less that between sorts, compared "
            "with the base alone",
            *benchmark.notes,
        ],
    }
