"""Clusters of labels."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer, Named

__all__ = [
    "ClusteredLabels",
    "DrawnClusters",
]


@dataclass(frozen=True)
class ClusteredLabels(Answer):
    """Groups of similar labels.

    Attributes
    ----------
    clusters : tuple of tuple of Named
        The labels of each group.
    names : tuple of str
        A name for each group: what its labels have in common.
    """

    clusters: tuple[tuple[Named, ...], ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class DrawnClusters(ClusteredLabels):
    """Groups of similar labels, and the heat map that was drawn of them.

    Attributes
    ----------
    file : str
        The picture.
    """

    file: str
