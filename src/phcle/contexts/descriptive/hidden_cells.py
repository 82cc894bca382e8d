"""Known cells of a table that a trial fit does not see, and what it predicts there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phcle.arrays import AnyFloats, Floats, Ints

AT_ONCE = 4_096
"""Single cells that are predicted at once, so that their vectors stay in the cache:
those of all cells of a wide table would take gigabytes."""


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Cells of a context that a trial fit does not see.

    Attributes
    ----------
    rows : array of int
        Positions of their labels.
    columns : array of int
        Positions of their columns.
    truth : array of float
        Their scaled values; zero is the mean of the column without hidden cells.
    """

    rows: Ints
    columns: Ints
    truth: Floats

    def predicted(self, W: AnyFloats, U: AnyFloats) -> Floats:
        """Compute W Uᵀ at every hidden cell.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        array of shape (cells,)
            Predictions, scaled as `truth` is.
        """
        labels, at = np.unique(self.rows, return_inverse=True)
        if 2 * len(at) > len(labels) * len(U):  # whole rows, most of them
            return np.asarray((W[labels] @ U.T)[at, self.columns], np.float64)
        found = np.empty(len(self.rows))
        for start in range(0, len(found), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            own, others = W[self.rows[part]], U[self.columns[part]]
            found[part] = np.einsum("ij,ij->i", own, others)
        return found

    def errors(self, W: AnyFloats, U: AnyFloats) -> Floats:
        """Compute the squared error of W Uᵀ at every hidden cell.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        U : array of shape (columns, dim)
            Vectors of the columns.

        Returns
        -------
        array of shape (cells,)
            Squared errors.
        """
        return np.asarray((self.truth - self.predicted(W, U)) ** 2)

    def skill(self, errors: AnyFloats) -> float:
        """Compute the share of the hidden cells' squares that is predicted.

        Parameters
        ----------
        errors : array of shape (cells,)
            Squared errors.

        Returns
        -------
        float
            R²: 1 is perfect, 0 is as good as the means; NaN without hidden cells.
        """
        total = float((self.truth**2).sum())
        return 1 - float(errors.sum()) / total if total else float("nan")
