"""The explorer itself: what it can do, its progress and its failures."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer, ValueSort
from phcle.answers.file_contents import EmbeddingSummary

__all__ = [
    "AttributeSet",
    "ExplorerInfo",
    "Failure",
    "FailureText",
    "Progress",
    "Status",
]


@dataclass(frozen=True)
class AttributeSet(Answer):
    """A context whose columns are readable attributes.

    Attributes
    ----------
    context : str
        Name of the context.
    sort : {"tags", "text", "numbers"}
        How its values are given.
    columns : int
        Number of its attributes.
    """

    context: str
    sort: ValueSort
    columns: int


@dataclass(frozen=True)
class _Titled(Answer):
    """The title of an opened embedding; the first field of an answer."""

    title: str


@dataclass(frozen=True)
class ExplorerInfo(EmbeddingSummary, _Titled):
    """What the opened embedding holds and what can be asked about it.

    Attributes
    ----------
    hierarchy : str or None
        The context with the hierarchy that is shown.
    attributes : tuple of AttributeSet
        Contexts with readable attributes.
    compared_with : str or None
        Title of the second embedding.
    takes_features, takes_pictures : bool
        Whether features of pictures, and pictures themselves, can be described.
    """

    hierarchy: str | None
    attributes: tuple[AttributeSet, ...]
    compared_with: str | None
    takes_features: bool
    takes_pictures: bool


@dataclass(frozen=True)
class Progress(Answer):
    """How far the background work for an embedding is.

    Attributes
    ----------
    ready, failed : bool
        Whether it is done, and whether it failed.
    stage : str
        What is being done.
    done, total : int
        Number of labels done in this stage, and of all labels.
    """

    ready: bool
    failed: bool
    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class Status(Answer):
    """How far the background work is.

    Attributes
    ----------
    labels : Progress
        For the opened embedding.
    other : Progress or None
        For the embedding that it is compared with.
    second_map : Progress or None
        For the second of two maps; None if nobody has asked for them.
    """

    labels: Progress
    other: Progress | None
    second_map: Progress | None


@dataclass(frozen=True)
class FailureText(Answer):
    """What went wrong, and what to do.

    Attributes
    ----------
    status : int
        The HTTP status.
    message : str
        The reason, in words.
    """

    status: int
    message: str


@dataclass(frozen=True)
class Failure(Answer):
    """The JSON of every error.

    Attributes
    ----------
    error : FailureText
        What went wrong.
    """

    error: FailureText
