"""Probabilities of tags, from what the embedding says and how common a tag is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit, logit

from phcle.arrays import AnyFloats, Flags, Floats
from phcle.errors import ContextError

LEAST = 0.02
"""Least probability of a tag that is kept."""

MOST_STEPS = 30.0
"""No prediction counts as further from the mean, in odds."""


@dataclass(frozen=True)
class TagCurve:
    """A logistic curve over how common a tag is, what families and what vectors say.

    Attributes
    ----------
    weights : tuple of float
        Intercept, and weights of the log odds of the tag among all labels, of those in
        the family, of what the vectors say, and of that for rare tags.
    """

    weights: tuple[float, ...]

    @classmethod
    def of(cls, weights: Sequence[float]) -> Self:
        """Make a curve of stored weights.

        Parameters
        ----------
        weights : sequence of float
            The weights.

        Returns
        -------
        TagCurve
            The curve.
        """
        if len(weights) != N_WEIGHTS:
            raise ContextError("a curve of tags has the wrong number of weights")
        return cls(tuple(float(x) for x in weights))

    @classmethod
    def learn(
        cls, steps: AnyFloats, presence: Floats, family: AnyFloats, has_it: Flags
    ) -> Self:
        """Learn a curve from tags that were predicted out of fold.

        Parameters
        ----------
        steps : array of shape (cells,)
            What the vectors say: shares above the mean.
        presence : array of shape (cells,)
            Share of labels that have the tag.
        family : array of shape (cells,)
            That share in the family.
        has_it : array of shape (cells,)
            Whether the label has the tag.

        Returns
        -------
        TagCurve
            The curve. Without tags of both sorts, all are as common as they are.
        """
        from sklearn.linear_model import LogisticRegression

        if has_it.all() or not has_it.any():
            return cls((0.0, 1.0, *(0.0,) * (N_WEIGHTS - 2)))
        found = LogisticRegression(C=1e3, max_iter=500)
        found.fit(_features(steps, presence, family), has_it)
        return cls(tuple(map(float, [found.intercept_[0], *found.coef_[0]])))

    def chance(
        self, steps: AnyFloats, presence: Floats, family: AnyFloats
    ) -> AnyFloats:
        """Compute probabilities; arguments are those of `learn`.

        Parameters
        ----------
        steps : array of shape (cells,)
            What the vectors say: shares above the mean.
        presence : array of shape (cells,)
            Share of labels that have the tag.
        family : array of shape (cells,)
            That share in the family.

        Returns
        -------
        array
            The probabilities.
        """
        found = _features(steps, presence, family) @ np.array(self.weights[1:])
        return np.asarray(expit(found + self.weights[0]))


N_WEIGHTS = 5


def _features(steps: AnyFloats, presence: Floats, family: AnyFloats) -> Floats:
    """What the curve weighs: (..., 4)."""
    usual = logit(presence)
    said = logit(np.clip(presence + steps, 0.3 * presence, 1 - 0.3 * (1 - presence)))
    clipped = logit(np.clip(family, 0.3 * presence, 1 - 0.1 * (1 - presence)))
    more = np.clip(steps / np.sqrt(presence * (1 - presence)), -MOST_STEPS, MOST_STEPS)
    parts = np.broadcast_arrays(usual, clipped - usual, said - usual, more)
    return np.stack(parts, axis=-1).astype(np.float64)
