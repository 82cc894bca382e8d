"""Parse JSON and TOML of untrusted files; every failure is a `FileError`.

Python's parsers raise more than they document: a number of thousands of digits is a
ValueError, and brackets nested a thousand deep a RecursionError.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from phcle.errors import FileError

LONGEST_TOML = 1_000_000
"""Longest TOML text, in characters. Configurations have some thousand; the limit keeps
the time of a hostile file below a few seconds."""

MOST_PARTS = 30
"""Most parts of a dotted key, as in a.b.c. Configurations use two or three. The parser
takes time and memory that grow with the square of this number."""

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)"""
_DOT = r"[ \t]*+\.[ \t]*+"
_TOKENS = re.compile(
    rf"""
    {'"' * 3}(?:[^"\\]|\\.|"(?!""))*+"{{0,5}}   # text of several lines
    | {"'" * 3}(?:[^']|'(?!''))*+'{{0,5}}
    | (?P<long>{_PART}(?:{_DOT}{_PART}){{{MOST_PARTS}}})
    | {_PART}(?:{_DOT}{_PART})*+                # a key or a value
    | \#[^\n]*+                                 # a comment
    | [^"'\#A-Za-z0-9_-]++
    """,
    re.VERBOSE | re.DOTALL,
)
"""All of a TOML text, token by token. Quantifiers with a further + never go back, so
the time is linear."""


def parse_json(text: str | bytes, where: str) -> Any:
    """Parse JSON text from an untrusted file.

    Parameters
    ----------
    text : str or bytes
        The text.
    where : str
        The file, for messages.

    Returns
    -------
    object
        The content. A key that occurs twice in one object is refused.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}', "example")
    {'a': [1, 2]}
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{where}, line {error.lineno}: is not JSON ({error.msg})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: is not JSON that can be read ({error}).") from error


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
        The content. Text that is too long, and keys of too many parts, are refused.
    """
    if len(text) > LONGEST_TOML:
        raise FileError(
            f"{where}: has {len(text):,} characters, but TOML files may have at most "
            f"{LONGEST_TOML:,}."
        )
    for token in _TOKENS.finditer(text):
        if token["long"] is not None:
            line = text.count("\n", 0, token.start()) + 1
            raise FileError(
                f"{where}, line {line}: a key has more than {MOST_PARTS} parts; "
                "shorten it."
            )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: is not TOML ({error}).") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """One object of JSON, which Python's parser would take with repeated keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:40]!r} stands in it twice")
        found[key] = value
    return found
