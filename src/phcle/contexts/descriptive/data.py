"""DescriptiveContext: what a label is like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.base import Context
from phcle.contexts.data_frames import labelled_columns
from phcle.contexts.descriptive import encoding
from phcle.contexts.descriptive.reencoding import Cells, Source, Words
from phcle.contexts.descriptive.scaling import ScaledValues, offset_and_scale
from phcle.contexts.descriptive.sentence_encoder import encode_sentences
from phcle.contexts.labels import as_label, as_labels, index_of
from phcle.contexts.masked import MaskedMatrix, masked_matrix
from phcle.contexts.matrices import LARGEST, check_axes
from phcle.contexts.readers.word_vectors import read_word_vectors
from phcle.errors import ContextError, some

if TYPE_CHECKING:
    from phcle.contexts.descriptive.fitted import FittedDescriptive

__all__ = ["DescriptiveContext"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class DescriptiveContext(Context):
    """Values of labels (rows) for descriptions (columns), any of them unknown.

    Dense values mark an unknown one by NaN. Sparse values are known wherever
    `observed` (a sparse mask) is true, or in full where there is no mask, so that an
    absent tag of a present label is a known zero.

    Parameters
    ----------
    name : str
        Name of the context.
    labels, columns : tuple of str
        Names of the rows and columns.
    values : array or sparse matrix of shape (labels, columns)
        The values, in the user's units.
    observed : sparse matrix, optional
        Which values are known; for sparse values only. None: all of them.
    standardize : bool
        Give every column its own scale, instead of one for all.
    readable : bool
        Whether a column's name means something to a person.
    source : Source, optional
        What later labels are encoded by.

    Examples
    --------
    >>> animals = DescriptiveContext.from_tags({"cat": ["fur"], "fish": ["fins"]})
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
    matrix: MaskedMatrix = field(init=False, repr=False)

    kind = "descriptive"
    order = 1

    def __post_init__(self) -> None:
        matrix = masked_matrix(self.values, self.observed, self.name)
        is_checked = matrix is self.values  # it comes from another context
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
    def has_values(self) -> npt.NDArray[np.bool_]:
        """Which labels have at least one known value."""
        return self.matrix.known_rows

    @property
    def n_stored(self) -> int:
        """How many known values take memory."""
        return self.matrix.n_stored

    def fingerprint_arrays(self) -> list[Any]:
        """All numbers, for a fingerprint of the data."""
        return [part for part in self.matrix.arrays if part is not None]

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
        if not self.labels or not self.columns or self.n_observed == 0:
            raise ContextError(
                f"context {self.name!r} is empty: no value is known, so it says "
                "nothing; leave it out."
            )

    def with_matrix(
        self,
        matrix: MaskedMatrix,
        *,
        labels: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        source: Source | None = None,
    ) -> DescriptiveContext:
        """The same context with other values, labels or columns."""
        return DescriptiveContext(
            self.name,
            self.labels if labels is None else tuple(labels),
            self.columns if columns is None else tuple(columns),
            matrix,
            None,
            self.standardize,
            self.readable,
            source,
        )

    def rows_for(self, labels: Sequence[str]) -> DescriptiveContext:
        """Return the context cut down to those of `labels` that it describes."""
        if tuple(labels) == self.labels:
            return self
        kept = [label for label in labels if label in self.index]
        rows = [self.index[label] for label in kept]
        source = None if self.source is None else self.source.take(rows)
        return self.with_matrix(self.matrix.take(rows), labels=kept, source=source)

    def in_fit(self, labels: Sequence[str]) -> FittedDescriptive:
        """The context over the labels of a problem, centred and scaled."""
        from phcle.contexts.descriptive.fitted import FittedDescriptive

        cut = self.rows_for(labels)
        offset, scale = offset_and_scale(cut.matrix, standardize=self.standardize)
        return FittedDescriptive(
            name=self.name,
            columns=self.columns,
            data=cut,
            offset=offset,
            scale=scale,
            readable=self.readable,
            source=None if self.source is None else self.source.take([]),
            values=ScaledValues.over(labels, cut.labels, cut.matrix, offset, scale),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        labels: str | None = None,
        name: str = "attributes",
        standardize: bool | None = None,
    ) -> DescriptiveContext:
        """A data frame of attributes, of pandas, Polars or PyArrow; NaN is unknown.

        `labels` names the column of labels. By default they are the index of a pandas
        frame, and the first column of any other.

        Numbers and truth values are taken as they are; a column of text becomes one
        column per value (`colour=red`). With `standardize` left open, each column
        gets its own scale if their spreads differ more than tenfold: then they are
        likely in different units.
        """
        kept, cells = labelled_columns(frame, labels, name)
        return cls.from_cells(kept, cells, name, standardize)

    @classmethod
    def from_cells(
        cls,
        labels: tuple[str, ...],
        cells: Mapping[str, Sequence[Any]],
        name: str,
        standardize: bool | None = None,
    ) -> DescriptiveContext:
        """Columns of raw cells, as frames and CSV files have them."""
        columns, titles, values = encoding.encode_columns(labels, cells, name)
        if standardize is None:
            standardize = encoding.units_differ(values)
        source = Cells(titles, cells)
        return cls(
            name, labels, columns, values, standardize=standardize, source=source
        )

    @classmethod
    def from_tags(
        cls, tags: Mapping[Any, Iterable[Any]], *, name: str = "tags"
    ) -> DescriptiveContext:
        """Tags of each label; a label left out is unknown, a tag left out is absent."""
        labels, given = _split(tags, name)
        rows = []
        for label, own in zip(labels, given, strict=True):
            where = f"context {name!r}: tags of {label!r}"
            if isinstance(own, (str, bytes, Mapping)) or not isinstance(own, Iterable):
                raise ContextError(f"{where} must be a list. Got {own!r} instead.")
            rows.append(dict.fromkeys(as_label(tag, where, "tag") for tag in own))
        columns = tuple(sorted({tag for row in rows for tag in row}))
        position = index_of(columns)
        indices = [position[tag] for row in rows for tag in row]
        indptr = np.cumsum([0, *map(len, rows)])
        values = sp.csr_array(
            (np.ones(len(indices)), indices, indptr), shape=(len(labels), len(columns))
        )
        values.sort_indices()
        return cls(name, labels, columns, values)

    @classmethod
    def from_texts(
        cls,
        texts: Mapping[Any, str],
        *,
        name: str = "texts",
        encoder: Callable[[list[str]], Any] | Any | str | None = None,
        min_count: int = 2,
    ) -> DescriptiveContext:
        """A text about each label, as TF-IDF words or through an encoder.

        `encoder` is any callable from a list of texts to an array of vectors, an
        object with an `encode` method, or "sentences" for the sentence encoder of
        the extra `phcle[sentences]`. Without one, words are weighted by TF-IDF; those
        in fewer than `min_count` texts are left out.
        """
        labels, documents = _split(texts, name)
        for label, text in zip(labels, documents, strict=True):
            if not isinstance(text, str) or not text.strip():
                raise ContextError(
                    f"context {name!r}: the text of {label!r} must not be empty. Got "
                    f"{text!r}; leave the label out if nothing is known."
                )
        if encoder is None:
            columns, rarity, words = encoding.weigh_words(documents, min_count, name)
            source = Words(rarity, tuple(documents))
            return cls(name, labels, columns, words, source=source)
        if isinstance(encoder, str):
            encoder = _named_encoder(encoder, name)
        encode = getattr(encoder, "encode", encoder)
        vectors = encode(documents)
        if not sp.issparse(vectors):
            vectors = np.asarray(vectors, dtype=np.float64)
        if vectors.ndim != 2 or vectors.shape[0] != len(labels):
            raise ContextError(
                f"context {name!r}: the encoder must return one vector per text. Got "
                f"shape {vectors.shape} for {len(labels)} texts."
            )
        return cls(name, labels, _numbered(vectors.shape[1]), vectors, readable=False)

    @classmethod
    def from_vectors(
        cls,
        vectors: Any,
        *,
        name: str = "vectors",
        labels: Iterable[Any] | Mapping[Any, str] | None = None,
    ) -> DescriptiveContext:
        """Vectors of another model: a mapping, a file, or gensim's `KeyedVectors`.

        A path is read as word2vec or GloVe text, or as word2vec binary (`.bin`), and
        only the wanted labels are kept in memory. `labels` selects; as a mapping it
        also says under which word each label is found (`{"n02123045": "tabby"}`). A
        label that is not found is unknown here.
        """
        wanted: dict[str, str] | None = None
        if labels is not None:
            where = f"labels of context {name!r}"
            keys = as_labels(labels, where)
            words = labels.values() if isinstance(labels, Mapping) else keys
            wanted = {
                key: as_label(word, f"{where}, {key!r}", "word")
                for key, word in zip(keys, words, strict=True)
            }
        if isinstance(vectors, (str, Path)):
            found = read_word_vectors(
                Path(vectors), None if wanted is None else set(wanted.values())
            )
        elif hasattr(vectors, "key_to_index"):  # gensim
            listed = vectors.key_to_index if wanted is None else set(wanted.values())
            found = {w: vectors[w] for w in listed if w in vectors.key_to_index}
        else:
            found = dict(zip(*_split(vectors, name), strict=True))
        if wanted is not None:
            found = {key: found[word] for key, word in wanted.items() if word in found}
        if not found:
            raise ContextError(
                f"context {name!r}: no vector was found"
                + (f" for {some(wanted.values())}" if wanted else "")
                + "; check that the vectors use the same words, or leave it out."
            )
        rows = as_labels(found, f"context {name!r}")
        values = _stack(rows, list(found.values()), name)
        return cls(name, rows, _numbered(values.shape[1]), values, readable=False)


