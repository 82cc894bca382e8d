"""DescriptiveContext: what labels are like, before, during and after a fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.backends.protocol import Array, Backend
from phcle.contexts import encoders
from phcle.contexts.encoders import Field, FieldKind, Source
from phcle.contexts.gaps import Gaps, ScaledRows
from phcle.contexts.labels import (
    as_labels,
    index_of,
    is_missing,
    positions_of,
    some_names,
)
from phcle.contexts.matrices import LARGEST, check_array, check_axes
from phcle.contexts.protocol import (
    AT,
    HAS,
    HIGH,
    LACKS,
    LOW,
    UNKNOWN,
    Blocks,
    Codes,
    Context,
    FactorUpdate,
    Pair,
    Penalties,
    Reasons,
    Target,
    Term,
)
from phcle.contexts.squared import (
    DescriptionUpdate,
    SquaredTerm,
    choose_log_shifts,
    offset_and_scale,
    units_differ,
)
from phcle.errors import ContextError, ContextWarning, did_you_mean, some
from phcle.files.container import TensorStore
from phcle.tables.cells import UnknownMarkers
from phcle.tables.columns import encode_columns
from phcle.tables.reader import (
    Reading,
    frame_table,
    is_frame,
    labelled_rows,
    say_remarks,
)
from phcle.tables.word_vectors import read_word_vectors

PLAIN = Source()


@dataclass(frozen=True, eq=False, repr=False)
class DescriptiveContext(Context):
    """Values of labels (rows) for descriptions (columns), with missing values.

    Most contexts are made by one of the `from_…` constructors.

    Parameters
    ----------
    name : str
        Name of the context. All contexts of a fit need different names.
    labels : tuple of str
        Names of the rows.
    columns : tuple of str
        Names of the columns.
    matrix : array, sparse matrix or Gaps of shape (labels, columns)
        The values, in your units. In a dense array, NaN is a missing value. The context
        keeps them with what is known as `Gaps`; `values` gives them back.
    known : sparse matrix of shape (labels, columns), optional
        Which values are known; for sparse values only. By default all of them are, so a
        tag that a label lacks is a known zero.
    standardize : bool, default False
        Scale every number by the spread of its column. By default one scale serves all
        columns. Use it if columns are in different units.
    readable : bool, default True
        Whether column names mean something to a person. `describe` and `explain` list
        only such columns.
    source : Source, optional
        How the values were made. Labels that are added to an embedding later are
        encoded in the same way.
    log_columns : tuple of str, default ()
        Columns that are fitted on a log scale. The values here, and predictions, stay
        in your units.
    log_shifts : tuple of float, default ()
        What is added to the values of each of them before the logarithm, which must
        then be above zero; by default nothing.
    offset, scale : arrays of shape (columns,)
        In a fit: what is subtracted from each column, and what it is divided by.

    Examples
    --------
    >>> animals = DescriptiveContext.from_tags({"cat": ["fur"], "fish": ["fins"]})
    >>> animals
    DescriptiveContext('tags': 2 labels × 2 columns, 4 values known)
    >>> animals.columns
    ('fins', 'fur')
    """

    matrix: Gaps | Any
    known: InitVar[Any] = None
    standardize: bool = False
    readable: bool = True
    source: Source = PLAIN
    log_columns: tuple[str, ...] = ()
    log_shifts: tuple[float, ...] = ()
    offset: Floats = field(default_factory=lambda: np.zeros(0), kw_only=True)
    scale: Floats = field(default_factory=lambda: np.ones(0), kw_only=True)
    rows: ScaledRows | Any = field(default=None, kw_only=True, repr=False)

    kind = "descriptive"
    order = 1

    def __post_init__(self, known: Any) -> None:
        if not isinstance(self.matrix, Gaps):
            matrix = Gaps.of(self.matrix, known, self.name)
            object.__setattr__(self, "matrix", matrix)
        self._check()

    def __repr__(self) -> str:
        return (
            f"DescriptiveContext({self.name!r}: {len(self.labels)} labels × "
            f"{len(self.columns)} columns, {self.n_observed} values known)"
        )

    @property
    def values(self) -> Any:
        """The values, in the user's units: (labels, columns)."""
        return self.matrix.arrays[0]

    @property
    def n_observed(self) -> int:
        """How many values are known."""
        return self.matrix.n_known

    @property
    def has_values(self) -> Flags:
        """Which labels have at least one known value."""
        return self.matrix.known_rows

    @property
    def titles(self) -> tuple[str, ...]:
        """For each column the title of its field: values of a category share one."""
        return self.source.titles or self.columns

    @property
    def left_out(self) -> Mapping[str, str]:
        """Why a fit leaves out a column of the table, by its title."""
        return self.source.left_out

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed or changed when cells of a table were read."""
        return self.source.remarks

    def empty_error(self) -> ContextError:
        """The error for a fit to a context that knows nothing."""
        if not self.left_out:
            return super().empty_error()
        title, reason = next(iter(self.left_out.items()))
        return ContextError(
            f"context {self.name!r}: no column can be used ({some(self.left_out)}). "
            f"Column {title!r}: {reason}."
        )

    @property
    def cells(self) -> sp.csr_array:
        """The tags or words of labels, or their values."""
        return sp.csr_array(self.values)

    def _check(self, *, is_new: bool = False) -> None:
        """Refuse a shape that does not fit, infinite values, and no values at all."""
        check_axes(self.name, self.labels, self.columns, self.matrix.shape)
        wrong = self.matrix.wrong_cell()
        if wrong is not None:
            row, column, value = wrong
            raise ContextError(
                f"context {self.name!r}: values must be finite, and within "
                f"±{LARGEST:g}. Got {value} for label {self.labels[row]!r} and column "
                f"{self.columns[column]!r}; mark unknown values as missing instead."
            )
        is_empty = not len(self.labels) or not self.columns or self.n_observed == 0
        # Columns that are left out may be columns of a fit that the labels join.
        if is_empty and not self.left_out and (is_new or not len(self.factor)):
            raise ContextError(
                f"context {self.name!r} is empty: no value is known; leave it out."
            )
        for at in np.flatnonzero(~np.isnan(self.log_shift)).tolist():
            values, shift = self.matrix.column(at), float(self.log_shift[at])
            negative = np.flatnonzero(values + shift <= 0)
            if len(negative):
                raise ContextError(
                    f"context {self.name!r}: column {self.columns[at]!r} is fitted on "
                    f"a log scale, so its values must be above {0.0 - shift:g}. Got "
                    f"{values[negative[0]]} for label {self.labels[negative[0]]!r}; "
                    "correct it, or fit with log=False."
                )

    @cached_property
    def log_shift(self) -> Floats:
        """What is added to each column before its logarithm; NaN without one."""
        shifts = self.log_shifts or (0.0,) * len(self.log_columns)
        given = dict(zip(self.log_columns, shifts, strict=True))
        return np.array([given.get(column, np.nan) for column in self.columns])

    @cached_property
    def fit_matrix(self) -> Gaps:
        """The values on the scale of a fit, with logarithms in `log_columns`."""
        if not self.log_columns:
            return self.matrix
        return Gaps(self.on_fit_scale(self.matrix.toarray()))

    # ---- before a fit ----

    def rows_for(self, labels: Sequence[str]) -> DescriptiveContext:
        """Return the context with only some of its labels.

        Parameters
        ----------
        labels : sequence of str
            The labels to keep; those that the context does not list are ignored.

        Returns
        -------
        DescriptiveContext
            The smaller context, in the order of `labels`.
        """
        if tuple(labels) == self.labels:
            return self
        kept = [label for label in labels if label in self.index]
        return self._taken([self.index[label] for label in kept], kept)

    def _taken(self, rows: Any, labels: Iterable[str]) -> DescriptiveContext:
        """Some of the rows, perhaps under other labels."""
        matrix, source = self.matrix.take(rows), self.source.take(rows)
        return self.changed(labels=tuple(labels), matrix=matrix, source=source)

    def renamed(self, spellings: Mapping[str, str]) -> DescriptiveContext:
        """The context with other spellings; rows of labels that become one merge."""
        labels = tuple(spellings.get(label, label) for label in self.labels)
        if len(set(labels)) == len(labels):
            return self.changed(labels=labels)
        return merge_rows(self, labels)

    # ---- in a fit ----

    def in_fit(self, labels: Sequence[str]) -> DescriptiveContext:
        """The context over the labels of a problem, centred and scaled."""
        for title, reason in self.left_out.items():
            warnings.warn(
                f"context {self.name!r}: column {title!r} is left out: {reason}.",
                ContextWarning,
                stacklevel=5,
            )
        cut = self.rows_for(labels)
        offset, scale = self.offset, self.scale
        if not len(self.factor):  # a learned context stays on the scale of its fit
            offset, scale = offset_and_scale(
                cut.fit_matrix, self.titles, standardize=self.standardize
            )
        return cut.changed(
            source=self.source.take([]), offset=offset, scale=scale
        )._placed(labels)

    def _placed(self, labels: Sequence[str]) -> DescriptiveContext:
        """The context, in the order of these labels, with its rows at their places."""
        gaps, at = self.fit_matrix, positions_of(self.labels, index_of(labels))
        varies, is_known = gaps.moments().varies, gaps.known_rows
        if not is_known.all():
            gaps, at = gaps.take(np.flatnonzero(is_known)), at[is_known]
        rows = ScaledRows(gaps, at, len(labels), self.offset, self.scale, varies)
        return self.changed(rows=rows)

    @property
    def observed(self) -> Flags:
        """Which labels of the problem have a known value."""
        return self.rows.observed

    @property
    def informs(self) -> Flags:
        """Which labels have a known value in a column that varies."""
        return self.rows.informs

    @property
    def entries(self) -> sp.csr_array:
        """Known cells or gaps, whichever are fewer in a row."""
        return self.rows.by_row[0]

    def without(self, rows: Ints, columns: Ints | None = None) -> DescriptiveContext:
        """Return the context without some cells, around the means of the others.

        Parameters
        ----------
        rows : array of int
            Positions of the cells among the labels of a problem.
        columns : array of int, optional
            Their columns. By default nothing is known of these labels any more.

        Returns
        -------
        DescriptiveContext
            The smaller context.
        """
        left = self.rows.without(rows, columns)
        return self.changed(rows=left, offset=left.offset)

    def fingerprint_arrays(self) -> list[Any]:
        """All scaled numbers."""
        return self.rows.arrays

    def term_weight(self, weight: float, lam: Penalties) -> float:
        """λ1 β."""
        return weight * lam.descriptive

    def label_term(self, backend: Backend, blocks: Blocks, lam: Penalties) -> Term:
        return SquaredTerm(backend, self.rows, blocks)

    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> FactorUpdate:
        ridge = self.factor_ridge(lam)
        return DescriptionUpdate(backend, self.rows, dim, lam.sparsity, ridge)

    def penalties(self, xp: Any, factor: Array, lam: Penalties) -> Mapping[str, float]:
        absolute = float(xp.sum(xp.abs(factor), dtype=xp.float64))
        square = float(xp.sum(factor * factor, dtype=xp.float64))
        ridge = 0.5 * self.factor_ridge(lam) * square
        return {"sparsity": lam.sparsity * absolute, "ridge": ridge}

    def factor_ridge(self, lam: Penalties) -> float:
        """λ3, or what a shrinkage of its own makes of it."""
        if self.shrinkage is None:
            return lam.ridge
        threshold = lam.descriptive * self.shrinkage * self.rows.noise_level
        return threshold**2 / lam.ridge

    def target(self, backend: Backend, weight: float, lam: Penalties) -> Target:
        placed = self.rows.placed(backend)
        root = float(np.sqrt(weight))
        return Target(root, placed.product, placed.turned_product)

    # ---- in an embedding ----

    @property
    def is_of_names(self) -> bool:
        """Whether the columns are words of the labels' own names."""
        return self.source.is_of_names

    @property
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        """How a person enters a value: as "numbers", "tags" or "text"."""
        if self.source.is_text:
            return "text"
        return "tags" if self.matrix.is_sparse else "numbers"

    @property
    def predicts_columns(self) -> bool:
        """Whether the context predicts values of readable columns."""
        return self.readable and not self.is_of_names

    @property
    def can_be_completed(self) -> bool:
        """Whether a user would want its gaps filled: no words, and no dimensions."""
        return self.readable and self.value_kind != "text"

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """Kinds of files with rows of new labels."""
        if self.is_of_names:
            return ()
        if not self.readable:
            return ("vectors", "sentences")
        return ("tags", "texts") if self.matrix.is_sparse else ("attributes",)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Its fields, as the user knows them; none if nobody would complete them."""
        kinds: dict[str, FieldKind] = {"text": "word", "tags": "tag"}
        is_truth, found, start = self.matrix.is_truth(), [], 0
        for title, own in groupby(self.titles):
            at = slice(start, start + len(list(own)))
            kind: FieldKind = "truth" if is_truth[start] else "number"
            values: tuple[str, ...] = ()
            if self.columns[start] != title:
                kind = "category"
                values = tuple(x.removeprefix(f"{title}=") for x in self.columns[at])
            found.append(Field(title, kinds.get(self.value_kind, kind), at, values))
            start = at.stop
        return tuple(found)

    @cached_property
    def is_number(self) -> Flags:
        """Which columns are numbers, not truths or values of a category."""
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

    def of_field(self, field: Field) -> DescriptiveContext:
        """Return the context with one field only.

        Parameters
        ----------
        field : Field
            One of `fields`.

        Returns
        -------
        DescriptiveContext
            The smaller context.
        """
        at = np.arange(field.at.start, field.at.stop)
        labels, matrix = self.labels, self.matrix.on_columns(at)
        if not matrix.n_known:
            labels, matrix = (), matrix.take([])
        return self.changed(
            labels=labels,
            columns=self.columns[field.at],
            factor=self.factor[at],
            matrix=matrix,
            source=Source(kind="cells", titles=(field.title,) * len(at)),
            offset=self.offset[at],
            scale=self.scale[at],
        )

    def predict(self, vectors: AnyFloats) -> Floats:
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
        W, U = (np.asarray(x, np.float64) for x in (vectors, self.factor))
        return self.in_units(W @ U.T * self.scale + self.offset)

    def in_units(self, values: Floats) -> Floats:
        """Turn logarithms back into the user's units.

        Parameters
        ----------
        values : array of shape (..., columns)
            Values on the scale of `offset` and `scale`; NaN is missing.

        Returns
        -------
        array of the same shape
            Values in the user's units.
        """
        found, is_log = np.array(values, np.float64), ~np.isnan(self.log_shift)
        with np.errstate(over="ignore"):
            found[..., is_log] = np.exp(found[..., is_log]) - self.log_shift[is_log]
        return found

    def on_fit_scale(self, values: AnyFloats) -> Floats:
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
        found, is_log = np.array(values, np.float64), ~np.isnan(self.log_shift)
        shifted = found[..., is_log] + self.log_shift[is_log]
        found[..., is_log] = np.log(np.maximum(shifted, np.finfo(np.float64).tiny))
        return found

    @cached_property
    def presence(self) -> Floats:
        """Share of labels above the mean of each column, or with the tag or value."""
        if not len(self.labels):
            return np.full(len(self.columns), 0.5)
        return self.fit_matrix.presence()

    @cached_property
    def largest(self) -> Floats:
        """Largest known value of every column, in the user's units."""
        return np.maximum(self.matrix.largest(), self.in_units(self.offset))

    def observed_row(self, label: str) -> Floats:
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
        if label not in self.index:
            return np.full(len(self.columns), np.nan)
        return self.matrix.row(self.index[label])

    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
        known = self.on_fit_scale(self.observed_row(label))
        known = (known - self.offset) / self.scale
        residual = np.where(np.isnan(known), 0.0, known - self.factor @ vector)
        return np.asarray(self.term_weight(self.weight, lam) * residual)

    def standing(self, label: str) -> Codes:
        row = self.observed_row(label)
        codes = np.where(row != 0, HAS, LACKS)
        if self.value_kind == "numbers":
            numbers = np.where(self.on_fit_scale(row) > self.offset, HIGH, LOW)
            codes = np.where(self.is_number, numbers, codes)
        return np.where(np.isnan(row), UNKNOWN, codes).astype(np.int8)

    @property
    def verbs(self) -> tuple[str, str]:
        """What labels do with its columns."""
        return ("names contain", "name contains") if self.is_of_names else super().verbs

    def reasons(self, pair: Pair) -> Reasons:
        """The columns; of names, words that both have, and pieces if there is none.

        What has no readable name is in no group.
        """
        found = super().reasons(pair)
        if not self.readable:
            return replace(found, groups=np.full_like(found.groups, -1))
        if not self.is_of_names:
            return found
        is_piece = np.array([encoders.is_piece(x) for x in self.columns])
        is_both = found.groups == AT["both"]
        # What a name lacks is no reason that a person would give.
        unnamed = found.unnamed | np.isin(found.groups, [AT["neither"], AT["one"]])
        if (is_both & ~is_piece).any():
            unnamed = unnamed | is_piece
        return replace(found, unnamed=unnamed)

    def for_new_labels(
        self, context: Context | None, labels: Sequence[str], names: Mapping[str, str]
    ) -> DescriptiveContext:
        if context is None and self.is_of_names:
            documents = tuple(names.get(label, label) for label in labels)
            source = Source(kind="name words", documents=documents)
            context = self.changed(labels=tuple(labels), source=source)
        found = self.changed(labels=(), matrix=Gaps(np.empty((0, len(self.columns)))))
        if isinstance(context, DescriptiveContext):
            found = self._encoded(context) or found
        elif context is not None:
            raise self.other_kind_error()
        return found.rows_for(labels)._placed(labels)

    def _encoded(self, context: DescriptiveContext) -> DescriptiveContext | None:
        """New labels and their values in the fit's columns; None if none is known."""
        labels = context.labels
        values = context.source.encoded_like(self.source, self.columns, self.name)
        if values is not None:
            matrix = Gaps.of(values, None, self.name)
        else:
            # A tag that the fit knows and new labels lack is absent, not unknown.
            at = self.columns_in(context, context.left_out)
            matrix = context.matrix.on_columns(at)
        if self.is_of_names:  # names without any of the words say nothing
            kept = np.flatnonzero(np.diff(matrix.values.indptr))
            labels, matrix = some_names(labels, kept), matrix.take(kept)
        if not (matrix.values.nnz if self.source.is_text else matrix.n_known):
            return None
        # The cells and texts of the fit are those of other labels.
        source = replace(self.source, cells={}, documents=())
        found = self.changed(labels=labels, matrix=matrix, source=source)
        found._check(is_new=True)
        return found

    def _joined(self, later: DescriptiveContext) -> dict[str, Any]:
        return {"matrix": self.matrix.stacked(later.matrix)}

    def pack(self, store: TensorStore) -> dict[str, Any]:
        store["offset"] = self.offset
        store["scale"] = self.scale
        logs = np.flatnonzero(~np.isnan(self.log_shift))
        is_known = len(self.labels) > 0
        if is_known:
            store.put_names("labels", self.labels)
        return {
            "readable": self.readable,
            "log_columns": logs.tolist(),
            "log_shifts": self.log_shift[logs].tolist(),
            "source": self.source.pack(store),
            "layout": self.matrix.pack(store) if is_known else None,
            "standardize": is_known and self.standardize,
        }

    @classmethod
    def _unpacked(cls, packed: Mapping[str, Any], store: TensorStore) -> dict[str, Any]:
        logs, columns = packed["log_columns"], store.names("columns")
        matrix = Gaps(np.empty((0, len(columns))))
        if packed["has_data"]:
            layout, name = packed["layout"], packed["name"]
            matrix = Gaps.unpack(layout, store, len(columns), name)
        return {
            "matrix": matrix,
            "standardize": packed["standardize"],
            "readable": packed["readable"],
            "source": Source.unpack(packed["source"], store),
            "log_columns": tuple(columns[i] for i in logs),
            "log_shifts": tuple(packed.get("log_shifts", [0.0] * len(logs))),
            "offset": store["offset"],
            "scale": store["scale"],
        }

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
        self.source.check(n, where)

    # ---- what users have ----

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        labels: str | None = None,
        name: str = "attributes",
        standardize: bool | None = None,
        log: bool | Iterable[str] | None = None,
        na: Iterable[str] = (),
        keep_na: bool = False,
        read_as: Mapping[str, str] | None = None,
        repeats: str = "mean",
    ) -> DescriptiveContext:
        """Make a context from a data frame of attributes.

        Numbers and truth values are used as they are, also if they are written as texts
        such as `£1,299.00`, `12 %` or `yes`. Dates become years with decimals. A text
        column becomes one column per value, such as `colour=red`. NaN, empty cells and
        markers such as `n/a` are missing values. A column is what nearly all its cells
        are; odd ones are unknown. What can be read in two ways stays text. A warning
        says what was assumed. A fit leaves out a column with mostly different texts,
        and warns about it.

        Parameters
        ----------
        frame : data frame of pandas, Polars or PyArrow
            One row per label, one column per attribute.
        labels : str, optional
            Name of the column of labels. By default the labels are the index of a
            pandas frame, unless it only numbers the rows. Otherwise they are the column
            `label`, the first column if its texts are all different, another column
            with a title such as `name` or `id`, or the only column of different texts.
            A warning says which column was taken; if none fits, the frame is refused.
        name : str, default "attributes"
            Name of the context.
        standardize : bool, optional
            Scale every number by the spread of its column. By default this is done if
            the spreads differ more than tenfold, because the columns are then probably
            in different units.
        log : bool or iterable of str, optional
            Columns to fit on a log scale, or whether to do so at all. By default these
            are the columns without negative numbers that are skewed and less so in
            logarithms, such as weights and prices; `log_columns` names them. Where some
            are zero, the median of the others is added before. Values and predictions
            stay in your units.
        na : iterable of str, optional
            Further texts that mark a cell as unknown.
        keep_na : bool, default False
            Take the usual markers, such as `NA` and `none`, for ordinary texts.
        read_as : mapping from str to str, optional
            How columns are to be read, by title, such as `{"zip": "text"}`; see
            `read_contexts`. What can be read in two ways stays text without it.
        repeats : {"mean", "first", "refuse"}, default "mean"
            What becomes of several rows of one label: the mean of their numbers and the
            most frequent of their categories, the first row, or an error.

        Returns
        -------
        DescriptiveContext
            The attributes.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame(
        ...     {"legs": [4, 2, None], "colour": ["red", "blue", "red"]},
        ...     index=["fox", "jay", "crab"],
        ... )
        >>> looks = DescriptiveContext.from_frame(frame)
        >>> looks.columns
        ('legs', 'colour=blue', 'colour=red')
        >>> looks.n_observed
        8
        """
        from phcle.tables.rows import read_attributes  # which imports this module

        reading = Reading(None, None, tuple(na), keep_na, read_as or {}, repeats)
        if not is_frame(frame):
            raise ContextError(
                f"context {name!r}: a data frame of pandas, Polars or PyArrow is "
                f"needed. Got {type(frame).__name__} instead."
            )
        table = frame_table(frame, f"context {name!r}", reading, labels)
        context = read_attributes(table, name, standardize=standardize, log=log)
        say_remarks(table, stacklevel=2)
        return context

    @classmethod
    def from_cells(
        cls,
        labels: tuple[str, ...],
        cells: Mapping[str, Sequence[Any]],
        name: str,
        standardize: bool | None = None,
        log: bool | Iterable[str] | None = None,
        *,
        na: Iterable[str] = (),
        keep_na: bool = False,
        read_as: Mapping[str, str] | None = None,
    ) -> DescriptiveContext:
        """Make a context from columns of cells, as in a table.

        Cells are converted as by `from_frame`; `remarks` says what was assumed.

        Parameters
        ----------
        labels : tuple of str
            One label per row.
        cells : mapping from str to sequence
            Cells of each column, by its title.
        name : str
            Name of the context.
        standardize : bool, optional
            Scale every number by the spread of its column, as in `from_frame`.
        log : bool or iterable of str, optional
            Columns to fit on a log scale, as in `from_frame`.
        na : iterable of str, optional
            Further texts that mark a cell as unknown.
        keep_na : bool, default False
            Take the usual markers, such as `NA` and `none`, for ordinary texts.
        read_as : mapping from str to str, optional
            How columns are to be read, by title, such as `{"zip": "text"}`; see
            `read_contexts`. What can be read in two ways stays text without it.

        Returns
        -------
        DescriptiveContext
            The attributes.

        Examples
        --------
        >>> cells = {"legs": ["4", "2"], "can fly": ["no", ""]}
        >>> DescriptiveContext.from_cells(("fox", "jay"), cells, "looks").values
        array([[ 4.,  0.],
               [ 2., nan]])
        """
        markers = UnknownMarkers(tuple(na), keep_na)
        read = encode_columns(labels, cells, markers, read_as)
        columns, titles, values = tuple(read.names), tuple(read.titles), read.values
        shifts = choose_log_shifts(columns, titles, values, log, name)
        found = cls(
            name,
            labels,
            columns,
            values,
            standardize=bool(standardize),
            source=Source(
                kind="cells",
                titles=titles,
                cells=cells,
                left_out=read.left_out,
                markers=markers,
                summaries=tuple(read.summaries),
                units=read.units,
                remarks=tuple(read.remarks),
                odd=tuple(read.odd),
            ),
            log_columns=tuple(shifts),
            log_shifts=tuple(shifts.values()),
        )
        if standardize is not None:
            return found
        return found.changed(standardize=units_differ(found.fit_matrix, titles))

    @classmethod
    def from_tags(
        cls, tags: Mapping[Any, Iterable[Any]] | Any, *, name: str = "tags"
    ) -> DescriptiveContext:
        """Make a context from the tags of each label.

        Parameters
        ----------
        tags : mapping from label to iterable of str, or data frame
            A listed label lacks all tags that are not in its list. A label that is not
            listed has missing values. A data frame has the columns `label` and `tag`,
            and one row per tag; an empty tag says that the label has no tags.
        name : str, default "tags"
            Name of the context.

        Returns
        -------
        DescriptiveContext
            One column per tag: 1 for labels that have it, and 0 for others.

        Examples
        --------
        >>> tags = {"cat": ["fur", "tail"], "fish": ["tail"]}
        >>> DescriptiveContext.from_tags(tags).values.toarray()
        array([[1., 1.],
               [0., 1.]])
        """
        labels, given = encoders.by_label(tags, name, "tags")
        columns, values = encoders.tag_matrix(labels, given, name)
        return cls(name, labels, columns, values)

    @classmethod
    def from_texts(
        cls,
        texts: Mapping[Any, str] | Any,
        *,
        name: str = "texts",
        encoder: Callable[[list[str]], Any] | Any | str | None = None,
        min_count: int = 2,
    ) -> DescriptiveContext:
        """Make a context from a text about each label.

        Parameters
        ----------
        texts : mapping from label to str, or data frame
            One text per label. Leave out labels without a text. A data frame has the
            columns `label` and `text`; empty texts are left out.
        name : str, default "texts"
            Name of the context.
        encoder : callable, object or "sentences", optional
            Turns texts into vectors: a function from a list of texts to an array of
            shape (texts, columns), an object with such a method `encode`, or
            "sentences" for the encoder of the extra `phcle[sentences]`. By default the
            columns are words with TF-IDF weights, which `explain` can name. An encoder
            compares meanings, and serves short texts that share few words.
        min_count : int, default 2
            Words in fewer texts are left out; only used without `encoder`. Use 1 for a
            few short texts.

        Returns
        -------
        DescriptiveContext
            The texts as numbers.

        Examples
        --------
        >>> texts = {"cat": "a small pet that can purr", "dog": "a loyal pet"}
        >>> DescriptiveContext.from_texts(texts).columns
        ('pet',)
        >>> def lengths(texts):
        ...     return [[len(text)] for text in texts]
        >>> DescriptiveContext.from_texts(texts, encoder=lengths).values
        array([[25.],
               [11.]])
        """
        labels, documents = encoders.by_label(texts, name, "texts")
        for label, text in zip(labels, documents, strict=True):
            if not isinstance(text, str) or not text.strip():
                raise ContextError(
                    f"context {name!r}: the text of {label!r} must not be empty. Got "
                    f"{text!r}; leave the label out if nothing is known."
                )
        if encoder is None:
            columns, source, words = encoders.weigh_words(documents, min_count, name)
            return cls(name, labels, columns, words, source=source)
        vectors = encoders.encode_texts(documents, encoder, name)
        return cls(name, labels, encoders.dimensions(vectors), vectors, readable=False)

    @classmethod
    def from_label_names(
        cls, names: Mapping[Any, str] | Iterable[Any], *, name: str = "label words"
    ) -> DescriptiveContext:
        """Make a context from the words of the labels' own names.

        "Senior data engineer" and "data engineer" share words, "engineer" and
        "engineering" share pieces of words. Completion never fills in this context. A
        label that is added later is encoded by its own name.

        Parameters
        ----------
        names : iterable of str, or mapping from label to str
            The labels, or their readable names.
        name : str, default "label words"
            Name of the context.

        Returns
        -------
        DescriptiveContext
            One column for each word or piece that several names have, with TF-IDF
            weights. Labels whose names share nothing are missing from it.

        Examples
        --------
        >>> jobs = ["data engineer", "data analyst", "engineering manager", "cook"]
        >>> words = DescriptiveContext.from_label_names(jobs)
        >>> words.labels
        ('data engineer', 'data analyst', 'engineering manager')
        >>> words.columns[0]
        'data'
        """
        texts = encoders.words_of(names, name, "name")
        labels = tuple(texts)
        columns, source, values = encoders.weigh_names(list(texts.values()), name)
        found = cls(name, labels, columns, values, source=source)
        kept = np.flatnonzero(np.diff(values.indptr)).tolist()
        return found._taken(kept, [labels[i] for i in kept])

    @classmethod
    def from_vectors(
        cls,
        vectors: Any,
        *,
        name: str = "vectors",
        labels: Iterable[Any] | Mapping[Any, str] | None = None,
    ) -> DescriptiveContext:
        """Make a context from vectors of another model.

        Parameters
        ----------
        vectors : mapping from label to vector, data frame, path, or gensim KeyedVectors
            A data frame has one row per label, as for `from_frame`. A path is read as a
            text file of word2vec or GloVe, or as a binary file of word2vec if it ends
            in `.bin`.
        name : str, default "vectors"
            Name of the context.
        labels : iterable of str, or mapping from label to str, optional
            Labels to use. A mapping also gives the word under which each label is
            found, such as `{"n02123045": "tabby"}`. Labels without a vector are missing
            from the context. By default every vector is used; give `labels` for a large
            file, because only their vectors are then kept in memory.

        Returns
        -------
        DescriptiveContext
            One column per dimension. The columns have no readable names.

        Examples
        --------
        >>> vectors = {"cat": [0.9, 0.1], "dog": [0.8, 0.3], "car": [-0.5, 0.7]}
        >>> DescriptiveContext.from_vectors(vectors, labels=["cat", "dog"]).labels
        ('cat', 'dog')
        """
        wanted = None if labels is None else encoders.words_of(labels, name)
        words = None if wanted is None else set(wanted.values())
        if isinstance(vectors, (str, Path)):
            found = read_word_vectors(Path(vectors), words)
        elif hasattr(vectors, "key_to_index"):  # gensim
            known = vectors.key_to_index
            listed = known if words is None else words.intersection(known)
            found = {word: vectors[word] for word in listed}
        elif is_frame(vectors):
            table = frame_table(vectors, f"context {name!r}")
            merged = labelled_rows(table)
            say_remarks(table, stacklevel=2)
            own: Any = zip(*merged.cells.values(), strict=True)
            found = dict(zip(merged.labels, own, strict=True))
        else:
            found = dict(zip(*encoders.by_label(vectors, name), strict=True))
        if wanted is not None:
            found = {key: found[word] for key, word in wanted.items() if word in found}
        if not found:
            raise ContextError(
                f"context {name!r}: no vector was found"
                + (f" for {some(wanted.values())}" if wanted else "")
                + "; check that the vectors use the same words, or leave it out."
            )
        rows = as_labels(found, f"context {name!r}")
        values = encoders.stack_vectors(rows, list(found.values()), name)
        return cls(name, rows, encoders.dimensions(values), values, readable=False)


