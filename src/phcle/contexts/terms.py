"""The terms of the objective, seen from the rows of the factor that is updated.

Both kinds answer the same questions about a block of rows y (r × d) of one factor
while the other factor is fixed: value and gradient at y, a curvature to build a step
from, and the value along a step. `W` sees every context; `C_i` sees its own,
transposed; a label folded in later sees whatever it has. One update serves all.

Symbols: y a row being updated, Z the other factor, x = y·z, σ the logistic function.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Protocol

from phcle.backends.protocol import Array

__all__ = [
    "Curvature",
    "Line",
    "Local",
    "Term",
    "View",
]


class Curvature(Enum):
    """Which second derivative of the logistic terms a step is built from."""

    MATCHED = auto()  # exact on known entries, matched in trace on the dense part
    PROBED = auto()  # exact but for the dense part, which a sample of columns probes
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
        """The term at rows `y`: a block's, or those at `chosen` places of it."""


class Term(Protocol):
    """One context, laid out over blocks of rows."""

    def at(self, other: Array, weight: float) -> View:
        """Fix the other factor and the weight."""
