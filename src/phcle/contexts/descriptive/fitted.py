"""FittedDescriptive: a descriptive context inside a fit or an embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.base.context import Context
from phcle.contexts.base.fitted_context import FittedContext, warn_unknown_columns
from phcle.contexts.base.penalties import Penalties
from phcle.contexts.descriptive.confidence import (
    Calibration,
    Curves,
    Read,
    logit,
    steps_per_unit,
)
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.elastic_net import DescriptionUpdate
from phcle.contexts.descriptive.encoding import Cells, Source, unpack_source
from phcle.contexts.descriptive.fields import Field, FieldKind, fields_of
from phcle.contexts.descriptive.hidden_cells import HiddenCells
from phcle.contexts.descriptive.loss import (
    ScaledValues,
    SpreadRows,
    SquaredTerm,
)
from phcle.contexts.descriptive.name_words import NameWords, are_within
from phcle.contexts.labels import index_of
from phcle.contexts.masked import logs_of, unpack_matrix
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
from phcle.contexts.terms import StartTarget
from phcle.errors import ContextError, did_you_mean
from phcle.files.tensor_store import TensorStore

__all__ = ["FittedDescriptive"]

Floats = npt.NDArray[np.floating[Any]]
Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

CURVES = ("intercept", "slope", "low", "high", "tilt", "family")
CURVE_NUMBERS = ("widening", "least_support", "n_values")
"""Parts of a calibration's curves that a file stores as arrays, and as JSON."""

NO_VALUES = ScaledValues.nothing(0, 0)


