"""Clusters of labels."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer, Named

__all__ = [
    "Agreement",
    "ClusteredLabels",
    "DrawnClusters",
]


@dataclass(frozen=True)
class Agreement(Answer):
    """How well clusters agree with a taxonomy; 1 is best, 0 is chance.

    Attributes
    ----------
    cophenetic : float
        Correlation of the heights at which pairs of labels merge with their distances
        in the taxonomy.
    rand_index : float
        Adjusted Rand index of the clusters and the families.
    n_families : int
        Number of families that the taxonomy was cut into.
    """

    cophenetic: float
    rand_index: float
    n_families: int


@dataclass(frozen=True)
class ClusteredLabels(Answer):
    """Groups of similar labels.

    Attributes
    ----------
    clusters : tuple of tuple of Named
        The labels of each group.
    names : tuple of str
        A name for each group: what its labels have in common.
    agreement : Agreement or None
        Agreement with a hierarchy of the embedding; None without one.
    """

    clusters: tuple[tuple[Named, ...], ...]
    names: tuple[str, ...]
    agreement: Agreement | None


@dataclass(frozen=True)
class DrawnClusters(ClusteredLabels):
    """Groups of similar labels, and the heat map that was drawn of them.

    Attributes
    ----------
    file : str
        The picture.
    """

    file: str
