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
    number = date_writer(dates) if are_usual else _Numbers(seen).text

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


class _Numbers:
    """How a column writes numbers: what stands around them, and their digits."""

    def __init__(self, seen: Mapping[str, int]) -> None:
        self.around = {sign: Counter[tuple[str, str]]() for sign in (False, True)}
        self.exponents: set[str] = set()
        self.widths: set[int] = set()  # of whole numbers with leading zeros
        self.has_zero = False
        marks: set[str] = set()
        shapes: set[str] = set()  # digits as 0, such as 0.000,00
        for text, n in seen.items():
            if (own := parse_number(text)) is None:
                continue
            marks |= {own.decides} - {""}
            shapes.add(re.sub(r"\d", "0", own.digits))
            self.exponents.add(own.exponent)
            if re.fullmatch(r"0\d+", own.digits):
                self.widths.add(len(own.digits))
            if re.search(r"[^\W0]", own.digits):
                self.around[own.value() < 0][own.before, own.after] += n
            else:  # zero has no sign, so it does not tell where one stands
                self.has_zero = True
        self.mark = "," if marks == {","} else "."
        self.is_clear = len(self.exponents) == 1 and len(marks) < 2
        parts = [shape.partition(self.mark) for shape in shapes or {""}]
        wholes = [whole for whole, _, _ in parts if whole.count("0") > 3]
        signs = {whole.replace("0", "")[:1] for whole in wholes}
        self.thousands = signs.pop() if len(signs) == 1 else ""
        decimals = {len(fraction) for _, _, fraction in parts}
        self.fewest, self.most = min(decimals), max(decimals)

    def text(self, value: float) -> str:
        """Write a number."""
        digits = self._digits(abs(value))
        is_negative = value < 0 and re.search(r"[1-9]", digits) is not None
        before, after = self._around(is_negative)
        return f"{before}{digits}{after}"

    def _around(self, is_negative: bool) -> tuple[str, str]:
        """The sign, currency and unit, if all cells agree on them but for spaces."""
        sign = "-" * is_negative
        if self.around[is_negative]:
            return _agreed(self.around[is_negative]) or (sign, "")
        before, after = _agreed(self.around[not is_negative]) or ("", "")
        if "(" in before:
            after = after.removesuffix(")")
        return sign + re.sub(r"[+\-\u2212(]", "", before).lstrip(), after

    def _digits(self, size: float) -> str:
        """The digits of a number that is not negative."""
        if self.exponents and "" not in self.exponents:
            return self._with_exponent(size)
        least = float(f"{size:.{self.most}f}")
        if not self.is_clear:
            return number_text(size).replace(".", self.mark)
        if size and self.most and not (self.has_zero or least):
            # Too small for the column, and yet no zero.
            return number_text(size, 1).replace(".", self.mark)
        most = self.most
        if self.fewest < most and size:  # the usual number of significant digits
            most = min(most, max(DIGITS - 1 - math.floor(math.log10(size)), 0))
        whole, fraction = self._parts(f"{size:.{most}f}")
        if len(self.widths) == 1:
            whole = whole.zfill(*self.widths)
        if self.thousands and len(whole) > 3:
            whole = f"{int(whole):,}".replace(",", self.thousands)
        return whole + fraction

    def _with_exponent(self, size: float) -> str:
        """With an exponent like the others: `1.20E-9`, `3e+05`."""
        most = self.most if self.fewest == self.most else min(self.most, DIGITS - 1)
        digits, power = f"{size:.{most}e}".split("e")
        letter = min(self.exponents)[0]
        plus = "+" if any("+" in x for x in self.exponents) else ""
        width = min(len(x.lstrip("eE+-")) for x in self.exponents)
        sign = "-" if power[0] == "-" else plus
        return "".join(
            [*self._parts(digits), letter, sign, power[1:].lstrip("0").zfill(width)]
        )

    def _parts(self, number: str) -> tuple[str, str]:
        """The digits before the mark, and the mark with those behind it."""
        whole, _, fraction = number.partition(".")
        if self.fewest < self.most:
            fraction = fraction.rstrip("0")
        return whole, self.mark * bool(fraction) + fraction


def _agreed(around: Counter[tuple[str, str]]) -> tuple[str, str] | None:
    """What stands around numbers, in the usual spelling, if cells differ in spaces."""
    spellings = {tuple("".join(x.split()).casefold() for x in each) for each in around}
    return around.most_common(1)[0][0] if len(spellings) == 1 else None
