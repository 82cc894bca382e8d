"""Dates as numbers: the year with decimals, so that 2021-07-02 is 2021.5.

A model can compare such numbers, and a predicted one reads like a year. Dates that can
be read in two ways, such as 3/4/2021 alone, are in doubt.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from phcle.tables.cells import NEARLY_ALL, ReadColumn, as_number

Parts = Mapping[str, str]
"""Parts of a date by name."""

ENDINGS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
"""What stands behind these days of a month, and `th` behind the others."""

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
        r"(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})\2(?P<year>\d{4})"
        + _TIME,
        r"(?P<first>\d{1,2})(?P<mark>/)(?P<second>\d{1,2})/(?P<short>\d{2})",
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
    sample = list(cells.values())[:: len(cells) // SAMPLED + 1]
    if not how and not any(map(_parts, sample)):
        return None
    texts = {cell: None for cell in cells.values() if isinstance(cell, str)}
    forms = {text: _parts(text) for text in texts}  # most dates occur several times
    parts: dict[int, Parts | date] = {}
    for i, cell in cells.items():
        own = forms[cell] if isinstance(cell, str) else _parts(cell)
        if own is not None:
            parts[i] = own
    found = ReadColumn("date")
    seasons = [x for text in texts if (x := _SEASON.fullmatch(text)) is not None]
    if seasons and all(int(x[3]) == (int(x[2]) + 1) % 100 for x in seasons):
        if any(int(x[3]) > 12 for x in seasons):
            return None
        found.doubt = f"{seasons[0][0]!r} may be a season or a month"
        found.ways = "date", "text"
    compact = {text for text in texts if text.isdecimal()}
    if len(compact) == 1:
        found.doubt = f"{compact.pop()!r} may be a date or a number"
        found.ways = "date", "number"
    day_first = _is_day_first(cells, parts, how, found)
    for i, own in parts.items():
        try:
            if i not in found.odd:
                found.numbers[i] = decimal_year(_moment(own, day_first))
        except ValueError:
            found.odd[i] = "is no such day"
    for i in cells.keys() - parts.keys():
        year = as_number(known[i])
        if year is not None and 1000 <= year <= 3000:  # without its day
            found.numbers[i] = year
        else:
            found.odd[i] = "is no date"
    is_rare = len(found.odd) > (1 - NEARLY_ALL) * len(known)
    if not found.numbers or (is_rare and not how):
        return None
    found.numbers = dict(sorted(found.numbers.items()))
    shown = list(found.numbers)[:2]
    listed = [f"{str(known[i])!r} as {found.numbers[i]:.7g}" for i in shown]
    listed = list(dict.fromkeys(listed))
    found.remarks = [f"dates read as years, such as {' and '.join(listed)}"]
    return found


def _match(text: str) -> re.Match[str] | None:
    if not any(x.isdecimal() for x in text):
        return None
    found = next((x for form in _FORMS if (x := form.fullmatch(text))), None)
    if found and (found.groupdict().get("name") or "may").lower() not in MONTHS:
        return None
    return found


def _parts(cell: Any) -> Parts | date | None:
    """The parts of a date in a text; None if it is no date."""
    if isinstance(cell, date):
        return cell
    match = _match(cell) if isinstance(cell, str) else None
    if match is None:
        return None
    return {name: part for name, part in match.groupdict().items() if part is not None}


def _day_first_votes(parts: Iterable[Parts]) -> Counter[bool]:
    """How many dates such as 25/4/2021 say that the day comes first, or last."""
    votes = Counter[bool]()
    for own in parts:
        if own.get("mark") == "." or int(own["first"]) > 12:
            votes[True] += 1
        elif int(own["second"]) > 12:
            votes[False] += 1
    return votes


def _is_day_first(
    cells: Mapping[int, Any],
    parts: Mapping[int, Parts | date],
    how: str,
    found: ReadColumn,
) -> bool:
    """Whether 3/4/2021 is in April: another cell tells, such as 25/4/2021."""
    open_ones = {
        i: own
        for i, own in parts.items()
        if not isinstance(own, date) and "first" in own
    }
    is_said = how.endswith("first")
    votes = _day_first_votes(open_ones.values())
    day_first = how == "day-first" if is_said else votes[True] > votes[False]
    if open_ones and not votes and not is_said:
        first = cells[next(iter(open_ones))]
        found.doubt = f"{first!r} may have the day or the month first"
        found.ways = "day-first", "month-first"
    for i, own in open_ones.items():
        if int(own["second" if day_first else "first"]) > 12:
            found.odd[i] = f"has not the {'day' if day_first else 'month'} first"
    return day_first


def _moment(parts: Parts | date, day_first: bool) -> date:
    """A date from its parts; ValueError if there is no such day."""
    if isinstance(parts, date):
        return parts
    if "first" in parts:
        day, month = int(parts["first"]), int(parts["second"])
        if not day_first:
            day, month = month, day
    else:
        day = int(parts.get("day", 1))
        name = parts.get("name", "").lower()
        month = MONTHS[name] if name else int(parts["month"])
    year = _whole_year(parts["short"]) if "short" in parts else int(parts["year"])
    if "hour" in parts:
        return datetime(year, month, day, int(parts["hour"]), int(parts["minute"]))
    return date(year, month, day)


def _whole_year(short: str) -> int:
    return int(short) + (1900 if int(short) >= TURN else 2000)


class DateSpelling:
    """How a column writes dates, if all are written alike; otherwise like 2021-12-31.

    Parameters
    ----------
    texts : iterable of str
        The dates of the column.

    Examples
    --------
    >>> DateSpelling(["25/12/2021", "01/02/2021"]).text(2021.5)
    '02/07/2021'
    """

    def __init__(self, texts: Iterable[str]) -> None:
        matches = [x for x in map(_match, texts) if x is not None]
        self.layouts = set(map(_layout, matches))
        self.parts: list[Parts] = [
            {name: x for name, x in match.groupdict().items() if x} for match in matches
        ]
        numbers = ("day", "month", "first", "second")
        self.is_padded = all(
            len(own.get(x, "01")) > 1 for own in self.parts for x in numbers
        )
        self.day_first = {True}
        if all("first" in own for own in self.parts):
            self.day_first = set(_day_first_votes(self.parts))
        self.names = [
            (months, case)
            for months in (calendar.month_name, calendar.month_abbr)
            for case in (str.title, str.upper, str.lower)
            if all(
                own.get("name", "") in ["", *map(case, months)] for own in self.parts
            )
        ]

    def text(self, value: float) -> str:
        """Write a date.

        Parameters
        ----------
        value : float
            The year with decimals.

        Returns
        -------
        str
            The date.
        """
        moment = moment_of_year(value)
        plain = moment.date().isoformat()
        has_names = any("name" in own for own in self.parts)
        is_certain = len(self.layouts) == len(self.day_first) == 1
        if not is_certain or (has_names and len(self.names) != 1):
            return plain
        day, month = f"{moment.day:02d}", f"{moment.month:02d}"
        if not self.is_padded:
            day, month = str(moment.day), str(moment.month)
        months, case = self.names[0]
        short = f"{moment.year % 100:02d}"
        (layout,) = self.layouts
        if "{short}" in layout and _whole_year(short) != moment.year:
            return plain
        (day_first,) = self.day_first
        return layout.format(
            year=f"{moment.year:04d}",
            short=short,
            month=month,
            day=day,
            first=day if day_first else month,
            second=month if day_first else day,
            name=case(months[moment.month]),
            ordinal="th"
            if 11 <= moment.day <= 13
            else ENDINGS.get(moment.day % 10, "th"),
            hour=f"{moment.hour:02d}",
            minute=f"{moment.minute:02d}",
            seconds=f"{moment.second:02d}",
        )


def is_date(text: str) -> bool:
    """Tell whether a text is a date.

    Parameters
    ----------
    text : str
        A cell without spaces around it.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_date("3rd May 2021"), is_date("3 kg")
    (True, False)
    """
    return _match(text) is not None


def _layout(match: re.Match[str]) -> str:
    """A date with the names of its parts in place of them: {day}{ordinal} {name}."""
    layout = match[0]
    parts = {name for name, part in match.groupdict().items() if part} - {"mark"}
    for name in sorted(parts, key=match.start, reverse=True):
        start, end = match.span(name)
        layout = f"{layout[:start]}{{{name}}}{layout[end:]}"
    return layout
