"""Write tables of any rows, and embeddings in the file formats of other tools.

`write_table` is the one writer of CSV, TSV, JSON and Parquet files, which are complete
or not there. Rows are written as they come, so a file of any length needs little
memory, but for Parquet.

What a format cannot hold is refused or changed as documented, never dropped silently:
words of word2vec cannot contain spaces, so these become underscores, and it is an error
if two labels would then be the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from phcle.answers import Cell, as_json
from phcle.embedding.cell_texts import probabilities_text, value_text
from phcle.errors import ContextError, OptionError
from phcle.files.atomic import write_whole
from phcle.files.csv_text import csv_lines

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

DELIMITERS = {".csv": ",", ".tsv": "\t"}

ENDINGS = (*DELIMITERS, ".parquet", ".json", ".jsonl")
"""Endings of tables."""

WORDS = (".txt", ".vec")
"""Endings of word2vec text."""

VECTORS = (*WORDS, ".csv", ".parquet")
"""Endings of files of vectors."""

COLUMNS = ("label", "column", "value", "confidence", "low", "high", "family", "why")
"""Columns of a table of completed cells."""

CHANCES = ("confidence", "chance")
"""Fields of a cell that are probabilities."""

NUMBERS = (*CHANCES, "low", "high", "draw")
"""Fields of a cell that hold nothing but numbers."""


def check_ending(path: Path, endings: Sequence[str] = ENDINGS) -> str:
    """Refuse a path whose ending is not that of a known format.

    Parameters
    ----------
    path : Path
        The file to write.
    endings : sequence of str, optional
        Endings that are allowed; by default those of all tables.

    Returns
    -------
    str
        Its ending in lower case.
    """
    ending = path.suffix.lower()
    if ending not in endings:
        raise OptionError(
            f"{path}: the ending must be one of {', '.join(endings)}. "
            f"Got {path.suffix!r} instead."
        )
    return ending


def write_table(
    path: Path,
    titles: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    types: Mapping[str, Any] = MappingProxyType({}),
) -> int:
    """Write rows to a file, complete or not at all.

    Parameters
    ----------
    path : Path
        The file, with one of the `ENDINGS`.
    titles : sequence of str
        Titles of the columns.
    rows : iterable of sequence
        The rows; None is an empty cell.
    types : mapping from str to data type, optional
        Types of columns of a Parquet file that hold no texts.

    Returns
    -------
    int
        Number of rows.
    """
    ending, n_rows = check_ending(path), count()
    counted = (row for row, _ in zip(rows, n_rows, strict=False))
    with write_whole(path) as temporary:
        if ending == ".parquet":
            _write_parquet(temporary, titles, counted, types)
        else:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                file.writelines(table_text(ending, titles, counted))
    return next(n_rows)


def table_text(
    ending: str, titles: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Iterator[str]:
    """Write rows as text, piece by piece.

    Parameters
    ----------
    ending : {".csv", ".tsv", ".json", ".jsonl"}
        The format.
    titles : sequence of str
        Titles of the columns.
    rows : iterable of sequence
        The rows.

    Yields
    ------
    str
        The pieces. Every row has a line.
    """
    if ending in DELIMITERS:
        yield from csv_lines(chain([titles], rows), DELIMITERS[ending])
        return
    objects = (
        json.dumps(dict(zip(titles, row, strict=True)), ensure_ascii=False)
        for row in rows
    )
    if ending == ".jsonl":
        yield from (f"{line}\n" for line in objects)
        return
    start = "[\n"
    for line in objects:
        yield f"{start}{line}"
        start = ",\n"
    yield "[]\n" if start == "[\n" else "\n]\n"


def _write_parquet(
    path: Path,
    titles: Sequence[str],
    rows: Iterator[Sequence[Any]],
    types: Mapping[str, Any],
) -> None:
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(titles))
    kinds = {title: types.get(title, "string") for title in titles}
    frame.astype(kinds).to_parquet(path, index=False)


def write_cells(
    cells: Iterable[Cell], path: Path, titles: Sequence[str] = COLUMNS
) -> int:
    """Write cells to a file, one row a cell, complete or not at all.

    Parameters
    ----------
    cells : iterable of Cell
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
    types = {**dict.fromkeys(NUMBERS, "f8"), "draw": "i8"}
    rows = rows_of_cells(cells, check_ending(path), titles)
    return write_table(path, *rows, types=types)


