"""RelationalContext: which labels occur together or stand near each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.base import UNITS, Context
from phcle.contexts.labels import as_labels, index_of
from phcle.contexts.masked import SMALLEST
from phcle.contexts.matrices import LARGEST, as_csr, check_axes, take_rows
from phcle.contexts.relational import annotation_tables, cooccurrence
from phcle.contexts.relational.hierarchy import Hierarchy, HierarchyCounts
from phcle.errors import ContextError, ContextWarning, some

if TYPE_CHECKING:
    from phcle.contexts.relational.fitted import FittedRelational

__all__ = ["RelationalContext"]


@dataclass(frozen=True, eq=False)
class RelationalContext(Context):
    """Sparse counts of labels (rows) against whatever they occur with (columns).

    A label without a single count is treated as absent from the context. Columns may
    be other labels, the ancestors in a taxonomy, or the words of a corpus.

    >>> pets = RelationalContext.from_edges([("cat", "dog"), ("dog", "wolf", 2)])
    >>> pets.labels, pets.columns
    (('cat', 'dog', 'wolf'), ('cat', 'dog', 'wolf'))
    """

    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    counts: sp.csr_array  # (labels, columns), finite, not negative
    hierarchy: HierarchyCounts | None = None  # how to count labels that come later

    kind = "relational"
    order = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", as_csr(self.counts, self.name))
        check_axes(self.name, self.labels, self.columns, self.counts.shape)
        _check_counts(self)

    def __repr__(self) -> str:
        return (
            f"RelationalContext({self.name!r}: {len(self.labels)} labels × "
            f"{len(self.columns)} columns, {self.counts.nnz} counts)"
        )

    @property
    def has_values(self) -> npt.NDArray[np.bool_]:
        """Which labels have at least one count."""
        return np.asarray(np.diff(self.counts.indptr) > 0)

    @property
    def n_stored(self) -> int:
        """How many counts there are."""
        return int(self.counts.nnz)

    def fingerprint_arrays(self) -> list[Any]:
        """All numbers, for a fingerprint of the data."""
        return [self.counts]

    def in_fit(self, labels: Sequence[str]) -> FittedRelational:
        """The context over the labels of a problem, at `UNITS` counts per label."""
        from phcle.contexts.relational.fitted import FittedRelational

        counts = self.rows_for(labels)
        # Columns that no label of the problem uses would only cost time.
        used = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel())
        scale = self._scale_of(counts)
        scaled = sp.csr_array(counts[:, used] * scale)
        mass = np.asarray(scaled.sum(axis=0), np.float64).ravel()
        return FittedRelational(
            name=self.name,
            columns=tuple(self.columns[i] for i in used),
            data=self,
            column_mass=mass,
            total=float(mass.sum()),
            scale=scale,
            counts=scaled,
        )

    def _scale_of(self, counts: sp.csr_array) -> float:
        """What brings counts to `UNITS` per label."""
        n_observed = int(np.count_nonzero(np.diff(counts.indptr)))
        if n_observed == 0:
            return 1.0
        total = float(counts.sum())
        if total < SMALLEST:
            raise ContextError(
                f"context {self.name!r}: its counts sum up to {total:g}; multiply them "
                f"so that the sum is {SMALLEST:g} or more."
            )
        return UNITS * n_observed / total

    def rows_for(self, labels: Sequence[str]) -> sp.csr_array:
        """Counts of these labels, in this order; a label not here gets an empty row."""
        if tuple(labels) == self.labels:  # the usual case, and faster
            return self.counts.copy()
        return take_rows(self.counts, [self.index.get(label, -1) for label in labels])

    def on_columns(
        self, columns: Sequence[str], labels: Sequence[str]
    ) -> RelationalContext:
        """The context cut down to some columns and to those labels it lists."""
        kept = tuple(label for label in labels if label in self.index)
        if kept == self.labels and tuple(columns) == self.columns:
            return self
        position = index_of(self.columns)
        counts = self.rows_for(kept)[:, [position[column] for column in columns]]
        return RelationalContext(
            self.name, kept, tuple(columns), sp.csr_array(counts), self.hierarchy
        )

    def naming_also(self, others: Iterable[str]) -> RelationalContext:
        """Return the context with further nodes of its hierarchy as labels.

        Only a hierarchy whose labels were left open grows; all else is unchanged.
        """
        if self.hierarchy is None or self.hierarchy.labels_are_fixed:
            return self
        known = self.hierarchy.hierarchy.index
        more = [x for x in others if x in known and x not in self.index]
        if not more:
            return self
        return _from_hierarchy_counts(self.hierarchy, (*self.labels, *more), self.name)

    def of_kind(self, kind: str) -> Context:
        """The same hierarchy turned into counts in another way, with its defaults."""
        if self.hierarchy is None:
            return super().of_kind(kind)
        if kind == self.hierarchy.kind:
            return self
        recipe = replace(self.hierarchy, kind=kind, decay=None, radius=None)
        return _from_hierarchy_counts(recipe, self.labels, self.name)

    @classmethod
    def from_matrix(
        cls,
        counts: Any,
        labels: Iterable[Any],
        contexts: Iterable[Any] | None = None,
        *,
        name: str = "matrix",
        self_loops: bool = False,
    ) -> RelationalContext:
        """Counts as an array or SciPy sparse matrix, one row per label.

        `contexts` names the columns; left out, the columns are the labels themselves,
        and the diagonal is left out, with a warning, unless `self_loops` asks for it.
        """
        rows = as_labels(labels, f"context {name!r}")
        columns = (
            rows
            if contexts is None
            else as_labels(contexts, f"columns of context {name!r}")
        )
        matrix = as_csr(deepcopy(counts) if sp.issparse(counts) else counts, name)
        if contexts is None and not self_loops:
            matrix = _without_diagonal(matrix, name)
        return cls(name, rows, columns, matrix)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        *,
        name: str = "edges",
        directed: bool = False,
        self_loops: bool = False,
    ) -> RelationalContext:
        """Edges of a graph: `(label, label)` or `(label, label, weight)`.

        A data frame has them in its columns source, target and, if there is one,
        weight, or else in its first two or three.
        Edges count both ways unless `directed`, and the weights of an edge that is
        given more than once add up. An edge from a label to itself is an error unless
        `self_loops` says that it is meant.
        """
        labels, counts = cooccurrence.count_edges(
            edges, name=name, directed=directed, self_loops=self_loops
        )
        return cls(name, labels, labels, counts)

    @classmethod
    def from_annotations(
        cls, rows: Iterable[Sequence[Any]], *, name: str = "annotations"
    ) -> RelationalContext:
        """Multi-label annotations `(item, label)`: labels of one item co-occur.

        A row given twice is counted once, with a warning. A label that never occurs
        with another is listed without counts.
        """
        labels, counts = cooccurrence.count_annotations(rows, name=name)
        return cls(name, labels, labels, counts)

    @classmethod
    def from_annotation_table(
        cls,
        source: Any,
        *,
        name: str = "annotations",
        item: str = "item",
        label: str = "label",
        memory: str = "1GB",
    ) -> RelationalContext:
        """The same from a table that need not fit into memory.

        Parameters
        ----------
        source
            A CSV, TSV or Parquet file, which an embedded DuckDB counts, or a table of
            Ibis on any engine (Spark, say), which counts it there.
        item, label
            Names of the two columns.
        memory
            What DuckDB may use before it spills to disk.
        """
        labels, counts = annotation_tables.count_annotation_table(
            source, name=name, item=item, label=label, memory=memory
        )
        return cls(name, labels, labels, counts)

    @classmethod
    def from_text(
        cls,
        documents: Iterable[str],
        labels: Iterable[Any],
        *,
        name: str = "text",
        window: int = 5,
        min_count: int = 2,
    ) -> RelationalContext:
        """Words within `window` positions of a label's mention in the documents.

        A label may be several words long; case, hyphens, underscores and punctuation
        between them do not matter. Words that stand near labels fewer than `min_count`
        times are left out, and a label that is not mentioned is unknown here.
        """
        wanted = as_labels(labels, f"context {name!r}")
        words, counts = cooccurrence.count_text(
            documents, wanted, name=name, window=window, min_count=min_count
        )
        return cls(name, wanted, words, counts)

    @classmethod
    def from_hierarchy(
        cls,
        edges: Any,
        *,
        name: str = "hierarchy",
        kind: str = "ancestors",
        labels: Iterable[Any] | None = None,
        decay: float | None = None,
        radius: int | None = None,
        random_state: int = 0,
    ) -> RelationalContext:
        """A taxonomy as `(child, parent)` pairs, a frame of them, or a DiGraph.

        Parameters
        ----------
        edges
            Pairs, a data frame with the columns child and parent (or else its first
            two), or a NetworkX `DiGraph` with an edge from each child to its parent.
            Several parents and several roots are fine; cycles are not.
        kind
            "ancestors": the columns are the nodes above a label, each weighing
            exp(−distance/decay). "path": labels near each other, exp(−path/decay).
            "shared": labels by the information of the ancestors they share. "walks":
            nodes that random walks from a label visit. Above 5000 labels, "path" and
            "shared" link only labels below an ancestor of at most 100.
        labels
            Nodes to embed. Left out: the leaves, and at fit any node that another
            context names.
        decay
            How fast weight falls with distance; 4 for "ancestors", 2 for "path".
        radius
            Longest path, or walk, that counts; "path" and "walks" only.
        random_state
            Seed of the random walks.
        """
        hierarchy = Hierarchy.from_edges(edges, name=name)
        recipe = HierarchyCounts(
            hierarchy=hierarchy,
            kind=kind,
            decay=decay,
            radius=radius,
            random_state=random_state,
            labels_are_fixed=labels is not None,
        )
        if labels is None:
            wanted = hierarchy.leaves
        else:
            wanted = as_labels(labels, f"labels of context {name!r}")
            unknown = [label for label in wanted if label not in hierarchy.index]
            if unknown:
                raise ContextError(
                    f"context {name!r}: labels {some(unknown)} are not in the "
                    "hierarchy; add their edges or leave them out of labels=."
                )
        return _from_hierarchy_counts(recipe, wanted, name)


def _from_hierarchy_counts(
    recipe: HierarchyCounts, labels: tuple[str, ...], name: str
) -> RelationalContext:
    """Count the labels by the recipe and keep the recipe for later labels."""
    columns, counts = recipe.count(labels)
    return RelationalContext(name, labels, columns, counts, recipe)


def _without_diagonal(counts: sp.csr_array, name: str) -> sp.csr_array:
    """Drop what labels count with themselves, and tell how many did."""
    n_loops = np.count_nonzero(counts.diagonal())
    if n_loops == 0:
        return counts
    warnings.warn(
        f"context {name!r}: {n_loops} labels occur with themselves; this diagonal is "
        "left out, self_loops=True keeps it.",
        ContextWarning,
        stacklevel=3,
    )
    counts = counts.copy()
    counts.setdiag(0.0)
    return counts


def _check_counts(context: RelationalContext) -> None:
    """Refuse counts that are not finite, negative, or none at all."""
    name, counts = context.name, context.counts
    for wrong, what in (
        (~np.isfinite(counts.data), "finite"),
        (counts.data > LARGEST, f"{LARGEST:g} at most"),
        (counts.data < 0, "zero or more"),
    ):
        if wrong.any():
            entry = int(np.argmax(wrong))
            row = int(np.searchsorted(counts.indptr, entry, side="right") - 1)
            raise ContextError(
                f"context {name!r}: counts must be {what}. Got {counts.data[entry]} "
                f"for label {context.labels[row]!r} and column "
                f"{context.columns[counts.indices[entry]]!r}; correct or remove it."
            )
    # A few new edges may link no two labels by themselves: a fit knows the rest.
    if counts.nnz == 0 and context.hierarchy is None:
        raise ContextError(
            f"context {name!r} is empty: no label has a single count (one that never "
            "occurs with anything has none), so it says nothing; leave it out."
        )
