"""Dates as numbers: the year with decimals, so that 2021-07-02 is 2021.5.

A model can compare such numbers, and a predicted one reads like a year. Dates that can
be read in two ways, such as 3/4/2021 alone, are in doubt.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

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


@dataclass
class ReadDates:
    """The dates of a column.

    Attributes
    ----------
    values : list of float or None
        The decimal year of each cell; None if the cell is no date.
    odd : dict
        Why a cell is no date like the others, by its position.
    doubt : str
        Why the dates can be read in two ways; empty if they cannot.
    """

    values: list[float | None]
    odd: dict[int, str] = field(default_factory=dict)
    doubt: str = ""


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


def read_dates(cells: Sequence[Any], order: str = "") -> ReadDates | None:
    """Read a column of dates; the known cells only.

    Parameters
    ----------
    cells : sequence
        Texts without spaces around them, or dates.
    order : {"", "day-first", "month-first"}, default ""
        What 3/4/2021 means, if the user says it.

    Returns
    -------
    ReadDates or None
        The dates; None if no cell is one, or the cells are seasons such as 2012/13.

    Examples
    --------
    >>> read_dates(["2021-01-01", "2020-07-02"]).values
    [2021.0, 2020.5]
    >>> read_dates(["25/12/2021", "01/02/2021"]).values[1] == decimal_year(
    ...     date(2021, 2, 1)
    ... )
    True
    >>> read_dates(["2009-10", "2010-11"]).doubt
    "'2009-10' may be a season or a month"
    """
    parts = [cell if isinstance(cell, date) else _parts(cell) for cell in cells]
    if not any(parts):
        return None
    found = ReadDates([None] * len(cells))
    seasons = [own for cell in cells if (own := _season(cell)) is not None]
    if seasons and all(is_next for is_next, _ in seasons):
        if any(second > 12 for _, second in seasons):
            return None
        found.doubt = f"{next(filter(_season, cells))!r} may be a season or a month"
    compact = {cell for cell in cells if isinstance(cell, str) and cell.isdecimal()}
    if len(compact) == 1:
        found.doubt = f"{compact.pop()!r} may be a date or a number"
    day_first = _is_day_first(cells, parts, found, order)
    for i, part in enumerate(parts):
        if part is None or i in found.odd:
            continue
        try:
            moment = part if isinstance(part, date) else _moment(part, day_first)
            found.values[i] = decimal_year(moment)
        except ValueError:
            found.odd[i] = "is no such day"
    return found


def _season(cell: Any) -> tuple[bool, int] | None:
    """Whether the second part of 2009-10 is the year after the first, and this part."""
    match = _SEASON.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        return None
    first, second = int(match[2]), int(match[3])
    return second == (first + 1) % 100, second


def _parts(cell: Any) -> dict[str, str] | None:
    """The parts of a date in a text; None if it is no date."""
    match = _match(cell) if isinstance(cell, str) else None
    if match is None:
        return None
    return {name: part for name, part in match.groupdict().items() if part is not None}


def _match(text: str) -> re.Match[str] | None:
    if not any(x.isdecimal() for x in text):
        return None
    found = next((x for form in _FORMS if (x := form.fullmatch(text))), None)
    if found and (found.groupdict().get("name") or "may").lower() not in MONTHS:
        return None
    return found


def layout_of(text: str) -> tuple[str, dict[str, str]] | None:
    """Tell how a date is written.

    Parameters
    ----------
    text : str
        A cell without spaces around it.

    Returns
    -------
    (str, dict) or None
        The text with the names of its parts in place of them, and the parts by name;
        None if it is no date.

    Examples
    --------
    >>> layout_of("25/12/2021")[0], layout_of("3rd May 2021")[0]
    ('{first}/{second}/{year}', '{day}{ordinal} {name} {year}')
    """
    match, parts = _match(text), _parts(text)
    if match is None or parts is None:
        return None
    layout = text
    for name in sorted(parts.keys() - {"mark"}, key=match.start, reverse=True):
        start, end = match.span(name)
        layout = f"{layout[:start]}{{{name}}}{layout[end:]}"
    return layout, parts


def day_first_vote(parts: Mapping[str, str]) -> bool | None:
    """Tell whether the day comes first in a date such as 25/4/2021.

    Parameters
    ----------
    parts : mapping
        The parts of the date.

    Returns
    -------
    bool or None
        None if the date leaves it open, or has no such parts.
    """
    if "first" not in parts:
        return None
    if parts.get("mark") == "." or int(parts["first"]) > 12:
        return True
    return False if int(parts["second"]) > 12 else None


def _is_day_first(
    cells: Sequence[Any], parts: Sequence[Any], found: ReadDates, order: str
) -> bool:
    """Whether 3/4/2021 is in April: another cell tells, such as 25/4/2021."""
    open_ones = {
        i: own
        for i, own in enumerate(parts)
        if isinstance(own, dict) and "first" in own
    }
    votes = Counter(map(day_first_vote, open_ones.values()))
    day_first = votes[True] > votes[False] if not order else order == "day-first"
    if open_ones and not (votes[True] or votes[False] or order):
        i = next(iter(open_ones))
        found.doubt = f"{cells[i]!r} may have the day or the month first"
    for i, own in open_ones.items():
        if int(own["second" if day_first else "first"]) > 12:
            found.odd[i] = f"has not the {'day' if day_first else 'month'} first"
    return day_first


def _moment(parts: dict[str, str], day_first: bool) -> date:
    """A date from its parts; ValueError if there is no such day."""
    if "first" in parts:
        day, month = int(parts["first"]), int(parts["second"])
        if not day_first:
            day, month = month, day
    else:
        day = int(parts.get("day", 1))
        month = (
            MONTHS[parts["name"].lower()] if "name" in parts else int(parts["month"])
        )
    if "short" in parts:
        short = int(parts["short"])
        year = short + (1900 if short >= TURN else 2000)
    else:
        year = int(parts["year"])
    if "hour" in parts:
        return datetime(year, month, day, int(parts["hour"]), int(parts["minute"]))
    return date(year, month, day)
