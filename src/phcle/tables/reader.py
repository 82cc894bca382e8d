"""One reader of tables: text, .xlsx, .json, .jsonl and .parquet to rows of cells.

Cells of text files are texts; those of other files keep the types that the file gives
them. Rows come one by one. Nothing is guessed silently: a `Table` collects remarks
(what was done) and faults (what is wrong), and raises all faults together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from phcle.errors import (
    ContextError,
    FileError,
    FileFaults,
    check_choice,
    some,
)
from phcle.tables.cells import READ_AS, UnknownMarkers, cell_text
from phcle.tables.columns import ColumnSummary
from phcle.tables.file_kinds import BOOKS, SHEET
from phcle.tables.kinds import (
    SAMPLED_ROWS,
    TableSample,
    find_columns,
    lacks_header,
)
from phcle.tables.sources import (
    SAMPLE,
    TYPED,
    Rows,
    RowSource,
    TextFormat,
    book_rows,
    check_delimiter,
    check_encoding,
    find_text_format,
    text_rows,
)

MOST_FAULTS = 20
"""Faults of one file that a message lists. More do not help, and are only counted."""

REPEATS = ("mean", "first", "refuse")
"""What becomes of several rows of one label."""


@dataclass(frozen=True)
class Reading:
    r"""How the user wants files to be read.

    Attributes
    ----------
    encoding : str or None
        Encoding of all text files; None: find it out.
    delimiter : str or None
        What separates cells; None: find it out.
    na : tuple of str
        Further texts that mark a cell as unknown.
    keep_na : bool
        Take the usual markers, such as NA, for ordinary texts.
    read_as : mapping from str to str
        How columns are to be read, by title, such as `{"zip": "text"}`; a value of
        `READ_AS`. Columns that a file lacks are ignored.
    repeats : {"mean", "first", "refuse"}
        What becomes of several rows of one label: the mean of their numbers and the
        most frequent of their categories, the first row, or an error.
    hierarchy_kind : str
        How a taxonomy relates its labels.
    role : str
        What the fit makes of a taxonomy.
    language : str
        Language of names and texts in vocabularies and ontologies.
    min_count : int
        Words in fewer texts are left out.

    Examples
    --------
    >>> Reading(encoding="latin1", delimiter="tab").delimiter
    '\t'
    """

    encoding: str | None = None
    delimiter: str | None = None
    na: tuple[str, ...] = ()
    keep_na: bool = False
    read_as: Mapping[str, str] = field(default_factory=dict)
    repeats: str = "mean"
    hierarchy_kind: str = "ancestors"
    role: str = "auto"
    language: str = "en"
    min_count: int = 2

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", check_delimiter(self.delimiter))
        for title, how in self.read_as.items():
            check_choice(f"--read {title}=", how, READ_AS)
        check_choice("--repeats", self.repeats, REPEATS)

    @property
    def markers(self) -> UnknownMarkers:
        """Which cells are unknown.

        Returns
        -------
        UnknownMarkers
            The usual markers unless `keep_na`, and those of `na`.
        """
        return UnknownMarkers(self.na, self.keep_na)


@dataclass
class Table:
    """A table that is being read, with all that a reader finds out about it.

    Attributes
    ----------
    path : Path or str
        The file, or what messages call a data frame.
    reading : Reading
        How the user wants it to be read.
    source : callable
        Gives line and cells of every row, the header first.
    form : TextFormat or None
        How a text file is written.
    given_columns : mapping
        Titles by role, as the user gave them, such as `{"child": "job"}`.
    counted : str
        What places in the file are counted by: "line", "row" or "record".
    header : list of str
        Titles of the columns. Columns without a title are left out, except the first.
    places : list of int
        Positions of these columns in the file.
    remarks : list of str
        What was done, each as a short sentence without a full stop.
    columns : tuple of ColumnSummary
        How columns were read.
    odd_cells : list of str
        Cells that are not what nearly all others of their column are.
    n_rows : int
        Rows that `rows` has given so far.
    first : list of str
        The first line of a table without a header; otherwise empty.
    """

    path: Path | str
    reading: Reading
    source: RowSource = field(repr=False)
    form: TextFormat | None = None
    given_columns: Mapping[str, str] = field(default_factory=dict)
    counted: str = "line"
    remarks: list[str] = field(default_factory=list)
    header: list[str] = field(init=False)
    places: list[int] = field(init=False)
    columns: tuple[ColumnSummary, ...] = ()
    odd_cells: list[str] = field(default_factory=list)
    n_rows: int = 0
    first: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._faults: dict[str, None] = {}
        self._n_more = 0
        line, titles = next(self.source(), (0, []))
        if not titles:
            raise FileError(f"{self.path}: is empty; a header and rows were expected.")
        titles = [cell_text(title) for title in titles]
        self._titles = titles
        self.places = [i for i, title in enumerate(titles) if title or i == 0]
        self._top = line
        self.header = [titles[i] for i in self.places]
        repeated = sorted(x for x, n in Counter(self.header).items() if n > 1)
        if repeated:
            self.fault(line, f"two columns are called {some(repeated)}; rename one.")

    def with_titles(self) -> Table:
        """Return the table with titles above its first line, if that is a row.

        Returns
        -------
        Table
            This table, or one that has a row more.
        """
        rows = [cells for _, cells in islice(self.source(), 1, 1 + SAMPLE)]
        is_named = any(x in self.header for x in self.given_columns.values())
        if is_named or not lacks_header(self._titles, rows):
            return self
        titles = [f"column {i}" for i in range(1, len(self._titles) + 1)]
        header = (self._top, titles)
        remark = f"no header, so the columns are called {titles[0]!r} and so on"
        return replace(
            self,
            source=lambda: chain([header], self.source()),
            remarks=[*self.remarks, remark],
            first=self._titles,
        )

    def sample(self) -> TableSample:
        """Return the beginning of the table, for guesses.

        Returns
        -------
        TableSample
            Titles and the first rows.
        """
        before = self._faults.copy(), self._n_more, self.remarks.copy()
        rows = [cells for _, cells in islice(self.rows(), SAMPLED_ROWS)]
        # What is wrong with these rows is said when all of them are read.
        self._faults, self._n_more, self.remarks = before
        return TableSample(self.header, rows, not self.first, self.first)

    @property
    def is_file(self) -> bool:
        """Whether the table is a file, and no data frame."""
        return isinstance(self.path, Path)

    def columns_of(self, kind: str) -> dict[str, int]:
        """Find the columns that a kind of table needs; a guess is a remark.

        Parameters
        ----------
        kind : str
            A key of `ROLES`.

        Returns
        -------
        dict
            Position in the header, by role; of a lineage by its levels.
        """
        file = self.path.name if isinstance(self.path, Path) else ""
        try:
            found = find_columns(
                kind, self.sample(), str(self.path), given=self.given_columns, file=file
            )
        except ContextError as error:
            raise (FileError(str(error)) if file else error) from error
        self.remarks += [found.why] * bool(found.why)
        return {x: self.header.index(title) for x, title in found.columns.items()}

    def where(self, line: int) -> str:
        """Name a place in the file, for messages.

        Parameters
        ----------
        line : int
            The line; in files without lines the number of the row.

        Returns
        -------
        str
            Such as "tree.csv, line 3".
        """
        return f"{self.path}, {self.counted} {line}"

    def fault(self, line: int | None, text: str) -> None:
        """Record that something is wrong; `raise_faults` raises it.

        Parameters
        ----------
        line : int or None
            Where; None for the whole file.
        text : str
            What is wrong and what to do.
        """
        place = self.path if line is None else self.where(line)
        message = f"{place}: {text}"
        if message in self._faults:
            return
        if len(self._faults) < MOST_FAULTS:
            self._faults[message] = None
        else:
            self._n_more += 1

    def raise_faults(self) -> None:
        """Raise all recorded faults as one error; do nothing if there are none."""
        if self._faults:
            found = FileFaults(list(self._faults), self._n_more)
            raise found if self.is_file else ContextError(str(found))

    def rows(self) -> Rows:
        """Read the rows one by one; rows that are no rows become faults.

        Yields
        ------
        (int, list)
            Line and cells of each row, as many cells as `header` has; unknown cells
            are empty texts. Call `raise_faults` afterwards.
        """
        self.n_rows = n_cut = n_headers = 0
        width = len(self._titles)
        rows = self.source()
        next(rows, None)
        unnamed = sorted(set(range(width)) - set(self.places))
        filled: dict[int, int] = {}
        try:
            for line, cells in rows:
                if len(cells) > width and not any(cells[width:]):
                    n_cut += 1
                    cells = cells[:width]
                if cells == self._titles and width > 1:
                    n_headers += 1
                    continue
                self.n_rows += 1
                if len(cells) != width:
                    self.fault(
                        line,
                        f"has {len(cells)} cells, but the header has {width}; "
                        "quote a cell that holds the separator.",
                    )
                    continue
                for i in unnamed:
                    if cells[i] != "":
                        filled.setdefault(i, line)
                yield line, [cells[i] for i in self.places] if unnamed else cells
        except FileError as error:  # nothing after this place can be read
            self._faults[str(error)] = None
            return
        for i, line in filled.items():
            self.fault(
                self._top,
                f"column {i + 1} has no name, but {self.counted} {line} has a cell in "
                "it; every column but the first needs a name.",
            )
        if not self.n_rows:
            self.fault(None, "has a header but no rows; add some.")
        self.count(len(unnamed) - len(filled), "empty column{s} dropped")
        self.count(n_cut, "row{s} cut: cells after the last column were empty")
        self.count(n_headers, "repeated header{s} dropped")

    @property
    def as_text(self) -> Callable[[Any], str]:
        """What makes a text of a cell, as labels and their names need it."""
        return cell_text if self.form is None else str

    def texts(self) -> Iterator[tuple[int, list[str]]]:
        """Read the rows with all cells as texts.

        Returns
        -------
        iterator of (int, list of str)
            Line and cells of each row.
        """
        return ((line, list(map(self.as_text, cells))) for line, cells in self.rows())

    def count(self, n: int, text: str) -> None:
        """Remark how often something was done, unless it never was.

        Parameters
        ----------
        n : int
            How often.
        text : str
            What was done; `{s}` stands where a plural has an s.
        """
        remark = f"{n} {text.format(s='s' if n > 1 else '')}"
        if n > 0 and remark not in self.remarks:
            self.remarks.append(remark)


def open_table(
    path: str | Path,
    reading: Reading | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> Table:
    r"""Open a table: text with any delimiter, .xlsx, .json, .jsonl or .parquet.

    Parameters
    ----------
    path : str or Path
        The file.
    reading : Reading, optional
        How the user wants it to be read; by default all is found out.
    columns : mapping, optional
        Titles by role, as the user gave them. The role `sheet` names the sheet of a
        workbook, which otherwise is the first that is visible.

    Returns
    -------
    Table
        The table with its header. Rows are read when they are asked for.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "looks.csv"
    >>> _ = path.write_text("label;price\ncat;1,5\n")
    >>> table = open_table(path)
    >>> table.header, table.form.delimiter, list(table.rows())
    (['label', 'price'], ';', [(2, ['cat', '1,5'])])
    """
    path, reading, given = Path(path), reading or Reading(), dict(columns or {})
    sheet = given.pop(SHEET, None)
    ending = path.suffix.lower()
    if ending in (".xls", ".ods", ".numbers"):
        raise FileError(
            f"{path}: {ending} files are not read; save it as .xlsx or .csv."
        )
    remarks: list[str] = []
    if ending in BOOKS:
        counted, form = "row", None
        rows = book_rows(path, sheet, remarks)
    elif ending in TYPED:
        read, counted = TYPED[ending]
        return Table(path, reading, partial(read, path), None, given, counted)
    else:
        counted = "line"
        form = find_text_format(path, reading.encoding, reading.delimiter)
        remarks += filter(None, [form.encoding.remark])
        rows = partial(text_rows, path, form)
    return Table(path, reading, rows, form, given, counted, remarks).with_titles()


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
