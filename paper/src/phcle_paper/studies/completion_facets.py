"""Completion of single facets: some groups of a label's columns are hidden, not all.

A facet is a group of columns that are known together, such as the tags that answer one
question. The other facets of the label stay known and help to predict it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle import PHCLE
from phcle.contexts import DescriptiveContext
from phcle.errors import ConvergenceWarning
from phcle.tuning.completion import (
    CompletionTask,
    Floats,
    column_means,
    predicted_values,
    scores_against,
)
from phcle_paper.studies.completion_rivals import (
    context_block,
    neighbours_mean,
    ridge_regression,
)

__all__ = ["FacetPlan", "draw_facets", "score_facets"]

Mask = npt.NDArray[np.bool_]
Options = Mapping[str, Any]


@dataclass(frozen=True)
class FacetPlan:
    """Which facets are hidden, how often, and the options for PHCLE to choose from."""

    facets: tuple[str, ...]  # of every column
    share: float
    seed: int
    options: Sequence[Options]
    reference: str = "PHCLE, chosen reading"


def draw_facets(
    values: Floats, facets: Sequence[str], share: float, rng: np.random.Generator
) -> Mask:
    """Known values to hide, whole facets of a label at a time: (labels, columns)."""
    hidden = np.zeros(values.shape, dtype=bool)
    for facet in sorted(set(facets)):
        columns = np.flatnonzero(np.array(facets) == facet)
        drawn = rng.random(len(values)) < share
        hidden[np.ix_(drawn, columns)] = True
    return np.asarray(hidden & ~np.isnan(values))


def score_facets(task: CompletionTask, plan: FacetPlan, split: int) -> list[Any]:
    """Scores of every method when facets of this split are hidden."""
    rng = np.random.default_rng([plan.seed, split])
    hidden = draw_facets(task.values, plan.facets, plan.share, rng)
    left = np.where(hidden, np.nan, task.values)
    truth = np.where(hidden, task.values, np.nan)
    means = column_means(left)
    found = []
    for method, predicted in _methods(task, plan, left, rng):
        r2, auc = scores_against(truth, means, predicted)
        found.append({"method": method, "r2": r2, "auc": auc})
    return found


def _methods(
    task: CompletionTask, plan: FacetPlan, left: Floats, rng: np.random.Generator
) -> Iterator[tuple[str, Floats]]:
    """Predictions of each method for all labels and columns, from the known values."""
    means = column_means(left)
    options, stretch = _choose(task, plan, left, rng)
    predicted = _fitted_values(task, left, options)
    yield "PHCLE", predicted
    yield plan.reference, means + stretch * (predicted - means)
    yield "attribute mean", np.tile(means, (len(left), 1))
    blocks = {c.name: context_block(c, task.labels) for c in task.others}
    everything = np.hstack(list(blocks.values()))
    yield (
        "ridge regression (all contexts)",
        _by_facet(plan, left, lambda _: everything),
    )
    yield (
        "ridge regression (all contexts and other facets)",
        _by_facet(
            plan,
            left,
            lambda own: np.hstack([everything, _known_elsewhere(left, own)]),
        ),
    )
    for context in task.others:
        if isinstance(context, DescriptiveContext):
            block = blocks[context.name]
            yield (
                f"10 nearest ({context.name})",
                neighbours_mean(block, block, left),
            )


def _by_facet(plan: FacetPlan, left: Floats, features: Any) -> Floats:
    """A regression of every facet, from features that may depend on it."""
    predicted = np.full(left.shape, np.nan)
    for facet in sorted(set(plan.facets)):
        own = np.array(plan.facets) == facet
        vectors = features(own)
        predicted[:, own] = ridge_regression(vectors, left[:, own], vectors)
    return predicted


def _known_elsewhere(left: Floats, own: Mask) -> Floats:
    """The other facets as features: centred, zero where unknown, unit energy."""
    others = left[:, ~own]
    centred = np.nan_to_num(others - column_means(others), nan=0.0)
    energy = float((centred**2).sum()) / len(centred)
    return np.asarray(centred / (energy**0.5 or 1.0))


def _choose(
    task: CompletionTask, plan: FacetPlan, left: Floats, rng: np.random.Generator
) -> tuple[Options, float]:
    """Options and stretch with the best R² on further hidden facets."""
    held = draw_facets(left, plan.facets, plan.share, rng)
    rest = np.where(held, np.nan, left)
    truth, means = np.where(held, left, np.nan), column_means(rest)
    tried: list[tuple[float, float]] = []  # R² and stretch
    for options in plan.options:
        guess = np.nan_to_num(_fitted_values(task, rest, options) - means)
        own = float((guess[held] ** 2).sum())
        shared = float(((left - means) * guess)[held].sum())
        stretch = max(shared, 0.0) / own if own > 0 else 1.0
        tried.append(
            (scores_against(truth, means, means + stretch * guess)[0], stretch)
        )
    best = int(np.argmax([r2 for r2, _ in tried]))
    return plan.options[best], tried[best][1]


def _fitted_values(task: CompletionTask, left: Floats, options: Options) -> Floats:
    """Predictions of PHCLE for all labels and columns, from the known values."""
    name = task.attributes.name
    attributes = DescriptiveContext(name, task.labels, task.attributes.columns, left)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        embedding = PHCLE(**options).fit([attributes, *task.others]).embedding_
    return predicted_values(embedding, name, task.labels)
