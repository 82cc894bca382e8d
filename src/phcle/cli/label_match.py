"""What `phcle fit` and `phcle add` say about labels that are spelled differently."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import typer

from phcle.cli.errors_and_signals import say

if TYPE_CHECKING:
    from phcle.contexts.label_matching import LabelMatch

__all__ = ["show_match"]

SHOWN_SUGGESTIONS = 10
"""Lines of suggestions that are printed; more would hide what else a command says."""


def show_match(match: LabelMatch, line: Callable[[str], None] = say) -> None:
    """Print which labels were joined, may be joined, or match nothing.

    Parameters
    ----------
    match : LabelMatch
        What was found.
    line : callable, default say
        Prints one line; by default to stderr.
    """
    from phcle.contexts.match_report import match_lines, synonym_lines

    for text in match_lines(match):
        line(text)
    if not match.near_are_complete:
        line("too many labels for a search of misspelled ones.")
    header, *lines = synonym_lines(match) or [""]
    if not lines:
        return
    line(
        f"possible misspellings: {len(lines)}. Write those that are into synonyms.csv, "
        "and add --synonyms synonyms.csv:"
    )
    # Lines to copy stand alone, without the name of the program.
    plain = partial(typer.echo, err=True) if line is say else line
    for text in (header, *lines[:SHOWN_SUGGESTIONS]):
        plain(f"  {text}")
    if len(lines) > SHOWN_SUGGESTIONS:
        plain(
            f"  … and {len(lines) - SHOWN_SUGGESTIONS} more; "
            "phcle check FILES --write-synonyms synonyms.csv writes all of them"
        )
