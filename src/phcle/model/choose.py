"""Choose the settings that a user leaves open, by how well hidden cells are predicted.

At most five short fits with different settings predict the same hidden cells, and a
change is kept if it predicts them better. The questions, in this order:

1. Do hierarchies and graphs serve better as families than as counts?
2. How strongly is each table shrunk? A table of noise is shrunk to nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from phcle.contexts.alignment import Aligned
from phcle.contexts.protocol import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.model.problem import Problem, penalties_of, pose
from phcle.model.trials import NOISE, Chosen, Setting, Trial, Trials, in_roles
from phcle.model.weights import start_weights
from phcle.progress import counted_progress

FIRST_SHRINKAGE, SHRINKAGES = 0.4, (0.1, 0.8)
"""Shrinkage of the first trials, and those to try after them. Each table gets its own
best."""

WORTH = 0.02
"""Skill below which nothing is chosen: the tables cannot be predicted."""

GAIN = 0.001
"""A change must raise the sum of the tables' skills by this much to be kept. Less is
within chance."""

SHORTEST = 50
"""Least length of vectors in trials with counts, so that these are not at a
disadvantage beside families, which need no length of their own."""

WIDEST = 200
"""Longest vectors that are chosen without being asked for. Up to the rank of the
tables, longer vectors predict better; time grows with the length."""

LONG_UP_TO = 20_000
"""Above this many labels, vectors longer than the default are not chosen: they would
make fits that take minutes twice as long."""


def choose(
    aligned: Aligned,
    options: Mapping[str, Any],
    earlier: LabelEmbedding | None = None,
) -> Chosen:
    """Choose the settings that are open, or take them from an earlier embedding.

    Trials are made one after the other, each with a change of the best so far.

    Parameters
    ----------
    aligned : Aligned
        Contexts and labels.
    options : mapping from str to object
        All options of the fit.
    earlier : LabelEmbedding, optional
        Settings are taken from it, if its contexts have the same names.

    Returns
    -------
    Chosen
        The setting, and how it was found.
    """
    given = _given(aligned, options)
    is_off = not options["choose"] or options["complete_only"]
    if is_off or options["init"] == "ones":
        return Chosen(given, reason="Choosing was turned off.")
    taken = None if earlier is None else _taken(earlier, aligned, options)
    if taken is not None:
        return taken
    trials = trials_of(aligned, options)
    if trials.nothing_to_judge_by:
        return Chosen(given, reason=f"The defaults stay: {trials.nothing_to_judge_by}.")
    done: list[Trial] = []
    best = Trial("", given, -np.inf, {}, kept=True)
    plans = _plans(aligned, options, trials.hidden)
    with counted_progress(
        "choosing settings", enabled=options["verbose"], unit="trials"
    ) as show:
        for words, changes in plans:
            setting = replace(best.setting, **changes)
            skills = trials.skills(trials.errors(setting))
            # A table that is hardly better than its means would be shrunk to nothing.
            is_predicted = trials.is_predicted
            counted = [x if is_predicted(name, x) else 0 for name, x in skills.items()]
            skill = float(np.mean(counted))
            # Tables of noise must not hide what a change does for the others.
            kept = (skill - best.skill) * len(counted) > GAIN
            done.append(Trial(words, setting, skill, skills, kept))
            best = done[-1] if kept else best
            show(len(done), len(plans))
    cells = f"{trials.n_hidden:,} hidden cells"
    if best.skill < WORTH:
        reason = f"The defaults stay: no setting predicts {cells}."
        return Chosen(given, tuple(done), reason)
    reason = (
        f"The best of {len(done)} settings predicts {cells} "
        f"with skill {best.skill:.3f} (1 is perfect, 0 is the mean of a column); "
        f"the first one had {done[0].skill:.3f}."
    )
    setting = best.setting
    if options["shrinkage"] == "auto":
        shrinkage = _without_noise(trials, done, setting.roles)
        setting = replace(setting, shrinkage=shrinkage)
    if options["dim"] == "auto":
        setting = replace(setting, dim=longest_useful(aligned, setting.roles))
    return Chosen(setting, tuple(done), reason)


def pose_chosen(
    aligned: Aligned, options: Mapping[str, Any], chosen: Chosen
) -> tuple[Problem, Chosen]:
    """Pose the problem of a setting.

    Parameters
    ----------
    aligned : Aligned
        Contexts and labels.
    options : mapping from str to object
        All options of the fit.
    chosen : Chosen
        The setting.

    Returns
    -------
    problem : Problem
        The problem.
    chosen : Chosen
        The same, but a family that would leave labels without a vector of their own has
        become both a family and counts.
    """
    setting, penalties = chosen.setting, penalties_of(options)
    if options["init"] == "ones":
        # √d times the 1-norm of the one dimension that is left
        penalties = replace(penalties, sparsity=penalties.sparsity * setting.dim**0.5)
    placed = in_roles(aligned.contexts, setting.roles)
    problem = pose(replace(aligned, contexts=placed), penalties, setting.dim)
    errors = {
        context.given_name: error
        for context in problem.contexts
        if (error := context.uninformed_error(problem.labels)) is not None
    }
    lost = [name for name in errors if setting.roles.get(name) == "family"]
    if lost:
        roles = {**setting.roles, **dict.fromkeys(lost, "both")}
        setting = replace(setting, roles=roles)
        return pose_chosen(aligned, options, replace(chosen, setting=setting))
    for error in errors.values():
        raise error
    sizes = setting.shrinkage
    shrunk = [c.changed(shrinkage=sizes.get(c.name)) for c in problem.contexts]
    return replace(problem, contexts=tuple(shrunk)), chosen


def trials_of(aligned: Aligned, options: Mapping[str, Any]) -> Trials:
    """Hide cells for the trials of a fit.

    Parameters
    ----------
    aligned : Aligned
        Contexts and labels.
    options : mapping from str to object
        All options of the fit.

    Returns
    -------
    Trials
        What fits with its options.
    """
    weigh = partial(start_weights, options)
    return Trials(aligned, penalties_of(options), weigh, options)


def _given(aligned: Aligned, options: Mapping[str, Any]) -> Setting:
    """What the options say, and defaults for what they leave open."""
    dim, shrinkage = options["dim"], {}
    if dim == "auto":
        dim = min(Setting.dim, longest_useful(aligned, {}))
    if options["shrinkage"] != "auto":
        tables = [c.name for c in aligned.contexts if c.relatives() is None]
        shrinkage = dict.fromkeys(tables, float(options["shrinkage"]))
    return Setting(dim, shrinkage=shrinkage)


def _taken(
    earlier: LabelEmbedding, aligned: Aligned, options: Mapping[str, Any]
) -> Chosen | None:
    """What the fit of an earlier embedding has chosen among the same contexts."""
    known = {context.given_name for context in earlier.contexts}
    try:
        found = Chosen.from_dict(earlier.origin["chosen"])
    except (KeyError, TypeError, ValueError):  # older and forged files hold anything
        return None
    given = _given(aligned, options)
    if known != {x.name for x in aligned.contexts} or not found.trials:
        return None
    is_open = {context.name for context in aligned.contexts if context.role_is_open}
    roles = {x: role for x, role in found.setting.roles.items() if x in is_open}
    shrinkage = given.shrinkage or found.setting.shrinkage
    dim = given.dim if options["dim"] != "auto" else longest_useful(aligned, roles)
    setting = Setting(dim, roles, shrinkage)
    return Chosen(setting, found.trials, "Taken from the earlier embedding.")


def _plans(
    aligned: Aligned, options: Mapping[str, Any], tables: Collection[str]
) -> list[tuple[str, dict[str, Any]]]:
    """What to try, in words and as changes of the best setting so far."""
    is_open = [c for c in aligned.contexts if c.role_is_open]
    trees = [c.name for c in is_open if c.hierarchy is not None]
    graphs = [c.name for c in is_open if c.hierarchy is None]
    tried = {
        "at first": [],  # counts come first, as in the paper
        "hierarchies as families": trees,
        "graphs as families": [] if trees else graphs,
        "both as families": [*trees, *graphs] if trees and graphs else [],
    }
    found: list[tuple[str, dict[str, Any]]] = []
    for words, families in tried.items():
        if found and not families:
            continue
        roles = dict.fromkeys(families, "family")
        found.append((words, {"roles": roles}))
        if options["dim"] == "auto":
            everyone = dict.fromkeys([*trees, *graphs], "family")
            dim = longest_useful(aligned, everyone)
            if any(map(_is_counted, in_roles(aligned.contexts, roles))):
                dim = max(dim, SHORTEST)
            found[-1][1]["dim"] = dim
    if options["shrinkage"] == "auto":
        found[0][1]["shrinkage"] = dict.fromkeys(tables, FIRST_SHRINKAGE)
        for size in SHRINKAGES:
            changes = {"shrinkage": dict.fromkeys(tables, size)}
            found.append((f"shrinkage {size:g}", changes))
    return found


def _without_noise(
    trials: Trials, done: Sequence[Trial], roles: Mapping[str, str]
) -> dict[str, float]:
    """The best shrinkage of each table; tables that nothing predicts vanish.

    A table stays if some label is known by nothing else: it would have no vector.
    """
    tried = [trial for trial in done if trial.setting.roles == roles]
    found, noise, contexts = {}, set(), trials.aligned.contexts
    for name in trials.hidden:
        winner = max(tried, key=lambda trial: trial.skills[name])
        found[name] = winner.setting.shrinkage[name]
        if not trials.is_predicted(name, max(trial.skills[name] for trial in done)):
            noise.add(name)
    kept = (context for context in contexts if context.name not in noise)
    others = set().union(*(context.observed_labels for context in kept))
    for context in contexts:
        if context.name in noise and others.issuperset(context.observed_labels):
            found[context.name] = NOISE
    return found


def longest_useful(aligned: Aligned, roles: Mapping[str, str]) -> int:
    """Return the length of vectors that suits the contexts.

    Parameters
    ----------
    aligned : Aligned
        Contexts and labels.
    roles : mapping from str to str
        Roles of contexts whose role is open.

    Returns
    -------
    int
        As many dimensions as the columns of tables and counts can fill, within limits
        of time; counts fill no more than the default. A family fills none by itself.
    """
    width = 0
    for context in in_roles(aligned.contexts, roles):
        if context.relatives() is None:
            width += len(context.columns)
        elif _is_counted(context):
            width += min(Setting.dim, len(context.columns))
    n = len(aligned.labels)
    widest = min(WIDEST, max(Setting.dim, n // 5)) if n <= LONG_UP_TO else Setting.dim
    return max(1, min(width, widest))


def _is_counted(context: Context) -> bool:
    """Whether a hierarchy or graph is fitted as counts."""
    return context.relatives() is not None and context in context.parts()
