"""FittedDescriptive: a descriptive context inside a fit or an embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Ints
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.base.context import Context
from phcle.contexts.base.fitted_context import warn_unknown_columns
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.elastic_net import DescriptionUpdate
from phcle.contexts.descriptive.loss import SquaredTerm, ValueTarget
from phcle.contexts.descriptive.name_words import NameWords, are_within
from phcle.contexts.descriptive.predictions import DescriptivePredictions
from phcle.contexts.descriptive.sources import unpack_source
from phcle.contexts.gaps import ScaledRows, unpack_gaps
from phcle.contexts.labels import index_of
from phcle.contexts.matrices import check_array
from phcle.contexts.reasons import (
    AT,
    HAS,
    HIGH,
    LACKS,
    LOW,
    UNKNOWN,
    Codes,
    Pair,
    Reasons,
)
from phcle.contexts.terms import Penalties
from phcle.errors import ContextError
from phcle.files.container import TensorStore

NO_VALUES = ScaledRows.nothing(0, 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedDescriptive(DescriptivePredictions):
    """Values A with a mask I, centred and scaled. The factor is U.

    Other attributes are documented in the classes that it is made of.

    Attributes
    ----------
    shrinkage : float or None
        Singular values of A below this many times those of noise are shrunk to zero;
        None if λ3 is the ridge of U, as in the paper.
    values : ScaledRows
        A over the labels of a problem; empty after the fit.
    """

    shrinkage: float | None = None
    values: ScaledRows = NO_VALUES

    kind = "descriptive"
    updated_after_labels = True

    @property
    def observed(self) -> Flags:
        return self.values.observed

    @property
    def informs(self) -> Flags:
        return self.values.known_in(self.varies)

    @property
    def entries(self) -> sp.csr_array:
        return self.values.by_row.cells

    def take(self, rows: Ints) -> FittedDescriptive:
        return replace(self, values=self.values.take(rows))

    def without_cells(self, rows: Ints, columns: Ints) -> FittedDescriptive:
        return self._with_values(self.values.without(rows, columns))

    def without_rows(self, rows: Ints) -> FittedDescriptive:
        return self._with_values(self.values.without_rows(rows))

    def _with_values(self, values: ScaledRows) -> FittedDescriptive:
        return replace(self, values=values, offset=values.offset)

    def again(self, labels: Sequence[str]) -> FittedDescriptive:
        fitted = super().again(labels)
        assert fitted.data is not None
        # Factors were learned on the stored scale; labels may have been added since.
        return replace(
            fitted,
            source=self.source,
            offset=self.offset,
            scale=self.scale,
            values=self._scaled(fitted.data, labels),
        )

    def _scaled(self, data: DescriptiveContext, labels: Sequence[str]) -> ScaledRows:
        """Values of a table on the scale of this fit, one row for each label."""
        matrix = data.matrix.with_logs(self.log_shift)
        return ScaledRows.over(labels, data.labels, matrix, self.offset, self.scale)

    @property
    def is_shrunk(self) -> bool:
        return self.shrinkage is not None

    def shrunk(self, shrinkage: float | None) -> FittedDescriptive:
        return replace(self, shrinkage=shrinkage)

    def fingerprint_arrays(self) -> list[Any]:
        return self.values.arrays

    def term_weight(self, weight: float, lam: Penalties) -> float:
        return weight * lam.descriptive

    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> SquaredTerm:
        return SquaredTerm(backend, self.values, blocks)

    def factor_update(
        self, backend: Backend, dim: int, lam: Penalties
    ) -> DescriptionUpdate:
        return DescriptionUpdate(
            backend,
            self.values,
            dim,
            sparsity=lam.sparsity,
            ridge=self.factor_ridge(lam),
        )

    def factor_penalties(
        self, xp: Any, factor: Array, lam: Penalties
    ) -> Mapping[str, float]:
        absolute = float(xp.sum(xp.abs(factor), dtype=xp.float64))
        square = float(xp.sum(factor * factor, dtype=xp.float64))
        ridge = 0.5 * self.factor_ridge(lam) * square
        return {"sparsity": lam.sparsity * absolute, "ridge": ridge}

    def factor_ridge(self, lam: Penalties) -> float:
        if self.shrinkage is None:
            return lam.ridge
        threshold = lam.descriptive * self.shrinkage * self.values.noise_level
        return threshold**2 / lam.ridge

    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> ValueTarget:
        return ValueTarget(self.values.placed(backend), float(np.sqrt(weight)))

    def loss(self, W: AnyFloats, factor: AnyFloats, lam: Penalties) -> float:
        return self.values.loss(W, factor)

    def learned(
        self, labels: Sequence[str], weight: float, factor: AnyFloats
    ) -> FittedDescriptive:
        data = self.data
        if data is not None:  # the rows of its source are not needed any more
            data = data.with_matrix(data.matrix)
        return replace(self, weight=weight, factor=factor, data=data, values=NO_VALUES)

    @property
    def has_sparse_factor(self) -> bool:
        return True

    @property
    def file_kinds(self) -> tuple[str, ...]:
        if self.is_of_names:
            return ()
        if not self.readable:
            return ("vectors", "sentences")
        is_sparse = self.data is not None and self.data.is_sparse
        return ("tags", "texts") if is_sparse else ("attributes",)

    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
        known = self.on_fit_scale(self.observed_row(label))
        known = (known - self.offset) / self.scale
        residual = np.where(np.isnan(known), 0.0, known - self.factor @ vector)
        return np.asarray(self.term_weight(self.weight, lam) * residual)

    @property
    def verbs(self) -> tuple[str, str]:
        return ("names contain", "name contains") if self.is_of_names else super().verbs

    def reasons(self, pair: Pair) -> Reasons:
        found = super().reasons(pair)
        if not self.is_of_names:
            return found
        # A piece is not named beside the word or longer piece that it is part of.
        shared = np.flatnonzero(found.groups == AT["both"])
        unnamed = found.unnamed.copy()
        unnamed[shared] = are_within([self.columns[i] for i in shared])
        # What a name lacks is no reason that a person would give.
        unnamed |= np.isin(found.groups, [AT["neither"], AT["one"]])
        return replace(found, unnamed=unnamed)

    def standing(self, label: str) -> Codes:
        row = self.observed_row(label)
        codes = np.where(row != 0, HAS, LACKS)
        if self.value_kind == "numbers":
            numbers = np.where(self.on_fit_scale(row) > self.offset, HIGH, LOW)
            codes = np.where(self.is_number, numbers, codes)
        return np.where(np.isnan(row), UNKNOWN, codes).astype(np.int8)

    def from_names(
        self, labels: Sequence[str], names: Mapping[str, str]
    ) -> Context | None:
        if not isinstance(self.source, NameWords):
            return None
        own = tuple(names.get(label, label) for label in labels)
        source = NameWords(self.source.rarity, own)
        encoded = source.encoded_like(self.source, self.columns, self.name)
        if encoded is None or not encoded.says_something:
            return None
        kept = np.flatnonzero(np.diff(encoded.values.indptr)).tolist()
        return DescriptiveContext(
            self.name,
            tuple(labels[i] for i in kept),
            self.columns,
            encoded.values[kept],
            source=source.take(kept),
        )

    def for_new_labels(
        self, context: Context | None, labels: Sequence[str]
    ) -> FittedDescriptive:
        data = None
        if context is not None:
            if not isinstance(context, DescriptiveContext):
                raise self._other_kind()
            data = self._encoded(context)
        if data is None:
            values = ScaledRows.nothing(len(labels), len(self.columns))
        else:
            values = self._scaled(data, labels)
        return replace(self, data=data, values=values)

    def _encoded(self, context: DescriptiveContext) -> DescriptiveContext | None:
        """New labels on the columns of the fit; None if no value of them is known."""
        encoded = None
        if self.source is not None and context.source is not None:
            encoded = context.source.encoded_like(self.source, self.columns, self.name)
        if encoded is not None:
            if not encoded.says_something:
                return None
            values: Any = encoded.values
        else:
            known, position = index_of(self.columns), index_of(context.columns)
            warn_unknown_columns(
                context.name,
                [*context.left_out, *(c for c in context.columns if c not in known)],
            )
            # A tag that the fit knows and new labels lack is absent, not unknown.
            at = np.array([position.get(column, -1) for column in self.columns])
            values = context.matrix.on_columns(at)
            if not values.n_known:
                return None
        return DescriptiveContext(
            self.name,
            context.labels,
            self.columns,
            values,
            readable=self.readable,
            log_columns=self.log_columns,
            log_shifts=self.log_shifts,
        )

    def joined(self, later: FittedDescriptive) -> FittedDescriptive:
        if self.data is None or later.data is None:
            return later if self.data is None else self
        data = self.data.with_matrix(
            self.data.matrix.stacked(later.data.matrix),
            labels=(*self.data.labels, *later.data.labels),
        )
        return replace(self, data=data)

    def pack(self, store: TensorStore) -> dict[str, Any]:
        store["offset"] = self.offset
        store["scale"] = self.scale
        packed: dict[str, Any] = {"readable": self.readable}
        packed["log_columns"] = np.flatnonzero(~np.isnan(self.log_shift)).tolist()
        packed["log_shifts"] = list(self.log_shifts)
        packed["source"] = None if self.source is None else self.source.pack(store)
        packed |= {"layout": None, "standardize": False}
        if self.data is not None:
            store.put_names("labels", self.data.labels)
            packed["layout"] = self.data.matrix.pack(store)
            packed["standardize"] = self.data.standardize
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> FittedDescriptive:
        columns = store.names("columns")
        logs, log_shift = packed["log_columns"], np.full(len(columns), np.nan)
        log_shift[logs] = packed.get("log_shifts", [0.0] * len(logs))
        data = None
        if packed["has_data"]:
            data = DescriptiveContext(
                packed["name"],
                store.names("labels"),
                columns,
                *unpack_gaps(packed["layout"], store, len(columns)),
                packed["standardize"],
                packed["readable"],
                None,
                tuple(columns[i] for i in logs),
                tuple(log_shift[logs].tolist()),
            )
        return cls(
            name=packed["name"],
            columns=columns,
            data=data,
            weight=packed["weight"],
            factor=store["factor"],
            offset=store["offset"],
            scale=store["scale"],
            varies=np.ones(len(columns), dtype=bool),  # files do not say
            log_shift=log_shift,
            readable=packed["readable"],
            source=unpack_source(packed["source"], store),
        )

    def check(self) -> None:
        where, n = f"context {self.name!r}", len(self.columns)
        check_array(self.offset, (n,), f"the offsets of {where}")
        check_array(self.scale, (n,), f"the scales of {where}")
        if np.isinf(self.log_shift).any():
            raise ContextError(f"the log scales of {where} must be finite")
        if not (self.scale > 0).all():
            raise ContextError(f"the scales of {where} must be above zero")
        if not isinstance(self.readable, bool):
            raise ContextError(f"{where} does not say whether its columns are readable")
        if self.source is not None:
            self.source.check(n, where)
