"""Saved results: finished cells of a table in a file, so that a run can continue.

The file has one JSON object per line: first the fingerprint of the settings and the
data, then the rows of one cell each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from phcle import __version__
from phcle.contexts import DescriptiveContext
from phcle.errors import FileError
from phcle.files import write_whole
from phcle_paper.reading import numbered_lines
from phcle_paper.tables.settings import Experiment

__all__ = ["SavedResults", "digest_of", "digest_of_context", "fingerprint"]

Row = dict[str, Any]
Plan = TypeVar("Plan")
Tell = Callable[[str], None]

FORM = 2
"""Version of the rows; raise it when their columns change, so old rows are dropped."""


def fingerprint(experiment: Experiment, digest: str) -> str:
    """A fingerprint of what results depend on: settings, data and version.

    The number of random splits is no part of it: with more of them, the first stay.
    Nor are the printed numbers and caveats, which change no result.
    """
    splits = replace(experiment.splits, random=0)
    same = replace(experiment, splits=splits, paper={}, caveats=(), title="")
    return digest_of([asdict(same), digest])


def digest_of(what: Any) -> str:
    """A fingerprint of plain values, of this version and of the form of rows."""
    text = json.dumps([what, __version__, FORM], sort_keys=True)
    return sha256(text.encode()).hexdigest()


def digest_of_context(context: DescriptiveContext) -> str:
    """A fingerprint of the labels and values of a context."""
    found = sha256("\n".join(context.labels).encode())
    for numbers in context.matrix.arrays:
        if numbers is not None:
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

    def unfinished(self, wanted: Mapping[str, Plan], tell: Tell) -> dict[str, Plan]:
        """The cells that have no rows yet."""
        left = {cell: own for cell, own in wanted.items() if cell not in self.cells}
        if len(left) < len(wanted):
            done = len(wanted) - len(left)
            tell(f"{done} of {len(wanted)} cells are finished already")
        return left

    def compute(
        self,
        function: Callable[..., list[Row]],
        calls: Mapping[str, tuple[Any, ...]],
        jobs: int,
        tell: Tell,
    ) -> None:
        """Compute cells on one process or several, and save each when it is finished.

        Another process must be able to import the function.
        """
        # One thread each: small products gain nothing from more, and threads that wait
        # for each other on a busy machine cost more than the work.
        parallel = Parallel(
            n_jobs=jobs, return_as="generator_unordered", inner_max_num_threads=1
        )
        start = perf_counter()
        finished = parallel(
            delayed(_named)(cell, function, arguments)
            for cell, arguments in calls.items()
        )
        for done, (cell, rows) in enumerate(finished, 1):
            self.add(cell, rows)
            rest = (perf_counter() - start) / done * (len(calls) - done)
            tell(f"{done} of {len(calls)} cells ({cell}), about {rest:.0f} s left")

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
        for _, line in numbered_lines(self.path):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not isinstance(entry, dict):
                break
            found.append(entry)
        return found


def _named(
    cell: str, function: Callable[..., list[Row]], arguments: tuple[Any, ...]
) -> tuple[str, list[Row]]:
    """The rows of a cell with its name, as cells finish in any order."""
    return cell, function(*arguments)
