"""Rows of files whose cells have a type: workbooks, JSON and Parquet.

Rows come one by one as the number of the row and its cells, the header first; unknown
cells are empty texts.
"""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime, time
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from phcle.contexts.labels import normal
from phcle.errors import FileError, did_you_mean, some
from phcle.files.reading import (
    CHUNK,
    check_is_file,
    check_parquet,
    naming,
    parse_json,
    refuse_bomb,
)
from phcle.files.text import read_text
from phcle.tables.cells import typed
from phcle.tables.text_tables import TextEncoding, text_lines

Rows = Iterator[tuple[int, list[Any]]]
RowSource = Callable[[], Rows]
Place = tuple[int, int]

SMALL_BOOK = 4 << 20
"""Bytes of a workbook up to which its rows stay in memory."""

MOST_CELLS = 1_000_000
"""Cells that merged areas may fill, and empty ones that rows may have beyond those that
are in the file: a few cells may be far apart."""

BATCH = 16_384
"""Rows of a Parquet file that are decompressed at a time."""

DAMAGED = "is not an Excel workbook (.xlsx), or it is damaged; save it as .xlsx or .csv"

FORMS = (
    'a list of records, such as [{"label": "cat", "kg": 4}], or records by label, such '
    'as {"cat": {"kg": 4}}'
)

_SIGN = re.compile(rb"<mergeCell\s[^>]*?ref=.([A-Z]{1,3}\d+:[A-Z]{1,3}\d+)|<(f)[ />]")
"""A merged area of a sheet, or a formula."""


def book_rows(
    path: Path, name: str | None, remarks: list[str], *, keep_formulas: bool = False
) -> RowSource:
    """Open a sheet of a workbook; all cells of a merged area have its value.

    Parameters
    ----------
    path : Path
        The workbook.
    name : str or None
        The sheet; None for the first that is visible.
    remarks : list of str
        Where to say what was done about other sheets and merged cells.
    keep_formulas : bool, default False
        Give a formula that was never computed as its text; by default it is refused.

    Returns
    -------
    callable
        Gives number and cells of every row that holds anything.
    """
    check_is_file(path)
    with naming(path, DAMAGED, Exception), zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
        refuse_bomb(path, size)
    with open_book(path, read_only=True) as book:
        sheet = _chosen(path, book, name, remarks)
        with book._archive.open(sheet._worksheet_path) as file:
            signs = _signs(file)
    merged = _merged(path, [area.decode() for area, _ in signs if area])
    n_filled = sum(place != first for own in merged.values() for place, first in own)
    if n_filled:
        remarks.append(f"{n_filled} merged cells filled with their value")
    formulas = (
        None if (b"", b"f") not in signs else "keep" if keep_formulas else "refuse"
    )
    read = partial(_sheet_rows, path, sheet.title, merged, formulas)
    if size > SMALL_BOOK:
        return read
    rows = list(read())
    return lambda: iter(rows)


def _signs(file: Any) -> set[tuple[bytes, bytes]]:
    """All merged areas of a sheet, and whether it has formulas."""
    found = set()
    before = b""
    while chunk := file.read(CHUNK):
        found.update(_SIGN.findall(before + chunk))
        before = chunk[-100:]
    return found


def _merged(path: Path, areas: Sequence[str]) -> dict[int, list[tuple[Place, Place]]]:
    """By row: the cells of merged areas, each with the one that holds the value."""
    from openpyxl.utils.cell import range_boundaries

    bounds = [range_boundaries(area) for area in areas]
    n_merged = sum(
        (right - left + 1) * (low - top + 1) for left, top, right, low in bounds
    )
    if n_merged > MOST_CELLS:
        raise FileError(
            f"{path}: has {n_merged:,} merged cells; unmerge those that are empty."
        )
    found: dict[int, list[tuple[Place, Place]]] = defaultdict(list)
    for left, top, right, low in bounds:
        for row in range(top, low + 1):
            places = ((row, column) for column in range(left, right + 1))
            found[row] += [(place, (top, left)) for place in places]
    return found


def _sheet_rows(
    path: Path,
    title: str,
    merged: Mapping[int, Sequence[tuple[Place, Place]]],
    formulas: str | None,
) -> Rows:
    unread = nullcontext(repeat(()))
    with (
        _streamed(path, title, data_only=True) as values,
        _streamed(path, title, data_only=False) if formulas else unread as written,
    ):
        first_values: dict[Place, Any] = {}
        width = n_spread = 0
        rows = zip(values, written, strict=False)
        for number, (row, own) in enumerate(rows, 1):
            cells = [cell.value for cell in row]
            n_spread += len(cells) - 100 * (len(cells) - cells.count(None))
            if n_spread > MOST_CELLS:
                raise FileError(
                    f"{path}: its cells are spread over more than {MOST_CELLS:,} "
                    "places; save the table alone, as .csv."
                )
            for i, cell in enumerate(own):
                if cell.data_type == "f" and cells[i] is None:
                    if formulas == "refuse":
                        raise FileError(
                            f"{path}: the formula in {cell.coordinate} has no stored "
                            "value; open the file in Excel or LibreOffice and save it."
                        )
                    cells[i] = str(cell.value)
            for (_, column), first in merged.get(number, ()):
                cells += [None] * (column - len(cells))
                if first == (number, column):
                    first_values[first] = cells[column - 1]
                cells[column - 1] = first_values.get(first)
            cells = list(map(_dated, cells))
            while len(cells) > width and cells[-1] == "":
                cells.pop()
            if any(cell != "" for cell in cells):
                width = width or len(cells)
                yield number, cells + [""] * (width - len(cells))


