"""DescriptiveContext: what a label is like."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Flags, Floats
from phcle.contexts.base.context import Context
from phcle.contexts.descriptive.name_words import NameWords, weigh_names
from phcle.contexts.descriptive.row_merging import merge_rows
from phcle.contexts.descriptive.scaled_values import (
    choose_log_columns,
    offset_and_scale,
    units_differ,
)
from phcle.contexts.descriptive.sources import Cells, Source, Words, weigh_words
from phcle.contexts.descriptive.values_by_label import (
    by_label,
    encode_texts,
    refuse_empty_texts,
    stack_vectors,
    tag_matrix,
    tags_of_frame,
    texts_of_frame,
    words_of_labels,
)
from phcle.contexts.gaps import Gaps, ScaledRows, logs_of
from phcle.contexts.labels import as_label, as_labels
from phcle.contexts.matrices import LARGEST, check_axes
from phcle.errors import ContextError, ContextWarning, some
from phcle.tables.cells import UnknownMarkers
from phcle.tables.columns import encode_columns
from phcle.tables.frames import frame_table, is_frame, labelled_rows, say_remarks
from phcle.tables.reader import Reading
from phcle.tables.word_vectors import read_word_vectors

if TYPE_CHECKING:
    from phcle.contexts.descriptive.fitted import FittedDescriptive


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
    values : array or sparse matrix of shape (labels, columns)
        The values, in your units. In a dense array, NaN is a missing value.
    observed : sparse matrix of shape (labels, columns), optional
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

    Attributes
    ----------
    matrix : Gaps
        The values and what is known, in one object.

    Examples
    --------
    >>> animals = DescriptiveContext.from_tags({"cat": ["fur"], "fish": ["fins"]})
    >>> animals
    DescriptiveContext('tags': 2 labels × 2 columns, 4 values known)
    >>> animals.columns
    ('fins', 'fur')
    """

    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    values: Any
    observed: Any = None
    standardize: bool = False
    readable: bool = True
    source: Source | None = None
    log_columns: tuple[str, ...] = ()
    log_shifts: tuple[float, ...] = ()
    matrix: Gaps = field(init=False, repr=False)

    kind = "descriptive"
    order = 1

    def __post_init__(self) -> None:
        matrix = Gaps.of(self.values, self.observed, self.name)
        is_checked = matrix is self.values  # another context has checked it
        values, observed = matrix.arrays
        found = {"matrix": matrix, "values": values, "observed": observed}
        for name, part in found.items():
            object.__setattr__(self, name, part)
        if not is_checked:
            self._check()

    def __repr__(self) -> str:
        return (
            f"DescriptiveContext({self.name!r}: {len(self.labels)} labels × "
            f"{len(self.columns)} columns, {self.n_observed} values known)"
        )

    @property
    def is_sparse(self) -> bool:
        """Whether values are stored sparsely."""
        return bool(sp.issparse(self.values))

    @property
    def n_observed(self) -> int:
        """How many values are known."""
        return self.matrix.n_known

    @property
    def has_values(self) -> Flags:
        """Which labels have at least one known value."""
        return self.matrix.known_rows

    @property
    def n_stored(self) -> int:
        """How many known values take memory."""
        return self.matrix.n_stored

    @property
    def titles(self) -> tuple[str, ...]:
        """For each column the title of its field: values of a category share one."""
        return self.source.titles if isinstance(self.source, Cells) else self.columns

    @property
    def left_out(self) -> Mapping[str, str]:
        """Why a fit leaves out a column of the table, by its title."""
        return self.source.left_out if isinstance(self.source, Cells) else {}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed or changed when cells of a table were read."""
        return self.source.remarks if isinstance(self.source, Cells) else ()

    def empty_error(self) -> ContextError:
        """The error for a fit to a context that knows nothing."""
        if not self.left_out:
            return super().empty_error()
        title, reason = next(iter(self.left_out.items()))
        return ContextError(
            f"context {self.name!r}: no column can be used ({some(self.left_out)}). "
            f"Column {title!r}: {reason}."
        )

    def fingerprint_arrays(self) -> list[Any]:
        """All numbers, for a fingerprint of the data."""
        return [part for part in self.matrix.arrays if part is not None]

    def stored_cells(self) -> tuple[Any, Any, Any]:
        """The known cells; of tags, those that labels have."""
        if self.is_sparse and self.matrix.arrays[1] is None:
            return super().stored_cells()
        rows, columns = self.matrix.known_cells()
        return rows, columns, self.matrix.cells(rows, columns)

    def _check(self) -> None:
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
        is_empty = not self.labels or not self.columns or self.n_observed == 0
        # Columns that are left out may be columns of a fit that the labels join.
        if is_empty and not self.left_out:
            raise ContextError(
                f"context {self.name!r} is empty: no value is known; leave it out."
            )
        self._refuse_negative()

    def _refuse_negative(self) -> None:
        """Refuse values that have no logarithm."""
        for at in np.flatnonzero(~np.isnan(self.log_shift)).tolist():
            values, shift = self.matrix.column(at), float(self.log_shift[at])
            wrong = np.flatnonzero(values + shift <= 0)
            if len(wrong):
                raise ContextError(
                    f"context {self.name!r}: column {self.columns[at]!r} is fitted on "
                    f"a log scale, so its values must be above {0.0 - shift:g}. Got "
                    f"{values[wrong[0]]} for label {self.labels[wrong[0]]!r}; correct "
                    "it, or fit with log=False."
                )

    @property
    def log_shift(self) -> Floats:
        """What is added to each column before its logarithm; NaN without one."""
        found = np.full(len(self.columns), np.nan)
        shifts = self.log_shifts or (0.0,) * len(self.log_columns)
        given = dict(zip(self.log_columns, shifts, strict=True))
        for at, column in enumerate(self.columns if given else ()):
            found[at] = given.get(column, np.nan)
        return found

    def with_matrix(
        self,
        matrix: Gaps,
        *,
        labels: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        source: Source | None = None,
    ) -> DescriptiveContext:
        """Return the context with other values, labels or columns.

        Parameters
        ----------
        matrix : Gaps
            The new values.
        labels : sequence of str, optional
            Names of its rows. By default those of this context.
        columns : sequence of str, optional
            Names of its columns. By default those of this context.
        source : Source, optional
            How the new values were made. By default this is not known.

        Returns
        -------
        DescriptiveContext
            The new context, with the other settings of this one.
        """
        return DescriptiveContext(
            self.name,
            self.labels if labels is None else tuple(labels),
            self.columns if columns is None else tuple(columns),
            matrix,
            None,
            self.standardize,
            self.readable,
            source,
            self.log_columns,
            self.log_shifts,
        )

    def on_fit_scale(self) -> DescriptiveContext:
        """Return the context with logarithms in `log_columns`.

        Returns
        -------
        DescriptiveContext
            The same columns on the scale of a fit.
        """
        if not self.log_columns:
            return self
        logs = self.matrix.with_logs(self.log_shift)
        return replace(self.with_matrix(logs), log_columns=(), log_shifts=())

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
        rows = [self.index[label] for label in kept]
        source = None if self.source is None else self.source.take(rows)
        return self.with_matrix(self.matrix.take(rows), labels=kept, source=source)

    def _with_labels(self, spellings: Mapping[str, str]) -> DescriptiveContext:
        labels = [spellings.get(label, label) for label in self.labels]
        if len(set(labels)) == len(labels):
            return self.with_matrix(self.matrix, labels=labels, source=self.source)
        return merge_rows(self, labels)

    def in_fit(self, labels: Sequence[str]) -> FittedDescriptive:
        """The context over the labels of a problem, centred and scaled."""
        from phcle.contexts.descriptive.fitted import FittedDescriptive

        for title, reason in self.left_out.items():
            warnings.warn(
                f"context {self.name!r}: column {title!r} is left out: {reason}.",
                ContextWarning,
                stacklevel=5,
            )
        cut = self.rows_for(labels)
        matrix = cut.matrix.with_logs(self.log_shift)
        offset, scale = offset_and_scale(
            matrix, self.titles, standardize=self.standardize
        )
        return FittedDescriptive(
            name=self.name,
            columns=self.columns,
            data=cut,
            offset=offset,
            scale=scale,
            readable=self.readable,
            source=None if self.source is None else self.source.take([]),
            varies=matrix.moments().varies,
            log_shift=self.log_shift,
            values=ScaledRows.over(labels, cut.labels, matrix, offset, scale),
        )

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
        table = frame_table(frame, f"context {name!r}", reading, labels)
        if table is None:
            raise ContextError(
                f"context {name!r}: a data frame of pandas, Polars or PyArrow is "
                f"needed. Got {type(frame).__name__} instead."
            )
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
        columns, values = read.names, read.values
        logs, shifts = choose_log_columns(columns, read.titles, values, log, name)
        if standardize is None:
            given = dict(zip(logs, shifts, strict=True))
            shift = np.array([given.get(column, np.nan) for column in columns])
            standardize = units_differ(logs_of(values, shift), read.titles)
        return cls(
            name,
            labels,
            columns,
            values,
            standardize=standardize,
            source=Cells(
                read.titles,
                cells,
                read.left_out,
                markers,
                read.summaries,
                read.units,
                read.remarks,
                read.odd,
            ),
            log_columns=logs,
            log_shifts=shifts,
        )

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
        if is_frame(tags):
            tags = tags_of_frame(tags, name)
        labels, given = by_label(tags, name)
        columns, values = tag_matrix(labels, given, name)
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
        if is_frame(texts):
            texts = texts_of_frame(texts, name)
        labels, documents = by_label(texts, name)
        refuse_empty_texts(labels, documents, name)
        if encoder is None:
            columns, rarity, words = weigh_words(documents, min_count, name)
            source = Words(rarity, tuple(documents))
            return cls(name, labels, columns, words, source=source)
        vectors = encode_texts(documents, encoder, name)
        return cls(name, labels, _numbered(vectors.shape[1]), vectors, readable=False)

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
        where = f"labels of context {name!r}"
        labels = as_labels(names, where)
        given = names.values() if isinstance(names, Mapping) else labels
        texts = [as_label(text, where, "name") for text in given]
        columns, rarity, values = weigh_names(texts, name)
        kept = np.flatnonzero(np.diff(values.indptr))
        return cls(
            name,
            tuple(labels[i] for i in kept),
            columns,
            values[kept],
            source=NameWords(rarity, tuple(texts[i] for i in kept)),
        )

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
        wanted = None if labels is None else words_of_labels(labels, name)
        if isinstance(vectors, (str, Path)):
            found = read_word_vectors(
                Path(vectors), None if wanted is None else set(wanted.values())
            )
        elif hasattr(vectors, "key_to_index"):  # gensim
            listed = vectors.key_to_index if wanted is None else set(wanted.values())
            found = {w: vectors[w] for w in listed if w in vectors.key_to_index}
        elif (table := frame_table(vectors, f"context {name!r}")) is not None:
            merged = labelled_rows(table)
            say_remarks(table, stacklevel=2)
            own = map(np.array, zip(*merged.cells.values(), strict=True))
            found = dict(zip(merged.labels, own, strict=True))
        else:
            found = dict(zip(*by_label(vectors, name), strict=True))
        if wanted is not None:
            found = {key: found[word] for key, word in wanted.items() if word in found}
        if not found:
            raise ContextError(
                f"context {name!r}: no vector was found"
                + (f" for {some(wanted.values())}" if wanted else "")
                + "; check that the vectors use the same words, or leave it out."
            )
        rows = as_labels(found, f"context {name!r}")
        values = stack_vectors(rows, list(found.values()), name)
        return cls(name, rows, _numbered(values.shape[1]), values, readable=False)


def _numbered(n: int) -> tuple[str, ...]:
    """Names for the dimensions of foreign vectors."""
    return tuple(f"dimension {i}" for i in range(1, n + 1))
