"""The labels nearest to a label or to a vector."""

from __future__ import annotations

from dataclasses import dataclass, field

from phcle.answers.answer import Answer, Named

__all__ = [
    "AddedLabels",
    "Nearest",
    "NearestToVector",
    "Neighbour",
]


@dataclass(frozen=True)
class Neighbour(Named):
    """A label that is similar to another.

    Attributes
    ----------
    similarity : float
        Cosine of the two vectors.
    percentile : float
        Share of all pairs of labels that are less similar, in percent.
    """

    similarity: float
    percentile: float


@dataclass(frozen=True)
class Nearest(Named):
    """A label and the labels most similar to it.

    Attributes
    ----------
    neighbours : tuple of Neighbour
        The most similar labels, best first.
    """

    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True)
class NearestToVector(Answer):
    """The labels most similar to a vector, which has a name but no label.

    Attributes
    ----------
    name : str
        Where the vector comes from.
    neighbours : tuple of Neighbour
        The most similar labels, best first.
    """

    label: None = field(default=None, init=False)
    name: str
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True)
class AddedLabels(Answer):
    """What `phcle add` wrote.

    Attributes
    ----------
    file : str
        The new file.
    labels : int
        Number of labels in it.
    added : tuple of Nearest
        The new labels, each with its neighbours.
    """

    file: str
    labels: int
    added: tuple[Nearest, ...]
