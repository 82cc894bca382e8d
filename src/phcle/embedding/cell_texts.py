"""Values as texts: numbers with sensible digits, truth values as words."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

DIGITS = 3
"""Significant digits of predicted numbers. An interval is seldom narrower than 1 %."""


def number_text(number: float, digits: int = DIGITS) -> str:
    """Write a number with few significant digits and without an exponent.

    Parameters
    ----------
    number : float
        The number.
    digits : int, default 3
        Significant digits; digits before the point are never rounded away.

    Returns
    -------
    str
        The text. Numbers above 10¹⁵ or below 10⁻⁶ have an exponent.

    Examples
    --------
    >>> number_text(605.57), number_text(0.012345), number_text(1234567.8)
    ('606', '0.0123', '1234568')
    """
    size = abs(number)
    if not math.isfinite(number) or (size and not 1e-6 <= size < 1e15):
        return f"{number:.{digits}g}"
    digits = max(digits, len(str(int(size))))
    return np.format_float_positional(number + 0.0, digits, fractional=False, trim="-")


def interval_text(low: float | None, high: float | None) -> str:
    """Write the interval of a number.

    Parameters
    ----------
    low, high : float or None
        Ends of the interval; None if there is none.

    Returns
    -------
    str
        The text; nothing without an interval.

    Examples
    --------
    >>> interval_text(119.8, 610)
    '120 to 610'
    """
    if low is None or high is None:
        return ""
    return f"{number_text(low)} to {number_text(high)}"


def value_text(value: float | bool | str | None) -> str:
    """Write the value of a cell.

    Parameters
    ----------
    value : float, bool, str or None
        The value; None is unknown.

    Returns
    -------
    str
        A number with few digits, "yes" or "no", the value of a category, or nothing.

    Examples
    --------
    >>> value_text(True), value_text(2.0), value_text("red"), value_text(None)
    ('yes', '2', 'red', '')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value)


def probabilities_text(probabilities: Mapping[str, float] | None) -> str:
    """Write the probabilities of all values, the largest first.

    Parameters
    ----------
    probabilities : mapping from str to float, or None
        Probabilities by value.

    Returns
    -------
    str
        The values with their probabilities; nothing without any.

    Examples
    --------
    >>> probabilities_text({"large": 0.3, "small": 0.62, "tiny": 0.08})
    'small 0.620; large 0.300; tiny 0.080'
    """
    if probabilities is None:
        return ""
    order = sorted(probabilities.items(), key=lambda x: -x[1])
    return "; ".join(f"{value} {chance:.3f}" for value, chance in order)
