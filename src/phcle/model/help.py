"""Did this context help? Hidden cells of tables, predicted with and without it.

Short fits predict cells that are hidden from them: one fit with all contexts, and one
without each of them. `context_help` asks so for an embedding, with the data that it
stores, and weights="auto" for a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phcle.answers import ContextHelp, LeftOutContext
from phcle.arrays import Floats
from phcle.contexts.alignment import Aligned
from phcle.contexts.terms import Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.model.problem import Problem
from phcle.model.settings import NOISE, Setting
from phcle.model.trials import Trials
from phcle.model.weights import BACKGROUND, equal_weights
from phcle.options import DEFAULTS

SWEEPS = 6
"""Sweeps of a trial. After four, skills differ from those of whole fits by up to 0.02,
after six by up to 0.01 (planted tables)."""

CERTAIN = 2.0
"""A change of the skill counts if it is larger than this many standard errors."""

VISIBLE = 0.01
"""Smallest change of the skill that counts: less rounds to nothing."""

HARMFUL = 0.1
"""Share of its weight that a table keeps if it makes the others worse. At nothing, its
own gaps could not be predicted."""


@dataclass(frozen=True)
class _LeaveOneOut:
    """Trials of one setting with all contexts, and with one of them left out."""

    trials: Trials
    setting: Setting

    @cached_property
    def errors(self) -> dict[str, Floats]:
        """Squared errors of the hidden cells with all contexts, by table."""
        return self.trials.errors(self.setting, n_sweeps=SWEEPS)

    @cached_property
    def skills(self) -> dict[str, float]:
        """Skill of every table with all contexts."""
        return self.trials.skills(self.errors)

    @cached_property
    def predicted(self) -> list[str]:
        """Tables that are predicted better than by chance."""
        found = self.skills.items()
        return [name for name, x in found if self.trials.is_predicted(name, x)]

    def without(self, name: str) -> LeftOutContext:
        """Fit without a context, and say what the other tables lose."""
        others = [table for table in self.predicted if table != name]
        if not others:
            words = f"{name}: unknown, because no other table can be predicted"
            return LeftOutContext(name, None, None, 0.0, {}, "unknown", words)
        errors = self.errors
        if self.setting.shrinkage.get(name) != NOISE:  # else it is nothing already
            errors = self.trials.errors(self.setting, [name], SWEEPS)
        skills = self.trials.skills(errors)
        variance = 0.0
        for table in others:
            truth = self.trials.hidden[table].truth
            change = errors[table] - self.errors[table]
            variance += len(truth) * float(change.var()) / float((truth**2).sum()) ** 2
        error = variance**0.5 / len(others)
        # A table that is worse than its means counts as those.
        skill, without = (
            float(np.mean([max(own[table], 0.0) for table in others]))
            for own in (self.skills, skills)
        )
        verdict, shown = "no clear effect", f"no clear effect (± {error:.2f})"
        if abs(skill - without) > max(CERTAIN * error, VISIBLE):
            verdict = "helps" if skill > without else "harms"
            shown = f"it {verdict}"
        elif abs(skill - without) < VISIBLE:
            verdict = shown = "no effect"
        words = f"without {name}: {without:.2f} instead of {skill:.2f}: {shown}"
        tables = {table: skills[table] for table in others}
        return LeftOutContext(name, skill, without, error, tables, verdict, words)


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
    n_hidden = sum(len(cells.rows) for cells in trials.hidden.values())
    if trials.nothing_to_judge_by:
        reason = f"Nothing can be measured: {trials.nothing_to_judge_by}."
        return ContextHelp(None, n_hidden, {}, (), reason)
    chosen: Mapping[str, Any] = embedding.origin.get("chosen", {}).get("setting", {})
    shrinkage = chosen.get("shrinkage", {})
    trial = _LeaveOneOut(trials, Setting(dim=embedding.dim, shrinkage=shrinkage))
    names = list(dict.fromkeys(c.given_name for c in embedding.contexts))
    found = []
    for n_done, name in enumerate(names, 1):
        progress(n_done, len(names) + 1)
        found.append(trial.without(name))
    progress(len(names) + 1, len(names) + 1)
    shown = ", ".join(f"{name} {max(x, 0):.2f}" for name, x in trial.skills.items())
    reason = f"Skill for {n_hidden:,} hidden cells (1 is perfect, 0 is the mean)"
    return ContextHelp(
        None, n_hidden, trial.skills, tuple(found), f"{reason}: {shown}."
    )


def useful_weights(
    trials: Trials,
    setting: Setting,
    progress: Callable[[int, int], None] = lambda done, total: None,
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
    progress : callable, optional
        Called with the number of contexts left out so far, and of all.

    Returns
    -------
    shares : dict
        Share of its weight that each context keeps; empty if nothing can be measured.
    reasons : tuple of str
        A sentence for each context, or one that says why nothing is measured.
    """
    trial, why = _LeaveOneOut(trials, setting), trials.nothing_to_judge_by
    if not why and not trial.predicted:
        why = "no setting predicts hidden cells of any table"
    if why:
        return {}, (f"Weights are equal: {why}.",)
    contexts = trials.aligned.contexts
    shares, reasons = {}, {}
    for n_done, context in enumerate(contexts):
        progress(n_done, len(contexts))
        shares[context.name], reasons[context.name] = _share(context.name, trial)
    known = {
        label
        for context in contexts
        if shares[context.name]
        for label in context.observed_labels
    }
    for context in contexts:
        if not shares[context.name] and not known.issuperset(context.observed_labels):
            shares[context.name] = BACKGROUND
            reasons[context.name] += "; a little is left for labels known only there"
    return shares, tuple(f"{name}: {reason}." for name, reason in reasons.items())


def _share(name: str, trial: _LeaveOneOut) -> tuple[float, str]:
    """The share of its weight that a context keeps, and why."""
    found, is_predicted = trial.without(name), name in trial.predicted
    why, seems_to_help = "no other table can be predicted", False
    if found.skill is not None and found.without is not None:
        seems_to_help = found.skill - found.without > VISIBLE
        why = (
            f"the others are predicted with skill {found.skill:.2f} with it and "
            f"{found.without:.2f} without it"
        )
    if is_predicted and found.verdict == "harms":
        return HARMFUL, f"less weight, because {why}"
    if is_predicted:
        why = f"its own hidden cells are predicted with skill {trial.skills[name]:.2f}"
    # A tree or a text has no cells of its own to judge it by.
    helps = found.verdict == "helps" or (seems_to_help and name not in trial.skills)
    if is_predicted or helps:
        return 1.0, f"full weight, because {why}"
    return 0.0, f"no weight, because {why}"
