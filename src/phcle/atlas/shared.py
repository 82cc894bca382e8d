"""What a set of labels shares, and what is odd in it.

Shared is what is common among these labels and rare among the others. Odd is a label
far from the middle of the set, and a cell that differs from nearly all others. Only
known cells count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phcle.arrays import AnyFloats, Ints
from phcle.atlas.opened import Opened, named
from phcle.embedding.cell_texts import number_text
from phcle.embedding.columns import Column

Finding = tuple[float, dict[str, Any]]
"""How clear something is, and the values for JSON."""

OddCell = tuple[float, int, str, str]
"""How clear it is, the position of its label, its value, and the usual one."""

MOST_SHARED = 12
MOST_ODD = 8

MOST_LOOKED_AT = 5_000
"""Labels inside the set, and outside, that are looked at; of more, evenly spaced ones:
enough to compare shares."""

FEWEST = 3
"""Known labels of a set below which nothing is said to be shared or odd."""

SURE = 2.5
"""Shared is a difference of this many standard errors at least."""

COMMON = 0.5
"""Shared is what at least this share of the set's labels has."""

NEARLY_ALL = 0.8
"""A cell is odd if at least this share of the set's labels has one other value."""

FAR = 3.0
"""A number is odd if it is further from the set's median than this many of its usual
distances; a label is, if it is that much further from the middle than others."""


def typical_first(opened: Opened, rows: Ints) -> tuple[AnyFloats, Ints]:
    """Compare labels with the middle of a set of them.

    Parameters
    ----------
    opened : Opened
        The embedding.
    rows : array of int
        Rows of the labels.

    Returns
    -------
    tuple of two arrays of shape (rows,)
        Cosines of the labels with their mean, and their order, nearest first.
    """
    units = np.asarray(opened.embedding.unit_vectors[rows], np.float32)
    middle = units.mean(axis=0)
    middle /= float(np.linalg.norm(middle)) or 1.0
    nearness = units @ middle
    return nearness, np.argsort(-nearness, kind="stable")


def shared_by(opened: Opened, rows: Ints) -> dict[str, Any]:
    """Say what labels share, and what is odd among them.

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
    odd: list[Finding] = []
    for table in embedding.tables.values():
        context = table.context
        if not context.can_be_completed or not context.labels:
            continue
        own_read, other_read = table.read(inside), table.read(outside)
        for field in context.fields:
            own, other = own_read.column(field), other_read.column(field)
            if own.is_observed.sum() < FEWEST:
                continue
            see = _numbers if own.is_number else _values
            common, cells = see(own, other)
            shared += common
            for clarity, at, value, usual in cells:
                whose = named(opened, embedding.labels[inside[at]])
                cell = {"context": own.context, "column": own.title}
                odd.append((clarity, {**whose, **cell, "value": value, "usual": usual}))
    return {
        "n": len(rows),
        "shared": _best(shared, MOST_SHARED),
        "odd_labels": _odd_labels(opened, rows),
        "odd_cells": _best(odd, MOST_ODD),
    }


def _best(found: list[Finding], most: int) -> list[dict[str, Any]]:
    """The clearest findings."""
    return [x for _, x in sorted(found, key=lambda x: -x[0])[:most]]


def _odd_labels(opened: Opened, rows: Ints) -> list[dict[str, Any]]:
    """Labels that are much further from the middle than most."""
    if len(rows) <= FEWEST:
        return []
    nearness, order = typical_first(opened, rows)
    usual = float(np.median(nearness))
    spread = float(np.median(np.abs(nearness - usual)))
    furthest = order[::-1][:MOST_ODD]
    far = furthest[nearness[furthest] < usual - FAR * max(spread, 1e-3)]
    labels = [opened.embedding.labels[i] for i in rows[far].tolist()]
    return [
        {**named(opened, label), "similarity": float(nearness[i]), "usual": usual}
        for i, label in zip(far, labels, strict=True)
    ]


def _sampled(rows: Ints) -> Ints:
    """Not too many of the rows."""
    return rows[:: -(-len(rows) // MOST_LOOKED_AT) or 1]


def _values(own: Column, other: Column) -> tuple[list[Finding], list[OddCell]]:
    """Values that are common inside and rare outside, and the cells without them."""
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
    shared = [
        (float(surprise[i]), _fact(own, names[i], inside[i], outside[i], n_in))
        for i in np.flatnonzero(is_common).tolist()
        if not is_tag or names[i] == "yes"
    ]
    cells = [
        (float(inside[i]), at, names[own.value[at]], names[i])
        for i in np.flatnonzero(inside >= NEARLY_ALL).tolist()
        if n_in > FEWEST and not is_tag
        for at in np.flatnonzero(own.is_observed & (own.value != i)).tolist()
    ]
    return shared, cells


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


def _numbers(own: Column, other: Column) -> tuple[list[Finding], list[OddCell]]:
    """Whether a number differs inside, and the cells that differ from the others."""
    to_user = np.exp if own.is_log else float
    with np.errstate(divide="ignore", invalid="ignore"):
        every, others = (
            np.where(x.is_observed, np.log(x.value) if own.is_log else x.value, np.nan)
            for x in (own, other)
        )
    places = np.flatnonzero(np.isfinite(every))
    values, others = every[places], others[np.isfinite(others)]
    found: list[Finding] = []
    if min(len(values), len(others)) >= FEWEST:
        apart = values.mean() - others.mean()
        error = np.sqrt(values.var() / len(values) + others.var() / len(others))
        clarity = abs(float(apart / (error or 1.0)))
        # Much more than chance, and also much: half the spread of all labels.
        if clarity > SURE and abs(apart) > 0.5 * float(others.std()):
            inside, outside = (float(to_user(x.mean())) for x in (values, others))
            value = f"{'about' if own.is_log else 'mean'} {number_text(inside)}"
            fact = _fact(own, value, inside, outside, len(values))
            found.append((clarity, fact))
    if len(values) <= 2 * FEWEST:
        return found, []
    middle = float(np.median(values))
    usual = 1.4826 * float(np.median(np.abs(values - middle)))
    far = np.abs(values - middle) / (usual or np.inf)
    texts = [number_text(float(to_user(x))) for x in (*values, middle)]
    cells = [
        (min(far[i] / (2 * FAR), 1.0), int(places[i]), texts[i], f"about {texts[-1]}")
        for i in np.flatnonzero(far > FAR).tolist()
    ]
    return found, cells
