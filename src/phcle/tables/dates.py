"""Dates as numbers: the year with decimals, so that 2021-07-02 is 2021.5.

A model can compare such numbers, and a predicted one reads like a year. A notation is
a format of `strftime`, which reads dates and writes them. Dates that can be read in two
ways, such as 3/4/2021 alone, are in doubt.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice, product
from typing import Any

from phcle.tables.cells import NEARLY_ALL, ReadColumn, as_number

NAMED = "%d %B %Y|%d-%B-%Y|%d %B, %Y|%B %d, %Y|%B %d %Y|%B %Y|%B-%Y"
FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y-%m", "%Y%m%d", "%d.%m.%Y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *(*NAMED.split("|"), *NAMED.replace("%B", "%b").split("|")),
)
"""Notations of days and months; a time may follow. The day first comes first."""

ORDERS = {"dm": "day", "md": "month"}
"""What stands first, by the letters of a format that has two numbers in any order."""

_TIME = re.compile(
    r"(.*?)([T ,]+)\d{1,2}:\d\d(:\d\d)?(\s*(?:Z|UTC|[+-]\d\d:?\d\d))?", re.DOTALL
)
_IN_FULL = re.compile(r"(?:1[89]|20)\d{6}|\d{4}-\d\d")
"""Digits that are a date only in full: 20101231, 2009-10."""

_BEYOND = re.compile(
    r"(?<=\d)(?:st|nd|rd|th)\b|(?<=[a-z])\.|(?<=sep)t\b|(?<=:\d\d)\.\d+", re.IGNORECASE
)
"""What a date may have beyond its format: 3rd, Jan., Sept, parts of a second."""

_SEASON = re.compile(r"(\d\d)(\d\d)[-/](\d\d)")

LONGEST = 40
"""No date has more characters."""

SAMPLED = 200
"""Cells, evenly spaced, of which one must be a date for a column to hold dates."""


def decimal_year(moment: date) -> float:
    """Return a date as a year with decimals.

    Parameters
    ----------
    moment : date or datetime
        The date.

    Returns
    -------
    float
        The year, and the part of it that has passed.

    Examples
    --------
    >>> decimal_year(date(2020, 7, 2))
    2020.5
    """
    days = 366 if calendar.isleap(moment.year) else 365
    passed = moment.timetuple().tm_yday - 1.0
    if isinstance(moment, datetime):
        passed += (moment.hour + moment.minute / 60 + moment.second / 3600) / 24
    return round(moment.year + passed / days, 6)


def moment_of_year(value: float) -> datetime:
    """Return the time that a year with decimals stands for, to the minute.

    Parameters
    ----------
    value : float
        The year, such as 2020.5.

    Returns
    -------
    datetime
        The time.

    Examples
    --------
    >>> moment_of_year(2020.5)
    datetime.datetime(2020, 7, 2, 0, 0)
    """
    year = min(max(int(value), date.min.year), date.max.year)
    minutes = (366 if calendar.isleap(year) else 365) * 24 * 60
    passed = min(max(round((value - year) * minutes), 0), minutes - 1)
    return datetime(year, 1, 1) + timedelta(minutes=passed)


def _shape(text: str) -> str:
    """What all dates of a notation have in common: words, and digits in each number."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d\d?(?!\d)|\d", "0", text))


_BY_SHAPE: dict[str, list[str]] = defaultdict(list)
for _format in FORMATS:
    _BY_SHAPE[_shape(date(2021, 12, 25).strftime(_format))].append(_format)


@lru_cache(maxsize=1 << 16)  # most dates of a column occur several times
def _dates_of(text: str) -> Mapping[str, datetime]:
    """The dates that a text may be, by their format; 3/4/2021 has two."""
    found: dict[str, datetime] = {}
    if len(text) > LONGEST:
        return found
    text = day = _BEYOND.sub("", text)
    time = ""
    if match := _TIME.fullmatch(text):
        day, gap, seconds, zone = match.groups(default="")
        time = f"{gap}%H:%M{':%S' * bool(seconds)}{zone}"
    for form in _BY_SHAPE.get(_shape(day), ()):
        if form in ("%Y-%m", "%Y%m%d") and not _IN_FULL.fullmatch(day):
            continue
        try:
            found[form + time] = datetime.strptime(text, form + time)
        except ValueError:  # no such day
            continue
    return found


def _order(form: str) -> str:
    return form[1] + form[4]


def is_date(cell: Any) -> bool:
    """Tell whether a cell is a text of a date.

    Parameters
    ----------
    cell : object
        A cell; texts without spaces around them.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_date("3rd May 2021"), is_date("3 kg")
    (True, False)
    """
    return isinstance(cell, str) and bool(_dates_of(cell))


