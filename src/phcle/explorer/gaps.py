"""Unknown cells to go through: of a label or of a column, the surest first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phcle.answers import Answer, ColumnSkill, Named
from phcle.embedding.complete import completed_cells
from phcle.embedding.summary import summarise
from phcle.errors import OptionError
from phcle.explorer.attribute_query import parse_attribute
from phcle.explorer.label_columns import ShownCell, shown
from phcle.explorer.label_table import page_of
from phcle.explorer.opened_embedding import Opened

N_GAPS = 25
"""Cells of a page: each has reasons to read."""

MOST_COLUMNS = 300
"""Columns that the page lists."""


@dataclass(frozen=True)
class Gaps(Answer):
    """Unknown cells of a label or of a column.

    Attributes
    ----------
    label : Named or None
        The label, if they are those of a label.
    context, column : str
        The column, if they are those of a column.
    n : int
        Number of all these cells.
    page, pages : int
        Number of this page, from 1, and of all pages.
    cells : tuple of ShownCell
        The cells of this page.
    skill : ColumnSkill or None
        How well hidden cells of the column were predicted.
    """

    label: Named | None
    context: str
    column: str
    n: int
    page: int
    pages: int
    cells: tuple[ShownCell, ...]
    skill: ColumnSkill | None = None


@dataclass(frozen=True)
class ColumnGaps(Answer):
    """How many cells of a column are unknown.

    Attributes
    ----------
    context, column : str
        The column.
    kind : str
        What it holds.
    n : int
        Number of unknown cells.
    skill : ColumnSkill or None
        How well hidden cells of it were predicted.
    """

    context: str
    column: str
    kind: str
    n: int
    skill: ColumnSkill | None


@lru_cache(maxsize=2)  # the embedding does not change
def gaps_by_column(opened: Opened) -> tuple[ColumnGaps, ...]:
    """Count the unknown cells of the columns of tables.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    tuple of ColumnGaps
        The columns with gaps; tags are left out, because most labels lack most tags.
    """
    skills = _skills(opened)
    found = []
    for (context, title), field in opened.columns.fields.items():
        table = opened.columns.tables[context]
        data = table.context.data
        if field.kind == "tag" or table.context.weight <= 0 or data is None:
            continue
        known = ~np.isnan(data.matrix.column(field.at.start)[table.positions >= 0])
        n = len(opened.embedding) - int(known.sum())
        if n:
            own = skills.get((context, title))
            found.append(ColumnGaps(context, title, field.kind, n, own))
    return tuple(found[:MOST_COLUMNS])


def _skills(opened: Opened) -> dict[tuple[str, str], ColumnSkill]:
    """How well the columns were predicted, where that was measured."""
    completion = summarise(opened.embedding).completion
    columns = () if completion is None else completion.columns
    return {(x.context, x.column): x for x in columns}


def unknown_cells(
    opened: Opened, label: str, column: str, page: int, *, least_sure_first: bool
) -> Gaps:
    """Predict the unknown cells of a label or of a column.

    Parameters
    ----------
    opened : Opened
        The embedding.
    label : str
        A label's id or its readable name; empty for a column.
    column : str
        A column, for `parse_attribute`.
    page : int
        Number of the page.
    least_sure_first : bool
        Whether the order of a column is reversed.

    Returns
    -------
    Gaps
        The cells.
    """
    if label.strip():
        return _gaps_of_label(opened, opened.embedding.resolve(label), page)
    if not column:
        raise OptionError("give a label or a column, whose unknown cells to predict.")
    return _gaps_of_column(
        opened, *parse_attribute(column), page, least_sure_first=least_sure_first
    )


def _gaps_of_label(opened: Opened, label: str, page: int) -> Gaps:
    """Cells of a label, the surest first; numbers, without confidence, come last."""
    found = completed_cells(
        opened.embedding,
        labels=[label],
        probabilities=True,
    )
    cells = sorted(found, key=lambda x: -1.0 if x.confidence is None else -x.confidence)
    cells.sort(key=lambda x: x.confidence is None)
    chosen, page, pages = page_of(cells, page, N_GAPS)
    gaps = tuple(map(shown, chosen))
    whose = opened.named(label)
    return Gaps(whose, "", "", len(cells), page, pages, gaps)


def _gaps_of_column(
    opened: Opened, context: str, column: str, page: int, *, least_sure_first: bool
) -> Gaps:
    """Cells of a column, the surest first: by probability, or width of the interval."""
    rows = opened.columns.get(context, column).gaps
    if least_sure_first:
        rows = rows[::-1]
    chosen, page, pages = page_of(rows, page, N_GAPS)
    labels = [opened.embedding.labels[i] for i in chosen.tolist()]
    cells = completed_cells(
        opened.embedding,
        labels=labels,
        columns=[column],
        contexts=[context],
        probabilities=True,
    )
    by_label = {cell.label: cell for cell in cells}
    gaps = tuple(shown(by_label[x]) for x in labels if x in by_label)
    skill = _skills(opened).get((context, column))
    return Gaps(None, context, column, len(rows), page, pages, gaps, skill)
