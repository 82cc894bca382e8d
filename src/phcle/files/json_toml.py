"""Parse JSON and TOML of untrusted files; every failure is a `FileError`.

Python's parsers raise more than they document: a number of thousands of digits is a
ValueError, and brackets nested a thousand deep a RecursionError.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from phcle.errors import FileError

Made = TypeVar("Made")

LONGEST_TOML, MOST_DOTS = 100_000, 1_000
"""Most characters of a TOML text, and most dots in a line of it. Configurations have
some thousand, and a few. The parser takes time and memory that grow with the square of
the number of parts of a key, as in a.b.c."""


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


def of_types(kind: type[Made], stored: Any) -> Made:
    """Make a data class of plain values, as JSON has stored it.

    Parameters
    ----------
    kind : type
        The data class. Its fields are texts, numbers, truth values, None, other data
        classes that were made before, or mappings and tuples of these.
    stored : object
        The values by field.

    Returns
    -------
    object
        The data class.

    Raises
    ------
    ValueError
        If the value of a field has another type.
    """
    hints = get_type_hints(kind)
    values = {name: stored[name] for name in hints}
    for name, hint in hints.items():
        if not _is_of(values[name], hint):
            raise ValueError(f"{name} is {values[name]!r}")
    return kind(**values)


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value has a type; numbers of NumPy are numbers too."""
    parts, outer = get_args(hint), get_origin(hint)
    if outer is Mapping:
        return isinstance(value, dict) and all(
            _is_of(x, parts[1]) for x in value.values()
        )
    if outer is tuple:
        return isinstance(value, tuple) and all(_is_of(x, parts[0]) for x in value)
    if parts:
        return any(_is_of(value, part) for part in parts)
    is_truth = type(value).__name__ == "bool"  # of Python or NumPy
    if is_truth or hint is bool:
        return is_truth and hint is bool
    return isinstance(value, {int: Integral, float: Real}.get(hint, hint))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """One object of JSON, which Python's parser would take with repeated keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:40]!r} stands in it twice")
        found[key] = value
    return found
