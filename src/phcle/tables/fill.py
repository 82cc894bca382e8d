"""Fill the gaps of a user's own table and leave everything else as it is.

What somebody decided about predicted values, as the explorer's Complete page exports
it, is read here, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    FileError,
    OptionError,
    PhcleError,
    check_choice,
    some,
)
from phcle.files.atomic import write_whole
from phcle.tables.cells import UnknownMarkers
from phcle.tables.reader import Reading, open_table
from phcle.tables.writable import ColumnSpelling, Value, WritableTable, open_writable

EXAMPLES = 5
"""Labels without a prediction that an answer names."""

TITLES = ("kind", "label", "context", "column", "value", "decision")
"""Columns that a file of decisions must have; it may have others."""

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,2})?")

Key = tuple[str, str, str]
"""Label, context and column of a cell."""

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
    decisions : Decisions, optional
        What somebody accepted, changed or refused; see `read_decisions`.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    decisions = decisions or Decisions()
    reading = reading or Reading()
    source = open_writable(table, out, reading)
    context_of = _contexts_of_titles(embedding, source, columns, contexts)

    def predict(asked: Sequence[str]) -> Iterator[tuple[str, str, Value]]:
        predicted = completed_cells(
            embedding,
            labels=asked,
            columns=list(context_of),
            contexts=list(dict.fromkeys(context_of.values())),
            min_confidence=min_confidence,
            why=False,
        )
        for cell in decisions.applied(predicted, label=set(asked)):
            if context_of.get(cell.column) == cell.context and cell.value is not None:
                yield cell.label, cell.column, cell.value

    changed = {
        (label, title)
        for label, context, title in decisions.corrected
        if context_of.get(title) == context
    }
    wanted = None if labels is None else set(map(embedding.resolve, labels))
    how = (wanted, reading.markers, fill_markers, changed)
    return _Gaps(source, embedding.called.spelled, *how).fill(context_of, out, predict)


def _contexts_of_titles(
    embedding: LabelEmbedding,
    source: WritableTable,
    columns: Sequence[str] | None,
    contexts: Sequence[str] | None,
) -> dict[str, str]:
    """The columns of a table that are predicted, with their contexts."""
    table, titles = source.path, source.header[1:]
    found: dict[str, list[str]] = {}
    for each in completable(embedding, contexts):
        for field_ in each.context.fields:
            found.setdefault(field_.title, []).append(each.context.name)
    for column in columns or ():
        check_choice("--columns", column, titles, str(table))
    chosen = [x for x in titles if x in found and (columns is None or x in columns)]
    if not chosen:
        raise FileError(
            f"{table}: has no column that this embedding predicts. It has "
            f"{some(titles)}; the embedding predicts {some(found)}."
        )
    for title in chosen:
        if table.stem in found[title]:
            found[title] = [table.stem]
        if len(found[title]) > 1:
            raise OptionError(
                f"{table}: the column {title!r} is in several contexts: "
                f"{some(found[title])}; choose one with --context."
            )
    return {title: found[title][0] for title in chosen}


def fill_table(
    table: Path,
    out: Path,
    titles: Sequence[str],
    label_of: Callable[[str], str | None],
    predict: Predict,
    *,
    wanted: Collection[str] | None = None,
    fill_markers: bool = False,
    changed: Collection[tuple[str, str]] = (),
    reading: Reading | None = None,
) -> FilledTable:
    """Fill the empty cells of a table, whose labels are in its first column.

    Every other cell stays as it is; in a table of text to the byte.

    Parameters
    ----------
    table : Path
        A table of text, in any encoding and with any delimiter, or a workbook (.xlsx),
        whose first visible sheet is filled.
    out : Path
        Where to write the filled table, which has the same format.
    titles : sequence of str
        Columns to fill; other columns stay as they are.
    label_of : callable
        Gives the label that the text of a row stands for, in whatever spelling, or None
        if it cannot be predicted. Such rows stay as they are.
    predict : callable
        Returns label, title and value of the predicted cells of some labels, label by
        label. Cells without a value stay empty.
    wanted : collection of str, optional
        Labels whose rows are filled; by default all.
    fill_markers : bool, default False
        Also fill cells that say that they are unknown, such as `n/a`.
    changed : collection of (str, str), optional
        Labels and titles of known cells that get the predicted value, too.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    reading = reading or Reading()
    source = open_writable(table, out, reading)
    how = (wanted, reading.markers, fill_markers, changed)
    return _Gaps(source, label_of, *how).fill(titles, out, predict)