def rows_of_cells(
    cells: Iterable[Cell], ending: str, titles: Sequence[str] = COLUMNS
) -> tuple[Sequence[str], Iterator[list[Any]]]:
    """Turn cells into rows for `write_table` and `table_text`.

    Parameters
    ----------
    cells : iterable of Cell
        The cells.
    ending : str
        The format, one of `ENDINGS`.
    titles : sequence of str, optional
        Fields of the cells.

    Returns
    -------
    titles : sequence of str
        The fields; JSON has the context, too.
    rows : iterator of list
        The cells.
    """
    if ending in DELIMITERS:
        return titles, (cell_texts(cell, titles) for cell in cells)
    if ending == ".parquet":
        return titles, ([_in_parquet(cell, x) for x in titles] for cell in cells)
    every = [titles[0], "context", *titles[1:]]
    return every, ([as_json(getattr(cell, x)) for x in every] for cell in cells)


def cell_texts(cell: Cell, titles: Sequence[str] = COLUMNS) -> list[str]:
    """Write a cell as texts for a table that people read.

    Parameters
    ----------
    cell : Cell
        The cell.
    titles : sequence of str, optional
        Fields of the cell.

    Returns
    -------
    list of str
        A text for each field.
    """
    return [_text(title, getattr(cell, title)) for title in titles]


def _text(title: str, value: Any) -> str:
    if title in CHANCES and value is not None:
        return f"{value:.3f}"
    return probabilities_text(value) if title == "probabilities" else value_text(value)


def _in_parquet(cell: Cell, title: str) -> str | float | None:
    """Values are texts, because a column has one type; numbers have all digits."""
    value: str | float | None = getattr(cell, title)
    if value is None or title in NUMBERS:
        return value
    return repr(value) if isinstance(value, float) else _text(title, value)


def export(embedding: LabelEmbedding, path: str | Path) -> None:
    """Write the vectors of an embedding for other tools.

    Parameters
    ----------
    embedding : LabelEmbedding
        What to write.
    path : str or Path
        The file. Its ending is the format: .txt and .vec are word2vec text, .csv and
        .parquet a table of labels, names and a column for each dimension.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from phcle import LabelEmbedding
    >>> path = Path(tempfile.mkdtemp()) / "pets.vec"
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.5], [0.0, 2.0]]))
    >>> export(pets, path)
    >>> print(path.read_text())
    2 2
    cat 1.0 0.5
    dog 0.0 2.0
    <BLANKLINE>
    """
    path = Path(path)
    if check_ending(path, VECTORS) in WORDS:
        _write_word2vec(embedding, path)
        return
    frame = embedding.to_frame()
    names = map(embedding.name_of, embedding.labels)
    vectors = embedding.vectors.tolist()
    rows = zip(embedding.labels, names, vectors, strict=True)
    write_table(
        path,
        ["label", "name", *frame.columns],
        ([label, name, *vector] for label, name, vector in rows),
        types=dict(frame.dtypes),
    )


def _write_word2vec(embedding: LabelEmbedding, path: Path) -> None:
    """Write words and numbers, with underscores for white space in labels."""
    words: dict[str, str] = {}
    for label in embedding.labels:
        word = re.sub(r"\s", "_", label)
        if word in words:
            raise ContextError(
                f"labels {words[word]!r} and {label!r} would both be {word!r} in a "
                "word2vec file, which has no spaces; rename one, or use another "
                "format."
            )
        words[word] = label
    with (
        write_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(f"{len(embedding)} {embedding.dim}\n")
        for word, vector in zip(words, embedding.vectors, strict=True):
            file.write(f"{word} {' '.join(map(str, vector.tolist()))}\n")
