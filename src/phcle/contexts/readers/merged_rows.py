"""Join the rows of one label: identical ones, and ones that complement each other."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from phcle.contexts.descriptive.column_reading import ReadColumn, read_column
from phcle.contexts.readers.source_files import first_few
from phcle.contexts.readers.table_files import TableFile

LISTED = 10
"""Contradictory cells that a remark lists; more are only counted."""


@dataclass
class LabelledRows:
    """Rows of a table with a column of labels.

    Attributes
    ----------
    labels : list of str
        The label of each row.
    lines : list of int
        Where each row stands in its file.
    cells : dict
        Cells of each further column, by its title.
    """

    labels: list[str]
    lines: list[int]
    cells: dict[str, list[str]]


def merge_rows(table: TableFile, rows: LabelledRows, label_title: str) -> LabelledRows:
    """Return rows with one row per label.

    Identical rows are dropped. A cell that is unknown in one row and known in another
    is taken from the other. A cell with two different values is taken as unknown.

    Parameters
    ----------
    table : TableFile
        The table, for remarks and faults.
    rows : LabelledRows
        All rows.
    label_title : str
        Title of the column of labels.

    Returns
    -------
    LabelledRows
        One row per label, at the place of its first row.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for row, label in enumerate(rows.labels):
        groups[label].append(row)
    if len(groups) == len(rows.labels):
        return rows
    read = {x: read_column(own, table.reading.markers) for x, own in rows.cells.items()}
    n_same = n_merged = 0
    contradictions: list[str] = []
    repeated = {label: own for label, own in groups.items() if len(own) > 1}
    for label, own in repeated.items():
        is_same = True
        for title, column in read.items():
            cells = rows.cells[title]
            values = [_value(column, row, cells) for row in own]
            first = {value: i for i, value in reversed(list(enumerate(values)))}
            is_same = is_same and len(first) == 1
            first.pop(None, None)
            if len(first) > 1:
                said = " or ".join(
                    f"{cells[own[i]]} ({table.counted} {rows.lines[own[i]]})"
                    for i in sorted(first.values())
                )
                contradictions.append(f"{title!r} of {label!r}: {said}")
                cells[own[0]] = ""
            elif first:
                cells[own[0]] = cells[own[next(iter(first.values()))]]
        n_same += (len(own) - 1) * is_same
        n_merged += (len(own) - 1) * (not is_same)
    _say(table, n_same, n_merged, contradictions)
    if len(groups) < len(rows.labels) / 2 and len(contradictions) > len(groups) / 2:
        table.fault(
            None,
            f"column {label_title!r} cannot be the labels, because its values repeat "
            "with different cells; say which column is: "
            f"--attributes {table.path.name}:label=COLUMN",
        )
    tops = [own[0] for own in groups.values()]
    return LabelledRows(
        [rows.labels[row] for row in tops],
        [rows.lines[row] for row in tops],
        {title: [own[row] for row in tops] for title, own in rows.cells.items()},
    )


def _value(column: ReadColumn, row: int, cells: list[str]) -> float | str | None:
    """What a cell means; None if it is unknown."""
    if row in column.faults:
        return cells[row]
    if column.kind == "category":
        return column.words[row]
    number = column.numbers[row]
    return None if math.isnan(number) else number


def _say(
    table: TableFile, n_same: int, n_merged: int, contradictions: list[str]
) -> None:
    table.count(n_same, "identical row{s} dropped")
    table.count(n_merged, "row{s} merged with another of its label")
    if contradictions:
        n = len(contradictions)
        table.remarks.append(
            f"{n} contradictory cell{'s' * (n > 1)} taken as unknown: "
            f"{first_few(contradictions, LISTED)}"
        )
