"""What descriptive values were made from, so that later labels are encoded alike.

Words of a text weigh by how rare they were among the texts of the fit, and a text cell
becomes one column per value that the fit knew. Both depend on the labels at hand, so a
label that arrives later must be encoded by the source of the fit, not by its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.descriptive import encoding as tables

__all__ = ["Cells", "Source", "Words"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Words:
    """Texts and the weight of each word; a stored embedding keeps the weights alone."""

    rarity: Floats  # (columns,): inverse document frequency at the fit
    documents: tuple[str, ...] = ()

    def take(self, rows: Sequence[int]) -> Words:
        """The texts of some rows."""
        return Words(self.rarity, tuple(self.documents[i] for i in rows))

    def encoded_like(self, fitted: Words, columns: Sequence[str]) -> sp.csr_array:
        """These texts in the words and weights of the fit."""
        return tables.weigh_known_words(self.documents, columns, fitted.rarity)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells by title, and which title each column came from."""

    titles: tuple[str, ...]  # (columns,)
    cells: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def take(self, rows: Sequence[int]) -> Cells:
        """The cells of some rows."""
        cells = {
            title: [column[i] for i in rows] for title, column in self.cells.items()
        }
        return Cells(self.titles, cells)

    def encoded_like(self, fitted: Cells, columns: Sequence[str]) -> Floats:
        """These cells in the columns of the fit; NaN for titles that are not here."""
        n_rows = len(next(iter(self.cells.values()), ()))
        values = np.full((n_rows, len(columns)), np.nan)
        for i, (column, title) in enumerate(zip(columns, fitted.titles, strict=True)):
            for row, cell in enumerate(self.cells.get(title, ())):
                number = tables.as_number(cell)
                if number is not None and math.isnan(number):
                    continue
                if column == title:
                    values[row, i] = math.nan if number is None else number
                else:  # one column per value: a text is each of them or not
                    values[row, i] = column == f"{title}={str(cell).strip()}"
        return values


Source = Words | Cells
