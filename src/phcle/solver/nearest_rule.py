"""The rule of the nearest labels: the mean of those that are most alike.

Users would try it first, so completion is scored beside it. Labels are alike if their
known cells are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.contexts.masked import MaskedMatrix

__all__ = ["nearest_values"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

NEIGHBOURS = 10
"""Labels whose values the rule of the nearest labels averages."""

MOST_COMPARED = 2_000_000
"""Most cells of a table for the rule of the nearest labels, which takes a distance to
every label; above, it is left out."""

MOST_WORK, FEWEST_ASKED, PER_LABEL = 400_000_000, 200, 50
"""The nearest labels are looked for in as many rows as this number of steps allows, a
second or two, but in at least so many rows. A row takes a step for each cell of the
table, and so many for each label, to sort them."""

LOOKED_AT, ASKED_AT_ONCE = 20, 100
"""Nearest labels among which known cells are looked for first, and rows at once. Where
these are too few, ten times as many are looked at."""


def nearest_values(
    matrix: MaskedMatrix, at: Ints, scale: Floats, cells: HiddenPredictions
) -> Floats:
    """Predict hidden cells by the nearest labels that know their column.

    Distances are over the columns that both labels know, without the hidden cells of
    the label that is asked for.

    Parameters
    ----------
    matrix : MaskedMatrix
        The whole table.
    at : array of int
        Positions of its labels among all.
    scale : array of shape (columns,)
        What values are divided by before they are compared.
    cells : HiddenPredictions
        The hidden cells.

    Returns
    -------
    array of shape (cells,)
        Means of the nearest labels; the mean of the column where there are none, and
        NaN where none is looked for.
    """
    found = np.full(len(cells.rows), np.nan)
    n_labels, n_columns = matrix.shape
    if n_labels * n_columns > MOST_COMPARED:
        return found
    values = _dense(matrix)
    known = ~np.isnan(values)
    filled = np.where(known, values / scale, 0.0)
    compared = _Compared(filled, filled**2, known.astype(np.float64))
    row_of = np.full(int(at.max()) + 1, -1)
    row_of[at] = np.arange(len(at))
    pair_of = cells.question
    n_pairs = int(pair_of.max()) + 1
    label_of = np.empty(n_pairs, dtype=np.int64)
    label_of[pair_of] = cells.rows
    most = max(FEWEST_ASKED, MOST_WORK // (n_labels * (n_columns + PER_LABEL)))
    asked = np.linspace(0, n_pairs - 1, min(n_pairs, most))
    asked = np.unique(asked.round().astype(np.int64))
    for start in range(0, len(asked), ASKED_AT_ONCE):
        block = asked[start : start + ASKED_AT_ONCE]
        inside = np.flatnonzero(np.isin(pair_of, block))
        number, columns = np.searchsorted(block, pair_of[inside]), cells.columns[inside]
        rows = row_of[label_of[block]]
        seen = known[rows]
        seen[number, columns] = False
        away = _distances(compared, rows, seen)
        found[inside] = _mean_of_nearest(values, known, away, number, columns)
    usual = matrix.moments().mean[cells.columns]
    return np.where(np.isin(pair_of, asked) & np.isnan(found), usual, found)


@dataclass(frozen=True)
class _Compared:
    """A table as distances need it: (labels, columns) each."""

    filled: Floats  # zero where unknown
    squares: Floats
    known: Floats  # 1 or 0


def _distances(all_rows: _Compared, rows: Ints, seen: Flags) -> Floats:
    """Mean squares between some rows and all, over columns seen in both.

    Infinite for the row itself and where no column is shared.
    """
    filled, known = all_rows.filled, all_rows.known
    here = seen.astype(np.float64)
    own = filled[rows] * here
    squares = here @ all_rows.squares.T - 2 * own @ filled.T + own**2 @ known.T
    shared = here @ known.T
    away = np.full(squares.shape, np.inf)
    np.divide(squares, shared, out=away, where=shared > 0)
    away[np.arange(len(rows)), rows] = np.inf
    # Equal distances stay equal, so that the order of the labels decides.
    return np.round(away, 9)


def _mean_of_nearest(
    values: Floats, known: Flags, away: Floats, number: Ints, columns: Ints
) -> Floats:
    """Means of the nearest labels that know a column; NaN where there are none."""
    order = np.argsort(away, axis=1, kind="stable")
    is_near = np.isfinite(np.take_along_axis(away, order, axis=1))
    n_near = is_near.sum(axis=1)
    found = np.full(len(number), np.nan)
    left, width = np.arange(len(number)), LOOKED_AT
    while len(left):
        near, own = order[number[left], :width], columns[left, None]
        has_value = known[near, own] & is_near[number[left], :width]
        has_value &= has_value.cumsum(axis=1) <= NEIGHBOURS
        count = has_value.sum(axis=1)
        sums = np.where(has_value, values[near, own], 0.0).sum(axis=1)
        is_known = count > 0
        found[left[is_known]] = sums[is_known] / count[is_known]
        left = left[(count < NEIGHBOURS) & (width < n_near[number[left]])]
        width *= 10
    return found


def _dense(matrix: MaskedMatrix) -> Floats:
    """All values of a table; NaN where unknown."""
    stored, mask = matrix.arrays
    if not sp.issparse(stored):
        return np.asarray(stored, np.float64)
    values = np.asarray(cast(Any, stored).toarray(), np.float64)
    return values if mask is None else np.where(mask.toarray() > 0, values, np.nan)
