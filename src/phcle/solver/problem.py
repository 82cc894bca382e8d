"""The numbers a fit works on: aligned contexts, scaled alike.

Scale first, then weigh. Every relational context gets `UNITS` counts per label it
observes, every descriptive context `UNITS` of squared deviation from its means per
fully described label. So one setting of the λ's carries over between data sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.alignment import Aligned
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.scaling import SMALLEST, UNITS, offset_and_scale
from phcle.errors import ContextError

__all__ = [
    "UNITS",
    "DescriptiveData",
    "Penalties",
    "Problem",
    "RelationalData",
    "csr_with_zeros",
    "describe_rows",
    "pose",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Penalties:
    """The λ's of the objective, and k, the negatives per count."""

    negatives: float  # k
    descriptive: float  # λ1
    sparsity: float  # λ2
    ridge: float  # λ3
    context_ridge: float  # λ4


@dataclass(frozen=True)
class RelationalData:
    """D of one relational context, scaled, with the masses that make up B."""

    name: str
    columns: tuple[str, ...]
    counts: sp.csr_array  # D (labels, columns)
    column_mass: Floats  # Σ_w D (columns,)
    total: float  # ΣΣ D
    scale: float  # D = scale × the user's counts

    @property
    def row_mass(self) -> Floats:
        """Σ_c D of every label: zero for labels that the context does not know."""
        return np.asarray(self.counts.sum(axis=1)).ravel()

    @property
    def observed(self) -> npt.NDArray[np.bool_]:
        """Which labels have at least one count."""
        return np.asarray(np.diff(self.counts.indptr) > 0)

    def take(self, rows: npt.NDArray[np.int64]) -> RelationalData:
        """The same context, with its masses, over some of the labels."""
        return replace(self, counts=self.counts[rows])


@dataclass(frozen=True)
class DescriptiveData:
    """A and I of one descriptive context: (value − offset) / scale where observed.

    Rows known in full are kept apart, because they share one Gram matrix. If they are
    sparse they stay so, and `shift` is what remains to be subtracted.
    """

    name: str
    columns: tuple[str, ...]
    offset: Floats  # (columns,), in the user's units
    scale: Floats  # (columns,), in the user's units
    full_rows: npt.NDArray[np.int64]  # labels known in full
    full: Floats | sp.csr_array  # (full rows, columns)
    shift: Floats  # (columns,), zero for dense values
    entries: sp.csr_array  # (labels, columns): known values of all other labels

    @property
    def observed(self) -> npt.NDArray[np.bool_]:
        """Which labels have at least one known value."""
        known = np.asarray(np.diff(self.entries.indptr) > 0)
        known[self.full_rows] = True
        return known

    def take(self, rows: npt.NDArray[np.int64]) -> DescriptiveData:
        """The same context over some of the labels."""
        at = np.full(self.entries.shape[0], -1)
        at[rows] = np.arange(len(rows))
        kept = np.flatnonzero(at[self.full_rows] >= 0)
        return replace(
            self,
            full_rows=at[self.full_rows[kept]],
            full=self.full[kept],
            entries=self.entries[rows],
        )

    @property
    def full_energy(self) -> Floats:
        """‖a_w − shift‖² of each fully known row."""
        if isinstance(self.full, np.ndarray):
            return np.asarray((self.full**2).sum(axis=1))
        squares = np.asarray(self.full.multiply(self.full).sum(axis=1)).ravel()
        return np.asarray(
            squares - 2 * (self.full @ self.shift) + self.shift @ self.shift
        )


