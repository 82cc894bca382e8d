"""RelationalContext: which labels occur together, before, during and after a fit."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Floats
from phcle.backends.distributed import current_processes
from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts import cooccurrence, logistic
from phcle.contexts.cooccurrence import LabelLinks
from phcle.contexts.family import FamilyContext, GraphKinship, Kinship, TreeKinship
from phcle.contexts.gaps import SMALLEST, Gaps
from phcle.contexts.hierarchy import KINDS, Hierarchy, HierarchyCounts
from phcle.contexts.labels import (
    as_labels,
    index_of,
    positions_of,
    some_names,
)
from phcle.contexts.matrices import (
    LARGEST,
    as_csr,
    check_array,
    check_axes,
    check_number,
    merging_matrix,
    stacked,
    take_columns,
    take_rows,
)
from phcle.contexts.protocol import (
    AT,
    HAS,
    LACKS,
    UNITS,
    UNKNOWN,
    Blocks,
    Codes,
    Context,
    Pair,
    Penalties,
    Reasons,
    Target,
)
from phcle.errors import ContextError, ContextWarning, PhcleWarning, check_choice, some
from phcle.files.container import TensorStore

ROLES = ("counts", "family", "both", "auto")
"""What a fit may make of a hierarchy or graph; see `from_hierarchy`."""


@dataclass(frozen=True, eq=False, repr=False)
class RelationalContext(Context):
    """Counts of labels (rows) and what they occur with (columns).

    Columns can be other labels, ancestors in a taxonomy, or words of a text. A label
    without any count is unknown to the context. Most contexts are made by one of the
    `from_…` constructors.

    Parameters
    ----------
    name : str
        Name of the context. All contexts of a fit need different names.
    labels : tuple of str
        Names of the rows.
    columns : tuple of str
        Names of the columns.
    counts : sparse or dense array of shape (labels, columns)
        Counts or weights: finite, zero or more.
    recipe : HierarchyCounts, optional
        How a hierarchy was turned into these counts. Labels that are added to an
        embedding later are counted in the same way.
    role : {"counts", "family", "both", "auto"}, default "counts"
        What the fit makes of a hierarchy or graph; see `from_hierarchy`.
    triples : LabelLinks, optional
        The links that were counted, if they are of several relations.
    scale : float
        In a fit: what counts are multiplied by.
    column_mass : array of shape (columns,)
        In a fit: sums of scaled counts.
    total : float
        In a fit: the sum of all scaled counts.

    Examples
    --------
    >>> pets = RelationalContext.from_edges([("cat", "dog"), ("dog", "wolf", 2)])
    >>> pets
    RelationalContext('edges': 3 labels × 3 columns, 4 counts)
    >>> pets.labels
    ('cat', 'dog', 'wolf')
    """

    counts: sp.csr_array
    recipe: HierarchyCounts | None = None
    role: str = "counts"
    triples: LabelLinks | None = None
    scale: float = field(default=1.0, kw_only=True)
    column_mass: Floats = field(default_factory=lambda: np.zeros(0), kw_only=True)
    total: float = field(default=0.0, kw_only=True)

    kind = "relational"
    order = 0
    may_have_gaps = False  # what was not counted is zero
    flat_files = ("edges", "annotations")

    def __post_init__(self) -> None:
        check_choice("role", self.role, ROLES)
        object.__setattr__(self, "counts", as_csr(self.counts, self.name))
        check_axes(self.name, self.labels, self.columns, self.counts.shape)
        _check_counts(self)

    def __repr__(self) -> str:
        return (
            f"RelationalContext({self.name!r}: {len(self.labels)} labels × "
            f"{len(self.columns)} columns, {self.counts.nnz} counts)"
        )

    def relatives(self, known: Collection[str] = ()) -> Kinship | None:
        """The hierarchy, or the graph if columns are labels."""
        if self.recipe is not None:
            return TreeKinship(self.recipe.hierarchy)
        if self.columns == self.labels:
            return GraphKinship(self.labels, self.counts, self.triples)
        if not (known and {*known, *self.labels}.issuperset(self.columns)):
            return None
        links = LabelLinks.between(self.labels, self.columns, self.counts)
        weights = links.counts(directed=True)
        both_ways = sp.csr_array(weights.maximum(weights.T))
        return GraphKinship(links.names, both_ways, self.triples)

    @property
    def links(self) -> LabelLinks | None:
        """Links between labels, if the columns are labels."""
        if self.triples is not None or self.recipe is not None:
            return self.triples
        if not self.index.keys() >= set(self.columns):
            return None
        return LabelLinks.between(self.labels, self.columns, self.counts)

    def parts(self) -> tuple[Context, ...]:
        """The counts, a family, or both; "auto" is counts unless the fit chooses."""
        if self.role in ("counts", "auto"):
            return (self,)
        kinship = self.relatives()
        if kinship is None:
            raise ContextError(
                f"context {self.name!r} counts labels with other things, so they are "
                f"no relatives; role={self.role!r} needs a hierarchy, or a graph of "
                "labels."
            )
        name = self.name if self.role == "family" else f"{self.name} (family)"
        family = FamilyContext(name, self.labels, (), kinship, self.name)
        return (family,) if self.role == "family" else (self, family)

    # ---- before a fit ----

    def renamed(self, spellings: Mapping[str, str]) -> RelationalContext:
        """Rename rows, and columns that are labels; add up rows that become one."""
        labels = tuple(spellings.get(label, label) for label in self.labels)
        kept = tuple(dict.fromkeys(labels))
        if self.recipe is not None:
            tree = self.recipe.hierarchy.renamed(spellings, name=self.name)
            recipe = replace(self.recipe, hierarchy=tree)
            return _from_hierarchy_counts(recipe, kept, self.name, self.role)
        triples = self.triples and self.triples.joined(None, spellings)
        is_square = self.columns == self.labels
        sums = merging_matrix(labels)
        counts = sp.csr_array(sums @ self.counts)
        if is_square:
            counts = sp.csr_array(counts @ sums.T)
            if not self.counts.diagonal().any():  # a label does not occur with itself
                counts.setdiag(0.0)
                counts.eliminate_zeros()
        columns = kept if is_square else self.columns
        return replace(
            self, labels=kept, columns=columns, counts=counts, triples=triples
        )

    def naming_also(self, others: Iterable[str]) -> RelationalContext:
        """Add labels that are nodes of the hierarchy.

        Only a hierarchy whose constructor was given no `labels` can grow. Any other
        context is returned unchanged.
        """
        if self.recipe is None or self.recipe.labels_are_fixed:
            return self
        known = self.recipe.hierarchy.index
        more = [x for x in others if x in known and x not in self.index]
        if not more:
            return self
        labels = (*self.labels, *more)
        return _from_hierarchy_counts(self.recipe, labels, self.name, self.role)

    def rows_for(self, labels: Sequence[str]) -> sp.csr_array:
        """Return the counts of some labels.

        Parameters
        ----------
        labels : sequence of str
            The wanted labels. A label that the context does not list gets an empty row.

        Returns
        -------
        csr_array of shape (labels, columns)
            The counts, in the order of `labels`.
        """
        return take_rows(self.counts, positions_of(labels, self.index))

    # ---- in a fit ----

    def in_fit(self, labels: Sequence[str]) -> RelationalContext:
        """The context over the labels of a problem, scaled."""
        rows, listed, is_listed = self.counts, tuple(labels), None
        if listed != self.labels:
            at = positions_of(labels, self.index)
            rows, is_listed = take_rows(rows, at), np.flatnonzero(at >= 0)
            listed = some_names(listed, is_listed)
        # Columns that no label of the problem uses would only cost time.
        used, columns = np.flatnonzero(rows.sum(axis=0)), self.columns
        if len(used) < len(columns):
            rows, columns = rows[:, used], some_names(columns, used)
        own = rows if is_listed is None else take_rows(rows, is_listed)
        total, scale = float(rows.sum()), 1.0
        if rows.nnz and total < SMALLEST:
            raise ContextError(
                f"context {self.name!r}: its counts sum to {total:g}; multiply them "
                f"so that the sum is {SMALLEST:g} or more."
            )
        if rows.nnz:  # to a sum of `UNITS` per label that has counts
            scale = UNITS * np.count_nonzero(np.diff(rows.indptr)) / total
        # Half a billion counts are copied once, and their places not at all.
        places = rows.indices, rows.indptr
        scaled = sp.csr_array((rows.data * scale, *places), shape=rows.shape)
        mass = np.asarray(scaled.sum(axis=0), np.float64).ravel()
        return self.changed(
            labels=listed,
            columns=columns,
            counts=own,
            rows=scaled,
            scale=scale,
            column_mass=mass,
            total=float(mass.sum()),
        )

    @cached_property
    def masses(self) -> tuple[AnyFloats, AnyFloats]:
        """Sums of D over columns, zero for labels that it does not know, and rows."""
        row_mass = np.asarray(self.rows.sum(axis=1), np.float64).ravel()
        return row_mass, self.column_mass

    def term(
        self,
        backend: Backend,
        entries: Any,
        blocks: Blocks,
        lam: Penalties,
        *,
        is_turned: bool = False,
    ) -> logistic.LogisticTerm:
        rates = self._rates(lam, is_turned=is_turned)
        return logistic.LogisticTerm(backend, entries, rates, blocks)

    def _rates(self, lam: Penalties, *, is_turned: bool = False) -> logistic.Rates:
        """Rates of rows and masses of columns: B = rate · massᵀ."""
        row, column = self.masses[::-1] if is_turned else self.masses
        return lam.negatives * row / self.total, column

    def target(self, backend: Backend, weight: float, lam: Penalties) -> Target:
        # About the curvature of the logistic loss at an average pair.
        weight = float(np.sqrt(weight * UNITS / len(self.columns)))
        counts, rates = self.stored(backend), self._rates(lam)
        return logistic.log_ratio_target(backend, counts, rates, lam.negatives, weight)

    def floor(self, lam: Penalties, backend: Backend | None = None) -> float:
        """The value if x were the best number for every count."""
        backend = backend or choose_backend("numpy", "cpu", "float64")
        return logistic.saturated_floor(backend, self.stored(backend), self._rates(lam))

    # ---- in an embedding ----

    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
        if not (self.weight and len(self.labels)):
            return np.zeros(len(self.columns))
        counts = self.rows_for([label]).toarray()[0] * self.scale
        rate = lam.negatives * counts.sum() / self.total
        # Beyond 500, exp would overflow.
        x = np.clip(vector @ self.factor.T, -500, 500)
        expected = (counts + rate * self.column_mass) / (1 + np.exp(-x))
        return np.asarray(self.weight * (counts - expected))

    def standing(self, label: str) -> Codes:
        if not self.knows(label):
            return np.full(len(self.columns), UNKNOWN, np.int8)
        counts = self.rows_for([label]).toarray()[0]
        return np.where(counts > 0, HAS, LACKS).astype(np.int8)

    @property
    def verbs(self) -> tuple[str, str]:
        if self.recipe is None:
            return "occur with", "occurs with"
        above = self.recipe.kind == "ancestors"
        return ("are below", "is below") if above else ("are near", "is near")

    def reasons(self, pair: Pair) -> Reasons:
        """Name first the most specific ancestors, then what both occur with most.

        The part of a count is what the vectors still lack, so that of a well-fitted one
        says little about how much both labels have of it. Their predictions do. Two
        labels that occur with each other are one reason, not two differences. General
        nodes are not named among what both have.
        """
        found, position = super().reasons(pair), index_of(self.columns)
        rank = (pair.vectors @ self.factor.T).min(axis=0)
        if self.recipe is None or self.recipe.kind != "ancestors":
            own = np.isin(np.arange(len(rank)), positions_of(pair.labels, position))
            found.groups[own & (found.groups == AT["one"])] = AT["together"]
        nodes = self.specific_nodes
        if nodes is None or self.hierarchy is None:
            return replace(found, rank=rank)
        shared = positions_of(nodes.above_all(pair.labels)[::-1], position)
        shared = shared[shared >= 0]
        rank[shared] = rank.max(initial=0.0) + 1 + np.arange(len(shared))
        at = positions_of(self.columns, self.hierarchy.index)
        is_general = nodes.is_general[at] & (found.groups == AT["both"])
        return replace(found, rank=rank, unnamed=found.unnamed | is_general)

    @property
    def cells(self) -> sp.csr_array:
        """The counts."""
        return self.counts

    def for_new_labels(
        self, context: Context | None, labels: Sequence[str], names: Mapping[str, str]
    ) -> RelationalContext:
        counts = sp.csr_array((len(labels), len(self.columns)))
        recipe = triples = None
        if context is not None:
            if not isinstance(context, RelationalContext):
                raise self.other_kind_error()
            recipe, triples = self.recipe, context.triples
            if recipe is not None and context.hierarchy is not None:
                tree = recipe.hierarchy.extended(context.hierarchy, name=self.name)
                recipe = replace(recipe, hierarchy=tree)
                within = recipe.count_on(
                    context.labels, trained=self.labels, columns=self.columns
                )
                context = context.changed(columns=self.columns, counts=within)
            at = self.columns_in(context)
            counts = take_columns(context.rows_for(labels), at)
        return self.changed(
            labels=tuple(labels) if counts.nnz else (),
            counts=counts,
            recipe=recipe if counts.nnz else None,
            triples=triples,
            rows=sp.csr_array(counts * self.scale),
        )

    def _joined(self, later: RelationalContext) -> dict[str, Any]:
        return {
            "counts": sp.csr_array(sp.vstack([self.counts, later.counts])),
            "recipe": later.recipe or self.recipe,  # the later one has more edges
            "triples": self.triples and self.triples.joined(later.triples),
        }

    def pack(self, store: TensorStore) -> dict[str, Any]:
        store["column_mass"] = self.column_mass
        recipe = None
        if len(self.labels):
            store.put_names("labels", self.labels)
            store.put_sparse("counts", self.counts)
            if self.triples is not None:
                self.triples.pack(store)
        if self.recipe is not None:
            self.recipe.hierarchy.pack(store)
            recipe = {key: getattr(self.recipe, key) for key in RECIPE}
        return {"total": self.total, "scale": self.scale, "hierarchy": recipe}

    @classmethod
    def _unpacked(cls, packed: Mapping[str, Any], store: TensorStore) -> dict[str, Any]:
        n, has_data = len(store.names("columns")), packed["has_data"]
        return {
            "counts": store.sparse("counts", n) if has_data else sp.csr_array((0, n)),
            "recipe": _stored_recipe(packed, store),
            "triples": LabelLinks.unpack(store),
            "column_mass": store["column_mass"],
            "total": packed["total"],
            "scale": packed["scale"],
        }

    def check(self) -> None:
        where = f"context {self.name!r}"
        check_array(self.column_mass, (len(self.columns),), f"the masses of {where}")
        check_number(self.total, f"the total of {where}")
        check_number(self.scale, f"the scale of {where}")
        if not (self.total > 0 and self.scale > 0):
            raise ContextError(f"the total and scale of {where} must be above zero")
        if self.recipe is not None:
            self.recipe.hierarchy.check(self.name)

    # ---- what users have ----

    @classmethod
    def from_matrix(
        cls,
        counts: Any,
        labels: Iterable[Any],
        contexts: Iterable[Any] | None = None,
        *,
        name: str = "matrix",
        self_loops: bool = False,
        own_rows: bool = False,
    ) -> RelationalContext:
        """Make a context from an array of counts.

        Parameters
        ----------
        counts : array or SciPy sparse matrix of shape (labels, columns), or iterator
            Finite counts or weights, zero or more. An iterator gives those of the first
            labels, then of the next ones, and so on. It may read each block from a
            file, so that memory is needed for the counts and for one block.
        labels : iterable of str or int
            Names of the rows.
        contexts : iterable of str or int, optional
            Names of the columns. By default the columns are the labels themselves.
        name : str, default "matrix"
            Name of the context.
        self_loops : bool, default False
            Keep counts of a label with itself. By default they are left out with a
            warning, because they say nothing about other labels. Only used without
            `contexts`.
        own_rows : bool, default False
            Whether each process of a fit under `torchrun` gives other rows. The rows of
            the first process come first, then those of the second, and so on; every
            process gets those of the others over the network. By default, each gives
            all rows.

        Returns
        -------
        RelationalContext
            The counts.

        Examples
        --------
        >>> RelationalContext.from_matrix(
        ...     [[3, 0], [1, 2]], labels=["cat", "fish"], contexts=["purr", "swim"]
        ... )
        RelationalContext('matrix': 2 labels × 2 columns, 3 counts)
        """
        rows = columns = as_labels(labels, f"context {name!r}")
        if contexts is not None:
            columns = as_labels(contexts, f"columns of context {name!r}")
        parts = counts if isinstance(counts, Iterator) else [counts]
        matrix = stacked(parts, len(columns), name)
        if own_rows:
            matrix = _of_all_processes(matrix)
        if contexts is None and not self_loops:
            _drop_diagonal(matrix, name)
        return cls(name, rows, columns, matrix)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        *,
        name: str = "edges",
        directed: bool = False,
        self_loops: bool = False,
        role: str = "auto",
    ) -> RelationalContext:
        """Make a context from the edges of a graph.

        Parameters
        ----------
        edges : iterable of tuples, or data frame
            Rows `(label, label)` or `(label, label, weight)`, or triples of texts; see
            `from_triples`. The default weight is 1, and the weights of repeated edges
            add up. A data frame has the columns `source`, `target` and optionally
            `weight`. Other titles are guessed, with a warning.
        name : str, default "edges"
            Name of the context.
        directed : bool, default False
            Count an edge only from its first label to its second. By default it counts
            in both directions.
        self_loops : bool, default False
            Keep edges from a label to itself. By default they are left out with a
            warning.
        role : {"auto", "counts", "family", "both"}, default "auto"
            Count edges, or pull the vectors of neighbours together; see
            `from_hierarchy`.

        Returns
        -------
        RelationalContext
            Labels against labels.

        Examples
        --------
        >>> edges = [("Bonn", "Cologne"), ("Cologne", "Kiel", 3)]
        >>> roads = RelationalContext.from_edges(edges)
        >>> roads.counts.toarray()
        array([[0., 1., 0.],
               [1., 0., 3.],
               [0., 3., 0.]])
        """
        links = cooccurrence.read_edges(edges, name, self_loops=self_loops)
        return cls._of_links(links, name, role, directed=directed)

    @classmethod
    def _of_links(
        cls, links: LabelLinks, name: str, role: str = "auto", *, directed: bool = False
    ) -> RelationalContext:
        """Count links; their relations are kept, if they have any."""
        triples = links if any(links.relations) else None
        counts = links.counts(directed=directed)
        return cls(name, links.names, links.names, counts, role=role, triples=triples)

    @classmethod
    def from_triples(
        cls, triples: Iterable[Sequence[Any]], *, name: str = "triples"
    ) -> RelationalContext:
        """Make a context from the triples of a knowledge graph.

        They count like edges. Each link also keeps its relation and direction, because
        relations differ in what they say about a label's values.

        Parameters
        ----------
        triples : iterable of (head, relation, tail), or data frame
            A data frame has the columns `head`, `relation` and `tail`. A triple that
            links a label to itself is left out with a warning.
        name : str, default "triples"
            Name of the context.

        Returns
        -------
        RelationalContext
            Labels against labels.

        Examples
        --------
        >>> rhine = [("Rhine", "flows through", "Bonn"), ("Bonn", "in", "Germany")]
        >>> RelationalContext.from_triples(rhine).links.relations
        ('flows through', 'in')
        """
        links = cooccurrence.read_edges(triples, name, are_triples=True)
        return cls._of_links(links, name)

    @classmethod
    def from_annotations(
        cls,
        rows: Any,
        *,
        name: str = "annotations",
        item: str = "item",
        label: str = "label",
        memory: str = "1GB",
        delimiter: str | None = None,
    ) -> RelationalContext:
        """Count how often two labels belong to the same item.

        Parameters
        ----------
        rows : iterable of (item, label), data frame, path, or Ibis table
            One row for each label of each item, such as the objects in a picture. A
            data frame has the columns `item` and `label`; other titles are guessed,
            with a warning. Repeated rows count once, with a warning.
            A CSV, TSV or Parquet file may be larger than memory: DuckDB counts it (this
            needs the extra `phcle[engine]`). A table of any Ibis back end, such as
            Spark, is counted there.
        name : str, default "annotations"
            Name of the context.
        item : str, default "item"
            Column of the items, in a file or Ibis table.
        label : str, default "label"
            Column of the labels, in a file or Ibis table.
        memory : str, default "1GB"
            How much memory DuckDB may use before it uses the disk. More memory is
            faster.
        delimiter : str, optional
            What separates the cells of a text file; by default a comma, and a tab in
            `.tsv` files.

        Returns
        -------
        RelationalContext
            Labels against labels. A label that never occurs with another has no counts.

        Examples
        --------
        >>> rows = [("photo 1", "cat"), ("photo 1", "sofa"), ("photo 2", "cat")]
        >>> RelationalContext.from_annotations(rows).counts.toarray()
        array([[0., 1.],
               [1., 0.]])
        """
        if isinstance(rows, (str, Path)) or hasattr(rows, "to_pyarrow_batches"):
            from phcle.tables.rows import count_annotation_table

            where = f"context {name!r}"
            labels, counts = count_annotation_table(
                rows, where, item, label, memory, delimiter
            )
        else:
            labels, counts = cooccurrence.count_annotations(rows, name)
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
        """Count the words near each mention of a label in texts.

        Parameters
        ----------
        documents : iterable of str
            The texts.
        labels : iterable of str
            Labels to look for. A label may be several words long; case, hyphens,
            underscores and punctuation between words do not matter. A label that no
            text mentions has no counts.
        name : str, default "text"
            Name of the context.
        window : int, default 5
            How many words before and after a mention are counted.
        min_count : int, default 2
            Words that occur near labels fewer times in total are left out. Use 1 for a
            few short texts.

        Returns
        -------
        RelationalContext
            Labels against words.

        Examples
        --------
        >>> texts = ["A cat can purr.", "The cat will purr and the dog will bark."]
        >>> sounds = RelationalContext.from_text(texts, ["cat", "dog"], window=2)
        >>> sounds.columns
        ('purr', 'the', 'will')
        """
        wanted = as_labels(labels, f"context {name!r}")
        words, counts = cooccurrence.count_text(
            documents, wanted, name, window, min_count
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
        role: str = "auto",
    ) -> RelationalContext:
        """Make a context from a taxonomy.

        Parameters
        ----------
        edges : iterable of (child, parent), data frame, networkx.DiGraph, or path
            A path is that of a Newick tree (.nwk, .newick, .tree, .tre), whose lengths
            weigh the edges of a family; see `phcle.tables.read_newick`. A data frame
            has the columns `child` and `parent`, or one column per level of a lineage,
            such as species, genus and family. Other titles are guessed, with a warning.
            A graph has an edge from each child to its parent. A node may have several
            parents, and there may be several roots; cycles are an error.
        name : str, default "hierarchy"
            Name of the context.
        kind : {"ancestors", "path"}, default "ancestors"
            How labels are related. With "ancestors", the columns are the nodes above
            the labels, with weight exp(−distance/decay). With "path", the columns are
            labels, with weight exp(−path/decay). The default works well for most data
            and for any number of labels; "path" takes 5,000 labels at most.
        labels : iterable of str, optional
            Nodes to embed. By default these are the leaves, and at the fit also the
            nodes that another context names.
        decay : float, optional
            How slowly the weight falls with distance. By default 4 for "ancestors" and
            2 for "path".
        role : {"auto", "counts", "family", "both"}, default "auto"
            What the fit makes of the taxonomy. With "counts", as in the paper, it is
            predicted like any other context. With "family", labels are pulled to the
            vector of their parent, and parents to theirs: relatives share what other
            contexts tell about them, so it needs such a context. "both" does both. With
            "auto" the fit chooses what completes a table best, or counts.

        Returns
        -------
        RelationalContext
            Labels against nodes or labels.

        Examples
        --------
        >>> edges = [("cat", "felid"), ("lion", "felid")]
        >>> edges += [("felid", "animal"), ("dog", "animal")]
        >>> tree = RelationalContext.from_hierarchy(edges)
        >>> tree.labels
        ('cat', 'lion', 'dog')
        >>> tree.columns
        ('felid', 'animal')
        """
        if isinstance(edges, (str, Path)):
            from phcle.tables.trees import read_newick

            hierarchy = read_newick(Path(edges))
        else:
            hierarchy = Hierarchy.from_edges(edges, name=name)
        recipe = HierarchyCounts(hierarchy, kind, decay, labels is not None)
        wanted = hierarchy.leaves
        if labels is not None:
            wanted = as_labels(labels, f"labels of context {name!r}")
        unknown = [label for label in wanted if label not in hierarchy.index]
        if unknown:
            raise ContextError(
                f"context {name!r}: labels {some(unknown)} are not in the hierarchy; "
                "add their edges or leave them out of labels=."
            )
        return _from_hierarchy_counts(recipe, wanted, name, role)


RECIPE = ("kind", "decay", "labels_are_fixed")
"""Settings of a hierarchy's counts that a file stores."""


