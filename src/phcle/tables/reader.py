"""One reader of tables: text, .xlsx, .json, .jsonl and .parquet to rows of cells.

Cells of text files are texts; those of other files keep the types that the file gives
them. Rows come one by one. Nothing is guessed silently: a `Table` collects remarks
(what was done) and faults (what is wrong), and raises all faults together.
"""

from __future__ import annotations

import csv
import json
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

from phcle.contexts.labels import as_cell, is_missing, normal
from phcle.errors import (
    ContextError,
    FileError,
    FileFaults,
    OptionError,
    did_you_mean,
    some,
)
from phcle.files.csv_text import unmarked
from phcle.files.reading import (
    CHUNK,
    check_is_file,
    check_parquet,
    naming,
    open_file,
    parse_json,
    refuse_bomb,
)
from phcle.files.text import holds_nul, not_utf8, read_text
from phcle.tables.cells import READ_AS, UnknownMarkers
from phcle.tables.columns import ColumnSummary
from phcle.tables.encodings import TextEncoding, check_encoding, find_encoding
from phcle.tables.file_kinds import SHEET
from phcle.tables.kinds import (
    SAMPLED_ROWS,
    TableSample,
    find_columns,
    find_label,
    find_levels,
    lacks_header,
    plain_title,
)

Rows = Iterator[tuple[int, list[Any]]]
RowSource = Callable[[], Rows]

MOST_FAULTS = 20
"""Faults of one file that a message lists. More do not help, and are only counted."""

