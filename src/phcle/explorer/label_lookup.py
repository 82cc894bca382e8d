"""Find labels by what was typed, and put them into the order of the alphabet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from phcle.contexts.labels import normal
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import UnknownLabelError, some
from phcle.explorer.label_suggestions import Suggestions

__all__ = ["LabelLookup", "LabelNotFound"]

MOST_SUGGESTED = 20
"""Labels of one name that a page lists."""


class LabelNotFound(UnknownLabelError):
    """A text that names no label, or several.

    Parameters
    ----------
    message : str
        What went wrong.
    text : str
        The text.
    near : tuple of str
        Labels that may be meant.
    """

    def __init__(self, message: str, text: str, near: tuple[str, ...]) -> None:
        super().__init__(message)
        self.text = text
        self.near = near


class LabelLookup:
    """Labels by id and name.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    """

    def __init__(self, embedding: LabelEmbedding) -> None:
        self.embedding = embedding

    def resolve(self, text: str) -> str:
        """Find a label by id or name.

        Parameters
        ----------
        text : str
            An id or a readable name.

        Returns
        -------
        str
            The id.

        Raises
        ------
        LabelNotFound
            If no label or several labels match; it suggests others.
        """
        if text in self.embedding:
            return normal(text)
        labels = self.embedding.labels
        # Faster than LabelEmbedding.resolve, which compares with every label.
        found = [labels[i] for i in self.suggestions.exactly(text)]
        if len(found) == 1:
            return found[0]
        if found:
            raise LabelNotFound(
                f"{text!r} is the name of {len(found)} labels: {some(found)}; "
                "use the id.",
                text,
                tuple(found[:MOST_SUGGESTED]),
            )
        near = tuple(labels[i] for i in self.suggestions.find(text, 3))
        alike = [self.embedding.name_of(label) for label in near]
        hint = f" Did you mean {' or '.join(map(repr, alike))}?" if alike else ""
        raise LabelNotFound(f"no label {text!r} in this embedding.{hint}", text, near)

    @cached_property
    def suggestions(self) -> Suggestions:
        """Search for labels by id or name."""
        labels = self.embedding.labels
        names = [self.embedding.name_of(x) for x in labels]
        return Suggestions(labels, names, self.embedding.spellings)

    @cached_property
    def by_name(self) -> npt.NDArray[np.int32]:
        """Rows of all labels in the alphabet of names."""
        return _sorted([self.embedding.name_of(x) for x in self.embedding.labels])

    @cached_property
    def by_id(self) -> npt.NDArray[np.int32]:
        """Rows of all labels in the alphabet of ids."""
        return _sorted(self.embedding.labels)


def _sorted(texts: Sequence[str]) -> npt.NDArray[np.int32]:
    """Positions of texts in the alphabet; numbers inside them count as numbers."""
    keys = [_alphabetical(text) for text in texts]
    return np.array(sorted(range(len(texts)), key=keys.__getitem__), np.int32)


def _alphabetical(text: str) -> str:
    """A text that sorts as people expect: "thing 9" before "thing 10"."""
    lower = text.casefold()
    return re.sub(r"\d+", lambda x: x[0].zfill(12), lower)
