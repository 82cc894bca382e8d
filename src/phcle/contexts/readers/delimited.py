"""Tables in text files: rows with line numbers, for errors that say where they are.

Rows are read one by one, so only what a reader keeps of them stays in memory.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from phcle.contexts.labels import normal
from phcle.contexts.readers.parquet import parquet_rows
from phcle.errors import FileError, some
from phcle.files.writing import open_file, read_bytes

__all__ = [
    "Row",
    "add_once",
    "delimiter_hint",
    "lines_of",
    "read_lines",
    "read_rows",
    "read_table",
    "read_text",
    "text_lines",
]

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes
    ----------
    path : Path
        The file.
    line : int
        The line where the row begins; for Parquet files the number of the row.
    cells : dict
        Cells by lower-case column name.
    """

    path: Path
    line: int
    cells: dict[str, str]

    @property
    def where(self) -> str:
        """The file and the line, for messages.

        Returns
        -------
        str
            Such as "tree.csv, line 3".
        """
        return _where(self.path, self.line)

    def filled(self, column: str, remedy: str = "fill it or remove the row") -> str:
        """Return a cell that must not be empty.

        Parameters
        ----------
        column : str
            The column.
        remedy : str, default "fill it or remove the row"
            What to do about an empty cell, for the message.

        Returns
        -------
        str
            The cell.
        """
        if not self.cells[column]:
            raise FileError(f"{self.where}: {column} is empty; {remedy}.")
        return self.cells[column]


def read_table(
    path: Path, columns: tuple[str, ...], *, optional: tuple[str, ...] = ()
) -> Iterator[Row]:
    """Read some columns of a table, row by row.

    Parameters
    ----------
    path : Path
        The table.
    columns : tuple of str
        Columns that the table must have, in lower case.
    optional : tuple of str, default ()
        Columns that are read if the table has them.

    Yields
    ------
    Row
        The cells of these columns.
    """
    header, rows = read_rows(path)
    titles = [title.lower() for title in header]
    missing = [column for column in columns if column not in titles]
    if missing:
        raise FileError(
            f"{path}: needs the columns {some(columns)}, but {some(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not in its header {some(header)}."
            f"{delimiter_hint(path, header)}"
        )
    columns = (*columns, *(column for column in optional if column in titles))
    wanted = {column: titles.index(column) for column in columns}
    same = _Same()
    for line, cells in rows:
        yield Row(path, line, {name: same[cells[i]] for name, i in wanted.items()})


class _Same(dict[str, str]):
    """Returns one object for equal strings, which saves memory: most cells repeat."""

    def __missing__(self, text: str) -> str:
        self[text] = text
        return text


