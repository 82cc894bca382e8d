"""Fill the gaps of a user's own table and leave everything else as it is.

The table is read as for a fit. New values look like the known ones of their column. In
a table of text, all other bytes stay; a workbook is written by openpyxl. What somebody
decided about predicted values, as the explorer's Complete page exports it, is read
here, too.
"""

from __future__ import annotations

import codecs
import io
import re
import warnings
import zipfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from phcle.answers import Cell, FilledTable
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.cell_texts import value_text
from phcle.embedding.complete import completable, completed_cells
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import (
    ContextError,
    ContextWarning,
    FileError,
    OptionError,
    PhcleError,
    check_choice,
    some,
)
from phcle.files.atomic import write_whole
from phcle.files.csv_text import harmless
from phcle.files.reading import read_bytes
from phcle.tables.columns import Value, column_writer
from phcle.tables.file_kinds import BOOKS
from phcle.tables.reader import Reading, Table, open_table
from phcle.tables.sources import MARK, TYPED, book_rows

EXAMPLES = 5
"""Labels without a prediction that an answer names."""

TITLES = ("kind", "label", "context", "column", "value", "decision")
"""Columns that a file of decisions must have; it may have others."""

CHOICES = {"kind": ("gap", "suspicious"), "decision": ("accept", "reject")}
"""What some of them may hold."""

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,2})?")

MADE_ANEW = re.compile(
    r"calcChain|sharedStrings|printerSettings|\.rels$|docProps|theme"
)
"""Parts of a workbook that Excel, or openpyxl, writes by itself."""

Key = tuple[str, str, str]
"""Label, context and column of a cell."""

Decisions = Mapping[Key, Cell]
"""What somebody decided about predicted values; see `read_decisions`."""


