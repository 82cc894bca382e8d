"""What descriptive values were made from, so that later labels are encoded alike.

The weight of a word depends on how rare it was among the texts of the fit, and a text
cell becomes one column per value that the fit knew. So a label that arrives later must
be encoded by the source of the fit, not by its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from phcle.contexts.base import warn_unknown_columns
from phcle.contexts.checks import check_array
from phcle.contexts.descriptive import encoding
from phcle.errors import ContextError
from phcle.files.tensor_store import TensorStore

__all__ = ["Cells", "Encoded", "Source", "Words", "unpack_source"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Encoded:
    """Values of later labels in the columns of the fit."""

    values: Any  # array with NaN, or sparse matrix
    says_something: bool


class Source(ABC):
    """What values were made from; a stored embedding keeps it without the rows."""

    is_text: ClassVar[bool] = False  # whether a person gives a value as a text

    @abstractmethod
    def take(self, rows: Sequence[int]) -> Source:
        """What belongs to some rows."""

    @abstractmethod
    def encoded_like(
        self, fitted: Source, columns: Sequence[str], name: str
    ) -> Encoded | None:
        """These rows in the columns of the fit; None if the fit had another source."""

    @abstractmethod
    def pack(self, store: TensorStore) -> str:
        """Put what fold-in needs into the store; return the name of the class."""

    @abstractmethod
    def check(self, n_columns: int, where: str) -> None:
        """Refuse parts that do not fit the number of columns."""


@dataclass(frozen=True, eq=False)
class Words(Source):
    """Texts and the weight of each word."""

    is_text = True
    rarity: Floats  # (columns,): inverse document frequency at the fit
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
    """Cells by title, and which title each column came from."""

    titles: tuple[str, ...]  # (columns,)
    cells: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def take(self, rows: Sequence[int]) -> Cells:
        cells = {
            title: [column[i] for i in rows] for title, column in self.cells.items()
        }
        return Cells(self.titles, cells)

    def encoded_like(
        self, fitted: Source, columns: Sequence[str], name: str
    ) -> Encoded | None:
        if not isinstance(fitted, Cells):
            return None
        warn_unknown_columns(name, [t for t in self.cells if t not in fitted.titles])
        n_rows = len(next(iter(self.cells.values()), ()))
        values = np.full((n_rows, len(columns)), np.nan)
        for i, (column, title) in enumerate(zip(columns, fitted.titles, strict=True)):
            for row, cell in enumerate(self.cells.get(title, ())):
                number = encoding.as_number(cell)
                if number is not None and math.isnan(number):
                    continue
                if column == title:
                    values[row, i] = math.nan if number is None else number
                else:  # one column per value: a text is each of them or not
                    values[row, i] = column == f"{title}={str(cell).strip()}"
        return Encoded(values, says_something=not np.isnan(values).all())

    def pack(self, store: TensorStore) -> str:
        store.put_names("titles", self.titles)
        return "cells"

    def check(self, n_columns: int, where: str) -> None:
        if len(self.titles) != n_columns:
            raise ContextError(
                f"{where} has {len(self.titles)} titles, not {n_columns}"
            )


def unpack_source(packed: str | None, store: TensorStore) -> Source | None:
    """The source that a file names.

    Parameters
    ----------
    packed : str or None
        What `Source.pack` returned.
    store : TensorStore
        Where it put its numbers and names.

    Returns
    -------
    Source or None
    """
    if packed == "words":
        return Words(store["rarity"])
    if packed == "cells":
        return Cells(store.names("titles"))
    return None
