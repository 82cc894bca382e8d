"""CSV text that a spreadsheet shows and never runs.

A cell such as `=cmd|...` would be a formula. Every CSV that is composed here marks such
texts with an apostrophe, and readers of tables take it off again. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

LIVE = re.compile(
    r"'*([\t\r\n]|[\x00-\x20\x7f\u00a0\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])"
)
"""Beginnings of texts that spreadsheets take for formulas; some read the wide signs of
Japanese keyboards, too. Marks in front count, so that one more can be told apart."""

NUMBER = re.compile(r"'*[+\-]?[0-9.,]*[0-9][.,]?([eE][+\-]?[0-9]+)?%?")


def _is_live(text: str) -> bool:
    return LIVE.match(text) is not None and NUMBER.fullmatch(text) is None


def harmless(value: object) -> object:
    """Keep a spreadsheet from running a text as a formula.

    Parameters
    ----------
    value : object
        The value of a cell.

    Returns
    -------
    object
        The value; a text that would be a formula begins with an apostrophe.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-5"), harmless("cat"), harmless(-5)
    ("'=1+1", '-5', 'cat', -5)
    """
    return f"'{value}" if isinstance(value, str) and _is_live(value) else value


def unmarked(text: str) -> str:
    """Take off the mark of `harmless`.

    Parameters
    ----------
    text : str
        A cell of a file.

    Returns
    -------
    str
        The text that was written.

    Examples
    --------
    >>> unmarked("'=1+1"), unmarked(harmless("'=1+1")), unmarked("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return text[1:] if text.startswith("'") and _is_live(text) else text


def csv_lines(rows: Iterable[Iterable[object]], delimiter: str = ",") -> Iterator[str]:
    r"""Write rows as CSV, one after the other.

    Parameters
    ----------
    rows : iterable of iterable of object
        The cells of each row; None is an empty cell.
    delimiter : str, default ","
        What separates the cells.

    Yields
    ------
    str
        The text of a row with its line end.

    Examples
    --------
    >>> list(csv_lines([["label", "value"], ["a,b", 1.5], ["=1+1", None]]))
    ['label,value\n', '"a,b",1.5\n', "'=1+1,\n"]
    """
    text = io.StringIO(newline="")
    # With this line end, the writer quotes cells that hold any part of it.
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    for cells in rows:
        writer.writerow(map(harmless, cells))
        yield f"{text.getvalue()[:-2]}\n"
        text.seek(0)
        text.truncate()
