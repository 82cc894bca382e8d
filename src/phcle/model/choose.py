"""Choose the settings that a user leaves open, by how well hidden cells are predicted.

At most five short fits with different settings predict the same hidden cells, and a
change is kept if it predicts them better. The questions, in this order:

1. Do hierarchies and graphs serve better as families than as counts?
2. How strongly is each table shrunk? A table of noise is shrunk to nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from phcle.contexts.alignment import Aligned
from phcle.contexts.protocol import Context
from phcle.contexts.terms import Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import PhcleWarning
from phcle.model.help import useful_weights
from phcle.model.problem import Problem, pose
from phcle.model.settings import NOISE, Chosen, Setting, Trial
from phcle.model.trials import Trials, in_roles
from phcle.model.warm import earlier_choice
from phcle.model.weights import given_weights, shared_weights
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
    *,
    anew: bool = False,
) -> tuple[Problem, Chosen]:
    """Choose the settings that are open, or take them from an earlier embedding.

    Parameters
    ----------
    aligned : Aligned
        Contexts and labels.
    options : mapping from str to object
        All options of the fit.
    earlier : LabelEmbedding, optional
        Where the fit starts from.
    anew : bool, default False
        Whether to choose in spite of it.

    Returns
    -------
    problem : Problem
        The problem of the setting.
    chosen : Chosen
        The setting, and how it was found.
    """
    is_off = not options["choose"] or options["complete_only"]
    if is_off or options["init"] == "ones":
        found = Chosen(_given(aligned, options), reason="Choosing was turned off.")
    elif earlier is None:
        found = _tried(aligned, options)
    else:
        taken = None if anew else earlier_choice(earlier, options, aligned)
        if isinstance(taken, Chosen):
            dim, before = options["dim"], taken.setting
            if dim == "auto":  # as many as the columns fill, if that was chosen
                long = longest_useful(aligned, before.roles)
                dim = Setting.dim if before.dim == Setting.dim else long
            taken = replace(taken, setting=replace(before, dim=int(dim)))
            return pose_chosen(aligned, options, taken)
        found = _tried(aligned, options)
        why = f"Chosen anew: {taken or 'that was asked for'}. "
        found = replace(found, reason=why + found.reason)
    problem, found = pose_chosen(aligned, options, found)
    if options["weights"] == "auto":
        trials, verbose = _trials(aligned, options, found.setting), options["verbose"]
        with counted_progress(
            "weighing contexts", enabled=verbose, unit="contexts"
        ) as show:
            shares, reasons = useful_weights(trials, found.setting, show)
        if not shares:
            warnings.warn(f"weights='auto': {reasons[0]}", PhcleWarning, stacklevel=3)
        found = replace(found, shares=shares, weighing=reasons)
    return problem, found


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
    setting, penalties = chosen.setting, penalties_of(options, chosen.setting)
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


def penalties_of(options: Mapping[str, Any], setting: Setting) -> Penalties:
    """Make the λ's of a setting.

    Parameters
    ----------
    options : mapping from str to object
        All options of the fit.
    setting : Setting
        The setting.

    Returns
    -------
    Penalties
        The λ's and k.
    """
    return Penalties(
        negatives=float(setting.negatives),
        descriptive=float(setting.descriptive_weight),
        sparsity=float(options["sparsity"]),
        ridge=float(options["ridge"]),
        context_ridge=float(options["context_ridge"]),
        stiffness=float(setting.stiffness),
    )


def start_weights(
    options: Mapping[str, Any],
    problem: Problem,
    shares: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Make the weights that a fit starts with.

    Parameters
    ----------
    options : mapping from str to object
        All options of the fit.
    problem : Problem
        The contexts.
    shares : mapping, optional
        Shares of the weights, if they were measured.

    Returns
    -------
    dict
        α and β by context.
    """
    weights = options["weights"]
    if isinstance(weights, Mapping):
        return given_weights(problem, weights)
    return shared_weights(problem, shares or {})


