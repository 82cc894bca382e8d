"""What a set of labels shares: what is common among them and rare among the others.

Only known cells count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phcle.arrays import Ints
from phcle.atlas.opened import Opened
from phcle.embedding.cell_texts import number_text
from phcle.embedding.columns import Column

Finding = tuple[float, dict[str, Any]]
"""How clear something is, and the values for JSON."""

MOST_SHARED = 12

MOST_LOOKED_AT = 5_000
"""Labels inside the set, and outside, that are looked at; of more, evenly spaced ones:
enough to compare shares."""

FEWEST = 3
"""Known labels of a set below which nothing is said to be shared."""

SURE = 2.5
"""Shared is a difference of this many standard errors at least."""

COMMON = 0.5
"""Shared is what at least this share of the set's labels has."""


def shared_by(opened: Opened, rows: Ints) -> dict[str, Any]:
    """Say what labels share.

    Parameters
    ----------
    opened : Opened
        The embedding.
    rows : array of int
        Rows of the labels.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding = opened.embedding
    others = np.setdiff1d(np.arange(len(embedding)), rows)
    inside, outside = _sampled(rows), _sampled(others)
    shared: list[Finding] = []
    for table in embedding.tables.values():
        context = table.context
        if not context.can_be_completed or not context.labels:
            continue
        own_read, other_read = table.read(inside), table.read(outside)
        for field in context.fields:
            own, other = own_read.column(field), other_read.column(field)
            if own.is_observed.sum() < FEWEST:
                continue
            shared += (_numbers if own.is_number else _values)(own, other)
    clearest = sorted(shared, key=lambda x: -x[0])[:MOST_SHARED]
    return {"n": len(rows), "shared": [x for _, x in clearest]}


def _sampled(rows: Ints) -> Ints:
    """Not too many of the rows."""
    return rows[:: -(-len(rows) // MOST_LOOKED_AT) or 1]


def _values(own: Column, other: Column) -> list[Finding]:
    """Values that are common inside and rare outside."""
    is_tag, names = own.kind == "tag", own.values
    n_in, n_out = (max(int(x.is_observed.sum()), 1) for x in (own, other))
    inside, outside = (
        np.bincount(x.value[x.is_observed], minlength=len(names)) / n
        for x, n in ((own, n_in), (other, n_out))
    )
    both = (n_in * inside + n_out * outside) / (n_in + n_out)
    error = np.sqrt(both * (1 - both) * (1 / n_in + 1 / n_out))
    # The difference of the shares in standard errors.
    surprise = (inside - outside) / np.where(error > 0, error, np.inf)
    is_common = (surprise > SURE) & (inside >= COMMON)
    return [
        (float(surprise[i]), _fact(own, names[i], inside[i], outside[i], n_in))
        for i in np.flatnonzero(is_common).tolist()
        if not is_tag or names[i] == "yes"
    ]


def _fact(
    column: Column, value: str, inside: float, outside: float, n_known: int
) -> dict[str, Any]:
    """What labels share in a column, for the page."""
    return {
        "context": column.context,
        "column": column.title,
        "value": value,
        "inside": float(inside),
        "outside": float(outside),
        "n_known": n_known,
        "is_number": column.is_number,
    }


def _numbers(own: Column, other: Column) -> list[Finding]:
    """Whether a number differs inside."""
    to_user = np.exp if own.is_log else float
    with np.errstate(divide="ignore", invalid="ignore"):
        values, others = (
            np.log(x.value[x.is_observed]) if own.is_log else x.value[x.is_observed]
            for x in (own, other)
        )
    values, others = values[np.isfinite(values)], others[np.isfinite(others)]
    if min(len(values), len(others)) < FEWEST:
        return []
    apart = values.mean() - others.mean()
    error = np.sqrt(values.var() / len(values) + others.var() / len(others))
    clarity = abs(float(apart / (error or 1.0)))
    # Much more than chance, and also much: half the spread of all labels.
    if clarity <= SURE or abs(apart) <= 0.5 * float(others.std()):
        return []
    inside, outside = (float(to_user(x.mean())) for x in (values, others))
    value = f"{'about' if own.is_log else 'mean'} {number_text(inside)}"
    return [(clarity, _fact(own, value, inside, outside, len(values)))]
