"""What the families of labels say about the columns of a table, by parts of labels.

A known cell sees what its family says without the labels of its part. A mean that
leaves out only the label itself falls as the label's value rises, and readers would
read that backwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.embedding.family_means import Groups

LEVELS = 3
"""Nearest levels of a hierarchy whose plain means readers are given."""

PULLS = (0.3, 1.0, 3.0, 10.0)
"""How many labels the level above may count for; known cells choose, by column."""

Singles = npt.NDArray[np.float32]


class Families:
    """Means of groups that leave out the labels of each label's own part.

    Parameters
    ----------
    groups : Groups
        The groups of all labels.
    part : array of int of shape (labels,)
        The part of each label; -1 for labels that are left out of nothing.
    """

    def __init__(self, groups: Groups, part: Ints) -> None:
        self.steps = groups.steps
        self.own_steps = [self._of_own_part(step, part) for step in self.steps]

    @staticmethod
    def _of_own_part(step: sp.csr_array, part: Ints) -> sp.csr_array:
        """Which labels are in which group, each part of a group by itself."""
        rows, at = sp.coo_array(step).coords
        inside = part[rows] >= 0
        rows, at = rows[inside], at[inside]
        n_parts = int(part.max(initial=-1)) + 1
        places = rows, part[rows] * step.shape[1] + at
        shape = (step.shape[0], max(n_parts, 1) * step.shape[1])
        return sp.csr_array((np.ones(len(rows)), places), shape=shape)

    def best_pulls(self, values: Floats) -> Floats:
        """Choose how far each group's mean is pulled to that of the group above.

        Parameters
        ----------
        values : array of shape (labels, columns)
            Values around their means; NaN is missing.

        Returns
        -------
        array of shape (columns,)
            Labels that the group above counts for.
        """
        known = ~np.isnan(values)
        errors = [
            np.where(known, self.say(values, pull)[0] - values, 0.0) for pull in PULLS
        ]
        lost = [(error**2).sum(axis=0) for error in errors]
        return np.asarray(np.array(PULLS)[np.argmin(lost, axis=0)])

    def say(self, values: Floats, pull: Floats | float) -> Singles:
        """Say what families say of all labels.

        Parameters
        ----------
        values : array of shape (labels, columns)
            Values around their means; NaN is missing.
        pull : float or array of shape (columns,)
            How many labels the group above counts for.

        Returns
        -------
        array of shape (1 + levels, labels, columns)
            Means of groups, each pulled to that of the group above; then plain means of
            the nearest groups, or the pulled ones where nobody is known.
        """
        pulled = np.zeros(values.shape)
        if not self.steps:
            return pulled[None].astype(np.float32)
        known = ~np.isnan(values)
        both = np.hstack([np.where(known, values, 0.0), known])
        sums = sum(self.steps[1:], start=self.steps[0]).T @ both
        own_sums = sum(self.own_steps[1:], start=self.own_steps[0]).T @ both
        plain: list[Floats] = []
        for step, own_step in zip(self.steps[::-1], self.own_steps[::-1], strict=True):
            left = step @ sums - own_step @ own_sums
            total, n = left[:, : values.shape[1]], left[:, values.shape[1] :]
            pulled = (total + pull * pulled) / (n + pull)
            plain.append(np.where(n > 0.5, total / np.maximum(n, 1), np.nan))
        levels = [np.where(np.isnan(x), pulled, x) for x in plain[::-1][:LEVELS]]
        return np.stack([pulled, *levels]).astype(np.float32)
