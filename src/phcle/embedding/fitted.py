"""What a fit learned about each context: its factor, weight and scale, and its data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.reencoding import Source
from phcle.contexts.relational.data import RelationalContext
from phcle.embedding.confidence import Calibration
from phcle.errors import ContextError, did_you_mean

__all__ = ["Fitted", "FittedDescriptive", "FittedRelational"]

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class FittedRelational:
    """C of a relational context, and what fold-in and explanation need beside it."""

    name: str
    weight: float  # α
    columns: tuple[str, ...]
    factor: Floats  # C (columns, d)
    column_mass: npt.NDArray[np.float64]  # of the scaled counts
    total: float
    scale: float
    data: RelationalContext | None  # rows of the embedding's labels; None: no label

    kind = "relational"

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""
        return () if self.data is None else self.data.observed_labels

    def knows(self, label: str) -> bool:
        """Whether the context says anything about the label."""
        if self.data is None or label not in self.data.index:
            return False
        row = self.data.index[label]
        return bool(self.data.counts.indptr[row + 1] > self.data.counts.indptr[row])

    def joined(self, other: FittedRelational) -> FittedRelational:
        """The same factors with the rows of both; `other` knows the later edges."""
        if self.data is None or other.data is None:
            return other if self.data is None else self
        data = RelationalContext(
            self.name,
            (*self.data.labels, *other.data.labels),
            self.columns,
            sp.csr_array(sp.vstack([self.data.counts, other.data.counts])),
            other.data.hierarchy or self.data.hierarchy,
        )
        return replace(self, data=data)


@dataclass(frozen=True, eq=False)
class FittedDescriptive:
    """U of a descriptive context, with offsets and scales in the user's units."""

    name: str
    weight: float  # β
    columns: tuple[str, ...]
    factor: Floats  # U (columns, d)
    offset: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    readable: bool
    source: Source | None  # what later labels are encoded by, without the labels' own
    data: DescriptiveContext | None
    calibration: Calibration | None = None  # None: too few labels to learn it from

    kind = "descriptive"

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""
        return () if self.data is None else self.data.observed_labels

    def knows(self, label: str) -> bool:
        """Whether the context says anything about the label."""
        return not bool(np.isnan(self.observed_row(label)).all())

    def predict(self, vectors: Floats) -> npt.NDArray[np.float64]:
        """Predicted values of label vectors, in the user's units: (rows, columns)."""
        fitted = np.asarray(vectors, np.float64) @ np.asarray(self.factor.T, np.float64)
        return fitted * self.scale + self.offset

    @cached_property
    def largest(self) -> npt.NDArray[np.float64]:
        """Largest known value of every column, in the user's units."""
        if self.data is None:
            return self.offset
        if isinstance(self.data.values, np.ndarray):
            known = np.where(np.isnan(self.data.values), -np.inf, self.data.values)
            return np.asarray(np.maximum(known.max(axis=0), self.offset))
        top = self.data.values.max(axis=0).toarray().ravel()
        return np.asarray(np.maximum(top, self.offset))

    def only(self, column: str) -> FittedDescriptive:
        """One column alone, as far as it is known; refuses an unknown one."""
        if column not in self.columns:
            raise ContextError(
                f"context {self.name!r} has no column {column!r}."
                f"{did_you_mean(column, self.columns)}"
            )
        at = [self.columns.index(column)]
        data, learned = self.data, self.calibration
        if data is not None:
            mask = None if data.observed is None else data.observed[:, at]
            known = data.values[:, at]
            is_known = mask is None or mask.nnz > 0
            if isinstance(known, np.ndarray):
                is_known = not bool(np.isnan(known).all())
            data = (
                replace(data, columns=(column,), values=known, observed=mask)
                if is_known
                else None
            )
        if learned is not None:
            learned = replace(
                learned, presence=learned.presence[at], deviation=learned.deviation[at]
            )
        return replace(
            self,
            columns=(column,),
            factor=self.factor[at],
            offset=self.offset[at],
            scale=self.scale[at],
            source=None,
            data=data,
            calibration=learned,
        )

    def observed_row(self, label: str) -> npt.NDArray[np.float64]:
        """Known values of a label, NaN where unknown, in the user's units."""
        row = np.full(len(self.columns), np.nan)
        if self.data is None or label not in self.data.index:
            return row
        i = self.data.index[label]
        if isinstance(self.data.values, np.ndarray):
            return np.array(self.data.values[i])
        values = self.data.values[[i]].toarray()[0]
        if self.data.observed is None:
            return np.asarray(values)
        known = self.data.observed[[i]].toarray()[0] > 0
        return np.where(known, values, np.nan)

    def joined(self, other: FittedDescriptive) -> FittedDescriptive:
        """The same factors with the rows of both."""
        if self.data is None or other.data is None:
            return other if self.data is None else self
        one, two = self.data, other.data
        if isinstance(one.values, np.ndarray) and isinstance(two.values, np.ndarray):
            values: Any = np.vstack([one.values, two.values])
            observed = None
        else:
            values = sp.csr_array(sp.vstack([_sparse(one), _sparse(two)]))
            observed = None
            if not (_is_whole(one) and _is_whole(two)):
                observed = sp.csr_array(sp.vstack([_mask(one), _mask(two)]))
        data = DescriptiveContext(
            self.name,
            (*one.labels, *two.labels),
            self.columns,
            values,
            observed,
            one.standardize,
            one.readable,
        )
        return replace(self, data=data)


Fitted = FittedRelational | FittedDescriptive


def _sparse(context: DescriptiveContext) -> sp.csr_array:
    """Values as a sparse matrix, zero where unknown."""
    if isinstance(context.values, np.ndarray):
        return sp.csr_array(np.nan_to_num(context.values, nan=0.0))
    return context.values


def _is_whole(context: DescriptiveContext) -> bool:
    """Whether every value of every label is known."""
    return context.n_observed == len(context.labels) * len(context.columns)


def _mask(context: DescriptiveContext) -> sp.csr_array:
    """The observed entries as a sparse matrix of ones."""
    if isinstance(context.values, np.ndarray):
        return sp.csr_array((~np.isnan(context.values)).astype(np.float64))
    if context.observed is not None:
        return context.observed
    return sp.csr_array(np.ones(context.values.shape))
