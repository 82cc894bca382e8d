"""Labels beside each other, beside a description, and in two embeddings."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer, Named
from phcle.answers.neighbours import Neighbour
from phcle.answers.typed_search import Node

__all__ = [
    "AttributeChance",
    "ComparedAttribute",
    "ComparedCell",
    "ComparedContext",
    "Comparison",
    "Differences",
    "DifferentLabel",
    "FittingLabel",
    "FittingLabels",
    "SharedNeighbour",
    "SideBySide",
    "WantedAttribute",
]


@dataclass(frozen=True)
class ComparedCell(Answer):
    """An attribute of one of the compared labels.

    Attributes
    ----------
    value : float or None
        The observed value, or a predicted number; None if there is neither.
    observed : bool
        Whether the value is observed.
    confidence : float or None, default=None
        Probability that the label has the attribute, if it is not observed. None for a
        number.
    low, high : float or None, default=None
        Interval that holds a predicted number in 80 of 100 cases.
    """

    value: float | None
    observed: bool
    confidence: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ComparedAttribute(Answer):
    """An attribute of all compared labels.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    strength : float
        The largest strength that it has for one of the labels.
    cells : tuple of ComparedCell
        The attribute of each label, in the order of the labels.
    is_number : bool, default False
        Whether it is a number, so that 0 does not mean no.
    """

    context: str
    name: str
    strength: float
    cells: tuple[ComparedCell, ...]
    is_number: bool = False


@dataclass(frozen=True)
class ComparedContext(Answer):
    """Which of the compared labels a context knows.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    known : tuple of bool
        Whether it knows each label, in the order of the labels.
    """

    context: str
    kind: str
    known: tuple[bool, ...]


@dataclass(frozen=True)
class Comparison(Answer):
    """A few labels side by side.

    Attributes
    ----------
    labels : tuple of Named
        The labels.
    similarities : tuple of tuple of float
        Cosines of all pairs.
    percentiles : tuple of tuple of float
        For each of them, the share of all pairs of labels that are less similar, in
        percent.
    ancestors : tuple of Node
        Common ancestors, the one above the fewest labels first; without those above
        most labels.
    attributes : tuple of ComparedAttribute
        The strongest attributes of any of the labels, strongest first.
    contexts : tuple of ComparedContext
        Which labels each context knows.
    explains : bool
        Whether the embedding can explain similarities.
    """

    labels: tuple[Named, ...]
    similarities: tuple[tuple[float, ...], ...]
    percentiles: tuple[tuple[float, ...], ...]
    ancestors: tuple[Node, ...]
    attributes: tuple[ComparedAttribute, ...]
    contexts: tuple[ComparedContext, ...]
    explains: bool


@dataclass(frozen=True)
class WantedAttribute(Answer):
    """An attribute that labels shall have, or shall lack.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    present : bool
        True if labels shall have it.
    """

    context: str
    name: str
    present: bool


@dataclass(frozen=True)
class AttributeChance(Answer):
    """The probability that a label has an attribute.

    Attributes
    ----------
    chance : float
        The probability; 0 or 1 if it is observed.
    observed : bool
        Whether it is observed.
    """

    chance: float
    observed: bool


@dataclass(frozen=True)
class FittingLabel(Named):
    """A label, and how well it fits the wanted attributes.

    Attributes
    ----------
    score : float
        How well it fits, from 0 to 1.
    chances : tuple of AttributeChance
        One for each wanted attribute.
    """

    score: float
    chances: tuple[AttributeChance, ...]


@dataclass(frozen=True)
class FittingLabels(Answer):
    """Labels found by their attributes.

    Attributes
    ----------
    wanted : tuple of WantedAttribute
        What was asked for.
    labels : tuple of FittingLabel
        The labels that fit best, best first.
    """

    wanted: tuple[WantedAttribute, ...]
    labels: tuple[FittingLabel, ...]


@dataclass(frozen=True)
class DifferentLabel(Named):
    """A label whose neighbours differ between two embeddings.

    Attributes
    ----------
    shared : float
        Share of its neighbours that both embeddings name.
    """

    shared: float


@dataclass(frozen=True)
class Differences(Answer):
    """The labels whose neighbours differ most between two embeddings.

    Attributes
    ----------
    one, other : str
        Titles of the embeddings.
    ready : bool
        False while the neighbours are still being computed.
    k : int
        Number of neighbours compared.
    common : int
        Number of labels that both embeddings have.
    mean : float or None
        Mean share of common neighbours.
    histogram : tuple of int
        Number of labels with 0, 1, … k common neighbours.
    labels : tuple of DifferentLabel
        The labels that differ most.
    """

    one: str
    other: str
    ready: bool
    k: int = 0
    common: int = 0
    mean: float | None = None
    histogram: tuple[int, ...] = ()
    labels: tuple[DifferentLabel, ...] = ()


@dataclass(frozen=True)
class SharedNeighbour(Neighbour):
    """A neighbour in one embedding, and perhaps in another.

    Attributes
    ----------
    in_both : bool
        Whether the other embedding names it too.
    """

    in_both: bool


@dataclass(frozen=True)
class SideBySide(Named):
    """The neighbours of a label in two embeddings.

    Attributes
    ----------
    one, other : tuple of SharedNeighbour
        Its neighbours in each embedding, best first.
    shared : float
        Share of neighbours that both embeddings name.
    """

    one: tuple[SharedNeighbour, ...]
    other: tuple[SharedNeighbour, ...]
    shared: float
