"""PanTHERIA: traits of mammals, with genus, family and order of every species."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from phcle_paper.datasets.patchy_table import (
    NUMBER,
    Field,
    PatchyTable,
    numbers_of,
    read_cells,
)
from phcle_paper.datasets.releases import PANTHERIA

__all__ = ["load_pantheria"]

LABEL, LEVELS = "species", ("Genus", "Family", "Order")


def load_pantheria(folder: str | Path) -> PatchyTable:
    """Species with their traits, below genus, family and order.

    Most traits are log-normal, so a trait whose values are all positive is in logs.

    Parameters
    ----------
    folder : str or Path
        Folder of the data set.

    Returns
    -------
    PatchyTable
        Traits of the species.
    """
    folder = Path(folder)
    rows = read_cells(PANTHERIA, folder, "traits.csv", needs=[LABEL])
    traits = [column for column in rows[0] if column != LABEL]
    values = numbers_of(rows, traits, folder / "traits.csv")
    positive = np.asarray(~(values <= 0).any(axis=0))
    values[:, positive] = np.log(values[:, positive])
    taxonomy = read_cells(PANTHERIA, folder, "taxonomy.csv", needs=[LABEL, *LEVELS])
    return PatchyTable(
        "traits",
        tuple(row[LABEL] for row in rows),
        tuple(
            Field(trait, NUMBER, is_log=bool(is_log))
            for trait, is_log in zip(traits, positive, strict=True)
        ),
        values,
        tuple(dict.fromkeys(x for row in taxonomy for x in _edges(row))),
    )


def _edges(row: dict[str, str]) -> list[tuple[str, str]]:
    """Edges from a species upwards; an order and a family may share a name."""
    nodes = [row[LABEL], *(f"{x.lower()} {row[x]}" for x in LEVELS if row[x])]
    return list(pairwise(nodes))
