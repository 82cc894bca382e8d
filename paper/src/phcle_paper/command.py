"""The command `phcle-paper`: the paper's tables on a user's copy of the data."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.errors import FileError, OptionError, PhcleError, PhcleWarning, check_choice

if TYPE_CHECKING:
    from phcle_paper.tables.settings import Experiment

__all__ = ["main", "reproduce"]

BAD_INPUT, INTERRUPTED = 2, 130
"""Exit codes."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", PhcleWarning)
            warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
            app(prog_name="phcle-paper")
    except PhcleError as error:
        _say(str(error))
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on where it stopped")
        sys.exit(INTERRUPTED)


@app.command(no_args_is_help=True)
def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A table of the paper (table1, table2, table3), a further study "
            "(partial-zero-shot, retrieval, clusters, understanding), or all.",
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Folder with xlsa17/, awa/, tiny-imagenet/, …"
        ),
    ] = Path("data"),
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to write the tables.")
    ] = Path("phcle-tables"),
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="awa|awa-corrected|tiny-imagenet|apy",
            help="One data set; by default all that are there with features.",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Random class splits to judge by."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help="Settings of one table from a TOML file."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Processes that work side by side.")
    ] = 1,
    generalised: Annotated[
        bool, typer.Option("--generalised", help="Answers among seen classes too.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A trial run on few images.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of tables.")
    ] = False,
) -> None:
    """Make the paper's tables anew, with its numbers beside them, and further studies.

    An interrupted table goes on where it stopped when it is started again with the same
    settings and the same --out.
    """
    from phcle_paper.studies.registry import STUDIES, Request, run_study
    from phcle_paper.tables.runner import reproduce as run
    from phcle_paper.tables.settings import TABLES

    check_choice("what to make", what, (*TABLES, *STUDIES, "all"))
    if not data.is_dir():
        raise FileError(f"{data}: no such folder; --data names the folder of all data.")
    command = shlex.join(["phcle-paper", *sys.argv[1:]])
    made = []
    if what not in STUDIES:
        for experiment in _experiments(what, data, dataset, config):
            experiment = _adapted(experiment, splits, generalised, quick)
            found = run(
                experiment,
                data,
                out,
                command=command,
                jobs=jobs,
                tell=_teller(experiment.name),
            )
            made.append({**found, "files": str(out / f"{experiment.name}.md")})
    for study in _studies(what, data):
        request = Request(data, out, jobs, quick, _teller(study))
        found = run_study(study, request, config=config, splits=splits, command=command)
        made.append({**found, "files": str(out / f"{study}.md")})
    if as_json:
        typer.echo(json.dumps(made, indent=2))
    else:
        _show(made)


def _studies(what: str, data: Path) -> Iterator[str]:
    """The study asked for, or with "all" those whose data is there."""
    from phcle_paper.studies.registry import STUDIES, missing_folders

    if what in STUDIES:
        yield what
    for study in STUDIES if what == "all" else ():
        missing = missing_folders(study, data)
        if missing:
            _say(f"{study}: left out, there is no {missing[0]}")
        else:
            yield study


def _say(message: str) -> None:
    """One line on standard error."""
    typer.echo(f"phcle-paper: {message}", err=True)


def _teller(name: str) -> Callable[[str], None]:
    """Print news of one table."""
    return lambda message: _say(f"{name}: {message}")


def _adapted(
    experiment: Experiment, splits: int | None, generalised: bool, quick: bool
) -> Experiment:
    """The experiment as the flags want it; statistics stay what they are."""
    from phcle_paper.tables import settings

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
    from phcle_paper.tables import settings
    from phcle_paper.tables.image_benchmarks import FOLDERS, has_features

    if dataset is not None:
        check_choice("--dataset", dataset, settings.DATASETS)
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
                place = data / FOLDERS[each]
                _say(f"{table}-{each}: left out, {place} has no features")
    if not found_any:
        raise FileError(
            f"{data}: holds no data set with features of images; it must hold "
            "xlsa17/AWA1, xlsa17/APY or tiny-imagenet."
        )


def _show(tables: list[dict[str, Any]]) -> None:
    """Print the tables, and where they are."""
    from phcle_paper.tables.rendering import as_markdown

    for table in tables:
        typer.echo(as_markdown(table))
        typer.echo(f"written to {table['files']}, .csv and .json\n")
