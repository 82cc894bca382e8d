"""Grambank: yes-or-no features of languages, with lineage and place."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from phcle.errors import FileError
from phcle_paper.datasets.near_places import nearest_places
from phcle_paper.datasets.patchy_table import (
    TRUTH,
    Field,
    PatchyTable,
    numbers_of,
    read_cells,
)
from phcle_paper.datasets.releases import GRAMBANK

__all__ = ["load_grambank"]

LABEL, LINEAGE, PLACE = "language_id", "lineage", ("latitude", "longitude")


def load_grambank(folder: str | Path) -> PatchyTable:
    """Languages with their features, below their lineage, and the nearest languages.

    A language without relatives has no lineage.

    Parameters
    ----------
    folder : str or Path
        Folder of the data set.

    Returns
    -------
    PatchyTable
        Features of the languages, 0 or 1.
    """
    folder = Path(folder)
    rows = read_cells(GRAMBANK, folder, "features.csv", needs=[LABEL])
    features = [column for column in rows[0] if column != LABEL]
    languages = read_cells(
        GRAMBANK, folder, "languages.csv", needs=[LABEL, LINEAGE, *PLACE]
    )
    labels = tuple(row[LABEL] for row in rows)
    if labels != tuple(row[LABEL] for row in languages):
        raise FileError(
            f"{folder / 'languages.csv'}: must have the languages of features.csv, in "
            f"their order. {GRAMBANK.remedy}"
        )
    edges: dict[tuple[str, str], None] = {}
    for row in languages:
        groups = [x.strip() for x in row[LINEAGE].split(",") if x.strip()]
        nodes = [row[LABEL], *reversed(groups)]
        edges |= dict.fromkeys(pairwise(nodes))
    places = numbers_of(languages, PLACE, folder / "languages.csv")
    return PatchyTable(
        "features",
        labels,
        tuple(Field(feature, TRUTH) for feature in features),
        numbers_of(rows, features, folder / "features.csv"),
        tuple(edges),
        (nearest_places(labels, places),),
    )
