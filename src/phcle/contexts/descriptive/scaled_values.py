"""Offsets and scales of columns, and which of them are fitted on a log scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.gaps import Gaps
from phcle.contexts.terms import UNITS
from phcle.errors import check_choice

TRUTH_SPREAD, VALUE_SPREAD = 0.5, 0.5**0.5
"""What truth values, and values of a category, are scaled by where numbers are scaled
by their spread: the spread of a yes that half of the labels have, and of both values of
such a category. By its own spread, a yes that few labels have would outweigh all their
other cells, and a category with many values all other columns."""


def offset_and_scale(
    matrix: Gaps, titles: Sequence[str], *, standardize: bool
) -> tuple[Floats, Floats]:
    """Compute the mean of each column, and one scale for all columns or one for each.

    Scaled values have about `UNITS` of squared deviation per fully described label.
    Columns that are unknown or constant say nothing, so they change no scale.

    Parameters
    ----------
    matrix : Gaps
        Values in the user's units.
    titles : sequence of str
        For each column the title of its field; values of a category share one.
    standardize : bool
        Give each column its own scale.

    Returns
    -------
    offset, scale : arrays of shape (columns,)
        Offsets and scales, in the user's units.
    """
    found = matrix.moments()
    if standardize:
        _, field, size = np.unique(titles, return_inverse=True, return_counts=True)
        n_varying = len(np.unique(field[found.varies]))
        spread = np.where(found.varies, found.deviation, found.unit)
        spread[matrix.is_truth()] = TRUTH_SPREAD
        spread[size[field] > 1] = VALUE_SPREAD
    else:
        n_varying = int(found.varies.sum())
        mean = found.squares.sum() / max(found.count[found.varies].sum(), 1)
        spread = np.full(
            matrix.shape[1], np.sqrt(mean if mean > 0 else 1.0) * found.unit
        )
    scale = spread * np.sqrt(max(n_varying, 1) / UNITS)
    return found.mean, np.maximum(scale, np.finfo(np.float64).tiny)


SKEWED, ENOUGH_TO_TELL, MANY = 1.0, 8, 10_000
"""A column without negative numbers whose skewness exceeds this, on at least so many
values, is fitted on a log scale; whether it is a yes or no is seen among so many. An
exponential distribution has a skewness of 2."""


def choose_log_columns(
    columns: Sequence[str],
    titles: Sequence[str],
    values: Floats,
    log: bool | Iterable[str] | None,
    name: str,
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Choose the columns that are fitted on a log scale, and what is added before.

    Where numbers are skewed and some are zero, the median of the others is added.

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
    names : tuple of str
        Names of the columns.
    shifts : tuple of float
        What is added to the numbers of each before their logarithm.
    """
    if log is False:
        return (), ()
    wanted = None if log is None or isinstance(log, bool) else tuple(log)
    for column in wanted or ():
        check_choice("log column", column, columns, f"context {name!r}")
    found = {}
    for column, title, own in zip(columns, titles, values.T, strict=True):
        known = own[np.isfinite(own)]
        if wanted is not None:
            if column in wanted:
                found[column] = _shift(known)
            continue
        if column != title or not len(known) or known.min() < 0:
            continue
        if log:
            found[column] = _shift(known)
        elif len(known) >= ENOUGH_TO_TELL and len(np.unique(known[:MANY])) > 2:
            skewness = _skewness(known)
            if skewness > SKEWED and abs(_skewness(np.log(known + _shift(known)))) < (
                skewness
            ):
                found[column] = _shift(known)
    return tuple(found), tuple(found.values())


def _shift(known: Floats) -> float:
    """What is added before a logarithm: something only where a number is zero."""
    above = known[known > 0]
    return float(np.median(above)) if len(above) and (known == 0).any() else 0.0


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
