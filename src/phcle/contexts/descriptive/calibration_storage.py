"""A calibration in the file of an embedding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phcle.contexts.descriptive.confidence import Calibration, Curves
from phcle.files.tensor_store import TensorStore

__all__ = ["pack_calibration", "unpack_calibration"]

CURVES = ("intercept", "slope", "low", "high", "tilt", "family")
CURVE_NUMBERS = ("widening", "least_support", "n_values")
"""Parts of a calibration's curves that a file stores as arrays, and as JSON."""


def pack_calibration(calibration: Calibration, store: TensorStore) -> dict[str, Any]:
    """Put a calibration into the store of a file.

    Parameters
    ----------
    calibration : Calibration
        The curves of a context.
    store : TensorStore
        Where to put its arrays.

    Returns
    -------
    dict
        Its numbers, which JSON can store.
    """
    store["presence"] = calibration.presence
    store["deviation"] = calibration.deviation
    packed = {}
    for name in ("gaps", "alone"):
        curves = getattr(calibration, name)
        store[name] = np.stack([getattr(curves, x) for x in CURVES])
        packed[name] = {x: getattr(curves, x) for x in CURVE_NUMBERS}
    return packed


def unpack_calibration(packed: Mapping[str, Any], store: TensorStore) -> Calibration:
    """Make the calibration that a file stores.

    Parameters
    ----------
    packed : mapping
        What `pack_calibration` returned.
    store : TensorStore
        Its arrays.

    Returns
    -------
    Calibration
        The calibration, not checked yet.
    """
    presence, deviation = store["presence"], store["deviation"]
    found = []
    for name in ("gaps", "alone"):
        arrays, numbers = store[name], packed[name]
        if "tilt" in numbers:  # older files have one factor for all columns
            tilt = np.full(len(presence), float(numbers["tilt"]))
            arrays = np.vstack([arrays, tilt, np.zeros(len(presence))])
        found.append(Curves(*arrays, **{x: numbers[x] for x in CURVE_NUMBERS}))
    return Calibration(presence, deviation, *found)
