"""The table of all labels: filtered, sorted and paged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.answers import Answer, Named
from phcle.explorer.answers import Node
from phcle.explorer.attribute_query import parse_attribute
from phcle.explorer.label_filters import Filter, rows_of
from phcle.explorer.opened_embedding import Opened
from phcle.files.csv_text import csv_lines
from phcle.uses.label_columns import FieldColumn

Rows = npt.NDArray[np.int32]

MOST_SHOWN = 6
"""Columns that the table shows unless others are chosen: more do not fit."""

N_ROWS = 50


@dataclass(frozen=True)
class TableColumn(Answer):
    """A column of the table.

    Attributes
    ----------
    context, title : str
        The field.
    kind : str
        "number", "truth", "category" or "tag".
    """

    context: str
    title: str
    kind: str


@dataclass(frozen=True)
class TableCell(Answer):
    """A cell of the table.

    Attributes
    ----------
    value : float, str or None
        The value; None if it is neither known nor predicted.
    text : str
        The value as it is shown.
    observed : bool
        Whether it is known.
    how : str
        Where it comes from, in words.
    """

    value: float | str | None
    text: str
    observed: bool
    how: str


@dataclass(frozen=True)
class TableRow(Named):
    """A row of the table.

    Attributes
    ----------
    parent : Node or None
        The first parent of the label in the hierarchy.
    cells : tuple of TableCell
        A cell for each column.
    """

    parent: Node | None
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class LabelTable(Answer):
    """A page of the table of all labels.

    Attributes
    ----------
    columns : tuple of TableColumn
        The columns beside label and parent.
    rows : tuple of TableRow
        The rows of this page.
    n : int
        Number of labels that pass the filters.
    total : int
        Number of all labels.
    page, pages : int
        Number of this page, from 1, and of all pages.
    sort : str
        "name", "id", or the field that rows are sorted by, as JSON.
    descending : bool
        Whether large values come first.
    """

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    n: int
    total: int
    page: int
    pages: int
    sort: str
    descending: bool


def shown_columns(opened: Opened, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Choose the columns of the table.

    Parameters
    ----------
    opened : Opened
        The embedding.
    chosen : sequence of str
        Fields for `parse_attribute`; without any, the first ones are shown.

    Returns
    -------
    list of (str, str)
        Context and title of each column; unknown ones are refused.
    """
    if not chosen:
        fields = opened.columns.fields
        plain = [key for key, field in fields.items() if field.kind != "tag"]
        return (plain or list(fields))[:MOST_SHOWN]
    found = list(dict.fromkeys(map(parse_attribute, chosen)))
    for key in found:
        opened.columns.field(*key)
    return found


def sorted_rows(
    opened: Opened, filters: Sequence[Filter], sort: str, *, descending: bool
) -> Rows:
    """Find the labels that pass filters, in order.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        The filters.
    sort : str
        "name", "id", or a field for `parse_attribute`; "" keeps the order of the file.
    descending : bool
        Whether large values come first.

    Returns
    -------
    array of int
        Rows of the labels.
    """
    passes = rows_of(opened, filters)
    if sort in ("name", "id"):
        order = opened.rows_by_name if sort == "name" else opened.rows_by_id
        rows = order[passes[order]]
    elif sort:
        column = opened.columns.get(*parse_attribute(sort))
        order = column.order(descending=descending)
        return order[passes[order]]
    else:
        rows = np.flatnonzero(passes).astype(np.int32)
    return rows[::-1] if descending else rows


def label_table(
    opened: Opened,
    filters: Sequence[Filter],
    *,
    chosen: Sequence[str] = (),
    sort: str = "",
    descending: bool = False,
    page: int = 1,
    size: int = N_ROWS,
) -> LabelTable:
    """Make a page of the table.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        Which labels.
    chosen : sequence of str, default=()
        Columns, for `shown_columns`.
    sort : str, default=""
        The order, for `sorted_rows`.
    descending : bool, default=False
        Whether large values come first.
    page : int, default=1
        Number of the page; the last one if there are fewer.
    size : int, default=50
        Rows of a page.

    Returns
    -------
    LabelTable
        The page.
    """
    rows = sorted_rows(opened, filters, sort, descending=descending)
    columns = [opened.columns.get(*key) for key in shown_columns(opened, chosen)]
    shown, page, pages = page_of(rows, page, size)
    return LabelTable(
        tuple(TableColumn(x.context, x.title, x.kind) for x in columns),
        tuple(_row(opened, row, columns) for row in shown.tolist()),
        len(rows),
        len(opened.embedding),
        page,
        pages,
        sort,
        descending,
    )


def page_of(rows: Any, page: int, size: int) -> tuple[Any, int, int]:
    """Cut a page out of rows.

    Parameters
    ----------
    rows : sequence or array
        All rows.
    page : int
        Number of the page, from 1; after the last one, the last.
    size : int
        Rows of a page.

    Returns
    -------
    tuple of sequence, int and int
        The rows of the page, its number, and the number of pages.

    Examples
    --------
    >>> page_of("abcde", 9, 2)
    ('e', 3, 3)
    """
    pages = max(-(-len(rows) // size), 1)
    page = min(page, pages)
    return rows[(page - 1) * size : page * size], page, pages


def _row(opened: Opened, row: int, columns: Sequence[FieldColumn]) -> TableRow:
    """One label."""
    embedding, label = opened.embedding, opened.embedding.labels[row]
    above: tuple[str, ...] = ()
    if opened.taxonomy is not None and label in opened.taxonomy[1].index:
        above = opened.taxonomy[1].parents_of(label)
    return TableRow(
        label,
        embedding.name_of(label),
        Node(above[0], embedding.name_of(above[0]), above[0] in embedding)
        if above
        else None,
        tuple(
            TableCell(x.value(row), x.text(row), bool(x.is_observed[row]), x.how(row))
            for x in columns
        ),
    )


def csv_of_table(
    opened: Opened,
    filters: Sequence[Filter],
    *,
    chosen: Sequence[str] = (),
    sort: str = "",
    descending: bool = False,
) -> Iterator[str]:
    """Write all labels that pass filters as CSV, in the order and columns shown.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        Which labels.
    chosen : sequence of str, default=()
        Columns, for `shown_columns`.
    sort : str, default=""
        The order, for `sorted_rows`.
    descending : bool, default=False
        Whether large values come first.

    Returns
    -------
    iterator of str
        The lines of the file: each column, and beside it where a value comes from.
    """
    rows = sorted_rows(opened, filters, sort, descending=descending)
    columns = [opened.columns.get(*key) for key in shown_columns(opened, chosen)]
    embedding = opened.embedding

    def lines() -> Iterator[list[object]]:
        titles = [text for x in columns for text in (x.title, f"{x.title}: known")]
        yield ["label", "name", *titles]
        for row in rows.tolist():
            label = embedding.labels[row]
            cells = [cell for x in columns for cell in (x.text(row), x.how(row))]
            yield [label, embedding.name_of(label), *cells]

    return csv_lines(lines())
