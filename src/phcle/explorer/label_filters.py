"""Filters of labels, as they stand in the addresses of the table and of the map.

Each is a JSON array: ["context", "field", "in", ["value", …]],
["context", "field", "range", low, high], ["", "branch", "in", ["node", …]],
["", "known in", "in", ["context", …]], ["", "text", "has", "…"], or
["", "values", "in", ["observed"]], which leaves predicted values out.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from phcle.arrays import Flags
from phcle.embedding.columns import Column
from phcle.errors import OptionError
from phcle.explorer.answers import FoundRows
from phcle.explorer.opened_embedding import Opened

BRANCH, KNOWN_IN, TEXT, VALUES = "branch", "known in", "text", "values"
UNKNOWN = ""
"""The value of a label of which nothing is known or predicted."""

MOST_VALUES = 200
"""Values that one filter may name; an address holds no more."""

Filters = Annotated[
    list[Annotated[str, Query(max_length=8000)]],
    Query(
        alias="filter",
        max_length=40,
        description='Conditions such as ["context","field","in",["value"]].',
    ),
]


@dataclass(frozen=True)
class Filter:
    """A condition on labels.

    Attributes
    ----------
    context, field : str
        What is compared. Without a context: "branch", "known in", "text" or "values".
    values : tuple of str
        Allowed values; empty for a range.
    low, high : float
        Ends of the allowed range.
    """

    context: str
    field: str
    values: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    @property
    def key(self) -> tuple[str, str]:
        """What is compared."""
        return self.context, self.field


def branch_filter(node: str) -> str:
    """Write a filter on the labels below a node.

    Parameters
    ----------
    node : str
        Id of the node.

    Returns
    -------
    str
        JSON, as it stands in an address.

    Examples
    --------
    >>> branch_filter("felid")
    '["","branch","in",["felid"]]'
    """
    filter_ = ["", BRANCH, "in", [node]]
    return json.dumps(filter_, ensure_ascii=False, separators=(",", ":"))


def parse_filters(texts: Iterable[str]) -> list[Filter]:
    """Read the filters of an address.

    Parameters
    ----------
    texts : iterable of str
        A JSON array for each filter.

    Returns
    -------
    list of Filter
        The filters; of several on one field, the last.

    Examples
    --------
    >>> parse_filters(['["looks","legs","range",2,null]'])[0].low
    2.0
    """
    found = {}
    for text in texts:
        parsed = _parsed(text)
        found[parsed.key] = parsed
    return list(found.values())


def _parsed(text: str) -> Filter:
    """One filter; anything else is refused."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    match given:
        case [str(context), str(field), "in", [*values]] if _are_texts(values):
            return Filter(context, field, tuple(values))
        case [str(context), str(field), "range", low, high]:
            ends = _end(low, -math.inf), _end(high, math.inf)
            if None not in ends:
                return Filter(context, field, (), *ends)  # type: ignore[arg-type]
        case ["", "text", "has", str(part)]:
            return Filter("", TEXT, (part,))
    raise OptionError(
        'a filter must be a JSON array such as ["context","field","in",["value"]] or '
        f'["context","field","range",0,null]. Got {text[:200]!r}.'
    )


def _are_texts(values: Sequence[Any]) -> bool:
    return len(values) <= MOST_VALUES and all(isinstance(x, str) for x in values)


def _end(given: Any, default: float) -> float | None:
    """An end of a range; None if it is no number."""
    if given is None:
        return default
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    return float(given) if is_number and abs(given) < 1e300 else None


def is_observed_only(filters: Sequence[Filter]) -> bool:
    """Whether filters compare observed values only.

    Parameters
    ----------
    filters : sequence of Filter
        The filters.

    Returns
    -------
    bool
        True if one of them says so.
    """
    return any(x.key == ("", VALUES) and "observed" in x.values for x in filters)


def rows_of(
    opened: Opened, filters: Sequence[Filter], *, but: tuple[str, str] | None = None
) -> Flags:
    """Find the labels that pass all filters.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        The filters.
    but : tuple of (str, str), optional
        The key of a filter that is left out.

    Returns
    -------
    array of bool of shape (labels,)
        Which labels pass.
    """
    passes = np.ones(len(opened.embedding), dtype=bool)
    observed_only = is_observed_only(filters)
    for each in filters:
        if each.key != but:
            passes &= _passing(opened, each, observed_only=observed_only)
    return passes


def _passing(opened: Opened, each: Filter, *, observed_only: bool) -> Flags:
    """The labels that pass one filter."""
    n = len(opened.embedding)
    if each.context:
        column = opened.columns.get(*each.key)
        return field_mask(column, each, observed_only=observed_only)
    if each.field == VALUES:
        return np.ones(n, dtype=bool)
    passes = np.zeros(n, dtype=bool)
    if each.field == TEXT:
        passes[opened.embedding.called.containing(each.values[0])] = True
    elif each.field == BRANCH:
        for node in each.values:
            passes[opened.rows_below(node)] = True
    elif each.field == KNOWN_IN:
        for name in each.values:
            passes |= opened.known_in(name)
    else:
        raise OptionError(
            f"a filter without a context must be on {BRANCH}, {KNOWN_IN}, {TEXT} or "
            f"{VALUES}. Got {each.field!r}."
        )
    return passes


def field_mask(column: Column, each: Filter, *, observed_only: bool) -> Flags:
    """Find the labels whose value of a field passes a filter.

    Parameters
    ----------
    column : Column
        The field.
    each : Filter
        A filter on it.
    observed_only : bool
        Whether predicted values count as unknown.

    Returns
    -------
    array of bool of shape (labels,)
        Which labels pass.
    """
    has_value = column.is_observed if observed_only else column.has_value
    if column.is_number:
        with np.errstate(invalid="ignore"):
            inside = (column.value >= each.low) & (column.value <= each.high)
        passes = np.asarray(inside & has_value)
    else:
        wanted = [i for i, x in enumerate(column.values) if x in each.values]
        passes = np.isin(column.value, wanted) & has_value
    return passes | ~has_value if UNKNOWN in each.values else passes


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