@contextmanager
def _streamed(path: Path, title: str, *, data_only: bool) -> Iterator[Iterable[Any]]:
    """The rows of a sheet; what the file says of its size may be wrong."""
    with open_book(path, data_only=data_only, read_only=True) as book:
        book[title].reset_dimensions()
        with closing(book[title].iter_rows()) as rows:
            yield rows


def _dated(value: Any) -> Any:
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value.isoformat() if isinstance(value, time) else typed(value)


@contextmanager
def open_book(path: Path, **options: bool) -> Iterator[Any]:
    """Open a workbook; errors of openpyxl name the file.

    Parameters
    ----------
    path : Path
        The file.
    **options : bool
        Arguments of `openpyxl.load_workbook`.

    Yields
    ------
    Workbook
        The open workbook.
    """
    import openpyxl

    # openpyxl raises many kinds of errors for damaged files.
    with naming(path, DAMAGED, Exception):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which do not matter here
            book = openpyxl.load_workbook(path, **options)
        try:
            yield book
        finally:
            book.close()


def _chosen(path: Path, book: Any, name: str | None, remarks: list[str]) -> Any:
    """The sheet that the user names, or the first that is not hidden."""
    found = {each.title: each for each in book.worksheets}
    if name is not None:
        if name not in found:
            raise FileError(
                f"{path}: has no sheet {name!r}; it has {some(found)}."
                f"{did_you_mean(name, found)}"
            )
        return found[name]
    visible = [x for x, own in found.items() if own.sheet_state == "visible"]
    if not visible:
        raise FileError(
            f"{path}: all sheets are hidden ({some(found)}); name one: "
            f"{path.name}#SHEET"
        )
    others = [x for x in found if x != visible[0]]
    if others:
        remarks.append(f"sheet {visible[0]!r} read, and not {some(others)}")
    return found[visible[0]]


def json_rows(path: Path) -> Rows:
    """Read a list of records, records by label, or a file with one record per line.

    Parameters
    ----------
    path : Path
        The file. Only one with a record per line is never in memory as a whole; it is
        read twice.

    Yields
    ------
    (int, list)
        Number and cells of each record.
    """
    is_lines = path.suffix.lower() != ".json"
    listed = [] if is_lines else list(_listed_records(path))

    def records() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, record in _records_by_line(path) if is_lines else listed:
            if not isinstance(record, dict):
                raise FileError(
                    f"{path}, {'line' if is_lines else 'record'} {number}: must be a "
                    f"record. Got {json.dumps(record)[:40]} instead; a file holds "
                    f"{FORMS}."
                )
            yield number, record

    titles = list(dict.fromkeys(title for _, record in records() for title in record))
    if titles:
        yield 0, [normal(title).strip() for title in titles]
    for number, record in records():
        cells = _simple(f"{path}, record {number}", titles, map(record.get, titles))
        if any(cell != "" for cell in cells):
            yield number, cells


def _records_by_line(path: Path) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(text_lines(path, TextEncoding("utf-8")), 1):
        if text.strip():
            yield line, parse_json(text, f"{path}, line {line}")


def _listed_records(path: Path) -> Iterator[tuple[int, Any]]:
    """Records with their numbers; of records by label with the label as a cell."""
    content = parse_json(read_text(path), str(path))
    if isinstance(content, list):
        yield from enumerate(content, 1)
    elif isinstance(content, dict):
        for number, (label, value) in enumerate(content.items(), 1):
            several = value or [None] if isinstance(value, list) else [value]
            for each in several:  # tags of the label
                own = each if isinstance(value, dict) else {"value": each}
                yield number, {"label": label, **own}
    else:
        raise FileError(f"{path}: must hold {FORMS}.")


def parquet_rows(path: Path) -> Rows:
    """Read a Parquet file batch by batch.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    (int, list)
        Number and cells of each row.
    """
    check_parquet(path)
    import pyarrow.parquet as pq

    damaged = "is not a Parquet file, or it is damaged"
    with naming(path, damaged, Exception), pq.ParquetFile(path) as file:
        titles = [normal(name).strip() for name in file.schema_arrow.names]
        if not any(titles):
            return
        yield 0, list(titles)
        rows = chain.from_iterable(
            zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for batch in file.iter_batches(BATCH)
        )
        for number, row in enumerate(rows, 1):
            cells = _simple(f"{path}, row {number}", titles, row)
            if any(cell != "" for cell in cells):
                yield number, cells


def _simple(where: str, titles: Sequence[str], values: Iterable[Any]) -> list[Any]:
    """The cells of a row; lists and the like are refused."""
    cells = list(map(typed, values))
    for title, cell in zip(titles, cells, strict=True):
        if isinstance(cell, (list, dict, bytes)):
            raise FileError(
                f"{where}: {title!r} holds {str(cell)[:40]}; give one text or number "
                "per cell."
            )
    return cells


TYPED: dict[str, tuple[Callable[[Path], Rows], str]] = {
    ".parquet": (parquet_rows, "row"),
    ".json": (json_rows, "record"),
    ".jsonl": (json_rows, "line"),
    ".ndjson": (json_rows, "line"),
}
"""Readers by ending, and what places are counted by."""
