"""Scales of columns: which are fitted on a log scale, and whether units differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from phcle.arrays import Floats
from phcle.errors import check_choice

SKEWED, ENOUGH_TO_TELL = 1.0, 8
"""A column of positive numbers whose skewness exceeds this, on at least so many values,
is fitted on a log scale. An exponential distribution has a skewness of 2."""


def choose_log_columns(
    columns: Sequence[str],
    titles: Sequence[str],
    values: Floats,
    log: bool | Iterable[str] | None,
    name: str,
) -> tuple[str, ...]:
    """Choose the columns that are fitted on a log scale.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    titles : sequence of str
        For each column the title that it came from; another name marks a category.
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    log : bool, iterable of str, or None
        The user's choice; None leaves it to the skewness of the columns.
    name : str
        Name of the context, for messages.

    Returns
    -------
    tuple of str
        Names of the columns.
    """
    if log is not None and not isinstance(log, bool):
        wanted = tuple(log)
        for column in wanted:
            check_choice("log column", column, columns, f"context {name!r}")
        return wanted
    if log is False:
        return ()
    found = []
    for column, title, own in zip(columns, titles, values.T, strict=True):
        known = own[np.isfinite(own)]
        if column != title or not len(known) or known.min() <= 0:
            continue
        skewness, after = _skewness(known), _skewness(np.log(known))
        is_skewed = skewness > SKEWED and abs(after) < skewness
        if log or (is_skewed and len(known) >= ENOUGH_TO_TELL):
            found.append(column)
    return tuple(found)


def _skewness(values: Floats) -> float:
    """Third standardised moment; 0 for a constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = values - values.mean()
        spread = float(np.sqrt((away**2).mean()))
        return float(((away / spread) ** 3).mean()) if spread > 0 else 0.0


def units_differ(values: Floats, titles: Sequence[str]) -> bool:
    """Tell whether columns seem to be in different units.

    Parameters
    ----------
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    titles : sequence of str
        For each column the title of its field; values of a category share one, and so
        one spread.

    Returns
    -------
    bool
        Whether the spread of any field is more than ten times larger or smaller than
        the median spread.
    """
    known = np.isfinite(values)  # infinite values are refused later, with their label
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / count
    _, field = np.unique(titles, return_inverse=True)
    with np.errstate(over="ignore"):  # an infinite spread differs, which is right
        squares = np.where(known, filled - mean, 0.0) ** 2
        spread = np.sqrt(np.bincount(field, squares.sum(axis=0) / count))
    spread = spread[spread > 0]
    if len(spread) < 2:
        return False
    middle = np.median(spread)
    return bool(spread.max() > 10 * middle or spread.min() < middle / 10)
