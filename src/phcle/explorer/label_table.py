"""The table of all labels: filtered, sorted and paged, and what its filters count."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.answers import Answer, Named, Node
from phcle.explorer.attribute_query import parse_attribute
from phcle.explorer.csv_export import csv_lines
from phcle.explorer.label_filters import (
    BRANCH,
    KNOWN_IN,
    Filter,
    is_observed_only,
    rows_of,
)
from phcle.explorer.workspace import Opened
from phcle.uses.label_columns import N_BINS, FieldColumn

__all__ = [
    "Facet",
    "Facets",
    "FoundRows",
    "LabelTable",
    "Place",
    "csv_of_table",
    "facets",
    "found_rows",
    "label_table",
]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_SHOWN = 6
"""Columns that the table shows unless others are chosen: more do not fit."""

MOST_FACETS = 12
"""Fields with a histogram or bars of their own."""

MOST_BARS = 20
"""Values of a field that have a bar: the most common ones."""

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


@dataclass(frozen=True)
class FoundRows(Answer):
    """Labels that pass filters.

    Attributes
    ----------
    n, total : int
        Number of these labels, and of all.
    rows : str
        Their positions on the map, as unsigned 32-bit numbers, little endian, in
        base64. The map of a large embedding shows only some of them.
    """

    n: int
    total: int
    rows: str


@dataclass(frozen=True)
class Place(Named):
    """Where a label is on the map.

    Attributes
    ----------
    x, y : float
        The place.
    """

    x: float
    y: float


@dataclass(frozen=True)
class FacetBar(Answer):
    """A value of a field, or a bin of a histogram.

    Attributes
    ----------
    value : str
        The value; empty for bins and for unknown values.
    name : str
        The value as it is shown.
    low, high : float or None
        Ends of a bin.
    n : int
        Labels with it that pass all other filters.
    all : int
        Labels with it.
    """

    value: str
    name: str
    low: float | None
    high: float | None
    n: int
    all: int


@dataclass(frozen=True)
class Facet(Answer):
    """How the values of a field are distributed.

    Attributes
    ----------
    context, field : str
        The field; without a context "branch" or "known in".
    title : str
        Its title.
    kind : {"bars", "bins", "tags"}
        Whether it has values, bins, or tags, each of which is a field of its own.
    bars : tuple of FacetBar
        The values or bins.
    n_more : int
        Number of values that have no bar.
    """

    context: str
    field: str
    title: str
    kind: Literal["bars", "bins", "tags"]
    bars: tuple[FacetBar, ...]
    n_more: int = 0


@dataclass(frozen=True)
class Facets(Answer):
    """The distributions of all fields under filters.

    Attributes
    ----------
    n, total : int
        Labels that pass all filters, and all labels.
    facets : tuple of Facet
        The distributions.
    """

    n: int
    total: int
    facets: tuple[Facet, ...]


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
) -> Ints:
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
    rows = np.flatnonzero(rows_of(opened, filters))
    if sort in ("", "name", "id"):
        if sort:
            rank = opened.name_ranks if sort == "name" else opened.id_ranks
            rows = rows[np.argsort(rank[rows], kind="stable")]
        return rows[::-1] if descending else rows
    return opened.columns.get(*parse_attribute(sort)).order(rows, descending=descending)


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
    pages = max(-(-len(rows) // size), 1)
    page = min(page, pages)
    shown = rows[(page - 1) * size : page * size].tolist()
    return LabelTable(
        tuple(TableColumn(x.context, x.title, x.kind) for x in columns),
        tuple(_row(opened, row, columns) for row in shown),
        len(rows),
        len(opened.embedding),
        page,
        pages,
        sort,
        descending,
    )


def _row(opened: Opened, row: int, columns: Sequence[FieldColumn]) -> TableRow:
    """One label."""
    embedding, label = opened.embedding, opened.embedding.labels[row]
    index = opened.taxonomy_index
    above = []
    if index is not None and label in index.tree.index:
        above = index.parents(label)
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


def found_rows(opened: Opened, filters: Sequence[Filter]) -> FoundRows:
    """Find the labels that pass filters, for the map.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        The filters.

    Returns
    -------
    FoundRows
        Their rows.
    """
    passes = rows_of(opened, filters)
    shown = passes if opened.sample is None else passes[opened.sample]
    rows = np.flatnonzero(shown).astype("<u4")
    packed = base64.b64encode(rows.tobytes()).decode()
    return FoundRows(int(passes.sum()), len(passes), packed)


def facets(opened: Opened, filters: Sequence[Filter]) -> Facets:
    """Count labels by the values of each field.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        The filters. A field's own filter does not count for its bars.

    Returns
    -------
    Facets
        Bars and histograms.
    """
    passing = rows_of(opened, filters)
    keys = {x.key for x in filters}
    observed_only = is_observed_only(filters)

    def under_others(key: tuple[str, str]) -> Flags:
        return rows_of(opened, filters, but=key) if key in keys else passing

    found = []
    if opened.branches is not None:
        found.append(_branches(opened, under_others(("", BRANCH))))
    if len(opened.embedding.contexts) > 1:
        found.append(_contexts(opened, under_others(("", KNOWN_IN))))
    plain = [key for key, x in opened.columns.fields.items() if x.kind != "tag"]
    plain.sort(key=lambda key: key not in keys)  # those in use first
    for key in plain[:MOST_FACETS]:
        column = opened.columns.get(*key)
        now = under_others(key)
        if column.is_number:
            found.append(_histogram(column, now, observed_only=observed_only))
        else:
            has_value = column.is_observed if observed_only else column.has_value
            found.append(_bars(column, has_value, now))
    found += [
        _tags(opened, name, passing, keys)
        for name, table in opened.columns.tables.items()
        if table.fields and table.fields[0].kind == "tag"
    ]
    return Facets(
        int(passing.sum()), len(passing), tuple(x for x in found if len(x.bars) > 1)
    )


def _branches(opened: Opened, passing: Flags) -> Facet:
    """Labels in the large branches of the hierarchy."""
    name_of = opened.embedding.name_of
    bars = []
    for node, rows in opened.branch_rows.items():
        n = int(passing[rows].sum())
        bars.append(FacetBar(node, name_of(node), None, None, n, len(rows)))
    return Facet("", BRANCH, "Branch", "bars", tuple(bars))


def _contexts(opened: Opened, passing: Flags) -> Facet:
    """Labels that each context knows."""
    bars = []
    for name in dict.fromkeys(x.name for x in opened.embedding.contexts):
        known = opened.known_in(name)
        n = int((known & passing).sum())
        bars.append(FacetBar(name, name, None, None, n, int(known.sum())))
    return Facet("", KNOWN_IN, "Known in", "bars", tuple(bars))


def _bars(column: FieldColumn, has_value: Flags, passing: Flags) -> Facet:
    """The most common values of a field."""
    size = len(column.values)
    whole = np.bincount(column.code[has_value], minlength=size)
    now = np.bincount(column.code[has_value & passing], minlength=size)
    order = np.argsort(-whole, kind="stable")[:MOST_BARS].tolist()
    bars = [
        FacetBar(
            column.values[i], column.values[i], None, None, int(now[i]), int(whole[i])
        )
        for i in order
        if whole[i]
    ]
    n_unknown = int((~has_value).sum())
    if n_unknown:
        n = int((passing & ~has_value).sum())
        bars.append(FacetBar("", "unknown", None, None, n, n_unknown))
    n_more = int((whole > 0).sum()) - min(MOST_BARS, int((whole > 0).sum()))
    return Facet(
        column.context, column.title, column.title, "bars", tuple(bars), n_more
    )


def _histogram(column: FieldColumn, passing: Flags, *, observed_only: bool) -> Facet:
    """A histogram of numbers."""
    bins = column.observed_bins if observed_only else column.bins
    now = np.bincount(bins.at[passing], minlength=N_BINS + 1)
    bars = [
        FacetBar("", "", float(low), float(high), int(n), int(n_all))
        for low, high, n, n_all in zip(
            bins.edges[:-1], bins.edges[1:], now, bins.counts, strict=False
        )
    ]
    return Facet(column.context, column.title, column.title, "bins", tuple(bars))


def _tags(
    opened: Opened, name: str, passing: Flags, keys: set[tuple[str, str]]
) -> Facet:
    """The most common tags among observed ones."""
    table = opened.columns.tables[name]
    at = opened.columns.positions(table)
    n_all, n_now = np.zeros((2, len(table.columns)), np.int64)
    if table.data is not None:
        values = sp.coo_array(table.data.matrix.arrays[0])
        has_it = values.data > 0
        rows, columns = at[values.row[has_it]], values.col[has_it]
        n_all = np.bincount(columns[rows >= 0], minlength=len(table.columns))
        inside = (rows >= 0) & passing[rows]
        n_now = np.bincount(columns[inside], minlength=len(table.columns))
    order = np.argsort(-n_all, kind="stable").tolist()
    order.sort(key=lambda i: (name, table.columns[i]) not in keys)
    bars = tuple(
        FacetBar(
            table.columns[i],
            table.columns[i],
            None,
            None,
            int(n_now[i]),
            int(n_all[i]),
        )
        for i in order[:MOST_BARS]
    )
    return Facet(name, "", name, "tags", bars, max(len(order) - MOST_BARS, 0))
