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

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.family_means import Groups

LEVELS = 3
"""Nearest levels of a hierarchy whose plain means readers are given."""

PRIOR = 1.5
"""Variance within groups over that between them, as long as nothing is known of it."""

LEAST, MOST = 0.3, 20.0
"""Bounds of the number of labels that the level above counts for."""

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
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    shape = values.shape
    if not groups.steps:
        return Family(np.zeros(shape, np.float32), [])
    above = sp.csr_array(sum(groups.steps[1:], start=groups.steps[0]).T)
    pull = _pull(filled, known, groups.steps[0])
    every = np.arange(shape[0])
    shrunk, levels = _means(above @ filled, above @ known, groups, every, pull)
    for number in range(int(fold.max(initial=-1)) + 1):
        own = rows[fold == number]
        part = sp.csr_array(above[:, own])
        sums = above @ filled - part @ filled[own]
        counts = above @ known - part @ known[own]
        shrunk[own], parts = _means(sums, counts, groups, own, pull)
        for level, each in zip(levels, parts, strict=True):
            level[own] = each
    return Family(shrunk, levels)


def _pull(filled: Floats, known: Flags, nearest: sp.csr_array) -> Floats:
    """How many labels the level above counts for, by each column's own variances."""
    inside = sp.csr_array(nearest.T)
    counts = inside @ known.astype(np.float64)
    sums = inside @ filled
    squares = inside @ filled**2
    total = (filled**2).sum(0) / np.maximum(known.sum(0), 1)
    free = np.maximum(counts - 1, 0).sum(0)
    left = (squares - sums**2 / np.maximum(counts, 1)).sum(0)
    within = left / np.maximum(free, 1)
    between = np.maximum(total - within, 0.05 * total)
    ratio = np.where(free > 0, within / np.maximum(between, 1e-12), PRIOR)
    return np.asarray(np.clip(np.sqrt(PRIOR * ratio), LEAST, MOST))


def _means(
    sums: Any, counts: Any, groups: Groups, labels: Ints, pull: Floats
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
