"""Files whose kind nobody gave: what is in a folder, and what each file seems to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from phcle.contexts.readers.kind_guessing import (
    ENDINGS,
    RDF_ENDINGS,
    SAMPLED_ROWS,
    Guess,
    TableSample,
    guess_kinds,
    kind_of_ending,
)
from phcle.contexts.readers.table_files import Reading, open_table
from phcle.errors import FileError
from phcle.files.writing import check_is_file

__all__ = ["TABLE_ENDINGS", "data_files", "guess_files", "sample_file"]

TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".xlsx", ".json", ".jsonl")


def data_files(path: str | Path) -> list[Path]:
    """List the files of a folder that may be contexts.

    Parameters
    ----------
    path : str or Path
        A folder, or a file, which stands for itself.

    Returns
    -------
    list of Path
        Files with an ending that a reader knows, by name; none in folders within.
    """
    path = Path(path)
    if not path.is_dir():
        check_is_file(path)
        return [path]
    endings = {*TABLE_ENDINGS, *RDF_ENDINGS, *ENDINGS}
    found = sorted(
        x
        for x in path.iterdir()
        if x.is_file() and x.suffix.lower() in endings and not x.name.startswith(".")
    )
    if not found:
        raise FileError(
            f"{path}: holds no file that can be read ({', '.join(sorted(endings))})."
        )
    return found


def sample_file(path: Path, reading: Reading | None = None) -> TableSample:
    """Read the beginning of a table.

    Parameters
    ----------
    path : Path
        The file.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    TableSample
        Header and first rows. Rows that are no rows are passed over: the reader of the
        whole file names them.
    """
    table = open_table(path, reading)
    rows = [cells for _, cells in islice(table.rows(), SAMPLED_ROWS)]
    return TableSample(table.header, rows)


def guess_files(
    paths: Iterable[Path],
    *,
    reading: Reading | None = None,
    beside: Mapping[str, TableSample] | None = None,
) -> dict[str, Guess]:
    """Guess the kinds of files about the same labels.

    Parameters
    ----------
    paths : iterable of Path
        The files.
    reading : Reading, optional
        How the user wants tables to be read.
    beside : mapping from str to TableSample, optional
        Further tables by name, such as data frames.

    Returns
    -------
    dict
        Guesses by path, as text, and by the names of the further tables.
    """
    found: dict[str, Guess] = {}
    tables: dict[str, TableSample] = dict(beside or {})
    for path in paths:
        kind = kind_of_ending(path)
        if kind is None:
            tables[str(path)] = sample_file(path, reading)
        else:
            found[str(path)] = Guess(kind, {}, f"its name ends in {path.suffix}")
    return found | guess_kinds(tables)