SAMPLE = 200
"""Lines that are looked at to find the delimiter."""

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may separate cells, with its name. The first wins a tie."""

SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

REPEATS = ("mean", "first", "refuse")
"""What becomes of several rows of one label."""

BATCH = 16_384
"""Rows of a Parquet file that are decompressed at a time."""

LARGE_BOOK = 4 << 20
"""Bytes of unpacked sheets from which a workbook is read row by row, which knows
nothing of merged cells; smaller ones take up to 20 times as many bytes of memory."""

MOST_MERGED = 1_000_000
"""Cells that merged ranges may fill."""

MARK = "\ufeff"
"""A byte order mark, which some programs write before a text."""

UNSEEN = {
    b"<mergeCell ": "merged cells are not filled",
    b"<f": "formulas without a stored value are unknown",
}
"""What is not seen when a workbook is read row by row, by the sign of it."""

_MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_CELL = re.compile(rb'<c r="([A-Z]+)(\d+)"')
_FORMULA = re.compile(rb"<f[ >/]")


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

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", check_delimiter(self.delimiter))
        for title, how in self.read_as.items():
            if how not in READ_AS:
                raise OptionError(
                    f"--read {title}= must be one of {', '.join(READ_AS)}. Got {how!r} "
                    "instead."
                )
        if self.repeats not in REPEATS:
            raise OptionError(
                f"--repeats must be one of {', '.join(REPEATS)}. Got "
                f"{self.repeats!r} instead."
            )

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
    encoding : str or None
        Encoding of a text file.
    delimiter : str or None
        What separates the cells of a text file.
    given_columns : mapping
        Titles by role, as the user gave them, such as `{"child": "job"}`.
    counted : str
        What places in the file are counted by: "line", "row" or "record".
    header : list of str
        Titles of the columns. Columns without a title are left out, except the first.
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
    skip : int
        Lines before the header.
    """

    path: Path | str
    reading: Reading
    source: RowSource = field(repr=False)
    encoding: str | None = None
    delimiter: str | None = None
    given_columns: Mapping[str, str] = field(default_factory=dict)
    counted: str = "line"
    remarks: list[str] = field(default_factory=list)
    header: list[str] = field(init=False)
    columns: tuple[ColumnSummary, ...] = ()
    odd_cells: list[str] = field(default_factory=list)
    n_rows: int = 0
    first: list[str] = field(default_factory=list)
    skip: int = 0

    def __post_init__(self) -> None:
        self._faults: dict[str, None] = {}
        self._n_more = 0
        line, titles = next(self.source(), (0, []))
        if not titles:
            raise FileError(f"{self.path}: is empty; a header and rows were expected.")
        titles = [cell_text(title) for title in titles]
        self._titles = titles
        self._named = [i for i, title in enumerate(titles) if title or i == 0]
        self._top = line
        self.header = [titles[i] for i in self._named]
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
            Position in the header, by role.
        """
        file = self.path.name if isinstance(self.path, Path) else ""
        with self.naming():
            found = find_columns(
                kind, self.sample(), str(self.path), given=self.given_columns, file=file
            )
        if found.why:
            named = (f"{role} is {title!r}" for role, title in found.columns.items())
            self.remarks.append(", ".join(named))
        return {x: self.header.index(title) for x, title in found.columns.items()}

    def levels(self) -> list[int] | None:
        """Find the columns of a lineage, such as species, genus and family.

        Returns
        -------
        list of int or None
            Positions in the header, from the labels up; None if it is no lineage.
        """
        with self.naming():
            levels = find_levels(self.sample(), str(self.path), self.given_columns)
        if levels is not None and not self.given_columns:
            self.remarks.append(f"taken as a lineage: {' → '.join(levels)}")
        return None if levels is None else list(map(self.header.index, levels))

    def label_column(self) -> int:
        """Find the column of labels, which the user names, or titles and cells show.

        Returns
        -------
        int
            Its position in the header.
        """
        if self.given_columns:
            return self.columns_of("attributes")["label"]
        remedy = "labels={!r}."
        if isinstance(self.path, Path):
            remedy = f"--attributes {self.path.name}:label={{}}"
        with self.naming():
            found = find_label(self.sample().columns, str(self.path), remedy)
        at = self.header.index(found)
        if plain_title(found) != "label" and (at or not self.is_file):
            self.remarks.append(f"labels are in column {found!r}")
        return at

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Let an error about the columns of a file be one of the file.

        Yields
        ------
        None
            The body runs as usual.
        """
        try:
            yield
        except ContextError as error:
            if self.is_file:
                raise FileError(str(error)) from error
            raise

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
        width, first = len(self._titles), self._titles[0]
        rows = self.source()
        next(rows, None)
        unnamed = sorted(set(range(width)) - set(self._named))
        filled: dict[int, int] = {}
        try:
            for line, cells in rows:
                if len(cells) > width and not any(cells[width:]):
                    n_cut += 1
                    cells = cells[:width]
                if cells[0] == first and cells == self._titles and width > 1:
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
        self.count(n_headers, "repeated header{s} dropped")

    def texts(self) -> Iterator[tuple[int, list[str]]]:
        """Read the rows with all cells as texts, as labels and their names need them.

        Returns
        -------
        iterator of (int, list of str)
            Line and cells of each row.
        """
        if self.encoding is not None:  # a table of text
            return self.rows()
        return ((line, list(map(cell_text, cells))) for line, cells in self.rows())

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
    >>> table.header, table.delimiter, list(table.rows())
    (['label', 'price'], ';', [(2, ['cat', '1,5'])])
    """
    path, reading, columns = Path(path), reading or Reading(), dict(columns or {})
    sheet = columns.pop(SHEET, None)
    ending = path.suffix.lower()
    remarks: list[str] = []
    sources: dict[str, tuple[RowSource, str]] = {
        ".parquet": (lambda: _parquet_rows(path), "row"),
        ".json": (lambda: _json_rows(path), "record"),
        ".jsonl": (lambda: _jsonl_rows(path), "line"),
        ".ndjson": (lambda: _jsonl_rows(path), "line"),
    }
    if ending in (".xlsx", ".xlsm"):
        rows = _sheet_rows(path, sheet, remarks)
        sources[ending] = (rows, "row")
    if ending in sources:
        source, counted = sources[ending]
        table = Table(
            path,
            reading,
            source,
            given_columns=columns,
            counted=counted,
            remarks=remarks,
        )
        return table.with_titles() if ending.startswith(".xls") else table
    if ending in (".xls", ".ods", ".numbers"):
        raise FileError(
            f"{path}: {ending} files are not read; save it as .xlsx or .csv."
        )
    form = find_text_format(path, reading)
    if form.encoding.remark:
        remarks.append(form.encoding.remark)
    table = Table(
        path,
        reading,
        lambda: _text_rows(path, form),
        form.encoding.name,
        form.delimiter,
        columns,
        remarks=remarks,
        skip=form.skip,
    )
    return table.with_titles()


def cell_text(value: Any) -> str:
    """Return a cell as a text: a label, a title or a name.

    Parameters
    ----------
    value : object
        A cell of any type.

    Returns
    -------
    str
        The text; empty for an unknown cell. Whole numbers have no decimals.

    Examples
    --------
    >>> [cell_text(x) for x in (None, True, 2.0, 0.5, " word ", datetime(2021, 5, 3))]
    ['', 'true', '2', '0.5', 'word', '2021-05-03']
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return as_cell(value)


