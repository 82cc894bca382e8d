"""Cells and texts as numbers, for the labels of a fit and for labels that come later.

The weight of a word depends on how rare it was among the texts of the fit, and a text
cell becomes one column per value that the fit knew. So later labels are encoded by the
`Source` of the fit, not by their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.base.fitted_context import warn_unknown_columns
from phcle.contexts.descriptive import encoding
from phcle.contexts.descriptive.column_reading import as_number, read_column
from phcle.contexts.labels import index_of
from phcle.contexts.matrices import check_array
from phcle.contexts.unknown_markers import UnknownMarkers
from phcle.errors import ContextError, OptionError, check_choice
from phcle.files.tensor_store import TensorStore

__all__ = [
    "CellFaults",
    "Cells",
    "Encoded",
    "EncodedColumns",
    "Source",
    "Words",
    "as_number",
    "encode_columns",
    "log_columns",
    "units_differ",
    "unknown_cells",
    "unpack_source",
    "weigh_known_words",
    "weigh_words",
]

Floats = npt.NDArray[np.float64]

FEW_VALUES = 50
"""A text column with at most this many values is a category, even if every label has
its own value: the columns take little memory, and small tables are common."""

SKEWED, ENOUGH_TO_TELL = 1.0, 8
"""A column of positive numbers whose skewness exceeds this, on at least so many values,
is fitted on a log scale. An exponential distribution has a skewness of 2."""

MOST_FAULTS = 20
"""Cells that cannot be read which a message lists; more are only counted."""

MOST_CELLS = 50_000_000
"""Most cells (labels × values) that one text column may become: 400 MB of numbers."""


class CellFaults(ContextError):
    """Cells of a table that cannot be read.

    Parameters
    ----------
    name : str
        Name of the context.
    faults : sequence of (int, str)
        Row of each cell, and what is wrong with it.

    Attributes
    ----------
    faults : sequence of (int, str)
        Row of each cell, and what is wrong with it.
    """

    def __init__(self, name: str, faults: Sequence[tuple[int, str]]) -> None:
        self.faults = faults
        lines = [f"context {name!r}: {text}" for _, text in faults[:MOST_FAULTS]]
        if len(faults) > MOST_FAULTS:
            lines.append(f"and {len(faults) - MOST_FAULTS} more faults.")
        super().__init__("\n".join(lines))


class EncodedColumns(NamedTuple):
    """Columns of numbers, and what was found out about the cells they came from.

    Parameters
    ----------
    names : tuple of str
        Names of the new columns, such as `weight` or `colour=red`.
    titles : tuple of str
        For each new column the title that it came from.
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    left_out : dict
        Why a column is left out, by its title.
    kinds : dict
        What each column of cells holds, by its title.
    units : dict
        The unit that was dropped from the cells of a column, by its title.
    remarks : tuple of str
        What was assumed or changed.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    values: Floats
    left_out: dict[str, str]
    kinds: dict[str, str]
    units: dict[str, str]
    remarks: tuple[str, ...]


def encode_columns(
    labels: Sequence[str],
    cells: Mapping[str, Sequence[Any]],
    name: str,
    markers: UnknownMarkers | None = None,
) -> EncodedColumns:
    """Turn columns of cells into columns of numbers.

    Numbers, truth values and dates become one column each. A text column becomes one
    column per value. A column with mostly different texts is left out, because it
    holds identifiers or free text.

    Parameters
    ----------
    labels : sequence of str
        One label per row.
    cells : mapping
        Cells of each column, by its title.
    name : str
        Name of the context, for messages.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.

    Returns
    -------
    EncodedColumns
        The columns. Cells that cannot be read are refused, all at once.
    """
    markers = markers or UnknownMarkers()
    names: list[str] = []
    titles: list[str] = []
    blocks: list[Floats] = []
    left_out: dict[str, str] = {}
    kinds: dict[str, str] = {}
    units: dict[str, str] = {}
    remarks: list[str] = []
    faults: list[tuple[int, str]] = []
    unknown: Counter[str] = Counter()
    for title, raw in cells.items():
        column = read_column(raw, markers)
        unknown += markers.count(raw)
        faults += [
            (row, f"column {title!r} {wrong} for label {labels[row]!r}; {remedy}.")
            for row, (wrong, remedy) in column.faults.items()
        ]
        remarks += [f"{title!r}: {x}" for x in column.remarks]
        kinds[title] = column.kind
        if column.unit:
            units[title] = column.unit
        if column.kind != "category":
            names.append(title)
            titles.append(title)
            blocks.append(np.array(column.numbers, dtype=np.float64)[:, None])
            continue
        values = sorted({word for word in column.words if word is not None})
        reason = _not_a_category(column.words, len(values))
        if reason is not None:
            left_out[title] = reason
            kinds[title] = "left out"
            continue
        names += [f"{title}={value}" for value in values]
        titles += [title] * len(values)
        blocks.append(_one_hot(column.words, values))
    if faults:
        raise CellFaults(name, sorted(faults))
    if unknown:
        remarks.insert(0, unknown_cells(unknown))
    table = np.hstack(blocks) if blocks else np.empty((len(labels), 0))
    return EncodedColumns(
        tuple(names), tuple(titles), table, left_out, kinds, units, tuple(remarks)
    )


def unknown_cells(markers: Counter[str]) -> str:
    """Say which cells were taken as unknown.

    Parameters
    ----------
    markers : Counter
        How often each marker occurs.

    Returns
    -------
    str
        A remark.

    Examples
    --------
    >>> unknown_cells(Counter({"n/a": 3, "-": 1}))
    "4 cells unknown: 'n/a' 3, '-' 1"
    """
    total = markers.total()
    listed = ", ".join(f"{text!r} {n}" for text, n in markers.most_common(6))
    more = ", \u2026" if len(markers) > 6 else ""
    return f"{total} cell{'s' if total > 1 else ''} unknown: {listed}{more}"


