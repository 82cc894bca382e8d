"""Files of cells, one row a cell: CSV, TSV, Parquet or JSON.

Cells are written as they come, so a file of any length needs little memory. A cell is
an answer with fields such as `label`, `column` and `value`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from phcle.answers import as_json
from phcle.embedding.cell_texts import probabilities_text, value_text
from phcle.errors import OptionError
from phcle.files.atomic import write_whole
from phcle.files.csv_text import csv_lines
from phcle.optional_imports import import_optional

COLUMNS = ("label", "column", "value", "confidence", "low", "high", "family", "why")
"""Columns of a table of completed cells."""

CHANCES = ("confidence", "chance")
"""Fields that are probabilities."""

NUMBERS = (*CHANCES, "low", "high")
"""Fields that hold nothing but numbers."""

BATCH = 50_000
"""Rows that a Parquet file gets at a time."""


def check_ending(path: Path) -> str:
    """Refuse a path whose ending is not that of a known format.

    Parameters
    ----------
    path : Path
        The file to write.

    Returns
    -------
    str
        Its ending in lower case.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(
            f"{path}: the ending must be one of {', '.join(ENDINGS)}. "
            f"Got {path.suffix!r} instead."
        )
    return ending


def write_cells(
    cells: Iterable[Any], path: Path, titles: Sequence[str] = COLUMNS
) -> int:
    """Write cells to a file, complete or not at all.

    Parameters
    ----------
    cells : iterable of Answer
        The cells.
    path : Path
        The file; its ending is the format: .csv, .tsv, .parquet, .json or .jsonl.
    titles : sequence of str, optional
        Fields of the cells to write; by default those of completed cells without
        probabilities of all values. JSON has the context, too.

    Returns
    -------
    int
        Number of cells.
    """
    write = ENDINGS[check_ending(path)]
    n_cells = 0

    def counted() -> Iterator[Any]:
        nonlocal n_cells
        for cell in cells:
            n_cells += 1
            yield cell

    with write_whole(path) as temporary:
        write(counted(), temporary, titles)
    return n_cells


def cell_texts(cell: Any, titles: Sequence[str] = COLUMNS) -> list[str]:
    """Write a cell as texts for a table that people read.

    Parameters
    ----------
    cell : Answer
        The cell.
    titles : sequence of str, optional
        Fields of the cell.

    Returns
    -------
    list of str
        A text for each field.
    """
    return [TEXTS.get(title, value_text)(getattr(cell, title)) for title in titles]


def _chance_text(chance: float | None) -> str:
    return "" if chance is None else f"{chance:.3f}"


TEXTS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(CHANCES, _chance_text),
    "probabilities": probabilities_text,
}
"""How fields are written that are no values."""


def _write_table(
    cells: Iterable[Any], path: Path, titles: Sequence[str], delimiter: str = ","
) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = (cell_texts(cell, titles) for cell in cells)
        file.writelines(csv_lines(chain([titles], rows), delimiter))


def json_list(cells: Iterable[Any], titles: Sequence[str] = COLUMNS) -> Iterator[str]:
    """Write cells as a list in JSON, piece by piece.

    Parameters
    ----------
    cells : iterable of Answer
        The cells.
    titles : sequence of str, optional
        Fields of the cells to write besides the context.

    Yields
    ------
    str
        The pieces. Every cell has a line.
    """
    start = "[\n"
    for line in _json_lines(cells, titles):
        yield f"{start}{line}"
        start = ",\n"
    yield "[]\n" if start == "[\n" else "\n]\n"


def _json_lines(cells: Iterable[Any], titles: Sequence[str]) -> Iterator[str]:
    """Each cell as a line of JSON without its end."""
    first, *rest = titles
    for cell in cells:
        plain = {x: as_json(getattr(cell, x)) for x in (first, "context", *rest)}
        yield json.dumps(plain, ensure_ascii=False)


def _write_jsonl(cells: Iterable[Any], path: Path, titles: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in _json_lines(cells, titles))


def _write_json(cells: Iterable[Any], path: Path, titles: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_list(cells, titles))


def _write_parquet(cells: Iterable[Any], path: Path, titles: Sequence[str]) -> None:
    """Values are texts, because a column of Parquet has one type; numbers in full."""
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="a Parquet file")
    import pyarrow as pa

    kinds = {**dict.fromkeys(NUMBERS, pa.float64()), "draw": pa.int64()}
    schema = pa.schema((title, kinds.get(title, pa.string())) for title in titles)
    waiting = iter(cells)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(waiting, BATCH)):
            arrays = [
                pa.array([_in_parquet(cell, field.name) for cell in batch], field.type)
                for field in schema
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _in_parquet(cell: Any, title: str) -> str | float | None:
    """One field of a cell; a number among texts has all its digits."""
    value: str | float | None = getattr(cell, title)
    if value is None or title in (*NUMBERS, "draw"):
        return value
    if isinstance(value, float):
        return repr(value)
    return TEXTS.get(title, value_text)(value)


ENDINGS: dict[str, Callable[[Iterable[Any], Path, Sequence[str]], None]] = {
    ".csv": _write_table,
    ".tsv": partial(_write_table, delimiter="\t"),
    ".parquet": _write_parquet,
    ".json": _write_json,
    ".jsonl": _write_jsonl,
}
"""Formats by the ending of the file."""
