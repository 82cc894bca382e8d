"""α and β: the weight of each context.

"equal" splits a weight of one evenly within each kind. "nie" is the self-weighting that
the paper refers to (weight ∝ 1/(2√loss)), for comparison only: it rewards over-fitting.
"auto" is "equal" among the contexts that are useful (`trials.py` finds out which).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from phcle.errors import OptionError, did_you_mean, some
from phcle.model.problem import Problem, Weights
from phcle.options import LARGEST, is_amount, shortened

BACKGROUND = 0.02
"""Weight of counts beside a family of the same hierarchy, as a share. It keeps labels
without data apart; at full weight, traits of mammals were predicted much worse."""


def equal_weights(problem: Problem) -> dict[str, float]:
    """Split a weight of one evenly within each kind of context.

    A table with a shrinkage of its own has a weight of one, however many others there
    are: its shrinkage decides how much of it is fitted, and a share of one would shrink
    it more with every further table. Counts beside a family of the same hierarchy get a
    small share only.

    Parameters
    ----------
    problem : Problem
        The contexts.

    Returns
    -------
    dict
        Weights by context.
    """
    families = {x.given_name for x in problem.contexts if x.turns_with_labels}
    weights = {}
    for group in problem.groups:
        n_sharing = sum(context.shrinkage is None for context in group)
        for context in group:
            is_shrunk = context.shrinkage is not None
            weights[context.name] = 1.0 if is_shrunk else 1.0 / n_sharing
    for context in problem.contexts:
        if context.given_name in families and not context.turns_with_labels:
            weights[context.name] *= BACKGROUND
    return weights


def given_weights(problem: Problem, weights: Weights) -> dict[str, float]:
    """Check the user's weights: every context must have one.

    Parameters
    ----------
    problem : Problem
        The contexts.
    weights : mapping
        Weights by context, zero or more.

    Returns
    -------
    dict
        Weights by context, in the order of the problem.
    """
    given = {context.name: context.given_name for context in problem.contexts}
    for name in (*weights, *given.values()):
        if name not in given.values():
            raise OptionError(
                f"weights name the context {name!r}, which was not given."
                f"{did_you_mean(name, given.values())}"
            )
        if not is_amount(weights.get(name)):
            raise OptionError(
                f"the weight of context {name!r} must be zero or more, and {LARGEST:g} "
                f"at most. Got {shortened(weights.get(name))}."
            )
    if not any(weights.values()):
        raise OptionError("at least one context must have a weight above zero.")
    found = {name: float(weights[by]) for name, by in given.items()}
    families = [c.name for c in problem.contexts if c.turns_with_labels]
    pull = sum(found[name] for name in families)
    if pull > 1:  # labels would be pulled beyond their centres, and away without end
        raise OptionError(
            f"the weights of contexts with role='family' or 'both' must sum to one at "
            f"most. Got {pull:g} for {some(families)}."
        )
    return found


def nie_weights(
    problem: Problem, losses: Mapping[str, float], weights: Weights
) -> dict[str, float]:
    """Compute weights ∝ 1/(2√loss) within each kind of context (Nie et al. 2017).

    Losses are measured above their floor. Most of a relational loss is its floor, so
    the weights would hardly differ otherwise.

    Parameters
    ----------
    problem : Problem
        The contexts.
    losses : mapping
        Loss of each context, times its present weight.
    weights : mapping
        The present weights.

    Returns
    -------
    dict
        New weights by context.
    """
    renewed: dict[str, float] = {}
    for group in problem.groups:
        names = [context.name for context in group]
        own = np.array([losses[name] / weights[name] for name in names])
        raw = 0.5 / np.sqrt(np.maximum(own, 1e-12))
        renewed |= dict(zip(names, map(float, raw / raw.sum()), strict=True))
    return renewed


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
        Share of its weight that each context keeps, if that was measured. Contexts with
        more than a bit have equal weights, as if there were no others.

    Returns
    -------
    dict
        α and β by context.
    """
    if isinstance(options["weights"], Mapping):
        return given_weights(problem, options["weights"])
    if not shares:
        return equal_weights(problem)
    useful = [c for c in problem.contexts if shares[c.given_name] > BACKGROUND]
    full = equal_weights(replace(problem, contexts=tuple(useful)))
    return {
        context.name: full.get(context.name, 1.0) * shares[context.given_name]
        for context in problem.contexts
    }
