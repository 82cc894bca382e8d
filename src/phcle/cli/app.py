"""All commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from phcle import __version__
from phcle.cli.ask import clusters, describe, explain, info, nearest
from phcle.cli.check import check
from phcle.cli.complete import complete
from phcle.cli.demo import demo
from phcle.cli.evaluate import evaluate
from phcle.cli.export import export
from phcle.cli.fit import add, fit
from phcle.cli.options import flag, option, options_in
from phcle.cli.pages import explore, report
from phcle.cli.pictures import understand

app = typer.Typer(name="phcle", no_args_is_help=True, pretty_exceptions_enable=False)

COMMANDS: list[Callable[..., None]] = [
    *(demo, check, fit, info, nearest, describe, explain, complete, add),
    *(clusters, export, evaluate, understand, explore, report),
]
"""In the order of the help page."""

for command in COMMANDS:
    app.command()(command)


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"phcle {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    config: Path | None = option(
        None, "FILE.toml", "Read options of the command from a file."
    ),
    version: bool = flag(
        "Show the version and stop.",
        "--version",
        callback=_show_version,
        is_eager=True,
    ),
) -> None:
    """Label embeddings from whatever you know about your labels, however incomplete.

    Options of a command may stand in a TOML file: phcle --config run.toml fit

    Example: phcle demo
    """
    name = context.invoked_subcommand or ""
    group: Any = context.command
    if config is not None and name in group.commands:
        context.default_map = {name: options_in(config, group.commands[name])}
