"""weights="auto": weigh contexts by what they add to the prediction of hidden cells.

A context is useful if the hidden cells of other tables are predicted better with it
than without it, or if its own hidden cells are predicted: then it has a structure that
vectors can hold. All useful contexts have the weight that they would have without the
others ("equal" weights of the useful ones alone).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from phcle.model.left_out import CERTAIN, LeaveOneOut, LeftOut
from phcle.model.settings import Setting
from phcle.model.trials import FEWEST_CELLS, Question, Trials
from phcle.model.weights import BACKGROUND

HARMFUL = 0.1
"""Share of its weight that a table keeps if it makes the others worse. At nothing, its
own gaps could not be predicted."""


def useful_weights(
    question: Question,
    setting: Setting,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Measure what each context adds.

    Parameters
    ----------
    question : Question
        Contexts and options; weights are those of trials.
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
    trials = Trials(question)
    if trials.n_hidden < FEWEST_CELLS:
        found = f"only {trials.n_hidden} cells" if trials.hidden else "no cell"
        reason = f"Weights are equal: {found} of readable tables could be hidden."
        return {}, (reason,)
    trial = LeaveOneOut(trials, setting)
    if not trial.predicted:
        reason = "Weights are equal: no setting predicts hidden cells of any table."
        return {}, (reason,)
    shares: dict[str, float] = {}
    reasons: dict[str, str] = {}
    n_contexts = len(question.aligned.contexts)
    for n_done, context in enumerate(question.aligned.contexts):
        progress(n_done, n_contexts)
        left_out = trial.leave_out(context.name)
        shares[context.name], reasons[context.name] = _share(
            context.name, trial, left_out
        )
    shares = _with_every_label(question, shares, reasons)
    named = [c.name for c in question.aligned.contexts]
    return (
        {name: shares[name] for name in named},
        tuple(f"{name}: {reasons[name]}." for name in named),
    )


def _share(name: str, trial: LeaveOneOut, found: LeftOut) -> tuple[float, str]:
    """The share of its weight that a context keeps, and why."""
    others = ""
    if found.skill is not None:
        others = (
            f"the others are predicted with skill {found.skill:.2f} with it and "
            f"{found.without:.2f} without it"
        )
    if name in trial.skills:
        own = f"its own hidden cells are predicted with skill {trial.skills[name]:.2f}"
        if name in trial.predicted:
            if found.is_clear and found.gain < 0:
                return HARMFUL, f"less weight, because {others}, though {own}"
            return 1.0, f"full weight, because {own}"
        if found.is_clear and found.gain > 0:
            return 1.0, f"full weight, because {others}"
        return 0.0, "no weight, because nothing predicts it and it adds nothing"
    if found.is_clear:
        if found.gain > 0:
            return 1.0, f"full weight, because {others}"
        return 0.0, f"no weight, because {others}"
    # Without a clear answer the weight grows with what it seems to add.
    share = min(1.0, max(found.gain, 0.0) / (CERTAIN * found.error or 1.0))
    return share, f"{share:.0%} of its weight, because {others}: no clear difference"


def _with_every_label(
    question: Question, shares: Mapping[str, float], reasons: dict[str, str]
) -> dict[str, float]:
    """Leave a little weight to contexts that alone know some label."""
    found = dict(shares)
    contexts = question.aligned.contexts
    known = {
        label
        for context in contexts
        if shares[context.name] > 0
        for label in context.observed_labels
    }
    for context in contexts:
        if not shares[context.name] and not known.issuperset(context.observed_labels):
            found[context.name] = BACKGROUND
            reasons[context.name] += "; a little is left for labels known only there"
    return found
