"""What descriptive contexts predict for people: values, chances and intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.fields import Field, FieldKind, fields_of
from phcle.contexts.descriptive.name_words import NameWords
from phcle.contexts.descriptive.sources import Cells, Source
from phcle.contexts.gaps import logs_of, without_logs
from phcle.errors import ContextError, did_you_mean

ROWS_AT_ONCE = 50_000
"""Labels that are predicted at once: their vectors in double precision take 40 MB."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DescriptivePredictions(PredictingContext):
    """The half of a `FittedDescriptive` that predicts.

    Attributes
    ----------
    readable : bool
        Whether column names mean something to a person.
    source : Source or None
        How labels that are added later are encoded.
    varies : array of bool of shape (columns,)
        Columns whose known values were not all equal at the fit.
    """

    readable: bool
    source: Source | None = None
    varies: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))

    data: DescriptiveContext | None

    @property
    def is_of_names(self) -> bool:
        """Whether the columns are words and pieces of the labels' own names."""
        return isinstance(self.source, NameWords)

    @property
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        if self.source is not None and self.source.is_text:
            return "text"
        return "tags" if self.data is not None and self.data.is_sparse else "numbers"

    @cached_property
    def fields(self) -> tuple[Field, ...]:
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
        found = np.zeros(len(self.columns), dtype=bool)
        for each in self.fields:
            found[each.at] = each.kind == "number"
        return found

    def field_of(self, column: str) -> Field:
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

    def predict(self, vectors: AnyFloats) -> Floats:
        fitted = _products(vectors, self.factor)
        return self.in_units(fitted * self.scale + self.offset)

    def in_units(self, values: Floats) -> Floats:
        return without_logs(values, self.log_shift)

    def on_fit_scale(self, values: AnyFloats) -> Floats:
        return logs_of(np.asarray(values, np.float64), self.log_shift)

    @cached_property
    def presence(self) -> Floats:
        if self.data is None:
            return np.full(len(self.columns), 0.5)
        return self.data.on_fit_scale().matrix.presence()

    @cached_property
    def largest(self) -> Floats:
        mean = self.in_units(self.offset)
        if self.data is None:
            return mean
        return np.maximum(self.data.matrix.largest(), mean)

    def observed_row(self, label: str) -> Floats:
        if self.data is None or label not in self.data.index:
            return np.full(len(self.columns), np.nan)
        return self.data.matrix.row(self.data.index[label])

    def has(self, columns: Ints, values: Floats) -> Flags:
        assert self.data is not None
        least = (self.data.matrix.threshold(self.offset) - self.offset) / self.scale
        return np.asarray(values > least[columns] + 1e-9 * np.abs(least[columns]))

    def of_field(self, field: Field) -> Self:
        at = np.arange(field.at.start, field.at.stop)
        columns = self.columns[field.at]
        return replace(
            self,
            columns=columns,
            factor=self.factor[at],
            offset=self.offset[at],
            scale=self.scale[at],
            varies=self.varies[at],
            log_shift=self.log_shift[at],
            source=Cells((field.title,) * len(at)),
            data=self._data_on(at, columns),
        )

    def _data_on(self, at: Ints, columns: tuple[str, ...]) -> DescriptiveContext | None:
        """The data on some columns; None if no value of them is known."""
        if self.data is None:
            return None
        matrix = self.data.matrix.on_columns(at)
        if not matrix.n_known:
            return None
        return self.data.with_matrix(matrix, columns=columns)

    @property
    def log_columns(self) -> tuple[str, ...]:
        return tuple(self.columns[i] for i in np.flatnonzero(~np.isnan(self.log_shift)))

    @property
    def log_shifts(self) -> tuple[float, ...]:
        """What is added to each of `log_columns` before its logarithm."""
        return tuple(self.log_shift[~np.isnan(self.log_shift)].tolist())


def _products(vectors: AnyFloats, factor: AnyFloats) -> Floats:
    """Products of label vectors and column vectors, in blocks of labels."""
    turned = np.asarray(factor.T, np.float64)
    found = np.empty((len(vectors), turned.shape[1]))
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        found[block] = np.asarray(vectors[block], np.float64) @ turned
    return found
