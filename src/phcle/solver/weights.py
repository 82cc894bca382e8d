"""α and β: how much each context counts.

"equal" splits each kind's weight of one evenly. "nie" is the self-weighting that the
paper refers to (weight ∝ 1/(2√loss)), kept for the record: it rewards over-fitting.
"auto" asks each context how well it is predicted where it was held out
(`held_out.py`), so a context that fits in with nothing gets nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from phcle.errors import OptionError, PhcleWarning, did_you_mean
from phcle.solver.problem import Problem

__all__ = ["equal_weights", "given_weights", "nie_weights", "skilled_weights"]


def equal_weights(problem: Problem) -> dict[str, float]:
    """One for each kind, split evenly."""
    return {
        data.name: 1.0 / len(kind)
        for kind in (problem.relational, problem.descriptive)
        for data in kind
    }


def given_weights(problem: Problem, weights: Mapping[str, float]) -> dict[str, float]:
    """The user's weights; contexts left out are an error, not a zero."""
    for name, weight in weights.items():
        if name not in problem.names:
            raise OptionError(
                f"weights name the context {name!r}, which was not given."
                f"{did_you_mean(name, problem.names)}"
            )
        if not (np.isfinite(weight) and weight >= 0):
            raise OptionError(
                f"the weight of context {name!r} must be zero or more. Got {weight!r}."
            )
    missing = [name for name in problem.names if name not in weights]
    if missing:
        raise OptionError(
            f"weights must name every context; {missing[0]!r} is missing "
            "(give it 0 to leave it out)."
        )
    if not any(weights.values()):
        raise OptionError("at least one context must have a weight above zero.")
    return {name: float(weights[name]) for name in problem.names}


def nie_weights(
    problem: Problem, losses: Mapping[str, float], weights: Mapping[str, float]
) -> dict[str, float]:
    """Nie et al. 2017: weight ∝ 1/(2√loss) on the simplex of each kind.

    `losses` carry the present weights, which are divided out; those of relational
    contexts are measured above the saturated floor, else they would hardly differ.
    """
    renewed: dict[str, float] = {}
    for kind in (problem.relational, problem.descriptive):
        raw = {
            data.name: 0.5 / np.sqrt(max(losses[data.name] / weights[data.name], 1e-12))
            for data in kind
        }
        renewed |= {
            name: float(value / sum(raw.values())) for name, value in raw.items()
        }
    return renewed


def skilled_weights(problem: Problem, skills: Mapping[str, float]) -> dict[str, float]:
    """Weights in proportion to √skill, the better kind of context summing to one.

    Skill is a share of variance; its root is a correlation, which does not punish a
    context for having many columns of which each is hard to predict (words, tags).
    """
    if not any(skills.values()):
        warnings.warn(
            "weights='auto': no context predicts another, or itself, on held-out "
            "labels; equal weights are used instead.",
            PhcleWarning,
            stacklevel=2,
        )
        return equal_weights(problem)
    skills = {name: skill**0.5 for name, skill in skills.items()}
    kinds = [kind for kind in (problem.relational, problem.descriptive) if kind]
    means = [float(np.mean([skills[data.name] for data in kind])) for kind in kinds]
    weights = {}
    for kind, mean in zip(kinds, means, strict=True):
        total = sum(skills[data.name] for data in kind)
        for data in kind:
            share = skills[data.name] / total if total else 0.0
            weights[data.name] = share * mean / max(means)
    return weights
