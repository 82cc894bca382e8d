"""Read one column of cells: numbers, truth values, dates or categories.

The column decides, not the cell: it is what nearly all its cells are, and the odd ones
count as unknown and are listed. `1.299` is read as the other cells are, and `N` beside
`yes` and `0` is a truth value. What can be read in two ways stays text, with a remark.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from phcle.arrays import Floats
from phcle.contexts.labels import is_missing, normal
from phcle.errors import ContextError
from phcle.tables.cells import (
    CLEAR,
    NEARLY_ALL,
    READ_AS,
    TICKS,
    TRUTH,
    YES_AND_NO,
    ReadColumn,
    UnknownMarkers,
    as_number,
    first_few,
    truth_of,
    unknown_cells,
)
from phcle.tables.dates import SAMPLED, date_writer, is_date, read_dates
from phcle.tables.numbers import number_writer, parse_number, read_numbers

Known = dict[int, Any]
"""The known cells of a column by row; texts without spaces around them."""

COUNTED = re.compile(r"[<>~\u2248\u2264\u2265\u00b1+-]*\s?\d")
"""What cells begin with that a person may read as numbers, and no notation here has."""

FEWEST_ODD, RARE = 0.95, 0.02
"""Share of truth values from which other words are odd cells, if each of these is
rarer than the second share; more frequent ones are a third value."""

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


Value = float | bool | str

_PAIRS = [("1", "0"), ("1.0", "0.0"), *YES_AND_NO]
_NO_OF, _YES_OF = dict(_PAIRS), {no: yes for yes, no in _PAIRS}


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


def read_column(
    cells: Sequence[Any],
    markers: UnknownMarkers | None = None,
    *,
    title: str = "",
    how: str | None = None,
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
    how : str, optional
        One of `READ_AS`, if the user says what the column is; or "numeric" for numbers,
        truth values or dates. Other cells are unknown then.

    Returns
    -------
    ReadColumn
        What the cells mean.

    Examples
    --------
    >>> read_column(["0", "N", "yes", "?"]).numbers
    {0: 0.0, 1: 0.0, 2: 1.0}
    >>> read_column(["red", "Red", "-", "blue", "red"]).words
    {0: 'red', 1: 'red', 3: 'blue', 4: 'red'}
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
        return ReadColumn("empty")
    found = None
    how = how or ""
    if how in ("", "truth", "numeric"):
        found = _read_ticks(cells, known, how) or _read_truth(known, how)
    if found is None and how in ("", "date", "day-first", "month-first", "numeric"):
        found = read_dates(known, how)
    if found is None and how in ("", "number", "point", "comma", "numeric"):
        found = _read_numbers(known, how, title)
    if found is not None and (how or not found.doubt):
        found.doubt = ""
        _show_examples(found, known)
        return found
    if how not in ("", "text"):
        kind = "number" if how == "numeric" else how
        return ReadColumn("number", odd=dict.fromkeys(known, f"is no {kind}"))
    text = _read_category(known)
    if found is not None:
        text.doubt, text.ways, text.remarks = found.doubt, found.ways, []
        is_name = found.doubt.startswith("its numbers")
        if is_name and len(set(text.words.values())) == len(known) >= FEWEST_ALIKE:
            text.kind = "identifier"
    return text


def _show_examples(found: ReadColumn, known: Known) -> None:
    """Show two texts and what they were read as; a remark has other notations."""
    is_sure = found.is_plain or found.kind == "truth"
    texts: dict[str, float] = {}
    for i in islice(found.numbers, 100 if is_sure else None):
        if isinstance(cell := known.get(i), str):
            texts.setdefault(cell, found.numbers[i])
    odd = [
        cell
        for cell, number in texts.items()
        if as_number(cell) != number or (found.is_guess and "." in cell)
    ]
    digits = 7 if found.kind == "date" else 12
    words = {}
    for cell in list(dict.fromkeys([*odd[:2], *islice(texts, 2)]))[:2]:
        words[cell] = f"{texts[cell]:.{digits}g}"
        if found.kind == "truth":
            words[cell] = "yes" if texts[cell] else "no"
    found.examples = tuple(f"{cell!r} as {word}" for cell, word in words.items())
    if odd and not is_sure:
        said = [f"{cell!r} read as {words[cell]}" for cell in odd[:2]]
        found.remarks.insert(0, " and ".join(said))


def _read_ticks(cells: Sequence[Any], known: Known, how: str) -> ReadColumn | None:
    """A list in which a mark stands for yes and an empty cell for no."""
    marks = {x.lower() if isinstance(x, str) else x for x in known.values()}
    if not marks <= set(TICKS):
        return None
    numbers = {i: 0.0 for i, cell in enumerate(cells) if is_missing(cell)}
    if not numbers and how != "numeric":
        return None
    remark = f"{next(iter(known.values()))!r} read as yes and empty cells as no"
    return ReadColumn(
        "truth", {**numbers, **dict.fromkeys(known, 1.0)}, remarks=[remark]
    )


def _read_truth(known: Known, how: str) -> ReadColumn | None:
    """Truth values in any spelling; 0 and 1 alone stay numbers."""
    step = len(known) // SAMPLED + 1
    if all(truth_of(x) is None for x in islice(known.values(), 0, None, step)):
        return None
    found = ReadColumn("truth")
    found.numbers = {i: x for i, y in known.items() if (x := truth_of(y)) is not None}
    odd = sorted(known.keys() - found.numbers.keys())
    found.odd = dict.fromkeys(odd, "is neither yes nor no")
    texts = {x for x in known.values() if isinstance(x, str)}
    words = {x.lower() for x in texts if x.lower() in TRUTH}
    is_clear = words.intersection(CLEAR) or len(set(found.numbers.values())) == 2
    if how != "truth" and not (words and (is_clear or how)):
        return None
    n_of_one = max(Counter(str(known[i]) for i in odd).values(), default=0)
    is_third = n_of_one > max(1, RARE * len(known))
    if not how and (is_third or len(odd) > (1 - FEWEST_ODD) * len(known)):
        return None
    if texts <= {"NO", "SI", "ON"} and texts != {"NO", "ON"}:
        codes = " and ".join(sorted(texts))
        found.ask(f"{codes} may be codes of countries", "truth", "text")
    return found


def _read_numbers(known: Known, how: str, title: str) -> ReadColumn | None:
    texts = {i: cell for i, cell in known.items() if isinstance(cell, str)}
    found = read_numbers(texts, {"point": ".", "comma": ","}.get(how, ""))
    for i, cell in known.items():
        number = None
        if i not in texts:
            number = as_number(cell)
        elif how == "numeric" and i not in found.numbers:
            number = truth_of(cell)
        if number is not None:
            found.numbers[i] = number
    n_like = len(found.numbers.keys() | found.odd.keys())
    for i in known.keys() - found.numbers.keys():
        found.odd.setdefault(i, "is no number")
    if n_like < NEARLY_ALL * len(known):
        found.doubt = ""
    is_mostly = len(found.numbers) >= NEARLY_ALL * len(known)
    if not found.numbers or not (is_mostly or how or found.doubt):
        return None
    is_certain = not (how or found.doubt)
    if is_certain and found.unit and found.odd and len({*found.numbers.values()}) == 1:
        return None  # a number and its word name a value: `1 None` beside `2 High only`
    found.numbers = dict(sorted(found.numbers.items()))
    if not (found.doubt or how):
        found.ask(_why_names(known, normal(title)), "number", "text")
    return found


def _why_names(known: Known, title: str) -> str:
    """Why whole numbers name things; empty if they may be amounts."""
    plain = " ".join(re.split(r"[\W_]+", title.lower())).strip()
    whole = [str(x) for x in known.values() if type(x) in (int, str)]
    whole = [x for x in whole if x.isdecimal()]
    longest, n_digits = max(whole, key=len, default=""), {len(x) for x in whole}
    zeros = [x for x in whole if len(x) > 1 and x.startswith("0")]
    if plain in VERSIONS:
        return f"its numbers are versions by the title {title!r}"
    if len(longest) > MOST_DIGITS:
        return f"its numbers have more than {MOST_DIGITS} digits, such as {longest!r}"
    if zeros:
        return f"its numbers have leading zeros, such as {zeros[0]!r}"
    others = [x for x in known.values() if not str(x).isdecimal()]
    are_amounts = any(as_number(x) is not None for x in others)
    if len(others) > (1 - NEARLY_ALL) * len(known) or are_amounts:
        return ""
    if plain in CODES:
        return f"its numbers are codes by the title {title!r}"
    if len(set(whole)) < max(FEWEST_ALIKE, len(whole)):
        return ""
    if plain.split()[-1:] and plain.split()[-1] in IDENTIFIERS:
        return f"its numbers all differ and the title is {title!r}"
    if n_digits == {len(longest)} and len(longest) >= ONE_LENGTH:
        return f"its numbers all differ and have {len(longest)} digits"
    return ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _read_category(known: Known) -> ReadColumn:
    """Texts; spellings that differ only in case or spaces are one value."""
    texts = {
        i: cell.isoformat() if isinstance(cell, date) else str(cell)
        for i, cell in known.items()
    }
    counts = Counter(texts.values())
    usual: dict[str, str] = {}
    for text, _ in counts.most_common():
        usual.setdefault(_folded(text), text)
    names = {text: usual[_folded(text)] for text in counts}
    found = ReadColumn("category", words={i: names[x] for i, x in texts.items()})
    joined = [f"{text!r} as {name!r}" for text, name in names.items() if text != name]
    if joined:
        found.remarks.append(f"spellings joined: {first_few(joined, 3)}")
    n_numbers = sum(
        as_number(x) is not None and not (isinstance(x, str) and x.lower() in TRUTH)
        for x in known.values()
    )
    if 0 < n_numbers < len(known):
        found.remarks.append(
            f"read as a category, though {n_numbers} cells are numbers"
        )
    counted = [x for x in texts.values() if COUNTED.match(x)]
    if not n_numbers and len(counted) >= NEARLY_ALL * len(known):
        found.remarks.append(f"read as text, such as {counted[0]!r}")
    lists = [x for x in found.words.values() if LIST.search(x)]
    if len(lists) > SEVERAL * len(known):
        found.remarks.append(
            f"several values in a cell, such as {lists[0]!r}, read as one; --tags "
            "FILE:tag=COLUMN takes them apart"
        )
    return found


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


@dataclass
class EncodedColumns:
    """Columns of numbers, and what was found out about the cells they came from.

    Attributes
    ----------
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    names : list of str
        Names of the new columns, such as `weight` or `colour=red`.
    titles : list of str
        For each new column the title that it came from.
    left_out : dict
        Why a column is left out, by its title.
    units : dict
        The unit that was dropped from the cells of a column, by its title.
    summaries : list of ColumnSummary
        How each column of cells was read.
    remarks : list of str
        What was assumed or changed.
    odd : list of OddCell
        Cells that count as unknown, because nearly all others are something else.
    """

    values: Floats
    names: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    summaries: list[ColumnSummary] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    odd: list[OddCell] = field(default_factory=list)


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
    n_rows = len(labels)
    blocks = [np.empty((n_rows, 0))]
    unknown: Counter[str] = Counter()
    found = EncodedColumns(blocks[0])
    for title, raw in cells.items():
        column = read_column(raw, markers, title=title, how=(read_as or {}).get(title))
        unknown += markers.count(raw)
        found.remarks += [f"{title!r}: {x}" for x in _said(title, column, raw)]
        found.odd += [
            OddCell(labels[row], title, str(raw[row]).strip(), why)
            for row, why in sorted(column.odd.items())
        ]
        if column.unit:
            found.units[title] = column.unit
        numbers = column.array(n_rows)
        values = sorted(set(column.words.values()))
        reason = _why_left_out(title, column, numbers, len(values))
        is_truth = column.kind == "number" and set(column.numbers.values()) <= {0, 1}
        holds = "truth" if is_truth else column.kind
        summary = ColumnSummary(
            title,
            f"left out: {reason}" if reason else holds,
            0 if reason else len(column.numbers or column.words),
            () if reason else column.examples,
            column.doubt,
        )
        found.summaries.append(summary)
        if reason:
            found.left_out[title] = reason
            continue
        names = [title]
        block = numbers.reshape(n_rows, 1)
        if column.kind == "category":
            names = [f"{title}={value}" for value in values]
            block = _one_hot(column, values, n_rows)
        found.names += names
        found.titles += [title] * len(names)
        blocks.append(block)
    if unknown:
        found.remarks.insert(0, unknown_cells(unknown))
    found.values = np.hstack(blocks)
    return found


def _said(title: str, column: ReadColumn, cells: Sequence[Any]) -> list[str]:
    """What to say about a column, without its title."""
    said = list(column.remarks)
    if column.doubt:
        ways = " or ".join(f"--read {title}={way}" for way in column.ways)
        said.append(f"left as text, because {column.doubt}; {ways} decides")
    if column.odd:
        row, why = min(column.odd.items())
        n = len(column.odd)
        more = ", \u2026" * (n > 1)
        said.append(
            f"{n} odd cell{'s' * (n > 1)} taken as unknown: {cells[row]!r} {why}{more}"
        )
    return said


def _why_left_out(
    title: str, column: ReadColumn, numbers: Floats, n_values: int
) -> str:
    """Why a column tells nothing about its labels; empty if it may."""
    n_rows, n_known = len(numbers), len(column.words)
    is_index = title.strip().casefold() in ROW_NUMBERS and n_rows >= FEWEST_ROWS
    if is_index and (np.diff(np.sort(numbers)) == 1).all():
        return "it numbers the rows"
    if column.kind == "identifier":
        return f"{column.doubt}; --read {title}=number takes them as numbers"
    if FEW_VALUES < n_values > n_known / 2:
        return (
            f"{n_values} of its {n_known} known cells differ, so it holds identifiers "
            "or texts; give texts as --texts (from_texts)"
        )
    n_cells = n_values * n_rows
    if n_values > FEW_VALUES and n_cells > MOST_CELLS:
        return (
            f"its {n_values} values would take {n_cells:,} cells; give it as --tags "
            "(from_tags), which stores what is present alone"
        )
    return ""


def _one_hot(column: ReadColumn, values: Sequence[str], n_rows: int) -> Floats:
    """One column per value: 1 where a word is the value, NaN where it is missing."""
    position = {value: at for at, value in enumerate(values)}
    rows = list(column.words)
    block = np.full((n_rows, len(values)), np.nan)
    block[rows] = 0.0
    block[rows, [position[word] for word in column.words.values()]] = 1.0
    return block


def column_writer(seen: Counter[str]) -> Callable[[Value], str]:
    """Return a function that writes values as a column would.

    Parameters
    ----------
    seen : Counter
        The known cells of the column.

    Returns
    -------
    callable
        Gives the cell of a number, truth value or text; empty if that is how the column
        writes the value.

    Examples
    --------
    >>> column_writer(Counter(["12,50 kg", "3,25 kg"]))(7.123)
    '7,12 kg'
    """
    dates = [x for x in seen if parse_number(x) is None and is_date(x)]
    are_usual = sum(seen[x] for x in dates) > seen.total() / 2
    number = date_writer(dates) if are_usual else number_writer(seen)

    def write(value: Value) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return _truth(value, [text for text, _ in seen.most_common()])
        return number(value) if math.isfinite(value) else ""

    return write


def _truth(value: bool, common: list[str]) -> str:
    """The most common spelling; the opposite of the other one; or yes and no."""
    from phcle.embedding.cell_texts import value_text

    if common and all(text.lower() in TICKS for text in common):
        return common[0] if value else ""
    own, other = (_NO_OF, _YES_OF) if value else (_YES_OF, _NO_OF)
    for text in common:
        if text.lower() in own:
            return text
    seen = next((text for text in common if text.lower() in other), "x")
    found = other.get(seen.lower(), value_text(value))
    if seen.isupper():
        return found.upper()
    return found.capitalize() if seen[0].isupper() else found


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
    for piece in ",".join(given).split(",") if given else ():
        title, _, how = piece.rpartition("=")
        if not title:
            raise ContextError(
                f"--read must be TITLE=HOW, such as zip=text. Got {piece!r}; HOW is "
                f"one of {', '.join(READ_AS)}."
            )
        found[title.strip()] = how.strip().lower()
    return found
