"""Find contexts that say nearly the same: a table or a hierarchy that is given twice.

Two contexts are near-copies if almost every column of one has a column of the other
that it correlates with almost perfectly, in both directions. Order, names and scales of
the columns do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.base.fitted_context import FittedContext

__all__ = ["near_copies"]

Floats = npt.NDArray[np.floating[Any]]

MOST_LABELS, MOST_COLUMNS = 300, 200
"""Most labels and columns that are compared. More would not change the answer."""

FEWEST_LABELS = 10
"""Fewest labels that both must know. With fewer, columns correlate by chance."""

SAME = 0.99
"""Least correlation of columns that say the same."""

SHARE = 0.9
"""Share of the columns that must have such a partner."""


def near_copies(
    contexts: Sequence[FittedContext], rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Group the contexts that say nearly the same.

    Parameters
    ----------
    contexts : sequence of FittedContext
        Contexts over the same labels.
    rng : numpy.random.Generator
        Draws the labels that are compared.

    Returns
    -------
    list of tuple of str
        Names of near-copies, as the user gave them; contexts without one are left out.
    """
    groups: list[list[FittedContext]] = []
    for context in contexts:
        for group in groups:
            if group[0].kind == context.kind and _same(group[0], context, rng):
                group.append(context)
                break
        else:
            groups.append([context])
    found = (tuple(dict.fromkeys(x.given_name for x in group)) for group in groups)
    return list(dict.fromkeys(names for names in found if len(names) > 1))


def _same(a: FittedContext, b: FittedContext, rng: np.random.Generator) -> bool:
    common = np.flatnonzero(a.observed & b.observed)
    smaller = min(np.count_nonzero(a.observed), np.count_nonzero(b.observed))
    if len(common) < max(FEWEST_LABELS, smaller / 2):
        return False
    if len(common) > MOST_LABELS:
        common = np.sort(rng.choice(common, MOST_LABELS, replace=False))
    x, x_known = a.dense_cells(common, MOST_COLUMNS)
    y, y_known = b.dense_cells(common, MOST_COLUMNS)
    # Only cells that both know count.
    norms = ((x**2).T @ y_known) * (x_known.T.astype(np.float64) @ y**2)
    cosines = np.abs(x.T @ y) / np.sqrt(np.maximum(norms, np.finfo(np.float64).tiny))
    n_both = x_known.T.astype(np.float64) @ y_known
    is_same = (cosines > SAME) & (n_both >= FEWEST_LABELS)
    for axis, values in ((1, x), (0, y)):
        varies = np.asarray(values.any(axis=0))
        has_partner = np.asarray(is_same.any(axis=axis))
        if not varies.any() or has_partner[varies].mean() < SHARE:
            return False
    return True
