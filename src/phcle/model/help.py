"""Did this context help? Hidden cells of tables, predicted with and without it.

Short fits predict cells that are hidden from them: one fit with all contexts, and one
without each of them. `context_help` asks so for an embedding, with the data that it
stores, and weights="auto" for a fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from phcle.answers import ContextHelp, LeftOutContext
from phcle.contexts.alignment import Aligned
from phcle.contexts.protocol import Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import PhcleWarning
from phcle.model.problem import Problem
from phcle.model.trials import NOISE, Setting, Trials
from phcle.model.weights import BACKGROUND, equal_weights
from phcle.options import DEFAULTS
from phcle.progress import counted_progress

SWEEPS = 6
"""Sweeps of a trial. After four, skills differ from those of whole fits by up to 0.02,
after six by up to 0.01 (planted tables)."""

CERTAIN = 2.0
"""A change of the skill counts if it is larger than this many standard errors."""

VISIBLE = 0.01
"""Smallest change of the skill that counts: less rounds to nothing."""

Found = tuple[dict[str, float], list[str], dict[str, LeftOutContext]]
"""Skill of every table with all contexts, the tables that are predicted better than by
chance, and what leaving each context out changes."""


def _left_out(
    trials: Trials,
    setting: Setting,
    names: Sequence[str],
    progress: Callable[[int, int], None],
) -> Found:
    """Fit once with all contexts, and once without each of them."""
    whole = trials.errors(setting, n_sweeps=SWEEPS)
    before, found = trials.skills(whole), {}
    predicted = [name for name, x in before.items() if trials.is_predicted(name, x)]
    for n_done, name in enumerate(names, 1):
        progress(n_done, len(names) + 1)
        others = [table for table in predicted if table != name]
        if not others:
            words = f"{name}: unknown, because no other table can be predicted"
            found[name] = LeftOutContext(name, None, None, 0.0, {}, "unknown", words)
            continue
        errors = whole
        if setting.shrinkage.get(name) != NOISE:  # else it is nothing already
            errors = trials.errors(setting, [name], SWEEPS)
        after, variance = trials.skills(errors), 0.0
        for table in others:
            truth, change = trials.hidden[table].truth, errors[table] - whole[table]
            variance += len(truth) * float(change.var()) / float((truth**2).sum()) ** 2
        error = variance**0.5 / len(others)
        # A table that is worse than its means counts as those.
        skill, without = (
            float(np.mean([max(own[table], 0.0) for table in others]))
            for own in (before, after)
        )
        verdict, shown = "no clear effect", f"no clear effect (± {error:.2f})"
        if abs(skill - without) > max(CERTAIN * error, VISIBLE):
            verdict = "helps" if skill > without else "harms"
            shown = f"it {verdict}"
        elif abs(skill - without) < VISIBLE:
            verdict = shown = "no effect"
        words = f"without {name}: {without:.2f} instead of {skill:.2f}: {shown}"
        tables = {table: after[table] for table in others}
        found[name] = LeftOutContext(
            name, skill, without, error, tables, verdict, words
        )
    progress(len(names) + 1, len(names) + 1)
    return before, predicted, found


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
    stored = tuple(context for context in embedding.contexts if context.labels)
    is_equal = embedding.options.get("weights", "equal") == "equal"
    kept = {c.name: c.weight for c in embedding.contexts}

    def weigh(problem: Problem) -> Mapping[str, float]:
        # Equal weights are split anew among the contexts that are left.
        return equal_weights(problem) if is_equal else kept

    seed = int(embedding.options.get("random_state", 0))
    trials = Trials(
        Aligned(embedding.labels, stored),
        Penalties(**embedding.penalties),
        weigh,
        {**DEFAULTS, "random_state": seed},
    )
    n_hidden = trials.n_hidden
    if trials.nothing_to_judge_by:
        reason = f"Nothing can be measured: {trials.nothing_to_judge_by}."
        return ContextHelp(None, n_hidden, {}, (), reason)
    chosen: Mapping[str, Any] = embedding.origin.get("chosen", {}).get("setting", {})
    shrinkage = chosen.get("shrinkage", {})
    setting = Setting(dim=embedding.dim, shrinkage=shrinkage)
    names = list(dict.fromkeys(c.given_name for c in embedding.contexts))
    skills, _, found = _left_out(trials, setting, names, progress)
    shown = ", ".join(f"{name} {max(x, 0):.2f}" for name, x in skills.items())
    reason = (
        f"Skill for {n_hidden:,} hidden cells (1 is perfect, 0 is the mean): {shown}."
    )
    return ContextHelp(None, n_hidden, skills, tuple(found.values()), reason)


def useful_shares(
    trials: Trials, setting: Setting, *, verbose: bool
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Measure what each context adds, for weights="auto".

    A context is useful if hidden cells of other tables are predicted better with it, or
    if its own are predicted: then it has a structure that vectors can hold.

    Parameters
    ----------
    trials : Trials
        Hidden cells and contexts.
    setting : Setting
        The setting of the fit.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    shares : dict
        Share of its weight that each context keeps; empty if nothing can be measured.
    reasons : tuple of str
        A sentence for each context, or one that says why nothing is measured.
    """
    contexts, why = trials.aligned.contexts, trials.nothing_to_judge_by
    if not why:
        names = [context.name for context in contexts]
        with counted_progress(
            "weighing contexts", enabled=verbose, unit="contexts"
        ) as show:
            skills, predicted, found = _left_out(trials, setting, names, show)
        if not predicted:
            why = "no setting predicts hidden cells of any table"
    if why:
        reason = f"Weights are equal: {why}."
        warnings.warn(f"weights='auto': {reason}", PhcleWarning, stacklevel=4)
        return {}, (reason,)
    shares = {}
    for name, own in found.items():
        # A tree or a text has no cells of its own to judge it by.
        change = (own.skill or 0.0) - (own.without or 0.0)
        helps = own.verdict == "helps" or (name not in skills and change > VISIBLE)
        shares[name] = 1.0 if helps or name in predicted else 0.0
    useful = (context for context in contexts if shares[context.name])
    known = set().union(*(context.observed_labels for context in useful))
    reasons = []
    for context in contexts:
        name = context.name
        if not known.issuperset(context.observed_labels):
            shares[name] = BACKGROUND  # labels that are known only there keep a vector
        cells = f"; its own cells: {skills[name]:.2f}" if name in skills else ""
        reasons.append(f"{found[name].words}{cells}; weight × {shares[name]:g}.")
    return shares, tuple(reasons)
