"""One cell of a table: whether it is unknown, true, or a number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any, Literal

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.labels import is_missing, normal

ColumnKind = Literal["number", "truth", "date", "category", "identifier", "empty"]

NEARLY_ALL = 0.8
"""Share of the known cells that says what a column holds; the others are odd cells."""

READ_AS = (
    *("text", "number", "point", "comma", "truth", "date", "day-first"),
    "month-first",
)
"""How a user may have a column read: `point` and `comma` are numbers with a decimal
point or comma, `day-first` and `month-first` are dates such as 3/4/2021."""

MARKERS = frozenset(
    [
        *("na", "n/a", "n.a.", "n.a", "n/k", "<na>", "#n/a", "#na", "nan", "-nan"),
        *("null", "(null)", "nil", "none", "\\n", "undefined", "unspecified"),
        *("-", "--", "---", "\u2013", "\u2014", "?", "??", "???", ".", "..", "..."),
        *("\u2026", "unknown", "unk", "not known", "not available", "not applicable"),
        *("k.a.", "k. a.", "unbekannt", "s.d.", "inconnu", "desconocido"),
        *("not specified", "no data", "no value", "missing", "tbd", "tba", "n.d."),
        *("#value!", "#ref!", "#div/0!", "#name?", "#null!", "#num!", "empty"),
    ]
)
"""What people and programs write for an unknown value, in lower case. A column of
categories may have `none` or `unknown` as a value: `keep_na` keeps them."""

YES_AND_NO = [
    *(("y", "n"), ("t", "f"), ("on", "off"), ("true", "false"), ("ja", "nein")),
    *(("oui", "non"), ("s\u00ed", "no"), ("si", "no"), ("yes", "no")),
]
"""How columns write yes and no; of several, the last is usual."""

TRUTH = {word: float(both[0] == word) for both in YES_AND_NO for word in both}
CLEAR = ("true", "false", "yes", "no", "ja", "nein", "oui", "non")
"""Truth values that need no other: a column of `F` alone may hold something else."""

TICKS = ("x", "\u2713", "\u2714", "\u2611")
"""Marks in lists of the kind `x` or empty."""


@dataclass
class ReadColumn:
    """What the cells of a column mean; cells that are not listed are unknown.

    Attributes
    ----------
    kind : {"number", "truth", "date", "category", "identifier", "empty"}
        What they are.
    numbers : dict
        The numbers by row; empty for a category.
    words : dict
        The texts of a category by row; otherwise empty.
    remarks : list of str
        What was assumed, without the name of the column.
    odd : dict
        Why a cell is not what nearly all others are, by its row. It counts as unknown.
    is_plain : bool
        Whether all numbers are written as programs write them.
    is_guess : bool
        Whether no cell shows that a point starts decimals.
    unit : str
        The unit that was dropped from every cell.
    doubt : str
        Why the column can be read in two ways, so that it stays text.
    ways : tuple of str
        The values of `READ_AS` between which the user can choose then.
    examples : tuple of str
        Two cells that became numbers, as "'1,5' as 1.5".
    """

    kind: ColumnKind
    numbers: dict[int, float] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    odd: dict[int, str] = field(default_factory=dict)
    is_plain: bool = False
    is_guess: bool = False
    unit: str = ""
    doubt: str = ""
    ways: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    def ask(self, doubt: str, *ways: str) -> None:
        """Say why the column can be read in two ways, and which these are."""
        self.doubt, self.ways = doubt, ways

    def array(self, n_rows: int) -> Floats:
        """Return the numbers of all rows.

        Parameters
        ----------
        n_rows : int
            Rows of the table.

        Returns
        -------
        array of shape (rows,)
            The numbers, NaN where unknown.
        """
        found = np.full(n_rows, np.nan)
        found[list(self.numbers)] = list(self.numbers.values())
        return found


@dataclass(frozen=True)
class UnknownMarkers:
    """Tells which cells of values are unknown. Labels have no markers: NA is Namibia.

    Attributes
    ----------
    na : tuple of str
        Further markers; case does not matter.
    keep_na : bool
        Take the usual markers for ordinary texts. Empty cells stay unknown.

    Examples
    --------
    >>> markers = UnknownMarkers(na=("-99",))
    >>> [markers.is_unknown(cell) for cell in ("", "N/A", "-99", None, "red", 0)]
    [True, True, True, True, False, False]
    """

    na: tuple[str, ...] = ()
    keep_na: bool = False

    def __post_init__(self) -> None:
        own = frozenset(text.strip().lower() for text in self.na)
        object.__setattr__(self, "_all", own if self.keep_na else own | MARKERS)

    def is_marker(self, cell: Any) -> bool:
        """Tell whether a cell holds a marker.

        Parameters
        ----------
        cell : object
            The cell.

        Returns
        -------
        bool
            False for empty cells.
        """
        texts: frozenset[str] = self._all  # type: ignore[attr-defined]
        if isinstance(cell, str):
            return cell.strip().lower() in texts
        # A number may be a marker, too: -99 in a frame is an integer.
        is_number = bool(self.na) and isinstance(cell, (int, float))
        return is_number and cell_text(cell) in texts

    def is_unknown(self, cell: Any) -> bool:
        """Tell whether a cell is empty or holds a marker.

        Parameters
        ----------
        cell : object
            The cell.

        Returns
        -------
        bool
            Whether its value is unknown.
        """
        return is_missing(cell) or self.is_marker(cell)

    def count(self, cells: Iterable[Any]) -> Counter[str]:
        """Count the markers among cells.

        Parameters
        ----------
        cells : iterable
            The cells.

        Returns
        -------
        Counter
            How often each marker occurs, as it is written.
        """
        return Counter(cell_text(x) for x in cells if self.is_marker(x))


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
    listed = first_few([f"{text!r} {n}" for text, n in markers.most_common()], 6)
    return f"{total} cell{'s' * (total > 1)} unknown: {listed}"


def first_few(items: Sequence[str], most: int = 5) -> str:
    """List the first few of many parts of a remark.

    Parameters
    ----------
    items : sequence of str
        The parts.
    most : int, default 5
        How many to list.

    Returns
    -------
    str
        The parts, and how many more there are.

    Examples
    --------
    >>> first_few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def truth_of(cell: Any) -> float | None:
    """Convert a cell to a truth value, without a look at other cells.

    Parameters
    ----------
    cell : object
        A known cell.

    Returns
    -------
    float or None
        1 or 0; None if it is neither.

    Examples
    --------
    >>> truth_of("Yes"), truth_of(0), truth_of("red")
    (1.0, 0.0, None)
    """
    if isinstance(cell, str):
        cell = cell.lower()
        return TRUTH.get(cell, {"0": 0.0, "1": 1.0}.get(cell))
    number = as_number(cell)
    return number if number in (0.0, 1.0) else None


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


def cell_text(value: Any) -> str:
    """Return a cell as a text: a label, a title or a name.

    Parameters
    ----------
    value : object
        A cell of any type.

    Returns
    -------
    str
        The text; empty for an unknown cell. Whole numbers have no decimals.

    Examples
    --------
    >>> [cell_text(x) for x in (None, True, 2.0, 0.5, " word ", datetime(2021, 5, 3))]
    ['', 'true', '2', '0.5', 'word', '2021-05-03']
    """
    if isinstance(value, str):
        return normal(value).strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if is_missing(value):
        return ""
    return str(value).lower() if isinstance(value, bool) else normal(str(value)).strip()


def typed(value: Any) -> Any:
    """Return a cell with the type that it has; unknown ones are empty texts.

    Parameters
    ----------
    value : object
        A value of a file or data frame.

    Returns
    -------
    object
        The cell.
    """
    if isinstance(value, str):
        return normal(value).strip()
    return "" if is_missing(value) else value
