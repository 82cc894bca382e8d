"""Learn how reliable predicted values are, from cells that are hidden in trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp

from phcle.contexts.base import PredictingContext
from phcle.contexts.descriptive.confidence import Calibration
from phcle.contexts.descriptive.confidence_learning import learn_calibration
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.solver.hidden_trials import (
    COLD_UP_TO,
    draw_rows_and_cells,
    judged_tables,
    predict_hidden,
)
from phcle.solver.problem import DeviceProblem, State

__all__ = ["calibrate"]

ENOUGH = 1_000
"""Trials end when this many hidden cells of each table have their attribute: in labels
that are described in part, and in others."""

MOST_TRIALS = 5
"""Most trials, so that small tables do not take long."""


def calibrate(
    device: DeviceProblem,
    state: State,
    *,
    seed: int,
    used: Mapping[str, sp.csr_array] | None = None,
    on_trial: Callable[[int, int], None] = lambda done, most: None,
) -> dict[str, Calibration]:
    """Learn the confidence of predictions for every table with enough labels.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors at the end of the fit.
    seed : int
        Seed of the choice of hidden cells.
    used : mapping from str to csr_array of shape (labels, columns), optional
        Cells by which settings were chosen; nothing is learned from them.
    on_trial : callable, optional
        Called after each trial with its number and the most there may be.

    Returns
    -------
    dict
        A calibration by context. Contexts that predict no readable columns, or have too
        few labels, are not in it.
    """
    tables = judged_tables(device.problem, state.weights)
    hidden = hidden_cells(
        device, state, tables, seed=seed, used=used, on_trial=on_trial
    )
    learned = {
        table.name: learn_calibration(hidden[table.name], table)
        for table in tables.values()
    }
    return {name: found for name, found in learned.items() if found is not None}


def hidden_cells(
    device: DeviceProblem,
    state: State,
    tables: Mapping[int, PredictingContext],
    *,
    seed: int,
    used: Mapping[str, sp.csr_array] | None = None,
    on_trial: Callable[[int, int], None] = lambda done, most: None,
) -> dict[str, HiddenPredictions]:
    """Hide cells in trials, until there are enough, and predict them.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors at the end of the fit.
    tables : mapping from int to PredictingContext
        What `judged_tables` returns.
    seed : int
        Seed of the choice of hidden cells.
    used : mapping from str to csr_array of shape (labels, columns), optional
        Cells to leave out.
    on_trial : callable, optional
        Called after each trial with its number and the most there may be.

    Returns
    -------
    dict
        Hidden cells by the name of their table.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, HiddenPredictions] = {}
    is_large = len(device.problem.labels) > COLD_UP_TO
    for number in range(MOST_TRIALS if tables else 0):
        drawn = {
            at: draw_rows_and_cells(table, rng, is_large=is_large)
            for at, table in tables.items()
        }
        for name, cells in predict_hidden(device, state, drawn, seed=number).items():
            if used and name in used and len(cells.rows):
                is_used = np.asarray(used[name][cells.rows, cells.columns]).ravel() != 0
                cells = cells.where(~is_used)
            found[name] = found[name].joined(cells) if name in found else cells
        on_trial(number + 1, MOST_TRIALS)
        if all(_is_enough(found[table.name], table) for table in tables.values()):
            break
    return found


def _is_enough(cells: HiddenPredictions, table: PredictingContext) -> bool:
    """Whether there are enough hidden cells of both sorts, or of the only one."""
    has_it = table.has(cells.columns, cells.truth)
    n_alone = np.count_nonzero(has_it & cells.is_alone)
    n_gaps = np.count_nonzero(has_it & ~cells.is_alone)
    return bool(n_gaps >= ENOUGH and (n_alone >= ENOUGH or not cells.is_alone.any()))
