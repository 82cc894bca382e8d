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

from phcle.embedding.cosine_search import check_count, nearest_rows
from phcle.embedding.label_embedding import LabelEmbedding

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
    cosines: npt.NDArray[np.float64]

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
