"""Columns over all labels as pages show them: sorted, counted, and as texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.answers import Cell
from phcle.arrays import Floats, Ints
from phcle.contexts.encoders import Field
from phcle.embedding.cell_texts import interval_text, number_text, value_text
from phcle.embedding.columns import Column, Table
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, did_you_mean

MOST_KEPT = 48
"""Columns that are kept: some 30 bytes for each label, so 75 MB at 50,000 labels."""

N_BINS = 24
"""Bars of a histogram."""

SMALLEST = 0.005
"""Smallest probability that is shown: it is 1 % as it is written."""

MOST_VALUES = 5
"""Values of a category whose probabilities are shown."""


@dataclass(frozen=True, kw_only=True)
class ShownCell(Cell):
    """A cell with its texts.

    Attributes
    ----------
    text : str
        The value as it is shown.
    interval : str
        The interval of a number, in words.
    how : str
        Where the value comes from, in words.
    family_text : str
        What the family says, in words.
    """

    text: str
    interval: str
    how: str
    family_text: str

    @property
    def likely(self) -> list[tuple[str, float]]:
        """The most likely values of a category, with their probabilities."""
        shares = [x for x in (self.probabilities or {}).items() if x[1] >= SMALLEST]
        return sorted(shares, key=lambda x: -x[1])[:MOST_VALUES]


def shown(cell: Cell) -> ShownCell:
    """Add its texts to a cell.

    Parameters
    ----------
    cell : Cell
        The cell.

    Returns
    -------
    ShownCell
        The cell with texts; a known number has more digits than a predicted one.
    """
    text, interval = value_text(cell.value), interval_text(cell.low, cell.high)
    if cell.kind == "number" and cell.observed and cell.value is not None:
        text = number_text(float(cell.value), 6)
    sure = interval or ("" if cell.confidence is None else f"{cell.confidence:.0%}")
    how = "observed" if cell.observed else f"predicted {sure}".rstrip()
    return ShownCell(
        **vars(cell),
        text=text,
        interval=interval,
        how="" if cell.value is None else how,
        family_text=value_text(cell.family),
    )


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

    edges: Floats
    at: npt.NDArray[np.uint8]
    counts: Ints


def _bins(values: Floats, is_log: bool) -> Bins:
    """A histogram of numbers of which some are NaN."""
    has_number = ~np.isnan(values)
    known = values[has_number]
    at = np.full(len(values), N_BINS, np.uint8)
    if not len(known):
        return Bins(np.zeros(0), at, np.zeros(0, np.int64))
    low, high = np.quantile(known, [0.005, 0.995])
    space = np.geomspace if is_log and low > 0 else np.linspace
    edges = space(low, high, N_BINS + 1)
    at[has_number] = np.searchsorted(edges[1:-1], known, side="right")
    edges[0], edges[-1] = min(low, known.min()), max(high, known.max())
    return Bins(edges, at, np.bincount(at, minlength=N_BINS + 1)[:N_BINS])


@dataclass(frozen=True, eq=False)
class SortedColumn(Column):
    """A column of all labels with its order and its histograms, made once."""

    @cached_property
    def bins(self) -> Bins:
        """A histogram of all numbers."""
        return _bins(self.value, self.is_log)

    @cached_property
    def observed_bins(self) -> Bins:
        """A histogram of the observed numbers."""
        return _bins(np.where(self.is_observed, self.value, np.nan), self.is_log)

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
    def _keys(self) -> Any:
        """What labels are sorted by; NaN without a value."""
        if self.is_number:
            return self.value
        ranks = np.argsort(np.argsort(np.array(self.values)))
        return np.append(ranks, np.nan).astype(np.float32)[self.value]

    @cached_property
    def gaps(self) -> npt.NDArray[np.int32]:
        """Rows with a predicted value, the surest first; of tags, the present ones.

        Sure is a high probability, or a narrow interval; what has neither comes last.
        """
        is_gap = ~self.is_observed & self.has_value
        if self.kind == "tag":  # most labels lack most tags
            is_gap &= self.value == 1
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


class LabelColumns:
    """The fields of an embedding over all its labels; the last ones are kept.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    """

    def __init__(self, embedding: LabelEmbedding) -> None:
        self.tables: dict[str, Table] = {
            name: table
            for name, table in embedding.tables.items()
            if table.context.can_be_completed
        }
        self.fields: dict[tuple[str, str], Field] = {
            (name, title): field
            for name, table in self.tables.items()
            for title, field in table.fields.items()
        }
        self._kept: OrderedDict[tuple[str, str], SortedColumn] = OrderedDict()
        self._tags: dict[str, tuple[Ints, Ints]] = {}
        self._lock = threading.Lock()

    def get(self, context: str, title: str) -> SortedColumn:
        """Return the column of a field.

        Parameters
        ----------
        context, title : str
            Name of its context, and its title; an unknown one is refused.

        Returns
        -------
        SortedColumn
            The column, observed and predicted.
        """
        key = (context, title)
        if key not in self.fields:
            titles = [x for name, x in self.fields if name == context]
            raise OptionError(
                f"no column {title!r} in {context!r} of this embedding."
                f"{did_you_mean(title, titles)}"
            )
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        column = replace(self.tables[context].column(title), chance=None)  # is large
        made = SortedColumn(**vars(column))
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return made

    def tags(self, table: Table) -> tuple[Ints, Ints]:
        """Find the tags that labels are known to have; they are found once.

        Parameters
        ----------
        table : Table
            A table of tags.

        Returns
        -------
        rows : array of int
            For each tag of a label the position of the label in the context's data.
        columns : array of int
            The column of the tag.
        """
        name = table.context.name
        if name not in self._tags:
            cells = sp.coo_array(table.context.matrix.arrays[0])
            has_it = cells.data > 0
            rows, columns = (
                np.asarray(x[has_it], np.int64) for x in (cells.row, cells.col)
            )
            self._tags[name] = rows, columns
        return self._tags[name]
