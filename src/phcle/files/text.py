"""Whole UTF-8 files as texts and lines, with errors that say where they are."""

from __future__ import annotations

import re
from pathlib import Path

from phcle.errors import FileError
from phcle.files.reading import read_bytes

_LINE_END = re.compile(rb"\r\n|\r|\n")


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
        raise not_utf8(path, line) from error
    place = text.find("\0")
    if place >= 0:
        raise holds_nul(path, len(lines_of(text[:place])) or 1)
    return text


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


def not_utf8(path: Path, line: int) -> FileError:
    """Make the error of a file in another encoding.

    Parameters
    ----------
    path : Path
        The file.
    line : int
        The line of the first byte that is not UTF-8.

    Returns
    -------
    FileError
        The error.
    """
    return FileError(f"{path}, line {line}: is not UTF-8 text; save the file as UTF-8.")


def holds_nul(path: Path, line: int) -> FileError:
    """Make the error of a file that is no text.

    Parameters
    ----------
    path : Path
        The file.
    line : int
        The line of the first NUL character.

    Returns
    -------
    FileError
        The error.
    """
    return FileError(
        f"{path}, line {line}: holds a NUL character, as UTF-16 and binary files do; "
        "save the file as UTF-8 text."
    )
