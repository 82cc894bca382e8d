"""What a fit may choose by itself, and the problem that it then poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from phcle.contexts.alignment import Aligned
from phcle.contexts.protocol import Context
from phcle.contexts.terms import Penalties
from phcle.errors import some
from phcle.files.text import of_types
from phcle.model.problem import Problem, pose

NOISE = 1.6
"""Shrinkage of a table that no setting predicts: its factor becomes zero."""

WIDEST = 200
"""Longest vectors that are chosen without being asked for. Up to the rank of the
tables, longer vectors predict better; time grows with the length."""

LONG_UP_TO = 20_000
"""Above this many labels, vectors longer than the default are not chosen: they would
make fits that take minutes twice as long."""


@dataclass(frozen=True)
class Setting:
    """What can be chosen. The defaults hold where nothing can.

    Attributes
    ----------
    dim : int
        Length of a vector.
    negatives : float
        k.
    descriptive_weight : float
        λ1.
    stiffness : float
        γ.
    roles : mapping from str to str
        Role of each hierarchy or graph whose role is open, by the name of its context.
    shrinkage : mapping from str to float
        Shrinkage of each table, by its name. A table without one has λ3 as its ridge.
    """

    dim: int = 100
    negatives: float = 10.0
    descriptive_weight: float = 3.0
    stiffness: float = 1.0
    roles: Mapping[str, str] = field(default_factory=dict)
    shrinkage: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """A setting that was tried.

    Attributes
    ----------
    change : str
        What it changes, in words.
    setting : Setting
        The whole setting.
    skill : float
        Mean skill over the tables: 1 is perfect, 0 is as good as their means.
    skills : mapping from str to float
        Skill by table; below 0 it is worse than the means.
    kept : bool
        Whether the change was kept.
    """

    change: str
    setting: Setting
    skill: float
    skills: Mapping[str, float]
    kept: bool


@dataclass(frozen=True)
class Chosen:
    """The setting of a fit and how it was found.

    Attributes
    ----------
    setting : Setting
        The setting of the fit.
    trials : tuple of Trial
        All that was tried, in order; empty if nothing was.
    reason : str
        Why this setting, in words.
    shares : mapping from str to float
        With weights="auto": the share of its weight that each context keeps.
    weighing : tuple of str
        Why, in words, one sentence for each context.
    changed : float or None
        Share of the cells that changed since the settings were chosen, if they are
        taken from an earlier embedding; None if this fit chose them.
    """

    setting: Setting
    trials: tuple[Trial, ...] = ()
    reason: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)
    weighing: tuple[str, ...] = ()
    changed: float | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What was chosen and why, in a few sentences."""
        found = [self.reason] if self.reason else []
        if self.trials:
            setting = self.setting
            roles = [f"{name} as {role}" for name, role in setting.roles.items()]
            parts = [*roles, f"{setting.dim} dimensions"]
            kept = {n: x for n, x in setting.shrinkage.items() if x < NOISE}
            if kept:
                shown = ", ".join(f"{name} {x:g}" for name, x in kept.items())
                parts.append(f"shrinkage {shown}")
            found.append(f"Chosen: {'; '.join(parts)}.")
            noise = [name for name, x in setting.shrinkage.items() if x >= NOISE]
            if noise:
                found.append(f"Nothing predicts {some(noise)}: not used.")
        return (*found, *self.weighing)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can store.

        Returns
        -------
        dict
            All fields, and `words`.
        """
        return {**asdict(self), "words": list(self.words)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Make a choice from what `to_dict` returned.

        Parameters
        ----------
        stored : mapping
            All fields.

        Returns
        -------
        Chosen
            The choice.
        """
        trials = [
            of_types(Trial, {**trial, "setting": of_types(Setting, trial["setting"])})
            for trial in stored["trials"]
        ]
        own = {
            "setting": of_types(Setting, stored["setting"]),
            "trials": tuple(trials),
            "weighing": tuple(stored["weighing"]),
            "changed": stored.get("changed"),
        }
        return of_types(cls, {**stored, **own})


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
        elif context in context.parts():  # it is counted
            width += min(Setting.dim, len(context.columns))
    n = len(aligned.labels)
    widest = min(WIDEST, max(Setting.dim, n // 5)) if n <= LONG_UP_TO else Setting.dim
    return max(1, min(width, widest))


def pose_setting(
    aligned: Aligned, setting: Setting, penalties: Penalties
) -> tuple[Problem, Setting]:
    """Pose the problem of a fit with a setting.

    Parameters
    ----------
    aligned : Aligned
        Contexts and labels.
    setting : Setting
        Roles, shrinkage and dimension.
    penalties : Penalties
        The λ's and k.

    Returns
    -------
    problem : Problem
        The problem.
    setting : Setting
        The same setting, but a family that would leave labels without a vector of their
        own has become both a family and counts.
    """
    problem = _posed(aligned, setting, penalties)
    lost = {
        context.given_name: "both"
        for context in problem.contexts
        if context.uninformed_error(problem.labels) is not None
        and setting.roles.get(context.given_name) == "family"
    }
    if lost:
        setting = replace(setting, roles={**setting.roles, **lost})
        problem = _posed(aligned, setting, penalties)
    for context in problem.contexts:
        error = context.uninformed_error(problem.labels)
        if error is not None:
            raise error
    return problem, setting


def _posed(aligned: Aligned, setting: Setting, penalties: Penalties) -> Problem:
    placed = in_roles(aligned.contexts, setting.roles)
    problem = pose(replace(aligned, contexts=placed), penalties, setting.dim)
    sizes = setting.shrinkage
    shrunk = [c.changed(shrinkage=sizes.get(c.name)) for c in problem.contexts]
    return replace(problem, contexts=tuple(shrunk))


def in_roles(
    contexts: Sequence[Context], roles: Mapping[str, str]
) -> tuple[Context, ...]:
    """Put contexts into the roles that a setting gives them.

    Parameters
    ----------
    contexts : sequence of Context
        All contexts.
    roles : mapping from str to str
        Role by name; contexts that are not named keep theirs.

    Returns
    -------
    tuple of Context
        The contexts in their roles.
    """
    return tuple(
        c.changed(role=roles[c.name]) if c.name in roles else c for c in contexts
    )