ROWS_AT_ONCE = 50_000
"""Labels that are predicted at once: their vectors in double precision take 40 MB."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedDescriptive(FittedContext):
    """Values A with a mask I, centred and scaled. The factor is U.

    The attributes of every kind are documented in `FittedContext`.

    Attributes
    ----------
    offset : array of shape (columns,)
        Mean of each column on the scale of the fit.
    scale : array of shape (columns,)
        Scale of each column on the scale of the fit.
    readable : bool
        Whether column names mean something to a person.
    source : Source or None
        How labels that are added later are encoded.
    calibration : Calibration or None
        Turns predictions into probabilities; None if the fit had too few labels.
    varies : array of bool of shape (columns,)
        Columns whose known values were not all equal at the fit.
    is_log : array of bool of shape (columns,)
        Columns whose offset and scale are those of the logarithms.
    shrinkage : float or None
        Singular values of A below this many times those of noise are shrunk to zero;
        None if λ3 is the ridge of U, as in the paper.
    values : ScaledValues
        A over the labels of a problem; empty after the fit.
    """

    offset: Doubles
    scale: Doubles
    readable: bool
    source: Source | None = None
    calibration: Calibration | None = None
    varies: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    is_log: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    shrinkage: float | None = None
    values: ScaledValues = NO_VALUES

    kind = "descriptive"
    updated_after_labels = True
    data: DescriptiveContext | None

    @property
    def observed(self) -> Flags:
        return self.values.observed

    @property
    def informs(self) -> Flags:
        return self.values.known_in(self.varies)

    @property
    def entries(self) -> sp.csr_array:
        return self.values.entries

    def take(self, rows: Ints) -> FittedDescriptive:
        return replace(self, values=self.values.take(rows))

    def hide_rows(self, rows: Ints) -> FittedDescriptive:
        return replace(self, values=self.values.hide_rows(rows))

    def hide_cells(
        self,
        share: float,
        most: int,
        rng: np.random.Generator,
        *,
        rows: Ints | None = None,
        start: float = 0.0,
        like_gaps: bool = False,
    ) -> tuple[FittedDescriptive, HiddenCells | None]:
        if not self.can_be_completed:
            return self, None
        groups = np.empty(len(self.columns), dtype=np.int64)
        for number, each in enumerate(self.fields):
            groups[each.at] = number  # the values of a category belong together
        values, hidden = self.values, None
        if like_gaps:
            groups = values.joined_by_gaps(groups)
        if rows is not None and len(rows):
            _, own = values.take(rows).hide_cells(groups, 1.0, most, rng)
            hidden = replace(own, rows=rows[own.rows])
            values = values.hide_rows(rows)
        values, cells = values.hide_cells(groups, share, most, rng, start)
        return replace(self, values=values), cells.joined(hidden) if hidden else cells

    def again(self, labels: Sequence[str]) -> FittedDescriptive:
        return replace(super().again(labels), source=self.source)

    def dense_cells(self, rows: Ints, most: int) -> tuple[Floats, Flags]:
        part = self.values.take(rows)
        values = np.full(part.entries.shape, np.nan)
        values[part.full_rows] = part.full.toarray()
        found = sp.coo_array(part.entries)
        values[found.coords] = found.data
        known = ~np.isnan(values)
        chosen = np.argsort(-known.sum(axis=0), kind="stable")[:most]
        values, known = values[:, chosen], known[:, chosen]
        return np.where(known, values, 0.0), known

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
        threshold = lam.descriptive * self.shrinkage * self.values.noise_level()
        return threshold**2 / lam.ridge

    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> _ValueTarget:
        return _ValueTarget(backend, self.values, float(np.sqrt(weight)))

    def loss(self, W: Floats, factor: Floats, lam: Penalties) -> float:
        return self.values.loss(W, factor)

    def learned(
        self, labels: Sequence[str], weight: float, factor: Floats
    ) -> FittedDescriptive:
        data = self.data
        if data is not None:  # the rows of its source are not needed any more
            data = data.with_matrix(data.matrix)
        return replace(self, weight=weight, factor=factor, data=data, values=NO_VALUES)

    @property
    def has_sparse_factor(self) -> bool:
        return True

    @property
    def is_of_names(self) -> bool:
        """Whether the columns are words and pieces of the labels' own names."""
        return isinstance(self.source, NameWords)

    @property
    def file_kinds(self) -> tuple[str, ...]:
        if self.is_of_names:
            return ()
        if not self.readable:
            return ("vectors", "sentences")
        is_sparse = self.data is not None and self.data.is_sparse
        return ("tags", "texts") if is_sparse else ("attributes",)

    @property
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        """How a person enters a value: as "numbers", "tags" or "text"."""
        if self.source is not None and self.source.is_text:
            return "text"
        return "tags" if self.data is not None and self.data.is_sparse else "numbers"

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns as the user knows them: a category is one field."""
        kinds: dict[str, FieldKind] = {"text": "word", "tags": "tag"}
        is_truth = np.zeros(len(self.columns), dtype=bool)
        if self.data is not None:
            is_truth = self.data.matrix.is_truth()
        titles = self.source.titles if isinstance(self.source, Cells) else None
        all_are = kinds.get(self.value_kind)
        return fields_of(self.columns, titles, is_truth, all_are=all_are)

    @property
    def can_be_completed(self) -> bool:
        return self.readable and self.value_kind != "text"

    @cached_property
    def is_number(self) -> Flags:
        """Which columns hold numbers: (columns,)."""
        found = np.zeros(len(self.columns), dtype=bool)
        for each in self.fields:
            found[each.at] = each.kind == "number"
        return found

    def field_of(self, column: str) -> Field:
        """Find the field of a column.

        Parameters
        ----------
        column : str
            A column; an unknown one is refused.

        Returns
        -------
        Field
            The field.
        """
        if column not in self.columns:
            raise ContextError(
                f"context {self.name!r} has no column {column!r}."
                f"{did_you_mean(column, self.columns)}"
            )
        at = self.columns.index(column)
        return next(x for x in self.fields if x.at.start <= at < x.at.stop)

    @property
    def has_readable_columns(self) -> bool:
        return self.readable

    @property
    def predicts_columns(self) -> bool:
        return self.readable and not self.is_of_names

    def with_calibration(self, calibration: Calibration | None) -> FittedDescriptive:
        return replace(self, calibration=calibration)

    def predict(self, vectors: Floats) -> Doubles:
        """Predict values from label vectors.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.

        Returns
        -------
        array of shape (rows, columns)
            Predictions, in the user's units.
        """
        fitted = _products(vectors, self.factor)
        predicted = fitted * self.scale + self.offset
        if self.is_log.any():
            predicted[:, self.is_log] = np.exp(predicted[:, self.is_log])
        return predicted

    def on_fit_scale(self, values: Floats) -> Doubles:
        """Take the logarithms of columns that are fitted on a log scale.

        Parameters
        ----------
        values : array of shape (..., columns)
            Values in the user's units; NaN is missing.

        Returns
        -------
        array of the same shape
            Values on the scale of `offset` and `scale`.
        """
        found = np.asarray(values, np.float64)
        return logs_of(found, self.is_log) if self.is_log.any() else found

    @cached_property
    def largest(self) -> Doubles:
        """Largest known value of every column, in the user's units."""
        mean = self.offset.copy()
        mean[self.is_log] = np.exp(mean[self.is_log])
        if self.data is None:
            return mean
        return np.maximum(self.data.matrix.largest(), mean)

    @cached_property
    def smallest(self) -> Doubles:
        """Smallest known value of every column, in the user's units."""
        if self.data is None:
            return np.full(len(self.columns), -np.inf)
        return self.data.matrix.smallest()

    def observed_row(self, label: str) -> Doubles:
        """Return the known values of a label.

        Parameters
        ----------
        label : str
            A label.

        Returns
        -------
        array of shape (columns,)
            Values in the user's units; NaN is missing.
        """
        if self.data is None or label not in self.data.index:
            return np.full(len(self.columns), np.nan)
        return self.data.matrix.row(self.data.index[label])

    def has(self, columns: Ints, values: Doubles) -> Flags:
        """Tell whether scaled values mean that a label has the attribute.

        Parameters
        ----------
        columns : array of int
            Column of each value.
        values : array of the same shape
            Scaled values; zero is the mean.

        Returns
        -------
        array of bool
            True above the mean; of sparse values, if they are not zero.
        """
        assert self.data is not None
        least = (self.data.matrix.threshold(self.offset) - self.offset) / self.scale
        return np.asarray(values > least[columns] + 1e-9 * np.abs(least[columns]))

    def steps(self, vectors: Floats) -> Doubles:
        """Predict values in standard deviations from the mean.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.

        Returns
        -------
        array of shape (rows, columns)
            Predictions, for `Calibration.read`; 0 for a constant column.
        """
        assert self.calibration is not None
        fitted = _products(vectors, self.factor)
        unit = steps_per_unit(self.scale, self.calibration.deviation)
        return np.asarray(fitted * unit)

    def read(
        self,
        vectors: Floats,
        is_described: Flags,
        supports: Doubles,
        family: Doubles | None = None,
    ) -> Read:
        """Read predictions with the calibration, which must be there.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.
        is_described : array of bool of shape (rows,)
            Labels of which the context knows a cell.
        supports : array of shape (rows,)
            Support of each label.
        family : array of shape (rows, columns), optional
            Means of the families on the scale of the fit; NaN where none is known. By
            default none is.

        Returns
        -------
        Read
            Chances; numbers and intervals in the user's units.
        """
        assert self.calibration is not None
        if family is not None:
            deviation = self.calibration.deviation
            steps = (family - self.offset) / np.where(deviation > 0, deviation, 1.0)
            family = np.where(deviation > 0, steps, np.nan)
        found = self.calibration.read(
            self.steps(vectors), self.fields, is_described, supports, family
        )
        numbers = (found.number, found.low, found.high)
        return Read(found.chance, *(self._from_steps(x) for x in numbers))

    def _from_steps(self, steps: Doubles) -> Doubles:
        """Numbers in the user's units, none below zero if no known one is."""
        assert self.calibration is not None
        values = steps * self.calibration.deviation + self.offset
        if self.is_log.any():
            values[:, self.is_log] = np.exp(values[:, self.is_log])
        is_positive = self.smallest >= 0
        values[:, is_positive] = np.maximum(values[:, is_positive], 0.0)
        return values

    def of_field(self, field: Field) -> FittedDescriptive:
        """Return the context with one field only.

        Parameters
        ----------
        field : Field
            One of `fields`.

        Returns
        -------
        FittedDescriptive
            The smaller context.
        """
        at = np.arange(field.at.start, field.at.stop)
        columns = self.columns[field.at]
        learned = self.calibration
        return replace(
            self,
            columns=columns,
            factor=self.factor[at],
            offset=self.offset[at],
            scale=self.scale[at],
            varies=self.varies[at],
            is_log=self.is_log[at],
            source=Cells((field.title,) * len(at)),
            data=self._data_on(at, columns),
            calibration=None if learned is None else learned.on_columns(at),
        )

    def _data_on(self, at: Ints, columns: tuple[str, ...]) -> DescriptiveContext | None:
        """The data on some columns; None if no value of them is known."""
        if self.data is None:
            return None
        matrix = self.data.matrix.on_columns(at)
        if not matrix.n_known:
            return None
        return self.data.with_matrix(matrix, columns=columns)

    def pull(self, label: str, vector: Floats, lam: Penalties) -> Floats:
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
            values = ScaledValues.nothing(len(labels), len(self.columns))
        else:
            data.refuse_negative(data.log_columns)
            matrix = data.matrix.with_logs(self.is_log)
            values = ScaledValues.over(
                labels, data.labels, matrix, self.offset, self.scale
            )
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
        )

    @property
    def log_columns(self) -> tuple[str, ...]:
        """Columns that are fitted on a log scale."""
        return tuple(self.columns[i] for i in np.flatnonzero(self.is_log))

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
        packed["log_columns"] = np.flatnonzero(self.is_log).tolist()
        packed["source"] = None if self.source is None else self.source.pack(store)
        packed["calibration"] = None
        if self.calibration is not None:
            store["presence"] = self.calibration.presence
            store["deviation"] = self.calibration.deviation
            packed["calibration"] = {}
            for name in ("gaps", "alone"):
                curves = getattr(self.calibration, name)
                store[name] = np.stack([getattr(curves, x) for x in CURVES])
                packed["calibration"][name] = {
                    x: getattr(curves, x) for x in CURVE_NUMBERS
                }
        packed |= {"layout": None, "standardize": False}
        if self.data is not None:
            store.put_names("labels", self.data.labels)
            packed["layout"] = self.data.matrix.pack(store)
            packed["standardize"] = self.data.standardize
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> FittedDescriptive:
        columns = store.names("columns")
        is_log = np.zeros(len(columns), dtype=bool)
        is_log[packed.get("log_columns", [])] = True
        data = None
        if packed["has_data"]:
            data = DescriptiveContext(
                packed["name"],
                store.names("labels"),
                columns,
                *unpack_matrix(packed["layout"], store, len(columns)),
                packed["standardize"],
                packed["readable"],
                None,
                tuple(columns[i] for i in np.flatnonzero(is_log)),
            )
        calibration = None
        if packed.get("calibration") is not None:
            calibration = _unpacked_calibration(packed["calibration"], store)
        return cls(
            name=packed["name"],
            columns=columns,
            data=data,
            weight=packed["weight"],
            factor=store["factor"],
            offset=store["offset"],
            scale=store["scale"],
            varies=np.ones(len(columns), dtype=bool),  # files do not say
            is_log=is_log,
            readable=packed["readable"],
            source=unpack_source(packed["source"], store),
            calibration=calibration,
        )

    def check(self) -> None:
        where, n = f"context {self.name!r}", len(self.columns)
        check_array(self.offset, (n,), f"the offsets of {where}")
        check_array(self.scale, (n,), f"the scales of {where}")
        if not (self.scale > 0).all():
            raise ContextError(f"the scales of {where} must be above zero")
        if not isinstance(self.readable, bool):
            raise ContextError(f"{where} does not say whether its columns are readable")
        if self.source is not None:
            self.source.check(n, where)
        if self.calibration is not None:
            self.calibration.check(n, f"the calibration of {where}")


