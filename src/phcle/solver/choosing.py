"""Choose the settings that a user leaves open, by how well hidden cells are predicted.

Some known cells of the readable tables are hidden. Short fits with different settings
predict them, and a change is kept if it predicts them better. The questions, in this
order:

1. Do hierarchies, graphs or both serve better as families than as counts?
2. How strongly is each table shrunk? A table of noise is shrunk to nothing.
3. Are shorter vectors better? Do families hold together less? If something is counted:
   how much do tables weigh against counts, and how many negatives are there?
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from phcle.solver.settings import Chosen, Setting, Trial, longest_useful
from phcle.solver.trials import FEWEST_CELLS, Question, Trials, open_roles
from phcle.solver.weights import BACKGROUND

LESS, LEAST, MORE = 0.2, 0.1, 0.8
"""Shrinkages to try: the least if less was better for a table, and more if it was
not."""

WORTH = 0.02
"""Skill below which nothing is chosen: the tables cannot be predicted."""

NOTHING_HIDDEN = "The defaults stay: {} of readable tables could be hidden."
"""Why nothing is chosen, with how many cells there are."""

SHORTER, FEWEST_DIMENSIONS = 4, 10
"""Where nothing is counted, vectors of a quarter of the length are tried, if that is so
many dimensions: longer ones fit noise where few columns can be predicted."""

STIFFNESSES = (0.5, 0.25)
"""Values of γ to try where there is a family."""


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
    trials.start()
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
    is_short = setting.dim < trials.in_roles(setting, setting.roles).dim
    if "dim" in question.is_open and not is_short:
        dim = longest_useful(question.aligned, setting.roles)
        setting = replace(setting, dim=dim)
    return Chosen(setting, tuple(trials.done), reason)


def _changes(question: Question, trials: Trials) -> Iterator[tuple[str, Setting]]:
    """Changes to try, each a change of the best setting so far."""
    is_open = question.is_open
    hierarchies, graphs = open_roles(question.aligned.contexts)
    for change, names in (
        ("hierarchies as families", hierarchies),
        ("graphs as families", graphs),
        ("both as families", (*hierarchies, *graphs) if hierarchies and graphs else ()),
    ):
        if names:
            roles = dict.fromkeys(names, "family")
            yield change, trials.in_roles(trials.best.setting, roles)
    if "shrinkage" in is_open:
        yield trials.shrunk_by(LESS)
        n_less = sum(size == LESS for size in trials.best_shrinkage().values())
        if n_less:
            yield trials.shrunk_by(LEAST)
        if n_less < len(trials.hidden):
            yield trials.shrunk_by(MORE)
        sizes = trials.best_shrinkage()
        if len(set(sizes.values())) > 1:
            change = "shrinkage of each table"
            yield change, replace(trials.best.setting, shrinkage=sizes)
    if trials.best.skill < WORTH:
        return  # there is nothing to choose by
    problem = trials.problem(trials.best.setting)
    weights = question.weigh(problem)
    is_counted = any(
        c.n_dense_columns and weights[c.name] > BACKGROUND for c in problem.contexts
    )
    short = trials.best.setting.dim // SHORTER
    if "dim" in is_open and not is_counted and short >= FEWEST_DIMENSIONS:
        yield f"{short} dimensions", replace(trials.best.setting, dim=short)
    if "stiffness" in is_open and any(c.turns_with_labels for c in problem.contexts):
        for size in STIFFNESSES:
            yield f"stiffness {size:g}", replace(trials.best.setting, stiffness=size)
            if not trials.done[-1].kept:
                break
    if is_counted:
        if "descriptive_weight" in is_open:
            change = "descriptive weight 10"
            yield change, replace(trials.best.setting, descriptive_weight=10.0)
        if "negatives" in is_open:
            yield "negatives 3", replace(trials.best.setting, negatives=3.0)
