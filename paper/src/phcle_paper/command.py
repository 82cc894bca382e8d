"""The command `phcle reproduce`: the paper's tables on a user's copy of the data.

`phcle-paper` is the same command under a name of its own.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.errors import FileError, OptionError, check_choice

if TYPE_CHECKING:
    from phcle_paper.tables.settings import Experiment

__all__ = ["main", "reproduce"]


def main() -> None:
    """Run `phcle reproduce` with the words that follow `phcle-paper`."""
    from phcle.cli import main as run_phcle

    sys.argv[:1] = ["phcle", "reproduce"]
    run_phcle()


def reproduce(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="A table of the paper (table1, table2, table3), a further study "
            "(partial-zero-shot, retrieval, clusters, understanding, debian-facets, "
            "pantheria, grambank, sigtyp), or all.",
        ),
    ] = "all",
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="Folder with xlsa17/, awa/, tiny-imagenet/, …",
        ),
    ] = Path("data"),
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to write the tables.")
    ] = Path("phcle-tables"),
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
        typer.Option(
            "--splits", min=0, metavar="N", help="Random splits or draws to judge by."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="NAME,NAME",
            help="Methods of a study that completes single cells; by default all: "
            "phcle, mean, family, boosting.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="dev|test",
            help="Languages of sigtyp to judge by, dev by default; test is recorded.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE.toml",
            help="Settings of one table from a TOML file.",
        ),
    ] = None,
    sentences: Annotated[
        Path | None,
        typer.Option(
            "--sentences",
            metavar="FILE",
            help="Label vectors: .npy in class order, or a word vector file.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", min=1, metavar="N", help="Processes that work side by side."
        ),
    ] = 1,
    generalised: Annotated[
        bool,
        typer.Option("--generalised", help="Answers among seen classes too."),
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
    from phcle_paper.studies.registry import GONE, STUDIES, Request, run_study
    from phcle_paper.tables import settings
    from phcle_paper.tables.runner import reproduce as run

    if what in GONE:
        raise OptionError(f"the study {what!r} is gone; {GONE[what]}.")
    check_choice("what to make", what, (*settings.TABLES, *STUDIES, "all"))
    check_choice("--split", split or "dev", ("dev", "test"))
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
        request = Request(
            data,
            out,
            sentences,
            jobs,
            quick,
            splits,
            methods.split(",") if methods else (),
            split or "dev",
            _teller(study),
        )
        found = run_study(study, request, config=config, command=command)
        made.append({**found, "files": str(out / f"{found['table']}.md")})
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
    typer.echo(f"phcle: {message}", err=True)


def _teller(name: str) -> Callable[[str], None]:
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
    from phcle_paper.tables.rendering import as_markdown

    for table in tables:
        typer.echo(as_markdown(table))
        typer.echo(f"written to {table['files']}, .csv and .json\n")
