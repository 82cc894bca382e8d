"""Context: what the user knows about some labels, in the user's units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Ints
from phcle.contexts.labels import index_of, some_names
from phcle.errors import ContextError

if TYPE_CHECKING:
    from phcle.contexts.base.fitted_context import FittedContext
    from phcle.contexts.family.kinship import Kinship
    from phcle.contexts.relational.links import LabelLinks


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

    @property
    def links(self) -> LabelLinks | None:
        """Links between labels; hierarchies, texts and tables have none."""
        return None

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

    def stored_cells(self) -> tuple[Ints, Ints, AnyFloats]:
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
