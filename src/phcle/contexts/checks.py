"""Checks of numbers that come from a file, whose checksum anybody can compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from phcle.errors import ContextError

__all__ = ["check_array", "check_number"]


def check_array(value: Any, shape: tuple[int, ...], what: str) -> None:
    """Refuse an array of another shape, or with anything but finite numbers.

    Parameters
    ----------
    value : array
        What came from the file.
    shape : tuple of int
        The shape it must have.
    what : str
        Its name in the error message.
    """
    if value.shape != shape or value.dtype.kind not in "fiu":
        raise ContextError(f"{what} must be numbers of shape {shape}")
    if not np.isfinite(value).all():
        raise ContextError(f"{what} must be finite")


def check_number(value: Any, what: str, *, most: float = 1e30) -> None:
    """Refuse what is not a number, or is too large to compute with; NaN passes.

    Parameters
    ----------
    value : object
        What came from the file.
    what : str
        Its name in the error message.
    most : float
        Largest absolute value allowed.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ContextError(f"{what} must be a number")
    if abs(value) > most:
        raise ContextError(f"{what} must be a number of usual size")
