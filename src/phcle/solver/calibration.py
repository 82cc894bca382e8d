"""Learn how reliable predicted values are, from cells that are hidden in trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import scipy.sparse as sp

from phcle.answers import CompletionSkill
from phcle.backends.numpy_backend import one_blas_thread
from phcle.contexts.descriptive.confidence import Calibration
from phcle.contexts.descriptive.confidence_learning import learn_calibration
from phcle.solver.column_scores import score_columns
from phcle.solver.hidden_trials import hidden_cells, judged_tables
from phcle.solver.problem import DeviceProblem, State

__all__ = ["calibrate"]


def calibrate(
    device: DeviceProblem,
    state: State,
    *,
    seed: int,
    used: Mapping[str, sp.csr_array] | None = None,
    on_trial: Callable[[int, int], None] = lambda done, most: None,
) -> tuple[dict[str, Calibration], CompletionSkill]:
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
    calibrations : dict
        A calibration by context. Contexts that predict no readable columns, or have too
        few labels, are not in it.
    skill : CompletionSkill
        How well the same cells are predicted.
    """
    tables = judged_tables(device.problem, state.weights)
    hidden = hidden_cells(
        device, state, tables, seed=seed, used=used, on_trial=on_trial
    )
    with one_blas_thread():  # products are small, and threads would wait
        learned = {
            table.name: learn_calibration(hidden[table.name], table)
            for table in tables.values()
        }
    found = {name: x for name, x in learned.items() if x is not None}
    return found, score_columns(device.problem, hidden, found)
