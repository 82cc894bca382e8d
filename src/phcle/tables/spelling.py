"""How a column of a user's table writes its values, so that new ones look alike.

What the known cells agree on is followed. Where they do not, a plain notation is used:
a number with a point and few digits, a date such as 2021-12-31.
"""

from __future__ import annotations

import calendar
import math
import re
from collections import Counter, defaultdict
from datetime import datetime
from functools import cached_property

from phcle.contexts.descriptive.column_reading import TICKS
from phcle.contexts.descriptive.date_notations import (
    TURN,
    day_first_vote,
    layout_of,
    moment_of_year,
)
from phcle.contexts.descriptive.number_notations import Notation, notation_of
from phcle.embedding.cell_texts import DIGITS, number_text, value_text

Value = float | bool | str

PAIRS = [
    *(("1", "0"), ("1.0", "0.0"), ("y", "n"), ("t", "f"), ("on", "off")),
    *(("true", "false"), ("ja", "nein"), ("oui", "non"), ("s\u00ed", "no")),
    *(("si", "no"), ("yes", "no")),
]
"""How columns write yes and no; of several, the last is usual."""

NO_OF, YES_OF = dict(PAIRS), {no: yes for yes, no in PAIRS}

MONTHS = [
    [name.lower() for name in names]
    for names in (calendar.month_name, calendar.month_abbr)
]