def merge_rows(
    context: DescriptiveContext, labels: Sequence[str]
) -> DescriptiveContext:
    """Give rows new labels, and merge rows with the same one.

    A merged label has the tags of all its rows. In a table, a cell that one row lacks
    is taken from another; two different values are refused. Of several texts or
    vectors, the first is kept, with a warning.

    Parameters
    ----------
    context : DescriptiveContext
        The rows.
    labels : sequence of str
        The new label of each row.

    Returns
    -------
    DescriptiveContext
        One row per label, in order of first appearance.
    """
    place = index_of(dict.fromkeys(labels))
    at = positions_of(labels, place)
    firsts = np.unique(at, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(labels)), firsts)
    found, matrix = context._taken(firsts, place), context.matrix
    if not context.readable or context.source.is_text:
        several = [labels[i] for i in again]
        warnings.warn(
            f"context {context.name!r}: {some(several)} have several rows; the first "
            "is used.",
            ContextWarning,
            stacklevel=6,
        )
        return found
    is_tags, merged = matrix.is_sparse and matrix.arrays[1] is None, {}
    for row in np.unique(at[again]).tolist():
        own = np.flatnonzero(at == row)
        values = matrix.take(own).toarray()
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if (low < high).any() and not is_tags:
            column = int(np.argmax(low < high))
            ends = (np.argmax(values[:, column] == x[column]) for x in (low, high))
            one, other = (context.labels[own[end]] for end in ends)
            raise ContextError(
                f"context {context.name!r}: {one!r} and {other!r} are one label by "
                f"your synonyms, but their {context.columns[column]!r} are "
                f"{low[column]:g} and {high[column]:g}; correct one of them, or take "
                "the synonym back."
            )
        merged[row] = high  # of equal values, or one that is known
        for title, cells in context.source.cells.items():
            known = (cells[i] for i in own if not is_missing(cells[i]))
            found.source.cells[title][row] = next(known, None)
    numbers: Any = np.array(list(merged.values()))
    below = Gaps(sp.csr_array(numbers) if is_tags else numbers)
    order = np.arange(len(place))
    order[list(merged)] = len(place) + np.arange(len(merged))
    return found.changed(matrix=found.matrix.stacked(below).take(order))
