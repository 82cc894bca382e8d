"""One reader of tables: files and data frames to rows of cells, and to rows of labels.

Cells of text files are texts; those of other files keep the types that the file gives
them. Rows come one by one. Nothing is guessed silently: a `Table` collects remarks
(what was done) and faults (what is wrong), and raises all faults together.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from phcle.contexts.labels import as_label, is_missing
from phcle.errors import (
    ContextError,
    FileError,
    FileFaults,
    GuessWarning,
    check_choice,
    some,
)
from phcle.tables.cells import READ_AS, UnknownMarkers, cell_text, first_few, typed
from phcle.tables.columns import read_column
from phcle.tables.file_kinds import BOOKS, SHEET, FileSummary
from phcle.tables.kinds import (
    NEEDED,
    SAMPLED_ROWS,
    Column,
    TableSample,
    columns_of,
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
    summary : FileSummary
        How it was read, with these remarks.
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
    summary: FileSummary = field(init=False)
    first: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._faults: dict[str, None] = {}
        self._n_more = 0
        self.summary = FileSummary(Path(self.path), remarks=self.remarks)
        if self.form is not None:
            self.summary.encoding = self.form.encoding
            self.summary.delimiter = self.form.delimiter
        self._top, titles = next(self.source(), (0, []))
        if not titles:
            raise FileError(f"{self.path}: is empty; a header and rows were expected.")
        self._titles = list(map(cell_text, titles))
        self.places = [i for i, title in enumerate(self._titles) if title or i == 0]
        self.header = [self._titles[i] for i in self.places]
        repeated = sorted(x for x, n in Counter(self.header).items() if n > 1)
        if repeated:
            self.fault(
                self._top, f"two columns are called {some(repeated)}; rename one."
            )

    def with_titles(self) -> Table:
        """Return the table with titles above its first line, if that is a row.

        Returns
        -------
        Table
            This table, or one that has a row more.
        """
        rows = [cells for _, cells in islice(self.source(), 1, 1 + SAMPLE)]
        is_named = not set(self.header).isdisjoint(self.given_columns.values())
        if is_named or not lacks_header(self._titles, rows):
            return self
        titles = [f"column {i}" for i in range(1, len(self._titles) + 1)]
        header, lines = (self._top, titles), self.source
        remark = f"no header, so the columns are called {titles[0]!r} and so on"
        return replace(
            self,
            source=lambda: chain([header], lines()),
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
        begin = copy(self)
        # What is wrong with these rows is said when all of them are read.
        begin._faults, begin.remarks = {}, []
        begin.summary = replace(self.summary)
        rows = (cells for _, cells in islice(begin.rows(), SAMPLED_ROWS))
        columns = columns_of(self.header, rows)
        first = [] if self.form is None else self.first or self._titles
        return TableSample(columns, first, not self.first)

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
        found = find_columns(
            kind, self.sample(), str(self.path), given=self.given_columns, file=file
        )
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
        message = f"{self.path if line is None else self.where(line)}: {text}"
        if len(self._faults) < MOST_FAULTS:
            self._faults[message] = None
        elif message not in self._faults:
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
        n_rows = n_cut = n_headers = 0
        width = len(self._titles)
        unnamed = sorted(set(range(width)) - set(self.places))
        filled: dict[int, int] = {}
        try:
            for line, cells in islice(self.source(), 1, None):
                if len(cells) > width and not any(cells[width:]):
                    n_cut += 1
                    cells = cells[:width]
                if cells == self._titles and width > 1:
                    n_headers += 1
                    continue
                n_rows += 1
                if len(cells) != width:
                    self.fault(
                        line,
                        f"has {len(cells)} cells, but the header has {width}; "
                        "quote a cell that holds the separator.",
                    )
                elif unnamed:
                    for i in unnamed:
                        if cells[i] != "":
                            filled.setdefault(i, line)
                    yield line, [cells[i] for i in self.places]
                else:
                    yield line, cells
        except FileError as error:  # nothing after this place can be read
            self._faults[str(error)] = None
            return
        for i, line in filled.items():
            self.fault(
                self._top,
                f"column {i + 1} has no name, but {self.counted} {line} has a cell in "
                "it; every column but the first needs a name.",
            )
        self.summary.n_rows = n_rows
        if not n_rows:
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
    if ending in TYPED:
        read, counted = TYPED[ending]
        return Table(path, reading, partial(read, path), None, given, counted)
    if ending in BOOKS:
        remarks: list[str] = []
        rows = book_rows(path, sheet, remarks)
        table = Table(path, reading, rows, None, given, "row", remarks)
    else:
        form = find_text_format(path, reading.encoding, reading.delimiter)
        rows, said = partial(text_rows, path, form), form.remark
        table = Table(path, reading, rows, form, given, remarks=[said] if said else [])
    return table.with_titles()


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


LISTED = 10
"""Cells that a remark lists; more are only counted."""

INDEX = "index of the frame"
"""What the column is called that is made of an index."""


def is_frame(data: Any) -> bool:
    """Tell whether data is a frame; lazy frames count, to be refused by name.

    Parameters
    ----------
    data : object
        What the user gave.

    Returns
    -------
    bool
        Whether `frame_table` takes it.
    """
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(data)) or _is_lazy(data)


def _is_lazy(data: Any) -> bool:
    return type(data).__name__ == "LazyFrame"


def frame_table(
    frame: Any, where: str, reading: Reading | None = None, labels: str | None = None
) -> Table:
    """Open a data frame as a table.

    Parameters
    ----------
    frame : data frame
        A frame of any library that narwhals knows. Lazy frames are refused.
    where : str
        What the frame is, for messages.
    reading : Reading, optional
        How the user wants it to be read.
    labels : str, optional
        The column of labels. By default the index of a pandas frame is one, unless it
        only numbers the rows.

    Returns
    -------
    Table
        The table.
    """
    import narwhals as nw

    if _is_lazy(frame):
        raise ContextError(f"{where}: is a lazy frame; collect it first.")
    titles = list(map(str, getattr(frame, "column_names", None) or frame.columns))
    repeated = [title for title, n in Counter(titles).items() if n > 1]
    if repeated:
        raise ContextError(
            f"{where}: two columns are called {some(repeated)}; rename one."
        )
    # By position, because narwhals would take a numeric title for a position.
    found = nw.from_native(frame, eager_only=True).iter_columns()
    columns = [list(map(typed, series.to_list())) for series in found]
    if not columns:
        raise ContextError(f"{where}: the frame has no columns.")
    if labels is None and _has_labels_in_index(frame, columns, where):
        labels = INDEX
        titles.insert(0, INDEX)
        columns.insert(0, list(map(typed, frame.index)))
    rows = list(enumerate(map(list, zip(*columns, strict=True)), 1))
    return Table(
        where,
        reading or Reading(),
        lambda: iter([(0, titles), *rows]),
        given_columns={} if labels is None else {"label": labels},
        counted="row",
    )


def _has_labels_in_index(
    frame: Any, columns: Sequence[Sequence[Any]], where: str
) -> bool:
    """Whether the index of a pandas frame holds labels, not numbers of rows.

    It has a name or holds texts, or numbers that are no numbers of rows, in a frame
    without another column of labels.
    """
    if not (hasattr(frame, "index") and hasattr(frame, "iloc")):
        return False
    index = frame.index
    if getattr(index, "nlevels", 1) > 1:
        raise ContextError(
            f"{where}: the index has {index.nlevels} levels, but a label is one name; "
            "join them, or move the others to columns."
        )
    if index.name is not None or index.inferred_type != "integer":
        return True
    # Rows that were sorted or selected keep their old numbers.
    is_numbered = sorted(index) == list(range(len(index)))
    found = (Column("", own) for own in columns)
    return not is_numbered and not any(c.is_text and c.is_unique for c in found)


@dataclass
class LabelledRows:
    """A table with one row for each label.

    Attributes
    ----------
    labels : list of str
        The labels, at the place of their first row.
    lines : list of int
        Where the first row of each stands.
    cells : dict
        Cells of each further column, by its title.
    """

    labels: list[str]
    lines: list[int]
    cells: dict[str, list[Any]]


def labelled_rows(table: Table) -> LabelledRows:
    """Read a table with a column of labels; several rows of a label become one.

    Identical rows are dropped. A cell that is unknown in one row and known in another
    is taken from the other. Of different numbers and dates the mean is taken, of
    categories and truth values the most frequent one; two equally frequent ones are
    unknown.

    Parameters
    ----------
    table : Table
        The table. Remarks say what was merged.

    Returns
    -------
    LabelledRows
        Labels and cells.
    """
    at = table.columns_of("attributes")["label"]
    titles = [title for i, title in enumerate(table.header) if i != at]
    labels: list[str] = []
    lines: list[int] = []
    cells: dict[str, list[Any]] = {title: [] for title in titles}
    for line, row in table.rows():
        if row[at] == "":
            table.fault(line, "the label is empty; fill it or remove the row.")
            continue
        text = cell_text(row[at]) if table.is_file else row[at]
        labels.append(as_label(text, table.where(line)))
        lines.append(line)
        for title, cell in zip(titles, row[:at] + row[at + 1 :], strict=True):
            cells[title].append(cell)
    table.raise_faults()
    groups: dict[str, list[int]] = defaultdict(list)
    for i, label in enumerate(labels):
        groups[label].append(i)
    if len(groups) == len(labels):
        return LabelledRows(labels, lines, cells)
    _merge(table, groups, lines, cells)
    first = [own[0] for own in groups.values()]
    merged = {title: [own[i] for i in first] for title, own in cells.items()}
    return LabelledRows(list(groups), [lines[i] for i in first], merged)


def _merge(
    table: Table,
    groups: Mapping[str, Sequence[int]],
    lines: Sequence[int],
    cells: Mapping[str, list[Any]],
) -> None:
    """Put what all rows of a label say into its first row."""
    reading = table.reading
    several = {label: rows for label, rows in groups.items() if len(rows) > 1}
    filled: set[str] = set()
    differ: set[str] = set()
    ties: list[str] = []
    for title, own in cells.items():
        how = reading.read_as.get(title)
        column = read_column(own, reading.markers, title=title, how=how)
        values: Mapping[int, Any] = column.numbers or column.words
        if any("converted" in remark for remark in column.remarks):
            # The most frequent unit may be another one after rows are joined.
            own[:] = map(column.numbers.get, range(len(lines)))
        for label, rows in several.items():
            known = [i for i in rows if i in values]
            counts = Counter(values[i] for i in known).most_common(2)
            firsts = {values[i]: i for i in reversed(known)}
            cell = own[known[0] if known else rows[0]]
            if len(counts) < 2 or reading.repeats == "first":
                if len(known) not in (0, len(rows)) or len(counts) > 1:
                    filled.add(label)
            else:
                differ.add(label)
                cell = ""
                if column.kind in ("number", "date"):
                    cell = float(sum(values[i] for i in known) / len(known))
                elif counts[0][1] > counts[1][1]:
                    cell = own[firsts[counts[0][0]]]
                elif column.kind != "identifier":
                    at = sorted(firsts.values())
                    places = (f"{own[i]} ({table.counted} {lines[i]})" for i in at)
                    ties.append(f"{title!r} of {label!r}: {' or '.join(places)}")
            own[rows[0]] = cell
    more = {label: len(rows) - 1 for label, rows in several.items()}
    n_filled = sum(more[label] for label in filled - differ)
    n_same = sum(n for label, n in more.items() if label not in filled | differ)
    table.count(n_same, "identical row{s} dropped")
    table.count(n_filled, "row{s} merged with another of its label")
    if differ:
        n, labels = len(differ), some(label for label in several if label in differ)
        whose, have = ("its", "label has") if n == 1 else ("their", "labels have")
        if reading.repeats == "refuse":
            ways = "merge them, or say --repeats mean or first."
            table.fault(None, f"{labels} {have[-4:].strip()} several rows; {ways}")
            table.raise_faults()
        table.remarks.append(
            f"{n} {have} several rows: the mean of {whose} numbers and the most "
            f"frequent of {whose} categories are taken (--repeats)"
        )
    if ties:
        table.remarks.append(
            f"{len(ties)} cell{'s' * (len(ties) > 1)} unknown, because different "
            f"values are equally frequent: {first_few(ties, LISTED)}"
        )


def say_remarks(read: Table | FileSummary, *, stacklevel: int) -> None:
    """Warn what was guessed and changed when a data frame was read.

    Parameters
    ----------
    read : Table or FileSummary
        The frame, or what was said about it.
    stacklevel : int
        How far up the caller of the user's function is, as for `warnings.warn`.
    """
    if read.remarks:
        text = f"{read.path}: {'; '.join(read.remarks)}."
        warnings.warn(text, GuessWarning, stacklevel=stacklevel + 1)


def rows_of(table: Any, kind: str, where: str) -> Iterable[Any]:
    """Return the rows of a data frame; other iterables are returned unchanged.

    Parameters
    ----------
    table : data frame or iterable of rows
        What the user gave.
    kind : str
        Kind of the table: a key of `NEEDED`, which names the columns it needs. Other
        names are guessed, with a warning. A taxonomy may also be a lineage: one row
        per label with the nodes above it.
    where : str
        What the table is, for messages.

    Returns
    -------
    iterable of rows
        Rows with the cells in the order of the columns that the kind needs.
    """
    if isinstance(table, (str, bytes, Mapping)):
        raise ContextError(
            f"{where}: rows of ({', '.join(NEEDED[kind])}) are needed. "
            f"Got {table!r} instead."
        )
    if not is_frame(table):
        return table  # type: ignore[no-any-return]
    found = frame_table(table, where)
    found.given_columns = {}
    at = found.columns_of(kind)
    say_remarks(found, stacklevel=5)
    rows = ([cells[i] for i in at.values()] for _, cells in found.rows())
    return lineage_edges(rows) if kind == "hierarchy" and "child" not in at else rows


def as_row(
    row: Any, lengths: tuple[int, ...], form: str, where: str
) -> tuple[Any, ...]:
    """Convert one row to a tuple; rows of another form are refused.

    Parameters
    ----------
    row : object
        The row.
    lengths : tuple of int
        Numbers of cells that it may have.
    form : str
        What a row looks like, for messages.
    where : str
        Where the row stands, for messages.

    Returns
    -------
    tuple
        The cells.
    """
    # Mappings and sets have a length too, but their order has no meaning.
    unordered = isinstance(row, (str, bytes, Mapping, Set))
    if unordered or not hasattr(row, "__len__") or len(row) not in lengths:
        raise ContextError(f"{where}: must be {form}. Got {row!r} instead.")
    return tuple(row)


def lineage_edges(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, Any]]:
    """Return the edges of a taxonomy that is given as one lineage per label.

    Parameters
    ----------
    rows : iterable of sequences
        Each row is a label and the nodes above it, the nearest first. Missing nodes
        are passed over.

    Returns
    -------
    list of (child, parent)
        Every edge once.

    Examples
    --------
    >>> lineage_edges([("cat", "Felis", "felids"), ("lynx", None, "felids")])
    [('cat', 'Felis'), ('Felis', 'felids'), ('lynx', 'felids')]
    """
    edges: dict[tuple[Any, Any], None] = {}
    for row in rows:
        nodes = [node for node in row if not is_missing(node)]
        # A group of one is often called like its only member.
        edges.update((pair, None) for pair in pairwise(nodes) if pair[0] != pair[1])
    return list(edges)
