"""From the options of a fit to its settings: given, chosen, or taken from before."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from phcle.backends.protocol import Backend
from phcle.contexts.alignment import Aligned
from phcle.contexts.terms import Penalties
from phcle.errors import PhcleWarning
from phcle.model.choosing import choose
from phcle.model.problem import Problem
from phcle.model.settings import Chosen, Setting, longest_useful, pose_setting
from phcle.model.trials import Question
from phcle.model.useful_weights import useful_weights
from phcle.model.warm_start import WarmStart
from phcle.model.weights import equal_weights, given_weights, shared_weights
from phcle.progress import counted_progress

MOST_TRIALS = 5
"""Settings that are tried at most, for the progress bar."""


class SettingChoice:
    """Chooses the settings that the options of a fit leave open.

    Parameters
    ----------
    options : mapping from str to object
        All options of the fit.
    backend : callable
        Makes the back end of a problem.
    """

    def __init__(
        self, options: Mapping[str, Any], backend: Callable[[Problem], Backend]
    ) -> None:
        self.options, self.backend = options, backend

    def chosen(
        self, aligned: Aligned, warm: WarmStart | None = None
    ) -> tuple[Problem, Chosen]:
        """Choose what is open, or take it from an earlier embedding.

        Parameters
        ----------
        aligned : Aligned
            Contexts and labels.
        warm : WarmStart, optional
            Where the fit starts from.

        Returns
        -------
        problem : Problem
            The problem of the setting.
        chosen : Chosen
            The setting, and how it was found.
        """
        why = ""
        if warm is not None and self._may_choose:
            given, is_open = self._given(aligned), self._is_open
            taken = warm.taken(self.options, given, is_open, aligned, self.posed)
            if not isinstance(taken, str):
                return taken
            why = f"Chosen anew: {taken}. "
        found = self._found(aligned)
        problem, found = self.posed(aligned, replace(found, reason=why + found.reason))
        if self.options["weights"] == "auto":
            found = self._weighed(aligned, found)
        return problem, found

    def resumed(
        self, aligned: Aligned, stored: Mapping[str, Any] | None
    ) -> tuple[Problem, Chosen]:
        """Read the settings of a checkpoint; those of older versions chose nothing.

        Parameters
        ----------
        aligned : Aligned
            Contexts and labels.
        stored : mapping or None
            What `Chosen.to_dict` returned; None for an older file.

        Returns
        -------
        problem : Problem
            The problem of the setting.
        chosen : Chosen
            The setting, and how it was found.
        """
        if stored is None:
            reason = "The version that began this fit chose nothing."
            return self.posed(aligned, Chosen(self._given(aligned), reason=reason))
        chosen = Chosen.from_dict(stored)
        return self.posed(aligned, chosen)

    def posed(self, aligned: Aligned, chosen: Chosen) -> tuple[Problem, Chosen]:
        """Pose the problem of a setting.

        Parameters
        ----------
        aligned : Aligned
            Contexts and labels.
        chosen : Chosen
            The setting.

        Returns
        -------
        problem : Problem
            The problem.
        chosen : Chosen
            The same, with the roles that every label can have.
        """
        penalties = self._posed_penalties(chosen.setting)
        problem, setting = pose_setting(aligned, chosen.setting, penalties)
        return problem, replace(chosen, setting=setting)

    def penalties(self, setting: Setting) -> Penalties:
        """Make the λ's of a setting.

        Parameters
        ----------
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
            sparsity=float(self.options["sparsity"]),
            ridge=float(self.options["ridge"]),
            context_ridge=float(self.options["context_ridge"]),
            stiffness=float(setting.stiffness),
        )

    def weights(self, problem: Problem, chosen: Chosen) -> dict[str, float]:
        """Make the weights that a fit starts with.

        Parameters
        ----------
        problem : Problem
            The contexts.
        chosen : Chosen
            Shares of the weights, if they were measured.

        Returns
        -------
        dict
            α and β by context.
        """
        if self.options["weights"] == "auto":
            return shared_weights(problem, chosen.shares)
        return self._trial_weights(problem)

    @property
    def _may_choose(self) -> bool:
        given = self.options
        return (
            given["choose"] and given["init"] != "ones" and not given["complete_only"]
        )

    @property
    def _is_open(self) -> frozenset[str]:
        """Fields of a setting that no option sets."""
        names = (x.name for x in fields(Setting))
        return frozenset(x for x in names if self.options.get(x, "auto") == "auto")

    def _given(self, aligned: Aligned) -> Setting:
        """What the options say, and defaults for what they leave open."""
        tables = [c.name for c in aligned.contexts if c.relatives() is None]
        given = {
            name: self.options[name]
            for name in ("dim", "negatives", "descriptive_weight", "stiffness")
            if self.options[name] != "auto"
        }
        given.setdefault("dim", min(Setting.dim, longest_useful(aligned, {})))
        shrinkage = self.options["shrinkage"]
        if shrinkage != "auto":
            given["shrinkage"] = dict.fromkeys(tables, float(shrinkage))
        return Setting(**given)

    def _found(self, aligned: Aligned) -> Chosen:
        """The settings that the options leave open."""
        setting = self._given(aligned)
        if not self._may_choose:
            return Chosen(setting, reason="Choosing was turned off.")
        question = self._question(aligned, setting, self._is_open)
        with counted_progress(
            "choosing settings", enabled=self.options["verbose"], unit="trials"
        ) as show:
            n_done = itertools.count(1)
            return choose(question, lambda trial: show(next(n_done), MOST_TRIALS))

    def _question(
        self, aligned: Aligned, given: Setting, is_open: frozenset[str] = frozenset()
    ) -> Question:
        """What trials on hidden cells need to know."""
        return Question(
            aligned,
            given,
            is_open,
            self._posed_penalties,
            self._trial_weights,
            self.backend,
            self.options["random_state"],
        )

    def _weighed(self, aligned: Aligned, chosen: Chosen) -> Chosen:
        """Find out which contexts are useful, at the chosen setting."""
        question = self._question(aligned, chosen.setting)
        with counted_progress(
            "weighing contexts", enabled=self.options["verbose"], unit="contexts"
        ) as show:
            shares, reasons = useful_weights(question, chosen.setting, show)
        if not shares:
            warnings.warn(f"weights='auto': {reasons[0]}", PhcleWarning, stacklevel=4)
        return replace(chosen, shares=shares, weighing=reasons)

    def _posed_penalties(self, setting: Setting) -> Penalties:
        """The λ's of the problem that is solved."""
        penalties = self.penalties(setting)
        if self.options["init"] == "ones":
            # √d times the 1-norm of the one dimension that is left
            sparsity = penalties.sparsity * setting.dim**0.5
            penalties = replace(penalties, sparsity=sparsity)
        return penalties

    def _trial_weights(self, problem: Problem) -> dict[str, float]:
        """The weights of a trial, in which none are measured."""
        weights = self.options["weights"]
        if isinstance(weights, Mapping):
            return given_weights(problem, weights)
        return equal_weights(problem)
