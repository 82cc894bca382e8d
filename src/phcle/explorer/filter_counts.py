"""How many labels have each value of a field, under the filters of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from phcle.answers import Answer
from phcle.arrays import Flags
from phcle.explorer.label_columns import N_BINS, SortedColumn
from phcle.explorer.label_filters import (
    BRANCH,
    KNOWN_IN,
    Filter,
    is_observed_only,
    rows_of,
)
from phcle.explorer.opened_embedding import Opened

MOST_FACETS = 12
"""Fields with a histogram or bars of their own."""

MOST_BARS = 20
"""Values of a field that have a bar: the most common ones."""


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
        if table.context.fields and table.context.fields[0].kind == "tag"
    ]
    return Facets(
        int(passing.sum()), len(passing), tuple(x for x in found if len(x.bars) > 1)
    )


def _bar(value: str, name: str, n: Any, n_all: Any) -> FacetBar:
    """A bar of a value that is no number."""
    return FacetBar(value, name, None, None, int(n), int(n_all))


def _branches(opened: Opened, passing: Flags) -> Facet:
    """Labels in the large branches of the hierarchy."""
    name_of = opened.embedding.name_of
    bars = []
    for node, rows in opened.branch_rows.items():
        bars.append(_bar(node, name_of(node), passing[rows].sum(), len(rows)))
    return Facet("", BRANCH, "Branch", "bars", tuple(bars))


def _contexts(opened: Opened, passing: Flags) -> Facet:
    """Labels that each context knows."""
    bars = []
    for name in dict.fromkeys(x.name for x in opened.embedding.contexts):
        known = opened.known_in(name)
        bars.append(_bar(name, name, (known & passing).sum(), known.sum()))
    return Facet("", KNOWN_IN, "Known in", "bars", tuple(bars))


def _bars(column: SortedColumn, has_value: Flags, passing: Flags) -> Facet:
    """The most common values of a field."""
    size = len(column.values)
    whole = np.bincount(column.value[has_value], minlength=size)
    now = np.bincount(column.value[has_value & passing], minlength=size)
    order = np.argsort(-whole, kind="stable")[:MOST_BARS].tolist()
    bars = [
        _bar(column.values[i], column.values[i], now[i], whole[i])
        for i in order
        if whole[i]
    ]
    n_unknown = int((~has_value).sum())
    if n_unknown:
        n = (passing & ~has_value).sum()
        bars.append(_bar("", "unknown", n, n_unknown))
    n_more = int((whole > 0).sum()) - min(MOST_BARS, int((whole > 0).sum()))
    return Facet(
        column.context, column.title, column.title, "bars", tuple(bars), n_more
    )


def _histogram(column: SortedColumn, passing: Flags, *, observed_only: bool) -> Facet:
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
    own = opened.columns.tables[name]
    table = own.context
    n_all, n_now = np.zeros((2, len(table.columns)), np.int64)
    if table.labels:
        tagged, columns = opened.columns.tags(own)
        rows = own.positions[tagged]
        n_all = np.bincount(columns[rows >= 0], minlength=len(table.columns))
        inside = (rows >= 0) & passing[rows]
        n_now = np.bincount(columns[inside], minlength=len(table.columns))
    order = np.argsort(-n_all, kind="stable").tolist()
    order.sort(key=lambda i: (name, table.columns[i]) not in keys)
    bars = tuple(
        _bar(table.columns[i], table.columns[i], n_now[i], n_all[i])
        for i in order[:MOST_BARS]
    )
    return Facet(name, "", name, "tags", bars, max(len(order) - MOST_BARS, 0))
