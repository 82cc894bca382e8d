"""Read one column of cells: numbers, truth values, dates or categories.

The column decides, not the cell: `1.299` is read as the other cells are, and `N` beside
`yes` and `0` is a truth value. What was assumed is a remark; cells that cannot be read
are faults, all of which are listed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from phcle.contexts.descriptive.date_notations import REMEDY, read_dates
from phcle.contexts.descriptive.number_notations import read_numbers
from phcle.contexts.labels import is_missing
from phcle.contexts.unknown_markers import MARKERS, UnknownMarkers

ColumnKind = Literal["number", "truth", "date", "category", "empty"]

TRUTH = {
    **dict.fromkeys(("true", "yes", "y", "t", "on", "ja", "oui", "s\u00ed", "si"), 1.0),
    **dict.fromkeys(("false", "no", "n", "f", "off", "nein", "non"), 0.0),
}
CLEAR = ("true", "false", "yes", "no", "ja", "nein", "oui", "non")
"""Truth values that need no other: a column of `F` alone may hold something else."""

TICKS = ("x", "\u2713", "\u2714", "\u2611")
"""Marks in lists of the kind `x` or empty."""

LIST, SEVERAL = re.compile(r"\w\s*[|;]\s*\w"), 0.2
"""What lists of values in one cell look like, and the share of them that is told."""

MOSTLY = 0.5
"""Share of numbers from which on a column holds numbers, and other cells are faults."""


@dataclass
class ReadColumn:
    """What the cells of a column mean.

    Attributes
    ----------
    kind : {"number", "truth", "date", "category", "empty"}
        What they are.
    numbers : list of float
        The numbers, NaN for unknown cells; empty for a category.
    words : list of str or None
        The texts of a category, None for unknown cells; otherwise empty.
    remarks : list of str
        What was assumed, without the name of the column.
    faults : dict
        What is wrong with a cell and what to do, by its row.
    unit : str
        The unit that was dropped from every cell.
    """

    kind: ColumnKind
    numbers: list[float] = field(default_factory=list)
    words: list[str | None] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    faults: dict[int, tuple[str, str]] = field(default_factory=dict)
    unit: str = ""


def read_column(
    cells: Sequence[Any],
    markers: UnknownMarkers | None = None,
    *,
    numeric: bool = False,
) -> ReadColumn:
    """Read a column.

    Parameters
    ----------
    cells : sequence
        Texts, numbers, truth values, dates and missing values.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.
    numeric : bool, default False
        The column is known to hold numbers, truth values or dates; other cells are
        unknown.

    Returns
    -------
    ReadColumn
        What the cells mean.

    Examples
    --------
    >>> read_column(["0", "N", "yes", "?"]).numbers
    [0.0, 0.0, 1.0, nan]
    >>> read_column(["red", "Red", "-", "blue", "red"]).words
    ['red', 'red', None, 'blue', 'red']
    """
    markers = markers or UnknownMarkers()
    known = {
        i: cell.strip() if isinstance(cell, str) else cell
        for i, cell in enumerate(cells)
        if not markers.is_unknown(cell)
    }
    if not known:
        return ReadColumn("empty", [math.nan] * len(cells))
    for read in (_read_ticks, _read_truth, _read_dates, _read_numbers):
        found = read(cells, known, numeric)
        if found is not None:
            return found
    return _read_category(cells, known)


def _read_ticks(
    cells: Sequence[Any], known: dict[int, Any], numeric: bool
) -> ReadColumn | None:
    """A list in which a mark stands for yes and an empty cell for no."""
    marks = {x.lower() if isinstance(x, str) else x for x in known.values()}
    if not marks <= set(TICKS):
        return None
    numbers = [0.0 if is_missing(cell) else math.nan for cell in cells]
    for i in known:
        numbers[i] = 1.0
    if 0.0 not in numbers and not numeric:
        return None
    mark = next(iter(known.values()))
    remarks = [f"{mark!r} read as yes and empty cells as no"]
    return ReadColumn("truth", numbers, remarks=remarks)


def _read_truth(
    cells: Sequence[Any], known: dict[int, Any], numeric: bool
) -> ReadColumn | None:
    """Truth values in any spelling; 0 and 1 alone stay numbers."""
    values = {i: _truth(cell) for i, cell in known.items()}
    if None in values.values():
        return None
    words = {x.lower() for x in known.values() if isinstance(x, str)}
    if not words.intersection(TRUTH):
        return None
    is_clear = words.intersection(CLEAR) or len(set(values.values())) == 2
    if not is_clear and not numeric:
        return None
    numbers = [values.get(i, math.nan) for i in range(len(cells))]
    return ReadColumn("truth", numbers)  # type: ignore[arg-type]


def _truth(cell: Any) -> float | None:
    if isinstance(cell, str):
        cell = cell.lower()
        return TRUTH.get(cell, {"0": 0.0, "1": 1.0}.get(cell))
    number = as_number(cell)
    return number if number in (0.0, 1.0) else None


def _read_dates(
    cells: Sequence[Any], known: dict[int, Any], numeric: bool
) -> ReadColumn | None:
    found = read_dates(list(known.values()))
    if found is None:
        return None
    rows = list(known)
    faults = {rows[i]: text for i, text in found.faults.items()}
    others = [i for i, x in enumerate(found.values) if x is None]
    others = [i for i in others if i not in found.faults]
    if len(others) >= MOSTLY * len(known) and not numeric:
        return None
    example = next(i for i in range(len(rows)) if i not in others)
    for i in others:
        number = as_number(known[rows[i]])
        if number is not None and 1000 <= number <= 3000:  # a year without its day
            found.values[i] = number
        elif not numeric:
            faults[rows[i]] = (
                f"holds dates, such as {str(known[rows[example]])!r}, but "
                f"{known[rows[i]]!r}",
                REMEDY,
            )
    numbers = [math.nan] * len(cells)
    for row, value in zip(rows, found.values, strict=True):
        numbers[row] = math.nan if value is None else value
    return ReadColumn("date", numbers, remarks=found.remarks, faults=faults)


def _read_numbers(
    cells: Sequence[Any], known: dict[int, Any], numeric: bool
) -> ReadColumn | None:
    texts = {i: cell for i, cell in known.items() if isinstance(cell, str)}
    found = read_numbers(list(texts.values()))
    numbers: dict[int, float | None] = {
        i: as_number(cell) for i, cell in known.items() if i not in texts
    }
    faults = {list(texts)[i]: text for i, text in found.faults.items()}
    for i, number in zip(texts, found.values, strict=True):
        # What Python reads and no notation has: 1e999, inf, digits of other scripts.
        if number is None and (numeric or not _is_word(texts[i])):
            number = _known_number(texts[i])
        numbers[i] = number
    others = [i for i in known if numbers[i] is None]
    is_mostly = len(known) - len(others) >= MOSTLY * len(known)
    if (others and not is_mostly and not numeric) or len(others) == len(known):
        return None if not numeric else ReadColumn("number", [math.nan] * len(cells))
    example = next(i for i in known if numbers[i] is not None)
    for i in others:
        if not numeric:
            faults[i] = (
                f"holds numbers, such as {known[example]!r}, but {known[i]!r}",
                REMEDY,
            )
    values = [
        math.nan if (x := numbers.get(i)) is None else x for i in range(len(cells))
    ]
    return ReadColumn("number", values, [], found.remarks, faults, found.unit)


def _read_category(cells: Sequence[Any], known: dict[int, Any]) -> ReadColumn:
    """Texts; spellings that differ only in case or spaces are one value."""
    texts = {
        i: str(cell) if not isinstance(cell, date) else cell.isoformat()
        for i, cell in known.items()
    }
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts.values():
        spellings[" ".join(text.casefold().split())][text] += 1
    usual = {key: own.most_common(1)[0][0] for key, own in spellings.items()}
    words: list[str | None] = [None] * len(cells)
    for i, text in texts.items():
        words[i] = usual[" ".join(text.casefold().split())]
    remarks = []
    joined = [
        f"{text!r} as {usual[key]!r}"
        for key, own in spellings.items()
        for text in own
        if text != usual[key]
    ]
    if joined:
        more = f" and {len(joined) - 3} more" if len(joined) > 3 else ""
        remarks.append(f"spellings joined: {', '.join(joined[:3])}{more}")
    n_numbers = sum(
        as_number(x) is not None and not _is_word(x) for x in known.values()
    )
    if n_numbers:
        remarks.append(f"read as a category, though {n_numbers} cells are numbers")
    lists = [x for x in words if x is not None and LIST.search(x)]
    if len(lists) > SEVERAL * len(known):
        remarks.append(
            f"several values in a cell, such as {lists[0]!r}, read as one; --tags "
            "FILE:tag=COLUMN takes them apart"
        )
    return ReadColumn("category", words=words, remarks=remarks)


def _known_number(cell: Any) -> float | None:
    """A number; None also for markers of the unknown, which may be texts here."""
    number = as_number(cell)
    return None if number is None or math.isnan(number) else number


def _is_word(cell: Any) -> bool:
    """Whether a cell that counts as a number is written as a word."""
    return isinstance(cell, str) and cell.strip().lower() in TRUTH


def as_number(cell: Any) -> float | None:
    """Convert a cell to a number, without a look at other cells.

    Parameters
    ----------
    cell : object
        A number, a truth value, a text or a missing value.

    Returns
    -------
    float or None
        NaN for a missing value, None for text that is no number.

    Examples
    --------
    >>> as_number("2.5"), as_number("yes"), as_number(""), as_number("red")
    (2.5, 1.0, nan, None)
    """
    if is_missing(cell):
        return math.nan
    if isinstance(cell, str):
        cell = cell.strip().lower()
        if cell in MARKERS:
            return math.nan
        if cell in CLEAR:
            return TRUTH[cell]
        if "_" in cell:  # Python reads 1_000 as a number, other programs do not
            return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
