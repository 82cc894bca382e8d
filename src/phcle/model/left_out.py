"""What hidden cells lose when a context is left out of a trial."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from phcle.model.settings import NOISE, Setting
from phcle.model.trials import Trials

Errors = Mapping[str, npt.NDArray[np.float64]]

SWEEPS = 6
"""Sweeps of a trial. After four, skills differ from those of whole fits by up to 0.02,
after six by up to 0.01 (planted tables)."""

CERTAIN = 2.0
"""A change of the skill counts if it is larger than this many standard errors."""

VISIBLE = 0.01
"""Smallest change of the skill that counts: less rounds to nothing."""


@dataclass(frozen=True)
class LeftOut:
    """Skill on the hidden cells of the other tables, with and without a context.

    Attributes
    ----------
    skill : float or None
        Mean skill with all contexts; None if no other table is predicted.
    without : float or None
        Mean skill without the context.
    error : float
        Standard error of the difference.
    tables : mapping from str to float
        Skill of each of the other tables without the context.
    """

    skill: float | None
    without: float | None
    error: float
    tables: Mapping[str, float]

    @property
    def gain(self) -> float:
        """What the context adds to the mean skill of the others."""
        if self.skill is None or self.without is None:
            return 0.0
        return self.skill - self.without

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than chance, and large enough to see."""
        return abs(self.gain) > max(CERTAIN * self.error, VISIBLE)


class LeaveOneOut:
    """Trials of one setting with all contexts, and with one of them left out.

    Parameters
    ----------
    trials : Trials
        Hidden cells and contexts.
    setting : Setting
        The setting of all trials.
    """

    def __init__(self, trials: Trials, setting: Setting) -> None:
        self.trials, self.setting = trials, setting

    @cached_property
    def errors(self) -> Errors:
        """Squared errors of the hidden cells with all contexts, by table."""
        return self._errors([])

    @cached_property
    def skills(self) -> dict[str, float]:
        """Skill of every table with all contexts."""
        return {name: self._skill(name, x) for name, x in self.errors.items()}

    @cached_property
    def predicted(self) -> tuple[str, ...]:
        """Tables that are predicted better than by chance."""
        found = self.skills.items()
        return tuple(n for n, skill in found if self.trials.is_predicted(n, skill))

    def leave_out(self, name: str) -> LeftOut:
        """Fit without a context.

        Parameters
        ----------
        name : str
            The context, as the user named it.

        Returns
        -------
        LeftOut
            What the other tables lose.
        """
        others = [table for table in self.predicted if table != name]
        if not others:
            return LeftOut(None, None, 0.0, {})
        is_nothing = self.setting.shrinkage.get(name) == NOISE
        errors = self.errors if is_nothing else self._errors([name])
        without = {table: self._skill(table, errors[table]) for table in others}
        variance = 0.0
        for table in others:
            truth = self.trials.hidden[table].truth
            change = errors[table] - self.errors[table]
            variance += len(truth) * float(change.var()) / float((truth**2).sum()) ** 2
        return LeftOut(
            skill=_mean(self.skills[table] for table in others),
            without=_mean(without.values()),
            error=variance**0.5 / len(others),
            tables=without,
        )

    def _errors(self, left_out: Collection[str]) -> Errors:
        problem = self.trials.problem(self.setting, left_out)
        return self.trials.errors(problem, SWEEPS)

    def _skill(self, name: str, errors: npt.NDArray[np.float64]) -> float:
        return self.trials.hidden[name].skill(errors)


def _mean(skills: Iterable[float]) -> float:
    """Mean skill; a table that is worse than its means counts as those."""
    return float(np.mean([max(skill, 0.0) for skill in skills]))