@dataclass(frozen=True)
class Problem:
    """Everything the objective needs but the factors and the weights."""

    labels: tuple[str, ...]
    relational: tuple[RelationalData, ...]
    descriptive: tuple[DescriptiveData, ...]
    penalties: Penalties
    dim: int

    @property
    def data(self) -> tuple[RelationalData | DescriptiveData, ...]:
        """All contexts, relational ones first."""
        return (*self.relational, *self.descriptive)

    def with_data(
        self,
        labels: Sequence[str],
        data: Sequence[RelationalData | DescriptiveData],
    ) -> Problem:
        """The same model over other labels or values."""
        return replace(
            self,
            labels=tuple(labels),
            relational=tuple(d for d in data if isinstance(d, RelationalData)),
            descriptive=tuple(d for d in data if isinstance(d, DescriptiveData)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all contexts, relational ones first."""
        return tuple(data.name for data in self.data)


def pose(aligned: Aligned, penalties: Penalties, dim: int) -> Problem:
    """Scale aligned contexts and lay them out over the common labels."""
    relational = []
    for context in aligned.relational:
        counts = context.rows_for(aligned.labels)
        # Columns that no wanted label touches would only cost time.
        used = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel())
        columns = tuple(context.columns[i] for i in used)
        n_observed = int(np.count_nonzero(np.diff(counts.indptr)))
        scale = _scale_of(context.name, float(counts.sum()), n_observed)
        relational.append(weigh_counts(context.name, columns, counts[:, used], scale))
    descriptive = []
    for described in aligned.descriptive:
        cut = described.rows_for(aligned.labels)
        offset, scale_of_columns = offset_and_scale(cut)
        descriptive.append(describe_rows(cut, aligned.labels, offset, scale_of_columns))
    return Problem(
        aligned.labels, tuple(relational), tuple(descriptive), penalties, dim
    )


def _scale_of(name: str, total: float, n_observed: int) -> float:
    """What brings counts to `UNITS` per label."""
    if n_observed == 0:
        return 1.0
    if total < SMALLEST:
        raise ContextError(
            f"context {name!r}: its counts sum up to {total:g}; multiply them so that "
            f"the sum is {SMALLEST:g} or more."
        )
    return UNITS * n_observed / total


def weigh_counts(
    name: str, columns: tuple[str, ...], counts: sp.csr_array, scale: float
) -> RelationalData:
    """Scale counts and sum up their masses."""
    scaled = sp.csr_array(counts * scale)
    mass = np.asarray(scaled.sum(axis=0)).ravel()
    return RelationalData(name, columns, scaled, mass, float(mass.sum()), float(scale))


def describe_rows(
    context: DescriptiveContext,
    labels: Sequence[str],
    offset: Floats,
    scale: Floats,
) -> DescriptiveData:
    """Lay the values of a context out over `labels`, centred and scaled."""
    position = {label: i for i, label in enumerate(labels)}
    rows = np.array([position[label] for label in context.labels], dtype=np.int64)
    shape = (len(labels), len(context.columns))
    shift = np.zeros(len(context.columns))
    full: Floats | sp.csr_array
    if isinstance(context.values, np.ndarray):
        known = ~np.isnan(context.values)
        is_full = np.asarray(known.all(axis=1))
        centred = (context.values - offset) / scale
        full = centred[is_full]
        r, c = np.nonzero(known & ~is_full[:, None])
        entries = csr_with_zeros(rows[r], c, centred[r, c], shape)
        full_rows = rows[is_full]
    elif context.observed is None:
        full = sp.csr_array(context.values.multiply(1 / scale))
        shift, full_rows = offset / scale, rows
        entries = sp.csr_array(shape)
    else:
        mask = sp.coo_array(context.observed)
        r, c = mask.coords
        values = np.asarray(context.values[r, c]).ravel()
        entries = csr_with_zeros(rows[r], c, (values - offset[c]) / scale[c], shape)
        full, full_rows = np.empty((0, shape[1])), rows[:0]
    return DescriptiveData(
        context.name, context.columns, offset, scale, full_rows, full, shift, entries
    )


def csr_with_zeros(
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: Floats,
    shape: tuple[int, int],
) -> sp.csr_array:
    """CSR that keeps stored zeros: a value equal to its column's mean is known."""
    order = np.lexsort((columns, rows))
    indptr = np.searchsorted(rows[order], np.arange(shape[0] + 1))
    return sp.csr_array((values[order], columns[order], indptr), shape=shape)
