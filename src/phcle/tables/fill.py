"""Fill the gaps of a user's own table and leave everything else as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from phcle.answers import FilledTable
from phcle.contexts.readers.table_files import Reading
from phcle.contexts.unknown_markers import UnknownMarkers
from phcle.embedding.complete import completed_cells
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError, OptionError, check_choice, some
from phcle.files.atomic import write_whole
from phcle.tables.decisions import Decisions
from phcle.tables.spelling import ColumnSpelling, Value
from phcle.tables.writable import WritableTable, open_writable

SOMETIMES = 500
"""Labels after which the progress is shown again."""

EXAMPLES = 5
"""Labels without a prediction that an answer names."""

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
    progress: Callable[[int, int], None] = lambda done, total: None,
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
    progress : callable, optional
        Called with the rows done and in total.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    decisions, reading = decisions or Decisions(), reading or Reading()
    source = open_writable(table, out, reading)
    context_of = _contexts_of_titles(embedding, source, columns, contexts)
    wanted = None if labels is None else set(map(embedding.resolve, labels))

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
            if context_of.get(cell.column) == cell.context:
                yield cell.label, cell.column, cell.value

    gaps = _Gaps(source, reading.markers, fill_markers, decisions.changed(context_of))
    gaps.look(list(context_of), embedding.label_spelled, wanted)
    return gaps.fill(out, predict, progress)


def _contexts_of_titles(
    embedding: LabelEmbedding,
    source: WritableTable,
    columns: Sequence[str] | None,
    contexts: Sequence[str] | None,
) -> dict[str, str]:
    """The columns of a table that are predicted, with their contexts."""
    found: dict[str, list[str]] = {}
    for context in embedding.predicting:
        if contexts is None or context.name in contexts:
            for own in context.fields:
                found.setdefault(own.title, []).append(context.name)
    table, titles = source.path, source.header[1:]
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
    changed: Collection[tuple[str, str]] = (),
    progress: Callable[[int, int], None] = lambda done, total: None,
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
    progress : callable, optional
        Called with the labels done and in total.
    reading : Reading, optional
        How the user wants the table to be read; by default all is found out.

    Returns
    -------
    FilledTable
        How many cells were filled, and what was left.
    """
    reading = reading or Reading()
    source = open_writable(table, out, reading)
    gaps = _Gaps(source, reading.markers, fill_markers, changed)
    gaps.look(titles, label_of, wanted)
    return gaps.fill(out, predict, progress)


class _Gap(NamedTuple):
    """A cell to be filled, and whether that changes a known value."""

    place: Any
    label: str
    title: str
    is_known: bool


@dataclass
class _Gaps:
    """The gaps of a table, and how its columns write their values."""

    source: WritableTable
    markers: UnknownMarkers
    fill_markers: bool
    changed: Collection[tuple[str, str]]
    gaps: list[_Gap] = field(default_factory=list)
    spellings: dict[str, ColumnSpelling] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    n_rows: int = 0
    n_markers: int = 0

    def look(
        self,
        titles: Collection[str],
        label_of: Callable[[str], str | None],
        wanted: Collection[str] | None,
    ) -> None:
        """Read all rows."""
        header = self.source.header
        at = {i: title for i, title in enumerate(header) if i and title in titles}
        self.spellings = {title: ColumnSpelling() for title in at.values()}
        for number, texts, places in self.source.body:
            if not any(texts):
                continue
            if len(texts) < len(header) or any(texts[len(header) :]):
                raise FileError(
                    f"{self.source.where(number)}: has {len(texts)} cells, but the "
                    f"header has {len(header)}; quote a cell that holds the separator."
                )
            self.n_rows += 1
            label = label_of(texts[0]) if texts[0] else None
            if texts[0] and label is None:
                self.unknown.append(texts[0])
            for i, title in at.items():
                self._see(texts[i], places[i], title, label, wanted)

    def _see(
        self,
        text: str,
        place: Any,
        title: str,
        label: str | None,
        wanted: Collection[str] | None,
    ) -> None:
        """Take note of a cell."""
        is_known = not self.markers.is_unknown(text)
        if is_known:
            self.spellings[title].see(text)
        if label is None or place is None:
            return
        if text and not is_known and not self.fill_markers:
            self.n_markers += 1
        elif wanted is not None and label not in wanted:
            return
        elif not is_known or (label, title) in self.changed:
            self.gaps.append(_Gap(place, label, title, is_known))

    def fill(
        self, out: Path, predict: Predict, progress: Callable[[int, int], None]
    ) -> FilledTable:
        """Write the table with predicted values in its gaps."""
        asked = list(dict.fromkeys(gap.label for gap in self.gaps))
        at = {label: n for n, label in enumerate(asked, 1)}
        values: dict[tuple[str, str], Value] = {}
        for label, title, value in predict(asked):
            if (label, title) not in values and at[label] % SOMETIMES == 0:
                progress(at[label], len(asked))
            values[label, title] = value
        new: dict[Any, tuple[Value, str]] = {}
        for place, label, title, _ in self.gaps:
            value = values.get((label, title), "")
            if text := self.spellings[title].text(value):
                new[place] = value, text
        with write_whole(out) as temporary:
            self.source.save(temporary, new)
        n_gaps = sum(not gap.is_known for gap in self.gaps)
        n_filled = sum(gap.place in new for gap in self.gaps if not gap.is_known)
        return FilledTable(
            table=str(self.source.path),
            file=str(out),
            rows=self.n_rows,
            filled=n_filled,
            changed=len(new) - n_filled,
            left_empty=n_gaps - n_filled,
            markers=self.n_markers,
            unknown_rows=len(self.unknown),
            unknown_labels=tuple(self.unknown[:EXAMPLES]),
        )
