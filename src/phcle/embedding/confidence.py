"""How sure a predicted attribute is: the chance that the label really has it.

A label has an attribute if its value is above the column's mean; of sparse values, if
it is not zero. The chance follows a logistic curve in how far the prediction lies from
the mean and in how common the attribute is. Its three coefficients are learned from
values that were hidden from a trial fit, so that of all predictions said to be right
in 70 of 100 cases, about 70 in 100 are.

A label far from every described one gets bold predictions with nothing behind them. So
a prediction counts by the label's support: the fourth power of its cosine with the
nearest label that is described.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Calibration", "logit", "steps_from_mean", "support"]

Floats = npt.NDArray[np.float64]

MARGIN = 1e-3
"""Shares of labels stay this far from 0 and 1, where no logit is."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """A logistic curve, and what it needs to know of every column."""

    presence: Floats  # (columns,): share of the known labels that have the attribute
    deviation: Floats  # (columns,): standard deviation, in the user's units
    intercept: float
    prior: float  # weight of the logit of `presence`
    slope: float  # weight of the prediction, in deviations from the mean
    n_values: int  # hidden values that the curve was learned from

    def confidence(self, predicted: Floats, offset: Floats, support: Floats) -> Floats:
        """Chance that each predicted attribute is there: (labels, columns)."""
        x = self.intercept + self.prior * logit(self.presence)
        steps = steps_from_mean(predicted, offset, self.deviation)
        x = x + self.slope * support[:, None] * steps
        return np.asarray(1 / (1 + np.exp(-np.clip(x, -50, 50))))


def support(
    vectors: npt.NDArray[np.floating], described: npt.NDArray[np.floating]
) -> Floats:
    """Cosine of every vector with the nearest described one, to the fourth power."""
    best = np.zeros(len(vectors))
    own = _unit(vectors)
    for start in range(0, len(described), 10_000):
        cosine = own @ _unit(described[start : start + 10_000]).T
        best = np.maximum(best, cosine.max(axis=1))
    return best**4


def _unit(vectors: npt.NDArray[np.floating]) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), np.float64)


def logit(share: Floats) -> Floats:
    """Log odds, finite for every share."""
    inside = np.clip(share, MARGIN, 1 - MARGIN)
    return np.asarray(np.log(inside / (1 - inside)))


def steps_from_mean(predicted: Floats, offset: Floats, deviation: Floats) -> Floats:
    """How many deviations a prediction lies above the mean; 0 for constant columns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = (predicted - offset) / deviation
    return np.where(deviation > 0, steps, 0.0)
