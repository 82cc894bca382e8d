"""What a reader says about a file: what it was taken to be, and what was done to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from phcle.contexts.readers.delimited import DELIMITERS


@dataclass(frozen=True)
class FileSummary:
    """What was read from one file, and how.

    Attributes
    ----------
    path : Path
        The file.
    kind : str
        What the file was read as, such as "hierarchy" or "attributes".
    encoding : str or None
        Encoding of a text file.
    delimiter : str or None
        What separates the cells of a table of text.
    n_rows : int or None
        Rows of a table, without its header; None if the file is no table.
    columns : mapping
        What each column holds, by its title, such as "number" or "category".
    remarks : tuple of str
        What was guessed or changed, each as a short sentence without a full stop.

    Examples
    --------
    >>> remarks = ("2 identical rows dropped",)
    >>> FileSummary(Path("looks.csv"), "attributes", "cp1252", ";", 9, {}, remarks).line
    'looks.csv: attributes, 9 rows, cp1252, semicolons; 2 identical rows dropped'
    """

    path: Path
    kind: str
    encoding: str | None = None
    delimiter: str | None = None
    n_rows: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The summary in one line; UTF-8 and commas go without saying.

        Returns
        -------
        str
            File, kind, rows, encoding, delimiter and remarks.
        """
        parts = [self.kind]
        if self.n_rows is not None:
            parts.append(f"{self.n_rows:,} row{'' if self.n_rows == 1 else 's'}")
        if self.encoding not in (None, "utf-8"):
            parts.append(str(self.encoding))
        if self.delimiter not in (None, ","):
            parts.append(DELIMITERS.get(self.delimiter or "", repr(self.delimiter)))
        return "; ".join([f"{self.path.name}: {', '.join(parts)}", *self.remarks])


def first_few(items: Sequence[str], most: int = 5) -> str:
    """List the first few of many parts of a remark.

    Parameters
    ----------
    items : sequence of str
        The parts.
    most : int, default 5
        How many to list.

    Returns
    -------
    str
        The parts, and how many more there are.

    Examples
    --------
    >>> first_few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
