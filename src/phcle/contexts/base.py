"""What every kind of context offers, so that no other code asks for the kind.

A kind is two classes in a package of its own:

- a `Context` is what the user gives: labels, columns and numbers in the user's units;
- a `FittedContext` is the same context inside a fit or an embedding. `Context.in_fit`
  lays its numbers out over the labels of the problem and scales them. The solver then
  learns its `factor`, and `FittedContext.learned` drops what only the solver needed.

The solver sees the learning half of `FittedContext`; the embedding, storage and fold-in
see the other half. A factor is whatever vectors the context owns, one row per column:
its context starts it, updates it, penalises it and stores it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.labels import index_of
from phcle.contexts.terms import FactorUpdate, StartTarget, Term
from phcle.errors import ContextError, ContextWarning, some

if TYPE_CHECKING:
    from phcle.contexts.descriptive.confidence import Calibration
    from phcle.contexts.relational.taxonomy import Hierarchy
    from phcle.files.tensor_store import TensorStore

__all__ = [
    "UNITS",
    "Context",
    "FittedContext",
    "Penalties",
    "PredictingContext",
    "warn_unknown_columns",
]

Floats = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

UNITS = 100.0
"""Counts, or squared deviation, of an average label in every context. Contexts are
scaled to it before they are weighed, so one setting of the λ's serves many data."""


@dataclass(frozen=True)
class Penalties:
    """The λ's of the objective, and k, the negatives per count."""

    negatives: float  # k
    descriptive: float  # λ1
    sparsity: float  # λ2
    ridge: float  # λ3
    context_ridge: float  # λ4


