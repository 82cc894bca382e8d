"""Files as users write them: `tree.csv:child=job,parent=sector`, `book.xlsx#Prices`."""

from __future__ import annotations

from pathlib import Path

from phcle.files.reading import is_file

ROLES = {
    "hierarchy": ("child", "parent"),
    "edges": ("source", "target", "weight", "relation"),
    "annotations": ("item", "label"),
    "attributes": ("label",),
    "tags": ("label", "tag"),
    "texts": ("label", "text"),
    "sentences": ("label", "text"),
    "names": ("label", "name"),
}
"""Columns that each kind of table has."""

SHEET = "sheet"
"""Sheet of a workbook, which is named like a column or behind a `#`."""

LEVELS = "levels"
"""Columns of a lineage, from the labels up: `tree.csv:levels=species/genus/family`."""


def split_columns(kind: str, text: str | Path) -> tuple[Path, dict[str, str]]:
    r"""Split a path and the columns behind it.

    Parameters
    ----------
    kind : str
        Kind of the file, a key of `ROLES`. Other kinds have no columns.
    text : str or Path
        A path, or a path with columns. A file whose own name looks like that is a path.

    Returns
    -------
    path : Path
        The file.
    columns : dict
        Titles by role, and the sheet of a workbook.

    Examples
    --------
    >>> path, columns = split_columns("hierarchy", "tree.csv:child=job,parent=sector")
    >>> path.name, columns
    ('tree.csv', {'child': 'job', 'parent': 'sector'})
    >>> split_columns("hierarchy", r"C:\tree.csv")[1]
    {}
    >>> split_columns("hierarchy", "book.xlsx#Tree")[1]
    {'sheet': 'Tree'}
    """
    path, colon, columns = str(text).rpartition(":")
    if is_file(text):
        return Path(text), {}
    if not colon or not path:
        return _split_sheet(Path(text))
    found: dict[str, str] = {}
    roles = (*ROLES.get(kind, ()), *([LEVELS] if kind == "hierarchy" else []), SHEET)
    for piece in columns.split(","):
        role, equals, title = piece.partition("=")
        if equals and role.strip().lower() in roles:
            found[role.strip().lower()] = title.strip()
        elif found:  # a title that holds a comma
            last = next(reversed(found))
            found[last] += f",{piece}"
        else:
            return _split_sheet(Path(text))
    book, sheet = _split_sheet(Path(path))
    return book, {**sheet, **found}


def _split_sheet(path: Path) -> tuple[Path, dict[str, str]]:
    book, mark, sheet = str(path).rpartition("#")
    if mark and sheet and book.lower().endswith((".xlsx", ".xlsm")):
        return Path(book), {SHEET: sheet}
    return path, {}
