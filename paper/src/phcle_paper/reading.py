"""Text files that nobody has checked."""

from __future__ import annotations

from pathlib import Path

from phcle.errors import FileError
from phcle.files import read_bytes

__all__ = ["numbered_lines", "read_text"]


def read_text(path: Path) -> str:
    """The text of a file in UTF-8."""
    data = bytes(read_bytes(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(
            f"{path}, line {line}: is not UTF-8; save it as such."
        ) from None


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """Lines with their numbers, without those that are empty."""
    lines = enumerate(read_text(path).splitlines(), 1)
    return [(number, text.strip()) for number, text in lines if text.strip()]
