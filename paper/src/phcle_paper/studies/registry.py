"""Studies: experiments other than the paper's tables, each in a module of its own.

A module of a study has a frozen dataclass `Settings`, a function `run`, and `NEEDS`:
the folders of data it reads, by study if it serves several. Its settings lie in
`configs/NAME.toml`, all of them; a user may give another file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from phcle import __version__
from phcle.errors import FileError, OptionError
from phcle.files import make_folder, parse_toml
from phcle.files.text import read_text
from phcle_paper.tables.rendering import write_table
from phcle_paper.tables.settings import check_keys

__all__ = ["GONE", "STUDIES", "Request", "missing_folders", "run_study"]

STUDIES: Mapping[str, str] = {
    "partial-zero-shot": "phcle_paper.studies.partial_zero_shot",
    "understanding": "phcle_paper.studies.picture_understanding",
    "retrieval": "phcle_paper.studies.label_retrieval",
    "clusters": "phcle_paper.studies.label_clusters",
    "debian-facets": "phcle_paper.studies.cell_completion",
    "pantheria": "phcle_paper.studies.cell_completion",
    "grambank": "phcle_paper.studies.cell_completion",
    "sigtyp": "phcle_paper.studies.cell_completion",
}
"""Modules by the name of their study."""

GONE = {"confidence": "run benchmarks/tables.py of the repository"}
"""What takes the place of a study that is gone."""


@dataclass(frozen=True)
class Request:
    """Where a study reads and writes, and how it may go about it."""

    data: Path
    out: Path
    sentences: Path | None = None
    jobs: int = 1
    quick: bool = False
    splits: int | None = None  # random draws; by default as the settings say
    methods: Sequence[str] = ()  # of a study that compares some; by default all
    split: str = "dev"  # of a shared task, or "test"
    tell: Callable[[str], None] = lambda message: None


def missing_folders(name: str, data: Path) -> list[Path]:
    """The folders that a study needs and that are not there."""
    needs = import_module(STUDIES[name]).NEEDS
    if isinstance(needs, Mapping):
        needs = needs[name]
    return [data / need for need in needs if not (data / need).exists()]


def run_study(
    name: str, request: Request, *, config: Path | None = None, command: str = ""
) -> dict[str, Any]:
    """Make the table of a study, write it to `request.out`, and return it."""
    module = import_module(STUDIES[name])
    settings = _settings(name, module.Settings, config)
    if request.splits is not None and hasattr(settings, "n_splits"):
        settings = replace(settings, n_splits=request.splits)
    missing = missing_folders(name, request.data)
    if missing:
        raise FileError(f"{missing[0]}: no such folder; the study {name!r} needs it.")
    make_folder(request.out)
    table: dict[str, Any] = {
        "table": name,
        "version": __version__,
        **module.run(settings, request),
        "command": command,
    }
    if request.quick:
        table["caveats"] = [*table["caveats"], "a quick trial: few draws"]
    write_table(table, request.out / table["table"])
    return table


def _settings(name: str, kind: Any, config: Path | None) -> Any:
    """Settings of a study from its file, with every key known."""
    if config is None:
        where = f"{name}.toml"
        text = files("phcle_paper").joinpath(f"configs/{where}").read_text("utf-8")
    else:
        where, text = str(config), read_text(config)
    raw = parse_toml(text, where)
    known = [field.name for field in fields(kind)]
    check_keys(raw, known, where)
    missing = [key for key in known if key not in raw]
    if missing:
        raise OptionError(f"{where}: needs the key {missing[0]!r} too.")
    return kind(**raw)
