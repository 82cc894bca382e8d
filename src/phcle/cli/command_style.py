"""What all commands have in common: groups of options, usage errors.

A flag says in which group of the help page it is: `want("FILE", "Where to write it.")`.
A flag that several commands have means the same in all of them; the embedding is their
first argument.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand

from phcle.errors import did_you_mean
from phcle.tables.file_kinds import FILE_KINDS


def _option(
    group: str, metavar: str | None, help: str, *flags: str, **settings: Any
) -> Any:
    """An option in a group of the help page; without flags, its name is the flag."""
    return typer.Option(
        *flags, metavar=metavar, help=help, rich_help_panel=group, **settings
    )


GROUPS = (
    "What you have",
    "What you want",
    "Fine tuning",
    "Machine",
    "In every command",
)
"""Groups of options, in the order of help pages."""

have, want, tuning, machine, everywhere = (partial(_option, x) for x in GROUPS)

UsageError: Any = typer.BadParameter.__base__
"""Typer does not export it, and from version to version it is another library's."""


class AlikeCommand(TyperCommand):
    """A command whose options are in the common groups.

    Parameters
    ----------
    *arguments, **settings : object
        Those of Typer's commands.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.sort(key=_place)
        for parameter in self.params:
            _tidy(parameter)

    def get_help_option(self, ctx: Any) -> Any:
        """Return the flag --help, in its group.

        Parameters
        ----------
        ctx : click.Context
            The context of the command.

        Returns
        -------
        click.Option or None
            The flag.
        """
        found = super().get_help_option(ctx)
        if found is not None:
            found.rich_help_panel = GROUPS[-1]
            _tidy(found)
        return found


def usage_message(error: Any) -> str:
    """Say what is wrong with the words of a command, and where to look.

    Parameters
    ----------
    error : click.UsageError
        What the parser found.

    Returns
    -------
    str
        One line.
    """
    context = error.ctx
    text = str(error.message)
    wrong = getattr(error, "option_name", None)
    parameter = getattr(error, "param", None)
    shown = "" if parameter is None else _shown(parameter)
    if context is not None and wrong is not None and text.startswith("No such option"):
        known = [x for p in context.command.params if not p.hidden for x in p.opts]
        text = f"no option {wrong}.{did_you_mean(wrong, known)}"
    elif shown and not text:
        text = f"{shown} is missing."
    elif shown and text.startswith("Input should be "):
        needed = text.removeprefix("Input should be ").partition(",")[0]
        needed = needed.replace("valid integer", "whole number")
        text = f"{shown} must be {needed}."
    elif shown:
        text = f"{shown}: {text}"
    else:
        text = text[:1].lower() + text[1:]
    text = text if text.endswith(("?", ".")) else f"{text}."
    return text if context is None else f"{text} See: {context.command_path} --help"


def _shown(parameter: Any) -> str:
    """A parameter as the help page calls it: -k/--count, LABEL."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return "/".join(parameter.opts)


def _place(parameter: Any) -> tuple[int, bool]:
    """Where a parameter stands: by group, and files of contexts first in theirs."""
    if parameter.param_type_name == "argument":
        return -1, False
    group = parameter.rich_help_panel
    at = GROUPS.index(group) if group in GROUPS else len(GROUPS)
    return at, parameter.name not in FILE_KINDS


def hide_type(parameter: Any) -> None:
    """Show no type after a flag that takes no value.

    Parameters
    ----------
    parameter : click.Parameter
        The flag, or any other parameter.
    """
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""


def _tidy(parameter: Any) -> None:
    """Show no type where it says nothing."""
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = lambda ctx: None
    else:
        hide_type(parameter)
