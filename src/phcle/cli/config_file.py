"""Options of a command from a TOML file: `phcle fit --config run.toml`.

    [fit]
    hierarchy = "tree.csv"
    attributes = ["looks.csv", "uses=more.csv"]
    dim = 50
    weights = { tree = 1, looks = 0.5, uses = 0.5 }
    out = "labels.phcle"

A file holds one table per command, or the options of one command without a table.
Flags in the shell override the file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from phcle.cli.command_style import everywhere
from phcle.cli.errors_and_signals import load_libraries
from phcle.cli.flags import make_flag, with_flags
from phcle.cli.output import set_quiet
from phcle.errors import FileError, OptionError, did_you_mean


def with_config(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags `--config`, which is read first, and `--quiet`.

    Parameters
    ----------
    command : callable
        The command.

    Returns
    -------
    callable
        The command with more flags.
    """
    own = inspect.signature(command).parameters

    @wraps(command)
    def run(config: None = None, **given: Any) -> None:
        if "quiet" not in own:
            given.pop("quiet", None)
        load_libraries()
        command(**given)

    info = everywhere(
        "FILE.toml",
        "Read options from a TOML file; keys are the names of flags.",
        is_eager=True,
        expose_value=False,
        callback=_take_defaults,
    )
    flags = [make_flag("config", str | None, None, info)]
    if "quiet" not in own:
        info = everywhere(
            None,
            "Show no progress.",
            "--quiet",
            expose_value=False,
            callback=set_quiet,
        )
        flags.append(make_flag("quiet", bool, False, info))
    return with_flags(*flags)(run)


def _take_defaults(context: typer.Context, path: str | None) -> None:
    if path is None:
        return
    command: Any = context.command
    group: Any = context.parent
    flags = {
        _key(flag): parameter
        for parameter in command.params
        for flag in (*parameter.opts, parameter.name)
        if parameter.expose_value
    }
    given = options_from(Path(path), command.name, group.command.commands)
    found = {}
    for key, value in given.items():
        parameter = flags.get(_key(key))
        if parameter is None:
            known = [x.replace("_", "-") for x in flags]
            raise OptionError(
                f"{path}: {command.name} has no option {key!r}."
                f"{did_you_mean(key.replace('_', '-'), known)}"
            )
        found[parameter.name] = _as_given(value, parameter, f"{path}, {key}")
    context.default_map = {**(context.default_map or {}), **found}


def _key(flag: str) -> str:
    """The name of a flag in a file."""
    return flag.lstrip("-").replace("-", "_")


def options_from(
    path: Path, command: str, commands: Mapping[str, object]
) -> dict[str, Any]:
    """Read the options for one command from a file.

    Parameters
    ----------
    path : Path
        The TOML file.
    command : str
        The command, such as "fit".
    commands : mapping
        All commands, by name: tables with these names hold their options.

    Returns
    -------
    dict
        Values by the name of the option.
    """
    from phcle.files.text import parse_toml, read_text

    raw = parse_toml(read_text(path), str(path))
    tables = {key for key in raw if key in commands and isinstance(raw[key], dict)}
    if command in tables:
        raw = {**{k: v for k, v in raw.items() if k not in tables}, **raw[command]}
    elif tables:
        raise FileError(
            f"{path}: has no table [{command}]; it has {', '.join(sorted(tables))}."
        )
    return raw


def _as_given(value: Any, parameter: Any, where: str) -> Any:
    """Convert a value to what the shell would pass."""
    if isinstance(value, dict):  # weights = { tree = 1, looks = 0.5 }
        return ",".join(f"{key}={number}" for key, number in value.items())
    takes_several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if isinstance(value, list):
        if not takes_several:
            raise OptionError(f"{where}: takes one value. Got a list, {value!r}.")
        return [str(x) for x in value]
    if takes_several:
        return [str(value)]
    return value if isinstance(value, bool) else str(value)
