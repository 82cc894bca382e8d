"""CSV tables as raw cells, which joined again give the file to the byte."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from phcle.contexts.labels import normal
from phcle.errors import FileError
from phcle.files.csv_text import unmarked
from phcle.files.reading import open_file
from phcle.tables.reader import MARK, TextFormat

MOST_AT_ONCE = 1 << 16
"""Bytes of a line that are read at once."""

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass
class RawRow:
    """One row of a table, as it stands in the file.

    Attributes
    ----------
    line : int
        The line where the row begins.
    data : bytes
        The row with its line end.
    before : str
        A byte order mark before the first row; otherwise empty.
    cells : list of str
        The cells with their quotation marks and spaces.
    end : str
        The line end; empty at the end of a file without one.
    """

    line: int
    data: bytes
    before: str
    cells: list[str]
    end: str

    def replaced(self, texts: Mapping[int, str], form: TextFormat) -> bytes:
        """Write the row with other texts in some cells.

        Parameters
        ----------
        texts : mapping from int to str
            Raw cells by their position.
        form : TextFormat
            How the table is written.

        Returns
        -------
        bytes
            The row. Everything but these cells stays as it stands in the file.
        """
        if not texts:
            return self.data
        pieces = [self.before]
        for cell in self.cells:
            pieces += [cell, form.delimiter]
        pieces[-1] = self.end
        encoding = form.encoding.name
        found = _bytes_of(pieces, self.data, encoding)
        for i, text in texts.items():
            pieces[2 * i + 1] = text
            found[2 * i + 1] = text.encode(encoding)
        data = b"".join(found)
        if data.decode(encoding, "replace") != "".join(pieces):
            # In some old encodings a letter depends on what stands before it.
            new = "".join(texts.values())
            raise UnicodeEncodeError(encoding, new, 0, len(new), "its place matters")
        return data


def raw_rows(path: Path, form: TextFormat) -> Iterator[RawRow]:
    """Read a table row by row; a quoted cell may hold line ends.

    Parameters
    ----------
    path : Path
        The table.
    form : TextFormat
        How it is written.

    Yields
    ------
    RawRow
        Every row, also empty ones.
    """
    data, waiting, first, line = b"", "", 1, 0
    for own, text in _lines(path, form.encoding.name):
        data += own
        waiting += text
        line += 1
        before = MARK if first == 1 and waiting.startswith(MARK) else ""
        body = waiting.removeprefix(before).rstrip("\r\n")
        end = waiting[len(before) + len(body) :]
        cells = _split(body, form.delimiter, f"{path}, line {first}")
        if cells is None and len(waiting) <= csv.field_size_limit():
            continue
        if cells is None:
            break
        yield RawRow(first, data, before, cells, end)
        data, waiting, first = b"", "", line + 1
    if waiting:
        raise FileError(
            f"{path}, line {first}: a quotation mark has no second one; add it, or "
            "remove the first."
        )


def _lines(path: Path, encoding: str) -> Iterator[tuple[bytes, str]]:
    """Lines with their ends, of any kind: their bytes and their text."""
    decoder = codecs.getincrementaldecoder(encoding)()
    data, text = b"", ""
    try:
        with open_file(path) as file:
            while block := file.readline(MOST_AT_ONCE):
                data += block
                text += decoder.decode(block)
                # The rest of a character, or of a line end, may follow.
                while (decoder.getstate()[0] or text.endswith("\r")) and (
                    more := file.read(1)
                ):
                    data += more
                    text += decoder.decode(more)
                lines = _LINES.findall(text)
                owns = _bytes_of(lines, data, encoding)
                data, text = b"", ""
                if lines and not lines[-1].endswith(("\r", "\n")):
                    data, text = owns.pop(), lines.pop()
                yield from zip(owns, lines, strict=True)
            text += decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise FileError(
            f"{path}: is not {encoding} text; give another --encoding."
        ) from error
    if data:
        yield data, text


def _bytes_of(pieces: Sequence[str], data: bytes, encoding: str) -> list[bytes]:
    """Divide the bytes of a text as its pieces do.

    A character may have several codes, as in cp932, so encoding a piece again may give
    other bytes. Then characters are counted byte by byte.
    """
    if len(pieces) == 1:
        return [data]
    try:
        found = [piece.encode(encoding) for piece in pieces]
    except UnicodeEncodeError:  # a character that is read but never written
        found = []
    if b"".join(found) == data:
        return found
    decoder = codecs.getincrementaldecoder(encoding)()
    found, start, at = [], 0, 0
    for piece in pieces:
        missing = len(piece)
        while missing > 0 and at < len(data):
            at += 1
            missing -= len(decoder.decode(data[at - 1 : at]))
        found.append(data[start:at])
        start = at
    found[-1] += data[at:]
    return found


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
        Without quotation marks, spaces around and the mark of `harmless`, in Unicode's
        normal form C.

    Examples
    --------
    >>> unquoted('"a ""b"" "')
    'a "b"'
    """
    if cell.startswith('"'):
        cell = cell[1:-1].replace('""', '"')
    return unmarked(normal(cell)).strip()


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