def _not_a_category(words: Sequence[str | None], n_values: int) -> str | None:
    """Why a text column cannot become one column per value; None if it can."""
    n_known = sum(word is not None for word in words)
    if n_values <= FEW_VALUES:
        return None
    if n_values > n_known / 2:
        return (
            f"{n_values} of its {n_known} known cells differ, so it holds identifiers "
            "or texts; give texts as --texts (from_texts)"
        )
    if n_values * len(words) > MOST_CELLS:
        return (
            f"its {n_values} values would take {n_values * len(words):,} cells; give "
            "it as --tags (from_tags), which stores what is present alone"
        )
    return None


def _one_hot(words: Sequence[str | None], values: Sequence[str]) -> Floats:
    """One column per value: 1 where a word is the value, NaN where it is missing."""
    position = index_of(values)
    codes = np.array([-1 if word is None else position[word] for word in words])
    block = np.zeros((len(words), len(values)))
    known = codes >= 0
    block[known, codes[known]] = 1.0
    block[~known] = np.nan
    return block


def log_columns(
    columns: Sequence[str],
    titles: Sequence[str],
    values: Floats,
    log: bool | Iterable[str] | None,
    name: str,
) -> tuple[str, ...]:
    """Choose the columns that are fitted on a log scale.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    titles : sequence of str
        For each column the title that it came from; another name marks a category.
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.
    log : bool, iterable of str, or None
        The user's choice; None leaves it to the skewness of the columns.
    name : str
        Name of the context, for messages.

    Returns
    -------
    tuple of str
        Names of the columns.
    """
    if log is not None and not isinstance(log, bool):
        wanted = tuple(log)
        for column in wanted:
            check_choice("log column", column, columns, f"context {name!r}")
        return wanted
    if log is False:
        return ()
    found = []
    for column, title, own in zip(columns, titles, values.T, strict=True):
        known = own[np.isfinite(own)]
        if column != title or not len(known) or known.min() <= 0:
            continue
        skewness, after = _skewness(known), _skewness(np.log(known))
        is_skewed = skewness > SKEWED and abs(after) < skewness
        if log or (is_skewed and len(known) >= ENOUGH_TO_TELL):
            found.append(column)
    return tuple(found)


def _skewness(values: Floats) -> float:
    """Third standardised moment; 0 for a constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = values - values.mean()
        spread = float(np.sqrt((away**2).mean()))
        return float(((away / spread) ** 3).mean()) if spread > 0 else 0.0


def units_differ(values: Floats) -> bool:
    """Tell whether columns seem to be in different units.

    Parameters
    ----------
    values : array of shape (labels, columns)
        The numbers; NaN for missing values.

    Returns
    -------
    bool
        Whether the spread of any column is more than ten times larger or smaller than
        the median spread.
    """
    known = np.isfinite(values)  # infinite values are refused later, with their label
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / count
    with np.errstate(over="ignore"):  # an infinite spread differs, which is right
        squares = np.where(known, filled - mean, 0.0) ** 2
        spread = np.sqrt(squares.sum(axis=0) / count)
    spread = spread[spread > 0]
    if len(spread) < 2:
        return False
    middle = np.median(spread)
    return bool(spread.max() > 10 * middle or spread.min() < middle / 10)


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
    documents: Sequence[str], words: Sequence[str], rarity: Floats
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

    Returns
    -------
    csr_array of shape (texts, words)
        Weight of each word in each text; rows have unit length.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(vocabulary=words, sublinear_tf=True)
    vectorizer.idf_ = rarity
    return sp.csr_array(vectorizer.transform(documents))


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
    rarity: Floats
    documents: tuple[str, ...] = ()

    def take(self, rows: Sequence[int]) -> Words:
        return Words(self.rarity, tuple(self.documents[i] for i in rows))

    def encoded_like(
        self, fitted: Source, columns: Sequence[str], name: str
    ) -> Encoded | None:
        if not isinstance(fitted, Words):
            return None
        values = encoding.weigh_known_words(self.documents, columns, fitted.rarity)
        return Encoded(values, says_something=values.nnz > 0)

    def pack(self, store: TensorStore) -> str:
        store["rarity"] = self.rarity
        return "words"

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
    kinds : mapping from str to str
        What each column of cells holds, by title; not stored.
    units : mapping from str to str
        The unit that was dropped from the cells of a column, by title.
    remarks : tuple of str
        What was assumed or changed when the cells were read; not stored.
    """

    titles: tuple[str, ...]
    cells: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    markers: UnknownMarkers = field(default_factory=UnknownMarkers)
    kinds: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

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
    ) -> Sequence[float]:
        """Numbers of new cells; a unit must be that of the fit."""
        column = read_column(raw, self.markers, numeric=True)
        unit = fitted.units.get(title, "")
        if column.unit and unit and column.unit != unit:
            raise ContextError(
                f"context {name!r}: column {title!r} was fitted in {unit!r}. Got "
                f"{column.unit!r} instead; convert the values."
            )
        return column.numbers

    def pack(self, store: TensorStore) -> str:
        store.put_names("titles", self.titles)
        if self.units:
            store.put_names("units", [self.units.get(x, "") for x in self.titles])
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

    if packed == "words":
        return Words(store["rarity"])
    if packed == "name words":
        return NameWords(store["rarity"])
    if packed == "cells":
        titles = store.names("titles")
        if "units" not in store:
            return Cells(titles)
        units = zip(titles, store.names("units"), strict=False)
        return Cells(titles, units={title: unit for title, unit in units if unit})
    return None
