"""Find out what separates the cells of a table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import islice

from phcle.errors import OptionError

__all__ = ["DELIMITERS", "check_delimiter", "find_delimiter"]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may separate cells, with its name. The first wins a tie."""

SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

ROWS = 100
"""Rows that are compared with the header."""


def check_delimiter(text: str) -> str:
    r"""Return the character that a user means; refuse anything else.

    Parameters
    ----------
    text : str
        A character, or its name: `tab`, `\t`, `comma`, `semicolon`, `pipe`.

    Returns
    -------
    str
        The character.

    Examples
    --------
    >>> check_delimiter("tab")
    '\t'
    """
    found = SPELLED.get(text.lower(), text)
    if len(found) != 1 or found in '"\r\n' or found.isalnum():
        raise OptionError(
            f"--delimiter must be one character, such as ; or tab. Got {text!r} "
            "instead."
        )
    return found


def find_delimiter(lines: Iterable[str], *, hint: str = ",") -> str:
    """Find the delimiter that splits most rows into as many cells as the header.

    Parameters
    ----------
    lines : iterable of str
        The first lines of the table.
    hint : str, default ","
        What the ending of the file suggests. It is taken unless another delimiter
        splits the rows better.

    Returns
    -------
    str
        One of `DELIMITERS`; the hint if none of them splits the header.

    Examples
    --------
    >>> find_delimiter(["label;price", "cat;1,5", "dog;2,5"])
    ';'
    """
    known = [line for line in lines if line.strip()]
    order = [hint, *(x for x in DELIMITERS if x != hint)]
    return max(order, key=lambda delimiter: _fit(known, delimiter))


def _fit(lines: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """Whether a delimiter splits the header, the share of rows as wide, the width."""
    try:
        reader = csv.reader(iter(lines), delimiter=delimiter)
        header = next(reader, [])
        widths = [len(row) for row in islice(reader, ROWS) if row]
    except csv.Error:
        return False, 0.0, 0
    alike = sum(width == len(header) for width in widths)
    # Shares are compared in steps: one odd row in a long table tells nothing.
    share = round(alike / max(len(widths), 1), 1)
    return len(header) > 1, share, len(header)
