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

from phcle.embedding.cell_texts import DIGITS, number_text, value_text
from phcle.tables.cells import TICKS, TRUTH
from phcle.tables.dates import (
    TURN,
    day_first_vote,
    layout_of,
    moment_of_year,
)
from phcle.tables.numbers import Notation, notation_of

Value = float | bool | str

OPPOSITE = {
    "ja": "nein",
    "oui": "non",
    "y": "n",
    "t": "f",
    "on": "off",
    "true": "false",
    "1": "0",
    "1.0": "0.0",
    "s\u00ed": "no",
    "si": "no",
    "yes": "no",
}
"""How "no" is written in a column that says "yes" so; of several, the last is usual."""

FULL_NAMES = [name.lower() for name in calendar.month_name]
SHORT_NAMES = [name.lower() for name in calendar.month_abbr]


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
        self.truths: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        self.ticks: Counter[str] = Counter()
        self.numbers = _NumberSpelling()
        self.dates = _DateSpelling()
        self.n_seen = 0

    def see(self, text: str) -> None:
        """Take note of a known cell.

        Parameters
        ----------
        text : str
            The cell.
        """
        self.n_seen += 1
        lowered = text.lower()
        truth = TRUTH.get(lowered, {"0": 0, "1": 1, "0.0": 0, "1.0": 1}.get(text))
        if truth is not None:
            self.truths[bool(truth)][text] += 1
        elif lowered in TICKS:
            self.ticks[text] += 1
        notation = notation_of(text)
        if notation is not None:
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
        if self.dates.n_seen > self.n_seen / 2:
            return self.dates.text(value)
        return self.numbers.text(value)

    def _truth(self, value: bool) -> str:
        """The most common spelling; the opposite of the other one; or yes and no."""
        if self.n_seen and self.ticks.total() == self.n_seen:
            return self.ticks.most_common(1)[0][0] if value else ""
        own, other = self.truths[value], self.truths[not value]
        if own:
            return own.most_common(1)[0][0]
        if not other:
            return value_text(value)
        pairs = OPPOSITE if not value else {no: yes for yes, no in OPPOSITE.items()}
        seen = other.most_common(1)[0][0]
        found = pairs.get(seen.lower(), value_text(value))
        if seen.isupper():
            return found.upper()
        return found.capitalize() if seen[0].isupper() else found


class _NumberSpelling:
    """How a column writes numbers: what stands around them, and their digits."""

    def __init__(self) -> None:
        self.around: dict[bool, Counter[tuple[str, str]]] = {
            False: Counter(),
            True: Counter(),
        }
        self.shapes: Counter[str] = Counter()  # digits as 0, such as 0.000,00
        self.marks: set[str] = set()
        self.exponents: Counter[str] = Counter()
        self.has_zero = False
        self.widths: Counter[int] = Counter()  # of whole numbers with leading zeros

    def see(self, notation: Notation) -> None:
        """Take note of a number."""
        self.marks |= {notation.mark} - {""}
        self.shapes[re.sub(r"\d", "0", notation.digits)] += 1
        self.exponents[notation.exponent] += 1
        if re.fullmatch(r"0\d+", notation.digits):
            self.widths[len(notation.digits)] += 1
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
        if self.around[is_negative]:
            return _agreed(self.around[is_negative], ("-" * is_negative, ""))
        before, after = _agreed(self.around[not is_negative], ("", ""))
        if "(" in before:
            after = after.removesuffix(")")
        bare = re.sub(r"[+\-\u2212(]", "", before).lstrip()
        return "-" * is_negative + bare, after

    def _digits(self, size: float) -> str:
        """The digits of a number that is not negative."""
        if "" not in self.exponents and self.exponents:
            return self._with_exponent(size)
        if not self.shapes or len(self.exponents) > 1 or len(self.marks) > 1:
            return number_text(size).replace(".", self._mark)
        fewest, most = min(self._decimals), max(self._decimals)
        if size and most and not self.has_zero and not float(f"{size:.{most}f}"):
            # Too small for the column, and yet no zero.
            return number_text(size, 1).replace(".", self._mark)
        decimals = most if fewest == most else min(most, _decimals_for(size))
        whole, _, fraction = f"{size:.{decimals}f}".partition(".")
        if fewest < most:
            fraction = fraction.rstrip("0")
        if len(self.widths) == 1:
            whole = whole.zfill(next(iter(self.widths)))
        return self._joined(self._grouped(whole), fraction)

    @cached_property
    def _mark(self) -> str:
        """What starts decimals, as readers of the column take it."""
        return "," if self.marks == {","} else "."

    @cached_property
    def _decimals(self) -> list[int]:
        """How many decimals the numbers have."""
        return [len(shape.partition(self._mark)[2]) for shape in self.shapes]

    def _joined(self, whole: str, fraction: str) -> str:
        return f"{whole}{self._mark}{fraction}" if fraction else whole

    def _grouped(self, whole: str) -> str:
        """With the sign of thousands that all large numbers of the column have."""
        wholes = [shape.partition(self._mark)[0] for shape in self.shapes]
        large = [x for x in wholes if x.count("0") > 3]
        signs = {sign for x in large for sign in x if sign != "0"}
        if len(signs) != 1 or len(whole) < 4:
            return whole
        sign = signs.pop()
        if not all(re.fullmatch(rf"0{{1,3}}({re.escape(sign)}000)+", x) for x in large):
            return whole
        return f"{int(whole):,}".replace(",", sign)

    def _with_exponent(self, size: float) -> str:
        """With an exponent like the others: `1.20E-9`, `3e+05`."""
        fewest, most = min(self._decimals), max(self._decimals)
        decimals = most if fewest == most else min(most, DIGITS - 1)
        digits, _, power = f"{size:.{decimals}e}".partition("e")
        whole, _, fraction = digits.partition(".")
        if fewest < most:
            fraction = fraction.rstrip("0")
        seen = self.exponents.most_common(1)[0][0]
        plus = "+" if any("+" in x for x in self.exponents) else ""
        sign = "-" if int(power) < 0 else plus
        width = min(len(x.lstrip("eE+-")) for x in self.exponents)
        shown = f"{abs(int(power)):0{width}d}"
        return f"{self._joined(whole, fraction)}{seen[0]}{sign}{shown}"


