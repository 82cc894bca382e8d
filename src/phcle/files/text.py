"""Whole UTF-8 files as texts and lines, TOML, and data classes from stored values.

Errors say where they are. Python's parsers raise more than they document: a number of
thousands of digits is a ValueError, and brackets nested a thousand deep a
RecursionError.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

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
    if "\0" in text:
        raise holds_nul(path, len(_LINE_END.findall(data[: data.find(0)])) + 1)
    return text


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


ABSTRACT: dict[Any, Any] = {int: Integral, float: Real}
"""Numbers of any library, by the type of Python."""

LONGEST_TOML, MOST_DOTS = 100_000, 1_000
"""Most characters of a TOML text, and most dots in a line of it. Configurations have
some thousand, and a few. The parser takes time and memory that grow with the square of
the number of parts of a key, as in a.b.c."""


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Parse TOML text from an untrusted file.

    Parameters
    ----------
    text : str
        The text.
    where : str
        The file, for messages.

    Returns
    -------
    dict
        The content. Text that is too long, and lines of too many dots, are refused.
    """
    most_dots = max(line.count(".") for line in text.split("\n"))
    if len(text) > LONGEST_TOML or most_dots > MOST_DOTS:
        raise FileError(
            f"{where}: must have at most {LONGEST_TOML:,} characters, and at most "
            f"{MOST_DOTS:,} dots in a line. Got {len(text):,} and {most_dots:,}."
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: is not TOML ({error}).") from error


def of_types(kind: Any, stored: Any) -> Any:
    """Make a value of a type from plain values, as JSON has stored it.

    Parameters
    ----------
    kind : type
        A text, number or truth value, a data class of fields with types, or a mapping
        or tuple of such values.
    stored : object
        The plain values; those of a data class by field.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If a value has another type.
    """
    parts, outer = get_args(kind), get_origin(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: of_types(hints[name], stored[name]) for name in hints})
    if outer is Mapping and isinstance(stored, dict):
        return {name: of_types(parts[1], x) for name, x in stored.items()}
    if outer is tuple and isinstance(stored, (list, tuple)):
        return tuple(of_types(parts[0], x) for x in stored)
    # Truth values, of Python or NumPy, are no numbers; numbers of NumPy are.
    fits = type(stored).__name__ == "bool"
    if kind is not bool:
        fits = not fits and isinstance(stored, ABSTRACT.get(kind, outer or kind))
    if not fits:
        raise ValueError(f"{stored!r} stands where another type must")
    return stored
