"""Attributes and related labels of pictures of unseen classes.

A linear map is learned from features of pictures to vectors of PHCLE. A picture of a
hidden class is then described by the attributes and labels of its vector. No method
uses pictures or attributes of the hidden class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError, did_you_mean
from phcle.images import ImageMap
from phcle_paper.studies.described_objects import (
    APY_LABELS,
    METHODS,
    OURS,
    OWN,
    DescribedObjects,
    Penalties,
    apy_objects,
    attribute_auc,
    predictions,
)
from phcle_paper.studies.picture_panels import (
    Panel,
    draw_panels,
    novel_panels,
    panel_of,
)
from phcle_paper.tables.image_benchmarks import has_features

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "run"]

NEEDS = ("apy",)

Floats = npt.NDArray[np.floating]
SCORES = ("per_attribute", "per_object")


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    held_out: Sequence[Sequence[str]]
    feature_ridge: Sequence[float]
    class_ridge: Sequence[float]
    own_ridge: Sequence[float]
    C: Sequence[float]
    n_validation: int
    n_validation_classes: int
    fewest_objects: int
    split_seed: int
    draws: int
    options: Mapping[str, Any]

    @property
    def penalties(self) -> Penalties:
        """What is chosen on validation classes."""
        return Penalties(self.feature_ridge, self.class_ridge, self.own_ridge, self.C)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of every method for objects of hidden classes, and their rows."""

    objects: DescribedObjects
    hidden: tuple[str, ...]
    embedding: LabelEmbedding
    chosen: Mapping[str, str]
    predicted: Mapping[str, Floats]
    rows: list[dict[str, Any]]

    def image_map(self) -> ImageMap:
        """The map with the penalties that were chosen."""
        learned = self.objects.training(self.hidden)
        pieces = dict(x.split("=") for x in self.chosen[OURS].split(", "))
        return ImageMap.fit(
            self.objects.X[learned],
            self.objects.y[learned],
            self.embedding,
            feature_ridge=float(pieces["γ"]),
            class_ridge=float(pieces["λ"]),
        )


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table and its figures."""
    apy = apy_objects(request.data / "apy")
    outcomes = []
    for classes in settings.held_out:
        hidden = _labels(apy, classes)
        request.tell(f"{apy.name} without {_named(apy, hidden)}")
        outcomes.append(_outcome(apy, hidden, settings))
    return _table(outcomes, _figures(outcomes[0], settings, request))


def _labels(objects: DescribedObjects, classes: Sequence[str]) -> tuple[str, ...]:
    """Labels of aPY's classes that have objects."""
    there = set(objects.y.tolist())
    for name in classes:
        if APY_LABELS.get(name, name) not in there:
            known = [x for x in APY_LABELS if APY_LABELS[x] in there]
            raise OptionError(
                f"held_out: there is no object of {name!r}.{did_you_mean(name, known)}"
            )
    return tuple(APY_LABELS.get(name, name) for name in classes)


def _named(objects: DescribedObjects, labels: Sequence[str]) -> str:
    return ", ".join(objects.names.get(x, x) for x in labels)


def _outcome(
    objects: DescribedObjects, hidden: tuple[str, ...], settings: Settings
) -> Outcome:
    """Choose penalties on validation classes, then score the hidden ones."""
    chosen = _choose(objects, hidden, settings)
    embedding = objects.embedding(hidden, settings.options)
    every = predictions(objects, embedding, hidden, hidden, settings.penalties)
    predicted = {method: every[method][chosen[method]] for method in METHODS}
    truth = objects.attributes[np.isin(objects.y, list(hidden))]
    rows: list[dict[str, Any]] = [
        {
            "data": objects.name,
            "held_out": _named(objects, hidden),
            "method": method,
            "n_objects": len(truth),
            "options": chosen[method],
            **_scores(truth, predicted[method]),
            "right_of_six": _right_of_six(truth, predicted[method]),
        }
        for method in METHODS
    ]
    for row in rows:
        if row["method"] not in (OURS, OWN):
            for ours in (OURS, OWN):
                values = predicted[row["method"]]
                row |= _leads(ours, truth, predicted[ours], values, settings)
    return Outcome(objects, hidden, embedding, chosen, predicted, rows)


def _choose(
    objects: DescribedObjects, hidden: tuple[str, ...], settings: Settings
) -> dict[str, str]:
    """For each method the choice that is best on classes hidden for validation.

    Best is the mean of both areas; classes with few objects stay in the training.
    """
    names, counts = np.unique(objects.y, return_counts=True)
    large = names[counts >= settings.fewest_objects]
    large = large[~np.isin(large, hidden)]
    # Classes without known attributes cannot be scored.
    large = large[np.isin(large, objects.classes.labels)]
    random = np.random.default_rng(settings.split_seed)
    found: dict[str, dict[str, list[float]]] = {method: {} for method in METHODS}
    for _ in range(settings.n_validation):
        tested = random.permutation(large)[: settings.n_validation_classes].tolist()
        without = (*hidden, *tested)
        embedding = objects.embedding(without, settings.options)
        truth = objects.attributes[np.isin(objects.y, tested)]
        every = predictions(objects, embedding, without, tested, settings.penalties)
        for method, choices in every.items():
            for choice, values in choices.items():
                score = sum(_scores(truth, values).values())
                found[method].setdefault(choice, []).append(score)
    return {method: _best(choices) for method, choices in found.items()}


