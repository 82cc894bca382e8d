"""Fill the gaps of a user's own table and leave everything else as it is, to the byte.

The table is read twice: once to see its gaps and how its columns are written, once to
fill it. Only one row is in memory at a time, and the labels with gaps.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from phcle.answers import FilledTable
from phcle.embedding.complete import completed_cells
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError, OptionError, check_choice, some
from phcle.files.atomic import write_whole
from phcle.files.csv_text import harmless
from phcle.tables.cells import UnknownMarkers
from phcle.tables.reader import Reading, TextFormat, find_text_format
from phcle.uses.column_spelling import ColumnSpelling, Value
from phcle.uses.raw_tables import RawRow, quoted, raw_rows, unquoted

SOMETIMES = 500
"""Rows after which the progress is shown again."""

EXAMPLES = 5
"""Labels without a prediction that an answer names."""

NO_TEXT = (".parquet", ".xlsx", ".xlsm", ".json", ".jsonl", ".ndjson")
"""Tables that hold values, not text, so they cannot stay as they are to the byte."""

Predict = Callable[[Sequence[str]], Iterable[tuple[str, str, Value]]]


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
    progress: Callable[[int, int], None] = lambda done, total: None,
    reading: Reading | None = None,
) -> FilledTable:
    """Fill the empty cells of a user's table with an embedding's predictions.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    table : Path
        A table of text with the labels in its first column, in any encoding and with
        any delimiter. The filled table has the same.
    out : Path
        Where to write the filled table.
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
    progress : callable, optional
        Called with the rows done and in total.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    context_of = _contexts_of_titles(embedding, table, columns, contexts, reading)
    wanted = None if labels is None else set(map(embedding.resolve, labels))

    def predict(asked: Sequence[str]) -> Iterator[tuple[str, str, Value]]:
        cells = completed_cells(
            embedding,
            labels=asked,
            columns=list(context_of),
            contexts=list(dict.fromkeys(context_of.values())),
            min_confidence=min_confidence,
            why=False,
        )
        for cell in cells:
            if context_of[cell.column] == cell.context and cell.value is not None:
                yield cell.label, cell.column, cell.value

    return fill_table(
        table,
        out,
        list(context_of),
        embedding.label_spelled,
        predict,
        wanted=wanted,
        fill_markers=fill_markers,
        progress=progress,
        reading=reading,
    )


def _contexts_of_titles(
    embedding: LabelEmbedding,
    table: Path,
    columns: Sequence[str] | None,
    contexts: Sequence[str] | None,
    reading: Reading | None,
) -> dict[str, str]:
    """The columns of a table that are predicted, with their contexts."""
    found: dict[str, list[str]] = {}
    for context in embedding.predicting:
        if contexts is None or context.name in contexts:
            for field in context.fields:
                found.setdefault(field.title, []).append(context.name)
    titles = table_titles(table, reading)
    for column in columns or ():
        check_choice("--columns", column, titles, str(table))
    chosen = [x for x in titles if x in found and (columns is None or x in columns)]
    if not chosen:
        raise FileError(
            f"{table}: has no column that this embedding predicts. It has "
            f"{some(titles)}; the embedding predicts {some(found)}."
        )
    context_of = {}
    for title in chosen:
        names = found[title]
        if len(names) > 1 and table.stem not in names:
            raise OptionError(
                f"{table}: the column {title!r} is in several contexts: "
                f"{some(names)}; choose one with --context."
            )
        context_of[title] = table.stem if len(names) > 1 else names[0]
    return context_of


def fill_table(
    table: Path,
    out: Path,
    titles: Sequence[str],
    label_of: Callable[[str], str | None],
    predict: Predict,
    *,
    wanted: Collection[str] | None = None,
    fill_markers: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    reading: Reading | None = None,
) -> FilledTable:
    """Fill the empty cells of a table, whose labels are in its first column.

    Every other cell stays as it is, to the byte.

    Parameters
    ----------
    table : Path
        A table of text, in any encoding and with any delimiter.
    out : Path
        Where to write the filled table.
    titles : sequence of str
        Columns to fill; other columns stay as they are.
    label_of : callable
        Gives the label that the text of a row stands for, in whatever spelling, or None
        if it cannot be predicted. Such rows stay as they are.
    predict : callable
        Returns label, title and value of the predicted cells of some labels, label by
        label in the given order. Cells without a value stay empty.
    wanted : collection of str, optional
        Labels whose rows are filled; by default all.
    fill_markers : bool, default False
        Also fill cells that say that they are unknown, such as `n/a`.
    progress : callable, optional
        Called with the rows done and in total.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    reading = reading or Reading()
    form = find_text_format(table, reading)
    gaps = _Gaps(table, form, reading.markers, titles, label_of, wanted, fill_markers)
    values = _Values(predict(list(gaps.asked)), gaps.asked)
    n_filled = n_left = 0
    with (
        _errors_of_encoding(table, form),
        write_whole(out) as temporary,
        temporary.open("wb") as file,
    ):
        header, rows = _header_and_rows(table, form)
        file.write(header.data)
        for n_done, row in enumerate(rows, 1):
            label, empty = gaps.of(row)
            found = values.of(label) if empty else {}
            new: dict[int, str] = {}
            for i in empty:
                title = gaps.titles[i]
                text = gaps.text(title, found[title]) if title in found else ""
                if text:
                    new[i] = quoted(text, row.cells[i], form.delimiter)
            n_filled += len(new)
            n_left += len(empty) - len(new)
            file.write(row.replaced(new, form))
            if n_done % SOMETIMES == 0:
                progress(n_done, max(n_done, gaps.n_rows))
    return FilledTable(
        table=str(table),
        file=str(out),
        rows=gaps.n_rows,
        filled=n_filled,
        left_empty=n_left,
        markers=gaps.n_markers,
        unknown_rows=gaps.n_unknown,
        unknown_labels=tuple(gaps.unknown),
    )


@contextmanager
def _errors_of_encoding(table: Path, form: TextFormat) -> Iterator[None]:
    """Say what to do if a value cannot be written in the encoding of the table."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise FileError(
            f"{table}: is {form.encoding.name}, which cannot hold "
            f"{error.object[error.start : error.end]!r}; save the table as UTF-8."
        ) from error


