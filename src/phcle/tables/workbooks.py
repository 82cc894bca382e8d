"""Workbooks (.xlsx), by openpyxl: the visible sheet, with merged cells filled."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from pathlib import Path
from typing import Any

from phcle.errors import FileError, did_you_mean, some
from phcle.files.reading import CHUNK, check_is_file, naming, refuse_bomb
from phcle.tables.cells import typed

Rows = Iterator[tuple[int, list[Any]]]
Place = tuple[int, int]

LARGE_BOOK = 4 << 20
"""Bytes of unpacked sheets from which a workbook is read row by row, which knows
nothing of merged cells; smaller ones take up to 20 times as many bytes of memory."""

MOST_CELLS = 1_000_000
"""Cells that merged ranges may fill, and that rows may have beyond those that are in
the file: a few cells may be far apart."""

FORMULA, MERGED = b"<f", b"<mergeCell "
UNSEEN = {
    MERGED: "merged cells are not filled",
    FORMULA: "formulas without a stored value are unknown",
}
"""What is not seen when a workbook is read row by row, by the sign of it."""

DAMAGED = "is not an Excel workbook (.xlsx), or it is damaged; save it as .xlsx or .csv"

_AREA = re.compile(rb"mergeCell\s[^>]*?ref=.([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})")


class Sheet:
    """A sheet in memory: its values by row and column, merged areas filled.

    Parameters
    ----------
    path : Path
        The workbook.
    name : str, optional
        The sheet; by default the first that is visible.
    remarks : list of str, optional
        Where to say what was done.
    """

    def __init__(
        self, path: Path, name: str | None = None, remarks: list[str] | None = None
    ) -> None:
        self.path = path
        with _opened(path) as archive:
            _refuse_merged(path, archive)
        with open_book(path, data_only=True) as book:
            sheet = _chosen(path, book, name, [] if remarks is None else remarks)
            self.title = sheet.title
            self.values: dict[Place, Any] = {
                at: cell.value
                for at, cell in sheet._cells.items()
                if cell.value is not None
            }
            self.first_of: dict[Place, Place] = {
                at: (area.min_row, area.min_col)
                for area in sheet.merged_cells.ranges
                for at in area.cells
            }

    def rows(self) -> Iterator[tuple[int, list[Any], list[Place]]]:
        """Read the rows that hold anything.

        Yields
        ------
        (int, list, list of (int, int))
            Number of the row, its cells and their places. Empty cells after the last
            column of the first row are left out.
        """
        last: dict[int, int] = {}
        for row, column in (*self.values, *self.first_of):
            last[row] = max(last.get(row, 0), column)
        n_cells = sum(last.values())
        if n_cells - 100 * len(self.values) > MOST_CELLS:
            raise FileError(
                f"{self.path}: its {len(self.values):,} cells are spread over "
                f"{n_cells:,} places; save the table alone, as .csv."
            )
        width = 0
        for row in sorted(last):
            places = [(row, at) for at in range(1, max(last[row], width) + 1)]
            cells = [_dated(self.values.get(self.first_of.get(x, x))) for x in places]
            while len(cells) > width and cells[-1] == "":
                cells.pop()
            if any(cell != "" for cell in cells):
                width = width or len(cells)
                yield row, cells, places[: len(cells)]


def sheet_rows(path: Path, name: str | None, remarks: list[str]) -> Callable[[], Rows]:
    """Open a sheet for reading.

    Parameters
    ----------
    path : Path
        The workbook.
    name : str or None
        The sheet; None for the first that is visible.
    remarks : list of str
        Where to say what was done about hidden sheets and merged cells.

    Returns
    -------
    callable
        Gives number and cells of every row.
    """
    with _opened(path) as archive:
        sheets = [x for x in archive.infolist() if "worksheets/" in x.filename]
        signs = [sign for sign in UNSEEN if _holds(archive, sheets, sign)]

    def streamed() -> Rows:
        with open_book(path, data_only=True, read_only=True) as book:
            sheet = _chosen(path, book, name, [])
            sheet.reset_dimensions()  # what the file says of them may be wrong
            width = 0
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                cells = [_dated(value) for value in row]
                while len(cells) > width and cells[-1] == "":
                    cells.pop()
                if any(cell != "" for cell in cells):
                    width = width or len(cells)
                    yield number, cells + [""] * (width - len(cells))

    if sum(part.file_size for part in sheets) > LARGE_BOOK:
        remarks += [f"{UNSEEN[sign]}, because the file is large" for sign in signs]
        with open_book(path, read_only=True) as book:
            _chosen(path, book, name, remarks)
        return streamed
    sheet = Sheet(path, name, remarks)
    if FORMULA in signs:
        with open_book(path) as book:
            cells = book[sheet.title]._cells
            empty = [
                cell.coordinate
                for at, cell in cells.items()
                if cell.data_type == "f" and at not in sheet.values
            ]
        if empty:
            raise FileError(
                f"{path}: {len(empty)} formulas have no stored value ({some(empty)}); "
                "open the file in Excel or LibreOffice and save it."
            )
    merged = sheet.first_of.items()
    n_filled = sum(at != first and first in sheet.values for at, first in merged)
    if n_filled:
        remarks.append(f"{n_filled} merged cells filled with their value")
    rows = [(number, cells) for number, cells, _ in sheet.rows()]
    return lambda: iter(rows)


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


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The members of a workbook, which together are no bomb."""
    check_is_file(path)
    with naming(path, DAMAGED, Exception), zipfile.ZipFile(path) as archive:
        refuse_bomb(path, sum(part.file_size for part in archive.infolist()))
        yield archive


def _refuse_merged(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse too many merged cells: openpyxl makes an object of each."""
    from openpyxl.utils.cell import range_boundaries

    n_merged = 0
    for part in archive.namelist():
        if "worksheets/" in part:
            for area in _AREA.findall(archive.read(part)):
                left, top, right, bottom = range_boundaries(area.decode())
                n_merged += (right - left + 1) * (bottom - top + 1)
    if n_merged > MOST_CELLS:
        raise FileError(
            f"{path}: has {n_merged:,} merged cells; unmerge those that are empty."
        )


def _holds(
    archive: zipfile.ZipFile, parts: Sequence[zipfile.ZipInfo], sign: bytes
) -> bool:
    """Whether one of the members of an archive holds some bytes."""
    for part in parts:
        with archive.open(part) as file:
            before = b""
            while chunk := file.read(CHUNK):
                if sign in before + chunk:
                    return True
                before = chunk[-len(sign) :]
    return False


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


def _dated(value: Any) -> Any:
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value.isoformat() if isinstance(value, time) else typed(value)
