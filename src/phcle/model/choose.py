"""Choose the settings that a user leaves open, by how well hidden cells are predicted.

At most five short fits with different settings predict the same hidden cells, and a
change is kept if it predicts them better. The questions, in this order:

1. Do hierarchies and graphs serve better as families than as counts?
2. How strongly is each table shrunk? A table of noise is shrunk to nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
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
from phcle.model.weights import equal_weights, given_weights, shared_weights
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

MOST_TRIALS = 5
"""Settings that are tried at most, for the progress bar."""


@dataclass(frozen=True)
class SettingChoice:
    """Chooses the settings that the options of a fit leave open.

    Attributes
    ----------
    options : mapping from str to object
        All options of the fit.
    """

    options: Mapping[str, Any]

    def chosen(
        self,
        aligned: Aligned,
        earlier: LabelEmbedding | None = None,
        *,
        anew: bool = False,
    ) -> tuple[Problem, Chosen]:
        """Choose what is open, or take it from an earlier embedding.

        Parameters
        ----------
        aligned : Aligned
            Contexts and labels.
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
        options, why = self.options, ""
        is_off = not options["choose"] or options["complete_only"]
        if is_off or options["init"] == "ones":
            found = Chosen(self.given(aligned), reason="Choosing was turned off.")
        elif earlier is None:
            found = self._tried(aligned)
        else:
            taken = earlier_choice(earlier, options, aligned) if not anew else None
            if isinstance(taken, Chosen):
                dim = self._long_as(aligned, taken.setting)
                setting = replace(taken.setting, dim=dim)
                return self.posed(aligned, replace(taken, setting=setting))
            why = f"Chosen anew: {taken or 'that was asked for'}. "
            found = self._tried(aligned)
        problem, found = self.posed(aligned, replace(found, reason=why + found.reason))
        if options["weights"] == "auto":
            found = self._weighed(aligned, found)
        return problem, found

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
        penalties = self.penalties(chosen.setting)
        if self.options["init"] == "ones":
            # √d times the 1-norm of the one dimension that is left
            sparsity = penalties.sparsity * chosen.setting.dim**0.5
            penalties = replace(penalties, sparsity=sparsity)
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

    def weights(
        self, problem: Problem, shares: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """Make the weights that a fit starts with.

        Parameters
        ----------
        problem : Problem
            The contexts.
        shares : mapping, optional
            Shares of the weights, if they were measured.

        Returns
        -------
        dict
            α and β by context.
        """
        if shares:
            return shared_weights(problem, shares)
        weights = self.options["weights"]
        if isinstance(weights, Mapping):
            return given_weights(problem, weights)
        return equal_weights(problem)

    def given(self, aligned: Aligned) -> Setting:
        """Return what the options say, and defaults for what they leave open.

        Parameters
        ----------
        aligned : Aligned
            Contexts and labels.

        Returns
        -------
        Setting
            The setting without any trial.
        """
        tables = [c.name for c in aligned.contexts if c.relatives() is None]
        names = [field.name for field in fields(Setting) if field.name in self.options]
        given = {x: self.options[x] for x in names if self.options[x] != "auto"}
        if "shrinkage" in given:
            given["shrinkage"] = dict.fromkeys(tables, float(given["shrinkage"]))
        given.setdefault("dim", min(Setting.dim, longest_useful(aligned, {})))
        return Setting(**given)

    def _long_as(self, aligned: Aligned, before: Setting) -> int:
        """The length of vectors beside the other settings of an earlier fit."""
        if self.options["dim"] != "auto":
            return int(self.options["dim"])
        if before.dim == Setting.dim:
            return before.dim
        return longest_useful(aligned, before.roles)  # as many as the columns fill

    def _trials(self, aligned: Aligned, setting: Setting) -> Trials:
        return Trials(aligned, self.penalties(setting), self.weights, self.options)

    def _tried(self, aligned: Aligned) -> Chosen:
        """The settings that the options leave open, chosen by trials."""
        given, options = self.given(aligned), self.options
        why = "no cell of readable tables could be hidden"
        if any(context.may_have_gaps for context in aligned.contexts):
            trials = self._trials(aligned, given)
            why = trials.nothing_to_judge_by
        if why:
            return Chosen(given, reason=f"The defaults stay: {why}.")
        is_open = {x for x in ("dim", "shrinkage") if options[x] == "auto"}
        with counted_progress(
            "choosing settings", enabled=options["verbose"], unit="trials"
        ) as show:
            return _Search(trials, given, is_open).run(show)

    def _weighed(self, aligned: Aligned, chosen: Chosen) -> Chosen:
        """Find out which contexts are useful, at the chosen setting."""
        trials = self._trials(aligned, chosen.setting)
        with counted_progress(
            "weighing contexts", enabled=self.options["verbose"], unit="contexts"
        ) as show:
            shares, reasons = useful_weights(trials, chosen.setting, show)
        if not shares:
            warnings.warn(f"weights='auto': {reasons[0]}", PhcleWarning, stacklevel=4)
        return replace(chosen, shares=shares, weighing=reasons)


class _Search:
    """Tries settings one after the other, each a change of the best so far."""

    def __init__(self, trials: Trials, given: Setting, is_open: set[str]) -> None:
        self.trials, self.given, self.is_open = trials, given, is_open
        self.contexts = trials.aligned.contexts
        roles = [c for c in self.contexts if c.role_is_open]
        self.trees = [c.name for c in roles if c.hierarchy is not None]
        self.graphs = [c.name for c in roles if c.hierarchy is None]
        self.done: list[Trial] = []

    @property
    def best(self) -> Trial:
        """The last change that was kept."""
        return next(trial for trial in reversed(self.done) if trial.kept)

    def run(self, show: Callable[[int, int], None]) -> Chosen:
        """Make all trials and choose."""
        for n_done, (change, setting) in enumerate(self._changes(), 1):
            self._compare(change, setting)
            show(n_done, MOST_TRIALS)
        best, hidden = self.best, self.trials.hidden
        n_hidden = sum(len(cells.rows) for cells in hidden.values())
        if best.skill < WORTH:
            reason = (
                f"The defaults stay: no setting predicts {n_hidden:,} hidden cells."
            )
            return Chosen(self.given, tuple(self.done), reason)
        reason = (
            f"The best of {len(self.done)} settings predicts {n_hidden:,} hidden cells "
            f"with skill {best.skill:.3f} (1 is perfect, 0 is the mean of a column); "
            f"the first one had {self.done[0].skill:.3f}."
        )
        setting = best.setting
        if "shrinkage" in self.is_open:
            setting = replace(setting, shrinkage=self._without_noise())
        if "dim" in self.is_open:
            dim = longest_useful(self.trials.aligned, setting.roles)
            setting = replace(setting, dim=dim)
        return Chosen(setting, tuple(self.done), reason)

    def _changes(self) -> Iterator[tuple[str, Setting]]:
        """What to try; counts come first, as in the paper."""
        shrinks = "shrinkage" in self.is_open
        first = self._in_roles(self.given, [])
        yield "at first", self._shrunk(first, FIRST_SHRINKAGE) if shrinks else first
        trees, graphs = self.trees, self.graphs
        for change, names in (
            ("hierarchies as families", trees),
            ("graphs as families", [] if trees else graphs),
            ("both as families", [*trees, *graphs] if trees and graphs else []),
        ):
            if names:
                yield change, self._in_roles(self.best.setting, names)
        for size in SHRINKAGES if shrinks else ():
            yield f"shrinkage {size:g}", self._shrunk(self.best.setting, size)

    def _shrunk(self, setting: Setting, size: float) -> Setting:
        return replace(setting, shrinkage=dict.fromkeys(self.trials.hidden, size))

    def _in_roles(self, setting: Setting, families: Sequence[str]) -> Setting:
        """A setting with these families, and the length of vectors that suits them."""
        setting = replace(setting, roles=dict.fromkeys(families, "family"))
        if "dim" not in self.is_open:
            return setting
        all_families = dict.fromkeys([*self.trees, *self.graphs], "family")
        dim = longest_useful(self.trials.aligned, all_families)
        placed = in_roles(self.contexts, setting.roles)
        has_counts = any(_is_counted(context) for context in placed)
        return replace(setting, dim=max(dim, SHORTEST) if has_counts else dim)

    def _compare(self, change: str, setting: Setting) -> None:
        """Try a setting, and keep it if it predicts better than the best so far."""
        skills = self.trials.skills(self.trials.errors(setting))
        # A table that is hardly better than its means would be shrunk to nothing.
        is_predicted = self.trials.is_predicted
        counted = [x if is_predicted(name, x) else 0 for name, x in skills.items()]
        skill = float(np.mean(counted))
        # Tables of noise must not hide what a change does for the others: no mean here.
        kept = not self.done or (skill - self.best.skill) * len(counted) > GAIN
        self.done.append(Trial(change, setting, skill, skills, kept))

    def _without_noise(self) -> dict[str, float]:
        """The best shrinkage of each table; tables that nothing predicts vanish.

        A table stays if some label is known by nothing else: it would have no vector.
        """
        roles = self.best.setting.roles
        tried = [trial for trial in self.done if trial.setting.roles == roles]
        found, noise = {}, set()
        for name in self.trials.hidden:
            winner = max(tried, key=lambda trial: trial.skills[name])
            found[name] = winner.setting.shrinkage[name]
            most = max(trial.skills[name] for trial in self.done)
            if not self.trials.is_predicted(name, most):
                noise.add(name)
        others: set[str] = set()
        for context in self.contexts:
            if context.name not in noise:
                others.update(context.observed_labels)
        for context in self.contexts:
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
        return pose_setting(aligned, replace(setting, roles=roles), penalties)
    for error in errors.values():
        raise error
    sizes = setting.shrinkage
    shrunk = [c.changed(shrinkage=sizes.get(c.name)) for c in problem.contexts]
    return replace(problem, contexts=tuple(shrunk)), setting
