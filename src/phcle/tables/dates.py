"""Dates as numbers: the year with decimals, so that 2021-07-02 is 2021.5.

A model can compare such numbers, and a predicted one reads like a year. Dates that can
be read in two ways, such as 3/4/2021 alone, are in doubt.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from phcle.tables.cells import NEARLY_ALL, ReadColumn, as_number

ENDINGS = {1: "st", 2: "nd", 3: "rd"}
"""What stands behind numbers of days with these last digits, and `th` behind others."""

MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}

_TIME = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<seconds>\d\d(?:\.\d+)?))?"
    r"\s*(?:Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_DAY = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_NAME = r"(?P<name>[a-z]{3,9})\.?"
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<year>\d{{4}})([-/])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_TIME}",
        r"(?P<year>\d{4})-(?P<month>\d{2})",
        r"(?P<year>(?:1[89]|20)\d\d)(?P<month>0[1-9]|1[0-2])"
        r"(?P<day>0[1-9]|[12]\d|3[01])",
        r"(?P<first>\d{1,2})([./-])(?P<second>\d{1,2})\2(?P<year>\d{4})" + _TIME,
        r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<short>\d{2})",
        _DAY + r"[ -]" + _NAME + r"[ ,-]+(?P<year>\d{4})" + _TIME,
        _NAME + r" " + _DAY + r",? (?P<year>\d{4})" + _TIME,
        _NAME + r"[ -](?P<year>\d{4})",
    )
]

_SEASON = re.compile(r"(\d\d)(\d\d)[-/](\d\d)")

TURN = 69
"""Two-digit years from this one on are in the 1900s, as in C and POSIX."""


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
    day_first = _is_day_first(texts, how, found)
    for i, cell in cells.items():
        try:
            found.numbers[i] = _year(cell, day_first)
        except ValueError as error:
            found.odd[i] = str(error)
    is_rare = len(found.odd) > (1 - NEARLY_ALL) * len(known)
    if not found.numbers or (is_rare and not how):
        return None
    return found


def _is_day_first(texts: Iterable[str], how: str, found: ReadColumn) -> bool:
    """Whether 3/4/2021 is in April: another cell tells, such as 25/4/2021."""
    if how.endswith("first"):
        return how == "day-first"
    parsed = {text: x for text in texts if (x := parse_date(text)) and x.has_order}
    votes = Counter(x.day_first for x in parsed.values())
    if not votes or votes.keys() - {None}:
        return votes[True] > votes[False]
    doubt = f"{next(iter(parsed))!r} may have the day or the month first"
    found.ask(doubt, "day-first", "month-first")
    return False


def _year(cell: Any, day_first: bool) -> float:
    """A date, or a year without its day, as a number; ValueError with the reason."""
    if isinstance(cell, date):
        return decimal_year(cell)
    parsed = parse_date(cell) if isinstance(cell, str) else None
    if parsed is not None:
        return decimal_year(parsed.moment(day_first))
    year = as_number(cell)
    if year is None or not 1000 <= year <= 3000:
        raise ValueError("is no date")
    return year


class ParsedDate(NamedTuple):
    """A date in a text.

    Parameters
    ----------
    parts : mapping
        Its parts by name. Of 3/4/2021 these are `first`, `second` and `year`.
    layout : str
        The text with the names of its parts in place of them: {day}{ordinal} {name}.
    day_first : bool or None
        Whether the first part is the day; None if it may be the month as well.
    """

    parts: Mapping[str, str]
    layout: str
    day_first: bool | None

    @property
    def has_order(self) -> bool:
        """Whether it has a day and a month that may change places."""
        return "first" in self.parts

    def moment(self, day_first: bool) -> date:
        """Return the date; a ValueError says why there is no such day."""
        parts = self.parts
        day, month = int(parts.get("day", 1)), int(parts.get("month", 0))
        if self.has_order:
            day, month = int(parts["first"]), int(parts["second"])
            if not day_first:
                day, month = month, day
            if month > 12:
                first = "day" if day_first else "month"
                raise ValueError(f"has not the {first} first")
        if "name" in parts:
            month = MONTHS[parts["name"].lower()]
        year = _whole_year(parts["short"]) if "short" in parts else int(parts["year"])
        try:
            if "hour" not in parts:
                return date(year, month, day)
            hour, minute = int(parts["hour"]), int(parts["minute"])
            return datetime(year, month, day, hour, minute)
        except ValueError:
            raise ValueError("is no such day") from None


def _whole_year(short: str) -> int:
    return int(short) + (1900 if int(short) >= TURN else 2000)


@lru_cache(maxsize=1 << 16)  # most dates of a column occur several times
def parse_date(text: str) -> ParsedDate | None:
    """Read a date.

    Parameters
    ----------
    text : str
        A cell without spaces around it.

    Returns
    -------
    ParsedDate or None
        None if it is no date in any notation.

    Examples
    --------
    >>> parse_date("3rd May 2021").layout
    '{day}{ordinal} {name} {year}'
    """
    if not any(x.isdecimal() for x in text):
        return None
    match = next((x for form in _FORMS if (x := form.fullmatch(text))), None)
    if match is None or (match.groupdict().get("name") or "may").lower() not in MONTHS:
        return None
    parts = {name: part for name, part in match.groupdict().items() if part}
    layout = text
    for name in sorted(parts, key=match.start, reverse=True):
        start, end = match.span(name)
        layout = f"{layout[:start]}{{{name}}}{layout[end:]}"
    day_first = None
    if "first" in parts:
        has_point = text[match.end("first")] == "."
        if has_point or int(parts["first"]) > 12:
            day_first = True
        elif int(parts["second"]) > 12:
            day_first = False
    return ParsedDate(parts, layout, day_first)


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
    return isinstance(cell, str) and parse_date(cell) is not None


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
    parsed = [x for x in map(parse_date, texts) if x is not None]
    layout, *others = {x.layout for x in parsed}
    orders = {x.day_first for x in parsed} - {None}
    counted = ("day", "month", "first", "second")
    width = min(len(x.parts.get(part, "01")) for x in parsed for part in counted)
    used = {x.parts.get("name", "") for x in parsed}
    names = [
        own
        for months in (calendar.month_name, calendar.month_abbr)
        for own in (
            list(map(case, months)) for case in (str.title, str.upper, str.lower)
        )
        if used <= {"", *own}
    ]
    is_certain = not others and (len(orders) == 1 or "{first}" not in layout)
    is_certain &= len(names) == 1 or "{name}" not in layout

    def write(value: float) -> str:
        moment = moment_of_year(value)
        short = f"{moment.year % 100:02d}"
        is_far = "{short}" in layout and _whole_year(short) != moment.year
        if not is_certain or is_far:
            return moment.date().isoformat()
        day, month = f"{moment.day:0{width}d}", f"{moment.month:0{width}d}"
        th = "th" if 11 <= moment.day <= 13 else ENDINGS.get(moment.day % 10, "th")
        return layout.format(
            year=f"{moment.year:04d}",
            short=short,
            month=month,
            day=day,
            first=day if True in orders else month,
            second=month if True in orders else day,
            name=names[0][moment.month] if names else "",
            ordinal=th,
            hour=f"{moment.hour:02d}",
            minute=f"{moment.minute:02d}",
            seconds=f"{moment.second:02d}",
        )

    return write
