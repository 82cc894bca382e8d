"""What pictures show."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer
from phcle.answers.descriptions import RelatedLabel

__all__ = [
    "LearnedImageMap",
    "UnderstoodAttribute",
    "UnderstoodFile",
    "UnderstoodPicture",
]


@dataclass(frozen=True)
class LearnedImageMap(Answer):
    """What `phcle map` learned and wrote.

    Attributes
    ----------
    file : str
        The new file.
    images, features, classes : int
        Number of pictures learned from, of their features and of their classes.
    left_out : tuple of str
        Classes that the embedding does not know.
    network : str or None
        The network that made the features, if photos were given.
    """

    file: str
    images: int
    features: int
    classes: int
    left_out: tuple[str, ...]
    network: str | None


@dataclass(frozen=True)
class UnderstoodAttribute(Answer):
    """A predicted attribute of a picture.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    value : float
        The predicted value, in the user's units.
    """

    context: str
    name: str
    value: float


@dataclass(frozen=True)
class UnderstoodPicture(Answer):
    """A picture, or a vector of features, described by labels and attributes.

    Attributes
    ----------
    picture : str
        Where the picture comes from.
    related : tuple of RelatedLabel
        Related labels, most similar first.
    attributes : tuple of UnderstoodAttribute
        The strongest attributes of each context, strongest first.
    """

    picture: str
    related: tuple[RelatedLabel, ...]
    attributes: tuple[UnderstoodAttribute, ...]


@dataclass(frozen=True)
class UnderstoodFile(Answer):
    """The pictures of an uploaded file.

    Attributes
    ----------
    pictures : tuple of UnderstoodPicture
        The first pictures of the file.
    rows : int
        Number of pictures in the file.
    """

    pictures: tuple[UnderstoodPicture, ...]
    rows: int
