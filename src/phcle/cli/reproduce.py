"""The paper's tables, which are a distribution of their own: phcle-paper."""

from __future__ import annotations

from importlib.util import find_spec

import typer

from phcle.cli.command_style import AlikeCommand
from phcle.errors import PhcleError

__all__ = ["add_reproduce"]

INSTALL = (
    "the paper's tables are a package of their own; pip install phcle-paper, or "
    "pip install ./paper from a clone."
)


def add_reproduce(app: typer.Typer, epilog: str) -> None:
    """Add the command of phcle-paper, or one that says how to install it.

    Parameters
    ----------
    app : typer.Typer
        The command line.
    epilog : str
        Examples for the end of the help page.
    """
    if find_spec("phcle_paper") is not None:
        from phcle_paper.command import reproduce

        app.command(cls=AlikeCommand, epilog=epilog, no_args_is_help=True)(reproduce)
    else:
        unchecked = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command(name="reproduce", context_settings=unchecked)(_not_installed)


def _not_installed() -> None:
    """Make the paper's tables anew; needs phcle-paper (pip install phcle-paper)."""
    raise PhcleError(INSTALL)
