"""Hidden cells of a table against what PHCLE said about them.

Single cells are hidden, or all cells of some labels. PHCLE fits the rest with default
options. Sums by label and bin are kept, so that errors can be clustered by label.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle import PHCLE, LabelEmbedding
from phcle.embedding.read import Reading, read_predictions
from phcle.errors import ContextError, ConvergenceWarning, check_choice
from phcle_paper.context_values import Floats
from phcle_paper.studies.cell_tasks import CellTask, cell_task, score_of

__all__ = ["coverage", "hidden_task", "judge", "reliability", "run_trial"]

Row = dict[str, Any]
Ints = npt.NDArray[np.intp]

CELLS, LABELS = "cells", "labels"
"""What is hidden: single cells, or all cells of some labels."""

N_BINS = 10
"""Bins of the same width, from 0 to 1."""

ALLOWED = 0.03
"""How far said and true shares of a bin may be apart, besides two standard errors."""

FEWEST = 20
"""Bins with fewer cells are not judged."""


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Hidden cells of one type.

    Attributes
    ----------
    labels : array of int
        Number of each cell's label.
    said : array
        The probability of the value shown, if it is a category, or of a yes, a tag, or
        a number above its mean.
    is_true : array of bool
        Whether it is so.
    is_inside : array
        Whether the interval of a number holds it, NaN without an interval.
    width : array
        Width of the interval, in widths of the interval from the 10 % to the 90 %
        quantile of all known numbers of the column.
    """

    labels: Ints
    said: Floats
    is_true: npt.NDArray[np.bool_]
    is_inside: Floats
    width: Floats


def hidden_task(
    dataset: str, hides: str, data: Path, seed: int, share: float
) -> CellTask:
    """A data set with single cells hidden, or all cells of some labels.

    Parameters
    ----------
    dataset : str
        One of `cell_tasks.TASKS`.
    hides : {"cells", "labels"}
        What to hide.
    data : Path
        Folder of all data.
    seed : int
        Seed of the draw.
    share : float
        Share of the labels to hide, of those that lose single cells otherwise: all of
        these, if there are fewer (the development languages of SIGTYP).

    Returns
    -------
    CellTask
        The task.
    """
    check_choice("hides", hides, (CELLS, LABELS))
    task = cell_task(dataset, data, seed)
    table, hidden = task.table, task.hidden
    if hides == LABELS:
        asked = np.flatnonzero(hidden.any(axis=1))
        n = min(max(1, round(share * len(table.labels))), len(asked))
        chosen = np.random.default_rng([seed, 1]).choice(asked, n, replace=False)
        hidden = np.zeros_like(hidden)
        hidden[chosen] = table.known[chosen]
    # Nothing can be said about a label that no other context knows.
    known = {x for context in task.contexts[1:] for x in context.observed_labels}
    is_lost = (hidden == table.known).all(axis=1)
    is_lost &= [label not in known for label in table.labels]
    hidden = hidden & ~is_lost[:, None]
    return replace(task, hidden=hidden)


