"""What all commands have in common: groups of options, old spellings, usage errors.

The same option is in the same group of every command. A flag that several commands have
means the same in all of them; the embedding is their first argument.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from phcle.contexts.readers.context_files import FILE_KINDS
from phcle.errors import did_you_mean
from phcle.options import OPTIONS

__all__ = [
    "EVERYWHERE",
    "GROUPS",
    "HAVE",
    "MACHINE",
    "RENAMED",
    "TUNING",
    "WANT",
    "AlikeCommand",
    "UsageError",
    "hide_type",
    "usage_message",
]

HAVE = "What you have"
WANT = "What you want"
TUNING = "Fine tuning"
MACHINE = "Machine"
EVERYWHERE = "In every command"

GROUPS = {
    HAVE: (
        "language",
        "encoding",
        "delimiter",
        "na",
        "keep_na",
        "labels",
        "names",
        "synonyms",
        "label_words",
        "encoding",
        "delimiter",
        "na",
        "keep_na",
        "features",
        "photos",
        "model",
        "network",
        "vector",
        "compare",
        "wide",
        "data",
        "dataset",
    ),
    WANT: (
        "out",
        "write_synonyms",
        "k",
        "among",
        "contexts",
        "complete",
        "columns",
        "min_confidence",
        "probabilities",
        "why",
        "suspicious",
        "generalised",
        "format",
        "title",
        "methods",
        "split",
    ),
    TUNING: (
        "hierarchy_kind",
        "role",
        "classifiers",
        "splits",
        "seed",
        "feature_ridge",
        "class_ridge",
        "quick",
    ),
    MACHINE: (
        "warm_start",
        "choose_again",
        "checkpoint",
        "checkpoint_every",
        "resume",
        "jobs",
        "port",
        "host",
        "public",
        "token",
        "name",
        "browser",
    ),
    EVERYWHERE: (
        "as_json",
        "quiet",
        "config",
        "help",
    ),
}
"""The group of every option, by the name of its parameter."""

GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
GROUP_OF |= dict.fromkeys(FILE_KINDS, HAVE)
GROUP_OF |= {x.name: MACHINE if x.group == "computing" else TUNING for x in OPTIONS}
GROUP_OF["match"] = HAVE
GROUP_OF |= dict.fromkeys(("dim", "choose", "calibrate", "complete_only"), WANT)

RENAMED = {
    "fit": {"--random-state": "--seed"},
    "clusters": {"--n": "--count"},
    "report": {"--labels-shown": "--labels"},
}
"""Spellings of version 0.1.0 that still work, by command; no help page shows them."""

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
            _tidy(found)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; flags that have another name now are renamed first.

        Parameters
        ----------
        ctx : click.Context
            The context of the command.
        args : list of str
            What follows the command.

        Returns
        -------
        list of str
            What is left.
        """
        renamed = RENAMED.get(str(self.name), {})
        new = []
        for word in args:
            flag, equals, value = word.partition("=")
            new.append(f"{renamed.get(flag, flag)}{equals}{value}")
        return super().parse_args(ctx, new)


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
    group = parameter.rich_help_panel or GROUP_OF.get(parameter.name)
    at = list(GROUPS).index(group) if group in GROUPS else len(GROUPS)
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
    """Put an option into its group; show no type where it says nothing."""
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = lambda ctx: None
        return
    hide_type(parameter)
    if getattr(parameter, "rich_help_panel", None) is None:
        parameter.rich_help_panel = GROUP_OF.get(parameter.name)
