"""Choose the settings that a user leaves open, by how well hidden cells are predicted.

Some known cells of the readable tables are hidden. At most five short fits with
different settings predict them, and a change is kept if it predicts them better. The
questions, in this order:

1. Do hierarchies and graphs serve better as families than as counts?
2. How strongly is each table shrunk? A table of noise is shrunk to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from phcle.model.settings import Chosen, Setting, Trial, longest_useful
from phcle.model.trials import FEWEST_CELLS, Question, Trials, open_roles

SHRINKAGES = (0.1, 0.8)
"""Shrinkages to try beside the first one. Each table gets its own best."""

WORTH = 0.02
"""Skill below which nothing is chosen: the tables cannot be predicted."""

NOTHING_HIDDEN = "The defaults stay: {} of readable tables could be hidden."
"""Why nothing is chosen, with how many cells there are."""


def choose(question: Question, on_trial: Callable[[Trial], None]) -> Chosen:
    """Choose what the user left open.

    Parameters
    ----------
    question : Question
        Contexts and options.
    on_trial : callable
        Called after each trial.

    Returns
    -------
    Chosen
        The setting of the fit.
    """
    if not question.is_open:
        return Chosen(question.given, reason="All settings were given.")
    if not any(context.may_have_gaps for context in question.aligned.contexts):
        return Chosen(question.given, reason=NOTHING_HIDDEN.format("no cell"))
    trials = Trials(question, on_trial)
    n_hidden = trials.n_hidden
    if n_hidden < FEWEST_CELLS:
        found = f"only {n_hidden} cells" if trials.hidden else "no cell"
        return Chosen(question.given, reason=NOTHING_HIDDEN.format(found))
    trials.compare("at first", trials.first_setting())
    for change, setting in _changes(question, trials):
        trials.compare(change, setting)
    best = trials.best
    if best.skill < WORTH:
        reason = f"The defaults stay: no setting predicts {n_hidden:,} hidden cells."
        return Chosen(question.given, tuple(trials.done), reason)
    reason = (
        f"The best of {len(trials.done)} settings predicts {n_hidden:,} hidden cells "
        f"with skill {best.skill:.3f} (1 is perfect, 0 is the mean of a column); the "
        f"first one had {trials.done[0].skill:.3f}."
    )
    setting = replace(best.setting, shrinkage=trials.without_noise())
    if "dim" in question.is_open:
        dim = longest_useful(question.aligned, setting.roles)
        setting = replace(setting, dim=dim)
    return Chosen(setting, tuple(trials.done), reason)


def _changes(question: Question, trials: Trials) -> Iterator[tuple[str, Setting]]:
    """Changes to try, each a change of the best setting so far."""
    hierarchies, graphs = open_roles(question.aligned.contexts)
    for change, names in (
        ("hierarchies as families", hierarchies),
        ("graphs as families", [] if hierarchies else graphs),
        ("both as families", [*hierarchies, *graphs] if hierarchies and graphs else []),
    ):
        if names:
            roles = dict.fromkeys(names, "family")
            yield change, trials.in_roles(trials.best.setting, roles)
    for size in SHRINKAGES if "shrinkage" in question.is_open else ():
        sizes = dict.fromkeys(trials.hidden, size)
        change = f"shrinkage {size:g}"
        yield change, replace(trials.best.setting, shrinkage=sizes)
