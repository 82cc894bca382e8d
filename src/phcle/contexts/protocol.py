"""Context: what is known about labels, before, during and after a fit.

A kind of context is one class. What the user gives has `name`, `labels`, `columns` and
numbers in the user's units. `in_fit` arranges them by the labels of a problem in `rows`
and scales them. The solver learns `factor`, the vectors of the columns, and `learned`
drops `rows` again: that is what an embedding stores, explains and extends.

No other code asks which kind a context is. A new kind writes eleven methods: what is
abstract here, `cells` and `term`. All else has a default, which is the usual case.

A `Term` is what the solver asks about rows y of a factor while the other factor Z is
fixed: value and gradient at y, a curvature for a step, and the value after a step. One
update serves W, the factors and labels that are folded in. x = y·z.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Ints
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block, PaddedRows, pad_rows, split_rows
from phcle.contexts.labels import index_of, positions_of, some_names
from phcle.errors import ContextError, ContextWarning, some

if TYPE_CHECKING:
    from phcle.contexts.cooccurrence import LabelLinks
    from phcle.contexts.family import Kinship
    from phcle.contexts.hierarchy import Hierarchy, SpecificNodes
    from phcle.files.container import TensorStore

Sample = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Positions of sampled columns, and the mass that each represents."""


TREE_FILES = ("hierarchy", "skos", "owl")
"""Kinds of files that hierarchies are read from."""


EVERY = slice(None)
"""All rows of a block."""


Blocks = Sequence[Block]
"""Blocks of rows that are updated together."""


Made = TypeVar("Made")


class Local(Protocol):
    """A term at a block of rows.

    Attributes
    ----------
    value : array of shape (r,)
        Value of each row.
    gradient : array of shape (r, dim)
        Gradient of each row.
    """

    value: Array
    gradient: Array

    def value_at(self, y: Array, chosen: Array | slice) -> Array:
        """Compute the value of some rows that have moved.

        Parameters
        ----------
        y : array of shape (chosen, dim)
            Where these rows are now.
        chosen : array of int, or slice
            The rows.

        Returns
        -------
        array of shape (chosen,)
            Their values.
        """

    def product(self, z: Array, *, exact: bool = False) -> Array:
        """Multiply the curvature of each row by a vector.

        Parameters
        ----------
        z : array of shape (r, dim)
            A vector for each row.
        exact : bool, default False
            Take the curvature of a Newton step. The one of a sweep is cheaper: exact
            for known entries, elsewhere only its trace is exact.

        Returns
        -------
        array of shape (r, dim)
            The products.
        """

    def mean_curvature(self) -> Array:
        """Estimate the mean curvature of the block, for preconditioning.

        Returns
        -------
        array of shape (dim, dim)
            A rough mean.
        """

    def lighten(self) -> None:
        """Free what neither `mean_curvature` nor exact products need.

        So all blocks of rows can be kept at once. By default nothing is freed.
        """
        return


class Term(Protocol):
    """The term of one context, arranged in blocks of rows."""

    def on(self, backend: Backend) -> Term:
        """Return the same term on a back end that only multiplies in another way.

        Parameters
        ----------
        backend : Backend
            The other back end.

        Returns
        -------
        Term
            The term there; by default the same one.
        """
        return self

    def at(self, other: Array, weight: float, *, sample: Sample | None = None) -> Self:
        """Fix the other factor and the weight.

        Parameters
        ----------
        other : array of shape (columns, dim)
            The other factor.
        weight : float
            Weight of the term.
        sample : Sample, optional
            Columns that represent all columns in the dense part. By default all are
            used.

        Returns
        -------
        Term
            The term for this factor and weight.
        """

    def local(self, block: int, y: Array, chosen: Array | slice = EVERY) -> Local:
        """Evaluate the term at a block of rows, for a fixed other factor.

        Parameters
        ----------
        block : int
            Number of the block.
        y : array of shape (r, dim)
            The rows.
        chosen : array of int, optional
            Positions of `y` in the block. By default `y` is the whole block.

        Returns
        -------
        Local
            The term at these rows.
        """


