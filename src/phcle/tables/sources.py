"""What a fit was made from: the hash of every file, and the faults of all files.

Every file is hashed when it is read. A fit can therefore say what it was made from,
even if the files are changed or removed before it ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from phcle.errors import ContextError, FileError, FileFaults
from phcle.files.reading import check_is_file, opened
from phcle.tables.columns import ColumnSummary
from phcle.tables.file_kinds import ContextFile
from phcle.tables.reader import DELIMITERS, Table

COLUMNS = 12
"""Columns whose reading the first lines of a fit tell; `phcle check` has all."""


@dataclass(frozen=True)
class SourceFile:
    """What was read: one file as it was at that moment.

    Attributes
    ----------
    kind : str
        A key of `FILE_KINDS`, or "labels" or "names".
    name : str
        Name of the context; "labels" and "names" for these two files.
    path : Path
        The file.
    sha256 : str
        SHA-256 of its bytes, in hexadecimal digits.
    size : int
        Its size in bytes.
    """

    kind: str
    name: str
    path: Path
    sha256: str
    size: int

    def to_dict(self) -> dict[str, str]:
        """Return what an embedding stores about the file.

        The folder is left out, because it may reveal more about a machine than its
        owner wants.

        Returns
        -------
        dict
            Flag of the command line, context name, file name and hash.
        """
        return {
            "flag": self.kind,
            "name": self.name,
            "file": self.path.name,
            "sha256": self.sha256,
        }


@contextmanager
def errors_name(source: object) -> Iterator[None]:
    """Put the name of a file before the errors of the contexts that are read from it.

    Parameters
    ----------
    source : object
        Path of the file. Anything else, such as a graph, has no name.

    Yields
    ------
    None
        Any `ContextError` of the `with` block names the file.

    Examples
    --------
    >>> with errors_name("tree.csv"):
    ...     raise ContextError("context 'tree' is empty.")
    Traceback (most recent call last):
    phcle.errors.ContextError: tree.csv: context 'tree' is empty.
    """
    try:
        yield
    except ContextError as error:
        if not isinstance(source, (str, Path)) or str(source) in str(error):
            raise
        raise ContextError(f"{source}: {error}") from error


class CollectedFaults:
    """The faults of several files, which are raised together.

    Attributes
    ----------
    errors : dict
        The error of each file that has one.
    """

    def __init__(self) -> None:
        self.errors: dict[Path, ContextError | FileError] = {}

    @contextmanager
    def collected(self, path: Path) -> Iterator[None]:
        """Keep an error of the `with` block for later.

        Parameters
        ----------
        path : Path
            The file that is read.

        Yields
        ------
        None
            Errors of contexts and files are kept.
        """
        try:
            yield
        except (ContextError, FileError) as error:
            self.errors[path] = error

    def of(self, path: Path) -> tuple[str, ...]:
        """Return all that is wrong with a file.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        tuple of str
            The faults, each with its line; empty if there is none.
        """
        error = self.errors.get(path)
        if isinstance(error, FileFaults):
            more = [f"and {error.n_more} more faults."] if error.n_more else []
            return (*error.faults, *more)
        return () if error is None else (str(error),)

    def raise_all(self) -> None:
        """Raise one error as it is, and several as one."""
        if len(self.errors) == 1:
            raise next(iter(self.errors.values()))
        if self.errors:
            raise FileFaults(list(chain.from_iterable(map(self.of, self.errors))))


@contextmanager
def recorded(file: ContextFile, sources: list[SourceFile]) -> Iterator[None]:
    """Record the hash of a file around its reading.

    A file that changes while it is read is refused, so the hash is always that of what
    was read.

    Parameters
    ----------
    file : ContextFile
        The file that is read inside the `with` block.
    sources : list of SourceFile
        Where the record is added.

    Returns
    -------
    context manager
        For the `with` block that reads the file.
    """
    path = file.path
    with opened(path) as content:
        before = path.stat()
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    yield
    check_is_file(path)
    after = path.stat()
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise FileError(f"{path}: changed while it was read; try again.")
    sources.append(SourceFile(file.kind, file.name, path, digest, before.st_size))


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
    columns : tuple of ColumnSummary
        How each column was read.
    remarks : tuple of str
        What was guessed or changed, each as a short sentence without a full stop.
    odd_cells : tuple of str
        Cells that are not what nearly all others of their column are, with places.

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
    columns: tuple[ColumnSummary, ...] = ()
    remarks: tuple[str, ...] = ()
    odd_cells: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, kind: str) -> FileSummary:
        """Say what was read from a table.

        Parameters
        ----------
        table : Table
            The table, of which all rows were read.
        kind : str
            What it was read as.

        Returns
        -------
        FileSummary
            The summary.
        """
        return cls(
            Path(table.path),
            kind,
            table.encoding,
            table.delimiter,
            table.n_rows,
            table.columns,
            tuple(table.remarks),
            tuple(table.odd_cells),
        )

    @property
    def column_line(self) -> str:
        """How the first columns were read, in one line.

        Returns
        -------
        str
            Each with two cells where text became a number, a date or a truth value;
            empty for a file without such columns.
        """
        said = []
        for column in self.columns:
            examples = f" ({', '.join(column.examples)})" if column.examples else ""
            said.append(f"{column.title}: {column.holds}{examples}")
        return f"{self.path.name}: {first_few(said, COLUMNS)}" if said else ""

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
