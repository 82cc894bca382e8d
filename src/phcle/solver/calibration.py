"""Learn how reliable predicted values are, from cells that are hidden in trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import scipy.sparse as sp

from phcle.answers import CompletionSkill
from phcle.backends.numpy_backend import one_blas_thread
from phcle.backends.protocol import choose_backend
from phcle.contexts.descriptive.confidence import Calibration
from phcle.contexts.descriptive.confidence_learning import learn_calibration
from phcle.contexts.terms import Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError
from phcle.solver.column_scores import score_columns
from phcle.solver.hidden_trials import hidden_cells, judged_tables
from phcle.solver.problem import DeviceProblem, Problem, State


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


def problem_of(embedding: LabelEmbedding) -> tuple[DeviceProblem, State]:
    """Pose the problem of an embedding again.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned, in memory or loaded.

    Returns
    -------
    device : DeviceProblem
        The problem on the back end for its size.
    state : State
        The vectors and factors of the embedding.
    """
    stored = [context for context in embedding.contexts if context.data is not None]
    if not stored:
        raise ContextError(
            "this embedding has no contexts with data, so nothing can be hidden and "
            "predicted; use an embedding that PHCLE learned."
        )
    chosen: Mapping[str, Any] = embedding.origin.get("chosen", {}).get("setting", {})
    shrinkage = chosen.get("shrinkage", {})
    contexts = tuple(
        context.again(embedding.labels).shrunk(shrinkage.get(context.name))
        for context in stored
    )
    penalties = Penalties(**embedding.penalties)
    problem = Problem(embedding.labels, contexts, penalties, embedding.dim)
    backend = choose_backend(n_pairs=problem.n_pairs)
    state = State(
        backend.asarray(embedding.vectors),
        tuple(backend.asarray(context.factor) for context in stored),
        {context.name: context.weight for context in stored},
    )
    return DeviceProblem(backend, problem), state


def completion_skill(
    embedding: LabelEmbedding,
    *,
    seed: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> CompletionSkill:
    """Measure how well each column of an embedding's tables is completed.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned, in memory or loaded.
    seed : int, default 1
        Seed of the hidden cells. A fit hides others.
    progress : callable, optional
        Called after each trial with its number and the most there may be.

    Returns
    -------
    CompletionSkill
        The scores of each column, beside those of simple rules; `print` shows them in
        words.

    Examples
    --------
    >>> import numpy as np
    >>> from phcle import PHCLE, DescriptiveContext, completion_skill
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 10))
    >>> labels = [f"label{i}" for i in range(100)]
    >>> table = DescriptiveContext("sizes", labels, list("abcdefghij"), truth)
    >>> found = completion_skill(PHCLE().fit(table).embedding_)
    >>> found.columns[0].score > 0.9
    True
    """
    device, state = problem_of(embedding)
    tables = judged_tables(device.problem, state.weights)
    hidden = hidden_cells(device, state, tables, seed=seed, on_trial=progress)
    learned = {c.name: c.calibration for c in embedding.predicting}
    calibrations = {name: x for name, x in learned.items() if x is not None}
    return score_columns(device.problem, hidden, calibrations)
