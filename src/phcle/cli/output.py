"""Output files that are checked before the work, and what is printed after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from phcle.errors import FileError
from phcle.files.writing import check_can_write as check_place_to_write

__all__ = ["check_can_write", "show"]


def check_can_write(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse an output path now rather than after a long run.

    An input file is no place for the output: it would be lost.
    """
    for file in inputs:
        if file is not None and file.exists() and path.exists() and path.samefile(file):
            raise FileError(f"{path}: is an input of this command; give another --out.")
    check_place_to_write(path)


def show(answer: Any, table: Callable[[Any], None], *, as_json: bool) -> None:
    """Print an answer as JSON, or by the function that makes a table of it."""
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
    else:
        table(answer)
