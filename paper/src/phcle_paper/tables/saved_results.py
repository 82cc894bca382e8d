"""Saved results: finished cells of a table in a file, so that a run can continue.

The file has one JSON object per line: first the fingerprint of the settings and the
data, then the rows of one cell each.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from phcle import __version__
from phcle.contexts import DescriptiveContext
from phcle.contexts.readers.delimited import read_lines
from phcle.errors import FileError
from phcle.files import write_whole
from phcle_paper.tables.settings import Experiment

__all__ = ["SavedResults", "digest_of", "digest_of_context", "fingerprint"]

Row = dict[str, Any]

FORM = 2
"""Version of the rows; raise it when their columns change, so old rows are dropped."""


def fingerprint(experiment: Experiment, digest: str) -> str:
    """A fingerprint of what results depend on: settings, data and version.

    The number of random splits is no part of it: with more of them, the first stay.
    Nor are the printed numbers and caveats, which change no result.
    """
    same = replace(
        experiment,
        splits=replace(experiment.splits, random=0),
        paper={},
        caveats=(),
        title="",
    )
    return digest_of([asdict(same), digest])


def digest_of(what: Any) -> str:
    """A fingerprint of plain values, of this version and of the form of rows."""
    text = json.dumps([what, __version__, FORM], sort_keys=True)
    return sha256(text.encode()).hexdigest()


def digest_of_context(context: DescriptiveContext) -> str:
    """A fingerprint of the labels and values of a context."""
    found = sha256("\n".join(context.labels).encode())
    for numbers in context.fingerprint_arrays():
        found.update(np.ascontiguousarray(numbers.data).tobytes())
    return found.hexdigest()


class SavedResults:
    """Rows by cell; each cell is written to disk when it is finished."""

    def __init__(self, path: Path, mark: str) -> None:
        self.path = path
        self.mark = mark
        self.cells: dict[str, list[Row]] = {}
        self.changed = False
        """Whether the file held results of other settings, which were dropped."""
        self._read()

    def add(self, cell: str, rows: list[Row]) -> None:
        """Save the rows of a cell."""
        self.cells[cell] = rows
        line = json.dumps({"cell": cell, "rows": rows})
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise FileError(
                f"{self.path}: cannot be written ({error.strerror})."
            ) from error

    def _read(self) -> None:
        """Load the rows that fit, then rewrite the file without incomplete lines."""
        found = self._lines() if self.path.is_file() else []
        if found and found[0].get("fingerprint") == self.mark:
            self.cells = {
                x["cell"]: x["rows"] for x in found[1:] if {"cell", "rows"} <= set(x)
            }
        else:
            self.changed = bool(found)
        lines = [{"fingerprint": self.mark}] + [
            {"cell": cell, "rows": rows} for cell, rows in self.cells.items()
        ]
        with write_whole(self.path) as temporary:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            temporary.write_text(text, encoding="utf-8")

    def _lines(self) -> list[dict[str, Any]]:
        """Complete lines; the last one may be cut short."""
        found = []
        for line in read_lines(self.path):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not isinstance(entry, dict):
                break
            found.append(entry)
        return found
