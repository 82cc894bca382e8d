"""How sure a predicted attribute is: the chance that the label really has it.

A label has an attribute if its value is above the column's mean; of sparse values, if
it is not zero. The chance follows a logistic curve in how far the prediction lies from
the mean and in how common the attribute is. Its three coefficients are learned from
values that were hidden from a trial fit, so that of all predictions said to be right
in 70 of 100 cases, about 70 in 100 are.

Predictions for a label that is far from every described label are not reliable. So a
prediction is multiplied by the label's support: the fourth power of its cosine with the
nearest described label.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from phcle.contexts.descriptive.data import DescriptiveContext
    from phcle.contexts.masked import MaskedMatrix

__all__ = ["Calibration", "HiddenValues", "logit", "steps_from_mean", "support"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MOST_VALUES = 200_000
"""Hidden values used of one trial and context: three coefficients need no more."""

MARGIN = 1e-3
"""Shares of labels are kept this far from 0 and 1, where the logit is infinite."""


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


@dataclass
class HiddenValues:
    """Hidden values of one context over several trials: predictions and truth."""

    steps: list[Floats] = field(default_factory=list)
    prior: list[Floats] = field(default_factory=list)
    truth: list[Flags] = field(default_factory=list)

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return sum(map(len, self.truth))

    def add(
        self,
        data: DescriptiveContext,
        labels: list[str],
        hidden: Set[str],
        predicted: Floats,
        offset: Floats,
        supports: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Add the values of some labels, or a sample of them if they are very many.

        Parameters
        ----------
        data : DescriptiveContext
            The truth.
        labels : list of str
            Labels that were predicted.
        hidden : set of str
            All hidden labels, from which nothing else may be learned either.
        predicted : array of shape (labels, columns)
            Predictions, in the user's units.
        offset : array of shape (columns,)
            Means of the columns at the fit.
        supports : array of shape (labels,)
            Support of each label.
        rng : numpy.random.Generator
            Draws the sample.
        """
        left = data.rows_for([x for x in data.labels if x not in hidden]).matrix
        truth = data.rows_for(labels).matrix
        rows, columns = truth.some_known_cells(MOST_VALUES, rng)
        above = truth.cells(rows, columns) > truth.threshold(offset)[columns]
        self.truth.append(above)
        self.prior.append(logit(left.presence())[columns])
        steps = steps_from_mean(predicted, offset, left.moments().deviation)
        self.steps.append(supports[rows] * steps[rows, columns])

    def calibration(self, matrix: MaskedMatrix) -> Calibration:
        """The curve that makes the hidden truth likeliest, for all known values."""
        deviation = matrix.moments().deviation
        return Calibration(
            matrix.presence(), deviation, *self.coefficients(), self.n_values
        )

    def coefficients(self) -> tuple[float, float, float]:
        """Intercept, weight of the prior, and slope."""
        from scipy.optimize import minimize

        X = np.column_stack(
            [
                np.ones(self.n_values),
                np.concatenate(self.prior),
                np.concatenate(self.steps),
            ]
        )
        y = np.concatenate(self.truth).astype(np.float64)
        neutral = np.array([0.0, 1.0, 0.0])  # an attribute is as likely as common

        def loss(b: Floats) -> tuple[float, Floats]:
            x = X @ b
            error = 1 / (1 + np.exp(-np.clip(x, -50, 50))) - y
            # A weak penalty: few values must not give wild curves.
            away = b - neutral
            value = np.logaddexp(0, x).sum() - y @ x + away @ away / 2
            return float(value), np.asarray(X.T @ error + away)

        found = minimize(loss, neutral, jac=True, method="BFGS")
        intercept, prior, slope = map(float, found.x)
        # A negative slope is noise, not a reason to believe the opposite.
        return intercept, prior, max(slope, 0.0)


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
