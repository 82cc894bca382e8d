"""Excel workbooks (.xlsx) as tables of text cells, read row by row."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from phcle.contexts.labels import as_cell
from phcle.errors import FileError, did_you_mean, some
from phcle.files.reading import check_is_file, refuse_bomb


def sheet_rows(path: Path, sheet: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Read a sheet of a workbook as rows of text cells.

    Parameters
    ----------
    path : Path
        The workbook.
    sheet : str, optional
        Name of the sheet; by default the first.

    Yields
    ------
    (int, list of str)
        Number of the row and its cells; rows without any cell are left out. A formula
        gives the value that Excel computed last.
    """
    check_is_file(path)
    _refuse_bomb(path)
    try:
        import openpyxl
    except ImportError:
        raise FileError(
            f"{path}: reading Excel needs: pip install 'phcle[excel]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which do not matter here
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            names = book.sheetnames
            if sheet is not None and sheet not in names:
                raise FileError(
                    f"{path}: has no sheet {sheet!r}; it has {some(names)}."
                    f"{did_you_mean(sheet, names)}"
                )
            rows = book[sheet or names[0]].iter_rows(values_only=True)
            width = 0
            for number, row in enumerate(rows, 1):
                cells = [_as_cell(value) for value in row]
                while len(cells) > width and not cells[-1]:
                    cells.pop()
                if any(cells):
                    width = width or len(cells)
                    yield number, cells + [""] * (width - len(cells))
        finally:
            book.close()
    # openpyxl raises many kinds of errors for damaged files.
    except Exception as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"{path}: is not an Excel workbook (.xlsx), or it is damaged "
            f"({str(error)[:200] or type(error).__name__})."
        ) from error


def _refuse_bomb(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise FileError(
            f"{path}: is not an Excel workbook (.xlsx), or it is damaged; save it as "
            ".xlsx or .csv."
        ) from error
    refuse_bomb(path, unpacked)


def _as_cell(value: Any) -> str:
    """Convert a value to a text cell; whole numbers have no decimals.

    >>> [_as_cell(x) for x in (None, True, 2.0, 0.5, " word ", datetime(2021, 5, 3))]
    ['', 'true', '2', '0.5', 'word', '2021-05-03']
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return as_cell(value)
