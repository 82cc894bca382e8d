"""Several rows for a label: observations of it, or copies of one row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from phcle.tables.cells import UnknownMarkers
from phcle.tables.columns import ReadColumn, read_columns

LISTED = 10
"""Cells that a remark lists; more are only counted."""


@dataclass
class MergedRows:
    """One row for each label.

    Attributes
    ----------
    labels : list of str
        The labels, at the place of their first row.
    first : list of int
        The first row of each.
    cells : dict
        Cells of each column, by its title.
    remarks : list of str
        What was merged.
    different : list of str
        Labels whose rows say different things.
    """

    labels: list[str]
    first: list[int]
    cells: dict[str, list[Any]]
    remarks: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)


def merge_repeats(
    labels: Sequence[str],
    cells: Mapping[str, Sequence[Any]],
    places: Sequence[str],
    *,
    how: str = "mean",
    markers: UnknownMarkers | None = None,
    read_as: Mapping[str, str] | None = None,
) -> MergedRows:
    """Return one row for each label.

    Identical rows are dropped. A cell that is unknown in one row and known in another
    is taken from the other. Of different numbers and dates the mean is taken, of
    categories and truth values the most frequent one; two equally frequent ones are
    unknown.

    Parameters
    ----------
    labels : sequence of str
        The label of each row.
    cells : mapping
        Cells of each column, by its title.
    places : sequence of str
        Where each row stands, such as "line 3".
    how : {"mean", "first", "refuse"}, default "mean"
        "first" takes the first known cell of each column.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.
    read_as : mapping from str to str, optional
        How the user wants columns to be read.

    Returns
    -------
    MergedRows
        The rows; `different` has the labels to refuse.

    Examples
    --------
    >>> found = merge_repeats(["a", "a"], {"kg": ["4", "6"]}, ["line 2", "line 3"])
    >>> found.labels, found.cells, found.remarks
    (['a'], {'kg': [5.0]}, ['1 label has several rows: the mean of its numbers and the \
most frequent of its categories are taken (--repeats)'])
    """
    groups: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        groups.setdefault(label, []).append(row)
    first = [own[0] for own in groups.values()]
    merged = MergedRows(list(groups), first, {x: list(y) for x, y in cells.items()})
    if len(groups) < len(labels):
        _merge(groups, places, how, read_columns(cells, markers, read_as), merged)
    merged.cells = {x: [own[row] for row in first] for x, own in merged.cells.items()}
    return merged


def _merge(
    groups: Mapping[str, Sequence[int]],
    places: Sequence[str],
    how: str,
    read: Mapping[str, ReadColumn],
    merged: MergedRows,
) -> None:
    n_same = n_filled = 0
    ties: list[str] = []
    for title, column in read.items():
        if any("converted" in remark for remark in column.remarks):
            # The most frequent unit may be another one after rows are joined.
            merged.cells[title] = [None if math.isnan(x) else x for x in column.numbers]
    for label, own in groups.items():
        if len(own) == 1:
            continue
        is_same = is_different = False
        seen = set()
        for row in own:
            seen.add(tuple(_value(column, row) for column in read.values()))
        is_same = len(seen) == 1
        for title, column in read.items():
            known = {row: x for row in own if (x := _value(column, row)) is not None}
            if not known:
                continue
            cells = merged.cells[title]
            if len(set(known.values())) == 1 or how == "first":
                cells[own[0]] = cells[next(iter(known))]
                continue
            is_different = True
            chosen = _common(column, known)
            if chosen is None:
                listed = " or ".join(
                    f"{cells[row]} ({places[row]})" for row in _first_of(known)
                )
                if column.kind != "identifier":
                    ties.append(f"{title!r} of {label!r}: {listed}")
                cells[own[0]] = ""
            elif isinstance(chosen, int):
                cells[own[0]] = cells[chosen]
            else:
                cells[own[0]] = chosen
        if is_different:
            merged.different.append(label)
        elif is_same:
            n_same += len(own) - 1
        else:
            n_filled += len(own) - 1
    _say(merged, n_same, n_filled, ties)


def _value(column: ReadColumn, row: int) -> float | str | None:
    """What a cell means; None if it is unknown."""
    if column.words:
        return column.words[row]
    number = column.numbers[row]
    return None if math.isnan(number) else number


def _common(column: ReadColumn, known: Mapping[int, float | str]) -> float | int | None:
    """The mean of numbers; the row of the most frequent category; None for a tie."""
    if column.kind in ("number", "date"):
        return float(sum(map(float, known.values())) / len(known))
    counts = Counter(known.values()).most_common(2)
    if counts[0][1] == counts[1][1]:
        return None
    return next(row for row, value in known.items() if value == counts[0][0])


def _first_of(known: Mapping[int, float | str]) -> list[int]:
    """The first row of each different value."""
    first: dict[float | str, int] = {}
    for row, value in known.items():
        first.setdefault(value, row)
    return list(first.values())


def _say(merged: MergedRows, n_same: int, n_filled: int, ties: list[str]) -> None:
    several = len(merged.different)
    for n, text in (
        (n_same, "identical row{s} dropped"),
        (n_filled, "row{s} merged with another of its label"),
    ):
        if n:
            merged.remarks.append(f"{n} {text.format(s='s' * (n > 1))}")
    if several:
        whose, have = ("its", "label has") if several == 1 else ("their", "labels have")
        merged.remarks.append(
            f"{several} {have} several rows: the mean of {whose} numbers and the most "
            f"frequent of {whose} categories are taken (--repeats)"
        )
    if ties:
        more = f" and {len(ties) - LISTED} more" if len(ties) > LISTED else ""
        merged.remarks.append(
            f"{len(ties)} cell{'s' * (len(ties) > 1)} unknown, because different "
            f"values are equally frequent: {', '.join(ties[:LISTED])}{more}"
        )
