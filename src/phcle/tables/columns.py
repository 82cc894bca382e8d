"""Read one column of cells: numbers, truth values, dates or categories.

The column decides, not the cell: it is what nearly all its cells are, and the odd ones
count as unknown and are listed. `1.299` is read as the other cells are, and `N` beside
`yes` and `0` is a truth value. What can be read in two ways stays text, with a remark.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.labels import index_of, is_missing, normal
from phcle.errors import ContextError
from phcle.tables.cells import (
    CLEAR,
    READ_AS,
    TICKS,
    TRUTH,
    UnknownMarkers,
    as_number,
    truth_of,
    unknown_cells,
)
from phcle.tables.dates import read_dates
from phcle.tables.numbers import NEARLY_ALL, read_numbers

ColumnKind = Literal["number", "truth", "date", "category", "identifier", "empty"]

COUNTED = re.compile(r"[<>~\u2248\u2264\u2265\u00b1+-]*\s?\d")
"""What cells begin with that a person may read as numbers, and no notation here has."""

FEWEST_ODD, RARE = 0.95, 0.02
"""Share of truth values from which other words are odd cells, if each of these is
rarer than the second share; more frequent ones are a third value."""

SAMPLED = 200
"""Cells, evenly spaced, of which one must be a date for a column to hold dates."""

LIST, SEVERAL = re.compile(r"\w\s*[|;]\s*\w"), 0.2
"""What lists of values in one cell look like, and the share of them that is told."""

VERSIONS = ("version", "release")
"""Titles of columns in which 1.10 is not 1.1."""

CODES = (
    *("zip", "zip code", "zipcode", "postcode", "postal code", "plz", "phone", "fax"),
    *("telephone", "phone number", "isbn", "issn", "ean", "upc", "gtin", "barcode"),
)
"""Titles of columns whose digits are no amounts."""

IDENTIFIERS = ("id", "code", "key", "sku", "uid", "uuid", "guid")
"""Last words of titles of columns that only name the rows, if all cells differ."""

MOST_DIGITS = 15
"""Digits that a number keeps; longer ones are names."""

ONE_LENGTH, FEWEST_ALIKE = 8, 5
"""Different numbers of one length are names if they have the first number of digits,
and there are as many of them as the second."""

FEW_VALUES = 50
"""A text column with at most this many values is a category, even if every label has
its own value: the columns take little memory, and small tables are common."""

ROW_NUMBERS, FEWEST_ROWS = ("", "unnamed: 0", "index", "rownames"), 5
"""Titles that exported tables give to the numbers of their rows, and the fewest rows
that show it."""

MOST_CELLS = 50_000_000
"""Most cells (labels × values) that one text column may become: 400 MB of numbers."""


@dataclass
class ReadColumn:
    """What the cells of a column mean.

    Attributes
    ----------
    kind : {"number", "truth", "date", "category", "identifier", "empty"}
        What they are.
    numbers : list of float
        The numbers, NaN for unknown cells; empty for a category.
    words : list of str or None
        The texts of a category, None for unknown cells; otherwise empty.
    remarks : list of str
        What was assumed, without the name of the column.
    odd : dict
        Why a cell is not what nearly all others are, by its row. It counts as unknown.
    unit : str
        The unit that was dropped from every cell.
    doubt : str
        Why the column can be read in two ways, so that it stays text.
    ways : tuple of str
        The options of `--read` between which the user can choose then.
    examples : tuple of str
        Two cells that became numbers, as "'1,5' as 1.5".
    """

    kind: ColumnKind
    numbers: list[float] = field(default_factory=list)
    words: list[str | None] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    odd: dict[int, str] = field(default_factory=dict)
    unit: str = ""
    doubt: str = ""
    ways: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnSummary:
    """How a column was read, without its cells.

    Attributes
    ----------
    title : str
        Its title.
    holds : str
        What it holds, such as "number" or "category", or why a fit leaves it out.
    known : int
        Labels with a known cell.
    examples : tuple of str
        Two texts that became numbers, dates or truth values, as "'1,5' as 1.5".
    doubt : str
        Why it can be read in two ways and stays text; empty if it cannot.
    """

    title: str
    holds: str
    known: int
    examples: tuple[str, ...] = ()
    doubt: str = ""


@dataclass(frozen=True)
class _Asked:
    """How a column is to be read, as the user or the fit says."""

    how: str = ""
    numeric: bool = False

    @property
    def is_free(self) -> bool:
        return not (self.how or self.numeric)

    def allows(self, *kinds: str) -> bool:
        return not self.how or self.how in kinds


def read_column(
    cells: Sequence[Any],
    markers: UnknownMarkers | None = None,
    *,
    title: str = "",
    how: str = "",
    numeric: bool = False,
) -> ReadColumn:
    """Read a column.

    Parameters
    ----------
    cells : sequence
        Texts, numbers, truth values, dates and missing values.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.
    title : str, default ""
        The title of the column.
    how : str, default ""
        One of `READ_AS`, if the user says what the column is.
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
    >>> read_column(["02134", "90210"]).doubt
    "its numbers have leading zeros, such as '02134'"
    """
    markers = markers or UnknownMarkers()
    known = {
        i: cell.strip() if isinstance(cell, str) else cell
        for i, cell in enumerate(cells)
        if not markers.is_unknown(cell)
    }
    if not known:
        return ReadColumn("empty", [math.nan] * len(cells))
    asked = _Asked(how, numeric)
    if how == "text":
        return _read_category(cells, known)
    for read in (_read_ticks, _read_truth, _read_dates, _read_numbers):
        found = read(cells, known, asked)
        if found is None:
            continue
        if asked.is_free and not found.doubt and read is _read_numbers:
            found.doubt = _why_names(known, normal(title))
            found.ways = ("number", "text")
        if found.doubt and asked.is_free:
            text = _read_category(cells, known)
            is_name = found.doubt.startswith("its numbers")
            if is_name and len(set(text.words)) == len(known) >= FEWEST_ALIKE:
                text.kind = "identifier"
            text.doubt, text.ways, text.remarks = found.doubt, found.ways, []
            return text
        found.examples = _examples(found, known)
        return found
    if how or numeric:
        return _all_odd(cells, known, how)
    return _read_category(cells, known)


def _examples(found: ReadColumn, known: dict[int, Any]) -> tuple[str, ...]:
    """Two different texts and what they were read as."""
    shown: dict[str, str] = {}
    for i, cell in known.items():
        number = found.numbers[i]
        if isinstance(cell, str) and not math.isnan(number) and len(shown) < 2:
            truth = "yes" if number else "no"
            form = {"truth": truth, "date": f"{number:.2f}"}
            shown.setdefault(cell, form.get(found.kind, f"{number:.12g}"))
    return tuple(f"{cell!r} as {number}" for cell, number in shown.items())


def _all_odd(cells: Sequence[Any], known: dict[int, Any], how: str) -> ReadColumn:
    """A column in which no cell is what the user, or the fit, says it is."""
    odd = dict.fromkeys(known, f"is no {how or 'number'}")
    return ReadColumn("number", [math.nan] * len(cells), odd=odd)


def _read_ticks(
    cells: Sequence[Any], known: dict[int, Any], asked: _Asked
) -> ReadColumn | None:
    """A list in which a mark stands for yes and an empty cell for no."""
    marks = {x.lower() if isinstance(x, str) else x for x in known.values()}
    if not asked.allows("truth") or not marks <= set(TICKS):
        return None
    numbers = [0.0 if is_missing(cell) else math.nan for cell in cells]
    for i in known:
        numbers[i] = 1.0
    if 0.0 not in numbers and not asked.numeric:
        return None
    mark = next(iter(known.values()))
    remarks = [f"{mark!r} read as yes and empty cells as no"]
    return ReadColumn("truth", numbers, remarks=remarks)


def _read_truth(
    cells: Sequence[Any], known: dict[int, Any], asked: _Asked
) -> ReadColumn | None:
    """Truth values in any spelling; 0 and 1 alone stay numbers."""
    if not asked.allows("truth"):
        return None
    step = len(known) // SAMPLED + 1
    if not any(truth_of(x) is not None for x in islice(known.values(), 0, None, step)):
        return None
    values = {i: truth_of(cell) for i, cell in known.items()}
    others = Counter(str(known[i]) for i, value in values.items() if value is None)
    if others and asked.is_free:
        n, most = len(known), others.most_common(1)[0][1]
        if others.total() > (1 - FEWEST_ODD) * n or most > max(1, RARE * n):
            return None
    texts = {x for x in known.values() if isinstance(x, str)}
    words = {x.lower() for x in texts if x.lower() in TRUTH}
    if not words and not asked.how:
        return None
    both = {value for value in values.values() if value is not None}
    is_clear = words.intersection(CLEAR) or len(both) == 2
    if not is_clear and asked.is_free:
        return None
    numbers = [
        math.nan if (x := values.get(i)) is None else x for i in range(len(cells))
    ]
    found = ReadColumn("truth", numbers)
    found.odd = {i: "is neither yes nor no" for i, x in values.items() if x is None}
    if texts <= {"NO", "SI", "ON"} and texts != {"NO", "ON"}:
        found.doubt = f"{' and '.join(sorted(texts))} may be codes of countries"
        found.ways = ("truth", "text")
    return found


def _read_dates(
    cells: Sequence[Any], known: dict[int, Any], asked: _Asked
) -> ReadColumn | None:
    if not asked.allows("date", "day-first", "month-first"):
        return None
    # Whole numbers such as 20101231 are dates as well as texts of them.
    plain = [str(x) if type(x) is int else x for x in known.values()]
    if asked.is_free and read_dates(plain[:: len(plain) // SAMPLED + 1]) is None:
        return None
    order = asked.how if asked.how.endswith("first") else ""
    found = read_dates(plain, order)
    if found is None:
        return None
    rows = list(known)
    odd = {rows[i]: text for i, text in found.odd.items()}
    for i, row in enumerate(rows):
        if found.values[i] is None and row not in odd:
            number = as_number(known[row])
            if number is not None and 1000 <= number <= 3000:  # a year without its day
                found.values[i] = number
            else:
                odd[row] = "is no date"
    if len(odd) > (1 - NEARLY_ALL) * len(known) and asked.is_free:
        return None
    numbers = [math.nan] * len(cells)
    for row, value in zip(rows, found.values, strict=True):
        numbers[row] = math.nan if value is None else value
    shown = [i for i, x in enumerate(found.values) if x is not None][:2]
    if not shown:
        return None
    listed = [f"{str(known[rows[i]])!r} as {found.values[i]:.2f}" for i in shown]
    return ReadColumn(
        "date",
        numbers,
        remarks=[f"dates read as years, such as {' and '.join(dict.fromkeys(listed))}"],
        odd=odd,
        doubt=found.doubt,
        ways=_ways_of_date(found.doubt),
    )


def _ways_of_date(doubt: str) -> tuple[str, ...]:
    if "month first" in doubt:
        return "day-first", "month-first"
    return ("date", "number") if "number" in doubt else ("date", "text")


def _read_numbers(
    cells: Sequence[Any], known: dict[int, Any], asked: _Asked
) -> ReadColumn | None:
    if not asked.allows("number", "point", "comma"):
        return None
    texts = {i: cell for i, cell in known.items() if isinstance(cell, str)}
    found = read_numbers(
        list(texts.values()), {"point": ".", "comma": ","}.get(asked.how, "")
    )
    numbers: dict[int, float | None] = {
        i: as_number(cell) for i, cell in known.items() if i not in texts
    }
    odd = {list(texts)[i]: text for i, text in found.odd.items()}
    for i, number in zip(texts, found.values, strict=True):
        numbers[i] = number
        if number is None and asked.numeric:
            numbers[i] = truth_of(texts[i])
    for i in known:
        if numbers[i] is None:
            odd.setdefault(i, "is no number")
    if len(odd) == len(known):
        return None
    n_numbers = sum(x is not None for x in numbers.values()) + len(found.odd)
    if found.doubt and n_numbers < NEARLY_ALL * len(known):
        found.doubt = ""
    is_mostly = len(known) - len(odd) >= NEARLY_ALL * len(known)
    if not is_mostly and asked.is_free and not found.doubt:
        return None
    values = [
        math.nan if (x := numbers.get(i)) is None else x for i in range(len(cells))
    ]
    return ReadColumn(
        "number",
        values,
        [],
        found.remarks,
        odd,
        found.unit,
        found.doubt,
        ("point", "comma") if " or " in found.doubt else ("number", "text"),
    )


def _why_names(known: dict[int, Any], title: str) -> str:
    """Why whole numbers name things; empty if they may be amounts."""
    plain = " ".join(re.split(r"[\W_]+", title.lower())).strip()
    if plain in VERSIONS:
        return f"its numbers are versions by the title {title!r}"
    digits = {
        str(x)
        for x in known.values()
        if (isinstance(x, str) and x.isdecimal()) or type(x) is int
    }
    longest = max(map(len, digits), default=0)
    if longest > MOST_DIGITS:
        shown = max(digits, key=len)
        return f"its numbers have more than {MOST_DIGITS} digits, such as {shown!r}"
    zeros = [x for x in digits if len(x) > 1 and x.startswith("0")]
    if zeros:
        return f"its numbers have leading zeros, such as {zeros[0]!r}"
    others = [x for x in known.values() if not (isinstance(x, str) and x in digits)]
    if len(others) > (1 - NEARLY_ALL) * len(known) or any(
        as_number(x) is not None for x in others
    ):
        return ""  # amounts, or numbers that have a type
    if plain in CODES:
        return f"its numbers are codes by the title {title!r}"
    if len(digits) < max(FEWEST_ALIKE, len(known) - len(others)):
        return ""
    if plain.split()[-1:] and plain.split()[-1] in IDENTIFIERS:
        return f"its numbers all differ and the title is {title!r}"
    if longest >= ONE_LENGTH and longest == min(map(len, digits)):
        return f"its numbers all differ and have {longest} digits"
    return ""


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
        as_number(x) is not None
        and not (isinstance(x, str) and x.strip().lower() in TRUTH)
        for x in known.values()
    )
    if 0 < n_numbers < len(known):
        remarks.append(f"read as a category, though {n_numbers} cells are numbers")
    counted = [x for x in texts.values() if COUNTED.match(x)]
    if not n_numbers and len(counted) >= NEARLY_ALL * len(known):
        remarks.append(f"read as text, such as {counted[0]!r}")
    lists = [x for x in words if x is not None and LIST.search(x)]
    if len(lists) > SEVERAL * len(known):
        remarks.append(
            f"several values in a cell, such as {lists[0]!r}, read as one; --tags "
            "FILE:tag=COLUMN takes them apart"
        )
    return ReadColumn("category", words=words, remarks=remarks)


class OddCell(NamedTuple):
    """A cell that is not what nearly all others of its column are.

    Parameters
    ----------
    label : str
        The label of its row.
    title : str
        The title of its column.
    text : str
        What it holds.
    why : str
        Why it is odd, such as "is no number".
    """

    label: str
    title: str
    text: str
    why: str


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
    units : dict
        The unit that was dropped from the cells of a column, by its title.
    summaries : tuple of ColumnSummary
        How each column of cells was read.
    remarks : tuple of str
        What was assumed or changed.
    odd : tuple of OddCell
        Cells that count as unknown, because nearly all others are something else.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    values: Floats
    left_out: dict[str, str]
    units: dict[str, str]
    summaries: tuple[ColumnSummary, ...]
    remarks: tuple[str, ...]
    odd: tuple[OddCell, ...]


def read_columns(
    cells: Mapping[str, Sequence[Any]],
    markers: UnknownMarkers | None = None,
    read_as: Mapping[str, str] | None = None,
) -> dict[str, ReadColumn]:
    """Read the columns of a table.

    Parameters
    ----------
    cells : mapping
        Cells of each column, by its title.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.
    read_as : mapping from str to str, optional
        Values of `READ_AS` by title, as the user gives them.

    Returns
    -------
    dict
        What the cells mean, by title.
    """
    asked = read_as or {}
    return {
        title: read_column(raw, markers, title=title, how=asked.get(title, ""))
        for title, raw in cells.items()
    }


def encode_columns(
    labels: Sequence[str],
    cells: Mapping[str, Sequence[Any]],
    markers: UnknownMarkers | None = None,
    read_as: Mapping[str, str] | None = None,
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
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.
    read_as : mapping from str to str, optional
        Values of `READ_AS` by title, as the user gives them.

    Returns
    -------
    EncodedColumns
        The columns.
    """
    markers = markers or UnknownMarkers()
    names: list[str] = []
    titles: list[str] = []
    blocks: list[Floats] = []
    left_out: dict[str, str] = {}
    remarks: list[str] = []
    odd: list[OddCell] = []
    summaries: list[ColumnSummary] = []
    unknown: Counter[str] = Counter()
    read = read_columns(cells, markers, read_as)
    for title, column in read.items():
        unknown += markers.count(cells[title])
        remarks += [f"{title!r}: {x}" for x in _said(title, column, cells[title])]
        odd += [
            OddCell(labels[row], title, str(cells[title][row]).strip(), why)
            for row, why in sorted(column.odd.items())
        ]
        values = sorted({word for word in column.words if word is not None})
        reason = _why_left_out(title, column, len(values))
        summaries.append(_summary(title, column, reason))
        if reason is not None:
            left_out[title] = reason
        elif column.kind != "category":
            names.append(title)
            titles.append(title)
            blocks.append(np.array(column.numbers, dtype=np.float64)[:, None])
        else:
            names += [f"{title}={value}" for value in values]
            titles += [title] * len(values)
            blocks.append(_one_hot(column.words, values))
    if unknown:
        remarks.insert(0, unknown_cells(unknown))
    table = np.hstack(blocks) if blocks else np.empty((len(labels), 0))
    return EncodedColumns(
        tuple(names),
        tuple(titles),
        table,
        left_out,
        {title: column.unit for title, column in read.items() if column.unit},
        tuple(summaries),
        tuple(remarks),
        tuple(odd),
    )


