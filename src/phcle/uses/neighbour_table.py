"""The neighbours of all labels, found once and kept.

An exact search of 82,115 labels takes milliseconds, which is long for a page that many
ask. The table answers in microseconds, with the very cosines of the search it was made
by; what it does not hold (vectors, more neighbours) is searched for as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.search import nearest_rows
from phcle.errors import ContextError

__all__ = ["NeighbourTable", "StoredNeighbours"]

Near = list[tuple[str, float]]

MOST_KEPT = 50
"""Neighbours of every label; a map needs 45 of them, and pages show fewer."""

ROWS_AT_ONCE = 500


@dataclass(frozen=True, eq=False)
class NeighbourTable:
    """For every label its nearest labels, best first."""

    rows: npt.NDArray[np.int32]  # (labels, k): positions of labels
    cosines: npt.NDArray[np.float64]  # (labels, k)

    @classmethod
    def of(
        cls,
        embedding: LabelEmbedding,
        k: int = MOST_KEPT,
        *,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> NeighbourTable:
        """Find the k nearest labels of all labels by an exact search.

        `progress` is told how many labels of how many are done.
        """
        units, n = embedding.unit_vectors, len(embedding)
        k = min(k, n - 1)
        rows = np.empty((n, k), np.int32)
        cosines = np.empty((n, k))
        for start in range(0, n if k else 0, ROWS_AT_ONCE):
            own = range(start, min(n, start + ROWS_AT_ONCE))
            # As the embedding itself prepares queries, so that cosines are the same.
            vectors, _ = embedding.queries_of(embedding.labels[start : own.stop], k)
            found = nearest_rows(units, vectors, k, own=own)
            for i, (near, cosine) in zip(own, found, strict=True):
                rows[i], cosines[i] = near, cosine
            progress(own.stop, n)
        return cls(rows, cosines)


class StoredNeighbours:
    """The nearest labels from a table where it holds them, else by a search.

    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> StoredNeighbours(pets, NeighbourTable.of(pets)).nearest("cat", k=1)
    [('dog', 0.6)]
    """

    def __init__(
        self, embedding: LabelEmbedding, table: NeighbourTable | None = None
    ) -> None:
        self.embedding = embedding
        self.table = table
        self._position = {label: i for i, label in enumerate(embedding.labels)}

    def nearest(self, label_or_vector: str | npt.ArrayLike, k: int = 10) -> Near:
        """Labels most similar by cosine, best first; never the label itself."""
        if k < 1:
            raise ContextError(f"k must be 1 or more. Got {k!r} instead.")
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
        """The row of a label, given by its id or its readable name."""
        row = self._position.get(label)
        return self._position[self.embedding.resolve(label)] if row is None else row