def _best(scores: Mapping[str, Sequence[float]]) -> str:
    return max(scores, key=lambda choice: float(np.mean(scores[choice])))


def _scores(truth: Floats, predicted: Floats) -> dict[str, float]:
    areas = attribute_auc(truth, predicted)
    return {key: float(np.nanmean(own)) for key, own in zip(SCORES, areas, strict=True)}


def _right_of_six(truth: Floats, predicted: Floats) -> float:
    """Share of an object's six highest predictions that it has, as the paper shows."""
    top = np.argsort(-predicted, axis=1, kind="stable")[:, :6]
    return float(np.take_along_axis(truth, top, axis=1).mean())


def _leads(
    name: str, truth: Floats, ours: Floats, theirs: Floats, settings: Settings
) -> dict[str, float]:
    """How far ours is ahead, with a bootstrap error over objects."""
    random = np.random.default_rng(settings.split_seed)

    def lead(rows: npt.NDArray[np.int64]) -> list[float]:
        one, other = (_scores(truth[rows], x[rows]) for x in (ours, theirs))
        return [one[key] - other[key] for key in SCORES]

    everything = lead(np.arange(len(truth)))
    n = len(truth)
    drawn = np.array([lead(random.integers(n, size=n)) for _ in range(settings.draws)])
    found: dict[str, float] = {}
    for i, key in enumerate(SCORES):
        found[f"{name} {key} lead"] = everything[i]
        found[f"{name} {key} error"] = float(drawn[:, i].std(ddof=1))
    return found


def _figures(
    apy: Outcome, settings: Settings, request: Request
) -> list[dict[str, str]]:
    """Draw the figures."""
    made = {
        "understanding-apy": (
            "Objects of hidden classes of aPY: the median and the lower quartile of "
            "their class",
            _typical_panels(apy, (0.5, 0.25)),
        ),
    }
    if has_features("apy", request.data):
        panels = novel_panels(
            request.data,
            apy.objects.classes.columns,
            apy.image_map().penalties,
            settings.options,
        )
        if panels:
            title = "The paper's novel classes, centaur and jetski"
            made["understanding-novel"] = (title, panels)
    for stem, (_, panels) in made.items():
        draw_panels(panels, request.out / stem)
    return [
        {"title": title, "file": f"{stem}.svg"} for stem, (title, _) in made.items()
    ]


def _typical_panels(outcome: Outcome, quantiles: Sequence[float]) -> list[Panel]:
    """Objects in the middle of their class, by how well their attributes are told."""
    objects, image_map = outcome.objects, outcome.image_map()
    rows = np.flatnonzero(np.isin(objects.y, list(outcome.hidden)))
    areas = attribute_auc(objects.attributes[rows], outcome.predicted[OURS])[1]
    panels = []
    for quantile in quantiles:
        for label in outcome.hidden:
            own = rows[objects.y[rows] == label]
            order = own[np.argsort(areas[objects.y[rows] == label], kind="stable")]
            row = order[round(quantile * (len(order) - 1))]
            (found,) = image_map.understand(objects.X[[row]], outcome.embedding)
            shown = zip(objects.classes.columns, objects.attributes[row], strict=True)
            title = objects.names.get(label, label)
            panels.append(panel_of(title, found, outcome.embedding, dict(shown)))
    return panels


def _table(
    outcomes: Sequence[Outcome],
    figures: list[dict[str, str]],
) -> dict[str, Any]:
    return {
        "title": "What pictures of classes never seen show",
        "dataset": "aPY objects",
        "lead": [
            "Area under the ROC curve of predicted attributes against the objects' "
            "own: the mean over attributes (of each, over objects) and over objects "
            "(of each, over attributes), and how far PHCLE is ahead (± bootstrap error "
            "over objects); and how many of the six highest are right:",
        ],
        "columns": {
            "data": ("data",),
            "held_out": ("hidden",),
            "method": ("method",),
            "n_objects": ("pictures",),
            "per_attribute": ("per attribute", ".3f"),
            **_lead_columns("per_attribute"),
            "per_object": ("per object", ".3f"),
            **_lead_columns("per_object"),
            "right_of_six": ("of six, right", ".1%"),
            "options": ("chosen",),
        },
        "rows": [row for x in outcomes for row in x.rows],
        "figures": figures,
        "caveats": [
            "of a hidden class nobody sees a picture or an attribute; PHCLE knows its "
            "place in the hierarchy, and the attributes of the other classes of aPY, "
            "12 of which have no picture here",
            "ridge to attributes learns from the own attributes of every object, as "
            f"does {OWN}; PHCLE itself from the attributes of classes alone",
            "with a single class hidden, areas per attribute tell objects of one class "
            "apart, which attributes of classes say nothing about",
            "penalties of every method are chosen on other classes, hidden in the same "
            "way",
            "the network that made the features has seen all 1000 classes of ImageNet, "
            "horses, cattle and sheep among them",
            "bootstrap errors take objects for independent; some are in one picture",
        ],
    }


def _lead_columns(key: str) -> dict[str, tuple[str, str, str]]:
    """The lead of each of our methods over a rival."""
    words = {OURS: "PHCLE ahead", OWN: "with own attributes"}
    return {
        f"{name} {key} lead": (title, "+.3f", f"{name} {key} error")
        for name, title in words.items()
    }