def _named_encoder(encoder: str, name: str) -> Callable[[list[str]], Any]:
    if encoder != "sentences":
        raise ContextError(
            f"context {name!r}: encoder must be 'sentences' or a callable. "
            f"Got {encoder!r} instead."
        )
    return encode_sentences


def _split(mapping: Any, name: str) -> tuple[tuple[str, ...], list[Any]]:
    """Labels and what belongs to them, from a mapping or a pandas series."""
    if not hasattr(mapping, "items") or hasattr(mapping, "columns"):
        raise ContextError(
            f"context {name!r}: a mapping from labels is needed. "
            f"Got {type(mapping).__name__} instead."
        )
    pairs = list(mapping.items())
    labels = as_labels([label for label, _ in pairs], f"context {name!r}")
    return labels, [value for _, value in pairs]


def _stack(labels: Sequence[str], vectors: Sequence[Any], name: str) -> Floats:
    """One row of numbers per label, all of one length."""
    rows: list[Floats] = []
    for label, vector in zip(labels, vectors, strict=True):
        try:
            row = np.asarray(vector, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ContextError(
                f"context {name!r}: the vector of {label!r} must be numbers ({error})."
            ) from error
        if row.ndim != 1 or (rows and len(row) != len(rows[0])):
            raise ContextError(
                f"context {name!r}: every vector must be one row of numbers, as long "
                f"as the others. Got shape {row.shape} for {label!r}"
                + (f", but {rows[0].shape} for {labels[0]!r}." if rows else ".")
            )
        rows.append(row)
    return np.array(rows)


def _numbered(n: int) -> tuple[str, ...]:
    """Names for the dimensions of foreign vectors."""
    return tuple(f"dimension {i}" for i in range(1, n + 1))