def _summary(title: str, column: ReadColumn, reason: str | None) -> ColumnSummary:
    """How a column was read; numbers that are all 0 or 1 are truth values."""
    if reason is not None:
        return ColumnSummary(title, f"left out: {reason}", 0, (), column.doubt)
    known: set[object] = {x for x in column.numbers if not math.isnan(x)}
    is_truth = column.kind == "number" and known <= {0, 1}
    n_known = sum(x is not None for x in column.words)
    n_known += sum(not math.isnan(x) for x in column.numbers)
    holds = "truth" if is_truth else column.kind
    return ColumnSummary(title, holds, n_known, column.examples, column.doubt)


def _said(title: str, column: ReadColumn, cells: Sequence[Any]) -> list[str]:
    """What to say about a column, without its title."""
    said = list(column.remarks)
    if column.doubt:
        ways = " or ".join(f"--read {title}={way}" for way in column.ways)
        said.append(f"left as text, because {column.doubt}; {ways} decides")
    if column.odd:
        row, why = next(iter(sorted(column.odd.items())))
        n = len(column.odd)
        said.append(
            f"{n} odd cell{'s' * (n > 1)} taken as unknown: {cells[row]!r} {why}"
            + (", \u2026" if n > 1 else "")
        )
    return said


def _why_left_out(title: str, column: ReadColumn, n_values: int) -> str | None:
    """Why a column tells nothing about its labels; None if it may."""
    if _numbers_rows(title, column):
        return "it numbers the rows"
    if column.kind == "identifier":
        return f"{column.doubt}; --read {title}=number takes them as numbers"
    if n_values <= FEW_VALUES:
        return None
    n_known = sum(word is not None for word in column.words)
    if n_values > n_known / 2:
        return (
            f"{n_values} of its {n_known} known cells differ, so it holds identifiers "
            "or texts; give texts as --texts (from_texts)"
        )
    n_cells = n_values * len(column.words)
    if n_cells > MOST_CELLS:
        return (
            f"its {n_values} values would take {n_cells:,} cells; give it as --tags "
            "(from_tags), which stores what is present alone"
        )
    return None


