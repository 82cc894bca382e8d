"""aPascal and aYahoo: objects in pictures, each with 64 attributes of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.errors import FileError, did_you_mean
from phcle.files import read_npy
from phcle_paper.datasets.classes import AnnotatedImages
from phcle_paper.datasets.releases import APY
from phcle_paper.reading import numbered_lines

__all__ = ["AnnotatedObjects", "load_apy", "load_apy_objects"]

PARTS = ("apascal_train", "apascal_test", "ayahoo_test")
FEATURES = "voc2008_objects.npy"
OBJECTS = "voc2008_objects.tsv"
OBJECT_ATTRIBUTES = "voc2008_attributes.npy"


@dataclass(frozen=True, eq=False)
class AnnotatedObjects:
    """Objects, one per row: the class and the attributes."""

    labels: npt.NDArray[np.str_]  # (objects,)
    attributes: npt.NDArray[np.uint8]  # (objects, attributes): 0 or 1
    columns: tuple[str, ...]  # names of the attributes
    classes: tuple[str, ...]  # in the order of the source

    def class_means(self, name: str = "attributes") -> DescriptiveContext:
        """For each class, the share of its objects that have an attribute."""
        present = tuple(x for x in self.classes if (self.labels == x).any())
        means = [self.attributes[self.labels == x].mean(axis=0) for x in present]
        return DescriptiveContext(name, present, self.columns, np.array(means))


def load_apy(folder: str | Path) -> AnnotatedObjects:
    """All annotated objects.

    `folder` holds `apascal_train.txt`, `apascal_test.txt`, `ayahoo_test.txt`,
    `attribute_names.txt` and `class_names.txt`, or has them in `attribute_data`.
    """
    folder = _annotations(Path(folder))
    columns, classes = (
        _names(folder, f"{x}_names.txt") for x in ("attribute", "class")
    )
    labels: list[str] = []
    numbers: list[list[int]] = []
    for part in PARTS:
        path = APY.file(folder, f"{part}.txt")
        for line, text in numbered_lines(path):
            where = f"{path}, line {line}"
            words = text.split()
            numbers.append(_numbers(words[2:], len(columns), where))
            label = words[1]
            if label not in classes:
                raise FileError(
                    f"{where}: {label!r} is not a class of class_names.txt."
                    f"{did_you_mean(label, classes)}"
                )
            labels.append(label)
    table = np.array(numbers, dtype=np.int64).reshape(-1, 4 + len(columns))
    return AnnotatedObjects(
        labels=np.array(labels),
        attributes=table[:, 4:].astype(np.uint8),
        columns=columns,
        classes=classes,
    )


def load_apy_objects(folder: str | Path) -> AnnotatedImages:
    """Features of single objects, with their own attributes.

    Reads `voc2008_objects.npy` (features), `voc2008_objects.tsv` (annotation file,
    picture, class, box) and `voc2008_attributes.npy`. The attributes of a class are the
    means over these objects.
    """
    folder = Path(folder)
    features = read_npy(APY.file(folder, FEATURES))
    attributes = read_npy(APY.file(folder, OBJECT_ATTRIBUTES))
    path = APY.file(folder, OBJECTS)
    rows = [(line, text.split("\t")) for line, text in numbered_lines(path)]
    for line, cells in rows:
        if len(cells) != 4:
            raise FileError(
                f"{path}, line {line}: must be annotation file, picture, class and "
                f"box, separated by tabs. Got {len(cells)} cells instead."
            )
    names = _names(_annotations(folder), "attribute_names.txt")
    if not len(rows) == len(features) == len(attributes):
        raise FileError(
            f"{folder}: {FEATURES}, {OBJECTS} and {OBJECT_ATTRIBUTES} must have one "
            f"row per object each. Got {len(features)}, {len(rows)} and "
            f"{len(attributes)} rows."
        )
    if attributes.shape[1] != len(names):
        raise FileError(
            f"{folder / OBJECT_ATTRIBUTES}: must have {len(names)} columns, one per "
            f"line of attribute_names.txt. Got {attributes.shape[1]} instead."
        )
    labels = np.array([cells[2] for _, cells in rows])
    classes = tuple(dict.fromkeys(labels.tolist()))
    means = [attributes[labels == x].mean(axis=0) for x in classes]
    return AnnotatedImages(
        name="aPY objects",
        features=features,
        labels=labels,
        attributes=DescriptiveContext("attributes", classes, names, np.array(means)),
        note="objects whose pictures are at hand: a part of aPascal",
        item_attributes=attributes.astype(np.float32),
    )


def _annotations(folder: Path) -> Path:
    """Where the annotation files are: in the folder, or one below."""
    below = folder / "attribute_data"
    return below if below.is_dir() else folder


def _names(folder: Path, name: str) -> tuple[str, ...]:
    """The lines of a file of names."""
    return tuple(text for _, text in numbered_lines(APY.file(folder, name)))


def _numbers(words: list[str], n_attributes: int, where: str) -> list[int]:
    """A box and the attributes of one object."""
    try:
        numbers: list[int] = np.array(words, dtype=np.int32).tolist()
    except (ValueError, OverflowError):
        numbers = []
    if len(numbers) != 4 + n_attributes or not {0, 1}.issuperset(numbers[4:]):
        raise FileError(
            f"{where}: must be a picture, a class, 4 numbers of a box and "
            f"{n_attributes} attributes of 0 or 1. Got {len(words)} words after the "
            f"class. {APY.remedy}"
        )
    return numbers
