"""Open a table of any format: its header, its rows, and what was found out about it.

Text tables are read row by row. Nothing is guessed silently: a `TableFile` collects
remarks (what was done) and faults (what is wrong), and raises all faults together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from phcle.contexts.match_report import SYNONYM_TITLES
from phcle.contexts.readers.delimited import (
    check_delimiter,
    delimited_rows,
    find_delimiter,
    text_lines,
)
from phcle.contexts.readers.file_arguments import SHEET
from phcle.contexts.readers.json_tables import json_rows, jsonl_rows
from phcle.contexts.readers.parquet import parquet_rows
from phcle.contexts.readers.source_files import FileSummary
from phcle.contexts.readers.spreadsheets import sheet_rows
from phcle.contexts.readers.text_encodings import (
    TextEncoding,
    check_encoding,
    find_encoding,
)
from phcle.contexts.unknown_markers import UnknownMarkers
from phcle.errors import FileError, FileFaults, some

MOST_FAULTS = 20
"""Faults of one file that a message lists. More do not help, and are only counted."""

SAMPLE = 200
"""Lines that are looked at to find the delimiter."""

RowSource = Callable[[], Iterator[tuple[int, list[str]]]]


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

    Examples
    --------
    >>> Reading(encoding="latin1", delimiter="tab")
    Reading(encoding='iso8859-1', delimiter='\t', na=(), keep_na=False)
    """

    encoding: str | None = None
    delimiter: str | None = None
    na: tuple[str, ...] = ()
    keep_na: bool = False

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", check_delimiter(self.delimiter))

    @property
    def markers(self) -> UnknownMarkers:
        """Which cells are unknown.

        Returns
        -------
        UnknownMarkers
            The usual markers unless `keep_na`, and those of `na`.
        """
        return UnknownMarkers(self.na, self.keep_na)


@dataclass(frozen=True)
class TextFormat:
    """How a table of text is written.

    Attributes
    ----------
    encoding : TextEncoding
        Its encoding.
    delimiter : str
        What separates its cells.
    skip : int
        Lines before the header: 1 for the line `sep=;` of Excel, otherwise 0.
    """

    encoding: TextEncoding
    delimiter: str
    skip: int = 0


def find_text_format(path: Path, reading: Reading | None = None) -> TextFormat:
    """Find out how a table of text is written.

    Parameters
    ----------
    path : Path
        The table.
    reading : Reading, optional
        What the user says about it.

    Returns
    -------
    TextFormat
        Encoding and delimiter.
    """
    reading = reading or Reading()
    encoding = find_encoding(path, reading.encoding)
    sample = list(islice(text_lines(path, encoding), SAMPLE))
    first = sample[0].rstrip("\r\n") if sample else ""
    skip = int(len(first) == 5 and first.lower().startswith("sep="))
    delimiter = reading.delimiter or (first[4] if skip else None)
    if delimiter is None:
        hint = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
        delimiter = find_delimiter(sample, hint=hint)
    return TextFormat(encoding, delimiter, skip)


