"""What a set of labels shares, and what is odd in it.

Shared is what is common among these labels and rare among the others. Odd is a label
far from the middle of the set, and a cell that differs from nearly all others. Only
known cells count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.atlas.columns import known_tags
from phcle.atlas.opened import Opened, named
from phcle.embedding.cell_texts import number_text
from phcle.embedding.columns import Column, Table

MOST_SHARED = 12
MOST_ODD = 8

MOST_LOOKED_AT = 20_000
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
    found = _Findings(opened, rows)
    return {
        "n": len(rows),
        "shared": _best(found.shared, MOST_SHARED),
        "odd_labels": _odd_labels(opened, rows),
        "odd_cells": _best(found.odd, MOST_ODD),
    }


def _best(found: list[tuple[float, dict[str, Any]]], most: int) -> list[dict[str, Any]]:
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


class _Findings:
    """What labels share, and the cells that differ, each with how clear it is."""

    def __init__(self, opened: Opened, rows: Ints) -> None:
        self.opened, self.embedding = opened, opened.embedding
        self.shared: list[tuple[float, dict[str, Any]]] = []
        self.odd: list[tuple[float, dict[str, Any]]] = []
        others = np.setdiff1d(np.arange(len(self.embedding)), rows)
        inside = _sampled(rows)
        self.rows = np.concatenate([inside, _sampled(others)])
        self.is_inside = np.arange(len(self.rows)) < len(inside)
        for table in self.embedding.tables.values():
            context = table.context
            if not context.can_be_completed or not context.labels:
                continue
            if context.fields and context.fields[0].kind == "tag":
                self._see_tags(table)
                continue
            for title in table.fields:
                column = table.column(title, self.rows)
                if (column.is_observed & self.is_inside).sum() < FEWEST:
                    continue
                if column.is_number:
                    self._see_numbers(column)
                else:
                    self._see_values(column)

    def _add_odd(
        self, clarity: float, column: Column, at: int, value: str, usual: str
    ) -> None:
        """Add the cell of one of the labels."""
        label = self.embedding.labels[self.rows[at]]
        cell = {
            **named(self.opened, label),
            "context": column.context,
            "column": column.title,
            "value": value,
            "usual": usual,
        }
        self.odd.append((clarity, cell))

    def _add_shared(
        self,
        context: str,
        titles: Sequence[tuple[str, str]],
        counts: tuple[Ints, Ints],
        known: Flags,
    ) -> Floats:
        """Add values that are common inside and rare outside; return their shares.

        Parameters are column and value of each, how many labels inside and outside have
        it, and which labels are known.
        """
        n_in, n_out = counts
        known_in = int((known & self.is_inside).sum())
        known_out = max(int((known & ~self.is_inside).sum()), 1)
        inside, outside = n_in / known_in, n_out / known_out
        both = (n_in + n_out) / (known_in + known_out)
        error = np.sqrt(both * (1 - both) * (1 / known_in + 1 / known_out))
        # The difference of the shares in standard errors.
        surprise = np.divide(
            inside - outside, error, out=np.zeros_like(error), where=error > 0
        )
        for i in np.flatnonzero((surprise > SURE) & (inside >= COMMON)).tolist():
            column, value = titles[i]
            found = {
                "context": context,
                "column": column,
                "value": value,
                "inside": float(inside[i]),
                "outside": float(outside[i]),
                "n_known": known_in,
                "is_number": False,
            }
            self.shared.append((float(surprise[i]), found))
        return np.asarray(inside)

    def _see_tags(self, table: Table) -> None:
        """Tags that are common inside and rare outside."""
        own = set(table.context.observed_labels)
        labels = self.embedding.labels
        known = np.array([labels[i] in own for i in self.rows.tolist()])
        if (known & self.is_inside).sum() < FEWEST:
            return
        has = known_tags(self.embedding, table.context)[self.rows] > 0
        n_in, n_out = (
            np.asarray(has[np.flatnonzero(x)].sum(axis=0), np.int64)
            for x in (self.is_inside, ~self.is_inside)
        )
        titles = [(title, "yes") for title in table.context.columns]
        self._add_shared(table.context.name, titles, (n_in, n_out), known)

    def _see_values(self, column: Column) -> None:
        """Values of a category or truth value, and the labels without them."""
        known, names = column.is_observed, column.values
        n_in, n_out = (
            np.bincount(column.value[known & x], minlength=len(names))
            for x in (self.is_inside, ~self.is_inside)
        )
        titles = [(column.title, name) for name in names]
        share = self._add_shared(column.context, titles, (n_in, n_out), known)
        if n_in.sum() <= FEWEST:
            return
        for i in np.flatnonzero(share >= NEARLY_ALL).tolist():
            differs = self.is_inside & known & (column.value != i)
            for at in np.flatnonzero(differs).tolist():
                value = names[int(column.value[at])]
                self._add_odd(float(share[i]), column, at, value, names[i])

    def _see_numbers(self, column: Column) -> None:
        """Whether a number differs inside, and which labels differ from the others."""

        def unit(number: float) -> float:
            return float(np.exp(number) if column.is_log else number)

        def shown(number: float) -> str:
            return number_text(unit(number))

        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(column.value) if column.is_log else column.value
        known = column.is_observed & np.isfinite(values)
        own, others = values[known & self.is_inside], values[known & ~self.is_inside]
        if len(own) < FEWEST:
            return
        if len(others) >= FEWEST:
            spread = np.sqrt(own.var() / len(own) + others.var() / len(others))
            steps = (own.mean() - others.mean()) / (float(spread) or 1.0)
            # Much more than chance, and also much: half the spread of all labels.
            is_much = abs(own.mean() - others.mean()) > 0.5 * float(others.std())
            if abs(steps) > SURE and is_much:
                about = "about" if column.is_log else "mean"
                found = {
                    "context": column.context,
                    "column": column.title,
                    "value": f"{about} {shown(own.mean())}",
                    "inside": unit(own.mean()),
                    "outside": unit(others.mean()),
                    "n_known": len(own),
                    "is_number": True,
                }
                self.shared.append((abs(float(steps)), found))
        middle = float(np.median(own))
        usual = 1.4826 * float(np.median(np.abs(own - middle)))
        if len(own) > 2 * FEWEST and usual > 0:
            places = np.flatnonzero(known & self.is_inside)
            far = np.abs(own - middle) / usual
            for i in np.flatnonzero(far > FAR).tolist():
                clarity = min(float(far[i]) / (2 * FAR), 1.0)
                texts = shown(own[i]), f"about {shown(middle)}"
                self._add_odd(clarity, column, int(places[i]), *texts)
