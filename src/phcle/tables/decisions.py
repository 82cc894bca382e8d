"""Decisions about cells, as the explorer's Complete page exports them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from phcle.answers import CompletedCell
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.readers.table_files import open_table
from phcle.embedding.cell_texts import value_text
from phcle.embedding.complete import completable
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError, did_you_mean

TITLES = ("kind", "label", "context", "column", "value", "decision")
"""Columns that a file of decisions must have; it may have others."""

GAP = "gap"
KINDS = (GAP, "suspicious")
DECISIONS = ("accept", "reject")
FORMS = {"number": "a number", "truth": "yes or no", "tag": "yes or no"}

Key = tuple[str, str, str]
"""Label, context and column of a cell."""


@dataclass(frozen=True)
class Decisions:
    """What somebody decided about predicted values.

    Attributes
    ----------
    accepted : mapping
        Cells with a value that was accepted or changed, by label, context and column.
    refused : frozenset
        Gaps that stay unknown.
    corrected : frozenset
        Those of `accepted` that were known: their old values are replaced.
    """

    accepted: Mapping[Key, CompletedCell] = field(default_factory=dict)
    refused: frozenset[Key] = frozenset()
    corrected: frozenset[Key] = frozenset()

    def changed(self, context_of: Mapping[str, str]) -> set[tuple[str, str]]:
        """Find the known cells of a table that get another value.

        Parameters
        ----------
        context_of : mapping from str to str
            Contexts by the titles of the table's columns.

        Returns
        -------
        set of (str, str)
            Labels and titles.
        """
        return {
            (label, title)
            for label, context, title in self.corrected
            if context_of.get(title) == context
        }

    def applied(
        self, cells: Iterable[CompletedCell], **chosen: Collection[str] | None
    ) -> Iterator[CompletedCell]:
        """Give predicted cells as somebody decided about them.

        Parameters
        ----------
        cells : iterable of CompletedCell
            The predicted cells.
        **chosen : collections of str, optional
            `label`, `context` and `column`: what is completed; by default all.

        Yields
        ------
        CompletedCell
            The cells without those that were refused. A value that was accepted as it
            was shown keeps its decimals. Accepted cells that were not predicted, and
            corrected ones, come last.
        """
        waiting = dict(self.accepted)
        for cell in cells:
            key = cell.label, cell.context, cell.column
            own = waiting.pop(key, None)
            if own is not None and value_text(own.value) != value_text(cell.value):
                yield replace(own, family=cell.family)
            elif key not in self.refused:
                yield cell if own is None else replace(cell, why="accepted")
        for cell in waiting.values():
            if all(own is None or getattr(cell, x) in own for x, own in chosen.items()):
                yield cell


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
    for title in TITLES:
        if title not in table.header:
            table.fault(
                None,
                f"has no column {title!r}; give a file that the explorer's Complete "
                "page exported.",
            )
    table.raise_faults()
    found: dict[Key, tuple[str, CompletedCell | None]] = {}
    tables = {context.name: context for context in completable(embedding)}
    for line, cells in table.rows():
        row = dict(zip(table.header, cells, strict=True))
        try:
            cell = _decided(row, embedding, tables)
        except FileError as error:
            table.fault(line, str(error))
            continue
        key = row["label"], row["context"], row["column"]
        if key in found:
            table.fault(line, "decides about this cell again; remove one.")
        found[key] = row["kind"], cell
    table.raise_faults()
    return Decisions(
        {key: cell for key, (_, cell) in found.items() if cell is not None},
        frozenset(
            x for x, (kind, cell) in found.items() if (kind, cell) == (GAP, None)
        ),
        frozenset(x for x, (kind, cell) in found.items() if kind != GAP and cell),
    )


def _decided(
    row: Mapping[str, str],
    embedding: LabelEmbedding,
    tables: Mapping[str, PredictingContext],
) -> CompletedCell | None:
    """The cell that a row accepts; None if it refuses one."""
    label, title = row["label"], row["column"]
    if label not in embedding:
        hint = did_you_mean(label, embedding.labels)
        raise FileError(f"the embedding has no label {label!r}.{hint}")
    table = tables.get(row["context"])
    fields = {} if table is None else {field.title: field for field in table.fields}
    if table is None or title not in fields:
        hint = did_you_mean(title, fields)
        where = f"context {row['context']!r} that is completed"
        raise FileError(f"the embedding has no column {title!r} in a {where}.{hint}")
    is_gap = bool(np.isnan(table.observed_row(label)[fields[title].at.start]))
    if row["kind"] not in KINDS or row["decision"] not in DECISIONS:
        raise FileError(
            f"kind must be {' or '.join(KINDS)} and decision {' or '.join(DECISIONS)}. "
            f"Got {row['kind']!r} and {row['decision']!r} instead."
        )
    if is_gap != (row["kind"] == GAP):
        so = "unknown" if is_gap else "known"
        raise FileError(
            f"{title!r} of {label!r} is {so} in this embedding; remove the row, or "
            "export the decisions from this embedding."
        )
    if row["decision"] == "reject":
        return None
    kind = fields[title].kind
    value = _value(row["value"], kind)
    if value is None:
        form = FORMS.get(kind, "a text")
        raise FileError(f"value of {title!r} must be {form}. Got {row['value']!r}.")
    nothing = None, None, None, None
    return CompletedCell(
        label, table.name, title, kind, value, *nothing, "decided", None
    )


def _value(text: str, kind: str) -> float | bool | str | None:
    """A value as the page writes it; None if the column cannot have it."""
    if kind in ("truth", "tag"):
        return {"yes": True, "no": False}.get(text)
    if kind != "number":
        return text or None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
