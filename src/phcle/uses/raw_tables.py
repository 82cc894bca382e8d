"""CSV tables as raw cells, which joined again give the file to the byte."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from phcle.contexts.labels import normal
from phcle.contexts.readers.delimited import MARK
from phcle.errors import FileError
from phcle.files.writing import open_file

__all__ = ["RawRow", "quoted", "raw_rows", "unquoted"]


@dataclass
class RawRow:
    """One row of a table, as it stands in the file.

    Attributes
    ----------
    line : int
        The line where the row begins.
    before : str
        A byte order mark before the first row; otherwise empty.
    cells : list of str
        The cells with their quotation marks and spaces.
    end : str
        The line end; empty at the end of a file without one.
    """

    line: int
    before: str
    cells: list[str]
    end: str

    def text(self, delimiter: str) -> str:
        """Join the cells.

        Parameters
        ----------
        delimiter : str
            What separates the cells.

        Returns
        -------
        str
            The row as it stands in the file.
        """
        return f"{self.before}{delimiter.join(self.cells)}{self.end}"


def raw_rows(path: Path, delimiter: str, encoding: str = "utf-8") -> Iterator[RawRow]:
    """Read a table row by row; a quoted cell may hold line ends.

    Parameters
    ----------
    path : Path
        The table.
    delimiter : str
        What separates the cells.
    encoding : str, default "utf-8"
        Encoding of the table.

    Yields
    ------
    RawRow
        Every row, also empty ones.
    """
    waiting, first = "", 1
    for line, text in enumerate(_lines(path, encoding), 1):
        waiting += text
        before = MARK if first == 1 and waiting.startswith(MARK) else ""
        body = waiting.removeprefix(before).rstrip("\r\n")
        end = waiting[len(before) + len(body) :]
        cells = _split(body, delimiter, f"{path}, line {first}")
        if cells is None and len(waiting) <= csv.field_size_limit():
            continue
        if cells is None:
            break
        yield RawRow(first, before, cells, end)
        waiting, first = "", line + 1
    if waiting:
        raise FileError(
            f"{path}, line {first}: a quotation mark has no second one; add it, or "
            "remove the first."
        )


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """Lines with their ends, of any kind, and a byte order mark if there is one."""
    try:
        with open_file(path) as raw, TextIOWrapper(raw, encoding, newline="") as file:
            yield from file
    except UnicodeError as error:
        raise FileError(
            f"{path}: is not {encoding} text; give another --encoding."
        ) from error


def _split(body: str, delimiter: str, where: str) -> list[str] | None:
    """The raw cells of a row; None if a quotation mark is still open."""
    cells, at = [], 0
    while True:
        if body.startswith('"', at):
            stop = _closing(body, at)
            if stop is None:
                return None
            if stop < len(body) and body[stop] != delimiter:
                raise FileError(
                    f"{where}: a quoted cell must end before a separator. Got "
                    f"{body[at : stop + 10]!r}; write a quotation mark in it twice."
                )
        else:
            stop = body.find(delimiter, at)
            stop = len(body) if stop < 0 else stop
        cells.append(body[at:stop])
        if stop == len(body):
            return cells
        at = stop + 1


def _closing(body: str, at: int) -> int | None:
    """Where a quoted cell ends; None if its quotation mark is still open."""
    stop = body.find('"', at + 1)
    while body.startswith('""', stop) and stop >= 0:
        stop = body.find('"', stop + 2)
    return None if stop < 0 else stop + 1


def unquoted(cell: str) -> str:
    """Return what a raw cell says, as readers of contexts see it.

    Parameters
    ----------
    cell : str
        The cell as it stands in the file.

    Returns
    -------
    str
        Without quotation marks and spaces around, in Unicode's normal form C.

    Examples
    --------
    >>> unquoted('"a ""b"" "')
    'a "b"'
    """
    if cell.startswith('"'):
        cell = cell[1:-1].replace('""', '"')
    return normal(cell).strip()


def quoted(text: str, old: str, delimiter: str) -> str:
    """Write a text in the place of a cell.

    Parameters
    ----------
    text : str
        The new text.
    old : str
        The raw cell that it replaces. If that is quoted, the new one is, too.
    delimiter : str
        What separates the cells.

    Returns
    -------
    str
        The raw cell.

    Examples
    --------
    >>> quoted("red, blue", "", ","), quoted("red", '""', ","), quoted("red", "", ",")
    ('"red, blue"', '"red"', 'red')
    """
    needs = any(x in text for x in (delimiter, '"', "\r", "\n"))
    if needs or old.startswith('"'):
        return '"' + text.replace('"', '""') + '"'
    return text
