"""Classes of a data set: attributes, readable names, and lists in text files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.errors import FileError, did_you_mean
from phcle.images import ImageData
from phcle_paper.reading import numbered_lines

__all__ = ["AnnotatedImages", "ClassAttributes", "read_class_list", "readable_name"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnnotatedImages(ImageData):
    """Features of images, with the attributes of their classes and the source."""

    attributes: DescriptiveContext
    note: str
    locations: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    item_attributes: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class ClassAttributes:
    """Attributes of classes without pictures, and the class lists of the source."""

    attributes: DescriptiveContext
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the source."""
        return self.attributes.labels


def readable_name(name: str) -> str:
    """A name with blanks in place of + and _.

    >>> readable_name("killer+whale")
    'killer whale'
    """
    return " ".join(name.replace("+", " ").replace("_", " ").split())


def read_class_list(path: Path, classes: Sequence[str]) -> tuple[str, ...]:
    """One class per line, all of which must be among `classes`."""
    names = tuple(readable_name(text) for _, text in numbered_lines(path))
    for name in names:
        if name not in classes:
            raise FileError(
                f"{path}: {name!r} is not a class of this data set."
                f"{did_you_mean(name, classes)}"
            )
    return names