class FactorUpdate(Protocol):
    """Updates the factor of one context while W is fixed."""

    def improve(self, W: Array, factor: Array, weight: float) -> Array:
        """Improve the factor, so that it gets no worse.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factor : array of shape (columns, dim)
            The factor.
        weight : float
            Weight of the term.

        Returns
        -------
        array of shape (columns, dim)
            The improved factor.
        """

    def label_grams(
        self, W: Array, factor: Array, weight: float
    ) -> tuple[Array, Array] | None:
        """Compute what changes when W and the factor are multiplied by one matrix.

        Parameters
        ----------
        W : array of shape (labels, dim)
            Label vectors.
        factor : array of shape (columns, dim)
            The factor.
        weight : float
            Weight of the term.

        Returns
        -------
        tuple of arrays of shape (dim, dim), or None
            Two matrices; half their traces are the term and the penalty on the factor.
            None if the factor does not turn with W.
        """
        return None


class LinearUpdate(FactorUpdate, Protocol):
    """Updates a factor that is a linear function of W, and pulls W in turn."""

    def response(self, change: Array, weight: float) -> Array:
        """Compute how the factor that follows a change of W pulls the labels in turn.

        Parameters
        ----------
        change : array of shape (labels, dim)
            The change; zero in rows of other processes.
        weight : float
            Weight of the term.

        Returns
        -------
        array of shape (labels, dim)
            Minus the change of the gradient in W; zero for labels that the factor is
            not solved from.
        """


@dataclass(frozen=True)
class Target:
    """What W times the factor of a context should be at the spectral start.

    Attributes
    ----------
    weight : float
        Weight of this target among the targets of all contexts.
    product : callable
        Multiplies the target by a matrix V of shape (columns, p).
    transposed : callable
        Multiplies the transposed target by a matrix W of shape (labels, p).
    """

    weight: float
    product: Callable[[Array], Array]
    transposed: Callable[[Array], Array]


def sparse_target(backend: Backend, matrix: Any, weight: float) -> Target:
    """Make a target from a sparse matrix.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    matrix : csr_array or StoredRows of shape (labels, columns)
        What W times the factor should be.
    weight : float
        Weight of the target.

    Returns
    -------
    Target
        Products with the matrix.
    """
    here, turned = backend.sparse(matrix), backend.sparse(backend.turned(matrix))
    return Target(weight, lambda V: here @ V, lambda W: turned @ W)


def padded_blocks(
    backend: Backend, entries: Any, blocks: Blocks
) -> dict[int, PaddedRows]:
    """Pad the entries of the blocks that this process updates.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    entries : csr_array or StoredRows of shape (rows, columns)
        The entries.
    blocks : sequence of Block
        Blocks of rows that are updated together.

    Returns
    -------
    dict
        The entries by number of the block. Rows without any have one unknown cell.
    """

    def padded(rows: Ints) -> PaddedRows:
        none = np.zeros((len(rows), 1), dtype=np.int64)
        found = pad_rows(entries, rows, backend)
        zeros = backend.asarray(none)
        return found or PaddedRows(backend.indices(none), zeros, zeros)

    own = backend.processes.own_blocks(len(blocks))
    return {number: padded(blocks[number].rows) for number in own}


class ColumnUpdate:
    """The term of a context over its columns, which the solver updates as rows.

    Parameters
    ----------
    context : Context
        The context in a fit.
    backend : Backend
        Where to compute.
    dim : int
        Length of a vector.
    lam : Penalties
        Penalties of the fit.
    """

    def __init__(
        self, context: Context, backend: Backend, dim: int, lam: Penalties
    ) -> None:
        turned = backend.turned(context.stored(backend))
        n_rows, n_columns = turned.shape
        size = backend.columns_in_memory(n_columns, dim)
        self.ridge = context.factor_ridge(lam)
        self.blocks = split_rows(backend, [turned], n_rows, dim=dim, tile_columns=size)
        self.term = context.term(backend, turned, self.blocks, lam, is_turned=True)


