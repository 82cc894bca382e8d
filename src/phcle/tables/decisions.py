"""Decisions about cells, as the explorer's Complete page exports them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phcle.answers import Cell
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.cell_texts import value_text
from phcle.embedding.complete import completable
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, PhcleError, check_choice
from phcle.tables.reader import open_table

TITLES = ("kind", "label", "context", "column", "value", "decision")
"""Columns that a file of decisions must have; it may have others."""

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,2})?")

Key = tuple[str, str, str]
"""Label, context and column of a cell."""


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
