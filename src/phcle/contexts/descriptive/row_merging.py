"""Merge rows of a table that the user's synonyms make one label."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats
from phcle.contexts.descriptive.sources import Cells
from phcle.contexts.gaps import Gaps
from phcle.contexts.labels import is_missing
from phcle.errors import ContextError, ContextWarning, some

if TYPE_CHECKING:
    from phcle.contexts.descriptive.data import DescriptiveContext


def merge_rows(
    context: DescriptiveContext, labels: Sequence[str]
) -> DescriptiveContext:
    """Give rows new labels, and merge rows with the same one.

    A merged label has the tags of all its rows. In a table, a cell that one row lacks
    is taken from another; two different values are refused. Of several texts or
    vectors, the first is kept, with a warning.

    Parameters
    ----------
    context : DescriptiveContext
        The rows.
    labels : sequence of str
        The new label of each row.

    Returns
    -------
    DescriptiveContext
        One row per label, in order of first appearance.
    """
    rows: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        rows.setdefault(label, []).append(i)
    firsts = [own[0] for own in rows.values()]
    source = None if context.source is None else context.source.take(firsts)
    matrix = context.matrix.take(firsts)
    several = {label: own for label, own in rows.items() if len(own) > 1}
    is_table = context.readable and (source is None or isinstance(source, Cells))
    if not is_table:
        warnings.warn(
            f"context {context.name!r}: {some(several)} have several rows; the first "
            "is used.",
            ContextWarning,
            stacklevel=6,
        )
        return context.with_matrix(matrix, labels=list(rows), source=source)
    is_tags = context.is_sparse and source is None and context.matrix.is_complete
    merged = np.array(
        [
            np.max([context.matrix.row(i) for i in own], axis=0)
            if is_tags
            else _merged(context, own, label)
            for label, own in several.items()
        ]
    )
    below = sp.csr_array(merged) if context.is_sparse and is_tags else merged
    stacked = matrix.stacked(Gaps.of(below, None, context.name))
    place = {label: len(rows) + i for i, label in enumerate(several)}
    order = [place.get(label, i) for i, label in enumerate(rows)]
    if isinstance(context.source, Cells):
        cells = {
            title: [_first_known(column, own) for own in rows.values()]
            for title, column in context.source.cells.items()
        }
        source = Cells(context.source.titles, cells, context.source.left_out)
    return context.with_matrix(stacked.take(order), labels=list(rows), source=source)


def _merged(context: DescriptiveContext, rows: Sequence[int], label: str) -> Floats:
    """The known cells of all rows, which must not contradict each other."""
    found = context.matrix.row(rows[0]).copy()
    for i in rows[1:]:
        other = context.matrix.row(i)
        contrary = np.flatnonzero(
            ~np.isnan(found) & ~np.isnan(other) & (found != other)
        )
        if len(contrary):
            at = int(contrary[0])
            raise ContextError(
                f"context {context.name!r}: {context.labels[rows[0]]!r} and "
                f"{context.labels[i]!r} are one label by your synonyms, but their "
                f"{context.columns[at]!r} are {found[at]:g} and {other[at]:g}; correct "
                f"one of them, or take the synonym of {label!r} back."
            )
        found = np.where(np.isnan(found), other, found)
    return found


def _first_known(column: Sequence[Any], rows: Sequence[int]) -> Any:
    return next((column[i] for i in rows if not is_missing(column[i])), column[rows[0]])
