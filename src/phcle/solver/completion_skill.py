"""How good would the completion of a table be? Asked of an embedding."""

from __future__ import annotations

from collections.abc import Callable

from phcle.answers import CompletionSkill
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.solver.column_scores import score_columns
from phcle.solver.embedding_problem import problem_of
from phcle.solver.hidden_trials import hidden_cells, judged_tables

__all__ = ["completion_skill"]


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