# Text


def text_lines(path: Path, encoding: TextEncoding) -> Iterator[str]:
    """Read a text file line by line.

    Parameters
    ----------
    path : Path
        The file.
    encoding : TextEncoding
        Its encoding. A byte order mark is dropped.

    Yields
    ------
    str
        Each line with its line end, in Unicode's normal form C.
    """
    line = 0
    with open_file(path) as raw, TextIOWrapper(raw, encoding.name, newline="") as file:
        try:
            for line, text in enumerate(file, 1):
                if "\0" in text:
                    raise holds_nul(path, line)
                if line == 1:
                    text = text.removeprefix(MARK)
                yield text if text.isascii() else normal(text)
        except UnicodeError as error:
            if encoding.name == "utf-8":
                read_text(path)  # names the line; the decoder here has read ahead
                raise not_utf8(path, line + 1) from error
            raise FileError(
                f"{path}: is not {encoding.name} text after line {line}; give "
                "another --encoding, or save the file as UTF-8."
            ) from error


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
        delimiter = _find_delimiter(sample, hint)
    return TextFormat(encoding, delimiter, skip)


def check_delimiter(text: str) -> str:
    r"""Return the character that a user means; refuse anything else.

    Parameters
    ----------
    text : str
        A character, or its name: `tab`, `\t`, `comma`, `semicolon`, `pipe`.

    Returns
    -------
    str
        The character.

    Examples
    --------
    >>> check_delimiter("tab")
    '\t'
    """
    found = SPELLED.get(text.lower(), text)
    if len(found) != 1 or found in '"\r\n' or found.isalnum():
        raise OptionError(
            f"--delimiter must be one character, such as ; or tab. Got {text!r} "
            "instead."
        )
    return found


def _find_delimiter(lines: Iterable[str], hint: str) -> str:
    """The delimiter that splits most rows into as many cells as the header."""
    known = [line for line in lines if line.strip()]
    order = [hint, *(x for x in DELIMITERS if x != hint)]
    return max(order, key=lambda delimiter: _fit(known, delimiter))


