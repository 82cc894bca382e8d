"""The row of a label in each table: observed where known, predicted elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.embedding.cell_texts import interval_text, number_text
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import Reading, read_predictions
from phcle.explorer.answers import LabelCell

Floats = npt.NDArray[np.floating]

KINDS = ("number", "truth", "category")
"""Kinds of fields that each label has; of tags and words, only some matter."""

MOST_CELLS = 60
"""Cells of a table on the page of a label; the table has all of them."""


def label_cells(embedding: LabelEmbedding, label: str) -> tuple[LabelCell, ...]:
    """Find the cells of a label in the tables of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    label : str
        The label's id.

    Returns
    -------
    tuple of LabelCell
        The cells in the order of the tables; those that are neither known nor
        predicted are left out.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> labels = ("cat", "dog", "eel", "carp")
    >>> cells = {"legs": [4, 4, 0, 0], "skin": ["fur", "fur", "wet", "wet"]}
    >>> table = DescriptiveContext.from_cells(labels, cells, "looks")
    >>> found = label_cells(PHCLE(dim=2).fit(table).embedding_, "eel")
    >>> [(cell.column, cell.text, cell.observed) for cell in found]
    [('legs', '0', True), ('skin', 'wet', True)]
    """
    return tuple(
        cell
        for context in embedding.contexts
        if context.can_be_completed
        for cell in _cells(embedding, cast(PredictingContext, context), label)
    )


def _cells(
    embedding: LabelEmbedding, context: PredictingContext, label: str
) -> Iterator[LabelCell]:
    """The cells of one table."""
    fields = [field for field in context.fields if field.kind in KINDS][:MOST_CELLS]
    if not fields:
        return
    known = context.observed_row(label)
    read = None
    if context.weight > 0:
        vector = embedding.vector_of(label)
        read = read_predictions(embedding, context, vector[None, :], [label])
    for field in fields:
        if not np.isnan(known[field.at.start]):
            yield LabelCell(context.name, field.title, _text(field, known, 6), True)
        elif read is not None:
            yield _predicted(context, field, read)


def _predicted(context: PredictingContext, field: Field, read: Reading) -> LabelCell:
    """A cell that is not known."""
    values = read.values[0]
    cell = (context.name, field.title, _text(field, values, 3), False)
    if field.kind == "number":
        if read.low is None or read.high is None:
            return LabelCell(*cell)
        low, high = (float(x[0, field.at.start]) for x in (read.low, read.high))
        interval = "" if np.isnan(low) else interval_text(low, high)
        return LabelCell(*cell, interval=interval)
    if read.chance is None:
        return LabelCell(*cell)
    chance = read.chance[0, field.at]
    # Of yes or no, the one that is written.
    confidence = chance.max() if field.values else max(chance[0], 1 - chance[0])
    return LabelCell(*cell, confidence=float(confidence))


def _text(field: Field, values: Floats, digits: int) -> str:
    """Write the value of a field; predicted numbers have fewer digits."""
    own = values[field.at]
    if field.kind == "number":
        return number_text(float(own[0]), digits)
    if field.values:
        return field.values[int(own.argmax())]
    return "yes" if own[0] > 0.5 else "no"
