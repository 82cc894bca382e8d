"""Wanted attributes in a URL: `has=["parts","handle"]&not=["parts","wheel"]`.

JSON, because names may hold any signs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from fastapi import Query

from phcle.embedding.describe import Wanted
from phcle.errors import OptionError

Has = Annotated[
    list[str],
    Query(
        max_length=20,
        description='Attributes that labels shall have: ["context","name"].',
    ),
]
HasNot = Annotated[
    list[str],
    Query(
        alias="not",
        max_length=20,
        description='Attributes that labels shall lack: ["context","name"].',
    ),
]


Columns = Annotated[
    list[Annotated[str, Query(max_length=1000)]],
    Query(
        alias="column",
        max_length=40,
        description='Columns of a table: ["context","name"].',
    ),
]


def attribute_text(context: str, name: str) -> str:
    """Write an attribute as it stands in a URL.

    Parameters
    ----------
    context, name : str
        The attribute.

    Returns
    -------
    str
        JSON.

    Examples
    --------
    >>> attribute_text("parts", "lid: of steel")
    '["parts","lid: of steel"]'
    """
    return json.dumps([context, name], ensure_ascii=False, separators=(",", ":"))


def parse_attribute(text: str) -> tuple[str, str]:
    """Read an attribute in a URL.

    Parameters
    ----------
    text : str
        JSON.

    Returns
    -------
    tuple of (str, str)
        Context and name.

    Examples
    --------
    >>> parse_attribute('["parts","lid"]')
    ('parts', 'lid')
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    match found:
        case [str(context), str(column)]:
            return context, column
    raise OptionError(
        f"an attribute must be given as {attribute_text('context', 'name')}. "
        f"Got {text!r} instead."
    )


def parse_wanted(has: Iterable[str], has_not: Iterable[str]) -> list[Wanted]:
    """Parse wanted attributes; later ones replace earlier ones.

    Parameters
    ----------
    has, has_not : iterable of str
        Attributes that labels shall have and shall lack, for `parse_attribute`.

    Returns
    -------
    list of Wanted
        One for each attribute.

    Examples
    --------
    >>> parse_wanted(['["parts","lid"]'], [])
    [Wanted(context='parts', column='lid', present=True)]
    """
    found: dict[tuple[str, str], Wanted] = {}
    for texts, present in ((has, True), (has_not, False)):
        for attribute in map(parse_attribute, texts):
            found[attribute] = Wanted(*attribute, present)
    return list(found.values())