def kept_by_backend(make: Callable[[Any, Backend], Made]) -> Callable[..., Made]:
    """Keep what a method makes for a back end, because moving it there takes time.

    Parameters
    ----------
    make : callable
        The method.

    Returns
    -------
    callable
        The method, which makes it once for back ends that are alike.
    """

    @wraps(make)
    def kept(self: Any, backend: Backend) -> Made:
        made = vars(self).setdefault(f"{make.__name__} by back end", {})
        key = (backend.name, str(getattr(backend, "device", "cpu")), backend.dtype)
        if key not in made:
            made[key] = make(self, backend)
        return cast(Made, made[key])

    return kept


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


@dataclass(frozen=True, eq=False)
class Context(ABC):
    """What is known about some labels, before, during and after a fit.

    Attributes
    ----------
    kind : str
        Name of the kind of context.
    order : int
        Contexts of a lower order come first in files and tables.
    turns_with_labels : bool
        Whether the factor turns together with W, as the nodes of families do.
    may_have_gaps : bool
        Whether cells can be hidden, to see how well a fit fills gaps.
    flat_files : tuple of str
        Kinds of files that such a context is read from, if it has no hierarchy.
    name : str
        Name of the context.
    labels : tuple of str
        Names of the rows: of all labels that the user gave, and in a fit or an
        embedding of those that belong to it.
    columns : tuple of str
        Names of the columns.
    weight : float
        α or β of the fit.
    factor : array of shape (columns, dim)
        Learned vectors of the columns; empty before the fit.
    rows : matrix
        In a fit: scaled numbers over all labels of the problem.
    shrinkage : float or None
        How much the factor is shrunk; None: as the penalties of the fit say.
    """

    kind: ClassVar[str]
    order: ClassVar[int]
    turns_with_labels: ClassVar[bool] = False
    may_have_gaps: ClassVar[bool] = True
    flat_files: ClassVar[tuple[str, ...]] = ()
    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    weight: float = field(default=1.0, kw_only=True)
    factor: AnyFloats = field(
        default_factory=lambda: np.empty((0, 0)), kw_only=True, repr=False
    )
    rows: Any = field(default=None, kw_only=True, repr=False)
    shrinkage: float | None = field(default=None, kw_only=True, repr=False)

    def changed(self, **fields_now: Any) -> Self:
        """Return the context with other fields, which are not checked again.

        Parameters
        ----------
        **fields_now : object
            Fields by name.

        Returns
        -------
        Context
            The new context.
        """
        found = object.__new__(type(self))
        own = {x.name: getattr(self, x.name) for x in fields(self)}
        vars(found).update(own | fields_now)
        return found

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each label."""
        return index_of(self.labels)

    @property
    def has_values(self) -> Flags:
        """Whether each row has a count or a known value: (labels,)."""
        return np.asarray(np.diff(self.cells.indptr) > 0)

    @cached_property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels with at least one count or known value."""
        return some_names(self.labels, np.flatnonzero(self.has_values))

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
        return label in self.index and bool(self.has_values[self.index[label]])

    # ---- before a fit: what users give, joined by label ----

    @property
    def given_name(self) -> str:
        """Name of the context that the user gave; a family may have another name."""
        return self.name

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy that the context was made from, if any."""
        return getattr(self.relatives(), "hierarchy", None)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes of the hierarchy, which labels of other contexts may name."""
        return () if self.hierarchy is None else self.hierarchy.nodes

    @property
    def links(self) -> LabelLinks | None:
        """Links between labels; hierarchies, texts and tables have none."""
        return getattr(self.relatives(), "links", None)

    def renamed(self, spellings: Mapping[str, str]) -> Context:
        """Return the context with other spellings of its labels.

        Parameters
        ----------
        spellings : mapping from str to str
            New labels by the present ones. Labels that become one are merged.

        Returns
        -------
        Context
            The renamed context.
        """
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
    def role_is_open(self) -> bool:
        """Whether the fit may choose between counts and a family."""
        is_open = getattr(self, "role", None) == "auto"
        return is_open and self.relatives() is not None

    def relatives(self, known: Collection[str] = ()) -> Kinship | None:
        """Return the tree or graph that makes labels relatives of each other, if any.

        Parameters
        ----------
        known : collection of str
            Further names that are labels, if columns are among them.

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

    # ---- in a fit: the numbers over the labels of a problem ----

    @abstractmethod
    def in_fit(self, labels: Sequence[str]) -> Self:
        """Arrange the context by the labels of a problem and scale it.

        Parameters
        ----------
        labels : sequence of str
            Labels of the problem.

        Returns
        -------
        Context
            The context as the solver uses it, not learned yet.
        """

    @property
    def observed(self) -> Flags:
        """Whether the context knows each label of the problem: (labels,)."""
        return np.asarray(np.diff(self.rows.indptr) > 0)

    @property
    def informs(self) -> Flags:
        """Labels that the context says something about by itself: (labels,)."""
        return self.observed

    def beside(self, informed: Flags) -> Self:
        """Return the context with the labels that any context of the problem informs.

        Parameters
        ----------
        informed : array of bool of shape (labels,)
            The labels.

        Returns
        -------
        Context
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
    def entries(self) -> sp.csr_array:
        """Cells that the term of W computes one by one: (labels, columns)."""
        found: sp.csr_array = self.rows
        return found

    @property
    def n_dense_columns(self) -> int:
        """Number of columns that the term of W computes for every label."""
        return 0 if self.masses is None else len(self.columns)

    @property
    def masses(self) -> tuple[AnyFloats, AnyFloats] | None:
        """Masses of labels and columns for drawing samples; None if none are drawn."""
        return None

    def take(self, rows: Ints) -> Self:
        """Return the context over some of the labels of the problem.

        Parameters
        ----------
        rows : array of int
            Positions of the labels.

        Returns
        -------
        Context
            The context over these labels, in this order.
        """
        return self.changed(rows=self.rows[rows])

    def fingerprint_arrays(self) -> list[Any]:
        """Return all scaled numbers, for the fingerprint of a checkpoint.

        Returns
        -------
        list of arrays
            Dense or sparse arrays.
        """
        return [self.rows]

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
        return weight

    @kept_by_backend
    def stored(self, backend: Backend) -> Any:
        """Place the entries on a back end, once for updates of both factors.

        Parameters
        ----------
        backend : Backend
            Where to compute.

        Returns
        -------
        csr_array or StoredRows
            The entries there.
        """
        return backend.stored(self.rows)

    def term(
        self,
        backend: Backend,
        entries: Any,
        blocks: Blocks,
        lam: Penalties,
        *,
        is_turned: bool = False,
    ) -> Term:
        """Return the term for updates of W or, turned, of the factor.

        Parameters
        ----------
        backend : Backend
            Where to compute.
        entries : csr_array or StoredRows
            What `stored` gave, perhaps turned.
        blocks : sequence of Block
            Blocks of rows that are updated together.
        lam : Penalties
            Penalties of the fit.
        is_turned : bool, default False
            Whether rows are columns of the context.

        Returns
        -------
        Term
            The term over these rows.
        """
        raise NotImplementedError  # by kinds that make their terms in another way

    def label_term(self, backend: Backend, blocks: Blocks, lam: Penalties) -> Term:
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
        return self.term(backend, self.stored(backend), blocks, lam)

    def factor_update(
        self, backend: Backend, dim: int, lam: Penalties
    ) -> FactorUpdate | ColumnUpdate:
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
        FactorUpdate or ColumnUpdate
            The update of this kind of context.
        """
        return ColumnUpdate(self, backend, dim, lam)

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
        return lam.context_ridge

    def penalties(self, xp: Any, factor: Array, lam: Penalties) -> Mapping[str, float]:
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
        square = float(xp.sum(factor * factor, dtype=xp.float64))
        return {"context_ridge": 0.5 * self.factor_ridge(lam) * square}

    @abstractmethod
    def target(self, backend: Backend, weight: float, lam: Penalties) -> Target:
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
        Target
            Products with the target.
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

    def learned(self, labels: Sequence[str], weight: float, factor: AnyFloats) -> Self:
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
        Context
            The context without what only the solver needs.
        """
        return self.changed(weight=weight, factor=factor, rows=None)

    # ---- in an embedding: queries, later labels, files ----

    @property
    def predicts_columns(self) -> bool:
        """Whether the context predicts values of readable columns."""
        return False

    @property
    def can_be_completed(self) -> bool:
        """Whether a user would want its gaps filled: no words, and no dimensions."""
        return False

    @property
    def file_kinds(self) -> tuple[str, ...]:
        """Kinds of file that contexts like this are read from."""
        return self.flat_files if self.hierarchy is None else TREE_FILES

    @property
    def cells(self) -> sp.csr_array:
        """What labels are known to have, as it is listed: (labels, columns)."""
        return sp.csr_array((len(self.labels), len(self.columns)))

    @abstractmethod
    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
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
            `HAS`, `LACKS`, `HIGH`, `LOW` or `UNKNOWN` of `phcle.contexts.protocol`.
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
        (a, b), (one_vector, other_vector) = pair.labels, pair.vectors
        from_a = self.pull(a, one_vector, pair.lam) * (self.factor @ other_vector)
        from_b = self.pull(b, other_vector, pair.lam) * (self.factor @ one_vector)
        one, other, parts = self.standing(a), self.standing(b), (from_a + from_b) / 2
        is_unknown = (one == UNKNOWN) | (other == UNKNOWN)
        unnamed = is_unknown & (one + other == LACKS)
        return Reasons(self.columns, parts, compared(one, other), parts, unnamed)

    @cached_property
    def specific_nodes(self) -> SpecificNodes | None:
        """Which nodes of the hierarchy say much about a label, if there is one."""
        from phcle.contexts.hierarchy import SpecificNodes

        if self.hierarchy is None:
            return None
        return SpecificNodes(self.hierarchy, self.labels)

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
        nodes = self.specific_nodes
        return () if nodes is None else nodes.above_all([a, b])

    @abstractmethod
    def for_new_labels(
        self, context: Context | None, labels: Sequence[str], names: Mapping[str, str]
    ) -> Self:
        """Return the context over labels that are folded in.

        Parameters
        ----------
        context : Context or None
            What the user knows about the new labels; None if nothing.
        labels : sequence of str
            The new labels.
        names : mapping from str to str
            Readable names of new labels.

        Returns
        -------
        Context
            The same factor with the new rows, arranged for the solver.
        """

    def columns_in(self, context: Context, left_out: Iterable[str] = ()) -> Ints:
        """Find the columns of the fit in a context of new labels.

        Parameters
        ----------
        context : Context
            What is known about new labels. A warning names its other columns.
        left_out : iterable of str
            More columns that the warning names.

        Returns
        -------
        array of int of shape (columns,)
            Their positions; −1 for one that the context lacks.
        """
        known = index_of(self.columns)
        unknown = [column for column in context.columns if column not in known]
        warn_unknown_columns(context.name, [*left_out, *unknown])
        return positions_of(self.columns, index_of(context.columns))

    def joined(self, later: Self) -> Self:
        """Join the rows of this context and of folded-in labels.

        Parameters
        ----------
        later : Context
            The same context over the later labels.

        Returns
        -------
        Context
            The same factor with the rows of both.
        """
        if not (len(self.labels) and len(later.labels)):
            return self if len(self.labels) else later
        labels = (*self.labels, *later.labels)
        return self.changed(labels=labels, **self._joined(later))

    @abstractmethod
    def _joined(self, later: Self) -> dict[str, Any]:
        """What changes beside the labels when those of `later` are appended."""

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
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> Self:
        """Make the context that a file stores, without a check of how its parts fit.

        Parameters
        ----------
        packed : mapping
            What `pack` returned, with name, weight and kind.
        store : TensorStore
            The numbers and names.

        Returns
        -------
        Context
            The context.
        """
        return cls(
            name=packed["name"],
            labels=store.names("labels") if packed["has_data"] else (),
            columns=store.names("columns"),
            weight=packed["weight"],
            factor=store["factor"],
            **cls._unpacked(packed, store),
        )

    @classmethod
    @abstractmethod
    def _unpacked(cls, packed: Mapping[str, Any], store: TensorStore) -> dict[str, Any]:
        """Read the fields that other kinds do not have."""

    @abstractmethod
    def check(self) -> None:
        """Refuse parts that do not fit together, because files can be forged."""

    def other_kind_error(self) -> ContextError:
        """Say that new labels have another kind of context than the fit.

        Returns
        -------
        ContextError
            The error, to be raised.
        """
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


