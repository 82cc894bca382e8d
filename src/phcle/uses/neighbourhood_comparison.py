"""Where the neighbourhoods of two embeddings differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError
from phcle.uses.neighbour_table import NeighbourTable

__all__ = ["Differences", "neighbourhood_differences"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Differences:
    """Of every common label, the share of its nearest labels that both files name."""

    labels: tuple[str, ...]  # in both embeddings
    shared: npt.NDArray[np.float64]  # (labels,): 0 … 1
    k: int

    @property
    def mean(self) -> float:
        """The share over all common labels."""
        return float(self.shared.mean())

    def histogram(self) -> list[int]:
        """How many labels share 0, 1, … k of their neighbours."""
        counts = np.bincount(np.rint(self.shared * self.k).astype(int))
        return [int(n) for n in np.pad(counts, (0, self.k + 1 - len(counts)))]

    def largest(self, n: int, start: int = 0) -> list[tuple[str, float]]:
        """Labels whose neighbourhoods differ most, and the share that is common."""
        order = np.argsort(self.shared, kind="stable")[start : start + n]
        return [(self.labels[i], float(self.shared[i])) for i in order]


def neighbourhood_differences(
    one: LabelEmbedding,
    other: LabelEmbedding,
    tables: tuple[NeighbourTable, NeighbourTable],
    k: int = 10,
) -> Differences:
    """Compare the k nearest labels of every label that both embeddings have.

    Labels that only one of them has are left out of its neighbourhoods; the tables
    must hold enough neighbours for that.
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
    """Positions in `common` of the k nearest of each common label; −1: too few."""
    position = {label: i for i, label in enumerate(common)}
    code = np.array([position.get(label, -1) for label in embedding.labels])
    own = {label: i for i, label in enumerate(embedding.labels)}
    near = code[table.rows[[own[label] for label in common]]]  # (common, kept)
    # Common labels first, in their order; the sort is stable.
    order = np.argsort(near < 0, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(near, order, axis=1)
    if found.shape[1] < k:
        found = np.pad(found, ((0, 0), (0, k - found.shape[1])), constant_values=-1)
    # A place that only one of them can fill is no agreement.
    return np.asarray(found, np.int64)
