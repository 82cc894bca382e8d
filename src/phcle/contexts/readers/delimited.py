"""Text files: lines and rows with line numbers, for errors that say where they are.

Rows are read one by one, so only what a reader keeps of them stays in memory.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path

from phcle.contexts.labels import normal
from phcle.contexts.readers.text_encodings import TextEncoding
from phcle.errors import FileError, OptionError
from phcle.files.csv_text import unmarked
from phcle.files.reading import open_file, read_bytes

UTF8 = TextEncoding("utf-8")
MARK = "\ufeff"
"""A byte order mark, which some programs write before a text."""

_LINE_END = re.compile(rb"\r\n|\r|\n")


def delimited_rows(
    path: Path, encoding: TextEncoding, delimiter: str, *, skip: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a table of text; quoted cells may hold line ends.

    Parameters
    ----------
    path : Path
        The table.
    encoding : TextEncoding
        Its encoding.
    delimiter : str
        What separates its cells.
    skip : int, default 0
        Lines before the header.

    Yields
    ------
    (int, list of str)
        The line where a row begins, and its cells without spaces around them and
        without the mark of `harmless`. Empty rows are left out.
    """
    lines = text_lines(path, encoding)
    for _ in range(skip):
        next(lines, "")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = skip + 1
    try:
        for row in reader:
            cells = [
                (unmarked(cell) if cell[:1] == "'" else cell).strip() for cell in row
            ]
            if any(cells):
                yield line, cells
            line = skip + reader.line_num + 1
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


def text_lines(path: Path, encoding: TextEncoding = UTF8) -> Iterator[str]:
    """Read a text file line by line.

    Parameters
    ----------
    path : Path
        The file.
    encoding : TextEncoding, optional
        Its encoding; by default UTF-8. A byte order mark is dropped.

    Yields
    ------
    str
        Each line with its line end, in Unicode's normal form C.
    """
    line = 0
    with open_file(path) as raw, TextIOWrapper(raw, encoding.name, newline="") as file:
        try:
            for line, text in enumerate(file, 1):
                if "\0" in text:
                    raise _holds_nul(path, line)
                yield normal(text.removeprefix(MARK) if line == 1 else text)
        except UnicodeError as error:
            if encoding.name != "utf-8":
                raise FileError(
                    f"{path}: is not {encoding.name} text after line {line}; give "
                    "another --encoding, or save the file as UTF-8."
                ) from error
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