Codes = npt.NDArray[np.int8]


UNKNOWN, HAS, LACKS, HIGH, LOW = 0, 1, -1, 2, -2
"""What a label is known to be in a column: it has or lacks it, or its value is above or
below the mean of the column."""

GROUPS = {
    "each_other": "each other",
    "relatives_of_both": "relatives of both",
    "relatives_of_one": "relatives of one",
    "own_data": "own data",
    "together": "{have} each other",
    "both": "both {have}",
    "both_high": "both above the mean",
    "both_low": "both below the mean",
    "one": "only one {has}",
    "different": "one above, one below the mean",
    "known_of_one": "known of one only",
    "neither": "neither {has}",
}
"""Words of the groups. What makes two labels alike comes first; what both lack is last,
because it is true of most pairs, however large its part."""


AT = {group: i for i, group in enumerate(GROUPS)}
"""Position of each group."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two labels whose similarity is explained.

    Attributes
    ----------
    labels : tuple of str
        The two labels.
    vectors : array of shape (2, dim)
        Their vectors.
    lam : Penalties
        Penalties of the fit.
    vectors_of : callable
        Looks up the vectors of labels; None if the embedding lacks one of them.
    """

    labels: tuple[str, str]
    vectors: AnyFloats
    lam: Penalties
    vectors_of: Callable[[Sequence[str]], AnyFloats | None]


