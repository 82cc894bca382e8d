"""Results as tables of plain values, with the paper's numbers beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import t as student_t

from phcle import __version__
from phcle.errors import FileError
from phcle.images import load_feature_folder
from phcle_paper.datasets import load_class_attributes, load_xlsa17
from phcle_paper.tables.image_benchmarks import FOLDERS, PAPER_SPLITS, has_features
from phcle_paper.tables.paired_splits import compare
from phcle_paper.tables.settings import Experiment

__all__ = ["accuracy_table", "statistics_table"]

CONFIDENCE = 0.95
"""Confidence level: a difference is significant if this t interval excludes zero."""


def accuracy_table(
    experiment: Experiment, rows: Sequence[dict[str, Any]], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Accuracies in percent of all embeddings and classifiers, and the comparison."""
    frame = pd.DataFrame(list(rows))
    paper = frame[frame["task"] == "paper"]
    random = frame[frame["task"] == "random"]
    n_splits = int(random["split"].nunique())
    judged = random if n_splits else paper
    generalised = [key for key in ("seen", "unseen", "harmonic") if key in frame]
    cells = []
    for plan in experiment.embeddings:
        for classifier in experiment.classifiers:
            ours = _part(paper, plan.name, classifier)
            cells.append(
                {
                    "embedding": plan.name,
                    "classifier": classifier,
                    "paper": experiment.paper.get(plan.name, {}).get(classifier),
                    "ours": _percent(ours["accuracy"].mean()),
                    "variant": str(ours["variant"].iloc[0]),
                    **_over_splits(random, experiment.reference, plan.name, classifier),
                    **{
                        key: _percent(_part(judged, plan.name, classifier)[key].mean())
                        for key in generalised
                    },
                }
            )
    return {
        **_head(experiment),
        "reference": experiment.reference,
        "classifiers": list(experiment.classifiers),
        "n_splits": n_splits,
        "rows": cells,
        "verdicts": [
            _verdict(experiment, cells, classifier, n)
            for n in dict.fromkeys((0, n_splits))
            for classifier in experiment.classifiers
        ],
        "caveats": [*experiment.caveats, *_sampling(experiment), *notes],
    }


def statistics_table(experiment: Experiment, data: Path) -> dict[str, Any]:
    """Numbers of classes, attributes and images, as in Table 1."""
    found = _statistics(experiment.dataset, data, experiment.features)
    return {
        **_head(experiment),
        "rows": [
            {"statistic": key, "paper": experiment.paper.get(key), "ours": value}
            for key, value in found.items()
        ],
        "caveats": list(experiment.caveats),
    }


def _head(experiment: Experiment) -> dict[str, Any]:
    return {
        "table": experiment.table,
        "dataset": experiment.dataset,
        "title": experiment.title,
        "version": __version__,
    }


def _statistics(
    dataset: str, data: Path, features: str | None
) -> dict[str, int | None]:
    folder = data / FOLDERS[dataset]
    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder; it must hold {dataset!r}.")
    images, attributes = None, None
    if dataset == "tiny-imagenet":
        images = load_feature_folder(folder)
        seen, unseen = images.splits["seen"], images.splits["unseen"]
    else:
        seen, unseen = PAPER_SPLITS[dataset].seen, PAPER_SPLITS[dataset].unseen
        if has_features(dataset, data):
            images = load_xlsa17(folder, features)
        attributes = load_class_attributes(folder).attributes
    return {
        "classes": len(seen) + len(unseen),
        "seen": len(seen),
        "unseen": len(unseen),
        "attributes": None if attributes is None else len(attributes.columns),
        "seen_images": None if images is None else len(images.select(seen)[1]),
        "unseen_images": None if images is None else len(images.select(unseen)[1]),
        "features": None if images is None else images.features.shape[1],
    }


def _part(frame: pd.DataFrame, embedding: str, classifier: str) -> pd.DataFrame:
    chosen = (frame["embedding"] == embedding) & (frame["classifier"] == classifier)
    return frame[chosen]


def _over_splits(
    random: pd.DataFrame, reference: str, embedding: str, classifier: str
) -> dict[str, float | None]:
    """Mean and spread over random splits, and the paired difference."""
    columns = {"mean": "accuracy"}
    columns |= {key: key for key in ("spread", "difference", "standard_error")}
    if not len(random):
        return dict.fromkeys(columns)
    own = compare(random[random["classifier"] == classifier], reference)
    row = own[own["embedding"] == embedding].iloc[0]
    return {key: _percent(row[column]) for key, column in columns.items()}


def _verdict(
    experiment: Experiment,
    cells: Sequence[dict[str, Any]],
    classifier: str,
    n_splits: int,
) -> dict[str, Any]:
    """Whether the reference beats the best of the other methods in one column.

    By the mean over random splits, or with `n_splits` 0 by the standard split. Its own
    variants are no rivals.
    """
    methods = {plan.name: plan.method for plan in experiment.embeddings}
    by = "mean" if n_splits else "ours"
    column = [x for x in cells if x["classifier"] == classifier]
    own = next(x for x in column if x["embedding"] == experiment.reference)
    rivals = [x for x in column if not methods[x["embedding"]].startswith("PHCLE")]
    head = {
        "classifier": classifier,
        "by": "random splits" if n_splits else "standard split",
    }
    if not rivals:
        return {**head, "outcome": "alone"}
    best = max(rivals, key=lambda x: float(x[by]))
    ahead = own[by] - best[by]
    error = best["standard_error"] if n_splits else None
    clear = False
    if error is not None:
        far = float(student_t.ppf((1 + CONFIDENCE) / 2, n_splits - 1))
        clear = bool(abs(ahead) > far * error)
    return {
        **head,
        "outcome": "won" if ahead > 0 else "lost" if ahead < 0 else "tied",
        "rival": best["embedding"],
        "ahead": ahead,
        "standard_error": error,
        "clear": clear,
    }


def _sampling(experiment: Experiment) -> list[str]:
    """Caveats about the splits."""
    plan = experiment.splits
    found = ["the standard split is a single draw of classes: it proves little"]
    if experiment.generalised:
        found.append("a fifth of the images of seen classes is kept for the test")
    if plan.random and plan.images_per_class:
        found.append(
            f"random splits use {plan.images_per_class} images of a class at most"
        )
    return found


def _percent(share: float) -> float | None:
    """Percent; None for NaN, which JSON does not have."""
    return None if math.isnan(share) else 100.0 * float(share)
