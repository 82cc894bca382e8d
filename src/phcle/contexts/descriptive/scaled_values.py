"""Descriptive values over the labels of a problem, centred and scaled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.backends.protocol import Backend
from phcle.backends.row_blocks import PaddedRows, pad_rows
from phcle.contexts.descriptive.hidden_cells import HiddenCells
from phcle.contexts.full_rows import DenseRows, FullRows
from phcle.contexts.masked import MaskedMatrix
from phcle.contexts.matrices import csr_with_zeros, keep_entries
from phcle.contexts.terms import UNITS
from phcle.errors import check_choice

AT_ONCE = 10_000_000
"""Cells of which gaps are looked for at once: 10 MB."""


@dataclass(frozen=True, eq=False)
class CellsOrGaps:
    """For each line, a row or a column, its known cells, or its gaps if they are fewer.

    A sum over known cells is a sum over all cells less one over the gaps. The sum over
    all cells comes from a Gram matrix that all rows share, so a row with few gaps costs
    little more than a complete one.

    Attributes
    ----------
    by_gaps : array of bool of shape (lines,)
        Whether a line has its gaps here.
    cells : csr_array of shape (lines, across)
        Known values of the lines without a mark; zeros at the gaps of the others.
    """

    by_gaps: Flags
    cells: sp.csr_array

    @classmethod
    def of(cls, known: sp.csr_array, places: Ints) -> CellsOrGaps:
        """Choose what is less for every line.

        Parameters
        ----------
        known : csr_array of shape (lines, across)
            Known values; zeros are stored.
        places : array of int
            Where a line without gaps would have its cells.

        Returns
        -------
        CellsOrGaps
            The lines.
        """
        n_known = np.diff(known.indptr)
        by_gaps = len(places) - n_known < n_known
        lines, gaps = _gaps(known, np.flatnonzero(by_gaps), places)
        cells = sp.coo_array(keep_entries(known, ~by_gaps[:, None]))
        return cls(
            by_gaps,
            csr_with_zeros(
                np.concatenate([cells.coords[0], lines]),
                np.concatenate([cells.coords[1], gaps]),
                np.concatenate([cells.data, np.zeros(len(gaps))]),
                known.shape,
            ),
        )

    def pad(self, lines: Ints, backend: Backend) -> PaddedRows | None:
        """Pad the cells of some lines to a common width.

        Parameters
        ----------
        lines : array of int
            Positions of the lines, ascending.
        backend : Backend
            Where the result is stored.

        Returns
        -------
        PaddedRows or None
            Its `known` is −1 at a gap. None if the lines have no cells.
        """
        padded = pad_rows(self.cells, lines, backend)
        if padded is None:
            return None
        signs = backend.asarray(np.where(self.by_gaps[lines], -1.0, 1.0))
        return replace(padded, known=signs[:, None] * padded.known)


def _gaps(known: sp.csr_array, lines: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Line and position of every gap of some lines."""
    place_of = np.zeros(known.shape[1], dtype=np.int64)
    place_of[places] = np.arange(len(places))
    all_lines, all_gaps = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    height = max(1, AT_ONCE // max(len(places), 1))
    for start in range(0, len(lines), height):
        some = lines[start : start + height]
        part = known[some]
        is_gap = np.ones((len(some), len(places)), dtype=bool)
        at = np.repeat(np.arange(len(some)), np.diff(part.indptr))
        is_gap[at, place_of[part.indices]] = False
        line, place = np.nonzero(is_gap)
        all_lines.append(some[line])
        all_gaps.append(places[place])
    return np.concatenate(all_lines), np.concatenate(all_gaps)


TRUTH_SPREAD, VALUE_SPREAD = 0.5, 0.5**0.5
"""What truth values, and values of a category, are scaled by where numbers are scaled
by their spread: the spread of a yes that half of the labels have, and of both values of
such a category. By its own spread, a yes that few labels have would outweigh all their
other cells, and a category with many values all other columns."""


def offset_and_scale(
    matrix: MaskedMatrix, titles: Sequence[str], *, standardize: bool
) -> tuple[Floats, Floats]:
    """Compute the mean of each column, and one scale for all columns or one for each.

    Scaled values have about `UNITS` of squared deviation per fully described label.
    Columns that are unknown or constant say nothing, so they change no scale.

    Parameters
    ----------
    matrix : MaskedMatrix
        Values in the user's units.
    titles : sequence of str
        For each column the title of its field; values of a category share one.
    standardize : bool
        Give each column its own scale.

    Returns
    -------
    offset, scale : arrays of shape (columns,)
        Offsets and scales, in the user's units.
    """
    found = matrix.moments()
    if standardize:
        _, field, size = np.unique(titles, return_inverse=True, return_counts=True)
        n_varying = len(np.unique(field[found.varies]))
        spread = np.where(found.varies, found.deviation, found.unit)
        spread[matrix.is_truth()] = TRUTH_SPREAD
        spread[size[field] > 1] = VALUE_SPREAD
    else:
        n_varying = int(found.varies.sum())
        mean = found.squares.sum() / max(found.count[found.varies].sum(), 1)
        spread = np.full(
            matrix.shape[1], np.sqrt(mean if mean > 0 else 1.0) * found.unit
        )
    scale = spread * np.sqrt(max(n_varying, 1) / UNITS)
    return found.mean, np.maximum(scale, np.finfo(np.float64).tiny)


def _some(rows: Ints, most: int, rng: np.random.Generator) -> Ints:
    """All rows, or a random sample of them."""
    return rows if len(rows) <= most else rng.choice(rows, most, replace=False)


def _joined(a: sp.csr_array, b: sp.csr_array) -> sp.csr_array:
    """Entries of two matrices that share no row; stored zeros are kept."""
    indptr = np.cumsum([0, *(np.diff(a.indptr) + np.diff(b.indptr))])
    from_b = np.repeat(np.diff(b.indptr) > 0, np.diff(indptr))
    data = np.empty(indptr[-1])
    indices = np.empty(indptr[-1], dtype=np.int64)
    for part, at in ((a, ~from_b), (b, from_b)):
        data[at], indices[at] = part.data, part.indices
    return sp.csr_array((data, indices, indptr), shape=a.shape)


@dataclass(frozen=True, eq=False)
class ScaledValues:
    """A and I of one context: (value − offset) / scale where known.

    Complete rows are stored separately because they share one Gram matrix.

    Attributes
    ----------
    full_rows : array of int
        Positions of labels with a complete row.
    full : FullRows
        Their values.
    entries : csr_array of shape (labels, columns)
        Known values of all other labels; zeros are stored.
    """

    full_rows: Ints
    full: FullRows
    entries: sp.csr_array

    @classmethod
    def over(
        cls,
        labels: Sequence[str],
        own_labels: Sequence[str],
        matrix: MaskedMatrix,
        offset: Floats,
        scale: Floats,
    ) -> ScaledValues:
        """Scale the values of a context and arrange them by the labels of a problem.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.
        own_labels : sequence of str
            Labels of the rows of `matrix`; all are labels of the problem.
        matrix : MaskedMatrix
            Values in the user's units.
        offset : array of shape (columns,)
            What is subtracted.
        scale : array of shape (columns,)
            What is divided by.

        Returns
        -------
        ScaledValues
            The values.
        """
        position = {label: i for i, label in enumerate(labels)}
        rows = np.array([position[label] for label in own_labels], dtype=np.int64)
        full_rows, full, entries = matrix.split(offset, scale)
        lengths = np.zeros(len(labels) + 1, dtype=np.int64)
        lengths[rows + 1] = np.diff(entries.indptr)
        moved = entries[np.argsort(rows)]  # keeps stored zeros
        spread = sp.csr_array(
            (moved.data, moved.indices, np.cumsum(lengths)),
            shape=(len(labels), matrix.shape[1]),
        )
        return cls(rows[full_rows], full, spread)

    @classmethod
    def nothing(cls, n_labels: int, n_columns: int) -> ScaledValues:
        """Make values of which none is known.

        Parameters
        ----------
        n_labels : int
            Number of labels.
        n_columns : int
            Number of columns.

        Returns
        -------
        ScaledValues
            No known value for any label.
        """
        empty = DenseRows(np.empty((0, n_columns)))
        entries = sp.csr_array((n_labels, n_columns))
        return cls(np.zeros(0, dtype=np.int64), empty, entries)

    @cached_property
    def by_row(self) -> CellsOrGaps:
        """Cells or gaps of every row that is not complete."""
        return CellsOrGaps.of(self.entries, np.arange(self.entries.shape[1]))

    @cached_property
    def by_column(self) -> CellsOrGaps:
        """Cells or gaps of every column, among the rows that are not complete."""
        gappy = np.flatnonzero(np.diff(self.entries.indptr))
        return CellsOrGaps.of(self.entries.T.tocsr(), gappy)

    @property
    def observed(self) -> Flags:
        """Whether each label has a known value: (labels,)."""
        known = np.asarray(np.diff(self.entries.indptr) > 0)
        known[self.full_rows] = True
        return known

    def known_in(self, columns: Flags) -> Flags:
        """Find the labels with a known value in some columns.

        Parameters
        ----------
        columns : array of bool of shape (columns,)
            The columns.

        Returns
        -------
        array of bool of shape (labels,)
            The labels.
        """
        n_labels = self.entries.shape[0]
        rows = np.repeat(np.arange(n_labels), np.diff(self.entries.indptr))
        found = np.zeros(n_labels, dtype=bool)
        found[rows[columns[self.entries.indices]]] = True
        found[self.full_rows] = bool(columns.any())
        return found

    @property
    def arrays(self) -> list[Any]:
        """All numbers, for a fingerprint."""
        return [self.full_rows, *self.full.arrays, self.entries]

    def hide_cells(
        self, groups: Ints, share: float, most: int, rng: np.random.Generator
    ) -> tuple[ScaledValues, HiddenCells]:
        """Hide a share of the known cells.

        Parameters
        ----------
        groups : array of int of shape (columns,)
            Columns of one group are hidden together.
        share : float
            Share of the groups of each row to hide.
        most : int
            Most cells to look at, known or not.
        rng : numpy.random.Generator
            Draws the cells.

        Returns
        -------
        values : ScaledValues
            The values without the hidden cells.
        hidden : HiddenCells
            The hidden cells.
        """
        n_looked = max(1, most // max(self.entries.shape[1], 1))
        # A complete row costs little until it has a gap, so only some get gaps.
        some_full = _some(self.full_rows, max(1, n_looked // 10), rng)
        gappy = np.flatnonzero(np.diff(self.entries.indptr))
        known_rows = np.sort(np.concatenate([some_full, _some(gappy, n_looked, rng)]))
        values = self.take(known_rows).toarray()
        drawn = rng.random((len(known_rows), int(groups.max(initial=0)) + 1)) < share
        at, columns = np.nonzero(~np.isnan(values) & drawn[:, groups])
        cells = HiddenCells(known_rows[at], columns, values[at, columns])
        return self.without(cells.rows, columns), cells

    def toarray(self) -> Floats:
        """Return all values as one array; NaN is missing.

        Returns
        -------
        array of shape (labels, columns)
            The values.
        """
        values = np.full(self.entries.shape, np.nan)
        values[self.full_rows] = self.full.toarray()
        found = sp.coo_array(self.entries)
        values[found.coords] = found.data
        return values

    def without(self, rows: Ints, columns: Ints) -> ScaledValues:
        """Return the values without some cells.

        Parameters
        ----------
        rows, columns : arrays of int
            Positions of the cells.

        Returns
        -------
        ScaledValues
            The other values.
        """
        touched, at = np.unique(rows, return_inverse=True)
        values = self.take(touched).toarray()
        values[at, columns] = np.nan
        r, c = np.nonzero(~np.isnan(values))
        left = csr_with_zeros(touched[r], c, values[r, c], self.entries.shape)
        others = self.hide_rows(touched)
        return replace(others, entries=_joined(others.entries, left))

    def mean(self) -> Floats:
        """Compute the mean of the known values of each column; 0 without any.

        Returns
        -------
        array of shape (columns,)
            The means.
        """
        n = self.entries.shape[1]
        n_known = np.bincount(self.entries.indices, minlength=n) + len(self.full_rows)
        total = np.bincount(self.entries.indices, self.entries.data, n)
        return np.asarray((total + self.full.sums()) / np.maximum(n_known, 1))

    def minus(self, shift: Floats) -> ScaledValues:
        """Subtract a number from the known values of each column.

        Parameters
        ----------
        shift : array of shape (columns,)
            The numbers.

        Returns
        -------
        ScaledValues
            The values around the new offsets.
        """
        entries = self.entries.copy()
        entries.data -= shift[entries.indices]
        return replace(self, full=self.full.minus(shift), entries=entries)

    def noise_level(self) -> float:
        """Compute about the largest singular value that pure noise would have.

        Returns
        -------
        float
            Spread of a known value times (√n + √m), where n and m are the mean numbers
            of known values of a column and of a row that have any.
        """
        known = self.entries.nnz + len(self.full_rows) * self.entries.shape[1]
        n_rows = np.count_nonzero(self.observed)
        in_entries = np.bincount(self.entries.indices, minlength=self.entries.shape[1])
        n_columns = np.count_nonzero(in_entries + len(self.full_rows))
        square = float(self.full.energy().sum() + (self.entries.data**2).sum())
        if not known:
            return 0.0
        sizes = np.sqrt(known / n_rows) + np.sqrt(known / n_columns)
        return float(np.sqrt(square / known) * sizes)

    def take(self, rows: Ints) -> ScaledValues:
        """Return the values of some labels.

        Parameters
        ----------
        rows : array of int
            Positions of the labels.

        Returns
        -------
        ScaledValues
            Values of these labels, in this order.
        """
        at = np.full(self.entries.shape[0], -1)
        at[rows] = np.arange(len(rows))
        taken = np.flatnonzero(at[self.full_rows] >= 0)
        full_rows = at[self.full_rows[taken]]
        return ScaledValues(full_rows, self.full.take(taken), self.entries[rows])

    def hide_rows(self, rows: Ints) -> ScaledValues:
        """Return the values as if nothing were known about some labels.

        Parameters
        ----------
        rows : array of int
            Positions of the labels to hide.

        Returns
        -------
        ScaledValues
            Values over the same labels.
        """
        is_kept = np.ones(self.entries.shape[0], dtype=bool)
        is_kept[rows] = False
        stays = np.flatnonzero(is_kept[self.full_rows])
        entries = keep_entries(self.entries, is_kept[:, None])
        return ScaledValues(self.full_rows[stays], self.full.take(stays), entries)

    def loss(self, W: AnyFloats, U: AnyFloats) -> float:
        """Compute ½ ‖ I ⊙ (A − W Uᵀ) ‖² in double precision, as a reference.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        float
            The loss.
        """
        W, U = np.asarray(W, np.float64), np.asarray(U, np.float64)
        total = self.full.squared_error(W[self.full_rows], U)
        entries = sp.coo_array(self.entries)
        rows, columns = entries.coords
        errors = entries.data - np.einsum("ij,ij->i", W[rows], U[columns])
        return 0.5 * (total + float((errors**2).sum()))


SKEWED, ENOUGH_TO_TELL, MANY = 1.0, 8, 10_000
"""A column without negative numbers whose skewness exceeds this, on at least so many
values, is fitted on a log scale; whether it is a yes or no is seen among so many. An
exponential distribution has a skewness of 2."""


def choose_log_columns(
    columns: Sequence[str],
    titles: Sequence[str],
    values: Floats,
    log: bool | Iterable[str] | None,
    name: str,
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Choose the columns that are fitted on a log scale, and what is added before.

    Where numbers are skewed and some are zero, the median of the others is added.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    titles : sequence of str
        For each column the title that it came from; another name marks a category.
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    log : bool, iterable of str, or None
        The user's choice; None leaves it to the skewness of the columns.
    name : str
        Name of the context, for messages.

    Returns
    -------
    names : tuple of str
        Names of the columns.
    shifts : tuple of float
        What is added to the numbers of each before their logarithm.
    """
    if log is False:
        return (), ()
    wanted = None if log is None or isinstance(log, bool) else tuple(log)
    for column in wanted or ():
        check_choice("log column", column, columns, f"context {name!r}")
    found = {}
    for column, title, own in zip(columns, titles, values.T, strict=True):
        known = own[np.isfinite(own)]
        if wanted is not None:
            if column in wanted:
                found[column] = _shift(known)
            continue
        if column != title or not len(known) or known.min() < 0:
            continue
        if log:
            found[column] = _shift(known)
        elif len(known) >= ENOUGH_TO_TELL and len(np.unique(known[:MANY])) > 2:
            skewness = _skewness(known)
            if skewness > SKEWED and abs(_skewness(np.log(known + _shift(known)))) < (
                skewness
            ):
                found[column] = _shift(known)
    return tuple(found), tuple(found.values())


def _shift(known: Floats) -> float:
    """What is added before a logarithm: something only where a number is zero."""
    above = known[known > 0]
    return float(np.median(above)) if len(above) and (known == 0).any() else 0.0


def _skewness(values: Floats) -> float:
    """Third standardised moment; 0 for a constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = values - values.mean()
        spread = float(np.sqrt((away**2).mean()))
        return float(((away / spread) ** 3).mean()) if spread > 0 else 0.0


def units_differ(values: Floats, titles: Sequence[str]) -> bool:
    """Tell whether columns seem to be in different units.

    Parameters
    ----------
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    titles : sequence of str
        For each column the title of its field; values of a category share one, and so
        one spread.

    Returns
    -------
    bool
        Whether the spread of any field is more than ten times larger or smaller than
        the median spread.
    """
    known = np.isfinite(values)  # infinite values are refused later, with their label
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / count
    _, field = np.unique(titles, return_inverse=True)
    with np.errstate(over="ignore"):  # an infinite spread differs, which is right
        squares = np.where(known, filled - mean, 0.0) ** 2
        spread = np.sqrt(np.bincount(field, squares.sum(axis=0) / count))
    spread = spread[spread > 0]
    if len(spread) < 2:
        return False
    middle = np.median(spread)
    return bool(spread.max() > 10 * middle or spread.min() < middle / 10)
