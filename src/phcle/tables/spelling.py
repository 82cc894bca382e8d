"""How a column of a user's table writes its values, so that new ones look alike.

Where the known cells do not agree, a plain notation is used: a number with a point and
few digits, a date like 2021-12-31.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping

from phcle.embedding.cell_texts import DIGITS, number_text, value_text
from phcle.tables.cells import TICKS
from phcle.tables.dates import date_writer, is_date
from phcle.tables.numbers import parse_number

Value = float | bool | str

PAIRS = [
    *(("1", "0"), ("1.0", "0.0"), ("y", "n"), ("t", "f"), ("on", "off")),
    *(("true", "false"), ("ja", "nein"), ("oui", "non"), ("s\u00ed", "no")),
    *(("si", "no"), ("yes", "no")),
]
"""How columns write yes and no; of several, the last is usual."""

NO_OF, YES_OF = dict(PAIRS), {no: yes for yes, no in PAIRS}


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
    number = date_writer(dates) if are_usual else _number_writer(seen)

    def write(value: Value) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return _truth(value, [text for text, _ in seen.most_common()])
        return number(value) if math.isfinite(value) else ""

    return write


def _truth(value: bool, common: list[str]) -> str:
    """The most common spelling; the opposite of the other one; or yes and no."""
    if common and all(text.lower() in TICKS for text in common):
        return common[0] if value else ""
    own, other = (NO_OF, YES_OF) if value else (YES_OF, NO_OF)
    for text in common:
        if text.lower() in own:
            return text
    seen = next((text for text in common if text.lower() in other), "x")
    found = other.get(seen.lower(), value_text(value))
    if seen.isupper():
        return found.upper()
    return found.capitalize() if seen[0].isupper() else found


def _number_writer(seen: Mapping[str, int]) -> Callable[[float], str]:
    """Write numbers as a column does: what stands around them, and their digits."""
    found = [(x, n) for text, n in seen.items() if (x := parse_number(text))]
    marks = {x.decides for x, _ in found} - {""}
    mark = "," if marks == {","} else "."
    is_clear = bool(found) and len(marks) < 2 and not any(x.exponent for x, _ in found)
    parts = [x.digits.partition(mark) for x, _ in found] or [("", "", "")]
    long = [re.sub(r"\d", "", x) for x, _, _ in parts if sum(map(str.isdigit, x)) > 3]
    thousands = long[0][:1] if len({signs[:1] for signs in long}) == 1 else ""
    widths = {len(x.digits) for x, _ in found if re.fullmatch(r"0\d+", x.digits)}
    decimals = {len(fraction) for _, _, fraction in parts}
    fewest, most = min(decimals), max(decimals)
    around = {False: Counter[tuple[str, str]](), True: Counter[tuple[str, str]]()}
    has_zero = False
    for x, n in found:
        if re.search(r"[^\W0]", x.digits):
            around[x.value() < 0][x.before, x.after] += n
        else:  # zero has no sign, so it does not tell where one stands
            has_zero = True

    def digits_of(size: float) -> str:
        too_small = most and not has_zero and not float(f"{size:.{most}f}")
        if not is_clear or (size and too_small):
            digits = DIGITS if not is_clear else 1
            return number_text(size, digits).replace(".", mark)
        places = most
        if fewest < most and size:  # the usual number of significant digits
            places = min(most, max(DIGITS - 1 - math.floor(math.log10(size)), 0))
        whole, _, fraction = f"{size:.{places}f}".partition(".")
        if fewest < most:
            fraction = fraction.rstrip("0")
        if len(widths) == 1:
            whole = whole.zfill(*widths)
        if thousands and len(whole) > 3:
            whole = f"{int(whole):,}".replace(",", thousands)
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