class ColumnSpelling:
    """How a column writes its values.

    Examples
    --------
    >>> spelling = ColumnSpelling()
    >>> for text in ("12,50 kg", "3,25 kg"):
    ...     spelling.see(text)
    >>> spelling.text(7.123)
    '7,12 kg'
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.numbers = _NumberSpelling()
        self.dates = _DateSpelling()

    def see(self, text: str) -> None:
        """Take note of a known cell.

        Parameters
        ----------
        text : str
            The cell.
        """
        self.seen[text] += 1
        if (notation := notation_of(text)) is not None:
            self.numbers.see(notation)
        elif (found := layout_of(text)) is not None:
            self.dates.see(*found)

    def text(self, value: Value) -> str:
        """Write a predicted value as the column would.

        Parameters
        ----------
        value : float, bool or str
            The value.

        Returns
        -------
        str
            The cell; empty if that is how the column writes the value.
        """
        if isinstance(value, bool):
            return self._truth(value)
        if isinstance(value, str):
            return value
        if not math.isfinite(value):
            return ""
        if self.dates.n_seen > self.seen.total() / 2:
            return self.dates.text(value)
        return self.numbers.text(value)

    def _truth(self, value: bool) -> str:
        """The most common spelling; the opposite of the other one; or yes and no."""
        common = [text for text, _ in self.seen.most_common()]
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


class _NumberSpelling:
    """How a column writes numbers: what stands around them, and their digits."""

    def __init__(self) -> None:
        self.around: dict[bool, Counter[tuple[str, str]]] = defaultdict(Counter)
        self.shapes: set[str] = set()  # digits as 0, such as 0.000,00
        self.marks: set[str] = set()
        self.exponents: Counter[str] = Counter()
        self.widths: set[int] = set()  # of whole numbers with leading zeros
        self.has_zero = False

    def see(self, notation: Notation) -> None:
        """Take note of a number."""
        self.marks |= {notation.mark} - {""}
        self.shapes.add(re.sub(r"\d", "0", notation.digits))
        self.exponents[notation.exponent] += 1
        if re.fullmatch(r"0\d+", notation.digits):
            self.widths.add(len(notation.digits))
        if re.search(r"[^\W0]", notation.digits):
            self.around[notation.is_negative][notation.before, notation.after] += 1
        else:  # zero has no sign, so it does not tell where one stands
            self.has_zero = True

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
            return _agreed(self.around[is_negative], (sign, ""))
        before, after = _agreed(self.around[not is_negative], ("", ""))
        if "(" in before:
            after = after.removesuffix(")")
        return sign + re.sub(r"[+\-\u2212(]", "", before).lstrip(), after

    def _digits(self, size: float) -> str:
        """The digits of a number that is not negative."""
        if self.exponents and "" not in self.exponents:
            return self._with_exponent(size)
        if not self.shapes or len(self.exponents) > 1 or len(self.marks) > 1:
            return number_text(size).replace(".", self._mark)
        fewest, most = self._decimals
        if size and most and not self.has_zero and not float(f"{size:.{most}f}"):
            # Too small for the column, and yet no zero.
            return number_text(size, 1).replace(".", self._mark)
        if fewest < most and size:  # the usual number of significant digits
            most = min(most, max(DIGITS - 1 - math.floor(math.log10(size)), 0))
        whole, fraction = self._parts(f"{size:.{most}f}")
        if len(self.widths) == 1:
            whole = whole.zfill(*self.widths)
        return self._grouped(whole) + fraction

    def _with_exponent(self, size: float) -> str:
        """With an exponent like the others: `1.20E-9`, `3e+05`."""
        fewest, most = self._decimals
        decimals = most if fewest == most else min(most, DIGITS - 1)
        digits, _, power = f"{size:.{decimals}e}".partition("e")
        seen = self.exponents.most_common(1)[0][0]
        plus = "+" if any("+" in x for x in self.exponents) else ""
        sign = "-" if power[0] == "-" else plus
        width = min(len(x.lstrip("eE+-")) for x in self.exponents)
        shown = f"{abs(int(power)):0{width}d}"
        return f"{''.join(self._parts(digits))}{seen[0]}{sign}{shown}"

    @cached_property
    def _mark(self) -> str:
        """What starts decimals, as readers of the column take it."""
        return "," if self.marks == {","} else "."

    @cached_property
    def _decimals(self) -> tuple[int, int]:
        """The fewest and the most decimals of a number."""
        found = [len(shape.partition(self._mark)[2]) for shape in self.shapes]
        return min(found), max(found)

    def _parts(self, number: str) -> tuple[str, str]:
        """The digits before the mark, and the mark with those behind it."""
        whole, _, fraction = number.partition(".")
        if len({*self._decimals}) > 1:
            fraction = fraction.rstrip("0")
        return whole, self._mark * bool(fraction) + fraction

    def _grouped(self, whole: str) -> str:
        """With the sign of thousands that all large numbers of the column have."""
        wholes = [shape.partition(self._mark)[0] for shape in self.shapes]
        large = [x for x in wholes if x.count("0") > 3]
        signs = {sign for x in large for sign in x if sign != "0"}
        sign = signs.pop() if len(signs) == 1 else ""
        form = rf"0{{1,3}}({re.escape(sign)}000)+"
        if len(whole) < 4 or not (sign and all(re.fullmatch(form, x) for x in large)):
            return whole
        return f"{int(whole):,}".replace(",", sign)


def _agreed(
    around: Counter[tuple[str, str]], otherwise: tuple[str, str]
) -> tuple[str, str]:
    """What stands around numbers, in the usual spelling, if cells differ in spaces."""
    spellings = {tuple("".join(x.split()).casefold() for x in each) for each in around}
    return around.most_common(1)[0][0] if len(spellings) == 1 else otherwise


class _DateSpelling:
    """How a column writes dates."""

    def __init__(self) -> None:
        self.n_seen = 0
        self.layouts: set[str] = set()
        self.parts: dict[str, set[str]] = defaultdict(set)
        self.votes: set[bool | None] = set()

    def see(self, layout: str, parts: dict[str, str]) -> None:
        """Take note of a date."""
        self.n_seen += 1
        self.layouts.add(layout)
        self.votes.add(day_first_vote(parts))
        for name, part in parts.items():
            self.parts[name].add(
                re.sub(r"\d", "0", part) if name == "seconds" else part
            )

    def text(self, value: float) -> str:
        """Write a date as all others are; like 2021-12-31 if they differ."""
        moment = moment_of_year(value)
        plain = moment.date().isoformat()
        if len(self.layouts) != 1:
            return plain
        (layout,) = self.layouts
        name = self._month_name(moment.month)
        is_sure = (
            (name or "{name}" not in layout)
            and ("{first}" not in layout or len(self.votes - {None}) == 1)
            and ("{short}" not in layout or 0 <= moment.year - 1900 - TURN < 100)
        )
        return layout.format(name=name, **self._numbers(moment)) if is_sure else plain

    def _numbers(self, moment: datetime) -> dict[str, str]:
        """The numbers of a date, with leading zeros as in the other cells."""
        ordered = [moment.month, moment.day]
        first, second = ordered[::-1] if True in self.votes else ordered
        found = {
            "year": f"{moment.year:04d}",
            "short": f"{moment.year % 100:02d}",
            "minute": f"{moment.minute:02d}",
            "seconds": min(self.parts["seconds"], default=""),
            "ordinal": {1: "st", 2: "nd", 3: "rd"}.get(moment.day % 10, "th"),
        }
        if 11 <= moment.day <= 13:
            found["ordinal"] = "th"
        for name, number in (
            *(("day", moment.day), ("month", moment.month), ("hour", moment.hour)),
            *(("first", first), ("second", second)),
        ):
            seen = self.parts[name]
            has_zeros = any(x[0] == "0" for x in seen) or all(len(x) > 1 for x in seen)
            found[name] = f"{number:02d}" if has_zeros else str(number)
        return found

    def _month_name(self, month: int) -> str:
        """The name of a month; empty if the column uses long and short ones."""
        seen = self.parts["name"]
        lowered = {name.lower() for name in seen}
        fitting = [names for names in MONTHS if lowered <= {*names}]
        if len(fitting) != 1:  # May is both
            return ""
        name = fitting[0][month]
        if all(map(str.isupper, seen)):
            return name.upper()
        return name if all(map(str.islower, seen)) else name.capitalize()
