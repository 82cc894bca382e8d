"""The nearest labels of all labels, computed once and kept.

An exact search of 82,115 labels takes milliseconds, which is slow for a web page with
many readers. The table answers in microseconds, with the same cosines. Queries that it
does not hold (vectors, more neighbours) are searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.arrays import Floats, Ints
from phcle.embedding.cosine_search import check_count, nearest_rows
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError

Near = list[tuple[str, float]]

MOST_KEPT = 50
"""Neighbours kept for each label: a map needs 45, pages show fewer."""

ROWS_AT_ONCE = 500
"""Labels searched for at a time; it bounds memory, and progress is reported after each.
"""


@dataclass(frozen=True, eq=False)
class NeighbourTable:
    """The nearest labels of every label, best first.

    Attributes
    ----------
    rows : ndarray of int32, shape (labels, k)
        Positions of the nearest labels in the embedding.
    cosines : ndarray of shape (labels, k)
        Their cosine similarities.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> NeighbourTable.of(pets).rows.tolist()
    [[1], [0]]
    """

    rows: npt.NDArray[np.int32]
    cosines: Floats

    @classmethod
    def of(
        cls,
        embedding: LabelEmbedding,
        k: int = MOST_KEPT,
        *,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> NeighbourTable:
        """Find the k nearest labels of all labels by exact search.

        Parameters
        ----------
        embedding : LabelEmbedding
            The embedding to search.
        k : int, default 50
            Number of neighbours of each label; fewer if there are fewer labels.
        progress : callable, optional
            Called with the number of labels done and the number of all labels.

        Returns
        -------
        NeighbourTable
            The neighbours of all labels.
        """
        units, n = embedding.unit_vectors, len(embedding)
        k = min(k, n - 1)
        rows = np.empty((n, k), np.int32)
        cosines = np.empty((n, k))
        for start in range(0, n if k else 0, ROWS_AT_ONCE):
            own = range(start, min(n, start + ROWS_AT_ONCE))
            # Prepared by the embedding, so that cosines equal those of `nearest`.
            vectors, _ = embedding.queries_of(embedding.labels[start : own.stop], k)
            found = nearest_rows(units, vectors, k, own=own)
            for i, (near, cosine) in zip(own, found, strict=True):
                rows[i], cosines[i] = near, cosine
            progress(own.stop, n)
        return cls(rows, cosines)


class StoredNeighbours:
    """Nearest labels from a table if it holds them, else by exact search.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    table : NeighbourTable, optional
        Its table; without one every query is searched for.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> StoredNeighbours(pets, NeighbourTable.of(pets)).nearest("cat", k=1)
    [('dog', 0.6)]
    """

    def __init__(
        self, embedding: LabelEmbedding, table: NeighbourTable | None = None
    ) -> None:
        self.embedding = embedding
        self.table = table

    def nearest(self, label_or_vector: str | npt.ArrayLike, k: int = 10) -> Near:
        """Return the labels most similar to a label or vector.

        Parameters
        ----------
        label_or_vector : str or array of shape (dim,)
            A label, by id or readable name, or a vector.
        k : int, default 10
            How many labels to return.

        Returns
        -------
        list of (str, float)
            Labels and cosine similarities, best first, without the label itself.
        """
        check_count(k)
        table = self.table
        if isinstance(label_or_vector, str) and table is not None:
            kept = table.rows.shape[1]
            if k <= kept or kept == len(self.embedding) - 1:
                row = self.position(label_or_vector)
                labels = self.embedding.labels
                near = table.rows[row, :k].tolist()
                cosines = table.cosines[row, :k].tolist()
                return [(labels[i], s) for i, s in zip(near, cosines, strict=True)]
        return self.embedding.nearest(label_or_vector, k)

    def position(self, label: str) -> int:
        """Return the row of a label.

        Parameters
        ----------
        label : str
            Its id or readable name.

        Returns
        -------
        int
            Position in `embedding.labels`.
        """
        position = self.embedding.row_of
        row = position.get(label)
        return position[self.embedding.resolve(label)] if row is None else row


@dataclass(frozen=True, eq=False)
class Differences:
    """How many nearest neighbours each label shares between two embeddings.

    Attributes
    ----------
    labels : tuple of str
        The labels that both embeddings have.
    shared : ndarray of shape (labels,)
        Share of the k nearest neighbours that both embeddings name, from 0 to 1.
    k : int
        Number of neighbours compared for each label.

    Examples
    --------
    >>> found = Differences(("cat", "dog"), np.array([0.5, 1.0]), k=2)
    >>> found.mean, found.histogram(), found.largest(1)
    (0.75, [0, 1, 1], [('cat', 0.5)])
    """

    labels: tuple[str, ...]
    shared: Floats
    k: int

    @property
    def mean(self) -> float:
        """Mean share over all common labels."""
        return float(self.shared.mean())

    def histogram(self) -> list[int]:
        """Count the labels by how many neighbours they share.

        Returns
        -------
        list of int
            Number of labels that share 0, 1, … k of their neighbours.
        """
        counts = np.bincount(np.rint(self.shared * self.k).astype(int))
        return [int(n) for n in np.pad(counts, (0, self.k + 1 - len(counts)))]

    def largest(self, n: int, start: int = 0) -> list[tuple[str, float]]:
        """Return the labels whose neighbourhoods differ most.

        Parameters
        ----------
        n : int
            How many labels to return.
        start : int, default 0
            How many to skip, for pages of results.

        Returns
        -------
        list of (str, float)
            Labels with the share of common neighbours, the smallest share first.
        """
        order = np.argsort(self.shared, kind="stable")[start : start + n]
        return [(self.labels[i], float(self.shared[i])) for i in order]


def neighbourhood_differences(
    one: LabelEmbedding,
    other: LabelEmbedding,
    tables: tuple[NeighbourTable, NeighbourTable],
    k: int = 10,
) -> Differences:
    """Compare the k nearest neighbours of every label that both embeddings have.

    Only neighbours that both embeddings have are compared.

    Parameters
    ----------
    one, other : LabelEmbedding
        The embeddings to compare.
    tables : tuple of two NeighbourTable
        The neighbours in each embedding. Where only one embedding has some labels, the
        tables must hold more than k neighbours, as those labels are skipped.
    k : int, default 10
        Number of neighbours to compare; fewer if there are not as many common labels.

    Returns
    -------
    Differences
        The share of common neighbours for every common label.

    Raises
    ------
    ContextError
        If the embeddings have fewer than two labels in common.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> one = LabelEmbedding(("cat", "lion", "carp"), vectors)
    >>> other = LabelEmbedding(("cat", "lion", "carp"), vectors[[0, 2, 1]])
    >>> tables = NeighbourTable.of(one), NeighbourTable.of(other)
    >>> neighbourhood_differences(one, other, tables, k=1).mean
    0.0
    """
    common = [label for label in one.labels if label in other]
    if len(common) < 2:
        raise ContextError(
            f"the embeddings have {len(common)} labels in common, but 2 are needed; "
            "compare files about the same labels."
        )
    k = min(k, len(common) - 1)
    first = _nearest_common(one, tables[0], common, k)
    second = _nearest_common(other, tables[1], common, k)
    shared = np.zeros(len(common))
    for column in range(k):
        same = (first[:, column : column + 1] == second) & (second >= 0)
        shared += same.any(axis=1)
    return Differences(tuple(common), shared / k, k)


def _nearest_common(
    embedding: LabelEmbedding, table: NeighbourTable, common: list[str], k: int
) -> Ints:
    """Positions in `common` of each label's k nearest; −1 where there are too few."""
    position = {label: i for i, label in enumerate(common)}
    code = np.array([position.get(label, -1) for label in embedding.labels])
    own = embedding.row_of
    near = code[table.rows[[own[label] for label in common]]]  # (common, kept)
    # A stable sort moves common labels to the front and keeps their order.
    order = np.argsort(near < 0, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(near, order, axis=1)
    if found.shape[1] < k:
        found = np.pad(found, ((0, 0), (0, k - found.shape[1])), constant_values=-1)
    return np.asarray(found, np.int64)
