"""What a fit may choose by itself, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from phcle.errors import some
from phcle.files.text import of_types

NOISE = 1.6
"""Shrinkage of a table that no setting predicts: its factor becomes zero."""


@dataclass(frozen=True)
class Setting:
    """What can be chosen. The defaults hold where nothing can.

    Attributes
    ----------
    dim : int
        Length of a vector.
    roles : mapping from str to str
        Role of each hierarchy or graph whose role is open, by the name of its context.
    shrinkage : mapping from str to float
        Shrinkage of each table, by its name. A table without one has λ3 as its ridge.
    """

    dim: int = 100
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
    weighing : tuple of str
        With weights="auto": what each context adds, in words.
    """

    setting: Setting
    trials: tuple[Trial, ...] = ()
    reason: str = ""
    weighing: tuple[str, ...] = ()

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
        trials = (
            of_types(Trial, {**trial, "setting": of_types(Setting, trial["setting"])})
            for trial in stored["trials"]
        )
        own = {"setting": of_types(Setting, stored["setting"]), "trials": tuple(trials)}
        return of_types(cls, {**stored, **own, "weighing": tuple(stored["weighing"])})
