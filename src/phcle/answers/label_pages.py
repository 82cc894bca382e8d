"""The explorer's pages about one label."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer
from phcle.answers.descriptions import Attribute
from phcle.answers.explanations import ExplainedPair
from phcle.answers.neighbours import Nearest
from phcle.answers.typed_search import Node

__all__ = [
    "KnownContext",
    "LabelCell",
    "LabelPage",
    "LandedLabel",
    "TaxonomyPlace",
]


@dataclass(frozen=True)
class KnownContext(Answer):
    """Whether a context knows a label.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    known : bool
        Whether it knows the label.
    """

    context: str
    kind: str
    known: bool


@dataclass(frozen=True)
class LabelCell(Answer):
    """One cell of a table for a label: a number, yes or no, or a category.

    Attributes
    ----------
    context, column : str
        Name of the table, and title of the column.
    text : str
        The value as it is shown.
    observed : bool
        Whether the value was given; otherwise it is predicted.
    confidence : float or None, default=None
        Probability of a predicted value; None for numbers.
    interval : str, default=""
        Interval that holds a predicted number in 80 of 100 cases, in words.
    """

    context: str
    column: str
    text: str
    observed: bool
    confidence: float | None = None
    interval: str = ""


@dataclass(frozen=True)
class TaxonomyPlace(Answer):
    """Where a label stands in the hierarchy.

    Attributes
    ----------
    context : str
        The context that holds the hierarchy.
    path : tuple of Node
        Nodes from a root down to the label.
    parents : tuple of Node
        Its parents.
    children : tuple of Node
        The first of its children.
    n_children : int
        Number of all its children.
    siblings : tuple of Node
        The first of its siblings.
    n_siblings : int
        Number of all its siblings.
    """

    context: str
    path: tuple[Node, ...]
    parents: tuple[Node, ...]
    children: tuple[Node, ...]
    n_children: int
    siblings: tuple[Node, ...]
    n_siblings: int


@dataclass(frozen=True)
class LabelPage(Nearest):
    """All that the page of a label shows.

    Attributes
    ----------
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    not_predictable : tuple of str
        Contexts that lack the label and know too little to predict its attributes.
    cells : tuple of LabelCell
        Its row in each table, observed and predicted.
    contexts : tuple of KnownContext
        Whether each context knows the label.
    taxonomy : TaxonomyPlace or None
        Its place in the hierarchy, if it has one.
    explains : bool
        Whether the embedding can explain similarities.
    """

    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    not_predictable: tuple[str, ...]
    cells: tuple[LabelCell, ...]
    contexts: tuple[KnownContext, ...]
    taxonomy: TaxonomyPlace | None
    explains: bool


@dataclass(frozen=True)
class LandedLabel(Nearest):
    """Where a new label would stand in an embedding.

    Attributes
    ----------
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    contexts : dict of str to bool
        Whether each context knows the label.
    why : tuple of ExplainedPair
        Why it is similar to its nearest neighbours.
    place : tuple of float
        Its place on the map.
    notes : tuple of str
        Warnings about what was entered.
    """

    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    contexts: dict[str, bool]
    why: tuple[ExplainedPair, ...]
    place: tuple[float, ...]
    notes: tuple[str, ...]
