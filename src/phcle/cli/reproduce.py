"""The paper's tables on a user's copy of the data."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.errors_and_signals import say
from phcle.cli.flags import Json
from phcle.cli.output import show
from phcle.errors import FileError, OptionError

if TYPE_CHECKING:
    from phcle.experiments.settings import Experiment

__all__ = ["reproduce"]


def reproduce(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A table of the paper (table1, table2, table3), a further study "
            "(partial, completion, confidence, similarity, retrieval, clusters, "
            "understanding, debian), or all.",
        ),
    ] = "all",
    data: Annotated[
        Path,
        typer.Option("--data", help="Folder with xlsa17/, awa/, tiny-imagenet/, …"),
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
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Processes that work side by side.")
    ] = 1,
    generalised: Annotated[
        bool,
        typer.Option("--generalised", help="Answers among seen classes too."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A trial run on few images.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make the paper's tables anew, with its numbers beside them, and further studies.

    An interrupted table goes on where it stopped when it is started again with the same
    settings and the same --out.
    """
    from phcle.experiments import settings
    from phcle.experiments.runner import reproduce as run
    from phcle.experiments.studies import STUDIES, Request, run_study

    settings.known("what to make", what, (*settings.TABLES, *STUDIES, "all"))
    if not data.is_dir():
        raise FileError(f"{data}: no such folder; --data names the folder of all data.")
    command = _command(context)
    made = []
    if what not in STUDIES:
        for experiment in _experiments(what, data, dataset, config):
            experiment = _adapted(experiment, splits, generalised, quick)
            found = run(
                experiment,
                data,
                out,
                command=command,
                sentences=sentences,
                jobs=jobs,
                tell=_teller(experiment.name),
            )
            made.append({**found, "files": str(out / f"{experiment.name}.md")})
    for study in _studies(what, data):
        request = Request(data, out, sentences, jobs, quick, _teller(study))
        found = run_study(study, request, config=config, command=command)
        made.append({**found, "files": str(out / f"{study}.md")})
    if what == "all":
        _assemble(out)
    show(made, _show, as_json=as_json)


def _assemble(out: Path) -> None:
    """All tables in one page, where the extra that makes it is installed."""
    from phcle.report import assemble
    from phcle.report.extras import REMEDY, has_extra

    if has_extra():
        say(f"all tables in one page: {assemble(out)}")
    else:
        say(f"for one page with all tables: {REMEDY}")


def _studies(what: str, data: Path) -> Iterator[str]:
    """The study asked for, or with "all" those whose data is there."""
    from phcle.experiments.studies import STUDIES, missing_folders

    if what in STUDIES:
        yield what
    for study in STUDIES if what == "all" else ():
        missing = missing_folders(study, data)
        if missing:
            say(f"{study}: left out, there is no {missing[0]}")
        else:
            yield study


def _teller(name: str) -> Callable[[str], None]:
    return lambda message: say(f"{name}: {message}")


def _adapted(
    experiment: Experiment, splits: int | None, generalised: bool, quick: bool
) -> Experiment:
    """The experiment as the flags want it; statistics stay what they are."""
    from phcle.experiments import settings

    if experiment.table == "table1":
        return experiment
    if quick:
        experiment = settings.quick(experiment)
    if splits is not None:
        plan = replace(experiment.splits, random=splits)
        experiment = replace(experiment, splits=plan)
    return replace(experiment, generalised=generalised)


def _experiments(
    what: str, data: Path, dataset: str | None, config: Path | None
) -> Iterator[Experiment]:
    """The experiments asked for, of data that is there unless one set is named."""
    from phcle.experiments import settings
    from phcle.experiments.benches import FOLDERS, has_features

    if dataset is not None:
        settings.known("--dataset", dataset, settings.DATASETS)
    if config is not None:
        found = settings.load_config(config)
        if what not in ("all", found.table) or dataset not in (None, found.dataset):
            raise OptionError(
                f"{config}: is about {found.table} on {found.dataset}; ask for that."
            )
        yield found
        return
    found_any = False
    for table in settings.TABLES if what == "all" else (what,):
        for each in settings.DATASETS if dataset is None else (dataset,):
            there = has_features(each, data)
            if table == "table1":
                there = (data / FOLDERS[each]).is_dir()
            if dataset is not None or there:
                found_any = True
                yield settings.load_shipped(table, each)
            else:
                say(f"{table}-{each}: left out, {data / FOLDERS[each]} has no features")
    if not found_any:
        raise FileError(
            f"{data}: holds no data set with features of images; it must hold "
            "xlsa17/AWA1, xlsa17/APY or tiny-imagenet."
        )


def _command(context: typer.Context) -> str:
    """What to type for the same again."""
    words = ["phcle", "reproduce"]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif parameter.name != "as_json" and value not in (None, False):
            flag = parameter.opts[0]
            words += [flag] if value is True else [flag, str(value)]
    return shlex.join(words)


def _show(tables: list[dict[str, Any]]) -> None:
    from phcle.experiments.render import as_markdown

    for table in tables:
        typer.echo(as_markdown(table))
        typer.echo(f"written to {table['files']}, .csv and .json\n")
