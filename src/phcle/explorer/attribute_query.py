"""Wanted attributes in a URL: `has=parts::handle&not=parts::wheel`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import Query

from phcle.errors import OptionError
from phcle.uses.attribute_search import Criterion

__all__ = ["BETWEEN", "Has", "HasNot", "parse_wanted"]

BETWEEN = "::"

Has = Annotated[
    list[str],
    Query(
        max_length=20, description="Attributes that labels shall have: context::name."
    ),
]
HasNot = Annotated[
    list[str],
    Query(
        alias="not",
        max_length=20,
        description="Attributes that labels shall lack: context::name.",
    ),
]


def parse_wanted(has: Iterable[str], has_not: Iterable[str]) -> list[Criterion]:
    """Parse wanted attributes; later ones replace earlier ones.

    Parameters
    ----------
    has, has_not : iterable of str
        Attributes that labels shall have and shall lack, as `context::name`.

    Returns
    -------
    list of Criterion
        One for each attribute.

    Examples
    --------
    >>> parse_wanted(["parts::lid"], [])
    [Criterion(context='parts', column='lid', present=True)]
    """
    found: dict[tuple[str, str], Criterion] = {}
    for texts, present in ((has, True), (has_not, False)):
        for text in texts:
            context, between, column = text.partition(BETWEEN)
            if not between:
                raise OptionError(
                    f"an attribute must be given as context{BETWEEN}name. "
                    f"Got {text!r} instead."
                )
            found[context, column] = Criterion(context, column, present)
    return list(found.values())