@dataclass(frozen=True, eq=False)
class Reasons:
    """Parts of λ3 times the product of two label vectors.

    Attributes
    ----------
    names : sequence of str
        Columns, or relatives.
    parts : array of shape (names,)
        Their parts of the product.
    groups : array of int of shape (names,)
        Position of the group of each in `GROUPS`; −1 for columns where both labels are
        unknown, whose parts are 0.
    rank : array of shape (names,)
        How telling each is if both labels have it; larger ones are named first.
    unnamed : array of bool of shape (names,)
        Names that say nothing about the pair, such as what one label lacks while the
        other is unknown.
    """

    names: Sequence[str]
    parts: AnyFloats
    groups: Ints
    rank: AnyFloats
    unnamed: Flags


def compared(one: Codes, other: Codes) -> Ints:
    """Find the group of each column from what the two labels are known to be in it.

    Parameters
    ----------
    one, other : array of int of shape (columns,)
        `HAS`, `LACKS`, `HIGH`, `LOW` or `UNKNOWN` for each label.

    Returns
    -------
    array of int of shape (columns,)
        Positions in `GROUPS`; −1 if neither label is known.

    Examples
    --------
    >>> found = compared(np.array([HAS, LACKS, HAS, LOW]), np.array([HAS, LACKS, 0, 2]))
    >>> [list(GROUPS)[i] for i in found]
    ['both', 'neither', 'known_of_one', 'different']
    """
    is_number = (np.abs(one) == HIGH) | (np.abs(other) == HIGH)
    signs, n_unknown = np.sign(one) + np.sign(other), (one == 0) + 1 * (other == 0)
    rules = {
        "none": n_unknown == 2,
        "known_of_one": n_unknown == 1,
        "both_high": is_number & (signs > 0),
        "both_low": is_number & (signs < 0),
        "different": is_number,
        "both": signs > 0,
        "neither": signs < 0,
    }
    found = [AT.get(group, -1) for group in rules]
    return np.select(list(rules.values()), found, default=AT["one"])
