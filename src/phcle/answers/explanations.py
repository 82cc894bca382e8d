"""Why two labels are similar, in ids and in names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phcle.answers.answer import Answer, Named

__all__ = [
    "ContextPart",
    "ExplainedColumn",
    "ExplainedContext",
    "ExplainedGroup",
    "ExplainedPair",
    "Explanation",
    "ExplanationLine",
    "ReasonGroup",
    "SharedNode",
]


@dataclass(frozen=True)
class ReasonGroup(Answer):
    """Columns of a context that say the same about two labels, such as what both have.

    Attributes
    ----------
    group : str
        "both", "neither" or "one" (has it); "together" if labels occur with each other;
        "both_high", "both_low" or "different" for numbers above or below their mean;
        "known_of_one". For a family "each_other", "relatives_of_both",
        "relatives_of_one" or "own_data".
    words : str
        The same in words.
    part : float
        What the group contributes to the cosine.
    size : int
        Number of its columns or relatives.
    columns : tuple of (str, float)
        Some of them with their contributions, the most telling first.
    n_others : int
        Number of the others.
    others : float
        What the others contribute together.
    """

    group: str
    words: str
    part: float
    size: int
    columns: tuple[tuple[str, float], ...]
    n_others: int
    others: float

    def to_dict(self) -> dict[str, Any]:
        """Convert the group to plain values, for JSON."""
        columns = [{"name": name, "part": part} for name, part in self.columns]
        return {**super().to_dict(), "columns": columns}


@dataclass(frozen=True)
class ContextPart(Answer):
    """The part of a similarity that one context contributes.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    part : float
        What it contributes to the cosine.
    groups : tuple of ReasonGroup
        Groups of its columns, which add up to the part. What makes the labels alike
        comes first. Empty if names of columns mean nothing to a person.
    shared : tuple of str
        Common ancestors in a hierarchy, the one above the fewest labels first; without
        those above most labels.
    """

    context: str
    kind: str
    part: float
    groups: tuple[ReasonGroup, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Explanation(Answer):
    """The cosine of two labels, and the parts that add up to it.

    Attributes
    ----------
    a, b : str
        The two labels.
    similarity : float
        Cosine of their vectors.
    percentile : float
        Share of all pairs of labels that are less similar, in percent.
    parts : tuple of ContextPart
        The contribution of each context.
    rest : float
        Rounding error: the similarity minus the sum of the parts.
    """

    a: str
    b: str
    similarity: float
    percentile: float
    parts: tuple[ContextPart, ...]
    rest: float


@dataclass(frozen=True)
class ExplainedColumn(Answer):
    """The part of a similarity that one column contributes.

    Attributes
    ----------
    column, name : str
        The column's id and its readable name.
    part : float
        What it contributes to the cosine.
    """

    column: str
    name: str
    part: float


@dataclass(frozen=True)
class ExplainedGroup(Answer):
    """A `ReasonGroup` with readable names.

    Attributes
    ----------
    group : str
        What the two labels have in common; see `ReasonGroup`.
    words : str
        The same in words.
    part : float
        What the group contributes to the cosine.
    size : int
        Number of its columns or relatives.
    columns : tuple of ExplainedColumn
        Some of them, the most telling first.
    n_others : int
        Number of the others.
    others : float
        What the others contribute together.
    """

    group: str
    words: str
    part: float
    size: int
    columns: tuple[ExplainedColumn, ...]
    n_others: int
    others: float


@dataclass(frozen=True)
class SharedNode(Answer):
    """A common ancestor of two labels.

    Attributes
    ----------
    node, name : str
        The node's id and its readable name.
    """

    node: str
    name: str


@dataclass(frozen=True)
class ExplainedContext(Answer):
    """A `ContextPart` with readable names.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    part : float
        What it contributes to the cosine.
    groups : tuple of ExplainedGroup
        Groups of its columns, which add up to the part.
    shared : tuple of SharedNode
        Common ancestors in a hierarchy, the one above the fewest labels first; without
        those above most labels.
    """

    context: str
    kind: str
    part: float
    groups: tuple[ExplainedGroup, ...]
    shared: tuple[SharedNode, ...]


@dataclass(frozen=True)
class ExplanationLine(Answer):
    """One line of an explanation, as people read it.

    Attributes
    ----------
    part, context : str
        The context and its part; empty except in the first line of a context.
    group_part, words : str
        A group of columns of the context, and its part.
    columns : tuple of str
        Named columns with their parts; the last one is the sum of the others.
    """

    part: str
    context: str
    group_part: str = ""
    words: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExplainedPair(Answer):
    """An `Explanation` with readable names.

    Attributes
    ----------
    a, b : Named
        The two labels.
    similarity : float
        Cosine of their vectors.
    percentile : float
        Share of all pairs of labels that are less similar, in percent.
    parts : tuple of ExplainedContext
        The contribution of each context.
    rest : float
        Rounding error: the similarity minus the sum of the parts.
    lines : tuple of ExplanationLine
        The same to read, with numbers that still add up after rounding.
    """

    a: Named
    b: Named
    similarity: float
    percentile: float
    parts: tuple[ExplainedContext, ...]
    rest: float
    lines: tuple[ExplanationLine, ...]