def read_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Read the header of a table, and its rows one by one.

    Parameters
    ----------
    path : Path
        The table. Every row must have as many cells as the header.

    Returns
    -------
    header : list of str
        Names of the columns.
    rows : iterator of (int, list of str)
        Line number and cells of each row. Errors in rows are raised when they are
        reached.
    """
    rows = _numbered_rows(path)
    top, header = next(rows, (0, []))
    if not header:
        raise FileError(f"{path}: is empty; a header and rows were expected.")
    _check_header(path, top, header)
    return header, _rows_like(header, rows, path)


def _rows_like(
    header: list[str], rows: Iterator[tuple[int, list[str]]], path: Path
) -> Iterator[tuple[int, list[str]]]:
    """Check that there are rows, all as long as the header."""
    line = 0
    for line, cells in rows:
        if len(cells) != len(header):
            raise FileError(
                f"{_where(path, line)}: has {len(cells)} cells, but the header has "
                f"{len(header)}; quote a cell that holds the separator."
            )
        yield line, cells
    if not line:
        raise FileError(f"{path}: has a header but no rows; add some.")


def _numbered_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield every row that is not empty, with the line where it begins."""
    if _is_parquet(path):
        # Row 0 is the header; a table without columns has none.
        rows = enumerate(parquet_rows(path))
        yield from ((n, cells) for n, cells in rows if any(cells))
        return
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    reader = csv.reader(text_lines(path), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        reason = (
            f"is not a row of a table ({error}); is a quotation mark missing, or one "
            "too many?"
        )
        if "field limit" in str(error):
            reason = (
                f"has a cell of more than {csv.field_size_limit():,} characters; "
                "shorten it. Or is a quotation mark missing?"
            )
        raise FileError(f"{path}, line {line}: {reason}") from error


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _where(path: Path, line: int) -> str:
    """A place in a file, for messages; Parquet files have rows instead of lines."""
    return f"{path}, {_counted(path)} {line}"


def _counted(path: Path) -> str:
    return "row" if _is_parquet(path) else "line"


def _check_header(path: Path, line: int, header: list[str]) -> None:
    """Refuse columns without a name, except the first, and repeated names."""
    if not all(header[1:]):
        raise FileError(
            f"{_where(path, line)}: column {header.index('', 1) + 1} has no name; "
            "every column but the first needs one."
        )
    repeated = sorted(title for title, n in Counter(header).items() if n > 1)
    if repeated:
        raise FileError(
            f"{_where(path, line)}: two columns are called {some(repeated)}; "
            "rename one."
        )


def delimiter_hint(path: Path, header: list[str]) -> str:
    """Suggest a remedy if the table uses another separator.

    Parameters
    ----------
    path : Path
        The table.
    header : list of str
        Its header as it was read.

    Returns
    -------
    str
        A sentence that starts with a space, or an empty text.
    """
    if len(header) > 1:
        return ""
    if "\t" in header[0] and path.suffix.lower() != ".tsv":
        return " It is separated by tabs: call it .tsv."
    if ";" in header[0]:
        return " It is separated by semicolons: save it with commas."
    return ""


def add_once(lines: dict[str, int], label: str, path: Path, line: int) -> None:
    """Record the line of a label; empty and repeated labels are refused.

    Parameters
    ----------
    lines : dict
        Line by label; the label is added.
    label : str
        The label.
    path : Path
        The file, for messages.
    line : int
        The line of the label.
    """
    if not label:
        raise FileError(
            f"{_where(path, line)}: the label is empty; fill it or remove the row."
        )
    if label in lines:
        raise FileError(
            f"{_where(path, line)}: {label!r} stands in {_counted(path)} "
            f"{lines[label]} already; merge the two rows."
        )
    lines[label] = line


def read_text(path: Path) -> str:
    """Read a whole UTF-8 file; a byte order mark is dropped.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Its text.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[: error.start])) + 1
        raise _not_utf8(path, line) from error
    place = text.find("\0")
    if place >= 0:
        raise _holds_nul(path, len(lines_of(text[:place])) or 1)
    return text


def text_lines(path: Path) -> Iterator[str]:
    """Read a UTF-8 file line by line.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    str
        Each line with its line end, in Unicode's normal form C.
    """
    line = 0
    with open_file(path) as raw, TextIOWrapper(raw, "utf-8-sig", newline="") as file:
        try:
            for line, text in enumerate(file, 1):
                if "\0" in text:
                    raise _holds_nul(path, line)
                yield normal(text)
        except UnicodeDecodeError as error:
            # The decoder reads ahead, so the line is searched for in the whole file.
            read_text(path)
            raise _not_utf8(path, line + 1) from error


def _not_utf8(path: Path, line: int) -> FileError:
    return FileError(f"{path}, line {line}: is not UTF-8 text; save the file as UTF-8.")


def _holds_nul(path: Path, line: int) -> FileError:
    return FileError(
        f"{path}, line {line}: holds a NUL character, as UTF-16 and binary files do; "
        "save the file as UTF-8 text."
    )


def read_lines(path: Path) -> list[str]:
    """Read all lines of a UTF-8 file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of str
        The lines without line ends, in Unicode's normal form C.
    """
    return lines_of(normal(read_text(path)))


def lines_of(text: str) -> list[str]:
    r"""Split a text into lines as editors count them.

    `str.splitlines` would also split at characters that labels may contain.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of str
        The lines without line ends.

    Examples
    --------
    >>> lines_of("a\u2028b\r\nc\n")
    ['a\u2028b', 'c']
    """
    lines = re.split(r"\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]
