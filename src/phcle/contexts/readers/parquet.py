"""Parquet files as tables of text cells, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phcle.contexts.labels import as_cell, normal
from phcle.errors import FileError
from phcle.files.reading import check_is_file, check_parquet

BATCH = 16_384
"""Rows that are decompressed at a time."""


def parquet_rows(path: Path) -> Iterator[list[str]]:
    """Read a Parquet file as rows of text cells.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    list of str
        First the names of the columns, then the cells of every row.
    """
    check_is_file(path)
    check_parquet(path)
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = [normal(name).strip() for name in file.schema_arrow.names]
            yield names
            for batch in file.iter_batches(BATCH):
                columns = (column.to_pylist() for column in batch.columns)
                for row in zip(*columns, strict=True):
                    yield [
                        _as_cell(path, name, value)
                        for name, value in zip(names, row, strict=True)
                    ]
    # PyArrow raises many kinds of errors for damaged files.
    except Exception as error:
        if isinstance(error, FileError):
            raise
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> FileError:
    reason = str(error).splitlines()[0][:200] if str(error) else "no reason given"
    return FileError(f"{path}: is not a Parquet file, or it is damaged ({reason}).")


def _as_cell(path: Path, column: str, value: Any) -> str:
    """Convert a value to a text cell; null and NaN are empty.

    >>> [_as_cell(Path("t"), "c", x) for x in (None, True, 2, 0.5, " word ")]
    ['', 'true', '2', '0.5', 'word']
    """
    if isinstance(value, (list, dict, bytes)):
        raise FileError(
            f"{path}: column {column!r} holds {type(value).__name__} values, such as "
            f"{str(value)[:40]}; give one text or number per cell."
        )
    return as_cell(value)