def run_trial(
    dataset: str, hides: str, data: Path, seed: int, share: float
) -> list[Row]:
    """Fit without the hidden cells, and sum up what was said about them by type.

    Parameters
    ----------
    dataset : str
        One of `cell_tasks.TASKS`.
    hides : {"cells", "labels"}
        What to hide.
    data : Path
        Folder of all data.
    seed : int
        Seed of the draw.
    share : float
        Share of the labels to hide whole.

    Returns
    -------
    list of dict
        For each type its sums by label and bin.
    """
    task = hidden_task(dataset, hides, data, seed, share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        embedding = PHCLE().fit(task.contexts).embedding_
    return [
        {"type": kind, **_sums(cells)} for kind, cells in judge(task, embedding).items()
    ]


def judge(task: CellTask, embedding: LabelEmbedding) -> dict[str, HiddenCells]:
    """Compare what an embedding says about hidden cells with the truth.

    Parameters
    ----------
    task : CellTask
        The table and its hidden cells.
    embedding : LabelEmbedding
        What PHCLE learned from the contexts of the task.

    Returns
    -------
    dict
        The hidden cells by type: "number", "truth", "category" or "tag".
    """
    table = task.table
    fitted: Any = next(x for x in embedding.contexts if x.name == table.name)
    asked = np.flatnonzero(task.hidden.any(axis=1))
    labels = [table.labels[i] for i in asked]
    vectors = embedding.select(labels).vectors
    read = read_predictions(embedding, fitted, vectors, labels)
    if read.chance is None:
        raise ContextError(f"context {table.name!r} has too few labels to calibrate.")
    position = {column: i for i, column in enumerate(table.columns)}
    # A category without a known value has a column of its own, and no hidden cell.
    own = np.array([position.get(column, -1) for column in fitted.columns])
    is_hidden = task.hidden[asked][:, table.field_of[own]] & (own >= 0)
    truth = np.where(table.is_log, np.exp(task.truth[asked]), task.truth[asked])[:, own]
    has_it = fitted.on_fit_scale(truth) > fitted.data.matrix.threshold(fitted.offset)
    inside, width = _intervals(task, own, truth, read)
    inside[:, ~fitted.is_number] = np.nan
    found: dict[str, list[HiddenCells]] = {}
    for field in fitted.fields:
        first = field.at.start
        rows = np.flatnonzero(is_hidden[:, first])
        if not len(rows):
            continue
        # Of a category, the value shown; other fields have one column.
        best = first + read.chance[rows, field.at].argmax(axis=1)
        at = rows, best
        cells = (asked[rows], read.chance[at], has_it[at], inside[at], width[at])
        found.setdefault(field.kind, []).append(HiddenCells(*cells))
    names = [own.name for own in fields(HiddenCells)]
    return {
        kind: HiddenCells(
            *(np.concatenate([getattr(x, name) for x in parts]) for name in names)
        )
        for kind, parts in found.items()
    }


def _intervals(
    task: CellTask, own: Ints, truth: Floats, read: Reading
) -> tuple[Floats, Floats]:
    """Whether intervals hold the truth, and their relative widths.

    Widths are taken in logarithms where the table has them.
    """
    if read.low is None or read.high is None:
        return np.full(truth.shape, np.nan), np.full(truth.shape, np.nan)
    is_log, left = task.table.is_log[own], task.left[:, own].copy()
    left[:, np.isnan(left).all(axis=0)] = 0.0  # no spread, so no width
    ends = []
    for end in (read.low, read.high):
        least = np.where(is_log, np.exp(np.nanmin(left, axis=0)), 1.0)
        logs = np.log(np.where(is_log, np.maximum(end, least), 1.0))
        ends.append(np.where(is_log, logs, end))
    usual = np.subtract(*np.nanquantile(left, [0.9, 0.1], axis=0))
    width = np.full(truth.shape, np.nan)
    np.divide(ends[1] - ends[0], usual, out=width, where=usual > 0)
    inside = ((read.low <= truth) & (truth <= read.high)).astype(float)
    inside[np.isnan(read.low)] = np.nan
    return inside, width


def _sums(cells: HiddenCells) -> Row:
    """Sums by label and bin, and of labels for intervals, as lists."""
    number = np.minimum((cells.said * N_BINS).astype(int), N_BINS - 1)
    said = cells.said
    # Cells, what was said, what is true, and the variance that was said.
    parts = np.stack([np.ones(len(said)), said, cells.is_true, said * (1 - said)])
    at = ~np.isnan(cells.is_inside)
    inside = np.stack([np.ones(at.sum()), cells.is_inside[at]])
    return {
        "bins": [
            _by_label(cells.labels[number == i], parts[:, number == i])
            for i in range(N_BINS)
        ],
        "intervals": _by_label(cells.labels[at], inside),
        "width": float(np.nanmedian(cells.width[at])) if at.any() else None,
    }


def _by_label(labels: Ints, parts: Floats) -> list[list[Any]]:
    """Labels, and the sums of each part by label."""
    unique, which = np.unique(labels, return_inverse=True)
    sums = [np.bincount(which, own, len(unique)) for own in parts]
    return [x.tolist() for x in (unique, *sums)]


def reliability(trials: Sequence[Row]) -> list[Row]:
    """What was said and what is true in each bin, over several draws.

    Parameters
    ----------
    trials : sequence of dict
        Sums of one type, from `run_trial`.

    Returns
    -------
    list of dict
        For each bin that is not empty: its number of cells, `said`, `true`, the
        standard error of their difference, clustered by label, and how far apart they
        may be.
    """
    found = []
    for parts in zip(*(x["bins"] for x in trials), strict=True):
        n, said, true, variance = _over_draws(parts)
        if not n.sum():
            continue
        gap, moves = score_of(true - said, n)
        # Few labels may agree by chance, so an error is never smaller than if cells
        # were independent and what was said right.
        least = float(np.sqrt(variance.sum()) / n.sum())
        error = max(float(np.linalg.norm(moves)), least)
        found.append(
            {
                "n_cells": int(n.sum()),
                "n_labels": len(n),
                "said": float(said.sum() / n.sum()),
                "true": float(true.sum() / n.sum()),
                "gap": gap,
                "error": error,
                "allowed": ALLOWED + 2 * error,
            }
        )
    return found


def coverage(trials: Sequence[Row]) -> Row:
    """How many truths the intervals hold, over several draws.

    Parameters
    ----------
    trials : sequence of dict
        Sums of one type, from `run_trial`.

    Returns
    -------
    dict
        `coverage` with its standard error, clustered by label, and the median `width`;
        empty without intervals.
    """
    n, inside = _over_draws([x["intervals"] for x in trials])
    if not n.sum():
        return {}
    share, moves = score_of(inside, n)
    return {
        "coverage": share,
        "coverage_error": float(np.linalg.norm(moves)),
        "width": float(np.mean([x["width"] for x in trials])),
    }


def _over_draws(parts: Sequence[Sequence[Sequence[float]]]) -> Floats:
    """Sums by label over several draws."""
    labels, *sums = (np.concatenate(own) for own in zip(*parts, strict=True))
    return np.array(_by_label(labels, np.stack(sums))[1:])
