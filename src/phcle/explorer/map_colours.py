"""The data of the map, coloured by branch, contexts, cluster or any attribute."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.encoders import Field
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.columns import Column
from phcle.embedding.describe import attribute_chances, table_called
from phcle.explorer.answers import MapColouring, Shade
from phcle.explorer.assets import StoredContent, stored_json
from phcle.explorer.opened_embedding import Opened
from phcle.explorer.workspace import Workspace
from phcle.report.map_data import CLUSTER, MOST_GROUPS, colourings, map_data, packed
from phcle.report.map_layout import Layout

N_NEAR = 5
"""Neighbours of each label that are sent with the map."""

# Observed is solid, predicted is faint.
TAG_SHADES: tuple[Shade, ...] = (
    Shade(5, False),
    Shade(5, True),
    Shade(None, False),
    Shade(None, True),
)

MOST_VALUES = 60
"""Values of a category up to which all are coloured; with more, the one asked for."""

ENDS = (0.02, 0.98)
"""Quantiles of the observed values at the ends of a scale: a single huge value would
leave one colour for all others."""


class MapFile:
    """The map as JSON: a first sketch, and the final map once it is computed.

    Parameters
    ----------
    opened : Opened
        The embedding.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._kept: dict[bool, StoredContent] = {}
        self._lock = threading.Lock()

    def content(self) -> StoredContent:
        """Get the map as it is now; each version is made and compressed once.

        Returns
        -------
        StoredContent
            JSON.
        """
        is_ready = self._opened.background.result is not None
        with self._lock:
            if is_ready not in self._kept:
                made = stored_json(map_values(self._opened, self._opened.places))
                self._kept = {is_ready: made}  # the sketch is not asked for again
            return self._kept[is_ready]


def map_values(opened: Opened, places: npt.NDArray[np.float32]) -> dict[str, Any]:
    """Collect what the map shows.

    Parameters
    ----------
    opened : Opened
        The embedding.
    places : array of shape (labels, 2)
        Places of the labels, from −1 to 1.

    Returns
    -------
    dict
        Values for the JSON of a `MapData`.
    """
    found = opened.background.result
    ways = colourings(opened.embedding, opened.branches)
    if found is None:
        near = np.zeros((len(opened.embedding), 0), np.int64)
        method = "principal components, until a better map is ready"
    else:
        near, method = found.table.rows[:, :N_NEAR].astype(np.int64), found.method
        groups = [*found.cluster_names, "other"]
        ways.insert(
            opened.branches is not None,
            {"title": CLUSTER, "groups": groups, "codes": found.clusters},
        )
    whole = map_data(opened.embedding, Layout(places, near, method), ways)
    return whole | {"method": method, "ready": found is not None}


def difference_colouring(workspace: Workspace) -> MapColouring | None:
    """Colour labels by how many neighbours two embeddings share.

    Parameters
    ----------
    workspace : Workspace
        The embeddings.

    Returns
    -------
    MapColouring or None
        Shares from 0 to 1; None until the background work is done.
    """
    found = workspace.differences()
    if found is None:
        return None
    share = dict(zip(found.labels, found.shared, strict=True))
    shown = workspace.opened.on_map.embedding
    values = [share.get(label, np.nan) for label in shown.labels]
    return MapColouring(
        f"neighbours shared with {workspace.compared.title}",
        values=packed(values, "f4"),
        low=0.0,
        high=1.0,
    )


def attribute_colouring(opened: Opened, context: str, column: str) -> MapColouring:
    """Colour labels by one attribute, observed or predicted.

    Parameters
    ----------
    opened : Opened
        The embedding.
    context, column : str
        The attribute.

    Returns
    -------
    MapColouring
        Whether labels have it, for tags and truth values; the values of a category; a
        scale, for numbers.
    """
    table = table_called(opened.embedding, context)
    own, field = table.context, table.context.field_of(column)
    if field.kind == "category" and len(field.values) <= MOST_VALUES:
        return _category_colouring(opened, own, field, column)
    plain = MapColouring(f"{context}: {column}", context=context, column=column)
    if field.kind == "number":
        numbers = table.column(field.title)
        known = numbers.value[numbers.is_observed]
        low, high = np.quantile(known, ENDS) if known.size else (0.0, 1.0)
        return replace(
            plain,
            is_known=packed(numbers.is_observed, "u1"),
            confidence=packed(255 * _sure_numbers(numbers, own), "u1"),
            values=packed(numbers.value, "f4"),
            low=float(low),
            high=float(high),
            is_log=not np.isnan(own.log_shift[field.at.start]) and low > 0,
        )
    found = attribute_chances(table, column)
    sure = np.where(found.is_observed, 1.0, np.abs(2 * found.chance - 1))
    codes = np.where(found.is_clear, 1, 3)
    codes[found.is_observed] = np.where(found.chance[found.is_observed] > 0.5, 0, 2)
    return replace(
        plain,
        is_known=packed(found.is_observed, "u1"),
        confidence=packed(255 * sure, "u1"),
        groups=("has it", "probably has it", "has it not", "unknown"),
        codes=packed(codes, "u1"),
        shades=TAG_SHADES,
    )


def _category_colouring(
    opened: Opened, own: DescriptiveContext, field: Field, column: str
) -> MapColouring:
    """Colour labels by the most probable value of a category."""
    found = opened.columns.get(own.name, field.title)
    n_values = len(field.values)
    counts = np.bincount(found.value[found.has_value], minlength=n_values)
    shown = np.argsort(-counts, kind="stable")[:MOST_GROUPS]
    rank = np.full(n_values + 1, len(shown))  # the last one has no value
    rank[shown] = np.arange(len(shown))
    sure = np.where(found.is_observed, 1.0, np.nan_to_num(found.confidence))
    return MapColouring(
        f"{own.name}: {field.title}",
        groups=(*(field.values[i] for i in shown), "other"),
        codes=packed(rank[found.value], "u1"),
        is_known=packed(found.is_observed, "u1"),
        confidence=packed(255 * sure, "u1"),
        context=own.name,
        column=column,
    )


def _sure_numbers(found: Column, own: DescriptiveContext) -> npt.NDArray[np.float64]:
    """How sure each number is, from 0 to 1; observed ones are sure."""
    known, low, high = found.value[found.is_observed], found.low, found.high
    shift = own.log_shift[found.field.at.start]
    if not np.isnan(shift):  # ratios count, and not differences
        known, low, high = (
            np.log(np.maximum(x + shift, 1e-30)) for x in (known, low, high)
        )
    # An interval as wide as that of all observed values says nothing.
    spread = np.diff(np.quantile(known, (0.1, 0.9)))[0] if known.size else 0.0
    width = high - low
    sure = 1 - np.divide(width, spread, out=np.ones_like(width), where=spread > 0)
    sure = np.nan_to_num(np.clip(sure, 0, 1))
    return np.where(found.is_observed, 1.0, sure)
