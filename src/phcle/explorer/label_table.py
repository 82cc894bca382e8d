"""The table of all labels: filtered, sorted and paged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import Depends, Query

from phcle.answers import Answer, Named
from phcle.explorer.answers import Node
from phcle.explorer.attribute_query import Columns, parse_attribute
from phcle.explorer.label_columns import ShownCell, SortedColumn, shown
from phcle.explorer.label_filters import Filters, parse_filters, rows_of
from phcle.explorer.opened_embedding import Opened
from phcle.files.csv_text import csv_lines

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
class TableRow(Named):
    """A row of the table.

    Attributes
    ----------
    parent : Node or None
        The first parent of the label in the hierarchy.
    cells : tuple of ShownCell
        A cell for each column.
    """

    parent: Node | None
    cells: tuple[ShownCell, ...]


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


@dataclass(frozen=True)
class TableQuery:
    """Which labels a table shows, with which columns and in which order.

    Attributes
    ----------
    filters : sequence of str
        The filters, for `parse_filters`.
    columns : sequence of str
        Fields for `parse_attribute`; without any, the first ones are shown.
    sort : str
        "name", "id", or a field for `parse_attribute`; "" keeps the order of the file.
    descending : bool
        Whether large values come first.
    """

    filters: Sequence[str] = ()
    columns: Sequence[str] = ()
    sort: str = ""
    descending: bool = False


def _asked(
    filters: Filters = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    sort: Annotated[str, Query(max_length=1000)] = "",
    descending: bool = False,
) -> TableQuery:
    return TableQuery(filters, columns, sort, descending)


AskedTable = Annotated[TableQuery, Depends(_asked)]
"""What the address of a table asks for."""


def _shown(
    opened: Opened, asked: TableQuery
) -> tuple[npt.NDArray[np.int32], list[SortedColumn]]:
    """The rows that pass the filters, in order, and the columns."""
    fields = opened.columns.fields
    plain = [key for key, field in fields.items() if field.kind != "tag"]
    keys = (plain or list(fields))[:MOST_SHOWN]
    if asked.columns:
        keys = list(dict.fromkeys(map(parse_attribute, asked.columns)))
    columns = [opened.columns.get(*key) for key in keys]
    passes = rows_of(opened, parse_filters(asked.filters))
    if asked.sort in ("name", "id"):
        order = opened.rows_by_name if asked.sort == "name" else opened.rows_by_id
        rows = order[passes[order]]
    elif asked.sort:
        column = opened.columns.get(*parse_attribute(asked.sort))
        order = column.order(descending=asked.descending)
        return order[passes[order]], columns
    else:
        rows = np.flatnonzero(passes).astype(np.int32)
    return rows[::-1] if asked.descending else rows, columns


def label_table(
    opened: Opened, asked: TableQuery, page: int = 1, size: int = N_ROWS
) -> LabelTable:
    """Make a page of the table.

    Parameters
    ----------
    opened : Opened
        The embedding.
    asked : TableQuery
        Which labels and columns.
    page : int, default=1
        Number of the page; the last one if there are fewer.
    size : int, default=50
        Rows of a page.

    Returns
    -------
    LabelTable
        The page.
    """
    rows, columns = _shown(opened, asked)
    on_page, page, pages = page_of(rows, page, size)
    return LabelTable(
        tuple(TableColumn(x.context, x.title, x.kind) for x in columns),
        tuple(_row(opened, row, columns) for row in on_page.tolist()),
        len(rows),
        len(opened.embedding),
        page,
        pages,
        asked.sort,
        asked.descending,
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


def _row(opened: Opened, row: int, columns: Sequence[SortedColumn]) -> TableRow:
    """One label."""
    embedding, label = opened.embedding, opened.embedding.labels[row]
    above: tuple[str, ...] = ()
    if opened.taxonomy is not None and label in opened.taxonomy[1].index:
        above = opened.taxonomy[1].parents_of(label)
    name = embedding.name_of(label)
    return TableRow(
        label,
        name,
        Node(above[0], embedding.name_of(above[0]), above[0] in embedding)
        if above
        else None,
        tuple(shown(x.cell(row, label, name)) for x in columns),
    )


def csv_of_table(opened: Opened, asked: TableQuery) -> Iterator[str]:
    """Write all labels that pass filters as CSV, in the order and columns shown.

    Parameters
    ----------
    opened : Opened
        The embedding.
    asked : TableQuery
        Which labels and columns.

    Returns
    -------
    iterator of str
        The lines of the file: each column, and beside it where a value comes from.
    """
    rows, columns = _shown(opened, asked)
    embedding = opened.embedding

    def lines() -> Iterator[list[object]]:
        titles = [text for x in columns for text in (x.title, f"{x.title}: known")]
        yield ["label", "name", *titles]
        for row in rows.tolist():
            label = embedding.labels[row]
            name = embedding.name_of(label)
            cells = [shown(x.cell(row, label, name)) for x in columns]
            yield [label, name, *(text for x in cells for text in (x.text, x.how))]

    return csv_lines(lines())