def _given(aligned: Aligned, options: Mapping[str, Any]) -> Setting:
    """What the options say, and defaults for what they leave open."""
    tables = [c.name for c in aligned.contexts if c.relatives() is None]
    names = [field.name for field in fields(Setting) if field.name in options]
    given = {x: options[x] for x in names if options[x] != "auto"}
    if "shrinkage" in given:
        given["shrinkage"] = dict.fromkeys(tables, float(given["shrinkage"]))
    given.setdefault("dim", min(Setting.dim, longest_useful(aligned, {})))
    return Setting(**given)


def _trials(aligned: Aligned, options: Mapping[str, Any], setting: Setting) -> Trials:
    weigh = partial(start_weights, options)
    return Trials(aligned, penalties_of(options, setting), weigh, options)


def _tried(aligned: Aligned, options: Mapping[str, Any]) -> Chosen:
    """The settings that the options leave open, chosen by trials.

    They are made one after the other, each with a change of the best so far.
    """
    given = _given(aligned, options)
    why = "no cell of readable tables could be hidden"
    if any(context.may_have_gaps for context in aligned.contexts):
        trials = _trials(aligned, options, given)
        why = trials.nothing_to_judge_by
    if why:
        return Chosen(given, reason=f"The defaults stay: {why}.")
    finds_dim, shrinks = (options[x] == "auto" for x in ("dim", "shrinkage"))
    done: list[Trial] = []
    best = Trial("", given, -np.inf, {}, kept=True)
    plans = _plans(aligned.contexts, shrinks=shrinks)
    with counted_progress(
        "choosing settings", enabled=options["verbose"], unit="trials"
    ) as show:
        for change, families, size in plans:
            setting = best.setting
            if families is not None:
                setting = _in_roles(aligned, setting, families, finds_dim=finds_dim)
            if size:
                setting = replace(setting, shrinkage=dict.fromkeys(trials.hidden, size))
            skills = trials.skills(trials.errors(setting))
            # A table that is hardly better than its means would be shrunk to nothing.
            is_predicted = trials.is_predicted
            counted = [x if is_predicted(name, x) else 0 for name, x in skills.items()]
            skill = float(np.mean(counted))
            # Tables of noise must not hide what a change does for the others.
            kept = (skill - best.skill) * len(counted) > GAIN
            done.append(Trial(change, setting, skill, skills, kept))
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
    if shrinks:
        shrinkage = _without_noise(trials, done, setting.roles)
        setting = replace(setting, shrinkage=shrinkage)
    if finds_dim:
        setting = replace(setting, dim=longest_useful(aligned, setting.roles))
    return Chosen(setting, tuple(done), reason)


def _plans(
    contexts: Sequence[Context], *, shrinks: bool
) -> list[tuple[str, Sequence[str] | None, float]]:
    """What to try: words, contexts that become families, and a shrinkage."""
    is_open = [c for c in contexts if c.role_is_open]
    trees = [c.name for c in is_open if c.hierarchy is not None]
    graphs = [c.name for c in is_open if c.hierarchy is None]
    both = [*trees, *graphs] if trees and graphs else []
    found: list[tuple[str, Sequence[str] | None, float]] = [
        ("hierarchies as families", trees, 0.0),
        ("graphs as families", [] if trees else graphs, 0.0),
        ("both as families", both, 0.0),
    ]
    found = [plan for plan in found if plan[1]]
    if shrinks:
        found += ((f"shrinkage {size:g}", None, size) for size in SHRINKAGES)
    # Counts come first, as in the paper.
    return [("at first", (), FIRST_SHRINKAGE if shrinks else 0.0), *found]


def _in_roles(
    aligned: Aligned, setting: Setting, families: Sequence[str], *, finds_dim: bool
) -> Setting:
    """A setting with these families, and the length of vectors that suits them."""
    setting = replace(setting, roles=dict.fromkeys(families, "family"))
    if not finds_dim:
        return setting
    is_open = [context.name for context in aligned.contexts if context.role_is_open]
    dim = longest_useful(aligned, dict.fromkeys(is_open, "family"))
    placed = in_roles(aligned.contexts, setting.roles)
    if any(_is_counted(context) for context in placed):
        dim = max(dim, SHORTEST)
    return replace(setting, dim=dim)


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
        most = max(trial.skills[name] for trial in done)
        if not trials.is_predicted(name, most):
            noise.add(name)
    others = {
        label
        for context in contexts
        if context.name not in noise
        for label in context.observed_labels
    }
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
