"""The paper's tables on a user's copy of the data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.edge import say
from phcle.cli.flags import Json
from phcle.cli.output import show
from phcle.errors import FileError, OptionError

if TYPE_CHECKING:
    from phcle.experiments.settings import Experiment

__all__ = ["reproduce"]


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[table1|table2|table3|all]", help="Which table to make."
        ),
    ] = "all",
    data: Annotated[
        Path,
        typer.Option("--data", help="Folder with xlsa17/, awa/ and tiny-imagenet/."),
    ] = Path("data"),
    out: Annotated[Path, typer.Option("--out", help="Folder for the tables.")] = Path(
        "phcle-tables"
    ),
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="awa|awa-corrected|tiny-imagenet|apy",
            help="One data set; by default all that are there with features.",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option("--splits", min=0, help="Random class splits to judge by."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Settings of one table from a TOML file."),
    ] = None,
    sentences: Annotated[
        Path | None,
        typer.Option(
            "--sentences",
            help="Label vectors: .npy in class order, or a word vector file.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A trial run on few images.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make the paper's tables anew, with its numbers beside them.

    An interrupted run goes on where it stopped when it is started again with the same
    settings and the same --out.
    """
    from phcle.experiments import settings
    from phcle.experiments.runner import reproduce as run

    chosen = list(_experiments(what, data, dataset, config))
    if not chosen:
        raise FileError(
            f"{data}: holds no data set with features of images; it must hold "
            "xlsa17/AWA1, xlsa17/APY or tiny-imagenet."
        )
    tables = []
    for experiment in chosen:
        if quick and experiment.table != "table1":
            experiment = settings.quick(experiment)
        if splits is not None:
            plan = replace(experiment.splits, random=splits)
            experiment = replace(experiment, splits=plan)
        name = experiment.name
        found = run(
            experiment,
            data,
            out,
            command=_command(
                what, data, out, dataset, splits, config, sentences, quick
            ),
            sentences=sentences,
            tell=lambda message, name=name: say(f"{name}: {message}"),  # type: ignore[misc]
        )
        tables.append({**found, "files": str(out / f"{name}.md")})
    show(tables, _show, as_json=as_json)


def _experiments(
    what: str, data: Path, dataset: str | None, config: Path | None
) -> Iterator[Experiment]:
    """The experiments asked for, of data that is there unless one set is named."""
    from phcle.experiments import settings
    from phcle.experiments.benches import FOLDERS, has_features

    settings.known("the table", what, (*settings.TABLES, "all"))
    if dataset is not None:
        settings.known("--dataset", dataset, settings.DATASETS)
    if not data.is_dir():
        raise FileError(f"{data}: no such folder; --data names the folder of all data.")
    if config is not None:
        found = settings.load_config(config)
        if what not in ("all", found.table) or dataset not in (None, found.dataset):
            raise OptionError(
                f"{config}: is about {found.table} on {found.dataset}; ask for that."
            )
        yield found
        return
    for table in settings.TABLES if what == "all" else (what,):
        for each in settings.DATASETS if dataset is None else (dataset,):
            there = has_features(each, data)
            if table == "table1":
                there = (data / FOLDERS[each]).is_dir()
            if dataset is not None or there:
                yield settings.load_shipped(table, each)
            else:
                say(f"{table}-{each}: left out, {data / FOLDERS[each]} has no features")


def _command(
    what: str,
    data: Path,
    out: Path,
    dataset: str | None,
    splits: int | None,
    config: Path | None,
    sentences: Path | None,
    quick: bool,
) -> str:
    """What to type for the same table again."""
    words = ["phcle", "reproduce", what, "--data", str(data), "--out", str(out)]
    for flag, value in (
        ("--dataset", dataset),
        ("--splits", splits),
        ("--config", config),
        ("--sentences", sentences),
    ):
        if value is not None:
            words += [flag, str(value)]
    return shlex.join([*words, "--quick"] if quick else words)


def _show(tables: list[dict[str, Any]]) -> None:
    from phcle.experiments.render import as_markdown

    for table in tables:
        typer.echo(as_markdown(table))
        typer.echo(f"written to {table['files']}, .csv and .json\n")
