"""How the solver sees the term of a context: from the rows of the factor it updates.

Every kind of context answers the same questions about a block of rows y (r × d) of one
factor while the other factor is fixed: value and gradient at y, a curvature to build a
step from, and the value along a step. `W` sees every context; the factor of a context
sees its own context alone; a label that is folded in later sees whatever it has. So one
update serves them all.

Symbols: y a row being updated, Z the other factor, x = y·z, σ the logistic function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Protocol

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block

__all__ = [
    "Curvature",
    "FactorUpdate",
    "Line",
    "Local",
    "RowUpdate",
    "Sample",
    "StartTarget",
    "Term",
    "View",
]

Sample = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Positions of columns, and the mass that each of them stands for."""


class Curvature(Enum):
    """Which second derivative a step is built from."""

    MATCHED = auto()  # exact on known entries, right in trace on the dense part
    PROBED = auto()  # exact, but the dense part comes from a sample of columns
    BOUND = auto()  # an upper bound for every y: softplus'' is at most 1/4


class Line(Protocol):
    """A term along one direction from each row."""

    def value(self, step: Array, chosen: Array | slice) -> Array:
        """Values at y + step × direction, for the chosen rows: (chosen,)."""


class Local(Protocol):
    """A term at a block of rows."""

    value: Array  # (r,)
    gradient: Array  # (r, d)

    def product(self, z: Array, curvature: Curvature) -> Array:
        """Curvature times z, row by row: (r, d)."""

    def mean_curvature(self, curvature: Curvature) -> Array:
        """Roughly the mean curvature over the block, to precondition with: (d, d)."""

    def bound_trace(self) -> Array:
        """Trace of the bound on the curvature, so at least its norm: (r,)."""

    def along(self, direction: Array) -> Line:
        """The term along a direction (r, d)."""


class View(Protocol):
    """A term with the other factor and the context's weight filled in."""

    def local(self, block: int, y: Array, chosen: Array | None = None) -> Local:
        """The term at rows `y`: all rows of a block, or the `chosen` ones."""


class Term(Protocol):
    """One context, laid out over blocks of rows."""

    def on(self, backend: Backend) -> Term:
        """The same term on a back end that differs only in how it multiplies."""

    def at(self, other: Array, weight: float, *, sample: Sample | None = None) -> View:
        """Fix the other factor and the weight; `sample` stands for all columns."""


RowUpdate = Callable[[Array, Sequence[View], float, Sequence[Block]], Array]
"""A solver's update of a factor from its views, its ridge and its blocks of rows."""


class FactorUpdate(Protocol):
    """Updates the factor of one context while W is fixed."""

    def improve(
        self,
        W: Array,
        factor: Array,
        weight: float,
        update_rows: RowUpdate,
        *,
        sample: Sample | None = None,
        tol: float = 1e-5,
    ) -> Array:
        """The factor, improved; never worse if `update_rows` never makes it worse.

        `update_rows` is the solver's own update, for contexts whose rows it can do;
        `sample` stands for all labels; `tol` ends an iteration of the context's own.
        """


class StartTarget(Protocol):
    """What W times the factor of a context should be at the spectral start."""

    weight: float  # of the target among those of all contexts

    def product(self, V: Array) -> Array:
        """Target times V: (columns, p) → (labels, p)."""

    def transposed(self, W: Array) -> Array:
        """Transposed target times W: (labels, p) → (columns, p)."""
