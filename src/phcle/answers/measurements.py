"""How fast and how good fits are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phcle.answers.answer import Answer

__all__ = [
    "ContextHelp",
    "Evaluation",
    "LeftOutContext",
]


@dataclass(frozen=True)
class LeftOutContext(Answer):
    """What the hidden cells of other tables lose without a context.

    Attributes
    ----------
    context : str
        Name of the context.
    skill : float or None
        Mean skill for the other tables with all contexts: 1 is perfect, 0 is as good as
        the means of the columns. None if no other table can be predicted.
    without : float or None
        Mean skill without the context.
    error : float
        Standard error of the difference.
    tables : mapping of str to float
        Skill for each of the other tables without the context.
    verdict : str
        "helps", "no effect", "no clear effect", "harms" or "unknown".
    words : str
        The same in words.
    """

    context: str
    skill: float | None
    without: float | None
    error: float
    tables: Mapping[str, float]
    verdict: str
    words: str


@dataclass(frozen=True)
class ContextHelp(Answer):
    """Which contexts of an embedding help to predict hidden cells.

    Attributes
    ----------
    file : str or None
        The embedding; None if it was given in Python.
    cells : int
        Number of hidden cells.
    skills : mapping of str to float
        Skill for the hidden cells of each table with all contexts.
    contexts : tuple of LeftOutContext
        The same without each of the contexts; empty if nothing can be measured.
    reason : str
        What was measured, or why nothing was.
    """

    file: str | None
    cells: int
    skills: Mapping[str, float]
    contexts: tuple[LeftOutContext, ...]
    reason: str

    def __str__(self) -> str:
        """The answer in words, a line for each context."""
        return "\n".join([self.reason, *(each.words for each in self.contexts)])


@dataclass(frozen=True)
class Evaluation(Answer):
    """Zero-shot accuracy of an embedding on the user's own images.

    Attributes
    ----------
    file : str
        The embedding.
    features : str
        The features of the images.
    images : int
        Number of images.
    seen, unseen : int
        Numbers of classes.
    splits : int
        Number of splits of the classes.
    source : str
        Where the splits come from, in words.
    left_out : tuple of str
        Classes of the images that are no labels of the embedding.
    chance : float
        Accuracy of a random answer.
    classifiers : tuple of mapping
        Means over the splits, by the names of `phcle.uses.zero_shot.evaluate`.
    """

    file: str
    features: str
    images: int
    seen: int
    unseen: int
    splits: int
    source: str
    left_out: tuple[str, ...]
    chance: float
    classifiers: tuple[Mapping[str, Any], ...]
