"""Check output files before the work, and print the answer after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import typer

from phcle.errors import FileError
from phcle.files.writing import check_can_write as check_place_to_write

__all__ = ["check_can_write", "show"]

T = TypeVar("T")


def check_can_write(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse an output path now rather than after a long run.

    Parameters
    ----------
    path : Path
        Where the output will be written.
    inputs : iterable of Path or None, default=()
        Input files of the command, which must not be overwritten.
    """
    for file in inputs:
        if file is not None and file.exists() and path.exists() and path.samefile(file):
            raise FileError(f"{path}: is an input of this command; give another --out.")
    check_place_to_write(path)


def show(answer: T, table: Callable[[T], None], *, as_json: bool) -> None:
    """Print an answer as JSON or as a table.

    Parameters
    ----------
    answer : object
        An answer, several answers, or plain values.
    table : callable
        Prints the answer for people.
    as_json : bool
        Print JSON instead.
    """
    if as_json:
        from phcle.answers import as_json as plain

        typer.echo(json.dumps(plain(answer), indent=2))
    else:
        table(answer)
