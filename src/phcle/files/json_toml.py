"""JSON and TOML from strangers, with errors of our own.

Both parsers raise more than they say: numbers of thousands of digits are a ValueError,
and brackets nested a thousand deep end Python's stack.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any

from phcle.errors import FileError

__all__ = ["parse_json", "parse_toml"]


def parse_json(text: str | bytes, where: str) -> Any:
    """What JSON says; a key that stands twice in one object is refused."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{where}, line {error.lineno}: is not JSON ({error.msg})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: is not JSON that can be read ({error}).") from error


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """What TOML says."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: is not TOML ({error}).") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands in it twice")
    return found
