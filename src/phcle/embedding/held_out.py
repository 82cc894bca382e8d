"""What fits said of known cells that they had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from phcle.arrays import Flags, Ints
from phcle.contexts.matrices import check_array
from phcle.errors import ContextError
from phcle.files.container import TensorStore

Halves = npt.NDArray[np.float16]
Bytes = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of the labels that a table describes, in steps of its scale.

    Attributes
    ----------
    rows : array of int of shape (described,)
        Rows of these labels in the embedding.
    cell_fold : array of shape (described, fields)
        The fold of each cell.
    without_cells : array of shape (folds, described, columns)
        All cells, by the fit that has not seen the cells of each fold.
    row_fold : array of shape (described,)
        The fold of each label.
    without_row : array of shape (described, columns)
        All cells, by the fit that has not seen the label's row.
    """

    rows: Ints
    cell_fold: Bytes
    without_cells: Halves
    row_fold: Bytes
    without_row: Halves

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.without_cells)

    def pack(self, store: TensorStore) -> None:
        """Put the predictions into the store of a file.

        Parameters
        ----------
        store : TensorStore
            The part of the file.
        """
        for each in fields(self):
            store[f"held/{each.name}"] = getattr(self, each.name)

    @classmethod
    def unpack(cls, store: TensorStore) -> HeldOut:
        """Read the predictions from the store of a file.

        Parameters
        ----------
        store : TensorStore
            The part of the file.

        Returns
        -------
        HeldOut
            What was stored.
        """
        return cls(*(store[f"held/{each.name}"] for each in fields(cls)))

    def check(self, n_labels: int, n_fields: int, n_columns: int) -> None:
        """Refuse predictions that do not fit a table.

        Parameters
        ----------
        n_labels : int
            Labels of the embedding.
        n_fields : int
            Fields of the table.
        n_columns : int
            Columns of the table.
        """
        n, where = len(self.rows), "the held-out predictions of a table"
        is_row = np.zeros(n_labels, dtype=bool)
        if self.rows.shape == (n,) and self.rows.dtype == np.int64:
            is_row[self.rows[(self.rows >= 0) & (self.rows < n_labels)]] = True
        if is_row.sum() < n:
            raise ContextError(f"{where} are not of its labels")
        n_folds = self.n_folds if self.without_cells.ndim == 3 else 0
        check_array(self.without_cells, (n_folds, n, n_columns), where)
        check_array(self.without_row, (n, n_columns), where)
        for fold, shape in ((self.cell_fold, (n, n_fields)), (self.row_fold, (n,))):
            is_fold = fold.dtype == np.int8 and fold.shape == shape
            if not is_fold or not ((fold >= 0) & (fold < n_folds)).all():
                raise ContextError(f"the folds of {where} do not fit")


@dataclass(frozen=True, eq=False)
class HeldTags:
    """Predictions of tags by fits that have not seen the label's row.

    Attributes
    ----------
    rows, columns : arrays of int of shape (cells,)
        Row in the embedding, and column, of each cell.
    has_it : array of bool of shape (cells,)
        Whether the label has the tag.
    steps : array of shape (cells,)
        What was predicted, in steps of the table's scale.
    """

    rows: Ints
    columns: Ints
    has_it: Flags
    steps: npt.NDArray[np.float32]

    @staticmethod
    def joined(parts: Sequence[HeldTags]) -> HeldTags:
        """Join the cells of several fits.

        Parameters
        ----------
        parts : sequence of HeldTags
            The parts.

        Returns
        -------
        HeldTags
            All of them.
        """
        arrays = zip(*(vars(part).values() for part in parts), strict=True)
        return HeldTags(*map(np.concatenate, arrays))
