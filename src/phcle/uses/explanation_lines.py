"""The lines of an explanation for people, with numbers that add up as they are shown.

Parts are rounded so that the columns of a group add up to the group, groups to their
context, and contexts to the similarity. The command line, the report and the explorer
show these lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phcle.answers import ExplainedContext, ExplainedGroup, ExplanationLine

DIGITS = 3
"""Decimals of the parts. Parts of single columns are often below 0.01."""

VISIBLE = 0.5 * 10**-DIGITS
"""Smaller parts show as zero."""


def explanation_lines(
    similarity: float, parts: Sequence[ExplainedContext], rest: float
) -> tuple[ExplanationLine, ...]:
    """Make the lines of an explanation.

    Parameters
    ----------
    similarity : float
        The cosine that is explained.
    parts : sequence of ExplainedContext
        The contribution of each context.
    rest : float
        The similarity minus the sum of the parts.

    Returns
    -------
    tuple of ExplanationLine
        One line for each group of each context that does not show as zero, and the
        rounding error if it shows.
    """
    total = round(similarity * 10**DIGITS)
    *units, unexplained = _rounded([*(x.part for x in parts), rest], total)
    lines = []
    for part, unit in zip(parts, units, strict=True):
        own = _rounded([group.part for group in part.groups], unit)
        below = [
            (_shown(own_unit), group.words, _columns(group, own_unit))
            for group, own_unit in zip(part.groups, own, strict=True)
            if own_unit or any(abs(x.part) >= VISIBLE for x in group.columns)
        ]
        first = _shown(unit), part.context
        unnamed = "", "" if part.part else "knows neither", ()
        for shown, words, columns in below or [unnamed]:
            lines.append(ExplanationLine(*first, shown, words, columns))
            first = "", ""
    if unexplained:
        lines.append(ExplanationLine(_shown(unexplained), "rounding"))
    return tuple(lines)


def shown_percentile(percentile: float) -> str:
    """Write a percentile, with more digits where they matter.

    Parameters
    ----------
    percentile : float
        Share of pairs that are less similar, in percent.

    Returns
    -------
    str
        Whole percents; from 99 % on tenths, and 99.9 % at most.

    Examples
    --------
    >>> [shown_percentile(x) for x in (3.4, 98.7, 99.62, 100.0)]
    ['3 %', '98 %', '99.6 %', '99.9 %']
    """
    if percentile < 99:
        return f"{int(percentile)} %"
    return f"{min(int(10 * percentile) / 10, 99.9)} %"


def _columns(group: ExplainedGroup, unit: int) -> tuple[str, ...]:
    """The columns of a group that show, and the rest of it; they add up to `unit`."""
    named = [x for x in group.columns if abs(x.part) >= VISIBLE]
    if not named and group.group.startswith("both"):
        named = list(group.columns)  # what both have is of interest even so
    if not named:
        noun = "relative" if group.group.startswith("relatives") else "column"
        if group.group == "both":  # nodes above most labels, which have no names here
            noun = "general column"
        return (f"{group.size:,} {noun}" + "s" * (group.size > 1),)
    names = [x.name for x in named]
    parts = [x.part for x in named]
    n_others = group.size - len(named)
    if n_others:
        names.append(f"… and {n_others:,} other" + "s" * (n_others > 1))
        parts.append(group.part - sum(parts))
    shown = map(_shown, _rounded(parts, unit))
    return tuple(f"{x} {y}" for x, y in zip(names, shown, strict=True))


def _rounded(parts: Sequence[float], total: int) -> list[int]:
    """Round parts to units so that they add up to the total.

    Each part is rounded down; those that lost most get the missing units. If parts do
    not add up to about the total, all of them change.
    """
    if not parts:
        return []
    exact = np.array(parts) * 10**DIGITS
    units = np.floor(exact)
    each, missing = divmod(total - int(units.sum()), len(parts))
    units += each
    units[np.argsort(units - exact, kind="stable")[:missing]] += 1
    return [int(unit) for unit in units]


def _shown(unit: int) -> str:
    return f"{unit / 10**DIGITS:+.{DIGITS}f}"
