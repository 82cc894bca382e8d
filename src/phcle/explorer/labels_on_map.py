"""Where labels are on the map, and which of them pass filters."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phcle.answers import Answer, Named
from phcle.explorer.label_filters import Filter, rows_of
from phcle.explorer.opened_embedding import Opened

__all__ = ["FoundRows", "Place", "found_rows"]


@dataclass(frozen=True)
class FoundRows(Answer):
    """Labels that pass filters.

    Attributes
    ----------
    n, total : int
        Number of these labels, and of all.
    rows : str
        Their positions on the map, as unsigned 32-bit numbers, little endian, in
        base64. The map of a large embedding shows only some of them.
    """

    n: int
    total: int
    rows: str


@dataclass(frozen=True)
class Place(Named):
    """Where a label is on the map.

    Attributes
    ----------
    x, y : float
        The place.
    """

    x: float
    y: float


def found_rows(opened: Opened, filters: Sequence[Filter]) -> FoundRows:
    """Find the labels that pass filters, for the map.

    Parameters
    ----------
    opened : Opened
        The embedding.
    filters : sequence of Filter
        The filters.

    Returns
    -------
    FoundRows
        Their rows.
    """
    passes = rows_of(opened, filters)
    shown = passes if opened.sample is None else passes[opened.sample]
    rows = np.flatnonzero(shown).astype("<u4")
    packed = base64.b64encode(rows.tobytes()).decode()
    return FoundRows(int(passes.sum()), len(passes), packed)
