"""Which labels lie near each other on the globe, as a context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from phcle.contexts import RelationalContext

__all__ = ["great_circle_km", "nearest_places"]

Floats = npt.NDArray[np.float64]

EARTH_KM = 6371.0
NEIGHBOURS = 10
REACH_KM = 500.0
"""Weight exp(−km/500): languages of one region count, those of another hardly do."""


def great_circle_km(places: Floats) -> Floats:
    """Distances between places given as latitude and longitude: (places,)²."""
    latitude, longitude = np.radians(places).T
    x = np.cos(latitude) * np.cos(longitude)
    y = np.cos(latitude) * np.sin(longitude)
    points = np.column_stack([x, y, np.sin(latitude)])
    return np.asarray(EARTH_KM * np.arccos(np.clip(points @ points.T, -1, 1)))


def nearest_places(
    labels: Sequence[str], places: Floats, *, name: str = "neighbours"
) -> RelationalContext:
    """Every label with its ten nearest, by weight of distance."""
    known = np.flatnonzero(~np.isnan(places).any(axis=1))
    distance = great_circle_km(places[known])
    np.fill_diagonal(distance, np.inf)
    n = min(NEIGHBOURS, len(known) - 1)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :n]
    weight = np.exp(-distance / REACH_KM)
    edges = [
        (labels[known[i]], labels[known[j]], float(weight[i, j]))
        for i in range(len(known))
        for j in nearest[i]
    ]
    return RelationalContext.from_edges(edges, name=name)
