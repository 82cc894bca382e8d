"""LAD: 230 classes in five groups, each group with attributes of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.errors import FileError
from phcle.files.text import read_lines
from phcle_paper.datasets.classes import ClassAttributes, readable_name
from phcle_paper.datasets.releases import LAD

__all__ = ["load_lad"]

# The letter in an id (`Label_A_01`, `Attr_A_001`): the group, and where it lies in
# WordNet. A hair style has no place there.
GROUPS: dict[str, tuple[str, str | None]] = {
    "A": ("animals", "n00015388"),  # animal
    "F": ("fruits", "n07705711"),  # produce
    "V": ("vehicles", "n00021939"),  # artifact
    "E": ("electronics", "n00021939"),  # artifact
    "H": ("hairstyles", None),
}
# LAD's switch joins networks, WordNet's turns on the light.
FALSE_FRIENDS = ("switch",)


@dataclass(frozen=True)
class _Row:
    """An id, its group, and what follows it on the line."""

    id: str
    group: str
    rest: str


def load_lad(folder: str | Path) -> ClassAttributes:
    """Class attributes with English names; `splits` are the five groups.

    A class is annotated with the attributes of its own group. The file has zeros for
    those of other groups, which nobody looked at: they are unknown here. Attributes of
    the same name in several groups (`color: is black`) are one column.
    """
    folder = Path(folder)
    classes = _read(folder, "label_list.txt", "Label", _english)
    listed = _read(folder, "attribute_list.txt", "Attr", _english)
    rows = _read(folder, "attributes_per_class.txt", "Label", lambda rest: rest)
    path = folder / "attributes_per_class.txt"
    if [row.id for row in rows] != [row.id for row in classes]:
        raise FileError(
            f"{path}: must have the {len(classes)} ids of label_list.txt, in that "
            f"order. Got {len(rows)} lines of others. {LAD.remedy}"
        )
    names = [readable_name(row.rest) for row in classes]
    columns = tuple(dict.fromkeys(row.rest for row in listed))
    position = {column: i for i, column in enumerate(columns)}
    values = np.full((len(classes), len(columns)), np.nan)
    groups = np.array([row.group for row in listed])
    target = np.array([position[row.rest] for row in listed])
    for i, row in enumerate(rows):
        own = groups == row.group
        values[i, target[own]] = _numbers(row, len(listed), path)[own]
    return ClassAttributes(
        attributes=DescriptiveContext("LAD", tuple(names), columns, values),
        splits={
            title: tuple(
                name
                for name, row in zip(names, classes, strict=True)
                if row.group == letter
            )
            for letter, (title, _) in GROUPS.items()
        },
    )


def _read(
    folder: Path, name: str, prefix: str, rest: Callable[[str], str]
) -> list[_Row]:
    """Lines of `<prefix>_<group>_<number>, <rest>`."""
    path = LAD.file(folder, name)
    found: list[_Row] = []
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip():
            continue
        match = re.fullmatch(rf"\s*({prefix}_([A-Z])_\d+),\s*(\S.*?)\s*", text)
        if match is None or match[2] not in GROUPS:
            raise FileError(
                f"{path}, line {line}: must start with an id such as {prefix}_A_01 "
                f"and a comma. Got {text[:40]!r} instead. {LAD.remedy}"
            )
        found.append(_Row(match[1], match[2], rest(match[3])))
    if not found:
        raise FileError(f"{path}: is empty. {LAD.remedy}")
    return found


def _english(rest: str) -> str:
    """The first of the names; the second is Chinese."""
    return rest.rsplit(",", 1)[0].strip()


def _numbers(row: _Row, n: int, path: Path) -> npt.NDArray[np.float64]:
    """The shares of a class, between brackets."""
    try:
        numbers = np.array(row.rest.strip("[]").split(), dtype=np.float64)
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != n or not np.isfinite(numbers).all():
        raise FileError(
            f"{path}: the line of {row.id} must have {n} finite numbers in brackets, "
            f"one for each line of attribute_list.txt. Got {row.rest[:40]!r}. "
            f"{LAD.remedy}"
        )
    return numbers
