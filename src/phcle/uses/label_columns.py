"""Columns of attributes over all labels: observed where known, predicted elsewhere.

A column is a field as the user knows it: a number, a truth value, a category, or a tag.
Columns are looked up in blocks when they are first asked for; the last ones are kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import Flags, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.embedding.cell_texts import interval_text, number_text
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import read_predictions, rows_of_data
from phcle.errors import OptionError, did_you_mean

Floats = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int16]

BLOCK = 50_000
"""Labels that are looked up at once: some 50 MB."""

MOST_KEPT = 64
"""Columns that are kept: 23 bytes for each label, so 75 MB at 50,000 labels."""

N_BINS = 24
"""Bars of a histogram."""

TRUTH = ("no", "yes")
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Bins:
    """A histogram, in equal steps or in equal ratios.

    Attributes
    ----------
    edges : array of shape (bins + 1,)
        Ends of the bins; the outer ones hold what lies beyond them, too.
    at : array of int of shape (labels,)
        The bin of each label; `N_BINS` if it has no number.
    counts : array of int of shape (bins,)
        Labels in each bin.
    """

    edges: npt.NDArray[np.float64]
    at: npt.NDArray[np.uint8]
    counts: Ints


def _bins(numbers: Floats, is_log: bool) -> Bins:
    """A histogram of numbers of which some are NaN."""
    has_number = ~np.isnan(numbers)
    values = numbers[has_number].astype(np.float64)
    at = np.full(len(numbers), N_BINS, np.uint8)
    if not len(values):
        return Bins(np.zeros(0), at, np.zeros(0, np.int64))
    low, high = np.quantile(values, [0.005, 0.995])
    space = np.geomspace if is_log and low > 0 else np.linspace
    edges = space(low, high, N_BINS + 1)
    at[has_number] = np.searchsorted(edges[1:-1], values, side="right")
    edges[0], edges[-1] = min(low, values.min()), max(high, values.max())
    return Bins(edges, at, np.bincount(at, minlength=N_BINS + 1)[:N_BINS])


@dataclass(frozen=True, eq=False)
class FieldColumn:
    """One field of all labels.

    Attributes
    ----------
    context, title : str
        Name of the context, and of the field.
    kind : str
        "number", "truth", "category" or "tag".
    values : tuple of str
        What codes stand for; empty for numbers.
    code : array of int of shape (labels,)
        Position of each label's value in `values`; −1 if it is neither known nor
        predicted. Empty for numbers.
    number : array of shape (labels,)
        Numbers, NaN where there is none; empty for other kinds.
    is_observed : array of bool of shape (labels,)
        Where the value is known.
    confidence : array of shape (labels,)
        Probability of a predicted value; NaN for numbers and where nothing is said.
    low, high : arrays of shape (labels,)
        Intervals of predicted numbers; NaN elsewhere. Empty for other kinds.
    is_log : bool
        Whether ratios of numbers count, and not differences.
    """

    context: str
    title: str
    kind: str
    values: tuple[str, ...]
    code: Codes
    number: Floats
    is_observed: Flags
    confidence: Floats
    low: Floats
    high: Floats
    is_log: bool

    @property
    def is_number(self) -> bool:
        """Whether the field holds numbers."""
        return self.kind == "number"

    @cached_property
    def has_value(self) -> Flags:
        """Where a value is known or predicted."""
        return ~np.isnan(self.number) if self.is_number else self.code != UNKNOWN

    @cached_property
    def bins(self) -> Bins:
        """A histogram of all numbers."""
        return _bins(self.number, self.is_log)

    @cached_property
    def observed_bins(self) -> Bins:
        """A histogram of the observed numbers."""
        return _bins(np.where(self.is_observed, self.number, np.nan), self.is_log)

    def order(self, *, descending: bool) -> npt.NDArray[np.int32]:
        """Sort all labels by value; those without one come last.

        Parameters
        ----------
        descending : bool
            Whether large values come first.

        Returns
        -------
        array of int of shape (labels,)
            Rows in order, sorted once; equal ones stay as they were.
        """
        return self._descending if descending else self._ascending

    @cached_property
    def _ascending(self) -> npt.NDArray[np.int32]:
        return np.argsort(self._keys, kind="stable").astype(np.int32)

    @cached_property
    def _descending(self) -> npt.NDArray[np.int32]:
        return np.argsort(-self._keys, kind="stable").astype(np.int32)

    @property
    def _keys(self) -> npt.NDArray[np.floating]:
        """What labels are sorted by; NaN without a value."""
        if self.is_number:
            return self.number
        ranks = np.argsort(np.argsort(np.array(self.values)))
        return np.append(ranks, np.nan).astype(np.float32)[self.code]

    @cached_property
    def gaps(self) -> npt.NDArray[np.int32]:
        """Rows with a predicted value, the surest first; of tags, the present ones.

        Sure is a high probability, or a narrow interval; what has neither comes last.
        """
        is_gap = ~self.is_observed & self.has_value
        if self.kind == "tag":  # most labels lack most tags
            is_gap &= self.code == 1
        rows = np.flatnonzero(is_gap)
        if self.is_number:
            low, high = self.low[rows], self.high[rows]
            if self.is_log:
                low, high = (np.log(np.maximum(x, 1e-30)) for x in (low, high))
            unsure = high - low
        else:
            unsure = -self.confidence[rows]
        order = np.argsort(np.nan_to_num(unsure, nan=np.inf), kind="stable")
        return rows[order].astype(np.int32)

    def value(self, row: int) -> float | str | None:
        """Say the value of a label.

        Parameters
        ----------
        row : int
            Row of the label.

        Returns
        -------
        float, str or None
            A number, one of `values`, or None.
        """
        if not self.has_value[row]:
            return None
        if self.is_number:
            return float(f"{self.number[row]:.6g}")
        return self.values[int(self.code[row])]

    def text(self, row: int) -> str:
        """Write the value of a label.

        Parameters
        ----------
        row : int
            Row of the label.

        Returns
        -------
        str
            The value; empty if there is none.
        """
        value = self.value(row)
        if isinstance(value, float):
            return number_text(value, 6 if self.is_observed[row] else 3)
        return value or ""

    def how(self, row: int) -> str:
        """Say where the value of a label comes from.

        Parameters
        ----------
        row : int
            Row of the label.

        Returns
        -------
        str
            "observed", "predicted" with its confidence or interval, or nothing.
        """
        if not self.has_value[row]:
            return ""
        if self.is_observed[row]:
            return "observed"
        if self.is_number and not np.isnan(self.low[row]):
            return f"predicted {interval_text(self.low[row], self.high[row])}"
        if not np.isnan(self.confidence[row]):
            return f"predicted {self.confidence[row]:.0%}"
        return "predicted"


class LabelColumns:
    """The fields of an embedding over all its labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> tags = {"cat": ["fur"], "dog": ["fur"], "carp": ["fins"], "eel": ["fins"]}
    >>> contexts = [DescriptiveContext.from_tags(tags, name="looks")]
    >>> columns = LabelColumns(PHCLE(dim=2).fit(contexts).embedding_)
    >>> fins = columns.get("looks", "fins")
    >>> [fins.text(row) for row in range(4)]
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(self, embedding: LabelEmbedding) -> None:
        self.embedding = embedding
        self._kept: OrderedDict[tuple[str, str], FieldColumn] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def tables(self) -> dict[str, PredictingContext]:
        """Contexts with columns that people read, by name; no texts."""
        return {
            x.name: cast(PredictingContext, x)
            for x in self.embedding.contexts
            if x.can_be_completed
        }

    @cached_property
    def fields(self) -> dict[tuple[str, str], Field]:
        """All fields, by name of the context and title."""
        return {
            (name, field.title): field
            for name, table in self.tables.items()
            for field in table.fields
        }

    def field(self, context: str, title: str) -> Field:
        """Find a field.

        Parameters
        ----------
        context, title : str
            Name of its context, and its title.

        Returns
        -------
        Field
            The field; an unknown one is refused.
        """
        found = self.fields.get((context, title))
        if found is None:
            titles = [x for name, x in self.fields if name == context]
            raise OptionError(
                f"no column {title!r} in {context!r} of this embedding."
                f"{did_you_mean(title, titles)}"
            )
        return found

    def get(self, context: str, title: str) -> FieldColumn:
        """Return the column of a field.

        Parameters
        ----------
        context, title : str
            Name of its context, and its title.

        Returns
        -------
        FieldColumn
            The column, observed and predicted.
        """
        key = (context, title)
        field = self.field(*key)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._column(self.tables[context], field)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made

    def positions(self, context: PredictingContext) -> Ints:
        """Find the rows of the labels that a context lists.

        Parameters
        ----------
        context : PredictingContext
            A context.

        Returns
        -------
        array of int
            For each label of its data the row in the embedding, or −1.
        """
        return rows_of_data(self.embedding, context)

    def tags(self, context: PredictingContext) -> tuple[Ints, Ints]:
        """Find the tags that labels are known to have; they are found once.

        Parameters
        ----------
        context : PredictingContext
            A context of tags.

        Returns
        -------
        rows : array of int
            For each tag of a label the position of the label in the context's data.
        columns : array of int
            The column of the tag.
        """
        if context.name not in self._tags:
            assert context.data is not None
            cells = sp.coo_array(context.data.matrix.arrays[0])
            has_it = cells.data > 0
            rows, columns = (
                np.asarray(x[has_it], np.int64) for x in (cells.row, cells.col)
            )
            self._tags[context.name] = rows, columns
        return self._tags[context.name]

    @cached_property
    def _tags(self) -> dict[str, tuple[Ints, Ints]]:
        return {}

    def observed(self, context: PredictingContext, field: Field) -> list[Floats]:
        """Return the known values of a field over all labels.

        Parameters
        ----------
        context : PredictingContext
            The context.
        field : Field
            One of its fields.

        Returns
        -------
        list of array of shape (labels,)
            An array for each column of the field; NaN is missing.
        """
        at = self.positions(context)
        found = []
        for i in range(field.at.start, field.at.stop):
            whole = np.full(len(self.embedding), np.nan, np.float32)
            if context.data is not None:
                whole[at[at >= 0]] = context.data.matrix.column(i)[at >= 0]
            found.append(whole)
        return found

    def _column(self, context: PredictingContext, field: Field) -> FieldColumn:
        """Compute a column."""
        n, is_number = len(self.embedding), field.kind == "number"
        known = self.observed(context, field)
        is_observed = ~np.isnan(known[0])
        confidence = np.full(n, np.nan, np.float32)
        nothing = np.zeros(0, np.float32)
        number = known[0].copy() if is_number else nothing
        low, high = (
            (np.full(n, np.nan, np.float32) if is_number else nothing) for _ in range(2)
        )
        values = () if is_number else field.values or TRUTH
        code = np.full(0 if is_number else n, UNKNOWN, np.int16)
        if not is_number:
            best = _first_largest(known) if field.values else known[0] > 0
            code[is_observed] = best[is_observed]
        for start in range(0, n if context.weight > 0 else 0, BLOCK):
            rows = start + np.flatnonzero(~is_observed[start : start + BLOCK])
            if not len(rows):
                continue
            read = read_predictions(self.embedding, context, rows, field=field)
            if is_number:
                number[rows] = read.values[:, 0]
                if read.low is not None and read.high is not None:
                    low[rows], high[rows] = read.low[:, 0], read.high[:, 0]
                continue
            if field.values:
                code[rows] = read.values.argmax(axis=1)
                chance = None if read.chance is None else read.chance.max(axis=1)
            else:
                code[rows] = read.values[:, 0] > 0.5
                chance = None
                if read.chance is not None:
                    chance = np.maximum(read.chance[:, 0], 1 - read.chance[:, 0])
            if chance is not None:
                confidence[rows] = chance
        return FieldColumn(
            context.name,
            field.title,
            field.kind,
            values,
            code,
            number,
            is_observed,
            confidence,
            low,
            high,
            is_number and bool(context.log_shift[field.at.start] == 0),
        )


def _first_largest(columns: Sequence[Floats]) -> Codes:
    """For each label the position of its largest value."""
    best = np.zeros(len(columns[0]), np.int16)
    largest = columns[0].copy()
    for i, column in enumerate(columns[1:], 1):
        is_larger = column > largest
        best[is_larger] = i
        largest[is_larger] = column[is_larger]
    return best
