"""Did this context help? Hidden cells of an embedding's tables, without each context.

Short fits at the setting of the embedding predict cells that are hidden from them: one
fit with all contexts, and one without each of them. The data are those that the
embedding stores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from phcle.answers import ContextHelp, LeftOutContext
from phcle.backends.protocol import choose_backend
from phcle.contexts.alignment import Aligned
from phcle.contexts.terms import Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.model.left_out import VISIBLE, LeaveOneOut, LeftOut
from phcle.model.problem import Problem
from phcle.model.settings import Setting
from phcle.model.trials import FEWEST_CELLS, Question, Trials
from phcle.model.weights import equal_weights


def context_help(
    embedding: LabelEmbedding,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ContextHelp:
    """Measure what each context of an embedding adds to the prediction of hidden cells.

    Parameters
    ----------
    embedding : LabelEmbedding
        A fitted embedding, in memory or loaded.
    progress : callable, optional
        Called with the number of fits that are done and of all fits.

    Returns
    -------
    ContextHelp
        Skill with all contexts and without each of them; `print` shows it in words.

    Examples
    --------
    >>> import numpy as np
    >>> from phcle import PHCLE, DescriptiveContext, context_help
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 20))
    >>> labels = [f"label{i}" for i in range(100)]
    >>> contexts = [
    ...     DescriptiveContext("sizes", labels, list("abcdefghij"), truth[:, :10]),
    ...     DescriptiveContext("prices", labels, list("klmnopqrst"), truth[:, 10:]),
    ...     DescriptiveContext("noise", labels, list("xyz"), rng.normal(size=(100, 3))),
    ... ]
    >>> found = context_help(PHCLE().fit(contexts).embedding_)
    >>> found.contexts[2].verdict
    'no effect'
    """
    names = list(dict.fromkeys(c.given_name for c in embedding.contexts))
    question = _question(embedding)
    trials = Trials(question) if question.aligned.contexts else None
    if trials is None or trials.n_hidden < FEWEST_CELLS:
        n_hidden = 0 if trials is None else trials.n_hidden
        reason = (
            f"Nothing can be measured: only {n_hidden} known cells of readable tables "
            "could be hidden."
        )
        return ContextHelp(None, n_hidden, {}, (), reason)
    trial = LeaveOneOut(trials, question.given)
    found = []
    for n_done, name in enumerate(names, 1):
        progress(n_done, len(names) + 1)
        found.append(_answer(name, trial.leave_out(name)))
    progress(len(names) + 1, len(names) + 1)
    reason = f"Skill for {trials.n_hidden:,} hidden cells (1 is perfect, 0 is the mean)"
    shown = ", ".join(f"{name} {max(x, 0):.2f}" for name, x in trial.skills.items())
    return ContextHelp(
        None, trials.n_hidden, trial.skills, tuple(found), f"{reason}: {shown}."
    )


def _question(embedding: LabelEmbedding) -> Question:
    """The setting and data of an embedding, for trials."""
    stored = tuple(context for context in embedding.contexts if context.labels)
    chosen: Mapping[str, Any] = embedding.origin.get("chosen", {}).get("setting", {})
    setting = Setting(dim=embedding.dim, shrinkage=chosen.get("shrinkage", {}))
    weights = {c.name: c.weight for c in embedding.contexts}
    is_equal = embedding.options.get("weights", "equal") == "equal"

    def weigh(problem: Problem) -> Mapping[str, float]:
        # Equal weights are split anew among the contexts that are left.
        return equal_weights(problem) if is_equal else weights

    return Question(
        Aligned(embedding.labels, stored),
        setting,
        frozenset(),
        lambda _: Penalties(**embedding.penalties),
        weigh,
        lambda problem: choose_backend(n_pairs=problem.n_pairs),
        int(embedding.options.get("random_state", 0)),
    )


def _answer(name: str, found: LeftOut) -> LeftOutContext:
    """What leaving a context out changed, in words."""
    if found.skill is None or found.without is None:
        verdict = "unknown"
        words = f"{name}: unknown, because no other table can be predicted"
    else:
        words = f"without {name}: {found.without:.2f} instead of {found.skill:.2f}"
        if found.is_clear:
            verdict = "helps" if found.gain > 0 else "harms"
            words += f": it {verdict}"
        elif abs(found.gain) < VISIBLE:
            verdict = "no effect"
            words += f": {verdict}"
        else:
            verdict = "no clear effect"
            words += f": {verdict} (± {found.error:.2f})"
    return LeftOutContext(
        name, found.skill, found.without, found.error, found.tables, verdict, words
    )
