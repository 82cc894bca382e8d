"""Look up the cells of tables: known where a table knows them, predicted elsewhere.

`Table` reads what the fit stored, in blocks of labels, and `Column` says what one field
of them holds: its value, how sure that is, and why. Everything that shows a cell asks
these two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from phcle.answers import Cell, Value
from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.contexts.labels import positions_of
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.family_means import MOST_WITH_FAMILIES, TIE, FamilyMeans
from phcle.embedding.predictions import READ, TagPredictions, all_classes
from phcle.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding
    from phcle.embedding.predictions import TablePredictions

DIGITS = 5
"""Digits of stored numbers that are right."""

TAIL = 1.2816
"""Deviations of a normal distribution at the ends of an interval of 80 %."""

LIKELY = 0.5
"""A yes is more likely than this."""

TRUTH = ("no", "yes")
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Reading:
    """What is known of some labels, and what was predicted, in the user's units.

    Attributes
    ----------
    context : DescriptiveContext
        The context, with the columns that were read.
    known : array of shape (rows, columns)
        Known values; NaN elsewhere.
    values : array of the same shape
        Predicted numbers, and probabilities of tags, of values of categories and of a
        yes. Of known cells, what was predicted without them.
    chance : array of the same shape, or None
        The same probabilities; of a number, that it is above the mean. None if the fit
        predicted nothing.
    low, high : arrays of the same shape, or None
        Intervals of numbers; NaN elsewhere.
    """

    context: DescriptiveContext
    known: Floats
    values: Floats
    chance: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None

    @classmethod
    def of_vectors(cls, context: DescriptiveContext, vectors: AnyFloats) -> Reading:
        """Read what a context predicts for any vectors, from the vectors alone.

        Parameters
        ----------
        context : DescriptiveContext
            The context.
        vectors : array of shape (rows, dim)
            The vectors.

        Returns
        -------
        Reading
            Values without probabilities.
        """
        values = context.predict(vectors)
        return cls(context, np.full(values.shape, np.nan), values)

    def column(self, field: Field) -> Column:
        """Say what one field holds.

        Parameters
        ----------
        field : Field
            One of the fields of `context`.

        Returns
        -------
        Column
            Its known and predicted values.
        """
        known, said = self.known[:, field.at], self.values[:, field.at]
        chance = None if self.chance is None else self.chance[:, field.at]
        is_observed = ~np.isnan(known[:, 0])
        value: Any = np.where(is_observed[:, None], known, said)
        sure = low = high = np.full(len(known), np.nan)
        is_log = bool(self.context.log_shift[field.at.start] == 0)
        if field.kind == "number":
            value = value[:, 0]
            if self.low is not None and self.high is not None:
                low, high = self.low[:, field.at.start], self.high[:, field.at.start]
        else:
            is_predicted = ~np.isnan(value[:, 0])
            code = np.nan_to_num(value, nan=-1.0).argmax(axis=1)
            if not field.values:
                code = np.where(is_observed, known[:, 0] > 0, said[:, 0] > LIKELY)
            value = np.where(is_predicted, code, UNKNOWN).astype(np.int16)
            if chance is not None:
                sure = all_classes(chance).max(axis=1)
        sure, low, high = (np.where(is_observed, np.nan, x) for x in (sure, low, high))
        name = self.context.name
        return Column(name, field, is_observed, value, sure, low, high, chance, is_log)


@dataclass(frozen=True, eq=False)
class Column:
    """One field of some labels.

    Attributes
    ----------
    context : str
        Name of the context.
    field : Field
        The field.
    is_observed : array of bool of shape (labels,)
        Where the value is known.
    value : array of shape (labels,)
        Numbers, NaN where there is none. Of other kinds positions in `values`, −1 where
        nothing is known or predicted.
    confidence : array of shape (labels,)
        Probability of a predicted value; NaN for numbers and where nothing is said.
    low, high : arrays of shape (labels,)
        Intervals of predicted numbers; NaN elsewhere.
    chance : array of shape (labels, columns), or None
        Probability of each value of a category, of a yes or of a tag, and of a number
        above the mean, also where the value is known.
    is_log : bool
        Whether ratios of numbers count, and not differences.
    """

    context: str
    field: Field
    is_observed: Flags
    value: Any
    confidence: Floats
    low: Floats
    high: Floats
    chance: Floats | None = None
    is_log: bool = False

    @property
    def title(self) -> str:
        """Title of the field."""
        return self.field.title

    @property
    def kind(self) -> str:
        """What it holds: "number", "truth", "category" or "tag"."""
        return self.field.kind

    @property
    def is_number(self) -> bool:
        """Whether the field holds numbers."""
        return self.kind == "number"

    @property
    def values(self) -> tuple[str, ...]:
        """What positions in `value` stand for; empty for numbers."""
        return () if self.is_number else self.field.values or TRUTH

    @property
    def shares(self) -> Floats:
        """Probabilities of all values, of a no beside a yes."""
        chance = np.asarray(self.chance)
        return chance if self.field.values else all_classes(chance)

    @cached_property
    def has_value(self) -> Flags:
        """Where a value is known or predicted."""
        if self.is_number:
            return np.asarray(~np.isnan(self.value))
        return np.asarray(self.value != UNKNOWN)

    def value_of(self, row: int) -> Value | None:
        """Say the value of a label.

        Parameters
        ----------
        row : int
            Position of the label.

        Returns
        -------
        float, bool, str or None
            A number, yes or no, a value of a category, or None.
        """
        if not self.has_value[row]:
            return None
        if self.is_number:
            return float(self.value[row])
        at = int(self.value[row])
        return self.field.values[at] if self.field.values else bool(at)

    def cell(self, row: int, label: str, name: str, **more: Any) -> Cell:
        """Return the cell of a label.

        Parameters
        ----------
        row : int
            Position of the label.
        label, name : str
            The label and its readable name.
        **more : object
            Other fields of the cell.

        Returns
        -------
        Cell
            The cell.
        """
        about = {
            "value": self.value_of(row),
            "observed": bool(self.is_observed[row]),
            "confidence": as_number(self.confidence[row]),
            "low": as_number(self.low[row]),
            "high": as_number(self.high[row]),
        }
        whose = (label, name, self.context, self.title, self.kind)
        return Cell(*whose, **{**about, **more})


def as_number(number: Any) -> float | None:
    """Return a number, or None for NaN.

    Parameters
    ----------
    number : float
        The number.

    Returns
    -------
    float or None
        The same number.
    """
    number = float(number)
    return None if math.isnan(number) else number


class Table:
    """The cells of one context over the labels of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : DescriptiveContext
        One of its contexts.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> tags = {"cat": ["fur"], "dog": ["fur"], "carp": ["fins"], "eel": ["fins"]}
    >>> contexts = [DescriptiveContext.from_tags(tags, name="looks")]
    >>> embedding = PHCLE(dim=2).fit(contexts).embedding_
    >>> fins = embedding.tables["looks"].column("fins")
    >>> [fins.value_of(row) for row in range(4)]
    [False, False, True, True]
    """

    def __init__(self, embedding: LabelEmbedding, context: DescriptiveContext) -> None:
        self.embedding, self.context = embedding, context

    def __len__(self) -> int:
        return len(self.embedding)

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields by title."""
        return {field.title: field for field in self.context.fields}

    def field(self, title: str) -> Field:
        """Find a field.

        Parameters
        ----------
        title : str
            Its title.

        Returns
        -------
        Field
            The field; an unknown one is refused.
        """
        if title not in self.fields:
            raise OptionError(
                f"no column {title!r} in {self.context.name!r} of this embedding."
                f"{did_you_mean(title, self.fields)}"
            )
        return self.fields[title]

    @cached_property
    def stored(self) -> TablePredictions | None:
        """What the fit predicted, a row for each label; None if it predicted nothing.

        Readers of labels that were added since are fitted again, once.
        """
        if not self.embedding.predictions:
            return None
        from phcle.embedding.completion import predictions_of  # scikit-learn is slow

        return predictions_of(self.embedding, self.context)

    @cached_property
    def positions(self) -> Ints:
        """For each label that the context lists its row in `embedding`, or −1."""
        return positions_of(self.context.labels, self.embedding.row_of)

    @cached_property
    def _listed(self) -> Ints:
        """For each row of `embedding` its position in the context, or −1."""
        return positions_of(self.embedding.labels, self.context.index)

    def read(self, rows: Ints, field: Field | None = None) -> Reading:
        """Look up some labels.

        Parameters
        ----------
        rows : array of int
            Rows of the labels.
        field : Field, optional
            Read one field only; by default all columns.

        Returns
        -------
        Reading
            What is known of them, and what was predicted. Without predictions, what the
            vectors say; NaN if the fit found that the context predicts nothing.
        """
        rows, whole = np.asarray(rows), self.context
        own = whole if field is None else whole.of_field(field)
        known = np.full((len(rows), len(own.columns)), np.nan)
        at = self._listed[rows]
        if own.labels and (at >= 0).any():
            known[at >= 0] = own.matrix.take(at[at >= 0]).toarray()
        if whole.weight <= 0:
            return Reading(own, known, np.full(known.shape, np.nan))
        found = self.stored
        if found is None:
            return Reading(own, known, own.predict(self.embedding.vectors[rows]))
        columns = slice(None) if field is None else field.at
        chance = found.shares_of(rows, columns)
        is_number = whole.is_number[columns]
        if isinstance(found, TagPredictions) or not is_number.any():
            return Reading(own, known, chance, chance)
        numbers = [x.kind == "number" and field in (None, x) for x in whole.fields]
        steps = np.full((len(READ), *known.shape), np.nan)
        steps[..., is_number] = found.numbers[:, numbers][rows].transpose(2, 0, 1)
        step, low, high = steps
        width = np.maximum(high - low, 1e-12) / (2 * TAIL)
        in_units = own.in_units(steps * own.scale + own.offset)
        values, low, high = _rounded(own, in_units)
        values = np.where(is_number, values, chance)
        chance = np.where(is_number, ndtr(step / width), chance)
        return Reading(own, known, values, chance, low, high)

    def known_and_predicted(self, field: Field) -> tuple[Ints, Column, Column]:
        """Find the known cells of a field, and what was predicted without them.

        Parameters
        ----------
        field : Field
            One of the fields, but no tag.

        Returns
        -------
        rows : array of int
            Rows of the labels.
        known, said : Column
            Their known and their predicted values.
        """
        read = self.read(np.arange(len(self)), field)
        rows = np.flatnonzero(~np.isnan(read.known + read.values).any(axis=1))
        read = self.read(rows, field)
        (alone,) = read.context.fields
        unknown = replace(read, known=np.full_like(read.known, np.nan))
        return rows, read.column(alone), unknown.column(alone)

    def column(self, title: str, rows: Ints | None = None) -> Column:
        """Look up one field.

        Parameters
        ----------
        title : str
            Its title.
        rows : array of int, optional
            Rows of the labels; by default all.

        Returns
        -------
        Column
            The field of these labels.
        """
        rows = np.arange(len(self)) if rows is None else rows
        field = self.field(title)
        read = self.read(rows, field)
        return replace(read.column(read.context.fields[0]), field=field)

    @cached_property
    def family(self) -> FamilyMeans | None:
        """Means of the nearest groups of a hierarchy; None without one."""
        embedding = self.embedding
        if not self.context.labels or len(embedding) > MOST_WITH_FAMILIES:
            return None
        if not embedding.families.steps:
            return None
        is_inside = self.positions >= 0
        matrix = self.context.fit_matrix.take(np.flatnonzero(is_inside))
        return FamilyMeans(matrix, embedding.families, self.positions[is_inside])

    def family_says(self, rows: Ints, fields: Sequence[Field]) -> list[Column]:
        """Say what the families of some labels say about fields.

        It is the mean of a number (the geometric mean of one on a log scale), or the
        most common value, of the nearest group of a hierarchy that knows any.

        Parameters
        ----------
        rows : array of int
            Rows of the labels.
        fields : sequence of Field
            The fields.

        Returns
        -------
        list of Column
            The fields; without a value where the family knows none.
        """
        whole = self.context
        said = np.full((len(rows), len(whole.columns)), np.nan)
        if self.family is not None:
            said = self.family.at(np.asarray(rows))
            shares = said + TIE * (self.family.overall - said)
            said = np.where(whole.is_number, whole.in_units(said), shares)
        read = Reading(whole, np.full(said.shape, np.nan), said)
        return [read.column(field) for field in fields]


def _rounded(own: DescriptiveContext, values: Floats) -> Floats:
    """Numbers without the last digits, which storing them made up: 0 and not 1e-9."""
    is_log = ~np.isnan(own.log_shift)
    size = np.where(is_log, np.abs(values) + own.log_shift, own.scale)
    unit = 10.0 ** np.floor(np.log10(np.maximum(size, 1e-300)) - DIGITS)
    return np.asarray(np.round(values / unit) * unit)
