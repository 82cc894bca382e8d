"""How much of a context changed since an earlier fit: labels, columns and values."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from phcle.contexts.base.context import Context
from phcle.contexts.labels import index_of

__all__ = ["changed_share"]

EXACT, LOOSE = 1e-6, 0.1
"""Numbers that differ by less than this share are the same: files may round values of
tables, and the weights of words change a little with every new text."""


def changed_share(
    before: Context, now: Context, labels: Collection[str], *, loose: bool = False
) -> float:
    """Compute the share of cells that are new, gone or different.

    Parameters
    ----------
    before : Context
        The context of the earlier fit.
    now : Context
        The context today.
    labels : collection of str
        Labels of today's fit; others do not count.
    loose : bool, default False
        Ignore small differences, as of contexts whose numbers are computed.

    Returns
    -------
    float
        Between 0, all cells are the same, and 1, none is.

    Examples
    --------
    >>> from phcle import DescriptiveContext
    >>> old = DescriptiveContext.from_tags({"cat": ["fur"], "dog": ["fur", "tail"]})
    >>> new = DescriptiveContext.from_tags({"cat": ["fur"], "dog": ["fur"]})
    >>> round(changed_share(old, new, ["cat", "dog"]), 2)
    0.33
    """
    rows = index_of(dict.fromkeys((*before.labels, *now.labels)))
    columns = index_of(dict.fromkeys((*before.cell_columns, *now.cell_columns)))
    wanted = set(labels)
    old, theirs = _cells(before, rows, columns, None)
    new, ours = _cells(now, rows, columns, wanted)
    _, at_old, at_new = np.intersect1d(
        old, new, assume_unique=True, return_indices=True
    )
    a, b = theirs[at_old], ours[at_new]
    most = (LOOSE if loose else EXACT) * np.maximum(np.abs(a), np.abs(b))
    n_same = int(np.count_nonzero(np.abs(a - b) <= most))
    n_all = len(old) + len(new) - len(at_old)
    return 1.0 - n_same / n_all if n_all else 0.0


def _cells(
    context: Context,
    rows: Mapping[str, int],
    columns: Mapping[str, int],
    wanted: set[str] | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """A number for each cell, the same in both contexts, and the values."""
    i, j, values = context.stored_cells()
    row_of = np.array([rows[label] for label in context.labels], dtype=np.int64)
    column_of = np.array([columns[x] for x in context.cell_columns], dtype=np.int64)
    if wanted is not None:
        kept = np.array([label in wanted for label in context.labels], dtype=bool)[i]
        i, j, values = i[kept], j[kept], values[kept]
    keys = np.asarray(row_of[i] * len(columns) + column_of[j], np.int64)
    return keys, np.asarray(values, np.float64)
