"""What every kind of context offers. No other code asks which kind a context is.

A kind is two classes in a package of its own:

- a `Context` is what the user gives: labels, columns and numbers in the user's units;
- a `FittedContext` is the same context inside a fit or an embedding. `Context.in_fit`
  arranges its numbers by the labels of the problem and scales them. The solver then
  learns its `factor`, and `FittedContext.learned` drops what only the solver needs.

The solver uses the first half of `FittedContext`; the embedding, storage and fold-in
use the second half. A factor holds the vectors that belong to the context, one per
column. Its context starts, updates, penalises and stores it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.labels import index_of, some_names
from phcle.contexts.reasons import LACKS, UNKNOWN, Codes, Pair, Reasons, compared
from phcle.contexts.terms import FactorUpdate, StartTarget, Term
from phcle.errors import ContextError, ContextWarning, some

if TYPE_CHECKING:
    from phcle.contexts.descriptive.confidence import Calibration, Read
    from phcle.contexts.descriptive.fields import Field
    from phcle.contexts.descriptive.hidden_cells import HiddenCells
    from phcle.contexts.family.kinship import Kinship
    from phcle.contexts.relational.specific_nodes import SpecificNodes
    from phcle.contexts.relational.taxonomy import Hierarchy
    from phcle.files.tensor_store import TensorStore

__all__ = [
    "UNITS",
    "Context",
    "Evidence",
    "FittedContext",
    "Penalties",
    "PredictingContext",
    "most_used_columns",
    "warn_unknown_columns",
]

Floats = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

UNITS = 100.0
"""Contexts are scaled to this sum of counts, or of squared deviations, per label. The
value is a convention: the default penalties were chosen for it."""


@dataclass(frozen=True)
class Penalties:
    """The penalties λ of the objective, and k.

    Attributes
    ----------
    negatives : float
        k, the negatives per count of relational contexts.
    descriptive : float
        λ1, the weight of descriptive contexts against relational ones.
    sparsity : float
        λ2, the penalty on absolute values of U.
    ridge : float
        λ3, the penalty on squares of W and U.
    context_ridge : float
        λ4, the penalty on squares of C.
    stiffness : float
        γ, how strongly the nodes of a family hold together, relative to λ3.
    """

    negatives: float
    descriptive: float
    sparsity: float
    ridge: float
    context_ridge: float
    stiffness: float = 1.0


class Context(ABC):
    """What the user knows about some labels, in the user's units.

    Attributes
    ----------
    kind : str
        Name of the kind of context.
    order : int
        Contexts of a lower order come first in files and tables.
    name : str
        Name of the context.
    labels : tuple of str
        Names of the rows.
    columns : tuple of str
        Names of the columns.
    hierarchy : HierarchyCounts or None
        How a hierarchy was turned into the context; None if it comes from none.
    """

    kind: ClassVar[str]
    order: ClassVar[int]
    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    hierarchy: Any = None

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each label."""
        return index_of(self.labels)

    @property
    @abstractmethod
    def has_values(self) -> Flags:
        """Whether each row has a count or a known value: (labels,)."""

    @cached_property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels with at least one count or known value."""
        return some_names(self.labels, np.flatnonzero(self.has_values))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes of the hierarchy, which labels of other contexts may name."""
        return ()

    def renamed(self, spellings: Mapping[str, str]) -> Context:
        """Return the context with other spellings of its labels.

        Parameters
        ----------
        spellings : mapping from str to str
            New labels by the present ones. Labels that become one are merged.

        Returns
        -------
        Context
            The renamed context, or the context itself if it has none of the labels.
        """
        if spellings.keys().isdisjoint(self.nodes or self.labels):
            return self
        return self._with_labels(spellings)

    def _with_labels(self, spellings: Mapping[str, str]) -> Context:
        raise NotImplementedError  # contexts that a fit makes have matched labels

    def naming_also(self, others: Iterable[str]) -> Context:
        """Add labels that other contexts name, if this one knows something about them.

        Parameters
        ----------
        others : iterable of str
            Labels that the other contexts name.

        Returns
        -------
        Context
            The context with further labels, or the context itself.
        """
        return self

    @property
    def may_have_gaps(self) -> bool:
        """Whether cells can be hidden, to see how well a fit fills gaps."""
        return True

    @property
    def role_is_open(self) -> bool:
        """Whether the fit may choose between counts and a family."""
        return False

    def in_role(self, role: str) -> Context:
        """Return the same context in another role.

        Parameters
        ----------
        role : {"counts", "family", "both", "auto"}
            What the fit makes of it; see `RelationalContext.from_hierarchy`.

        Returns
        -------
        Context
            The context in that role; contexts without relatives have only one.
        """
        return self

    def relatives(self) -> Kinship | None:
        """Return the tree or graph that makes labels relatives of each other, if any.

        Returns
        -------
        Kinship or None
            The tree or graph.
        """
        return None

    def parts(self) -> tuple[Context, ...]:
        """Return what the context becomes in a fit: itself, or several contexts.

        Returns
        -------
        tuple of Context
            A context for each role.
        """
        return (self,)

    def empty_error(self) -> ContextError:
        """Say why nothing can be learned from the context: it knows nothing.

        Returns
        -------
        ContextError
            The error, to be raised by a fit.
        """
        return ContextError(
            f"context {self.name!r} relates no two labels; leave it "
            "out, or add edges between its labels."
        )

    @property
    @abstractmethod
    def n_stored(self) -> int:
        """Number of counts or known values that take memory."""

    @abstractmethod
    def fingerprint_arrays(self) -> list[Any]:
        """Return all numbers, for a fingerprint of the data.

        Returns
        -------
        list of arrays
            Dense or sparse arrays.
        """

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """Names of the columns of `stored_cells`."""
        return self.columns

    def stored_cells(self) -> tuple[Ints, Ints, Floats]:
        """Return the numbers that take memory, to compare contexts cell by cell.

        Returns
        -------
        rows : array of int
            Positions of the labels.
        columns : array of int
            Positions of the columns.
        values : array
            Their numbers.
        """
        found = sp.coo_array(self.fingerprint_arrays()[0])
        rows, columns = (axis.astype(np.int64) for axis in found.coords)
        return rows, columns, np.asarray(found.data, np.float64)

    def of_kind(self, kind: str) -> Context:
        """Turn the hierarchy of the context into counts in another way.

        Parameters
        ----------
        kind : str
            A `kind` of `RelationalContext.from_hierarchy`.

        Returns
        -------
        Context
            The new counts of the same labels.
        """
        raise ContextError(
            f"context {self.name!r} comes from no hierarchy, so it has no kind."
        )

    @abstractmethod
    def in_fit(self, labels: Sequence[str]) -> FittedContext:
        """Arrange the context by the labels of a problem and scale it.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        FittedContext
            The context as the solver uses it, not learned yet.
        """


