"""How a column of a user's table writes its values, so that new ones look alike."""

from __future__ import annotations

from collections import Counter

from phcle.contexts.descriptive.column_reading import TRUTH
from phcle.contexts.descriptive.date_notations import date_of_year, read_dates
from phcle.contexts.descriptive.number_notations import Notation, notation_of
from phcle.embedding.cell_texts import number_text, value_text

__all__ = ["ColumnSpelling", "Value"]

Value = float | bool | str

OPPOSITE = {
    "yes": "no",
    "true": "false",
    "y": "n",
    "t": "f",
    "on": "off",
    "1": "0",
    "1.0": "0.0",
}
"""How "no" is written in a column that says "yes" so."""


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
        self.notations: Counter[Notation] = Counter()
        self.decimals: int | None = None
        self.n_seen = self.n_dates = 0

    def see(self, text: str) -> None:
        """Take note of a known cell.

        Parameters
        ----------
        text : str
            The cell.
        """
        self.n_seen += 1
        truth = TRUTH.get(text.lower(), {"0": 0, "1": 1, "0.0": 0, "1.0": 1}.get(text))
        if truth is not None:
            self.truths[bool(truth)][text] += 1
        notation = notation_of(text)
        if notation is not None:
            self.notations[notation] += 1
            self.decimals = max(self.decimals or 0, notation.decimals)
        elif read_dates([text]) is not None:
            self.n_dates += 1

    def text(self, value: Value) -> str:
        """Write a predicted value as the column would.

        Parameters
        ----------
        value : float, bool or str
            The value.

        Returns
        -------
        str
            The cell.
        """
        if isinstance(value, bool):
            return self._truth(value)
        if isinstance(value, str):
            return value
        if self.n_dates > self.n_seen / 2:
            return date_of_year(value).isoformat()
        if self.decimals is None:
            return value_text(value)
        # No more digits than the column has: a column of whole numbers stays one.
        shown, rounded = number_text(value), f"{value:.{self.decimals}f}"
        short = min(shown, "0" if float(rounded) == 0 else rounded, key=_decimals)
        return self._in_notation(short)

    def _in_notation(self, text: str) -> str:
        """With the decimal sign of the column, and what stands around all numbers."""
        marks = Counter(x.mark for x in self.notations.elements() if x.mark)
        mark = marks.most_common(1)[0][0] if marks else "."
        around = {(x.before, x.after) for x in self.notations}
        before, after = around.pop() if len(around) == 1 else ("", "")
        return f"{before}{text.replace('.', mark)}{after}"

    def _truth(self, value: bool) -> str:
        """The most common spelling; the opposite of the other one; or yes and no."""
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


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
