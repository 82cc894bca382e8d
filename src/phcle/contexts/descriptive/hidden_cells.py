"""Known cells of a table that a trial fit does not see, and what it predicts there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np

from phcle.arrays import AnyFloats, Flags, Floats, Ints

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
    is_alone : array of bool
        Whether the whole row of the label is hidden.
    """

    rows: Ints
    columns: Ints
    truth: Floats
    is_alone: Flags

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

    def where(self, kept: Flags | Ints) -> Self:
        """Return some of the cells.

        Parameters
        ----------
        kept : array of bool or int
            Which cells, or their positions.

        Returns
        -------
        HiddenCells
            These cells.
        """
        return type(self)(*(getattr(self, x.name)[kept] for x in fields(self)))

    def joined(self, other: Self) -> Self:
        """Return the cells of several trials.

        Parameters
        ----------
        other : HiddenCells
            Cells of other trials and the same table.

        Returns
        -------
        HiddenCells
            All cells.
        """
        return type(self)(
            *(
                np.concatenate([getattr(self, x.name), getattr(other, x.name)])
                for x in fields(self)
            )
        )


@dataclass(frozen=True, eq=False)
class HiddenPredictions(HiddenCells):
    """Hidden cells, and what fits without them predict.

    Attributes
    ----------
    has_it : array of bool
        Whether the label has the attribute: a yes, a tag, this value of a category, or
        a number above the mean.
    mean : array of float
        Mean of the column without the hidden cells, on the scale of the fit.
    fitted : array of float
        Predictions, scaled as `truth` is.
    support : array of float
        How near another described label is.
    presence : array of float
        Share of the labels that have the attribute, without the hidden cells.
    others_have_it : array of bool
        Whether a label that is not hidden has the attribute.
    family : array of float
        Mean of the label's family without the hidden cells, scaled as `truth` is. NaN
        where none is known, and in columns that hold no numbers.
    trial : array of int
        Number of the trial that hid the cell.
    """

    has_it: Flags
    mean: Floats
    fitted: Floats
    support: Floats
    presence: Floats
    others_have_it: Flags
    family: Floats
    trial: Ints

    @cached_property
    def question(self) -> Ints:
        """Number of each pair of a trial and a label, counted from 0."""
        n_labels = int(self.rows.max(initial=-1)) + 1
        pairs = self.trial * n_labels + self.rows
        return np.asarray(np.unique(pairs, return_inverse=True)[1], np.int64)
