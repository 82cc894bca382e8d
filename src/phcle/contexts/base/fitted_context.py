"""FittedContext: a context inside a fit or an embedding."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from phcle.arrays import AnyFloats
from phcle.contexts.base.context import Context
from phcle.contexts.base.solver_side import SolverSide
from phcle.contexts.reasons import LACKS, UNKNOWN, Codes, Pair, Reasons, compared
from phcle.contexts.terms import Penalties
from phcle.errors import ContextError, ContextWarning, some

if TYPE_CHECKING:
    from phcle.contexts.relational.links import LabelLinks
    from phcle.contexts.relational.taxonomy import Hierarchy, SpecificNodes
    from phcle.files.container import TensorStore


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedContext(SolverSide):
    """A context inside a fit or an embedding.

    Its attributes, and what the solver uses, are documented in `SolverSide`. The rest,
    here, serves the embedding, storage and fold-in.
    """

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
    def links(self) -> LabelLinks | None:
        """Links between labels; hierarchies, texts and tables have none."""
        return None if self.data is None else self.data.links

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

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy that the context comes from, if any."""
        return None

    @cached_property
    def specific_nodes(self) -> SpecificNodes | None:
        """Which nodes of the hierarchy say much about a label, if there is one."""
        from phcle.contexts.relational.taxonomy import SpecificNodes

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
