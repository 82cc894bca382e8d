"""Completion of single cells: hide some known cells of a table and predict them.

Cells are drawn and scored as a fit does when it chooses its settings
(`phcle.solver.trials`), so both agree on what is better.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.contexts.base.context import Context
from phcle.errors import ConvergenceWarning
from phcle.estimator import PHCLE
from phcle.solver.trials import MOST_CELLS
from phcle.tuning.completion import dense_values, predicted_values, scores_against

if TYPE_CHECKING:
    from phcle.contexts.descriptive.fitted import FittedDescriptive

__all__ = ["CellCompletion", "Flags", "what_to_hide"]

Flags = npt.NDArray[np.bool_]


FEWEST_CELLS = 10
"""Fewest hidden cells of a draw. With fewer, whole labels are hidden."""


def what_to_hide(table: DescriptiveContext, share: float) -> str:
    """Decide whether single cells of a table are hidden, or whole labels.

    Parameters
    ----------
    table : DescriptiveContext
        The table.
    share : float
        Share of the known cells to hide.

    Returns
    -------
    str
        "cells" if the table has gaps and enough known cells, or else "labels".
    """
    has_gaps = table.readable and not table.matrix.is_complete
    is_enough = share * table.matrix.n_known >= FEWEST_CELLS
    return "cells" if has_gaps and is_enough else "labels"


@dataclass(frozen=True, eq=False)
class CellCompletion:
    """A table whose cells can be hidden, and the other contexts.

    Parameters
    ----------
    attributes : DescriptiveContext
        The table.
    others : tuple of contexts
        What stays known.
    share : float
        Share of the known cells to hide.
    """

    attributes: DescriptiveContext
    others: tuple[Context, ...]
    share: float

    def draw(self, rng: np.random.Generator, kept: Flags | None = None) -> Flags:
        """Draw cells to hide; the values of a category are drawn together.

        Parameters
        ----------
        rng : numpy.random.Generator
            Draws the cells.
        kept : array of bool of shape (labels, columns), optional
            Cells that are kept for the test and not drawn.

        Returns
        -------
        array of bool of shape (labels, columns)
            The drawn cells.
        """
        whole = self._in_fit(self.attributes)
        _, cells = whole.hide_cells(self.share, MOST_CELLS, rng)
        drawn = np.zeros((len(self.attributes.labels), len(whole.columns)), dtype=bool)
        if cells is not None:
            drawn[cells.rows, cells.columns] = True
        return drawn if kept is None else drawn & ~kept

    def scores(
        self,
        judged: Flags,
        also_hidden: Flags | None,
        options: Mapping[str, Any],
        labels: Sequence[str] | None,
    ) -> tuple[float, float]:
        """Fit without some cells, predict them and compare.

        Parameters
        ----------
        judged : array of bool of shape (labels, columns)
            Cells that are hidden and predicted.
        also_hidden : array of bool of shape (labels, columns), optional
            Cells that are hidden and not predicted.
        options : mapping
            Options of `PHCLE`.
        labels : sequence of str, optional
            Vocabulary of the fit.

        Returns
        -------
        tuple of float
            R² and mean AUC over the hidden cells, on the scale of the fit.
        """
        table = self.attributes
        values = dense_values(table, table.labels)
        hidden = judged if also_hidden is None else judged | also_hidden
        left = np.where(hidden, np.nan, values)
        known = replace(table, values=left, observed=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = PHCLE(**options).fit([known, *self.others], labels=labels)
        asked = [x for x in table.labels if x in model.embedding_]
        rows = [table.index[label] for label in asked]
        guess = predicted_values(model.embedding_, table.name, asked)
        scaled = self._in_fit(known)
        truth = _scaled(scaled, np.where(judged, values, np.nan)[rows])
        means = np.zeros(len(table.columns))
        return scores_against(truth, means, _scaled(scaled, guess))

    def _in_fit(self, table: DescriptiveContext) -> FittedDescriptive:
        return table.in_fit(table.labels)


def _scaled(table: FittedDescriptive, values: Any) -> npt.NDArray[np.float64]:
    """Values as the fit sees them: the mean of a column is zero."""
    return np.asarray((table.on_fit_scale(values) - table.offset) / table.scale)