def _decimals_for(size: float) -> int:
    """How many decimals show the usual number of significant digits."""
    return max(DIGITS - 1 - math.floor(math.log10(size)), 0) if size else 0


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
        for name in parts.keys() & {"first", "second", "month", "day", "hour", "name"}:
            self.parts[name].add(parts[name])
        if "seconds" in parts:
            self.parts["seconds"].add(re.sub(r"\d", "0", parts["seconds"]))

    def text(self, value: float) -> str:
        """Write a date as all others are; like 2021-12-31 if they differ."""
        moment = moment_of_year(value)
        plain = moment.date().isoformat()
        if len(self.layouts) != 1:
            return plain
        layout = next(iter(self.layouts))
        parts = self._parts_of(moment)
        is_sure = (
            ("{name}" not in layout or parts["name"] != "")
            and ("{first}" not in layout or len(self.votes - {None}) == 1)
            and ("{short}" not in layout or 0 <= moment.year - 1900 - TURN < 100)
        )
        return layout.format(**parts) if is_sure else plain

    def _parts_of(self, moment: datetime) -> dict[str, str]:
        """The parts of a date, with leading zeros and names as in the other cells."""
        parts = {
            "year": f"{moment.year:04d}",
            "short": f"{moment.year % 100:02d}",
            "minute": f"{moment.minute:02d}",
            "seconds": min(self.parts["seconds"], default=""),
            "ordinal": _ordinal(moment.day),
            "name": self._month_name(moment.month),
        }
        day_first = True in self.votes
        for name, number in (
            ("day", moment.day),
            ("month", moment.month),
            ("first", moment.day if day_first else moment.month),
            ("second", moment.month if day_first else moment.day),
            ("hour", moment.hour),
        ):
            seen = self.parts[name]
            has_zeros = any(x[0] == "0" for x in seen) or all(len(x) > 1 for x in seen)
            parts[name] = f"{number:02d}" if has_zeros else str(number)
        return parts

    def _month_name(self, month: int) -> str:
        """The name of a month; empty if the column uses long and short ones."""
        seen = self.parts["name"]
        fitting = [
            names
            for names in (FULL_NAMES, SHORT_NAMES)
            if all(x.lower() in names for x in seen)
        ]
        if len(fitting) != 1:  # May is both
            return ""
        name = fitting[0][month]
        if all(map(str.isupper, seen)):
            return name.upper()
        return name if all(map(str.islower, seen)) else name.capitalize()


def _ordinal(day: int) -> str:
    if 11 <= day <= 13:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
