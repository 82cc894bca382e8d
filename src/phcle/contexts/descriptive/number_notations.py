"""Numbers as people write them: 1,299.00 or 1.299,00, £45, 12 %, (3.5), 3 kg.

A cell may leave it open whether a point or comma starts the decimals: 1.299. The other
cells of its column decide. If none does, it is read as programs write numbers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

CURRENCIES = {
    "$": "USD",
    "us$": "USD",
    "\u00a3": "GBP",
    "\u20ac": "EUR",
    "\u00a5": "JPY",
    "\u20b9": "INR",
    "rs": "INR",
    "rs.": "INR",
    "fr.": "CHF",
    "sfr.": "CHF",
    "z\u0142": "PLN",
    "kr": "kr",
    "kr.": "kr",
    "a$": "AUD",
    "c$": "CAD",
    "r$": "BRL",
    **{
        code.lower(): code
        for code in (
            *("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "AUD", "CAD", "NZD"),
            *("SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "KRW"),
        )
    },
}
"""Signs and codes of money, in lower case, with one name for each currency."""

PERCENT = ("%", "\u2030", "percent", "pct")

UNITS = frozenset(
    [
        *("mg", "g", "kg", "t", "lb", "lbs", "oz", "st"),
        *("mm", "cm", "dm", "m", "km", "in", "ft", "yd", "mi", '"'),
        *("ml", "cl", "dl", "l", "hl", "gal", "pt"),
        *("ms", "s", "sec", "min", "mins", "h", "hr", "hrs", "d", "wk", "yr", "yrs"),
        *("m2", "m\u00b2", "km2", "km\u00b2", "ha", "m3", "m\u00b3", "cc", "sqft"),
        *(
            "w",
            "kw",
            "mw",
            "kwh",
            "wh",
            "v",
            "a",
            "ah",
            "mah",
            "j",
            "kj",
            "kcal",
            "cal",
        ),
        *("hz", "khz", "mhz", "ghz", "kb", "mb", "gb", "tb", "px", "mp", "dpi"),
        *("\u00b0c", "\u00b0f", "\u00b0", "km/h", "mph", "m/s", "bar", "hp", "db"),
    ]
)
"""Units that may follow a number without a space, in lower case. Other words must be
apart from it: `2XL` is a size, `2 rooms` is a number of rooms."""

_SPACES = str.maketrans(
    {"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"}
)
_NUMBER = re.compile(
    r"(?P<paren>\()?(?P<sign>[+-])?\s?(?P<before>[^\d\s.,'()+-]{1,4}\.?)?\s?"
    r"(?P<minus>[+-])?(?P<core>[\d.,][\d.,']*(?: \d{3}(?!\d)[.,\d]*)*)"
    r"(?P<exponent>[eE][+-]?\d{1,4})?(?P<space>\s?)(?P<after>[^\d\s.,'()+-]\S{0,11}?)?\)?"
)

_MAYBE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")


@dataclass
class ReadNumbers:
    """The numbers of a column.

    Attributes
    ----------
    values : list of float or None
        The number of each cell; None if the cell is no number.
    remarks : list of str
        What was dropped or assumed, without the name of the column.
    faults : dict
        What is wrong with a cell and what to do, by its position.
    unit : str
        The unit that every cell has; empty without one.
    """

    values: list[float | None]
    remarks: list[str] = field(default_factory=list)
    faults: dict[int, tuple[str, str]] = field(default_factory=dict)
    unit: str = ""


@dataclass(frozen=True)
class _Cell:
    """A number with what stands around it; None for what the cell leaves open."""

    text: str
    if_point: float | None  # the value if a point starts the decimals
    if_comma: float | None
    mark: str = ""  # the only separator; empty if the number has none
    currency: str = ""
    percent: bool = False
    unit: str = ""

    @property
    def is_open(self) -> bool:
        return (
            self.if_point is not None
            and self.if_comma is not None
            and self.if_point != self.if_comma
        )

    @property
    def decides(self) -> str:
        if self.if_point is not None and self.if_comma is not None:
            return ""
        return "." if self.if_point is not None else ","


def read_numbers(cells: Sequence[str]) -> ReadNumbers:
    """Read a column of numbers; the known cells only.

    Parameters
    ----------
    cells : sequence of str
        The cells without spaces around them.

    Returns
    -------
    ReadNumbers
        Numbers, and what was assumed.

    Examples
    --------
    >>> read_numbers(["1.299,00", "45,5", "1.100"]).values
    [1299.0, 45.5, 1100.0]
    >>> read_numbers(["\u00a345", "12", "cheap"]).values
    [45.0, 12.0, None]
    """
    plain = _plain_numbers(cells)
    if plain is not None:
        return ReadNumbers(plain)
    parsed = [_parse(cell) for cell in cells]
    unit = _common_unit(parsed)
    found = ReadNumbers([None] * len(cells), unit=unit)
    numbers = {
        i: cell
        for i, cell in enumerate(parsed)
        if cell is not None and (not cell.unit or unit)
    }
    _check_currencies(numbers, found)
    votes = Counter(cell.decides for cell in numbers.values() if cell.decides)
    for i, cell in numbers.items():
        found.values[i] = _value(i, cell, votes, found)
    _say_what_was_dropped(numbers, votes, found)
    return found


def _plain_numbers(cells: Sequence[str]) -> list[float | None] | None:
    """Numbers as programs write them, which is fast; None if any is written otherwise.

    Numbers such as 1.299 alone may have a separator of thousands.
    """
    found: list[float | None] = []
    try:
        for cell in cells:
            if "_" in cell:  # Python reads 1_000 as a number, other programs do not
                return None
            found.append(float(cell))
    except ValueError:
        return None
    pointed = (cell for cell in cells if "." in cell)
    is_clear = not re.fullmatch(_MAYBE_THOUSANDS, next(pointed, "0")) or not all(
        re.fullmatch(_MAYBE_THOUSANDS, cell) for cell in pointed
    )
    return found if is_clear else None


def _parse(text: str) -> _Cell | None:
    """One cell; None if it is no number in any notation."""
    match = _NUMBER.fullmatch(text.translate(_SPACES).strip())
    if match is None or bool(match["paren"]) != text.rstrip().endswith(")"):
        return None
    before, after = (match["before"] or "").lower(), (match["after"] or "").lower()
    currency = _currency(before) or _currency(after)
    if before and not currency:
        return None
    percent = after in PERCENT
    unit = ""
    if after and not percent and not _currency(after):
        if not match["space"] and after not in UNITS:
            return None
        unit = after
        if not any(x.isalpha() or x in '°"' for x in unit):
            return None
    values = _values(match["core"], match["exponent"] or "")
    if values is None:
        return None
    signs = [match["sign"], match["minus"], "-" if match["paren"] else None]
    sign = -1.0 if "-" in signs else 1.0
    if sum(map(bool, signs)) > 1:
        return None
    if_point, if_comma = (None if x is None else sign * x for x in values)
    mark = "".join(sorted(set(match["core"]) & set(".,")))
    return _Cell(text, if_point, if_comma, mark, currency, percent, unit)


def _currency(text: str) -> str:
    if text in CURRENCIES:
        return CURRENCIES[text]
    is_sign = len(text) == 1 and unicodedata.category(text) == "Sc"
    return text if is_sign else ""


def _values(core: str, exponent: str) -> tuple[float | None, float | None] | None:
    """The number with a decimal point, and with a decimal comma."""
    grouped = re.fullmatch(r"\d{1,3}(?:[ ']\d{3})+(?:[.,]\d*)?", core)
    if re.search("[ ']", core) and not grouped:
        return None
    plain = re.sub("[ ']", "", core)
    if not any(x.isdecimal() for x in plain):
        return None
    if "." not in plain and "," not in plain:
        return (float(plain + exponent),) * 2
    point = _with_decimal(plain, ".", ",", exponent)
    comma = _with_decimal(plain, ",", ".", exponent)
    if point is None and comma is None:
        return None
    if grouped or exponent:  # groups are marked already, so this is the decimal
        point, comma = (point, None) if "." in plain else (None, comma)
    return point, comma


def _with_decimal(text: str, decimal: str, group: str, exponent: str) -> float | None:
    """Read a number with one sign for decimals and another for thousands."""
    whole, mark, fraction = text.partition(decimal)
    if decimal in fraction or group in fraction or not (whole or fraction):
        return None
    if group in whole:
        is_usual = re.fullmatch(rf"[1-9]\d{{0,2}}(?:\{group}\d{{3}})+", whole)
        # Lakhs and crores: 12,34,567.
        is_indian = group == "," and re.fullmatch(r"[1-9]\d?(?:,\d\d)*,\d{3}", whole)
        if not (is_usual or is_indian):
            return None
    point = f".{fraction}" if mark else ""
    return float(f"{whole.replace(group, '')}{point}{exponent}")


def _common_unit(parsed: Sequence[_Cell | None]) -> str:
    units = {cell.unit if cell else "" for cell in parsed}
    return units.pop() if len(units) == 1 else ""


def _check_currencies(numbers: dict[int, _Cell], found: ReadNumbers) -> None:
    counts = Counter(cell.currency for cell in numbers.values() if cell.currency)
    if len(counts) < 2:
        return
    usual = counts.most_common(1)[0][0]
    for i, cell in numbers.items():
        if cell.currency not in ("", usual):
            found.faults[i] = (
                f"holds amounts in {usual}, but {cell.text!r}",
                "convert it, or leave it empty",
            )


def _value(i: int, cell: _Cell, votes: Counter[str], found: ReadNumbers) -> float:
    """The number of a cell, with the help of the column if the cell leaves it open."""
    if not cell.is_open:
        value = cell.if_comma if cell.if_point is None else cell.if_point
        return math.nan if value is None else value
    if votes["."] and votes[","]:
        found.faults[i] = (
            "has decimal points and decimal commas, so it is open whether "
            f"{cell.text!r} is {cell.if_point:.12g} or {cell.if_comma:.12g}",
            "write it without a separator of thousands",
        )
    value = cell.if_comma if votes[","] else cell.if_point
    return math.nan if value is None else value


def _say_what_was_dropped(
    numbers: dict[int, _Cell], votes: Counter[str], found: ReadNumbers
) -> None:
    cells = list(numbers.values())
    money = [cell for cell in cells if cell.currency]
    if money:
        found.remarks.append(f"currency of {money[0].text!r} dropped")
    percent = next((cell for cell in cells if cell.percent), None)
    if percent:
        found.remarks.append(f"percent sign of {percent.text!r} dropped")
    if found.unit:
        found.remarks.append(f"unit {found.unit!r} dropped")
    if votes["."] and votes[","]:
        fewer = "." if votes["."] < votes[","] else ","
        odd = [cell.text for cell in cells if cell.decides == fewer]
        found.remarks.append(
            f"{len(odd)} numbers in another notation than the others, such as "
            f"{odd[0]!r}"
        )
        return
    if votes[","]:
        example = next(cell for cell in cells if cell.decides == ",")
        found.remarks.append(f"{example.text!r} read as {example.if_comma:.12g}")
        return
    undecided = [cell for cell in cells if cell.is_open]
    if undecided and not votes["."]:
        cell = undecided[0]
        found.remarks.append(
            f"{cell.text!r} read as {cell.if_point:.12g}, though it may be "
            f"{cell.if_comma:.12g}"
        )


@dataclass(frozen=True)
class Notation:
    """How one number is written.

    Attributes
    ----------
    before : str
        What stands before its digits, such as a sign and a currency, with any spaces.
    digits : str
        The digits with the signs of decimals and thousands.
    exponent : str
        The exponent with its letter; empty without one.
    after : str
        What stands behind it, such as a unit, with any space.
    mark : str
        What starts decimals, as far as this number tells; empty if it leaves that open.
    is_negative : bool
        Whether it is below zero.
    """

    before: str
    digits: str
    exponent: str
    after: str
    mark: str
    is_negative: bool


def notation_of(text: str) -> Notation | None:
    """Find out how a number is written.

    Parameters
    ----------
    text : str
        A cell without spaces around it.

    Returns
    -------
    Notation or None
        None if the cell is no number.

    Examples
    --------
    >>> notation_of("-$12,50")  # doctest: +NORMALIZE_WHITESPACE
    Notation(before='-$', digits='12,50', exponent='', after='', mark=',',
             is_negative=True)
    """
    cell = _parse(text)
    match = _NUMBER.fullmatch(text.translate(_SPACES))
    if cell is None or match is None:
        return None
    start, end = match.span("core")
    last = end + len(match["exponent"] or "")
    known = cell.if_comma if cell.if_point is None else cell.if_point
    return Notation(
        *(text[:start], text[start:end], text[end:last], text[last:]),
        cell.decides,
        known is not None and known < 0,
    )
