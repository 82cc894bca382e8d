"""What `phcle fit` and `phcle add` say about labels that are spelled differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from phcle.cli.errors_and_signals import say

if TYPE_CHECKING:
    from phcle.contexts.label_matching import LabelMatch

__all__ = ["show_match"]

SHOWN_SUGGESTIONS = 40
"""Lines of suggestions that are printed; a screen holds about as many."""


def show_match(match: LabelMatch) -> None:
    """Print which labels were joined, may be joined, or match nothing.

    Parameters
    ----------
    match : LabelMatch
        What was found.
    """
    from phcle.contexts.match_report import match_lines, synonym_lines

    for line in match_lines(match):
        say(line)
    if not match.near_are_complete:
        say("too many labels for a search of misspelled ones.")
    header, *lines = synonym_lines(match) or [""]
    if not lines:
        return
    say(
        f"{len(lines)} labels may be other spellings. Write those that are into "
        "synonyms.csv, and add --synonyms synonyms.csv:"
    )
    for line in (header, *lines[:SHOWN_SUGGESTIONS]):
        typer.echo(f"  {line}", err=True)
    if len(lines) > SHOWN_SUGGESTIONS:
        n_more = len(lines) - SHOWN_SUGGESTIONS
        typer.echo(f"  … and {n_more} more, which --json lists", err=True)
