"""LabelEmbedding: one vector per label, with search, description and explanation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from phcle.answers import Completion, Description, Explanation, Nearest, Neighbour
from phcle.arrays import AnyFloats
from phcle.contexts.labels import as_labels, listed, normal
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.labels import Labels
from phcle.embedding.search import Search, check_count
from phcle.errors import ContextError, some

if TYPE_CHECKING:
    from phcle import answers
    from phcle.atlas import NotebookFrame
    from phcle.contexts.hierarchy import Hierarchy
    from phcle.embedding.columns import Table
    from phcle.embedding.family_means import Groups
    from phcle.embedding.predictions import TablePredictions


@dataclass(frozen=True, eq=False)
class LabelEmbedding:
    """One vector per label, and what the vectors were learned from.

    `PHCLE.fit` makes it, `save` and `phcle.load` store it. It can also be made from any
    labels and vectors; methods that need contexts (`describe`, `explain`) then have
    less or nothing to say. It behaves like a collection of its labels:
    `embedding["cat"]` is a vector, and `len`, `in` and iteration work.

    Parameters
    ----------
    labels : tuple of str
        The labels.
    vectors : array of shape (labels, dim)
        A vector for each label, of finite numbers.
    names : mapping from str to str, optional
        Readable names of labels and of nodes of their hierarchy.
    contexts : tuple of Context, optional
        The contexts of the fit, with what was learned about them.
    penalties : mapping from str to float, optional
        Penalties of the fit, which adding labels and explaining similarities need.
    options : mapping, optional
        Options of the fit.
    history : tuple of mappings, optional
        A record for each sweep of the fit: the objective and its terms.
    versions : mapping from str to str, optional
        Versions of the libraries that made the fit.
    origin : mapping, optional
        How the fit ran, and the files that it read.
    spellings : mapping from str to str, optional
        Labels, and nodes of their hierarchy, by other spellings that the fit joined.
    predictions : mapping from str to predictions, optional
        What the fit predicted for the cells of each table.

    Examples
    --------
    >>> import numpy as np
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> pets
    LabelEmbedding(2 labels × 2)
    >>> pets["dog"]
    array([0.6, 0.8])
    >>> pets.nearest("cat", k=1)
    [('dog', 0.6)]
    """

    labels: tuple[str, ...]
    vectors: AnyFloats
    names: Mapping[str, str] = field(default_factory=dict)
    contexts: tuple[Context, ...] = ()
    penalties: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Mapping[str, float], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
    predictions: Mapping[str, TablePredictions] = field(
        default_factory=dict, repr=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", as_labels(self.labels, "the embedding"))
        vectors = np.asarray(self.vectors)
        if vectors.ndim != 2 or len(vectors) != len(self.labels):
            raise ContextError(
                f"an embedding must have one vector per label. Got shape "
                f"{vectors.shape} for {len(self.labels)} labels."
            )
        if not np.issubdtype(vectors.dtype, np.floating):
            vectors = vectors.astype(np.float64)
        wrong = ~np.isfinite(vectors).all(axis=1)
        if wrong.any():
            raise ContextError(
                "an embedding must be finite. Got NaN or infinity for "
                f"{some(np.array(self.labels)[wrong])}."
            )
        object.__setattr__(self, "vectors", vectors)
        if not "".join(self.names).isascii():  # a fast test that most names pass
            names = {normal(label): name for label, name in self.names.items()}
            object.__setattr__(self, "names", names)

    def __repr__(self) -> str:
        contexts = ", ".join(context.name for context in self.contexts)
        return f"LabelEmbedding({len(self.labels)} labels × {self.dim}" + (
            f", from {contexts})" if contexts else ")"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields, but not what was computed from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and normal(label) in self.row_of

    def __getitem__(self, label: str) -> AnyFloats:
        return np.asarray(self.vectors[self.row_of[self.resolve(label)]])

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def called(self) -> Labels:
        """The labels by id, readable name and other spelling."""
        return Labels(self.labels, self.names, self.spellings)

    def nodes(self, hierarchy: Hierarchy) -> Labels:
        """Return the nodes of a taxonomy by id, readable name and other spelling.

        Parameters
        ----------
        hierarchy : Hierarchy
            The taxonomy.

        Returns
        -------
        Labels
            The nodes.
        """
        return Labels(hierarchy.nodes, self.names, self.spellings, noun="node")

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """Row of each label in `vectors`."""
        return MappingProxyType(self.called.index)

    @cached_property
    def search(self) -> Search:
        """The search for the nearest labels."""
        return Search(self.vectors)

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Contexts that predict columns, by name: known and predicted cells."""
        from phcle.embedding.columns import Table

        return {x.name: Table(self, x) for x in self.predicting}

    @cached_property
    def families(self) -> Groups:
        """Groups of the hierarchies, which tell the family of each label."""
        from phcle.embedding.family_means import Groups

        return Groups.of_contexts(self.labels, self.contexts)

    @property
    def unit_vectors(self) -> AnyFloats:
        """Vectors scaled to length one; a zero vector stays zero."""
        return self.search.units

    @property
    def predicting(self) -> tuple[DescriptiveContext, ...]:
        """Contexts that predict values of readable columns."""
        found = tuple(c for c in self.contexts if c.predicts_columns)
        return cast(tuple[DescriptiveContext, ...], found)

    def name_of(self, label: str) -> str:
        """Return the readable name of a label or of a node of its hierarchy.

        Parameters
        ----------
        label : str
            The label or node.

        Returns
        -------
        str
            Its name, or `label` itself if it has none.
        """
        return self.names.get(label, label)

    def resolve(self, label: str) -> str:
        """Find the one label that an id or a readable name means.

        Parameters
        ----------
        label : str
            An id, or a name in upper or lower case.

        Returns
        -------
        str
            The label.

        Raises
        ------
        UnknownLabelError
            If there is no such label, or if several labels have this name. It suggests
            others.
        """
        return self.called.resolve(label)

    def vector_of(self, label_or_vector: str | npt.ArrayLike) -> AnyFloats:
        """Return the vector of a label, or check a given vector.

        Parameters
        ----------
        label_or_vector : str or array of shape (dim,)
            A label, a readable name, or any vector.

        Returns
        -------
        array of shape (dim,)
            The vector.
        """
        if isinstance(label_or_vector, str):
            return self[label_or_vector]
        vector = np.asarray(label_or_vector, dtype=np.float64)
        if vector.shape != (self.dim,) or not np.isfinite(vector).all():
            raise ContextError(
                f"a vector must hold {self.dim} finite numbers. "
                f"Got shape {vector.shape}."
            )
        return vector

    def nearest(
        self,
        label_or_vector: str | npt.ArrayLike,
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Find the labels that are most similar to a label or vector.

        Parameters
        ----------
        label_or_vector : str or array of shape (dim,)
            A label, a readable name, or any vector.
        k : int, default 10
            How many labels to return.
        among : iterable of str, optional
            Labels to search. By default all labels are searched.

        Returns
        -------
        list of (str, float)
            Labels and their cosine similarities, most similar first. The label itself
            is never among them.

        Examples
        --------
        >>> import numpy as np
        >>> vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
        >>> pets = LabelEmbedding(("cat", "dog", "fish"), vectors)
        >>> pets.nearest("cat", k=2)
        [('dog', 0.6), ('fish', 0.0)]
        >>> pets.nearest([0.0, 2.0], k=1, among=["cat", "dog"])
        [('dog', 0.8)]
        """
        (found,) = self.neighbours([label_or_vector], k, among=among)
        return [(x.label, x.similarity) for x in found.neighbours]

    def neighbours(
        self,
        queries: Iterable[str | npt.ArrayLike],
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> list[Nearest]:
        """Find the most similar labels with their names, and how unusual that is.

        Many labels or vectors at once are much faster than many calls of `nearest`.

        Parameters
        ----------
        queries : iterable of str or array of shape (dim,)
            Labels, readable names or vectors.
        k : int, default 10
            How many labels to return for each query.
        among : iterable of str, optional
            Labels to search. By default all labels are searched.

        Returns
        -------
        list of Nearest
            For each query its most similar labels, best first.

        Examples
        --------
        >>> vectors = np.array([[1.0, 0.0], [0.6, 0.8]])
        >>> pets = LabelEmbedding(("c", "d"), vectors, names={"d": "dog"})
        >>> pets.neighbours(["c"])[0].neighbours[0].name
        'dog'
        """
        check_count(k)
        given = list(_no_text(queries))
        own = [self.resolve(x) if isinstance(x, str) else None for x in given]
        rows = [None if label is None else self.row_of[label] for label in own]
        vectors = np.array(list(map(self.vector_of, given)), np.float64)
        vectors = vectors.reshape(len(given), self.dim)
        every = None
        if among is not None:
            chosen = dict.fromkeys(map(self.resolve, _no_text(among)))
            every = np.array([self.row_of[label] for label in chosen], dtype=np.int64)
        return [
            Nearest(
                label,
                "" if label is None else self.name_of(label),
                tuple(self._neighbour(*x) for x in zip(*found, strict=True)),
            )
            for label, found in zip(
                own, self.search.nearest(vectors, k, rows, every), strict=True
            )
        ]

    def _neighbour(self, row: int, cosine: float) -> Neighbour:
        label = self.labels[row]
        cosine = float(cosine)
        return Neighbour(label, self.name_of(label), cosine, self.percentile_of(cosine))

    def percentile_of(self, cosine: float) -> float:
        """Say how unusual a cosine is among the pairs of labels of this embedding.

        Two random labels often have a cosine of 0.3 or more, so the number alone does
        not say whether labels are related.

        Parameters
        ----------
        cosine : float
            A cosine similarity.

        Returns
        -------
        float
            The share of pairs of different labels that have a smaller cosine, in
            percent. If there are more than 100,000 pairs, it is that of a fixed random
            sample of 100,000.

        Examples
        --------
        >>> import numpy as np
        >>> vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
        >>> pets = LabelEmbedding(("cat", "dog", "fish"), vectors)
        >>> round(pets.percentile_of(0.7))  # cosines of the pairs are 0, 0.6 and 0.8
        67
        """
        return self.search.percentile(cosine)

    def describe(self, label_or_vector: str | npt.ArrayLike, k: int = 6) -> Description:
        """Describe a label or vector by related labels and by attributes.

        Parameters
        ----------
        label_or_vector : str or array of shape (dim,)
            A label, a readable name, or any vector.
        k : int, default 6
            Most related labels, known attributes and predicted attributes to list.

        Returns
        -------
        Description
            Related labels with their shares, the strongest attributes that are known,
            and the strongest that the model predicts, with their probabilities.

        Examples
        --------
        >>> from phcle import PHCLE, DescriptiveContext
        >>> tags = {"cat": ["fur", "tail"], "dog": ["fur", "tail"], "fish": ["fins"]}
        >>> embedding = PHCLE(dim=2).fit(DescriptiveContext.from_tags(tags)).embedding_
        >>> found = embedding.describe("cat")
        >>> sorted(attribute.name for attribute in found.observed)
        ['fur', 'tail']
        """
        from phcle.embedding.describe import describe

        check_count(k)
        return describe(self, label_or_vector, k)

    def explain(self, a: str, b: str, k: int = 5) -> Explanation:
        """Explain the similarity of two labels, context by context.

        Parameters
        ----------
        a : str
            A label or readable name.
        b : str
            Another label or readable name.
        k : int, default 5
            Most columns to name in each group: what both labels have, what neither
            has, what only one has.

        Returns
        -------
        Explanation
            The cosine similarity, the part that each context adds to it, and the groups
            of columns that add up to this part. The parts add up to the similarity.

        Examples
        --------
        >>> from phcle import PHCLE, DescriptiveContext
        >>> tags = {"cat": ["fur", "tail"], "dog": ["fur", "tail"], "fish": ["fins"]}
        >>> embedding = PHCLE(dim=2).fit(DescriptiveContext.from_tags(tags)).embedding_
        >>> (part,) = embedding.explain("cat", "dog").parts
        >>> [(group.words, group.size) for group in part.groups]
        [('both have', 2), ('neither has', 1)]
        """
        from phcle.embedding.explain import explain

        check_count(k)
        return explain(self, self.resolve(a), self.resolve(b), k)

    def complete(
        self,
        labels: Iterable[str] | None = None,
        *,
        columns: Iterable[str] | None = None,
        contexts: Iterable[str] | None = None,
        min_confidence: float = 0.0,
        why: bool = True,
        probabilities: bool = False,
        draws: int = 0,
        seed: int = 0,
    ) -> Completion:
        """Predict the unknown cells of tables.

        Parameters
        ----------
        labels : iterable of str, optional
            Labels or readable names to complete; by default all.
        columns : iterable of str, optional
            Columns of the tables, or tags, to complete; by default all.
        contexts : iterable of str, optional
            Contexts to complete; by default all with readable columns, but no texts.
        min_confidence : float, default 0.0
            Leave out values that are less likely. Numbers have an interval in place of
            a confidence, and stay. Of tags, those that are more likely than not are
            listed, or more likely than this.
        why : bool, default True
            Whether to give reasons.
        probabilities : bool, default False
            Whether to give those of all values of a category.
        draws : int, default 0
            Draw every cell so many times from its own distribution, in place of its
            likeliest value: multiple imputations.
        seed : int, default 0
            Seed of the draws.

        Returns
        -------
        Completion
            Every unknown cell with its value, confidence or interval, what the family
            says, and why. `phcle.embedding.complete.completed_cells` gives the same
            cells one by one, for tables that do not fit into memory.

        Examples
        --------
        >>> from phcle import PHCLE, DescriptiveContext
        >>> labels = tuple(f"animal {i}" for i in range(20))
        >>> cells = {"legs": [4, 2] * 10, "wings": [0, 2] * 9 + [0, None]}
        >>> table = DescriptiveContext.from_cells(labels, cells, "birds")
        >>> found = PHCLE(dim=2).fit(table).embedding_.complete()
        >>> [(cell.label, cell.column, round(cell.value)) for cell in found.cells]
        [('animal 19', 'wings', 2)]
        """
        from phcle.embedding.complete import completed_cells, warn_of_unpredicted

        contexts = None if contexts is None else tuple(listed(contexts))
        warn_of_unpredicted(self, contexts)
        cells = completed_cells(
            self,
            labels=labels,
            columns=columns,
            contexts=contexts,
            min_confidence=min_confidence,
            why=why,
            probabilities=probabilities,
            draws=draws,
            seed=seed,
        )
        return Completion(tuple(cells))

    def groups(self, n: int = 8, labels: Iterable[str] | None = None) -> answers.Groups:
        """Group similar labels.

        Parameters
        ----------
        n : int, default 8
            Number of groups.
        labels : iterable of str, optional
            Labels or readable names to group; by default all.

        Returns
        -------
        Groups
            The groups, each with a name that says what its labels have in common.

        Examples
        --------
        >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]])
        >>> pets = LabelEmbedding(("cat", "carp", "lion"), vectors)
        >>> [[x.name for x in group] for group in pets.groups(2).clusters]
        [['carp'], ['lion', 'cat']]
        """
        from phcle.embedding.groups import group_labels

        return group_labels(self, labels, n)

    def explore(self, title: str = "Label embedding") -> NotebookFrame:
        """Show the labels in a notebook: map, table, filters and cards.

        Parameters
        ----------
        title : str, default "Label embedding"
            Title of the page.

        Returns
        -------
        NotebookFrame
            What a notebook shows: the page of `phcle report` in a frame that loads
            nothing.
        """
        from phcle.atlas import NotebookFrame

        return NotebookFrame(self, title)

    def contexts_of(self, label: str) -> dict[str, bool]:
        """Say which contexts know a label.

        Parameters
        ----------
        label : str
            A label or readable name.

        Returns
        -------
        dict from str to bool
            For each context, whether it has a count or value of the label.
        """
        label = self.resolve(label)
        return {context.name: context.knows(label) for context in self.contexts}

    def select(self, labels: Iterable[str]) -> LabelEmbedding:
        """Return the vectors of some labels, without the contexts.

        Parameters
        ----------
        labels : iterable of str
            Labels or readable names.

        Returns
        -------
        LabelEmbedding
            These labels in this order.
        """
        kept = [self.resolve(label) for label in listed(labels)]
        rows = [self.row_of[label] for label in kept]
        return LabelEmbedding(
            tuple(kept), self.vectors[rows], self.names, spellings=self.spellings
        )

    def joined(self, later: LabelEmbedding) -> LabelEmbedding:
        """Join the embedding with labels that `fold_in` returned.

        Parameters
        ----------
        later : LabelEmbedding
            New labels; none of them may be in this embedding.

        Returns
        -------
        LabelEmbedding
            All labels.
        """
        both = set(self.labels) & set(later.labels)
        if both:
            raise ContextError(
                f"labels {some(sorted(both))} are in the embedding already; "
                "leave them out of the new ones."
            )
        contexts = zip(self.contexts, later.contexts, strict=True)
        return replace(
            self,
            labels=(*self.labels, *later.labels),
            vectors=np.vstack([self.vectors, later.vectors.astype(self.vectors.dtype)]),
            contexts=tuple(old.joined(new) for old, new in contexts),
            names={**self.names, **later.names},
            spellings={**self.spellings, **later.spellings},
        )

    def to_frame(self) -> Any:
        """Convert the vectors to a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per label, which is its index, and a column for each dimension.
        """
        import pandas as pd

        columns = [f"x{i}" for i in range(self.dim)]
        index = pd.Index(self.labels, name="label")
        return pd.DataFrame(self.vectors.copy(), index, columns)

    def save(self, path: str | Path) -> None:
        """Write the embedding to one file without pickled code.

        An existing file is replaced only when the new one is complete. `phcle.load`
        reads it.

        Parameters
        ----------
        path : str or Path
            The file, usually with the ending `.phcle`.
        """
        from phcle.embedding.storage import save

        save(self, Path(path))


def _no_text(items: Iterable[Any]) -> Iterable[Any]:
    """Refuse a single text where a list is needed: its letters are not labels."""
    if isinstance(items, str):
        raise ContextError(
            f"a list of labels or vectors is needed. Got {items!r} instead."
        )
    return items
