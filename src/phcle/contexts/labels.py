"""Labels are text: how whatever a user gives becomes a checked tuple of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from phcle.errors import ContextError, some

__all__ = ["as_label", "as_labels", "index_of"]


def as_label(value: Any, where: str) -> str:
    """Return one label as text; whole numbers are taken, nothing else is guessed.

    >>> as_label(7, "row 1")
    '7'
    """
    if isinstance(value, str):
        text = str(value).strip()
        if text:
            return text
        raise ContextError(f"{where}: a label is empty; give every row a label.")
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    raise ContextError(
        f"{where}: a label must be text or a whole number. Got {value!r} instead."
    )


def as_labels(values: Iterable[Any], where: str) -> tuple[str, ...]:
    """Return labels as a tuple of distinct names, or name the ones that repeat."""
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


def index_of(labels: Iterable[str]) -> dict[str, int]:
    """Map each label to its position."""
    return {label: position for position, label in enumerate(labels)}
