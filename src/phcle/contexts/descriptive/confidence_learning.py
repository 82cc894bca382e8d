"""Learn how sure predictions are, from cells that were hidden from trial fits.

All columns of a table share what they have in common. Each column may differ from that
as far as its own hidden cells show: a penalty holds columns with few of them near the
others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.chance_regressions import (
    fit_chances,
    fit_values_of_categories,
)
from phcle.contexts.descriptive.confidence import (
    Calibration,
    Curves,
    logit,
    steps_per_unit,
    with_family,
)
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions

COVERED = 0.8
"""Share of the truths that an interval holds."""

FEWEST = 30
"""Fewest hidden cells to learn curves from."""

MOST_OF_A_SORT = 50_000
"""Most hidden cells with their attribute that chances are learned from, evenly taken,
and most without it. More would change little."""

AS_MANY = 10.0
"""The width of a column's own intervals counts as much as that of all columns if it has
this many hidden cells."""

PARTS = 5
"""Labels are taken in so many parts to measure errors; each is predicted by others."""

LEVEL = 30.0
"""Predicted numbers are stretched, shrunk and mixed with the mean of the family as
hidden numbers tell, where the numbers of this many labels say that nothing need be
done. On real tables 10 to 30 predicted hidden cells best; with 100, small tables keep
too much of what they need not."""

CHANCE = 2.0
"""Slopes of columns are taken to differ if their spread is larger than chance would
make it, by this many standard deviations. With less, columns of few hidden cells learn
from noise."""

FARTHER = 0.5
"""Predictions for labels are trusted down to this share of the least support that a
hidden label had."""

ENOUGH_TO_WIDEN = 200
"""Fewest hidden numbers to learn from how the width depends on the support."""

WIDEST = 3.0
"""Largest logarithm of how much wider intervals are without support."""


def learn_calibration(
    hidden: HiddenPredictions, table: PredictingContext
) -> Calibration | None:
    """Learn curves from hidden cells.

    Parameters
    ----------
    hidden : HiddenPredictions
        Hidden cells of a table.
    table : PredictingContext
        The table.

    Returns
    -------
    Calibration or None
        The curves; None if too few cells were hidden.
    """
    if len(hidden.rows) < FEWEST or table.data is None:
        return None
    matrix = table.data.on_fit_scale().matrix
    moments = matrix.moments()
    n_having = matrix.n_having(moments.mean)
    share = n_having / np.maximum(moments.count, 1)
    if table.value_kind == "tags":  # the only label that has a tag is never hidden
        share[n_having < 2] = 0.0
    found = []
    for is_alone in (False, True):
        own = hidden.where(hidden.is_alone == is_alone)
        if len(own.rows) < FEWEST:  # the other cells are the best guess
            own = hidden
        curves = _curves(own, table, matrix.presence(), moments.deviation, share)
        found.append(curves)
    return Calibration(matrix.presence(), moments.deviation, *found)


def _curves(
    hidden: HiddenPredictions,
    table: PredictingContext,
    presence: Floats,
    deviation: Floats,
    share: Floats,
) -> Curves:
    """Curves of all columns, in which this share of the known cells has it."""
    n = len(table.columns)
    unit = steps_per_unit(table.scale, deviation)[hidden.columns]
    steps = hidden.fitted * unit
    has_it = hidden.has_it
    kind = np.empty(n, dtype=object)
    number_of = np.empty(n, dtype=np.int64)
    for i, field in enumerate(table.fields):
        kind[field.at], number_of[field.at] = field.kind, i
    is_category, is_number = kind == "category", kind == "number"
    intercept, slope = logit(presence), np.zeros(n)

    # Numbers above their mean are another matter than a yes or a tag.
    for single in (is_number, ~is_number & ~is_category):
        at = np.flatnonzero(single[hidden.columns])
        if not len(at):
            continue
        at, weight = _some_of_both_sorts(at, has_it, share[hidden.columns])
        shared, own, own_slope = fit_chances(
            hidden.columns[at],
            logit(hidden.presence[at]),
            steps[at],
            has_it[at].astype(np.float64),
            n,
            weight,
        )
        usual = shared[0] + shared[1] * logit(presence) + own
        slopes = shared[2] + shared[3] * logit(presence) + own_slope
        intercept[single] = usual[single]
        slope[single] = np.maximum(slopes, 0.0)[single]

    at = np.flatnonzero(is_category[hidden.columns])
    if len(at):
        columns = hidden.columns[at]
        shares = hidden.fitted[at] * table.scale[columns] + hidden.mean[at]
        shared, own, own_slope = fit_values_of_categories(
            hidden.question[at] * len(table.fields) + number_of[columns],
            columns,
            number_of,
            np.column_stack([np.log(hidden.presence[at]), steps[at], shares]),
            has_it[at].astype(np.float64),
        )
        # A share is the mean of its column plus the steps times its deviation.
        by_share = shared[2] + own_slope[number_of]
        usual = shared[0] * np.log(presence) + own + by_share * table.offset
        intercept[is_category] = usual[is_category]
        slopes = np.maximum(shared[1] + by_share * deviation, 0.0)
        slope[is_category] = slopes[is_category]

    # Labels that the table describes are never far from what it describes.
    least = FARTHER * float(hidden.support.min()) if hidden.is_alone.all() else 0.0
    curves = Curves.plain(intercept, slope, least, len(hidden.rows))
    at = is_number[hidden.columns] & (unit > 0)
    if np.count_nonzero(at) < FEWEST:
        return curves
    return _with_intervals(curves, hidden.where(at), unit[at])


def _some_of_both_sorts(at: Ints, has_it: Flags, share: Floats) -> tuple[Ints, Floats]:
    """Cells to learn chances from, and how many cells each one stands for.

    Of wide tables of tags nearly all cells are without their tag, so these are taken
    more sparsely. Together, cells with the attribute weigh as much as the share of
    their columns' known cells that has it: trials may happen to hide more or fewer, and
    then all chances would be too high or too low.
    """
    expected = float(share[at].sum())
    kept, weights = [], []
    for own, total in (
        (at[has_it[at]], expected),
        (at[~has_it[at]], len(at) - expected),
    ):
        some = own[:: len(own) // MOST_OF_A_SORT + 1]
        kept.append(some)
        weights.append(np.full(len(some), total / max(len(some), 1)))
    return np.concatenate(kept), np.concatenate(weights)


def _with_intervals(curves: Curves, hidden: HiddenPredictions, unit: Floats) -> Curves:
    """Add the tilt, the share of the family and the intervals of numbers.

    Widths are in standard deviations: `unit` of these is one of the fit. Errors of a
    label are those of tilts, shares and widths that were learned from other labels, as
    the labels that are asked for later are others too. These errors also tell whether
    columns should have tilts and shares of their own.
    """
    n, columns, far = len(curves.slope), hidden.columns, 1 - hidden.support
    part = hidden.rows % PARTS
    together = _errors_of_others(hidden, part, n, by_column=False)
    apart = _errors_of_others(hidden, part, n, by_column=True)
    by_column = bool(apart @ apart < together @ together)
    errors = (apart if by_column else together) * unit
    widening = _widening(columns, errors, far, n)
    relative = errors / np.exp(widening * far)
    sizes = np.abs(relative)
    for each in np.unique(part):
        own, others = part == each, part != each
        others = others if others.any() else own
        relative[own] /= _widths(columns[others], sizes[others], n)[columns[own]]
    # One more cell than there are: the truth that is still hidden.
    outside = max((1 - COVERED) / 2 - 0.5 / (len(relative) + 1), 0.0)
    low, high = np.quantile(relative, [outside, 1 - outside])
    tilt, share = _tilt_and_share(hidden, n, by_column=by_column)
    width = _widths(columns, sizes, n)
    return replace(
        curves,
        tilt=tilt,
        family=share,
        low=min(low, 0.0) * width,  # a number is inside its interval
        high=max(high, 0.0) * width,
        widening=widening,
    )


def _errors_of_others(
    hidden: HiddenPredictions, part: Ints, n: int, *, by_column: bool
) -> Floats:
    """Errors of each part of the labels with what the other parts teach."""
    errors = np.empty(len(part))
    for each in np.unique(part):
        own, others = part == each, part != each
        teachers = hidden.where(others if others.any() else own)
        tilt, share = _tilt_and_share(teachers, n, by_column=by_column)
        errors[own] = _errors(hidden.where(own), tilt, share)
    return errors


def _tilt_and_share(
    hidden: HiddenPredictions, n: int, *, by_column: bool
) -> tuple[Floats, Floats]:
    """How predictions are stretched, and the share of the family, in all columns.

    Both are learned in the units of the fit, or columns that vary little would
    dominate.
    """
    columns, fitted, truth = hidden.columns, hidden.fitted, hidden.truth
    labels = np.zeros(n, dtype=np.int64)  # with none, all columns have one slope
    if by_column:
        labels = np.bincount(np.unique(hidden.rows * n + columns) % n, minlength=n)
    level = LEVEL / (int(hidden.question.max()) + 1)
    usual = level * float(truth @ truth)
    tilt = _slopes(columns, fitted, truth, labels, usual, toward=1.0)
    tilt = np.maximum(tilt, 0.0)
    number = tilt[columns] * fitted
    away = np.nan_to_num(hidden.family - number)
    usual = level * float(away @ away)
    share = _slopes(columns, away, truth - number, labels, usual, toward=0.0)
    return tilt, np.clip(share, 0.0, 1.0)


def _errors(hidden: HiddenPredictions, tilt: Floats, share: Floats) -> Floats:
    """How far truths are from what is predicted, in the units of the fit."""
    number = tilt[hidden.columns] * hidden.fitted
    return hidden.truth - with_family(number, hidden.family, share[hidden.columns])


def _widths(columns: Ints, sizes: Floats, n: int) -> Floats:
    """Mean size of the errors of each column; few of them are joined by all others."""
    count = np.bincount(columns, minlength=n)
    usual = AS_MANY * sizes.mean()
    width = (np.bincount(columns, sizes, n) + usual) / (count + AS_MANY)
    return np.where(width > 0, width, 1.0)


def _slopes(
    columns: Ints, x: Floats, y: Floats, labels: Ints, usual: float, *, toward: float
) -> Floats:
    """Slopes of y on x in all columns, each with cells of so many labels.

    They are one slope for all columns, pulled to `toward` with the strength `usual`.
    Where slopes of columns differ by more than chance, each column keeps as much of its
    own as its error allows (DerSimonian and Laird, 1986). Labels count, not cells: a
    label that several trials hide has nearly the same error in each.
    """
    n = len(labels)
    square = float(x @ x) + usual
    shared = (float(x @ y) + usual * toward) / square if square > 0 else toward
    squares = np.bincount(columns, x * x, n)
    own = np.full(n, shared)
    np.divide(np.bincount(columns, x * y, n), squares, out=own, where=squares > 0)
    rest = np.bincount(columns, (y - own[columns] * x) ** 2, n)
    certainty = np.zeros(n)  # one by the squared error of each slope
    exact = np.finfo(np.float64).eps * np.bincount(columns, y * y, n)
    is_judged = (squares > 0) & (labels > 2) & (rest > exact)
    np.divide(squares * (labels - 1), rest, out=certainty, where=is_judged)
    if np.count_nonzero(is_judged) < 2:
        return np.full(n, shared)
    total, free = certainty.sum(), np.count_nonzero(is_judged) - 1
    distance = certainty @ (own - certainty @ own / total) ** 2
    surplus = distance - free - CHANCE * np.sqrt(2 * free)
    spread = max(surplus / (total - certainty @ certainty / total), 0.0)
    kept = spread * certainty / (1 + spread * certainty)
    return np.asarray(shared + kept * (own - shared))


def _widening(columns: Ints, errors: Floats, far: Floats, n: int) -> float:
    """How the logarithm of an error grows with the distance from other labels."""
    if len(errors) < ENOUGH_TO_WIDEN:
        return 0.0
    size = np.abs(errors)
    logs = np.log(np.maximum(size, 1e-3 * size.mean() + np.finfo(float).tiny))
    count = np.maximum(np.bincount(columns, minlength=n), 1)
    logs = logs - (np.bincount(columns, logs, n) / count)[columns]
    far = far - (np.bincount(columns, far, n) / count)[columns]
    spread = float(far @ far)
    return float(np.clip(far @ logs / spread, 0.0, WIDEST)) if spread > 0 else 0.0