def read_dates(known: Mapping[int, Any], how: str = "") -> ReadColumn | None:
    """Read a column of dates.

    Parameters
    ----------
    known : mapping
        The known cells by row: texts without spaces around them, dates, and others.
    how : {"", "date", "day-first", "month-first"}, default ""
        Says that the column holds dates, and perhaps what 3/4/2021 means.

    Returns
    -------
    ReadColumn or None
        The dates; None if no cell is one, or the cells are seasons such as 2012/13.

    Examples
    --------
    >>> read_dates({0: "2021-01-01", 1: "2020-07-02"}).numbers
    {0: 2021.0, 1: 2020.5}
    >>> read_dates({0: "25/12/2021", 1: "01/02/2021"}).numbers[1] == decimal_year(
    ...     date(2021, 2, 1)
    ... )
    True
    >>> read_dates({0: "2009-10", 1: "2010-11"}).doubt
    "'2009-10' may be a season or a month"
    """
    # Whole numbers such as 20101231 are dates as well as texts of them.
    cells = {i: str(x) if type(x) is int else x for i, x in known.items()}
    sample = islice(cells.values(), 0, None, len(cells) // SAMPLED + 1)
    if not how and not any(isinstance(x, date) or is_date(x) for x in sample):
        return None
    texts = {cell: None for cell in cells.values() if isinstance(cell, str)}
    found = ReadColumn("date")
    seasons = [x for text in texts if (x := _SEASON.fullmatch(text)) is not None]
    if seasons and all(int(x[3]) == (int(x[2]) + 1) % 100 for x in seasons):
        if any(int(x[3]) > 12 for x in seasons):
            return None
        found.ask(f"{seasons[0][0]!r} may be a season or a month", "date", "text")
    compact = {text for text in texts if text.isdecimal()}
    if len(compact) == 1:
        found.ask(f"{compact.pop()!r} may be a date or a number", "date", "number")
    first = how.removesuffix("-first") if "-" in how else _first_part(texts, found)
    for i, cell in cells.items():
        year = _year(cell, first)
        if year is None:
            found.odd[i] = (
                f"is no date with the {first} first" if first else "is no date"
            )
        else:
            found.numbers[i] = year
    is_rare = len(found.odd) > (1 - NEARLY_ALL) * len(known)
    if not found.numbers or (is_rare and not how):
        return None
    return found


def _first_part(texts: Iterable[str], found: ReadColumn) -> str:
    """What is first in 3/4/2021: another cell tells, such as 25/4/2021."""
    votes: Counter[str] = Counter()
    still_open = ""
    for text in texts:
        parts = [ORDERS[_order(x)] for x in _dates_of(text) if _order(x) in ORDERS]
        if len(parts) == 1:
            votes[parts[0]] += 1
        elif parts:
            still_open = still_open or text
    if still_open and not votes:
        doubt = f"{still_open!r} may have the day or the month first"
        found.ask(doubt, "day-first", "month-first")
        votes["month"] = 1
    return max(votes, key=lambda part: (votes[part], part), default="")


def _year(cell: Any, first: str) -> float | None:
    """A date, or a year without its day, as a number."""
    if isinstance(cell, date):
        return decimal_year(cell)
    for form, moment in (_dates_of(cell) if isinstance(cell, str) else {}).items():
        if ORDERS.get(_order(form), first) == first:
            return decimal_year(moment)
    year = as_number(cell)
    return year if year is not None and 1000 <= year <= 3000 else None


def date_writer(texts: Iterable[str]) -> Callable[[float], str]:
    """Return a function that writes dates as a column does, if all are written alike.

    Parameters
    ----------
    texts : iterable of str
        The dates of the column.

    Returns
    -------
    callable
        Writes a year with decimals; like 2021-12-31, if the notation is not certain.

    Examples
    --------
    >>> date_writer(["25/12/2021", "01/02/2021"])(2021.5)
    '02/07/2021'
    """
    known = {_BEYOND.sub("", text): _dates_of(text) for text in texts}
    formats = {form for own in known.values() for form in own}
    styles = [
        style
        for style in product(formats, (False, True), (True, False))
        if all(
            style[0] in own and _written(own[style[0]], *style) == text
            for text, own in known.items()
        )
    ]
    # Without a day below the 10th, days are taken to have two digits.
    styles = [x for x in styles if x[2]] or styles

    def write(value: float) -> str:
        moment = moment_of_year(value)
        found = {_written(moment, *style) for style in styles}
        years = {x.year for text in found for x in _dates_of(text).values()}
        if len(found) == 1 and years == {moment.year}:
            return found.pop()
        return moment.date().isoformat()

    return write


def _written(moment: datetime, form: str, is_upper: bool, is_padded: bool) -> str:
    if not is_padded:
        parts = {"%d": moment.day, "%m": moment.month, "%H": moment.hour}
        for part, number in parts.items():
            form = form.replace(part, str(number))
    text = moment.strftime(form)
    return text.upper() if is_upper else text
