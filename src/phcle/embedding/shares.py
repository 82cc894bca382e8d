"""Columns that are shares of a whole: predicted shares of a label fill what is left.

Neighbouring columns of numbers, such as the parts of a diet, may add up to 1 or 100 for
every label. Each is predicted by itself, so together they would miss the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from phcle.arrays import Floats
from phcle.embedding.predictions import Predictions
from phcle.embedding.table_view import TableView

TOTALS = (1.0, 100.0)

FEWEST, NEARLY, ROUNDED = 20, 0.95, 0.011
"""Complete rows that tell that columns are shares, the part of them that must add up,
and how far off rounded shares may be."""

LEAST, EXACT = 1e-9, 1e-4
"""Least share of a total, since columns on a log scale have no zero, and how exact a
share in single precision is."""

WIDEST = 40
"""Most columns that are looked at together."""


class Whole(NamedTuple):
    """Columns that add up.

    Parameters
    ----------
    columns : slice
        The columns.
    total : float
        What they add up to.
    slack : float
        How far off the sums of four rows in five are at most.
    """

    columns: slice
    total: float
    slack: float


def find_shares(values: Floats) -> Iterator[Whole]:
    """Find runs of columns whose complete rows add up, the longest first from the left.

    Parameters
    ----------
    values : array of shape (rows, columns)
        Numbers in the user's units; NaN is missing.

    Yields
    ------
    Whole
        Columns that add up.
    """
    known = ~np.isnan(values)
    start, n_columns = 0, values.shape[1]
    while start < n_columns - 1:
        for stop in range(min(start + WIDEST, n_columns), start + 1, -1):
            own = slice(start, stop)
            parts = values[known[:, own].all(axis=1), own]
            if len(parts) < FEWEST or parts.min() < -LEAST:
                continue
            added = parts.sum(axis=1)
            total = min(TOTALS, key=lambda x: abs(np.median(added) - x))
            off = np.abs(added - total)
            if (off <= ROUNDED * total).mean() >= NEARLY:
                slack = EXACT * total + float(np.quantile(off, 0.8))
                yield Whole(own, total, slack)
                start = stop - 1
                break
        start += 1


def fill_shares(view: TableView, found: Predictions) -> None:
    """Scale the predicted shares of each label to what its known shares leave.

    What is missing or too much is spread by the widths of the intervals. A share that
    is the only gap of its whole is what is left.

    Parameters
    ----------
    view : TableView
        A table of numbers, categories and truth values.
    found : Predictions
        What is predicted for it; changed in place.
    """
    table = view.table
    kinds = np.array([x.kind for x in table.fields])
    numbers, at = np.flatnonzero(kinds == "number"), np.flatnonzero(table.is_number)
    offset, scale = table.offset[at], table.scale[at]

    def alone(values: Floats, change: Callable[[Floats], Floats]) -> Floats:
        padded = np.ones((*values.shape[:-1], len(table.columns)))
        padded[..., at] = values  # all columns change their scale together
        return change(padded)[..., at]

    scaled = view.values[:, at] * view.spread[at] + view.centre[at]
    known = alone(scaled, table.in_units)
    is_put = np.zeros(known.shape, dtype=bool)
    steps = found.numbers[:, numbers].transpose(2, 0, 1)
    said, low, high = every = alone(steps * scale + offset, table.in_units)
    for own, total, slack in find_shares(known):
        gaps = np.isnan(known[:, own])
        is_predicted = ~(gaps & np.isnan(said[:, own])).any(axis=1)
        rows = np.flatnonzero(gaps.any(axis=1) & is_predicted)
        gaps, least = gaps[rows], LEAST * total
        left = np.maximum(total - np.nansum(known[rows, own], axis=1), 0.0)[:, None]
        parts = np.where(gaps, np.maximum(said[rows, own], 0.0), 0.0)
        width = np.where(gaps, high[rows, own] - low[rows, own] + slack, 0.0)
        rest = left - parts.sum(axis=1, keepdims=True)
        parts = parts + rest * width / width.sum(axis=1, keepdims=True)
        parts = np.maximum(parts, 0.0) + np.where(gaps, least, 0.0)
        filled = parts * left / parts.sum(axis=1, keepdims=True)
        is_single = gaps.sum(axis=1, keepdims=True) == 1
        for ends, nearer, side in ((low, np.minimum, -1.0), (high, np.maximum, 1.0)):
            end = nearer(np.clip(ends[rows, own], 0.0, left), filled)
            sure = np.clip(filled + side * slack, 0.0, total)
            ends[rows, own] = np.maximum(np.where(is_single, sure, end), least)
        said[rows, own] = np.maximum(filled, least)
        is_put[rows, own] = gaps
    scaled = (alone(every, table.on_fit_scale) - offset) / scale
    found.numbers[:, numbers] = np.where(is_put, scaled, steps).transpose(1, 2, 0)
