"""Data frames of pandas, Polars, PyArrow and others as tables, through narwhals.

Several rows for a label, of a frame or a file, become one: they are observations of it,
or copies of one row.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from phcle.contexts.labels import as_label, is_missing
from phcle.errors import ContextError, GuessWarning, some
from phcle.tables.cells import cell_text, first_few, typed
from phcle.tables.columns import read_column
from phcle.tables.kinds import NEEDED, Column
from phcle.tables.reader import Reading, Table

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

    is_lazy = type(data).__name__ == "LazyFrame"
    return is_lazy or bool(nw.dependencies.is_into_dataframe(data))


def frame_table(
    frame: Any, where: str, reading: Reading | None = None, labels: str | None = None
) -> Table | None:
    """Open a data frame as a table.

    Parameters
    ----------
    frame : object
        A data frame or anything else. Lazy frames are refused.
    where : str
        What the frame is, for messages.
    reading : Reading, optional
        How the user wants it to be read.
    labels : str, optional
        The column of labels. By default the index of a pandas frame is one, unless it
        only numbers the rows.

    Returns
    -------
    Table or None
        None if `frame` is not a data frame.
    """
    import narwhals as nw

    if type(frame).__name__ == "LazyFrame":
        raise ContextError(f"{where}: is a lazy frame; collect it first.")
    if not is_frame(frame):
        return None
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
    return Table(
        where,
        reading or Reading(),
        lambda: chain(
            [(0, titles)], enumerate(map(list, zip(*columns, strict=True)), 1)
        ),
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
    _say_what_was_merged(table, several, filled, differ, ties)


def _say_what_was_merged(
    table: Table,
    several: Mapping[str, Sequence[int]],
    filled: Set[str],
    differ: Set[str],
    ties: Sequence[str],
) -> None:
    if differ and table.reading.repeats == "refuse":
        have = "has" if len(differ) == 1 else "have"
        labels = [label for label in several if label in differ]
        table.fault(
            None,
            f"{some(labels)} {have} several rows; merge them, or say --repeats mean "
            "or first.",
        )
        table.raise_faults()
    more = {label: len(rows) - 1 for label, rows in several.items()}
    n_filled = sum(more[label] for label in filled - differ)
    n_same = sum(n for label, n in more.items() if label not in filled | differ)
    table.count(n_same, "identical row{s} dropped")
    table.count(n_filled, "row{s} merged with another of its label")
    if differ:
        n = len(differ)
        whose, have = ("its", "label has") if n == 1 else ("their", "labels have")
        table.remarks.append(
            f"{n} {have} several rows: the mean of {whose} numbers and the most "
            f"frequent of {whose} categories are taken (--repeats)"
        )
    if ties:
        table.remarks.append(
            f"{len(ties)} cell{'s' * (len(ties) > 1)} unknown, because different "
            f"values are equally frequent: {first_few(ties, LISTED)}"
        )


def say_remarks(table: Table, *, stacklevel: int) -> None:
    """Warn what was guessed and changed when a data frame was read.

    Parameters
    ----------
    table : Table
        The frame.
    stacklevel : int
        How far up the caller of the user's function is, as for `warnings.warn`.
    """
    if table.remarks:
        text = f"{table.path}: {'; '.join(table.remarks)}."
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
    found = frame_table(table, where)
    if found is None:
        return table  # type: ignore[no-any-return]
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