def _products(vectors: Floats, factor: Floats) -> Doubles:
    """Products of label vectors and column vectors, in blocks of labels."""
    turned = np.asarray(factor.T, np.float64)
    found = np.empty((len(vectors), turned.shape[1]))
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        found[block] = np.asarray(vectors[block], np.float64) @ turned
    return found


def _unpacked_calibration(packed: Mapping[str, Any], store: TensorStore) -> Calibration:
    """The calibration in a file; older ones have one curve for all columns."""
    presence, deviation = store["presence"], store["deviation"]
    if "slope" in packed:
        curves = Curves.plain(
            packed["intercept"] + packed["prior"] * logit(presence),
            np.full(len(presence), float(packed["slope"])),
            1.0,
            packed["n_values"],
        )
        return Calibration(presence, deviation, curves, curves)
    found = []
    for name in ("gaps", "alone"):
        arrays, numbers = store[name], packed[name]
        if "tilt" in numbers:  # older files have one factor for all columns
            tilt = np.full(len(presence), float(numbers["tilt"]))
            arrays = np.vstack([arrays, tilt, np.zeros(len(presence))])
        found.append(Curves(*arrays, **{x: numbers[x] for x in CURVE_NUMBERS}))
    return Calibration(presence, deviation, *found)


class _ValueTarget(StartTarget):
    """The centred values at the spectral start; missing ones default to the mean."""

    def __init__(self, backend: Backend, values: ScaledValues, weight: float) -> None:
        self.backend, self.weight = backend, weight
        self.full = SpreadRows(backend, values)
        self.entries = backend.sparse(values.entries)
        self.turned = backend.sparse(sp.csr_array(values.entries.T))

    def product(self, V: Array) -> Array:
        return self.full.product(V) + self.backend.sparse_product(self.entries, V)

    def transposed(self, W: Array) -> Array:
        return self.full.transposed_product(W) + self.backend.sparse_product(
            self.turned, W
        )