@dataclass
class _Gaps:
    """The gaps of a table, and how its columns write their values."""

    source: WritableTable
    label_of: Callable[[str], str | None]
    wanted: Collection[str] | None
    markers: UnknownMarkers
    fill_markers: bool
    changed: Collection[tuple[str, str]]
    gaps: dict[tuple[str, str], list[Any]] = field(
        default_factory=lambda: defaultdict(list)
    )
    known: set[Any] = field(default_factory=set)
    spellings: dict[str, ColumnSpelling] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    n_rows: int = 0
    n_markers: int = 0

    def fill(self, titles: Collection[str], out: Path, predict: Predict) -> FilledTable:
        """Write the table with predicted values in its gaps."""
        self.spellings = {title: ColumnSpelling() for title in titles}
        self._look()
        new: dict[Any, tuple[Value, str]] = {}
        for label, title, value in predict(list({label: 0 for label, _ in self.gaps})):
            places = self.gaps.get((label, title), [])
            if places and (text := self.spellings[title].text(value)):
                new |= dict.fromkeys(places, (value, text))
        with write_whole(out) as temporary:
            self.source.save(temporary, new)
        n_changed = len(self.known & new.keys())
        n_filled = len(new) - n_changed
        return FilledTable(
            table=str(self.source.path),
            file=str(out),
            rows=self.n_rows,
            filled=n_filled,
            changed=n_changed,
            left_empty=sum(map(len, self.gaps.values())) - len(self.known) - n_filled,
            markers=self.n_markers,
            unknown_rows=len(self.unknown),
            unknown_labels=tuple(self.unknown[:EXAMPLES]),
        )

    def _look(self) -> None:
        """Read all rows."""
        header, spellings = self.source.header, self.spellings
        at = {i: title for i, title in enumerate(header) if i and title in spellings}
        for number, texts, places in self.source.body:
            if not any(texts):
                continue
            if len(texts) < len(header) or any(texts[len(header) :]):
                raise FileError(
                    f"{self.source.where(number)}: has {len(texts)} cells, but the "
                    f"header has {len(header)}; quote a cell that holds the separator."
                )
            self.n_rows += 1
            label = self.label_of(texts[0]) if texts[0] else None
            if texts[0] and label is None:
                self.unknown.append(texts[0])
            for i, title in at.items():
                self._see(texts[i], places[i], label, title)

    def _see(self, text: str, place: Any, label: str | None, title: str) -> None:
        """Take note of a cell."""
        is_known = not self.markers.is_unknown(text)
        if is_known:
            self.spellings[title].see(text)
        if label is None or place is None:
            return
        if text and not is_known and not self.fill_markers:
            self.n_markers += 1
        elif self.wanted is None or label in self.wanted:
            if is_known and (label, title) in self.changed:
                self.known.add(place)
            if not is_known or place in self.known:
                self.gaps[label, title].append(place)


@dataclass(frozen=True)
class Decisions:
    """What somebody decided about predicted values.

    Attributes
    ----------
    cells : mapping
        Cells with the value that was accepted, or changed, by label, context and
        column; None for a gap that stays unknown.
    corrected : frozenset
        Those that were known: their old values are replaced.
    """

    cells: Mapping[Key, Cell | None] = field(default_factory=dict)
    corrected: frozenset[Key] = frozenset()

    def applied(
        self, cells: Iterable[Cell], **chosen: Collection[str] | None
    ) -> Iterator[Cell]:
        """Give predicted cells as somebody decided about them.

        Parameters
        ----------
        cells : iterable of Cell
            The predicted cells.
        **chosen : collections of str, optional
            `label`, `context` and `column`: what is completed; by default all.

        Yields
        ------
        Cell
            The cells without those that were refused. A value that was accepted as it
            was shown keeps its decimals. Accepted cells that were not predicted, and
            corrected ones, come last.
        """
        waiting = dict(self.cells)
        for cell in cells:
            own = waiting.pop((cell.label, cell.context, cell.column), cell)
            if own is not None:
                is_same = value_text(own.value) == value_text(cell.value)
                yield cell if is_same else own
        for own in waiting.values():
            if own is not None and all(
                names is None or getattr(own, part) in names
                for part, names in chosen.items()
            ):
                yield own


def read_decisions(path: Path, embedding: LabelEmbedding) -> Decisions:
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
    Decisions
        The decisions. A label, column or value that the embedding does not have, and a
        gap that is none, are errors that name the line.
    """
    table = open_table(path)
    for title in {*TITLES} - {*table.header}:
        export = "give a file that the explorer's Complete page exported."
        table.fault(None, f"has no column {title!r}; {export}")
    table.raise_faults()
    tables = {x.context.name: x.context for x in completable(embedding)}
    cells: dict[Key, Cell | None] = {}
    corrected: set[Key] = set()
    for line, texts in table.rows():
        row = dict(zip(table.header, texts, strict=True))
        try:
            key, cell = _decided(row, embedding, tables)
        except PhcleError as error:
            table.fault(line, str(error))
            continue
        if key in cells:
            table.fault(line, "decides about this cell again; remove one.")
        if row["kind"] == "gap" or cell is not None:
            cells[key] = cell
        if row["kind"] != "gap" and cell is not None:
            corrected.add(key)
    table.raise_faults()
    return Decisions(cells, frozenset(corrected))


def _decided(
    row: Mapping[str, str],
    embedding: LabelEmbedding,
    tables: Mapping[str, DescriptiveContext],
) -> tuple[Key, Cell | None]:
    """The cell that a row is about, with the value that it accepts, if it does."""
    label, title, text = embedding.resolve(row["label"]), row["column"], row["value"]
    check_choice("kind", row["kind"], ("gap", "suspicious"))
    check_choice("decision", row["decision"], ("accept", "reject"))
    check_choice("context", row["context"], tables)
    table = tables[row["context"]]
    fields = {each.title: each for each in table.fields}
    check_choice("column", title, fields)
    is_gap = bool(np.isnan(table.observed_row(label)[fields[title].at.start]))
    if is_gap != (row["kind"] == "gap"):
        raise ContextError(
            f"{title!r} of {label!r} is {'unknown' if is_gap else 'known'} in this "
            "embedding; remove the row, or export the decisions again."
        )
    key = label, table.name, title
    if row["decision"] == "reject":
        return key, None
    kind = fields[title].kind
    value: float | bool | str | None = text or None
    if kind != "category":
        value = {"yes": True, "no": False}.get(text)
    if kind == "number":
        value = float(text) if NUMBER.fullmatch(text) else None
    if value is None:
        form = {"number": "a number", "category": "a text"}.get(kind, "yes or no")
        raise ContextError(f"value of {title!r} must be {form}. Got {text!r} instead.")
    return key, Cell(
        label, embedding.name_of(label), *key[1:], kind, value, why="decided"
    )