def _fit(lines: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """Whether a delimiter splits the header, the share of rows as wide, the width."""
    try:
        reader = csv.reader(iter(lines), delimiter=delimiter)
        header = next(reader, [])
        widths = [len(row) for row in reader if row]
    except csv.Error:
        return False, 0.0, 0
    alike = sum(width == len(header) for width in widths)
    # Shares are compared in steps: one odd row in a long table tells nothing.
    share = round(alike / max(len(widths), 1), 1)
    return len(header) > 1, share, len(header)


def _text_rows(path: Path, form: TextFormat) -> Rows:
    """Rows of a table of text, whose quoted cells may hold line ends.

    The standard library's reader is used because it alone refuses an open quote.
    """
    lines = text_lines(path, form.encoding)
    for _ in range(form.skip):
        next(lines, "")
    reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
    line = form.skip + 1
    try:
        for row in reader:
            cells = list(map(str.strip, row))
            text = "".join(cells)
            if "'" in text:
                cells = [unmarked(cell).strip() for cell in cells]
            if text:
                yield line, cells
            line = form.skip + reader.line_num + 1
    except csv.Error as error:
        reason = (
            f"is not a row of a table ({error}); is a quotation mark missing, or one "
            "too many?"
        )
        if "field limit" in str(error):
            reason = (
                f"has a cell of more than {csv.field_size_limit():,} characters; "
                "shorten it. Or is a quotation mark missing?"
            )
        raise FileError(f"{path}, line {line}: {reason}") from error


# JSON

FORMS = (
    'a list of records, such as [{"label": "cat", "kg": 4}], or records by label, such '
    'as {"cat": {"kg": 4}}'
)


def _json_rows(path: Path) -> Rows:
    """Rows of a list of records, or of an object with a record for each label."""
    content = parse_json(read_text(path), str(path))
    if isinstance(content, dict):
        records = _by_label(content)
    elif isinstance(content, list):
        records = list(enumerate(content, 1))
    else:
        raise FileError(f"{path}: must hold {FORMS}.")
    for number, record in records:
        _check_record(path, number, record, "record")
    titles = dict.fromkeys(title for _, own in records for title in own)
    return _record_rows(path, records, list(titles))


def _jsonl_rows(path: Path) -> Rows:
    """Rows of a file with one record per line, which is read twice."""
    titles: dict[str, None] = {}
    for _, record in _lines_of_records(path):
        titles.update(dict.fromkeys(record))
    return _record_rows(path, _lines_of_records(path), list(titles))


def _lines_of_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(text_lines(path, TextEncoding("utf-8")), 1):
        if text.strip():
            record = parse_json(text, f"{path}, line {line}")
            _check_record(path, line, record, "line")
            yield line, record


def _by_label(content: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """Records with the label as their first cell."""
    records: list[tuple[int, Any]] = []
    for number, (label, value) in enumerate(content.items(), 1):
        if isinstance(value, dict):
            records.append((number, {"label": label, **value}))
        elif isinstance(value, list):  # tags of the label
            many = [{"label": label, "value": x} for x in value or [None]]
            records += [(number, record) for record in many]
        else:
            records.append((number, {"label": label, "value": value}))
    return records


def _check_record(path: Path, number: int, record: Any, counted: str) -> None:
    if not isinstance(record, dict):
        raise FileError(
            f"{path}, {counted} {number}: must be a record. Got "
            f"{json.dumps(record)[:40]} instead; a file holds {FORMS}."
        )


def _record_rows(
    path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], titles: list[str]
) -> Rows:
    if titles:
        yield 0, [normal(title).strip() for title in titles]
    for number, record in records:
        cells = []
        for title in titles:
            value = record.get(title)
            if isinstance(value, (list, dict)):
                raise FileError(
                    f"{path}, record {number}: {title!r} holds "
                    f"{json.dumps(value)[:40]}; give one text or number per cell."
                )
            cells.append(typed(value))
        if any(cell != "" for cell in cells):
            yield number, cells


def typed(value: Any) -> Any:
    """Return a cell with the type that it has; unknown ones are empty texts.

    Parameters
    ----------
    value : object
        A value of a file or data frame.

    Returns
    -------
    object
        The cell.
    """
    if isinstance(value, str):
        return normal(value).strip()
    return "" if is_missing(value) else value


# Parquet


def _parquet_rows(path: Path) -> Rows:
    """Rows of a Parquet file, batch by batch; row 0 is the header."""
    check_parquet(path)
    import pyarrow.parquet as pq

    damaged = "is not a Parquet file, or it is damaged"
    with naming(path, damaged, Exception), pq.ParquetFile(path) as file:
        names = [normal(name).strip() for name in file.schema_arrow.names]
        if not any(names):
            return
        yield 0, list(names)
        n_before = 0
        for batch in file.iter_batches(BATCH):
            columns = (column.to_pylist() for column in batch.columns)
            for number, row in enumerate(zip(*columns, strict=True), n_before + 1):
                cells = [
                    _simple(path, name, value)
                    for name, value in zip(names, row, strict=True)
                ]
                if any(cell != "" for cell in cells):
                    yield number, cells
            n_before += batch.num_rows


def _simple(path: Path, column: str, value: Any) -> Any:
    if isinstance(value, (list, dict, bytes)):
        raise FileError(
            f"{path}: column {column!r} holds {type(value).__name__} values, such as "
            f"{str(value)[:40]}; give one text or number per cell."
        )
    return typed(value)


# Excel

DAMAGED = "is not an Excel workbook (.xlsx), or it is damaged; save it as .xlsx or .csv"


def _sheet_rows(path: Path, sheet: str | None, remarks: list[str]) -> RowSource:
    """Rows of a sheet; what was done about hidden sheets and merged cells is said."""
    check_is_file(path)
    with naming(path, DAMAGED, Exception), zipfile.ZipFile(path) as archive:
        refuse_bomb(path, sum(part.file_size for part in archive.infolist()))
        sheets = [x for x in archive.infolist() if "worksheets/" in x.filename]
        is_large = sum(part.file_size for part in sheets) > LARGE_BOOK
        contents = [] if is_large else [archive.read(part) for part in sheets]
        signs = [x for x in UNSEEN if is_large and _holds(archive, sheets, x)]
    with naming(path, DAMAGED, Exception):
        _refuse_spread(path, contents)

    def streamed() -> Rows:
        with _book(path, data_only=True, read_only=True) as book:
            chosen = _visible(path, book, sheet, remarks)
            chosen.reset_dimensions()  # what the file says of them may be wrong
            yield from _trimmed(chosen.iter_rows(values_only=True))

    if is_large:
        remarks += [f"{UNSEEN[sign]}, because the file is large" for sign in signs]
        return streamed
    with _book(path, data_only=True, read_only=False) as book:
        chosen = _visible(path, book, sheet, remarks)
        if any(_FORMULA.search(content) for content in contents):
            with _book(path, data_only=False, read_only=False) as formulas:
                _refuse_unstored(path, chosen, formulas[chosen.title])
        merged = _merged_cells(chosen)
        if merged:
            remarks.append(f"{len(merged)} merged cells filled with their value")
        rows = list(
            _trimmed(
                [merged.get((cell.row, cell.column), cell.value) for cell in row]
                for row in chosen.iter_rows()
            )
        )
    return lambda: iter(rows)


def _holds(
    archive: zipfile.ZipFile, parts: Iterable[zipfile.ZipInfo], sign: bytes
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


@contextmanager
def _book(path: Path, *, data_only: bool, read_only: bool) -> Iterator[Any]:
    import openpyxl

    # openpyxl raises many kinds of errors for damaged files.
    with naming(path, DAMAGED, Exception):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which do not matter here
            book = openpyxl.load_workbook(
                path, read_only=read_only, data_only=data_only
            )
        try:
            yield book
        finally:
            book.close()


def _visible(path: Path, book: Any, sheet: str | None, remarks: list[str]) -> Any:
    """The sheet that the user names, or the first that is not hidden."""
    found = {each.title: each for each in book.worksheets}
    if sheet is not None:
        if sheet not in found:
            raise FileError(
                f"{path}: has no sheet {sheet!r}; it has {some(found)}."
                f"{did_you_mean(sheet, found)}"
            )
        return found[sheet]
    visible = [x for x, own in found.items() if own.sheet_state == "visible"]
    if not visible:
        raise FileError(
            f"{path}: all sheets are hidden ({some(found)}); name one: "
            f"{path.name}#SHEET"
        )
    others = [x for x in found if x != visible[0]]
    if others:
        _remark(remarks, f"sheet {visible[0]!r} read, and not {some(others)}")
    return found[visible[0]]


def _remark(remarks: list[str], text: str) -> None:
    if text not in remarks:
        remarks.append(text)


def _refuse_spread(path: Path, contents: Iterable[bytes]) -> None:
    """Refuse a few cells so far apart that the cells between would fill the memory."""
    from openpyxl.utils import column_index_from_string as number

    for content in contents:
        merged = sum(
            (number(right.decode()) - number(left.decode()) + 1)
            * (int(low) - int(top) + 1)
            for left, top, right, low in _MERGED.findall(content)
        )
        places = _CELL.findall(content)
        rows = max((int(row) for _, row in places), default=0)
        columns = max((number(x.decode()) for x, _ in places), default=0)
        if max(merged, rows * columns - 100 * len(places)) > MOST_MERGED:
            raise FileError(
                f"{path}: its {len(places):,} cells are spread over {rows:,} rows and "
                f"{columns:,} columns; save the table alone, as .csv."
            )


def _merged_cells(sheet: Any) -> dict[tuple[int, int], Any]:
    """The value of every merged cell but the first, which has it."""
    found = {}
    for merged in sheet.merged_cells.ranges:
        value = sheet.cell(merged.min_row, merged.min_col).value
        if value is not None:
            found.update(dict.fromkeys(list(merged.cells)[1:], value))
    return found


def _refuse_unstored(path: Path, values: Any, formulas: Any) -> None:
    """Refuse formulas whose value the program that wrote the file did not compute."""
    empty = [
        cell.coordinate
        for row in formulas.iter_rows()
        for cell in row
        if cell.data_type == "f" and values[cell.coordinate].value is None
    ]
    if empty:
        raise FileError(
            f"{path}: {len(empty)} formulas have no stored value ({some(empty)}); open "
            "the file in Excel or LibreOffice and save it."
        )


def _trimmed(grid: Iterable[Iterable[Any]]) -> Rows:
    """Rows with a cell in them, without empty cells after the last column."""
    width = 0
    for number, row in enumerate(grid, 1):
        cells = [_dated(value) for value in row]
        while len(cells) > width and cells[-1] == "":
            cells.pop()
        if any(cell != "" for cell in cells):
            width = width or len(cells)
            yield number, cells + [""] * (width - len(cells))


def _dated(value: Any) -> Any:
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value.isoformat() if isinstance(value, time) else typed(value)
