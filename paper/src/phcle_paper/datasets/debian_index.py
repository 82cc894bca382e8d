"""Read the stanzas of a Debian index: `Field: value` lines between blank lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from phcle.errors import FileError
from phcle.files import check_is_file

__all__ = ["INDEX", "REMEDY", "read_stanzas"]

INDEX = "Packages"  # name of the file

REMEDY = "Make one with: apt-cache dumpavail > Packages"

OPENERS: Mapping[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
UNREADABLE = (".lz4", ".zst")

LONGEST = 1 << 20
"""Longest line that is read, in characters; lines of Debian have some thousand."""


def read_stanzas(path: Path) -> Iterator[dict[str, str]]:
    """The fields of every stanza; a value of several lines keeps its line breaks."""
    if path.suffix in UNREADABLE:
        raise FileError(
            f"{path}: {path.suffix} is not read here, but a plain index is. {REMEDY}"
        )
    try:
        check_is_file(path)
    except FileError as error:
        raise FileError(f"{error} {REMEDY}") from error
    opener = OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            is_empty = True
            for stanza in _stanzas(path, lines):
                is_empty = False
                yield stanza
        if is_empty:
            raise FileError(f"{path}: is empty. {REMEDY}")
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read ({error}).") from error


def _stanzas(path: Path, lines: Any) -> Iterator[dict[str, str]]:
    stanza: dict[str, str] = {}
    field = ""
    # A packed file may hold a line that no memory holds.
    for number, line in enumerate(iter(lambda: lines.readline(LONGEST), ""), 1):
        if len(line) == LONGEST:
            raise FileError(
                f"{path}, line {number}: has {LONGEST:,} characters or more; is it an "
                f"index of Debian? {REMEDY}"
            )
        line = line.rstrip("\r\n")
        if not line.strip():
            if stanza:
                yield stanza
            stanza, field = {}, ""
        elif line[0] in " \t":
            if not field:
                raise FileError(
                    f"{path}, line {number}: a continued line without a field before "
                    f"it. Got {line[:60]!r}."
                )
            stanza[field] += "\n" + line.strip()
        else:
            field, colon, value = line.partition(":")
            if not colon or not field.strip() or " " in field:
                raise FileError(
                    f"{path}, line {number}: must be 'Field: value'. "
                    f"Got {line[:60]!r} instead."
                )
            stanza[field] = value.strip()
    if stanza:
        yield stanza
