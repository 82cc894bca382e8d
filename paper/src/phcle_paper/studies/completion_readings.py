"""Attribute completion by PHCLE: three ways to predict from a fit.

The first is the model's own prediction. A label that lacks a context has a shorter
vector, so this prediction is too close to the mean. The second way stretches it by a
factor fitted on validation labels. The third is a ridge regression of the attributes on
the vectors that labels have without them.

Options and the way to predict are chosen on validation labels among the known ones;
hidden labels are not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phcle.errors import OptionError
from phcle.tuning.completion import (
    CompletionTask,
    Floats,
    Rows,
    column_means,
    draw,
    predict_without,
    scores,
)
from phcle_paper.studies.completion_rivals import ridge_regression

__all__ = [
    "CHOSEN",
    "READINGS",
    "Choice",
    "Fit",
    "choose",
    "fit_without",
    "readings",
]

Options = Mapping[str, Any]

OWN, STRETCHED, REGRESSED = READINGS = (
    "PHCLE",
    "PHCLE, stretched",
    "PHCLE, ridge regression",
)
CHOSEN = "PHCLE, chosen reading"
POWER = 2.0
"""Power of the spectrum for the regression: the geometry of the predictions."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit of all labels in which only the known ones have attributes."""

    predicted: Floats  # (hidden, attributes)
    vectors: Floats  # (labels, d), each from the other contexts alone

    def read(
        self, reading: str, values: Floats, known: Rows, hidden: Rows, stretch: float
    ) -> Floats:
        """Values of the hidden labels: (hidden, attributes)."""
        if reading == REGRESSED:
            return ridge_regression(
                self.vectors[known], values[known], self.vectors[hidden]
            )
        means = column_means(values[known])
        factor = stretch if reading == STRETCHED else 1.0
        return np.asarray(means + factor * (self.predicted - means))


@dataclass(frozen=True)
class Choice:
    """Options for a way to predict, its stretch, and its R² on validation labels."""

    options: Options
    stretch: float
    r2: float


def fit_without(
    task: CompletionTask, known: Rows, hidden: Rows, options: Options
) -> Fit:
    """Fit all labels without the hidden attributes."""
    model, predicted = predict_without(task, known, hidden, options)
    # Fold in known labels without their attributes, as hidden labels are.
    others = [context.naming_also(task.labels) for context in task.others]
    folded = model.transform(others).select(task.labels).with_spectrum(POWER)
    return Fit(predicted, np.asarray(folded.vectors, dtype=np.float64))


def choose(
    task: CompletionTask,
    known: Rows,
    candidates: Sequence[Options],
    *,
    share: float,
    n_validations: int,
    seed: int,
) -> dict[str, Choice]:
    """For every reading the options with the best mean R² on validation labels."""
    if not candidates:
        raise OptionError("options must hold at least one choice. Got none.")
    if n_validations < 1:
        raise OptionError(
            f"n_validations must be 1 or more. Got {n_validations!r} instead."
        )
    rng = np.random.default_rng(seed)
    draws = [draw(known, share, rng) for _ in range(n_validations)]
    best: dict[str, Choice] = {}
    for options in candidates:
        fits = [fit_without(task, rest, held, options) for rest, held in draws]
        stretch = _stretch(task.values, draws, fits)
        for reading in READINGS:
            found = [
                scores(
                    task.values,
                    rest,
                    held,
                    fit.read(reading, task.values, rest, held, stretch),
                )[0]
                for (rest, held), fit in zip(draws, fits, strict=True)
            ]
            r2 = float(np.mean(found))
            if reading not in best or r2 > best[reading].r2:
                best[reading] = Choice(options, stretch, r2)
    return best


def readings(
    task: CompletionTask, known: Rows, hidden: Rows, choices: Mapping[str, Choice]
) -> Iterator[tuple[str, Options, Floats]]:
    """Predictions of every way, then again of the one that validation chose."""
    fits: dict[str, Fit] = {}
    found: dict[str, Floats] = {}
    for reading, choice in choices.items():
        key = repr(choice.options)
        if key not in fits:
            fits[key] = fit_without(task, known, hidden, choice.options)
        found[reading] = fits[key].read(
            reading, task.values, known, hidden, choice.stretch
        )
        yield reading, choice.options, found[reading]
    chosen = max(choices, key=lambda reading: choices[reading].r2)
    yield CHOSEN, {"reading": chosen, **choices[chosen].options}, found[chosen]


def _stretch(
    values: Floats, draws: Sequence[tuple[Rows, Rows]], fits: Sequence[Fit]
) -> float:
    """Slope of true values on predicted ones, both from the mean of the known."""
    shared, own = 0.0, 0.0
    for (rest, held), fit in zip(draws, fits, strict=True):
        means = column_means(values[rest])
        truth, guess = values[held] - means, fit.predicted - means
        judged = ~np.isnan(truth)
        shared += float((truth * guess)[judged].sum())
        own += float((guess**2)[judged].sum())
    return max(shared, 0.0) / own if own > 0 else 1.0
