"""Columns that are shares of a whole: predicted shares of a label fill what is left.

Neighbouring columns of numbers, such as the parts of a diet, may add up to 1 or 100 for
every label. Each is predicted by itself, so together they would miss the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from phcle.arrays import AnyFloats, Floats
from phcle.embedding.predictions import READ, Predictions
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
    before = np.zeros((len(values), 1))
    sums = np.hstack([before, np.cumsum(np.where(known, values, 0.0), axis=1)])
    gaps = np.hstack([before, np.cumsum(~known, axis=1)])
    lowest = np.where(known, values, 0.0).min(axis=0, initial=0.0)
    n_columns, start = values.shape[1], 0
    while start < n_columns - 1:
        for stop in range(min(start + WIDEST, n_columns), start + 1, -1):
            whole = gaps[:, stop] == gaps[:, start]
            if whole.sum() < FEWEST or (lowest[start:stop] < -LEAST).any():
                continue
            added = (sums[:, stop] - sums[:, start])[whole]
            off = [np.abs(added - total) for total in TOTALS]
            is_sum = [
                (x <= ROUNDED * total).mean() >= NEARLY
                for x, total in zip(off, TOTALS, strict=True)
            ]
            if any(is_sum):
                at = is_sum.index(True)
                slack = EXACT * TOTALS[at] + float(np.quantile(off[at], 0.8))
                yield Whole(slice(start, stop), TOTALS[at], slack)
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
    fields = np.array([x.kind == "number" for x in table.fields], dtype=bool)
    at = np.array([x.at.start for x in table.fields], dtype=np.int64)[fields]
    known = table.in_units(view.values * view.spread + view.centre)[:, at]
    runs = list(find_shares(known))
    if not runs:
        return

    def in_units(steps: AnyFloats) -> Floats:
        padded = np.zeros(view.values.shape)
        padded[:, at] = steps[:, fields] * table.scale[at] + table.offset[at]
        return table.in_units(padded)[:, at]

    said, low, high = (in_units(getattr(found, name)) for name in READ)
    for own, total, slack in runs:
        gaps = np.isnan(known[:, own])
        is_told = ~(gaps & np.isnan(said[:, own])).any(axis=1)
        rows = np.flatnonzero(gaps.any(axis=1) & is_told)
        gaps = gaps[rows]
        left = np.maximum(total - np.nansum(known[rows, own], axis=1), 0.0)[:, None]
        parts = np.where(gaps, np.maximum(said[rows, own], 0.0), 0.0)
        width = np.where(gaps, high[rows, own] - low[rows, own] + slack, 0.0)
        rest = left - parts.sum(axis=1, keepdims=True)
        parts = parts + rest * width / width.sum(axis=1, keepdims=True)
        parts = np.maximum(parts, 0.0) + np.where(gaps, LEAST * total, 0.0)
        filled = parts * left / parts.sum(axis=1, keepdims=True)
        alone = gaps.sum(axis=1, keepdims=True) == 1
        for ends, nearer, side in ((low, np.minimum, -1.0), (high, np.maximum, 1.0)):
            end = nearer(np.clip(ends[rows, own], 0.0, left), filled)
            sure = np.clip(filled + side * slack, 0.0, total)
            ends[rows, own] = np.where(gaps, np.where(alone, sure, end), np.nan)
        said[rows, own] = np.where(gaps, filled, np.nan)
        is_put = np.zeros(known.shape, dtype=bool)
        is_put[rows, own] = gaps
        for name, values in zip(READ, (said, low, high), strict=True):
            padded = np.ones(view.values.shape)
            padded[:, at] = np.maximum(values, LEAST * total)
            steps = (
                table.on_fit_scale(padded)[:, at] - table.offset[at]
            ) / table.scale[at]
            put = getattr(found, name)[:, fields]
            put[is_put] = steps[is_put]
            getattr(found, name)[:, fields] = put
