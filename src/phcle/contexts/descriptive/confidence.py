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
import scipy.sparse as sp

if TYPE_CHECKING:
    from phcle.contexts.descriptive.data import DescriptiveContext
    from phcle.contexts.masked import MaskedMatrix

__all__ = ["Calibration", "HiddenValues", "logit", "steps_from_mean", "support"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MOST_VALUES = 200_000
"""Most hidden values used of one trial and context. Three coefficients need no more."""

MARGIN = 1e-3
"""Shares of labels are kept this far from 0 and 1, where the logit is infinite. So an
attribute is never taken for rarer than 1 in 1000."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Turns predicted values into probabilities with a logistic curve.

    Attributes
    ----------
    presence : array of shape (columns,)
        Share of the known labels that have each attribute.
    deviation : array of shape (columns,)
        Standard deviation of each column, in the user's units.
    intercept : float
        Intercept of the curve.
    prior : float
        Weight of the logit of `presence`.
    slope : float
        Weight of the prediction, in standard deviations from the mean.
    n_values : int
        Number of hidden values that the curve was learned from.
    """

    presence: Floats
    deviation: Floats
    intercept: float
    prior: float
    slope: float
    n_values: int

    def confidence(self, predicted: Floats, offset: Floats, support: Floats) -> Floats:
        """Compute the probability that each label has each attribute.

        Parameters
        ----------
        predicted : array of shape (labels, columns)
            Predictions, in the user's units.
        offset : array of shape (columns,)
            Means of the columns at the fit.
        support : array of shape (labels,)
            Support of each label.

        Returns
        -------
        array of shape (labels, columns)
            Probabilities.
        """
        x = self.intercept + self.prior * logit(self.presence)
        steps = steps_from_mean(predicted, offset, self.deviation)
        x = x + self.slope * support[:, None] * steps
        return np.asarray(1 / (1 + np.exp(-np.clip(x, -50, 50))))


@dataclass
class HiddenValues:
    """Predictions of hidden values and the truth, of one context over several trials.

    Attributes
    ----------
    steps : list of arrays
        For each trial, predictions in supported standard deviations from the mean.
    prior : list of arrays
        For each trial, the logit of how common each attribute is.
    truth : list of arrays of bool
        For each trial, whether the label has the attribute.
    """

    steps: list[Floats] = field(default_factory=list)
    prior: list[Floats] = field(default_factory=list)
    truth: list[Flags] = field(default_factory=list)

    @property
    def n_values(self) -> int:
        """Number of hidden values."""
        return sum(map(len, self.truth))

    def add(
        self,
        data: DescriptiveContext,
        labels: list[str],
        hidden: Set[str],
        predicted: Floats,
        offset: Floats,
        supports: Floats,
        used: sp.csr_array | None,
        rng: np.random.Generator,
    ) -> None:
        """Add the values of some labels, or a sample if there are very many.

        Parameters
        ----------
        data : DescriptiveContext
            The truth.
        labels : list of str
            Labels that were predicted.
        hidden : set of str
            All hidden labels; statistics of the columns must not use them.
        predicted : array of shape (labels, columns)
            Predictions, in the user's units.
        offset : array of shape (columns,)
            Means of the columns at the fit.
        supports : array of shape (labels,)
            Support of each label.
        used : csr_array of shape (labels, columns), or None
            Ones for cells that are left out.
        rng : numpy.random.Generator
            Draws the sample.
        """
        left = data.rows_for([x for x in data.labels if x not in hidden]).matrix
        truth = data.rows_for(labels).matrix
        rows, columns = truth.some_known_cells(MOST_VALUES, rng)
        if used is not None and len(rows):
            is_new = np.asarray(used[rows, columns]).ravel() == 0
            rows, columns = rows[is_new], columns[is_new]
        above = truth.cells(rows, columns) > truth.threshold(offset)[columns]
        self.truth.append(above)
        self.prior.append(logit(left.presence())[columns])
        steps = steps_from_mean(predicted, offset, left.moments().deviation)
        self.steps.append(supports[rows] * steps[rows, columns])

    def calibration(self, matrix: MaskedMatrix) -> Calibration:
        """Fit the curve to the hidden values.

        Parameters
        ----------
        matrix : MaskedMatrix
            All known values, for the statistics of the columns.

        Returns
        -------
        Calibration
            The curve.
        """
        deviation = matrix.moments().deviation
        return Calibration(
            matrix.presence(), deviation, *self.coefficients(), self.n_values
        )

    def coefficients(self) -> tuple[float, float, float]:
        """Fit a logistic regression with a weak penalty.

        Returns
        -------
        tuple of three floats
            Intercept, weight of the prior, and slope.
        """
        from scipy.optimize import minimize

        X = np.column_stack(
            [
                np.ones(self.n_values),
                np.concatenate(self.prior),
                np.concatenate(self.steps),
            ]
        )
        y = np.concatenate(self.truth).astype(np.float64)
        neutral = np.array([0.0, 1.0, 0.0])  # probability = share of labels

        def loss(b: Floats) -> tuple[float, Floats]:
            x = X @ b
            error = 1 / (1 + np.exp(-np.clip(x, -50, 50))) - y
            # A weak penalty, so that few values do not give extreme curves.
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
    """Compute the support of vectors: how near a described label is.

    Parameters
    ----------
    vectors : array of shape (rows, dim)
        Label vectors.
    described : array of shape (labels, dim)
        Vectors of labels that the context describes.

    Returns
    -------
    array of shape (rows,)
        The fourth power of the cosine with the nearest described label.
    """
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
    """Compute log odds that stay finite.

    Parameters
    ----------
    share : array
        Numbers from 0 to 1.

    Returns
    -------
    array
        Log odds, of the same shape.
    """
    inside = np.clip(share, MARGIN, 1 - MARGIN)
    return np.asarray(np.log(inside / (1 - inside)))


def steps_from_mean(predicted: Floats, offset: Floats, deviation: Floats) -> Floats:
    """Express predictions in standard deviations from the mean.

    Parameters
    ----------
    predicted : array of shape (rows, columns)
        Predictions.
    offset : array of shape (columns,)
        Means.
    deviation : array of shape (columns,)
        Standard deviations.

    Returns
    -------
    array of shape (rows, columns)
        The distances; 0 for a constant column.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = (predicted - offset) / deviation
    return np.where(deviation > 0, steps, 0.0)
