"""All commands with their examples, and the entry point."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Annotated

import typer

from phcle import __version__
from phcle.backends.torchrun import is_shared_run
from phcle.cli.add import add
from phcle.cli.check import check
from phcle.cli.clusters import clusters
from phcle.cli.command_style import AlikeCommand
from phcle.cli.complete import complete
from phcle.cli.config_file import with_config
from phcle.cli.demo import demo
from phcle.cli.errors_and_signals import (
    GuardedGroup,
    leaving_at_once,
    open_closed_streams,
    save_when_terminated,
)
from phcle.cli.evaluate import evaluate
from phcle.cli.explore import explore
from phcle.cli.export import export
from phcle.cli.fit import fit
from phcle.cli.info import info
from phcle.cli.pictures import map as map_pictures
from phcle.cli.pictures import understand
from phcle.cli.query_commands import describe, explain, nearest
from phcle.cli.report import report
from phcle.optional_imports import install_command

app = typer.Typer(
    name="phcle",
    cls=GuardedGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _example(*commands: str) -> str:
    """Show commands at the end of a help page, separated by blank lines."""
    return "\n\n".join(["[bold]Example[/bold]", *commands])


def _needs(extra: str, what: str) -> str:
    """Say how to install an extra that a command needs, and what for."""
    return f"{what}: {install_command(extra)}".replace("[", r"\[")


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"phcle {__version__}")
        raise typer.Exit


@app.callback(epilog=_example("phcle demo", "phcle fit --help"))
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and stop.",
        ),
    ] = False,
) -> None:
    """Label embeddings from whatever you know about your labels, however incomplete."""


FILES = (
    _needs("parquet", "Parquet files need"),
    _needs("ontologies", "--skos and --owl need"),
    _needs("sentences", "--sentences needs"),
)
"""Extras that only some files of contexts need."""

COMMANDS: dict[Callable[..., None], tuple[str, ...]] = {
    demo: (
        "phcle demo",
        "phcle demo --out somewhere",
        "No --json: the commands that it suggests have it.",
    ),
    check: ("phcle check my_folder", "phcle check tree.csv looks.csv --json"),
    fit: (
        "phcle fit --hierarchy tree.csv --attributes looks.csv --out labels.phcle",
        "phcle fit --hierarchy tree.csv --tags uses=t.csv --weights tree=1,uses=0.5 "
        "--dim 50 --out labels.phcle",
        "torchrun --nproc-per-node 2 -m phcle fit --hierarchy tree.csv "
        "--checkpoint fit.ckpt --out labels.phcle",
        *FILES,
        _needs("torch", "A GPU needs"),
    ),
    info: ("phcle info labels.phcle",),
    nearest: (
        "phcle nearest labels.phcle coffeepot -k 5",
        "phcle nearest labels.phcle coffeepot violin --out near.csv",
        "phcle nearest labels.phcle --vector X.npy --among wanted.txt",
    ),
    describe: (
        "phcle describe labels.phcle coffeepot",
        "phcle describe labels.phcle coffeepot violin --out described.csv",
    ),
    explain: ("phcle explain labels.phcle coffeepot teapot",),
    complete: (
        "phcle complete labels.phcle --out filled.csv",
        "phcle complete labels.phcle --columns size --min-confidence 0.8",
        "phcle complete labels.phcle --wide looks.csv --out looks_filled.csv",
        FILES[0],
    ),
    add: (
        "phcle add labels.phcle --hierarchy new_edges.csv --out more.phcle",
        "phcle add labels.phcle --tags parts=new_parts.csv --out more.phcle",
        *FILES,
    ),
    clusters: (
        "phcle clusters labels.phcle --count 12 --out clusters.csv",
        "phcle clusters labels.phcle pets.txt --out pets.png",
        _needs("figures", "A heat map needs"),
    ),
    export: (
        "phcle export labels.phcle --out labels.vec",
        "phcle export labels.phcle --format atlas --out labels.parquet",
        _needs("parquet", "parquet and atlas need"),
    ),
    evaluate: (
        "phcle evaluate labels.phcle --features my_images",
        "phcle evaluate labels.phcle --features X.npy --classifier eszsl --splits 20",
        _needs("frames", "--features needs"),
    ),
    map_pictures: (
        "phcle map labels.phcle --features my_images --out pictures.map",
        "phcle map labels.phcle --photos folder --network resnet --out pictures.map",
        _needs("vision", "--photos needs"),
    ),
    understand: (
        "phcle understand labels.phcle photo.jpg --model pictures.map",
        "phcle understand labels.phcle X.npy --model pictures.map --json",
        _needs("vision", "Photos need"),
    ),
    explore: (
        "phcle explore labels.phcle",
        "phcle explore labels.phcle --compare baseline.phcle --no-browser",
        "PHCLE_TOKEN=$(openssl rand -hex 16) "
        "phcle explore labels.phcle --host 0.0.0.0 --public",
        _needs("explore", "Needs"),
        "No --json: it serves pages, and answers in JSON below /api.",
    ),
    report: (
        "phcle report labels.phcle --out report",
        "phcle report labels.phcle --out report --labels coffeepot --labels violin",
        _needs("report", "Needs"),
    ),
}
"""Every command, in the order of the help page, with examples and what it needs."""

for command, examples in COMMANDS.items():
    app.command(
        cls=AlikeCommand,
        epilog=_example(*examples),
        no_args_is_help=command is not demo,  # it needs no arguments
    )(with_config(command))


def main() -> None:
    """Run the command line and leave with its exit code."""
    open_closed_streams()
    save_when_terminated()
    if hasattr(sys.stdout, "reconfigure"):
        # A name that the terminal cannot encode must not stop the command.
        sys.stdout.reconfigure(errors="replace")
    with leaving_at_once() if is_shared_run() else nullcontext():
        app()
