"""Labels are text: how whatever a user gives becomes a checked tuple of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from phcle.errors import ContextError, some

__all__ = ["as_label", "as_labels", "index_of", "is_missing"]


def as_label(value: Any, where: str, what: str = "label") -> str:
    """Return one label as text; whole numbers are taken, nothing else is guessed.

    >>> as_label(7, "row 1")
    '7'
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    if is_missing(value):
        raise ContextError(
            f"{where}: the {what} is empty; fill it in, or remove the row."
        )
    if not isinstance(value, str):
        raise ContextError(
            f"{where}: a {what} must be text or a whole number. Got {value!r} instead."
        )
    return str(value).strip()  # a plain str also where NumPy's own text type came


def as_labels(values: Iterable[Any], where: str) -> tuple[str, ...]:
    """Return labels as a tuple of distinct names, or name the ones that repeat."""
    if isinstance(values, str):
        raise ContextError(
            f"{where}: a list of labels is needed. Got the text {values!r} instead."
        )
    labels = tuple(
        as_label(value, f"{where}, position {i}") for i, value in enumerate(values, 1)
    )
    if len(set(labels)) < len(labels):
        repeated = [name for name, count in Counter(labels).items() if count > 1]
        raise ContextError(
            f"{where}: every label must occur once, but {some(repeated)} "
            "occur more often; merge or remove the extra rows."
        )
    return labels


def is_missing(value: Any) -> bool:
    """Whether a cell says nothing: None, NaN, pandas' NA, or blank text."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def index_of(labels: Iterable[str]) -> dict[str, int]:
    """Map each label to its position."""
    return {label: position for position, label in enumerate(labels)}