class Context(ABC):
    """What is known about some labels, in the user's units."""

    kind: ClassVar[str]
    order: ClassVar[int]  # contexts of a lower order come first in files and tables
    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    hierarchy: Any = None  # how a hierarchy became the context; None if none did

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each label."""
        return index_of(self.labels)

    @property
    @abstractmethod
    def has_values(self) -> Flags:
        """Which rows hold at least one count or known value: (labels,)."""

    @cached_property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels with at least one count or known value."""
        return tuple(
            label
            for label, is_known in zip(self.labels, self.has_values, strict=True)
            if is_known
        )

    def naming_also(self, others: Iterable[str]) -> Context:
        """The context with further labels, if it can say something about them."""
        return self

    @property
    @abstractmethod
    def n_stored(self) -> int:
        """How many counts or known values take memory."""

    @abstractmethod
    def fingerprint_arrays(self) -> list[Any]:
        """All numbers, for a fingerprint of the data."""

    def of_kind(self, kind: str) -> Context:
        """The context with its hierarchy turned into counts in another way."""
        raise ContextError(
            f"context {self.name!r} comes from no hierarchy, so it has no kind."
        )

    @abstractmethod
    def in_fit(self, labels: Sequence[str]) -> FittedContext:
        """The context over the labels of a problem, scaled."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedContext(ABC):
    """A context inside a fit or an embedding.

    Attributes
    ----------
    name, columns
        As the user gave them; columns that no label uses are gone.
    data
        The user's rows of the labels at hand, None if the context knows none of them.
    weight
        α or β.
    factor : array of shape (columns, dim)
        Learned vectors; empty until they are learned.
    """

    kind: ClassVar[str]
    updated_after_labels: ClassVar[bool]  # in the paper's Algorithm 1
    name: str
    columns: tuple[str, ...]
    data: Any
    weight: float = 1.0
    factor: Floats = field(default_factory=lambda: np.empty((0, 0)))

    # ---- the learning half: numbers laid out over the labels of a problem ----

    @property
    @abstractmethod
    def observed(self) -> Flags:
        """Which labels of the problem the context knows."""

    @property
    @abstractmethod
    def entries(self) -> sp.csr_array:
        """Known cells that the term of W goes over one by one: (labels, columns)."""

    @property
    def n_dense_columns(self) -> int:
        """Columns that the term of W goes over for every label, known or not."""
        return 0

    @property
    def masses(self) -> tuple[Floats, Floats] | None:
        """Masses of labels and columns to draw samples by; None: no sampling."""
        return None

    @abstractmethod
    def take(self, rows: Ints) -> Self:
        """The context over some of the labels of the problem."""

    @abstractmethod
    def hide_rows(self, rows: Ints) -> Self:
        """The context with nothing known about some labels."""

    @abstractmethod
    def hide_columns(self, hidden: Flags) -> Self:
        """The context as if it had only the other columns."""

    def without_empty_columns(self) -> Self:
        """The context without columns that no label at hand uses."""
        return self

    @abstractmethod
    def fingerprint_arrays(self) -> list[Any]:
        """All scaled numbers, for the fingerprint of a checkpoint."""

    @abstractmethod
    def term_weight(self, weight: float, lam: Penalties) -> float:
        """What the term is multiplied by if the context has this weight."""

    @abstractmethod
    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> Term:
        """The term of the objective, seen from the rows of W."""

    @abstractmethod
    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> FactorUpdate:
        """What updates the factor while W is fixed."""

    @abstractmethod
    def factor_penalties(
        self, xp: Any, factor: Array, lam: Penalties
    ) -> Mapping[str, float]:
        """Penalties on the factor, by the name of their λ."""

    @abstractmethod
    def factor_ridge(self, lam: Penalties) -> float:
        """The λ of the squared penalty on the factor, for balancing it against W."""

    @abstractmethod
    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> StartTarget:
        """What W times the factor should be at the start, for this weight."""

    @abstractmethod
    def loss(self, W: Floats, factor: Floats, lam: Penalties) -> float:
        """The unweighted term in plain NumPy, double precision: the reference."""

    def floor(self, lam: Penalties) -> float:
        """A lower bound of `loss` over all factors."""
        return 0.0

    @abstractmethod
    def held_out_losses(
        self, W: Floats, factor: Floats, lam: Penalties, trusts: Sequence[float]
    ) -> Floats:
        """Loss of each label if predictions count by each trust: (trusts, labels).

        Trust 0 is a model that knows nothing, 1 takes predictions as they are.
        """

    def learned(
        self, labels: Sequence[str], weight: float, factor: Floats
    ) -> FittedContext:
        """The context as the embedding keeps it, without what only solvers need."""
        return replace(self, weight=weight, factor=factor)

    # ---- the other half: what an embedding asks ----

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""
        return () if self.data is None else tuple(self.data.observed_labels)

    def knows(self, label: str) -> bool:
        """Whether the context says anything about the label."""
        if self.data is None or label not in self.data.index:
            return False
        return bool(self.data.has_values[self.data.index[label]])

    @property
    def has_sparse_factor(self) -> bool:
        """Whether λ2 pushes entries of the factor to zero."""
        return False

    @property
    def has_readable_columns(self) -> bool:
        """Whether column names mean something to a person."""
        return True

    @property
    def predicts_columns(self) -> bool:
        """Whether the context predicts values of readable columns."""
        return False

    def with_calibration(self, calibration: Calibration | None) -> FittedContext:
        """The context with a calibration, if it predicts anything."""
        return self

    @abstractmethod
    def pull(self, label: str, vector: Floats, lam: Penalties) -> Floats:
        """Minus the derivative of the weighted term by x = w·c: (columns,)."""

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy that the context comes from, if any."""
        return None

    def shared_nodes(self, a: str, b: str) -> tuple[str, ...]:
        """Nodes of the hierarchy above both labels, nearest first."""
        return () if self.hierarchy is None else self.hierarchy.shared_ancestors(a, b)

    @property
    @abstractmethod
    def file_kinds(self) -> tuple[str, ...]:
        """Kinds of file that the context may have been read from."""

    def details(self) -> dict[str, Any]:
        """What a summary of the embedding says about this kind of context."""
        return {}

    @abstractmethod
    def for_new_labels(self, context: Context | None, labels: Sequence[str]) -> Self:
        """The same factor with the rows of new labels, laid out for the solver.

        `context` is what the user says about the new labels; None: nothing.
        """

    @abstractmethod
    def joined(self, later: Self) -> Self:
        """The same factor with the rows of both."""

    @abstractmethod
    def pack(self, store: TensorStore) -> dict[str, Any]:
        """Put all numbers and names into the store; return the settings."""

    @classmethod
    @abstractmethod
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> FittedContext:
        """The reverse of `pack`."""

    @abstractmethod
    def check(self) -> None:
        """Refuse parts that do not fit each other: a file may come from anybody."""

    def _other_kind(self) -> ContextError:
        return ContextError(
            f"context {self.name!r} was {self.kind} at the fit; give the same kind."
        )


def warn_unknown_columns(name: str, columns: Sequence[str]) -> None:
    """Warn that columns of new labels are left out, for the fit did not have them.

    Parameters
    ----------
    name : str
        Name of the context.
    columns : sequence of str
        The unknown columns; nothing happens if there are none.
    """
    if columns:
        warnings.warn(
            f"context {name!r}: {len(columns)} columns were not in the fit and are "
            f"ignored: {some(columns, 3)}.",
            ContextWarning,
            stacklevel=5,
        )


class PredictingContext(Protocol):
    """A fitted context whose `predicts_columns` is true, and what it can do then."""

    name: str
    columns: tuple[str, ...]
    weight: float
    factor: Floats
    offset: npt.NDArray[np.float64]  # (columns,), in the user's units
    scale: npt.NDArray[np.float64]  # (columns,), in the user's units
    data: Any
    calibration: Calibration | None  # None: too few labels to learn it from

    @property
    def observed(self) -> Flags:
        """Which labels of the problem the context knows."""

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""

    @property
    def largest(self) -> npt.NDArray[np.float64]:
        """Largest known value of every column, in the user's units."""

    def predict(self, vectors: Floats) -> npt.NDArray[np.float64]:
        """Predicted values, in the user's units: (rows, columns)."""

    def observed_row(self, label: str) -> npt.NDArray[np.float64]:
        """Known values of a label, NaN where unknown, in the user's units."""

    @property
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        """How a person gives a value: as "numbers", "tags" or "text"."""

    def only(self, column: str) -> PredictingContext:
        """The context cut down to one column."""
