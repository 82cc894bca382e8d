"""What the families of labels say about the columns of a table, by folds.

A known cell is told what its family says without the labels of its fold. A mean that
leaves out only the label itself falls as the label's value rises, and readers would
read that backwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, eq=False)
class Family:
    """What families say of all labels.

    Attributes
    ----------
    shrunk : array of shape (labels, columns)
        Means of groups, each pulled to that of the group above; zero is the mean.
    levels : list of arrays of shape (labels, columns)
        Plain means of the nearest groups; the shrunk ones where nobody is known.
    """

    shrunk: Singles
    levels: list[Singles]


def family_says(values: Floats, groups: Groups, rows: Ints, fold: Ints) -> Family:
    """Say what families say of each label, without the labels of its fold.

    Parameters
    ----------
    values : array of shape (labels, columns)
        Values around their means; NaN is missing.
    groups : Groups
        The groups of all labels.
    rows, fold : arrays of int
        Labels with known cells, and the fold of each.

    Returns
    -------
    Family
        What the families say.
    """
    if not groups.steps:
        return Family(np.zeros(values.shape, np.float32), [])
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    above = sp.csr_array(sum(groups.steps[1:], start=groups.steps[0]).T)
    # Sums and counts of all groups without each fold, and with every label.
    left: list[tuple[Ints, Any, Any]] = []
    for number in range(int(fold.max(initial=-1)) + 1):
        own = rows[fold == number]
        part = sp.csr_array(above[:, own])
        sums = above @ filled - part @ filled[own]
        left.append((own, sums, above @ known - part @ known[own]))
    errors = np.zeros((len(PULLS), values.shape[1]))
    for error, pull in zip(errors, PULLS, strict=True):
        for own, sums, counts in left:
            said, _ = _means(sums, counts, groups, own, pull)
            error += (known[own] * (said - filled[own]) ** 2).sum(axis=0)
    pulls = np.array(PULLS)[errors.argmin(axis=0)]
    every = np.arange(len(values))
    shrunk, levels = _means(above @ filled, above @ known, groups, every, pulls)
    for own, sums, counts in left:
        shrunk[own], parts = _means(sums, counts, groups, own, pulls)
        for level, each in zip(levels, parts, strict=True):
            level[own] = each
    return Family(shrunk, levels)


def _means(
    sums: Any, counts: Any, groups: Groups, labels: Ints, pull: Floats | float
) -> tuple[Singles, list[Singles]]:
    """Shrunk means, from the farthest group down, and the plain ones of the nearest."""
    shrunk = np.zeros((len(labels), sums.shape[1]))
    plain: list[Floats] = []
    for step in groups.steps[::-1]:
        part = sp.csr_array(step[labels])
        total, n = part @ sums, part @ counts
        shrunk = (total + pull * shrunk) / (n + pull)
        plain.append(np.where(n > 0.5, total / np.maximum(n, 1), np.nan))
    levels = [
        np.where(np.isnan(each), shrunk, each).astype(np.float32)
        for each in plain[::-1][:LEVELS]
    ]
    return shrunk.astype(np.float32), levels
