"""Studies: experiments other than the paper's tables, each in a module of its own.

A module of a study has a frozen dataclass `Settings`, a function `run`, and `NEEDS`:
the folders of data that it reads. Its settings lie in `configs/NAME.toml`, all of them;
a user may give another file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from phcle import __version__
from phcle.errors import FileError
from phcle.files import make_folder
from phcle_paper.config import SHIPPED, read_config, settings_of
from phcle_paper.tables.rendering import write_table

__all__ = ["STUDIES", "Request", "missing_folders", "run_study"]

STUDIES: Mapping[str, str] = {
    "partial-zero-shot": "phcle_paper.studies.partial_zero_shot",
    "understanding": "phcle_paper.studies.picture_understanding",
    "retrieval": "phcle_paper.studies.label_retrieval",
    "clusters": "phcle_paper.studies.label_clusters",
}
"""Modules by the name of their study."""


@dataclass(frozen=True)
class Request:
    """Where a study reads and writes, and how it may go about it."""

    data: Path
    out: Path
    jobs: int = 1
    quick: bool = False
    tell: Callable[[str], None] = lambda message: None


def missing_folders(name: str, data: Path) -> list[Path]:
    """The folders that a study needs and that are not there."""
    needs = import_module(STUDIES[name]).NEEDS
    return [data / need for need in needs if not (data / need).exists()]


def run_study(
    name: str,
    request: Request,
    *,
    config: Path | None = None,
    splits: int | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Make the table of a study, write it to `request.out`, and return it."""
    module = import_module(STUDIES[name])
    path = config or SHIPPED / f"{name}.toml"
    settings = settings_of(module.Settings, read_config(path), path.name)
    if splits is not None and hasattr(settings, "random"):
        settings = replace(settings, random=splits)
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
    write_table(table, request.out / name)
    return table