def table_titles(table: Path, reading: Reading | None = None) -> list[str]:
    """Return the titles of a table, without that of the labels.

    Parameters
    ----------
    table : Path
        A table of text.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    list of str
        The titles.
    """
    if table.suffix.lower() in NO_TEXT:
        raise FileError(f"{table}: only tables of text can be filled; give a CSV file.")
    header, _ = _header_and_rows(table, find_text_format(table, reading))
    return [unquoted(cell) for cell in header.cells[1:]]


def _header_and_rows(table: Path, form: TextFormat) -> tuple[RawRow, Iterator[RawRow]]:
    """The first row that is not empty, with what stands before it, and the others."""
    rows = raw_rows(table, form)
    before = b""
    for row in rows:
        if row.line > form.skip and any(map(unquoted, row.cells)):
            row.data = before + row.data
            return row, rows
        before += row.data
    raise FileError(f"{table}: is empty; a header and rows were expected.")


class _Gaps:
    """What a first look at a table tells: its gaps, and how its columns are written."""

    def __init__(
        self,
        table: Path,
        form: TextFormat,
        markers: UnknownMarkers,
        titles: Sequence[str],
        label_of: Callable[[str], str | None],
        wanted: Collection[str] | None,
        fill_markers: bool,
    ) -> None:
        header, rows = _header_and_rows(table, form)
        self.is_unknown = markers.is_unknown
        found = {i: unquoted(cell) for i, cell in enumerate(header.cells) if i}
        self.titles = {i: title for i, title in found.items() if title in titles}
        self.label_of, self.wanted = label_of, wanted
        self.fill_markers = fill_markers
        self.spellings = {title: ColumnSpelling() for title in titles}
        self.asked: Counter[str] = Counter()  # labels with gaps
        self.unknown: list[str] = []
        self.n_rows = self.n_unknown = self.n_markers = 0
        for row in rows:
            if not any(map(unquoted, row.cells)):
                continue
            after = row.cells[len(header.cells) :]
            if len(row.cells) < len(header.cells) or any(map(unquoted, after)):
                raise FileError(
                    f"{table}, line {row.line}: has {len(row.cells)} cells, but the "
                    f"header has {len(header.cells)}; quote a cell that holds the "
                    "separator."
                )
            self._see(row)

    def _see(self, row: RawRow) -> None:
        self.n_rows += 1
        label, empty = self.of(row)
        text = unquoted(row.cells[0])
        if text and not label:
            self.n_unknown += 1
            if len(self.unknown) < EXAMPLES:
                self.unknown.append(text)
        if empty:
            self.asked[label] += 1
        for i, title in self.titles.items():
            text = unquoted(row.cells[i])
            if not self.is_unknown(text):
                self.spellings[title].see(text)
            elif text and label and not self.fill_markers:
                self.n_markers += 1

    def of(self, row: RawRow) -> tuple[str, list[int]]:
        """The label of a row, and the positions of its cells that are to be filled."""
        text = unquoted(row.cells[0])
        label = self.label_of(text) if text else None
        if label is None:
            return "", []
        if self.wanted is not None and label not in self.wanted:
            return label, []
        texts = {i: unquoted(row.cells[i]) for i in self.titles}
        is_gap = self.is_unknown if self.fill_markers else operator.not_
        return label, [i for i, text in texts.items() if is_gap(text)]

    def text(self, title: str, value: Value) -> str:
        """A predicted value as its column writes it, and harmless in a spreadsheet."""
        text = self.spellings[title].text(value)
        return str(harmless(text)) if isinstance(value, str) else text


class _Values:
    """Predicted values of one label after the other, as they come."""

    def __init__(
        self, cells: Iterable[tuple[str, str, Value]], asked: Mapping[str, int]
    ) -> None:
        self.ahead = groupby(cells, key=lambda cell: cell[0])
        self.asked = asked
        self.repeated: dict[str, dict[str, Value]] = {}
        self.label: str | None = None
        self.values: dict[str, Value] = {}

    def of(self, label: str) -> dict[str, Value]:
        """The values of a label by title, in the order in which labels were asked."""
        if label in self.repeated:
            return self.repeated[label]
        if self.label is None:
            self.label, cells = next(self.ahead, ("", iter(())))
            self.values = {title: value for _, title, value in cells}
        found: dict[str, Value] = {}
        if label == self.label:
            found, self.label = self.values, None
        if self.asked[label] > 1:  # the label stands in several rows
            self.repeated[label] = found
        return found