@dataclass
class _Column:
    """What is known of a column that is filled."""

    place: int
    """Its position in the file."""
    seen: Counter[str] = field(default_factory=Counter)
    rows: dict[type, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The rows of its known cells, by their type."""
    new: dict[int, tuple[Value, str]] = field(default_factory=dict)
    """New values and their texts, by row."""


def complete_table(
    embedding: LabelEmbedding,
    table: Path,
    out: Path,
    *,
    labels: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    contexts: Sequence[str] | None = None,
    min_confidence: float = 0.0,
    fill_markers: bool = False,
    decisions: Decisions | None = None,
    reading: Reading | None = None,
) -> FilledTable:
    """Fill the empty cells of a user's table with an embedding's predictions.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    table : Path
        A table with the labels in its first column: text in any encoding and with any
        delimiter, or a workbook (.xlsx), whose first visible sheet is filled.
    out : Path
        Where to write the filled table, which has the same format.
    labels : sequence of str, optional
        Labels whose rows are filled; by default all that the embedding has.
    columns : sequence of str, optional
        Columns to fill; by default all that the embedding predicts.
    contexts : sequence of str, optional
        Contexts whose columns are meant; by default all.
    min_confidence : float, default 0.0
        Leave cells empty whose value is less likely than this.
    fill_markers : bool, default False
        Also fill cells that say that they are unknown, such as `n/a`.
    decisions : mapping, optional
        What somebody accepted, changed or refused; see `read_decisions`.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    decisions = decisions or {}
    source = _open(table, out, reading or Reading())
    context_of = _contexts_of_titles(embedding, table, source.header, columns, contexts)
    wanted = None if labels is None else set(map(embedding.resolve, labels))
    at = [(i, x) for i, x in enumerate(source.header) if i and x in context_of]
    filled = {title: _Column(source.places[i]) for i, title in at}
    gaps: dict[tuple[str, str], list[int]] = defaultdict(list)
    known: set[tuple[int, str]] = set()
    unknown: list[str] = []
    n_markers = 0
    is_unknown = source.reading.markers.is_unknown
    for row, cells in source.rows():
        name = source.as_text(cells[0])
        label = embedding.called.spelled(name) if name else None
        if name and label is None:
            unknown.append(name)
        is_wanted = label is not None and (wanted is None or label in wanted)
        for i, title in at:
            text, own = source.as_text(cells[i]), filled[title]
            is_marker = bool(text) and is_unknown(text)
            if text and not is_marker:
                own.seen[text] += 1
                own.rows[type(cells[i])].append(row)
                decided = decisions.get((label or "", context_of[title], title))
                if not is_wanted or decided is None or not decided.observed:
                    continue
                known.add((row, title))
            elif is_marker and not fill_markers:
                n_markers += label is not None
                continue
            if label is not None and is_wanted:
                gaps[label, title].append(row)
    source.raise_faults()
    asked = list({label: 0 for label, _ in gaps})
    predicted = completed_cells(
        embedding,
        labels=asked,
        columns=list(context_of),
        contexts=list(dict.fromkeys(context_of.values())),
        min_confidence=min_confidence,
        why=False,
    )
    writers = {title: column_writer(own.seen) for title, own in filled.items()}
    for cell in decided_cells(predicted, decisions, label=set(asked)):
        rows = gaps.get((cell.label, cell.column), [])
        if not rows or cell.value is None or cell.context != context_of[cell.column]:
            continue
        if text := writers[cell.column](cell.value):
            filled[cell.column].new |= dict.fromkeys(rows, (cell.value, text))
    with write_whole(out) as temporary:
        save = _save_book if table.suffix.lower() in BOOKS else _save_text
        save(source, filled.values(), temporary)
    new = {(row, title) for title, own in filled.items() for row in own.new}
    n_filled = len(new - known)
    return FilledTable(
        table=str(table),
        file=str(out),
        rows=source.summary.n_rows or 0,
        filled=n_filled,
        changed=len(new & known),
        left_empty=sum(map(len, gaps.values())) - len(known) - n_filled,
        markers=n_markers,
        unknown_rows=len(unknown),
        unknown_labels=tuple(unknown[:EXAMPLES]),
    )


def _contexts_of_titles(
    embedding: LabelEmbedding,
    table: Path,
    header: Sequence[str],
    columns: Sequence[str] | None,
    contexts: Sequence[str] | None,
) -> dict[str, str]:
    """The columns of a table that are predicted, with their contexts."""
    titles = header[1:]
    found: dict[str, list[str]] = defaultdict(list)
    for each in completable(embedding, contexts):
        for own in each.context.fields:
            found[own.title].append(each.context.name)
    for column in columns or ():
        check_choice("--columns", column, titles, str(table))
    chosen = [x for x in titles if x in found and (columns is None or x in columns)]
    if not chosen:
        raise FileError(
            f"{table}: has no column that this embedding predicts. It has "
            f"{some(titles)}; the embedding predicts {some(found)}."
        )
    names = {
        x: found[x] if table.stem not in found[x] else [table.stem] for x in chosen
    }
    for title, several in names.items():
        if len(several) > 1:
            raise OptionError(
                f"{table}: the column {title!r} is in several contexts: "
                f"{some(several)}; choose one with --context."
            )
    return {title: name for title, (name,) in names.items()}


def _open(path: Path, out: Path, reading: Reading) -> Table:
    """Open a table that is to be filled."""
    ending, other = path.suffix.lower(), out.suffix.lower()
    if ending in TYPED:
        raise FileError(
            f"{path}: only tables of text and workbooks can be filled; give a CSV or "
            "an .xlsx file."
        )
    if ending != other and {ending, other} & {*BOOKS, *TYPED}:
        raise FileError(
            f"{out}: a filled table has the format of {path}; let its name end in "
            f"{ending or '.csv'}."
        )
    if ending not in BOOKS:
        return open_table(path, reading)
    rows = book_rows(path, None, [], keep_formulas=True)
    return Table(path, reading, rows, counted="row")


def _save_text(table: Table, columns: Iterable[_Column], out: Path) -> None:
    """Write a table of text with new cells; all other bytes stay."""
    assert table.form is not None
    encoding, delimiter = table.form.encoding, table.form.delimiter
    data = read_bytes(Path(table.path))
    text = data.decode(encoding)
    cell = re.compile(rf'(?:"(?:[^"]+|"")*+"|[^{re.escape(delimiter)}\r\n]*)')
    ends = re.finditer(r"\r\n|\r|\n", text)
    starts = [int(text.startswith(MARK)), *(end.end() for end in ends)]
    kept, fresh, end = [], [], 0
    new = ((row, own.place, *own.new[row]) for own in columns for row in own.new)
    for row, place, value, spelled in sorted(new, key=itemgetter(0, 1)):
        start = starts[row - 1]
        for _ in range(place):
            start = cell.match(text, start).end() + 1  # type: ignore[union-attr]
        old = cell.match(text, start)[0]  # type: ignore[index]
        spelled = str(harmless(spelled)) if isinstance(value, str) else spelled
        fresh.append(_quoted(spelled, old, delimiter))
        kept += [text[end:start], old]
        end = start + len(old)
    kept.append(text[end:])
    try:
        encoded = [x.encode(encoding) for x in fresh]
        whole = b"".join(_woven(_bytes_of(kept, data, encoding), encoded))
        if whole.decode(encoding) != "".join(_woven(kept, fresh)):
            # In some old encodings a letter depends on what stands before it.
            odd = "".join(fresh)
            raise UnicodeEncodeError(encoding, odd, 0, len(odd), "misread")
    except UnicodeEncodeError as error:
        raise FileError(
            f"{table.path}: is {encoding}, which cannot hold "
            f"{error.object[error.start : error.end]!r}; save the table as UTF-8."
        ) from error
    out.write_bytes(whole)


def _bytes_of(pieces: Sequence[str], data: bytes, encoding: str) -> list[bytes]:
    """The bytes of the pieces of a text.

    A character may have several codes, as in cp932, so encoding a piece again may
    give other bytes. Then characters are counted byte by byte.
    """
    found = [piece.encode(encoding, "replace") for piece in pieces]
    if b"".join(found) != data:
        decode = codecs.getincrementaldecoder(encoding)().decode
        so_far = np.cumsum([len(decode(data[i : i + 1])) for i in range(len(data))])
        ends = np.searchsorted(so_far, np.cumsum([len(piece) for piece in pieces])) + 1
        found = [data[start:end] for start, end in pairwise([0, *ends.tolist()])]
    return found


def _woven(pieces: Sequence[Any], fresh: Sequence[Any]) -> Iterator[Any]:
    """Pieces of a table with new cells in the place of every second one."""
    new = iter(fresh)
    return (next(new) if i % 2 else piece for i, piece in enumerate(pieces))


def _quoted(text: str, old: str, delimiter: str) -> str:
    """A text as a raw cell, quoted if it must be or the old one was."""
    needs = any(x in text for x in (delimiter, '"', "\r", "\n"))
    if needs or old.startswith('"'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _save_book(table: Table, columns: Iterable[_Column], out: Path) -> None:
    """Write a workbook with new cells of the type and format of their column."""
    import openpyxl

    path = Path(table.path)
    is_macro = path.suffix.lower() == ".xlsm"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        book = openpyxl.load_workbook(path, keep_vba=is_macro, rich_text=True)
    lost = {str(x.message) for x in said if "removed" in str(x.message)}
    sheet = next(x for x in book.worksheets if x.sheet_state == "visible")
    for own in columns:
        kind = max(own.rows, key=lambda x: len(own.rows[x]), default=None)
        form = "General"
        if kind is not None:
            form = sheet.cell(own.rows[kind][0], own.place + 1).number_format
        for row, (value, text) in own.new.items():
            cell = sheet.cell(row, own.place + 1)
            cell.value = _typed(kind or type(value), value, text)
            if isinstance(cell.value, str):
                cell.data_type = "s"  # never a formula
            elif cell.number_format == "General":
                cell.number_format = form
    whole = io.BytesIO()  # openpyxl leaves a half-written file open on a full disk
    book.save(whole)
    out.write_bytes(whole.getvalue())
    if lost := lost | _kinds_of_parts(path) - _kinds_of_parts(out):
        warnings.warn(
            f"{path}: openpyxl does not keep all of this workbook; the filled one "
            f"lacks {some(sorted(lost))}.",
            ContextWarning,
            stacklevel=4,
        )


def _kinds_of_parts(path: Path) -> set[str]:
    """Kinds of parts of a workbook that a program must keep."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    kinds = {re.sub(r"\d+", "", name.rpartition("/")[2]) for name in names}
    return {kind for kind in kinds if kind and not MADE_ANEW.search(kind)}


def _typed(kind: type, value: Value, text: str) -> Any:
    """A value of the type that the column has; otherwise its text."""
    with suppress(ValueError):  # a text such as yes, in a column of numbers
        if issubclass(kind, date):
            return datetime.fromisoformat(text)
        if kind is bool and isinstance(value, bool):
            return value
        if kind in (int, float) and not isinstance(value, str):
            number = float(text)
            return int(number) if number.is_integer() else number
    return text


def decided_cells(
    cells: Iterable[Cell], decisions: Decisions, **chosen: Collection[str] | None
) -> Iterator[Cell]:
    """Give predicted cells as somebody decided about them.

    Parameters
    ----------
    cells : iterable of Cell
        The predicted cells.
    decisions : mapping
        What somebody decided.
    **chosen : collections of str, optional
        `label`, `context` and `column`: what is completed; by default all.

    Yields
    ------
    Cell
        The cells without those that were refused. A value that was accepted as it was
        shown keeps its decimals. Accepted cells that were not predicted, and corrected
        ones, come last.
    """
    waiting = dict(decisions)
    for cell in cells:
        own = waiting.pop((cell.label, cell.context, cell.column), cell)
        if value_text(own.value) == value_text(cell.value):
            yield cell
        elif own.value is not None:
            yield own
    for own in waiting.values():
        if own.value is not None and all(
            names is None or getattr(own, part) in names
            for part, names in chosen.items()
        ):
            yield own


def read_decisions(path: Path, embedding: LabelEmbedding) -> dict[Key, Cell]:
    """Read the decisions that the explorer's Complete page exports.

    Parameters
    ----------
    path : Path
        The exported file (.csv or .json), perhaps with other values: a value that was
        changed in the file is taken as it stands.
    embedding : LabelEmbedding
        The embedding that they are about.

    Returns
    -------
    dict
        Cells with the value that was accepted or changed, by label, context and column;
        without one for a gap that stays unknown. Observed ones are corrected. A label,
        column or value that the embedding does not have, and a gap that is none, are
        errors that name the line.
    """
    table = open_table(path)
    for title in {*TITLES} - {*table.header}:
        export = "give a file that the explorer's Complete page exported."
        table.fault(None, f"has no column {title!r}; {export}")
    table.raise_faults()
    tables = {x.context.name: x.context for x in completable(embedding)}
    decisions: dict[Key, Cell] = {}
    for line, texts in table.texts():
        row = dict(zip(table.header, texts, strict=True))
        try:
            cell = _decided(row, embedding, tables)
        except PhcleError as error:
            table.fault(line, str(error))
            continue
        key = cell.label, cell.context, cell.column
        if key in decisions:
            table.fault(line, "decides about this cell again; remove one.")
        if cell.value is not None or not cell.observed:
            decisions[key] = cell
    table.raise_faults()
    return decisions


def _decided(
    row: Mapping[str, str],
    embedding: LabelEmbedding,
    tables: Mapping[str, DescriptiveContext],
) -> Cell:
    """The cell that a row is about, with the value that it accepts, if it does."""
    label, title, text = embedding.resolve(row["label"]), row["column"], row["value"]
    for column, choices in {**CHOICES, "context": tables}.items():
        check_choice(column, row[column], choices)
    table = tables[row["context"]]
    fields = {each.title: each for each in table.fields}
    check_choice("column", title, fields)
    own = fields[title]
    is_gap = bool(np.isnan(table.observed_row(label)[own.at.start]))
    if is_gap != (row["kind"] == "gap"):
        raise ContextError(
            f"{title!r} of {label!r} is {'unknown' if is_gap else 'known'} in this "
            "embedding; remove the row, or export the decisions again."
        )
    value: Value | None = {"yes": True, "no": False}.get(text)
    if own.kind == "number":
        value = float(text) if NUMBER.fullmatch(text) else None
    elif own.kind == "category":
        value = text or None
    if row["decision"] == "reject":
        value = None
    elif value is None:
        form = {"number": "a number", "category": "a text"}.get(own.kind, "yes or no")
        raise ContextError(f"value of {title!r} must be {form}. Got {text!r} instead.")
    place = label, embedding.name_of(label), table.name, title
    return Cell(*place, own.kind, value, observed=not is_gap, why="decided")