@dataclass(frozen=True, eq=False)
class Evidence:
    """What makes up label vectors: λ3·w is the sum of totals and own pulls times w.

    Attributes
    ----------
    title : str
        What stands before the names in a sentence.
    names : tuple of str
        Columns, or relatives.
    pulls : array of shape (labels, names)
        How strongly each name pulls a label towards its vector.
    vectors : array of shape (names, dim)
        Vectors of the names.
    total : array of shape (labels, dim)
        Sum of the vectors, each times its pull.
    weights : array of shape (labels, names)
        How much each name is one of the label's own; 0 for what the label lacks.
    own : array of shape (labels,)
        How strongly a label is pulled to its own vector w: a family returns a part of
        what the label brought into it.
    """

    title: str
    names: tuple[str, ...]
    pulls: Floats
    vectors: Floats
    total: Floats
    weights: Floats
    own: Floats


def most_used_columns(matrix: sp.csr_array, most: int) -> sp.csr_array:
    """Return the columns with most stored entries.

    Parameters
    ----------
    matrix : csr_array
        Any matrix.
    most : int
        Most columns to return.

    Returns
    -------
    csr_array
        These columns, the fullest first.
    """
    n_entries = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return sp.csr_array(matrix[:, np.argsort(-n_entries, kind="stable")[:most]])


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedContext(ABC):
    """A context inside a fit or an embedding.

    Attributes
    ----------
    name : str
        Name of the context.
    columns : tuple of str
        Names of the columns that some label uses.
    data : Context or None
        The user's rows of the present labels; None if the context knows none of them.
    weight : float
        α or β, the weight of the context in the objective.
    factor : array of shape (columns, dim)
        Learned vectors; empty until they are learned.
    kind : str
        Name of the kind of context.
    updated_after_labels : bool
        Whether the paper's Algorithm 1 updates the factor after W.
    turns_with_labels : bool
        Whether the factor lies in the space of W, so that both are solved together.
    """

    kind: ClassVar[str]
    updated_after_labels: ClassVar[bool]
    turns_with_labels: ClassVar[bool] = False
    name: str
    columns: tuple[str, ...]
    data: Any
    weight: float = 1.0
    factor: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def given_name(self) -> str:
        """Name of the user's context that this one was made from."""
        return self.name

    # ---- for the solver: numbers arranged by the labels of a problem ----

    @property
    def informs(self) -> Flags:
        """Labels that the context tells something about by itself: (labels,)."""
        return self.observed

    def beside(self, informed: Flags) -> FittedContext:
        """Return the context, told which labels any context of the problem informs.

        Parameters
        ----------
        informed : array of bool of shape (labels,)
            The labels.

        Returns
        -------
        FittedContext
            The context, or the context itself.
        """
        return self

    def uninformed_error(self, labels: Sequence[str]) -> ContextError | None:
        """Say which labels would get no vector of their own, if any.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        ContextError or None
            The error, to be raised by a fit.
        """
        return None

    @property
    @abstractmethod
    def observed(self) -> Flags:
        """Whether the context knows each label of the problem: (labels,)."""

    @property
    @abstractmethod
    def entries(self) -> sp.csr_array:
        """Known cells that the term of W computes separately: (labels, columns)."""

    @property
    def is_shrunk(self) -> bool:
        """Whether the factor has a penalty of its own instead of the common ridge."""
        return False

    @property
    def n_dense_columns(self) -> int:
        """Number of columns that the term of W computes for every label."""
        return 0

    @property
    def masses(self) -> tuple[Floats, Floats] | None:
        """Masses of labels and columns for drawing samples; None if none are drawn."""
        return None

    @abstractmethod
    def take(self, rows: Ints) -> Self:
        """Return the context over some of the labels of the problem.

        Parameters
        ----------
        rows : array of int
            Positions of the labels.

        Returns
        -------
        FittedContext
            The context over these labels, in this order.
        """

    @abstractmethod
    def hide_rows(self, rows: Ints) -> Self:
        """Return the context as if it knew nothing about some labels.

        Parameters
        ----------
        rows : array of int
            Positions of the labels to hide.

        Returns
        -------
        FittedContext
            The context over the same labels and columns.
        """

    def hide_cells(
        self,
        share: float,
        most: int,
        rng: np.random.Generator,
        *,
        rows: Ints | None = None,
        start: float = 0.0,
        like_gaps: bool = False,
    ) -> tuple[FittedContext, HiddenCells | None]:
        """Hide some known cells, to see how well a fit predicts them.

        Parameters
        ----------
        share : float
            Share of the known cells to hide.
        most : int
            Most cells to look at, known or not.
        rng : numpy.random.Generator
            Draws the cells.
        rows : array of int, optional
            Positions of labels that are hidden altogether, beside that share of the
            others' cells.
        start : float, default 0.0
            Where the share begins. With generators of one seed, shares that do not
            overlap hide different cells.
        like_gaps : bool, default False
            Whether columns whose gaps are in the same rows are hidden together.

        Returns
        -------
        context : FittedContext
            The context without the hidden cells.
        hidden : HiddenCells or None
            The hidden cells; None if the context predicts no readable columns.
        """
        return self, None

    def again(self, labels: Sequence[str]) -> FittedContext:
        """Arrange the stored data by labels, to fit them again.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        FittedContext
            The context, not learned yet.
        """
        fitted: FittedContext = self.data.in_fit(labels)
        return fitted

    @property
    def log_columns(self) -> tuple[str, ...]:
        """Columns that are fitted on a log scale."""
        return ()

    def dense_cells(self, rows: Ints, most: int) -> tuple[Floats, Flags]:
        """Return the cells of some labels, to compare contexts with each other.

        Parameters
        ----------
        rows : array of int
            Positions of the labels.
        most : int
            Most columns to return; those with most cells are.

        Returns
        -------
        values : array of shape (rows, columns)
            Values; 0 where none is known.
        known : array of bool of shape (rows, columns)
            Which are known.
        """
        values = most_used_columns(self.entries[rows], most).toarray()
        return values, np.broadcast_to(self.observed[rows][:, None], values.shape)

    def shrunk(self, shrinkage: float | None) -> FittedContext:
        """Return the context with another shrinkage of its factor.

        Parameters
        ----------
        shrinkage : float or None
            See `PHCLE`; None leaves the factor to the ridge.

        Returns
        -------
        FittedContext
            The context, or the context itself if it has no shrinkage.
        """
        return self

    @abstractmethod
    def fingerprint_arrays(self) -> list[Any]:
        """Return all scaled numbers, for the fingerprint of a checkpoint.

        Returns
        -------
        list of arrays
            Dense or sparse arrays.
        """

    @abstractmethod
    def term_weight(self, weight: float, lam: Penalties) -> float:
        """Return the number that multiplies the term of the context.

        Parameters
        ----------
        weight : float
            α or β.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        float
            The weight, times λ1 for some kinds.
        """

    @abstractmethod
    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> Term:
        """Return the term of the objective for updates of W.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        blocks : sequence of Block
            Blocks of labels that are updated together.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        Term
            The term over the rows of W.
        """

    @abstractmethod
    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> FactorUpdate:
        """Return what updates the factor while W is fixed.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        dim : int
            Length of a vector.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        FactorUpdate
            The update of this kind of context.
        """

    @abstractmethod
    def factor_penalties(
        self, xp: Any, factor: Array, lam: Penalties
    ) -> Mapping[str, float]:
        """Compute the penalties on the factor.

        Parameters
        ----------
        xp : module
            Array namespace of the factor.
        factor : array of shape (columns, dim)
            The factor.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        mapping from str to float
            Value by name of the penalty.
        """

    @abstractmethod
    def factor_ridge(self, lam: Penalties) -> float:
        """Return the λ of the squared penalty on the factor.

        Parameters
        ----------
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        float
            λ3 or λ4. It balances the factor against W.
        """

    def rebalanced(self, xp: Any, factor: Array, change: Array, undo: Array) -> Array:
        """Return the factor after W was multiplied by a matrix.

        Parameters
        ----------
        xp : module
            Array namespace of the factor.
        factor : array of shape (columns, dim)
            The factor before.
        change : array of shape (dim, dim)
            What W was multiplied by.
        undo : array of shape (dim, dim)
            Its inverse, transposed, so that W times the factor stays the same. A
            factor in the space of the labels would take `change` instead.

        Returns
        -------
        array of shape (columns, dim)
            The factor that belongs to the new W.
        """
        return xp.matmul(factor, undo)

    @abstractmethod
    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> StartTarget:
        """Return what W times the factor should be at the spectral start.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        weight : float
            Weight of the term.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        StartTarget
            Products with the target.
        """

    @abstractmethod
    def loss(self, W: Floats, factor: Floats, lam: Penalties) -> float:
        """Compute the unweighted term in NumPy and double precision, as a reference.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factor : array of shape (columns, dim)
            The factor.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        float
            The term.
        """

    def floor(self, lam: Penalties, backend: Backend | None = None) -> float:
        """Return a lower bound of `loss` over all factors.

        Parameters
        ----------
        lam : Penalties
            Penalties of the fit.
        backend : Backend, optional
            A GPU computes it if this is one; by default NumPy.

        Returns
        -------
        float
            The bound, 0 by default.
        """
        return 0.0

    def learned(
        self, labels: Sequence[str], weight: float, factor: Floats
    ) -> FittedContext:
        """Return the context as the embedding stores it.

        Parameters
        ----------
        labels : sequence of str
            Labels of the embedding.
        weight : float
            α or β at the end of the fit.
        factor : array of shape (columns, dim)
            Learned vectors.

        Returns
        -------
        FittedContext
            The context without what only the solver needs.
        """
        return replace(self, weight=weight, factor=factor)

    # ---- for embedding, storage and fold-in ----

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""
        return () if self.data is None else tuple(self.data.observed_labels)

    def knows(self, label: str) -> bool:
        """Tell whether the context knows anything about a label.

        Parameters
        ----------
        label : str
            A label.

        Returns
        -------
        bool
            Whether it has a count or a known value.
        """
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

    @property
    def can_be_completed(self) -> bool:
        """Whether a user would want its gaps filled: no words, and no dimensions."""
        return False

    def with_calibration(self, calibration: Calibration | None) -> FittedContext:
        """Return the context with a calibration, if it predicts anything.

        Parameters
        ----------
        calibration : Calibration or None
            Turns predictions into probabilities.

        Returns
        -------
        FittedContext
            The context with the calibration, or the context itself.
        """
        return self

    @abstractmethod
    def pull(self, label: str, vector: Floats, lam: Penalties) -> Floats:
        """Compute minus the derivative of the weighted term by x = w·c.

        Parameters
        ----------
        label : str
            A label of the embedding.
        vector : array of shape (dim,)
            Its vector w.
        lam : Penalties
            Penalties of the fit.

        Returns
        -------
        array of shape (columns,)
            How strongly each column pulls the label towards its vector c.
        """

    @abstractmethod
    def standing(self, label: str) -> Codes:
        """Say what a label is known to be in each column.

        Parameters
        ----------
        label : str
            A label of the embedding.

        Returns
        -------
        array of int of shape (columns,)
            `HAS`, `LACKS`, `HIGH`, `LOW` or `UNKNOWN` of `phcle.contexts.reasons`.
            `pull` is 0 in columns where the label is unknown.
        """

    @property
    def verbs(self) -> tuple[str, str]:
        """What labels do with columns, in plural and singular."""
        return "have", "has"

    def reasons(self, pair: Pair) -> Reasons:
        """Split λ3 times the product of two label vectors over columns or relatives.

        Parameters
        ----------
        pair : Pair
            The two labels.

        Returns
        -------
        Reasons
            The parts, in groups. They are the mean of the split from both sides.
        """
        from_a, from_b = (
            self.pull(label, vector, pair.lam) * (self.factor @ other)
            for label, vector, other in pair.sides
        )
        one, other = map(self.standing, pair.labels)
        parts = (from_a + from_b) / 2
        is_unknown = (one == UNKNOWN) | (other == UNKNOWN)
        unnamed = is_unknown & (one + other == LACKS)
        return Reasons(self.columns, parts, compared(one, other), parts, unnamed)

    def evidence(
        self,
        labels: Sequence[str],
        vectors: Floats,
        lam: Penalties,
        vectors_of: Callable[[Sequence[str]], Floats | None],
    ) -> Evidence:
        """Say what makes up the vectors of many labels, for `reasons` at once.

        Parameters
        ----------
        labels : sequence of str
            The labels.
        vectors : array of shape (labels, dim)
            Their vectors.
        lam : Penalties
            Penalties of the fit.
        vectors_of : callable
            Looks up the vectors of labels; None if the embedding lacks one of them.

        Returns
        -------
        Evidence
            Names, their pulls and their vectors.
        """
        pulls = np.array(
            [
                self.pull(label, vector, lam)
                for label, vector in zip(labels, vectors, strict=True)
            ]
        )
        return Evidence(
            title=f"{self.name}:",
            names=self.columns,
            pulls=pulls,
            vectors=self.factor,
            total=pulls @ self.factor,
            weights=np.maximum(pulls, 0.0),
            own=np.zeros(len(labels)),
        )

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy that the context comes from, if any."""
        return None

    @cached_property
    def specific_nodes(self) -> SpecificNodes | None:
        """Which nodes of the hierarchy say much about a label, if there is one."""
        from phcle.contexts.relational.specific_nodes import SpecificNodes

        if self.hierarchy is None:
            return None
        return SpecificNodes(self.hierarchy, self.data.labels)

    def shared_nodes(self, a: str, b: str) -> tuple[str, ...]:
        """Return the nodes of the hierarchy above both labels, but not above most.

        Parameters
        ----------
        a : str
            A label.
        b : str
            Another label.

        Returns
        -------
        tuple of str
            The nodes, those above the fewest labels first; empty without a hierarchy.
        """
        if self.hierarchy is None or self.specific_nodes is None:
            return ()
        return self.specific_nodes.first(self.hierarchy.shared_ancestors(a, b))

    @property
    @abstractmethod
    def file_kinds(self) -> tuple[str, ...]:
        """Kinds of file that contexts like this are read from."""

    def from_names(
        self, labels: Sequence[str], names: Mapping[str, str]
    ) -> Context | None:
        """Make a context of new labels from their own names.

        Parameters
        ----------
        labels : sequence of str
            The new labels.
        names : mapping from str to str
            Readable names of some of them.

        Returns
        -------
        Context or None
            What the names say; None if the context is not made of names.
        """
        return None

    @abstractmethod
    def for_new_labels(self, context: Context | None, labels: Sequence[str]) -> Self:
        """Return the context over labels that are folded in.

        Parameters
        ----------
        context : Context or None
            What the user knows about the new labels; None if nothing.
        labels : sequence of str
            The new labels.

        Returns
        -------
        FittedContext
            The same factor with the new rows, arranged for the solver.
        """

    @abstractmethod
    def joined(self, later: Self) -> Self:
        """Join the rows of this context and of folded-in labels.

        Parameters
        ----------
        later : FittedContext
            The same context over the later labels.

        Returns
        -------
        FittedContext
            The same factor with the rows of both.
        """

    @abstractmethod
    def pack(self, store: TensorStore) -> dict[str, Any]:
        """Put all numbers and names into a file's store.

        Parameters
        ----------
        store : TensorStore
            Where to put them.

        Returns
        -------
        dict
            Settings that JSON can store.
        """

    @classmethod
    @abstractmethod
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> FittedContext:
        """Make the context from what `pack` stored.

        Parameters
        ----------
        packed : mapping
            The settings, with name, weight and kind.
        store : TensorStore
            The numbers and names.

        Returns
        -------
        FittedContext
            The context, not checked yet.
        """

    @abstractmethod
    def check(self) -> None:
        """Refuse parts that do not fit together, because files can be forged."""

    def _other_kind(self) -> ContextError:
        return ContextError(
            f"context {self.name!r} was {self.kind} at the fit; give the same kind."
        )


def warn_unknown_columns(name: str, columns: Sequence[str]) -> None:
    """Warn that columns of new labels are ignored because the fit did not have them.

    Parameters
    ----------
    name : str
        Name of the context.
    columns : sequence of str
        The unknown columns; without any, there is no warning.
    """
    if columns:
        warnings.warn(
            f"context {name!r}: {len(columns)} columns were not in the fit and are "
            f"ignored: {some(columns, 3)}.",
            ContextWarning,
            stacklevel=5,
        )


class PredictingContext(Protocol):
    """A fitted context that predicts values: its `predicts_columns` is true.

    Attributes
    ----------
    name : str
        Name of the context.
    columns : tuple of str
        Names of the columns.
    weight : float
        α or β, the weight of the context in the objective.
    factor : array of shape (columns, dim)
        Learned vectors.
    offset : array of shape (columns,)
        Mean of each column on the scale of the fit.
    scale : array of shape (columns,)
        Scale of each column on the scale of the fit.
    is_log : array of bool of shape (columns,)
        Columns whose offset and scale are those of the logarithms.
    data : Context or None
        The user's rows of the present labels.
    calibration : Calibration or None
        Turns predictions into probabilities; None if the fit had too few labels.
    """

    name: str
    columns: tuple[str, ...]
    weight: float
    factor: Floats
    offset: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    is_log: Flags
    data: Any
    calibration: Calibration | None

    @property
    def observed(self) -> Flags:
        """Whether the context knows each label of the problem: (labels,)."""

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""

    @property
    def largest(self) -> npt.NDArray[np.float64]:
        """Largest known value of every column, in the user's units."""

    def predict(self, vectors: Floats) -> npt.NDArray[np.float64]:
        """Predict values from label vectors.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.

        Returns
        -------
        array of shape (rows, columns)
            Predictions, in the user's units.
        """

    def on_fit_scale(self, values: Floats) -> npt.NDArray[np.float64]:
        """Take the logarithms of columns that are fitted on a log scale.

        Parameters
        ----------
        values : array of shape (..., columns)
            Values in the user's units; NaN is missing.

        Returns
        -------
        array of the same shape
            Values on the scale of `offset` and `scale`.
        """

    def observed_row(self, label: str) -> npt.NDArray[np.float64]:
        """Return the known values of a label.

        Parameters
        ----------
        label : str
            A label.

        Returns
        -------
        array of shape (columns,)
            Values in the user's units; NaN is missing.
        """

    @property
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        """How a person enters a value: as "numbers", "tags" or "text"."""

    def hide_cells(
        self,
        share: float,
        most: int,
        rng: np.random.Generator,
        *,
        rows: Ints | None = None,
        start: float = 0.0,
        like_gaps: bool = False,
    ) -> tuple[FittedContext, HiddenCells | None]:
        """Hide some known cells, as in `FittedContext`.

        Parameters
        ----------
        share : float
            Share of the known cells to hide.
        most : int
            Most cells to look at, known or not.
        rng : numpy.random.Generator
            Draws the cells.
        rows : array of int, optional
            Positions of labels that are hidden altogether.
        start : float, default 0.0
            Where the share begins.
        like_gaps : bool, default False
            Whether columns whose gaps are in the same rows are hidden together.

        Returns
        -------
        context : FittedContext
            The context without the hidden cells.
        hidden : HiddenCells or None
            The hidden cells.
        """

    def has(self, columns: Ints, values: npt.NDArray[np.float64]) -> Flags:
        """Tell whether scaled values mean that a label has the attribute.

        Parameters
        ----------
        columns : array of int
            Column of each value.
        values : array of the same shape
            Scaled values; zero is the mean.

        Returns
        -------
        array of bool
            True above the mean; of sparse values, if they are not zero.
        """

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its fields, as the user knows them; none if nobody would complete them."""

    @property
    def is_number(self) -> Flags:
        """Which columns hold numbers: (columns,)."""

    def field_of(self, column: str) -> Field:
        """Find the field of a column.

        Parameters
        ----------
        column : str
            A column; an unknown one is refused.

        Returns
        -------
        Field
            The field.
        """

    def of_field(self, field: Field) -> PredictingContext:
        """Return the context with one field only.

        Parameters
        ----------
        field : Field
            One of `fields`.

        Returns
        -------
        PredictingContext
            The smaller context.
        """

    def read(
        self,
        vectors: Floats,
        is_described: Flags,
        supports: npt.NDArray[np.float64],
        family: npt.NDArray[np.float64] | None = None,
    ) -> Read:
        """Read predictions with the calibration, which must be there.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.
        is_described : array of bool of shape (rows,)
            Labels of which the context knows a cell.
        supports : array of shape (rows,)
            Support of each label.
        family : array of shape (rows, columns), optional
            Means of the families on the scale of the fit; NaN where none is known.

        Returns
        -------
        Read
            Chances; numbers and intervals in the user's units.
        """