@dataclass
class TableFile:
    """A table that is being read, with all that a reader finds out about it.

    Attributes
    ----------
    path : Path
        The file.
    reading : Reading
        How the user wants it to be read.
    source : callable
        Gives line and cells of every row, the header first.
    encoding : str or None
        Encoding of a text file.
    delimiter : str or None
        What separates the cells of a text file.
    header : list of str
        Titles of the columns. Columns without a title are left out, except the first.
    given_columns : mapping
        Titles by role, as the user gave them, such as `{"child": "job"}`.
    counted : str
        What places in the file are counted by: "line", "row" or "record".
    skip : int
        Lines before the header.
    remarks : list of str
        What was done, each as a short sentence without a full stop.
    column_types : dict
        What columns hold, by title.
    n_rows : int
        Rows that `rows` has given so far.
    """

    path: Path
    reading: Reading
    source: RowSource = field(repr=False)
    encoding: str | None = None
    delimiter: str | None = None
    given_columns: Mapping[str, str] = field(default_factory=dict)
    counted: str = "line"
    skip: int = 0
    header: list[str] = field(init=False)
    remarks: list[str] = field(default_factory=list)
    column_types: dict[str, str] = field(default_factory=dict)
    n_rows: int = 0

    def __post_init__(self) -> None:
        self._faults: dict[str, None] = {}
        self._n_more = 0
        line, titles = next(self.source(), (0, []))
        if not titles:
            raise FileError(f"{self.path}: is empty; a header and rows were expected.")
        self._width = len(titles)
        self._named = [i for i, title in enumerate(titles) if title or i == 0]
        self._top = line
        self.header = [titles[i] for i in self._named]
        repeated = sorted(x for x, n in Counter(self.header).items() if n > 1)
        if repeated:
            self.fault(line, f"two columns are called {some(repeated)}; rename one.")

    def titled(self, titles: Sequence[str]) -> TableFile:
        """Return the table with a header before its first line, which is a row.

        Parameters
        ----------
        titles : sequence of str
            The header.

        Returns
        -------
        TableFile
            The table with one row more.
        """
        header = (self._top, list(titles))
        return replace(self, source=lambda: chain([header], self.source()))

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
            raise FileFaults(list(self._faults), self._n_more)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Read the rows one by one; rows that are no rows become faults.

        Yields
        ------
        (int, list of str)
            Line and cells of each row, as many cells as `header` has. Call
            `raise_faults` afterwards.
        """
        self.n_rows = n_cut = 0
        rows = self.source()
        next(rows, None)
        unnamed = sorted(set(range(self._width)) - set(self._named))
        filled: dict[int, int] = {}
        try:
            for line, cells in rows:
                if len(cells) > self._width and not any(cells[self._width :]):
                    n_cut += 1
                    cells = cells[: self._width]
                self.n_rows += 1
                if len(cells) != self._width:
                    self.fault(
                        line,
                        f"has {len(cells)} cells, but the header has {self._width}; "
                        "quote a cell that holds the separator.",
                    )
                    continue
                for i in unnamed:
                    if cells[i]:
                        filled.setdefault(i, line)
                yield line, [cells[i] for i in self._named] if unnamed else cells
        except FileFaults:
            raise
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

    def summary(self, kind: str) -> FileSummary:
        """Say what was read, and how.

        Parameters
        ----------
        kind : str
            What the file was read as.

        Returns
        -------
        FileSummary
            The summary.
        """
        return FileSummary(
            self.path,
            kind,
            self.encoding,
            self.delimiter,
            self.n_rows,
            dict(self.column_types),
            tuple(self.remarks),
        )


def open_table(
    path: str | Path,
    reading: Reading | None = None,
    *,
    columns: Mapping[str, str] | None = None,
) -> TableFile:
    r"""Open a table: text with any delimiter, .xlsx, .json, .jsonl or .parquet.

    Parameters
    ----------
    path : str or Path
        The file.
    reading : Reading, optional
        How the user wants it to be read; by default all is found out.
    columns : mapping, optional
        Titles by role, as the user gave them. The role `sheet` names the sheet of a
        workbook, which otherwise is the first.

    Returns
    -------
    TableFile
        The table with its header. Rows are read when they are asked for.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "looks.csv"
    >>> _ = path.write_text("label;price\ncat;1,5\n")
    >>> table = open_table(path)
    >>> table.header, table.delimiter, list(table.rows())
    (['label', 'price'], ';', [(2, ['cat', '1,5'])])
    """
    path, reading, columns = Path(path), reading or Reading(), dict(columns or {})
    sheet = columns.pop(SHEET, None)
    sources: dict[str, tuple[RowSource, str]] = {
        # Row 0 is the header; a table without columns has none.
        ".parquet": (
            lambda: (x for x in enumerate(parquet_rows(path)) if any(x[1])),
            "row",
        ),
        ".xlsx": (lambda: sheet_rows(path, sheet), "row"),
        ".xlsm": (lambda: sheet_rows(path, sheet), "row"),
        ".json": (lambda: json_rows(path), "record"),
        ".jsonl": (lambda: jsonl_rows(path), "line"),
        ".ndjson": (lambda: jsonl_rows(path), "line"),
    }
    ending = path.suffix.lower()
    if ending in sources:
        source, counted = sources[ending]
        return TableFile(path, reading, source, given_columns=columns, counted=counted)
    if ending in (".xls", ".ods", ".numbers"):
        raise FileError(
            f"{path}: {ending} files are not read; save it as .xlsx or .csv."
        )
    form = find_text_format(path, reading)
    table = TableFile(
        path,
        reading,
        lambda: delimited_rows(path, form.encoding, form.delimiter, skip=form.skip),
        form.encoding.name,
        form.delimiter,
        columns,
        skip=form.skip,
    )
    if form.encoding.remark:
        table.remarks.append(form.encoding.remark)
    return table


def read_synonyms(
    path: str | Path, reading: Reading | None = None
) -> tuple[dict[str, str], FileSummary]:
    r"""Read a file of synonyms, such as `phcle fit` suggests.

    Parameters
    ----------
    path : str or Path
        A table with the columns `label` and `synonym`: the spelling to use, and the one
        that it replaces.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    synonyms : dict
        Label by synonym.
    summary : FileSummary
        What was read, and how.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "synonyms.csv"
    >>> _ = path.write_text("label,synonym\nBeds,Bedz\n")
    >>> read_synonyms(path)[0]
    {'Bedz': 'Beds'}
    """
    table = open_table(path, reading)
    titles = [title.lower() for title in table.header]
    if missing := [title for title in SYNONYM_TITLES if title not in titles]:
        table.fault(
            None,
            f"has no column {missing[0]!r}; a file of synonyms begins with the line "
            f"{','.join(SYNONYM_TITLES)}.",
        )
        table.raise_faults()
    label_at, other_at = (titles.index(title) for title in SYNONYM_TITLES)
    found: dict[str, str] = {}
    for line, cells in table.rows():
        label, other = cells[label_at], cells[other_at]
        if not label or not other:
            table.fault(line, "label or synonym is empty; fill it or remove the row.")
        elif found.setdefault(other, label) != label:
            table.fault(
                line,
                f"{other!r} is a synonym of {found[other]!r} already; remove one.",
            )
    table.raise_faults()
    return found, table.summary("synonyms")
