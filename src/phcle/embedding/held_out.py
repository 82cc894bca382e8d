"""What fits said of known cells that they had not seen."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

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
    def unpack(
        cls, store: TensorStore, n_labels: int, n_fields: int, n_columns: int
    ) -> HeldOut:
        """Read the predictions from the store of a file; refuse what does not fit.

        Parameters
        ----------
        store : TensorStore
            The part of the file.
        n_labels : int
            Labels of the embedding.
        n_fields, n_columns : int
            Fields and columns of the table.

        Returns
        -------
        HeldOut
            What was stored.
        """
        held = cls(*(store[f"held/{each.name}"] for each in fields(cls)))
        n, where = len(held.rows), "the held-out predictions of a table"
        is_row = (held.rows >= 0) & (held.rows < n_labels)
        n_rows = len(np.unique(held.rows[is_row]))
        if held.rows.dtype != np.int64 or held.rows.shape != (n,) or n_rows < n:
            raise ContextError(f"{where} are not of its labels")
        n_folds = held.n_folds
        check_array(held.without_cells, (n_folds, n, n_columns), where)
        check_array(held.without_row, (n, n_columns), where)
        for fold, shape in (
            (held.cell_fold, (n, n_fields)),
            (held.row_fold, (n,)),
        ):
            is_fold = fold.dtype == np.int8 and fold.shape == shape
            if not is_fold or not ((fold >= 0) & (fold < n_folds)).all():
                raise ContextError(f"the folds of {where} do not fit")
        return held


class HeldTags(NamedTuple):
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