def _from_hierarchy_counts(
    recipe: HierarchyCounts, labels: tuple[str, ...], name: str, role: str
) -> RelationalContext:
    """Count the labels by the recipe and keep the recipe for later labels."""
    columns, counts = recipe.count(labels)
    return RelationalContext(name, labels, columns, counts, recipe, role)


def _of_all_processes(own: sp.csr_array) -> sp.csr_array:
    """Rows of all processes below each other, in the order of the processes."""
    processes = current_processes()
    lengths, indices, data = (
        np.concatenate(processes.gather(part))
        for part in (np.diff(own.indptr), own.indices, own.data)
    )
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    shape = (len(lengths), own.shape[1])
    return sp.csr_array((data, indices, indptr), shape=shape)


def _drop_diagonal(counts: sp.csr_array, name: str) -> None:
    """Drop counts of labels with themselves, with a warning."""
    n_loops = np.count_nonzero(counts.diagonal())
    if n_loops:
        warnings.warn(
            f"context {name!r}: {n_loops} labels occur with themselves; this diagonal "
            "is left out. self_loops=True keeps it.",
            ContextWarning,
            stacklevel=3,
        )
        counts.setdiag(0.0)


def _check_counts(context: RelationalContext) -> None:
    """Refuse counts that are not finite, negative, or none at all."""
    name, counts = context.name, context.counts
    wrong = Gaps(counts).wrong_cell(least=0.0)
    if wrong is not None:
        row, column, count = wrong
        raise ContextError(
            f"context {name!r}: counts must be finite, zero or more, and {LARGEST:g} "
            f"at most. Got {count} for label {context.labels[row]!r} and column "
            f"{context.columns[column]!r}; correct or remove it."
        )
    # New edges of a hierarchy may link no labels: the embedding has the others.
    if counts.nnz == 0 and context.recipe is None and not len(context.factor):
        raise ContextError(
            f"context {name!r} is empty: no label has a count (a label that never "
            "occurs with another has none); leave it out."
        )


def _stored_recipe(
    packed: Mapping[str, Any], store: TensorStore
) -> HierarchyCounts | None:
    """The recipe that a file stores; None, with a warning, if its kind is gone."""
    settings = packed["hierarchy"]
    if settings is None or not packed["has_data"]:
        return None
    if settings["kind"] not in KINDS or settings.get("radius"):
        warnings.warn(
            f"context {packed['name']!r} was counted with kind={settings['kind']!r}, "
            "which is gone: labels cannot be added to its hierarchy; fit again to do "
            "so.",
            PhcleWarning,
            stacklevel=2,
        )
        return None
    tree = Hierarchy.unpack(store)
    return HierarchyCounts(tree, **{key: settings[key] for key in RECIPE})
