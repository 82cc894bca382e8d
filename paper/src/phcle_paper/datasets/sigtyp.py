"""SIGTYP 2020: features of languages from WALS, with genus, family and place.

Train, development and test languages form one table. What the test asks for is unknown
in it; `read_gold` reads the answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phcle.errors import FileError
from phcle.files.text import read_lines
from phcle_paper.datasets.near_places import nearest_places
from phcle_paper.datasets.patchy_table import CATEGORY, Field, Floats, Mask, PatchyTable
from phcle_paper.datasets.releases import SIGTYP

__all__ = ["Sigtyp", "load_sigtyp", "read_gold"]

ASKED = "?"
FILES = ("train.csv", "dev.csv", "test_blinded.csv")
SECOND_NAME = re.compile(r"\t(Word|Prefix)&NoDoubleNeg")
"""The second name of a value, after "no double negation" and a tab."""


@dataclass(frozen=True)
class Language:
    """One line of a file: values are texts such as "2 Strongly suffixing"."""

    code: str
    place: tuple[float, float]
    genus: str
    family: str
    features: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Sigtyp:
    """The table of all languages, which are for development, and what is asked."""

    table: PatchyTable
    is_dev: Mask  # (labels,)
    asked: Mask  # (labels, fields), of test languages


def load_sigtyp(folder: str | Path) -> Sigtyp:
    """All languages, below genus and family, and their ten nearest by distance.

    Parameters
    ----------
    folder : str or Path
        Folder of the data set.

    Returns
    -------
    Sigtyp
        The table, and which of its cells are for development and for the test.
    """
    folder = Path(folder)
    parts = [list(_languages(folder, name)) for name in FILES]
    languages = [language for part in parts for language in part]
    values = _values_of(languages)
    labels = tuple(x.code for x in languages)
    fields = tuple(Field(x, CATEGORY, tuple(v.values())) for x, v in values.items())
    edges: dict[tuple[str, str], None] = {}
    for x in languages:
        genus, family = f"genus {x.genus}", f"family {x.family}"
        edges |= {(x.code, genus): None, (genus, family): None}
    asked = [[x.features.get(y) == ASKED for y in values] for x in languages]
    table = PatchyTable(
        "features",
        labels,
        fields,
        np.array([_one_hot(x, fields) for x in languages]),
        tuple(edges),
        (nearest_places(labels, np.array([x.place for x in languages])),),
    )
    n_train, n_dev = len(parts[0]), len(parts[1])
    rows = np.arange(len(labels))
    is_dev = (rows >= n_train) & (rows < n_train + n_dev)
    return Sigtyp(table, is_dev, np.array(asked))


def read_gold(folder: str | Path, table: PatchyTable) -> Floats:
    """Values of the test languages: (labels, columns), NaN elsewhere.

    A value that no other language has is zero in all columns of its field.

    Parameters
    ----------
    folder : str or Path
        Folder of the data set.
    table : PatchyTable
        The table of `load_sigtyp`.

    Returns
    -------
    array
        The answers of the test.
    """
    found = np.full(table.values.shape, np.nan)
    position = {label: i for i, label in enumerate(table.labels)}
    for language in _languages(Path(folder), "test_gold.csv"):
        found[position[language.code]] = _one_hot(language, table.fields)
    return found


def _values_of(languages: list[Language]) -> dict[str, dict[int, str]]:
    """Texts of the values of each feature by their number, in order."""
    found: dict[str, dict[int, str]] = {}
    for language in languages:
        for feature, text in language.features.items():
            if text != ASKED:
                found.setdefault(feature, {}).setdefault(_number(text), text)
    return {x: dict(sorted(values.items())) for x, values in sorted(found.items())}


def _one_hot(language: Language, fields: tuple[Field, ...]) -> list[float]:
    """All columns of a language: 1 and 0 in features that are known."""
    row: list[float] = []
    for field in fields:
        text = language.features.get(field.title, ASKED)
        if text == ASKED:
            row += [math.nan] * len(field.values)
        else:
            row += [float(_number(x) == _number(text)) for x in field.values]
    return row


def _number(text: str) -> int:
    """The number that a value begins with; the words after it vary."""
    return int(text.split(maxsplit=1)[0])


def _languages(folder: Path, name: str) -> Iterator[Language]:
    """Languages of a file, with feature names in lower case."""
    path = SIGTYP.file(folder, name)
    for line, text in enumerate(read_lines(path), 1):
        if line == 1 or not text.strip():
            continue
        parts = SECOND_NAME.sub("", text).split("\t")
        try:
            code, _, latitude, longitude, genus, family, _, *pairs = parts
            # A missing separator shows as a further tab.
            features = dict(_pair(x) for part in pairs for x in part.split("|") if x)
            yield Language(
                code, (float(latitude), float(longitude)), genus, family, features
            )
        except ValueError as error:
            raise FileError(
                f"{path}, line {line}: must be code, name, latitude, longitude, genus, "
                f"family, countries and feature=value pairs. {SIGTYP.remedy}"
            ) from error


def _pair(text: str) -> tuple[str, str]:
    """Feature and value of `feature=value`; later signs belong to the value."""
    feature, sign, value = text.partition("=")
    if not sign or not re.match(r"\?|\d+\b", value):
        raise ValueError(text)
    return feature.strip().lower(), value.strip()
