"""Cells of a table as columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.descriptive.column_reading import read_column
from phcle.contexts.labels import index_of
from phcle.contexts.unknown_markers import UnknownMarkers
from phcle.errors import ContextError

FEW_VALUES = 50
"""A text column with at most this many values is a category, even if every label has
its own value: the columns take little memory, and small tables are common."""

MOST_FAULTS = 20
"""Cells that cannot be read which a message lists; more are only counted."""

ROW_NUMBERS, FEWEST_ROWS = ("", "unnamed: 0", "index", "rownames"), 5
"""Titles that exported tables give to the numbers of their rows, and the fewest rows
that show it."""

MOST_CELLS = 50_000_000
"""Most cells (labels × values) that one text column may become: 400 MB of numbers."""


class CellFaults(ContextError):
    """Cells of a table that cannot be read.

    Parameters
    ----------
    name : str
        Name of the context.
    faults : sequence of (int, str)
        Row of each cell, and what is wrong with it.

    Attributes
    ----------
    faults : sequence of (int, str)
        Row of each cell, and what is wrong with it.
    """

    def __init__(self, name: str, faults: Sequence[tuple[int, str]]) -> None:
        self.faults = faults
        lines = [f"context {name!r}: {text}" for _, text in faults[:MOST_FAULTS]]
        if len(faults) > MOST_FAULTS:
            lines.append(f"and {len(faults) - MOST_FAULTS} more faults.")
        super().__init__("\n".join(lines))


class EncodedColumns(NamedTuple):
    """Columns of numbers, and what was found out about the cells they came from.

    Parameters
    ----------
    names : tuple of str
        Names of the new columns, such as `weight` or `colour=red`.
    titles : tuple of str
        For each new column the title that it came from.
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    left_out : dict
        Why a column is left out, by its title.
    kinds : dict
        What each column of cells holds, by its title.
    units : dict
        The unit that was dropped from the cells of a column, by its title.
    remarks : tuple of str
        What was assumed or changed.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    values: Floats
    left_out: dict[str, str]
    kinds: dict[str, str]
    units: dict[str, str]
    remarks: tuple[str, ...]


def encode_columns(
    labels: Sequence[str],
    cells: Mapping[str, Sequence[Any]],
    name: str,
    markers: UnknownMarkers | None = None,
) -> EncodedColumns:
    """Turn columns of cells into columns of numbers.

    Numbers, truth values and dates become one column each. A text column becomes one
    column per value. A column with mostly different texts is left out, because it
    holds identifiers or free text, and so are row numbers without a title.

    Parameters
    ----------
    labels : sequence of str
        One label per row.
    cells : mapping
        Cells of each column, by its title.
    name : str
        Name of the context, for messages.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.

    Returns
    -------
    EncodedColumns
        The columns. Cells that cannot be read are refused, all at once.
    """
    markers = markers or UnknownMarkers()
    names: list[str] = []
    titles: list[str] = []
    blocks: list[Floats] = []
    left_out: dict[str, str] = {}
    kinds: dict[str, str] = {}
    units: dict[str, str] = {}
    remarks: list[str] = []
    faults: list[tuple[int, str]] = []
    unknown: Counter[str] = Counter()
    for title, raw in cells.items():
        column = read_column(raw, markers)
        unknown += markers.count(raw)
        faults += [
            (row, f"column {title!r} {wrong} for label {labels[row]!r}; {remedy}.")
            for row, (wrong, remedy) in column.faults.items()
        ]
        remarks += [f"{title!r}: {x}" for x in column.remarks]
        kinds[title] = column.kind
        if column.unit:
            units[title] = column.unit
        if column.kind != "category":
            if _numbers_rows(title, column.numbers):
                left_out[title] = "it numbers the rows"
                kinds[title] = "left out"
                continue
            names.append(title)
            titles.append(title)
            blocks.append(np.array(column.numbers, dtype=np.float64)[:, None])
            continue
        values = sorted({word for word in column.words if word is not None})
        reason = _not_a_category(column.words, len(values))
        if reason is not None:
            left_out[title] = reason
            kinds[title] = "left out"
            continue
        names += [f"{title}={value}" for value in values]
        titles += [title] * len(values)
        blocks.append(_one_hot(column.words, values))
    if faults:
        raise CellFaults(name, sorted(faults))
    if unknown:
        remarks.insert(0, unknown_cells(unknown))
    table = np.hstack(blocks) if blocks else np.empty((len(labels), 0))
    return EncodedColumns(
        tuple(names), tuple(titles), table, left_out, kinds, units, tuple(remarks)
    )


def unknown_cells(markers: Counter[str]) -> str:
    """Say which cells were taken as unknown.

    Parameters
    ----------
    markers : Counter
        How often each marker occurs.

    Returns
    -------
    str
        A remark.

    Examples
    --------
    >>> unknown_cells(Counter({"n/a": 3, "-": 1}))
    "4 cells unknown: 'n/a' 3, '-' 1"
    """
    total = markers.total()
    listed = ", ".join(f"{text!r} {n}" for text, n in markers.most_common(6))
    more = ", \u2026" if len(markers) > 6 else ""
    return f"{total} cell{'s' if total > 1 else ''} unknown: {listed}{more}"


def _numbers_rows(title: str, numbers: Sequence[float]) -> bool:
    """Whether a column holds the numbers of the rows, such as 1, 2, 3 and so on."""
    if title.strip().casefold() not in ROW_NUMBERS or len(numbers) < FEWEST_ROWS:
        return False
    return bool((np.diff(np.sort(numbers)) == 1).all())


def _not_a_category(words: Sequence[str | None], n_values: int) -> str | None:
    """Why a text column cannot become one column per value; None if it can."""
    n_known = sum(word is not None for word in words)
    if n_values <= FEW_VALUES:
        return None
    if n_values > n_known / 2:
        return (
            f"{n_values} of its {n_known} known cells differ, so it holds identifiers "
            "or texts; give texts as --texts (from_texts)"
        )
    if n_values * len(words) > MOST_CELLS:
        return (
            f"its {n_values} values would take {n_values * len(words):,} cells; give "
            "it as --tags (from_tags), which stores what is present alone"
        )
    return None


def _one_hot(words: Sequence[str | None], values: Sequence[str]) -> Floats:
    """One column per value: 1 where a word is the value, NaN where it is missing."""
    position = index_of(values)
    codes = np.array([-1 if word is None else position[word] for word in words])
    block = np.zeros((len(words), len(values)))
    known = codes >= 0
    block[known, codes[known]] = 1.0
    block[~known] = np.nan
    return block