def _numbers_rows(title: str, column: ReadColumn) -> bool:
    """Whether a column holds the numbers of the rows, such as 1, 2, 3 and so on."""
    numbers = column.numbers
    if title.strip().casefold() not in ROW_NUMBERS or len(numbers) < FEWEST_ROWS:
        return False
    return bool((np.diff(np.sort(numbers)) == 1).all())


def _one_hot(words: Sequence[str | None], values: Sequence[str]) -> Floats:
    """One column per value: 1 where a word is the value, NaN where it is missing."""
    position = index_of(values)
    codes = np.array([-1 if word is None else position[word] for word in words])
    block = np.zeros((len(words), len(values)))
    known = codes >= 0
    block[known, codes[known]] = 1.0
    block[~known] = np.nan
    return block


def parse_read_as(given: Sequence[str]) -> dict[str, str]:
    """Read what a user wants columns to be: `zip=text,born=date`.

    Parameters
    ----------
    given : sequence of str
        Titles and values of `READ_AS`.

    Returns
    -------
    dict
        The values by title.

    Examples
    --------
    >>> parse_read_as(["zip=text,born=date"])
    {'zip': 'text', 'born': 'date'}
    """
    found: dict[str, str] = {}
    for piece in (part for text in given for part in text.split(",")):
        title, equals, how = piece.rpartition("=")
        if not equals or not title:
            raise ContextError(
                f"--read must be TITLE=HOW, such as zip=text. Got {piece!r}; HOW is "
                f"one of {', '.join(READ_AS)}."
            )
        found[title.strip()] = how.strip().lower()
    return found
