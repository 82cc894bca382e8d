"""Descriptive values as the solver needs them: centred, scaled, over all labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.base import UNITS
from phcle.contexts.masked import DenseRows, FullRows, MaskedMatrix
from phcle.contexts.matrices import csr_with_zeros, keep_entries

__all__ = ["ScaledValues", "offset_and_scale"]

Floats = npt.NDArray[np.float64]
AnyFloats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def offset_and_scale(
    matrix: MaskedMatrix, *, standardize: bool
) -> tuple[Floats, Floats]:
    """Mean of each column, and one scale for all columns, or one for each.

    Scaled values have `UNITS` of squared deviation per fully described label.

    Parameters
    ----------
    matrix : MaskedMatrix
        Values in the user's units.
    standardize : bool
        Give each column a scale of its own.

    Returns
    -------
    tuple of two arrays of shape (columns,)
        Offsets and scales, in the user's units.
    """
    found = matrix.moments()
    n_columns = matrix.shape[1]
    if standardize:
        variance = found.squares / np.maximum(found.count, 1)
        variance[variance == 0] = 1.0
    else:
        mean = found.squares.sum() / max(found.count.sum(), 1)
        variance = np.full(n_columns, mean if mean > 0 else 1.0)
    scale = np.sqrt(variance * n_columns / UNITS) * found.unit
    return found.mean, np.maximum(scale, np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class ScaledValues:
    """A and I of one context: (value − offset) / scale where known.

    Complete rows are kept apart because they share one Gram matrix.
    """

    full_rows: Ints  # labels with every value known
    full: FullRows  # their values
    entries: sp.csr_array  # (labels, columns): known values of all other labels

    @classmethod
    def over(
        cls,
        labels: Sequence[str],
        own_labels: Sequence[str],
        matrix: MaskedMatrix,
        offset: Floats,
        scale: Floats,
    ) -> ScaledValues:
        """Values of a context's own labels, laid out over the labels of a problem."""
        position = {label: i for i, label in enumerate(labels)}
        rows = np.array([position[label] for label in own_labels], dtype=np.int64)
        full_rows, full, entries = matrix.split(offset, scale)
        shape = (len(labels), matrix.shape[1])
        found = sp.coo_array(entries)
        r, c = found.coords
        return cls(rows[full_rows], full, csr_with_zeros(rows[r], c, found.data, shape))

    @classmethod
    def nothing(cls, n_labels: int, n_columns: int) -> ScaledValues:
        """No value known for any label."""
        empty = DenseRows(np.empty((0, n_columns)))
        entries = sp.csr_array((n_labels, n_columns))
        return cls(np.zeros(0, dtype=np.int64), empty, entries)

    @property
    def observed(self) -> Flags:
        """Which labels have at least one known value."""
        known = np.asarray(np.diff(self.entries.indptr) > 0)
        known[self.full_rows] = True
        return known

    @property
    def arrays(self) -> list[Any]:
        """All numbers, for a fingerprint."""
        return [self.full_rows, *self.full.arrays, self.entries]

    def take(self, rows: Ints) -> ScaledValues:
        """The values of some labels."""
        at = np.full(self.entries.shape[0], -1)
        at[rows] = np.arange(len(rows))
        taken = np.flatnonzero(at[self.full_rows] >= 0)
        full_rows = at[self.full_rows[taken]]
        return ScaledValues(full_rows, self.full.take(taken), self.entries[rows])

    def hide_rows(self, rows: Ints) -> ScaledValues:
        """The values with nothing known about some labels."""
        is_kept = np.ones(self.entries.shape[0], dtype=bool)
        is_kept[rows] = False
        stays = np.flatnonzero(is_kept[self.full_rows])
        entries = keep_entries(self.entries, is_kept[:, None])
        return ScaledValues(self.full_rows[stays], self.full.take(stays), entries)

    def hide_columns(self, hidden: Flags) -> ScaledValues:
        """The values of the other columns; for few labels, as all become entries."""
        shape = self.entries.shape
        values = np.full(shape, np.nan)
        values[self.full_rows] = self.full.toarray()
        found = sp.coo_array(self.entries)
        values[found.coords] = found.data
        r, c = np.nonzero(~np.isnan(values) & ~hidden)
        entries = csr_with_zeros(r, c, values[r, c], shape)
        return replace(self.nothing(*shape), entries=entries)

    def loss(self, W: AnyFloats, U: AnyFloats) -> float:
        """½ ‖ I ⊙ (A − W Uᵀ) ‖² in double precision: the reference."""
        W, U = np.asarray(W, np.float64), np.asarray(U, np.float64)
        total = self.full.squared_error(W[self.full_rows], U)
        _, errors = self._entry_errors(W, U, trust=1.0)
        return 0.5 * (total + float((errors**2).sum()))

    def squared_errors(
        self, W: AnyFloats, U: AnyFloats, trusts: Sequence[float]
    ) -> Floats:
        """Squared errors of entries by label, for every trust: (trusts, labels)."""
        found = []
        for trust in trusts:
            rows, errors = self._entry_errors(W, U, trust=trust)
            found.append(np.bincount(rows, errors**2, len(W)))
        return np.array(found)

    def _entry_errors(
        self, W: AnyFloats, U: AnyFloats, *, trust: float
    ) -> tuple[Ints, Floats]:
        """Row and error of every entry if predictions count by this trust."""
        entries = sp.coo_array(self.entries)
        rows, columns = entries.coords
        fitted = np.einsum("ij,ij->i", W[rows], U[columns])
        return rows.astype(np.int64), entries.data - trust * fitted
