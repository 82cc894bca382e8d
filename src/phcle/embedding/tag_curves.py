"""Probabilities of tags, from what the embedding says and how common a tag is."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit, logit

from phcle.arrays import AnyFloats, Flags, Floats

LEAST = 0.02
"""Least probability of a tag that is kept."""

MOST_STEPS = 30.0
"""No prediction counts as further from the mean, in odds."""


class TagCurve(NamedTuple):
    """A logistic curve over how common a tag is, what families and what vectors say.

    Attributes
    ----------
    start : float
        Log odds where all else is zero.
    usual, family, said, more : float
        Weights of the log odds of the tag among all labels, of those in the family, of
        what the vectors say, and of that for rare tags.
    """

    start: float
    usual: float
    family: float
    said: float
    more: float

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
            The curve. If all cells are yes, or all no, it says how common each tag is.
        """
        from sklearn.linear_model import LogisticRegression

        if has_it.all() or not has_it.any():
            return cls(0.0, 1.0, 0.0, 0.0, 0.0)
        found = LogisticRegression(C=1e3, max_iter=500)
        found.fit(_features(steps, presence, family), has_it)
        return cls(float(found.intercept_[0]), *found.coef_[0].tolist())

    def chance(
        self, steps: AnyFloats, presence: Floats, family: AnyFloats
    ) -> AnyFloats:
        """Compute probabilities.

        Parameters
        ----------
        steps, presence, family : arrays of shape (..., cells)
            As for `learn`.

        Returns
        -------
        array
            The probabilities.
        """
        found = _features(steps, presence, family) @ np.array(self[1:])
        return np.asarray(expit(found + self.start))


def _features(steps: AnyFloats, presence: Floats, family: AnyFloats) -> Floats:
    """What the curve weighs: (..., 4)."""
    usual = logit(presence)
    said = logit(np.clip(presence + steps, 0.3 * presence, 1 - 0.3 * (1 - presence)))
    clipped = logit(np.clip(family, 0.3 * presence, 1 - 0.1 * (1 - presence)))
    more = np.clip(steps / np.sqrt(presence * (1 - presence)), -MOST_STEPS, MOST_STEPS)
    parts = np.broadcast_arrays(usual, clipped - usual, said - usual, more)
    return np.stack(parts, axis=-1).astype(np.float64)
