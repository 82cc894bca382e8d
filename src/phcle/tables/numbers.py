"""Numbers as people write them: 1,299.00 or 1.299,00, £45, 12 %, (3.5), 3 kg.

A cell may leave it open whether a point or comma starts the decimals: 1.299. The other
cells of its column decide. If none does, the column is in doubt. Units are compared
exactly as they are written: 5 mW is not 5 MW.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from phcle.tables.cells import CLEAR, NEARLY_ALL, ReadColumn, as_number

MONEY = (
    "USD $ us$, GBP \u00a3, EUR \u20ac, JPY \u00a5, CHF fr. sfr., CNY, INR \u20b9 rs "
    "rs., AUD a$, CAD c$, NZD, SEK, NOK, DKK, kr kr., PLN z\u0142, CZK, HUF, BRL r$, "
    "MXN, ZAR, KRW"
)
CURRENCIES = {
    sign.lower(): own.split()[0] for own in MONEY.split(", ") for sign in own.split()
}
"""Signs and codes of money, in lower case, with one name for each currency."""

PERCENT = ("%", "percent", "pct", "pct.")


def _sizes(text: str) -> dict[str, float]:
    """What each word of a text is worth: `mg 1, g 1000`."""
    kinds = [part.split() for part in text.split(",")]
    return {unit: float(size) for *units, size in kinds for unit in units}


SCALES = _sizes(
    "thousand tsd tsd. Tsd. 1e3, million millions mio mio. Mio Mio. mn 1e6, "
    "billion billions bn mrd mrd. Mrd Mrd. 1e9, trillion trillions 1e12"
)
"""Words that multiply the number before them."""

CONVERTED = [
    "mg 1, g 1e3, kg 1e6, t 1e9",
    "oz oz. OZ OZ. ounce ounces 1, lb lb. lbs lbs. pound pounds 16",
    "mm 1, cm 10, dm 100, m 1000, km 1e6",
    '" in in. 1, ft ft. 12, yd 36, mi 63360',
    "ml mL 1, cl 10, dl 100, l L 1000, hl 1e5",
    "ms 1, s sec 1000, min mins 6e4, h hr hrs hour hours 3.6e6, d day days 8.64e7",
    "mW 1, W 1e3, kW 1e6, MW 1e9, GW 1e12",
    "Wh 1, kWh 1e3, MWh 1e6, GWh 1e9",
    "Hz 1, kHz 1e3, MHz 1e6, GHz 1e9",
    "mAh 1, Ah 1e3",
    "mA 1, A 1e3",
    "mV 1, V 1e3, kV 1e6",
    "\u2030 1, % 10",
]
"""Units that may stand in one column, with what they are multiples of."""

OTHER_UNITS = (
    "st wk yr yrs m2 m\u00b2 km2 km\u00b2 ha m3 m\u00b3 cc sqft gal pt j kj kcal cal "
    "kb mb gb tb px mp dpi \u00b0c \u00b0f \u00b0 km/h mph m/s bar hp db"
)
"""Further units that may follow a number without a space, in lower case."""

ENOUGH_GROUPS = 3
"""Cells such as 1,299 beside numbers below 1000 without a sign that show thousands:
decimals would hardly all have three digits."""

_SIZES = {
    unit: (number, size)
    for number, text in enumerate(CONVERTED)
    for unit, size in _sizes(text).items()
}
UNITS = {unit.lower() for unit in (*_SIZES, *OTHER_UNITS.split())}
"""Other words must be apart from a number: `2XL` is a size, `2 rooms` is a number of
rooms."""

_SPACES = str.maketrans(
    {"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"}
)
_NUMBER = re.compile(
    r"(?P<paren>\()?(?P<sign>[+-])?\s?(?P<before>[^\d\s.,'()+-]{1,4}\.?)?\s?"
    r"(?P<minus>[+-])?(?P<core>[\d.,][\d.,']*(?: \d{3}(?!\d)[.,\d]*)*)"
    r"(?P<exponent>[eE][+-]?\d{1,4})?(?P<space>\s?)(?P<after>[^\d\s.,'()+-]\S{0,11}?)?\)?"
)
_WHOLE = r"\d+|\d{1,3}(?:[ ']\d{3})+|[1-9]\d{0,2}(?:GROUP\d{3})+"
_INDIAN = r"[1-9]\d?(?:,\d\d)*,\d{3}"  # lakhs and crores: 12,34,567
_CORES = {
    ".": re.compile(rf"(?:{_WHOLE.replace('GROUP', ',')}|{_INDIAN})?(?:\.\d*)?"),
    ",": re.compile(rf"(?:{_WHOLE.replace('GROUP', '[.]')})?(?:,\d*)?"),
}
"""Digits as they are written with a decimal point, and with a decimal comma."""

_MAYBE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")


class ParsedNumber(NamedTuple):
    """A number with what stands around it.

    Parameters
    ----------
    text : str
        The cell.
    values : dict
        Its value by the sign that starts decimals: one, if the number tells which.
    before : str
        What stands before its digits, such as a sign and a currency, with any spaces.
    digits : str
        The digits with the signs of decimals and thousands.
    exponent : str
        The exponent with its letter; empty without one.
    after : str
        What stands behind it, such as a unit, with any space.
    unit : str
        The unit or currency; empty without one.
    """

    text: str
    values: Mapping[str, float]
    before: str
    digits: str
    exponent: str
    after: str
    unit: str

    @property
    def is_open(self) -> bool:
        """Whether it may be two numbers."""
        return len(set(self.values.values())) > 1

    @property
    def decides(self) -> str:
        """What starts decimals, as far as this number tells; empty if that is open."""
        return "" if len(self.values) > 1 else next(iter(self.values))

    def value(self, decimal: str = "") -> float:
        """Return the number.

        Parameters
        ----------
        decimal : {"", ".", ","}
            What starts decimals where the number leaves it open.

        Returns
        -------
        float
            The number.
        """
        return self.values.get(decimal, next(iter(self.values.values())))


def read_numbers(cells: Mapping[int, str], decimal: str = "") -> ReadColumn:
    """Read the texts of a column of numbers.

    Parameters
    ----------
    cells : mapping
        The known cells by row, without spaces around them.
    decimal : {"", ".", ","}, default ""
        What starts the decimals, if the user says it.

    Returns
    -------
    ReadColumn
        Numbers, and what was assumed. Cells that are no numbers are left out.

    Examples
    --------
    >>> read_numbers({0: "1.299,00", 1: "45,5", 2: "1.100"}).numbers
    {0: 1299.0, 1: 45.5, 2: 1100.0}
    >>> read_numbers({0: "\u00a345", 1: "12", 2: "cheap"}).numbers
    {0: 45.0, 1: 12.0}
    >>> read_numbers({0: "1.299", 1: "2.450"}).doubt
    "'1.299' may be 1.299 or 1299"
    """
    found = ReadColumn("number", _plain_numbers(cells, decimal))
    found.is_plain = bool(found.numbers) or not cells
    if found.is_plain:
        return found
    parsed = {
        i: x for i, cell in cells.items() if (x := parse_number(cell)) is not None
    }
    is_money = any(_currency(x.unit) for x in parsed.values())
    has_unit = {i: x for i, x in parsed.items() if x.unit or not is_money}
    _keep_usual(has_unit, found)
    numbers = {i: cell for i, cell in parsed.items() if i not in found.odd}
    units = Counter(x.unit for i, x in has_unit.items() if i not in found.odd)
    found.unit = max(units, key=units.__getitem__, default="")
    for unit in units:
        if _size(unit) != _size(found.unit):
            found.remarks.append(f"{unit!r} converted to {found.unit!r}")
    votes = Counter(cell.decides for cell in numbers.values() if cell.decides)
    if votes["."] and votes[","] and not decimal:
        for i, cell in numbers.items():
            if cell.is_open:
                found.odd[i] = f"may be {_both(cell)}"
    elif not decimal:
        decimal = next(iter(votes), "") or _decimal_of_open(numbers.values(), found)
    for i, cell in numbers.items():
        if i not in found.odd:
            factor = _size(cell.unit) / _size(found.unit)
            found.numbers[i] = cell.value(decimal) * factor
    for i in cells.keys() - parsed.keys():
        # What Python reads and no notation has, such as digits of other scripts.
        number = None if cells[i].lower() in CLEAR else as_number(cells[i])
        if number is not None and math.isfinite(number):
            found.numbers[i] = number
    found.is_guess = not votes["."]
    if votes["."] and votes[","]:
        fewer = "." if votes["."] < votes[","] else ","
        odd = [cell.text for cell in numbers.values() if cell.decides == fewer]
        found.remarks.append(
            f"{len(odd)} in another notation than the others, such as {odd[0]!r}"
        )
    return found


def _both(cell: ParsedNumber) -> str:
    return " or ".join(f"{x:.12g}" for x in cell.values.values())


def _plain_numbers(cells: Mapping[int, str], decimal: str) -> dict[int, float]:
    """Numbers as programs write them, which is fast; none if any is written otherwise.

    Numbers such as 1.299 alone may have a separator of thousands.
    """
    pointed = [cell for cell in cells.values() if "." in cell]
    is_open = bool(pointed) and all(map(_MAYBE_THOUSANDS.fullmatch, pointed))
    # Python reads 1_000 as a number, other programs do not.
    if decimal == "," or (is_open and not decimal) or "_" in "".join(cells.values()):
        return {}
    try:
        found = dict(zip(cells, map(float, cells.values()), strict=True))
    except ValueError:
        return {}
    return found if all(map(math.isfinite, found.values())) else {}


def _decimal_of_open(cells: Collection[ParsedNumber], found: ReadColumn) -> str:
    """What starts the decimals where each cell leaves it open; or a doubt."""
    still_open = [cell for cell in cells if cell.is_open]
    if not still_open:
        return ""
    first = still_open[0]
    marks = {mark for cell in still_open for mark in ".," if mark in cell.digits}
    whole = [cell.value() for cell in cells if not {*".,"} & {*cell.digits}]
    if len(marks) == 1 and any(abs(value) >= 1000 for value in whole):
        return marks.pop()  # nobody writes thousands with a sign and without
    are_groups = min(len(still_open), len(whole)) >= ENOUGH_GROUPS
    if len(marks) == 1 and (are_groups or any(map(_is_much_money, still_open))):
        return "," if "." in marks else "."
    found.ask(f"{first.text!r} may be {_both(first)}", "point", "comma")
    return ""


def parse_number(text: str) -> ParsedNumber | None:
    """Read one number, with what stands around it.

    Parameters
    ----------
    text : str
        A cell without spaces around it.

    Returns
    -------
    ParsedNumber or None
        None if it is no number in any notation.

    Examples
    --------
    >>> found = parse_number("-$12,50")
    >>> found.before, found.digits, found.value(), found.unit
    ('-$', '12,50', -12.5, 'USD')
    """
    match = _NUMBER.fullmatch(text.translate(_SPACES))
    if match is None or bool(match["paren"]) != text.endswith(")"):
        return None
    before, after = match["before"] or "", match["after"] or ""
    money = _currency(before) or _currency(after)
    unit = "" if _currency(after) or after in SCALES else after
    if unit.lower() in PERCENT:
        unit = "%"
    is_unit = any(x.isalpha() or x in '°"%\u2030' for x in unit)
    if unit and not (is_unit and (match["space"] or unit.lower() in UNITS)):
        return None
    signs = [match["sign"], match["minus"], "-" if match["paren"] else None]
    if (before and not money) or sum(map(bool, signs)) > 1:
        return None
    exponent = match["exponent"] or ""
    times = SCALES.get(after, 1.0) * (-1.0 if "-" in signs else 1.0)
    values = _values(match["core"], exponent, times)
    if not values or any(map(math.isinf, values.values())):
        return None
    start, end = match.span("core")
    last = end + len(exponent)
    around = text[:start], text[start:end], text[end:last], text[last:]
    return ParsedNumber(text, values, *around, money or unit)


def _currency(text: str) -> str:
    text = text.lower()
    is_sign = len(text) == 1 and unicodedata.category(text) == "Sc"
    return CURRENCIES.get(text, text if is_sign else "")


def _values(core: str, exponent: str, times: float) -> dict[str, float]:
    """The number by what may start its decimals."""
    if not any(x.isdecimal() for x in core):
        return {}
    marks = [mark for mark, form in _CORES.items() if form.fullmatch(core)]
    if exponent and len(marks) > 1 and ("." in core or "," in core):
        marks = ["." if "." in core else ","]  # thousands have no exponent
    found = {}
    for mark in marks:
        whole, _, fraction = core.partition(mark)
        whole = re.sub("[ '.,]", "", whole)
        found[mark] = times * float(f"{whole}.{fraction}{exponent}")
    return found


def _is_much_money(cell: ParsedNumber) -> bool:
    """Whether a price has two digits or more before its only sign: \u00a324,600."""
    return bool(_currency(cell.unit)) and max(map(abs, cell.values.values())) >= 10_000


def _keep_usual(cells: Mapping[int, ParsedNumber], found: ReadColumn) -> None:
    """Cells in another kind of unit than nearly all others are odd."""
    kinds = {i: _family(cell.unit) for i, cell in cells.items()}
    counts = Counter(kinds.values())
    if len(counts) < 2:
        return
    (usual, n), (other, _), *_ = counts.most_common()
    example = {kinds[i]: repr(cells[i].text) for i in reversed(list(kinds))}
    if n < NEARLY_ALL * len(kinds):
        both = f"{example[usual]} and {example[other]}"
        found.ask(f"its units are mixed, as in {both}", "number", "text")
    for i, kind in kinds.items():
        if kind != usual:
            found.odd[i] = f"has another unit than {example[usual]}"


def _family(unit: str) -> object:
    """What units that can be converted have in common; a plural is the same unit."""
    plain = unit.removesuffix("s") if len(unit) > 3 else unit
    return _SIZES.get(unit, (plain, 1.0))[0]


def _size(unit: str) -> float:
    return _SIZES.get(unit, (unit, 1.0))[1]


def number_writer(seen: Mapping[str, int]) -> Callable[[float], str]:
    """Return a function that writes numbers as a column does.

    Parameters
    ----------
    seen : mapping
        How often each cell of the column occurs.

    Returns
    -------
    callable
        Writes a number with the signs, unit and decimals of the others; plainly, if
        these do not agree.

    Examples
    --------
    >>> number_writer({"12,50 kg": 1, "3,25 kg": 1})(7.123)
    '7,12 kg'
    """
    from phcle.embedding.cell_texts import DIGITS, number_text

    found = [(x, n) for text, n in seen.items() if (x := parse_number(text))]
    marks = {x.decides for x, _ in found} - {""}
    mark = "," if marks == {","} else "."
    is_clear = bool(found) and len(marks) < 2 and not any(x.exponent for x, _ in found)
    parts = [x.digits.partition(mark) for x, _ in found]
    long = [re.sub(r"\d", "", x) for x, _, _ in parts if sum(map(str.isdigit, x)) > 3]
    is_grouped = is_clear and len({signs[:1] for signs in long}) == 1
    decimals = {len(fraction) for _, _, fraction in parts}
    most = max(decimals, default=0)
    has_zero = any(not x.value() for x, _ in found)
    around: dict[bool, Counter[tuple[str, str]]] = defaultdict(Counter)
    for x, n in found:
        if x.value():  # zero has no sign, so it does not tell where one stands
            around[x.value() < 0][x.before, x.after] += n

    def digits_of(size: float) -> str:
        places = most
        if len(decimals) > 1 and size:  # the usual number of significant digits
            places = min(most, max(DIGITS - 1 - math.floor(math.log10(size)), 0))
        text = f"{size:.{places}f}"
        if len(decimals) > 1 and places:
            text = text.rstrip("0").rstrip(".")
        is_too_small = most > 0 and not (has_zero or float(f"{size:.{most}f}"))
        if not is_clear or (size and is_too_small):
            text = number_text(size, 1) if is_clear else number_text(size)
        whole, _, fraction = text.partition(".")
        if is_grouped:
            whole = f"{int(whole):,}".replace(",", long[0][:1])
        return whole + mark * bool(fraction) + fraction

    def write(value: float) -> str:
        digits = digits_of(abs(value))
        is_negative = value < 0 and re.search(r"[1-9]", digits) is not None
        sign = "-" * is_negative
        if around[is_negative]:
            before, after = _agreed(around[is_negative]) or (sign, "")
        else:
            before, after = _agreed(around[not is_negative]) or ("", "")
            after = after.removesuffix(")") if "(" in before else after
            before = sign + re.sub(r"[+\-\u2212(]", "", before).lstrip()
        return f"{before}{digits}{after}"

    return write


def _agreed(around: Counter[tuple[str, str]]) -> tuple[str, str] | None:
    """What stands around numbers, in the usual spelling, if cells differ in spaces."""
    spellings = {tuple("".join(x.split()).casefold() for x in each) for each in around}
    return around.most_common(1)[0][0] if len(spellings) == 1 else None
