"""How the nearest neighbours of labels differ between two embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phcle.arrays import Floats, Ints
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.search import Neighbours
from phcle.errors import ContextError


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
    tables: tuple[Neighbours, Neighbours],
    k: int = 10,
) -> Differences:
    """Compare the k nearest neighbours of every label that both embeddings have.

    Only neighbours that both embeddings have are compared.

    Parameters
    ----------
    one, other : LabelEmbedding
        The embeddings to compare.
    tables : tuple of two Neighbours
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
    >>> tables = one.search.neighbour_table(), other.search.neighbour_table()
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
    embedding: LabelEmbedding, table: Neighbours, common: list[str], k: int
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
