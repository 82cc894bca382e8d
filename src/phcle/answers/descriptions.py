"""What is known and predicted about a label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from phcle.answers.answer import Answer, Named

__all__ = [
    "Attribute",
    "DescribedLabel",
    "Description",
    "RelatedLabel",
    "SimilarLabel",
]


@dataclass(frozen=True)
class Attribute(Answer):
    """One attribute of a label, in the user's units.

    Attributes
    ----------
    context : str
        The context that the attribute belongs to.
    name : str
        Name of the attribute.
    value : float
        Its observed or predicted value. Predicted tags, truth values and values of a
        category have their probability, if the fit could calibrate the context.
    strength : float
        Distance from the mean of the attribute, in units of the context's scale.
    observed : bool
        True if the value was given, False if it is predicted.
    confidence : float or None, default=None
        Probability that the label has the attribute. None for a number, if the value is
        observed, or if the fit could not calibrate the context.
    low, high : float or None, default=None
        Interval that holds a predicted number in 80 of 100 cases.
    """

    context: str
    name: str
    value: float
    strength: float
    observed: bool = field(metadata={"exclude": True})
    confidence: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Description(Answer):
    """Related labels and the strongest attributes of a label or a vector.

    Attributes
    ----------
    label : str or None
        The label described; None for a vector.
    related : tuple of (str, float)
        Related labels, and shares of the similarity that sum to one.
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    contexts : dict of str to bool
        Whether each context knows the label; empty for a vector.
    not_predictable : tuple of str, default=()
        Contexts that lack the label and know too little to predict its attributes.
    """

    label: str | None
    related: tuple[tuple[str, float], ...]
    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    contexts: dict[str, bool]
    not_predictable: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert the description to plain values, for JSON."""
        related = [{"label": label, "share": share} for label, share in self.related]
        return {**super().to_dict(), "related": related}


@dataclass(frozen=True)
class RelatedLabel(Named):
    """A related label.

    Attributes
    ----------
    share : float
        Its share of the similarity of all related labels.
    """

    share: float


@dataclass(frozen=True)
class SimilarLabel(RelatedLabel):
    """A related label, and how similar it is.

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
class DescribedLabel(Named):
    """A `Description` with readable names.

    Attributes
    ----------
    related : tuple of SimilarLabel
        Related labels, most similar first.
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    contexts : dict of str to bool
        Whether each context knows the label.
    not_predictable : tuple of str
        Contexts that lack the label and know too little to predict its attributes.
    """

    related: tuple[SimilarLabel, ...]
    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    contexts: dict[str, bool]
    not_predictable: tuple[str, ...]
