"""Short fits that predict hidden cells, each with another setting.

`Trials` hides some known cells of the readable tables once. Every trial predicts the
same cells, so their skills can be compared. `choosing` and `useful_weights` decide by
them, and `context_help` reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from phcle.arrays import Floats
from phcle.backends.protocol import Backend
from phcle.contexts.alignment import Aligned, observed_among
from phcle.contexts.labels import some_names
from phcle.contexts.protocol import Context
from phcle.contexts.terms import Penalties
from phcle.contexts.values import DescriptiveContext
from phcle.model.folds import HiddenCells, cold_fit, hide_cells
from phcle.model.problem import DeviceProblem, Problem
from phcle.model.settings import NOISE, Setting, Trial, in_roles, longest_useful

SHARE = 0.1
"""Share of the known cells that is hidden. The rest must suffice to learn from."""

MOST_LABELS = 5_000
"""Most labels of a trial, so that choosing for a large problem does not take long."""

MOST_CELLS = 3_000_000
"""Most cells of a table that are looked at when some are drawn: 24 MB."""

FEWEST_CELLS = 50
"""Fewest hidden cells to choose by. With fewer, chance would choose."""

SWEEPS = 4
"""Sweeps of a trial. Every trial begins anew: one that began where another ended would
remember what that one made of the cells. Further sweeps seldom change their order."""

SHORTEST = 50
"""Least length of vectors in trials with counts, so that these are not at a
disadvantage beside families, which need no length of their own."""

GAIN = 0.001
"""A change must raise the sum of the tables' skills by this much to be kept. Less is
within chance."""

FIRST_SHRINKAGE = 0.4
"""Shrinkage of the first trials."""

PREDICTED, CHANCE = 0.01, 6.0
"""A table counts as noise if its skill is below 0.01, or below 6 over the number of its
hidden cells: the best of several trials has that much by chance."""


@dataclass(frozen=True)
class Question:
    """What a fit asks `choose` for.

    Attributes
    ----------
    aligned : Aligned
        Contexts and labels.
    given : Setting
        What the user set, and defaults elsewhere.
    is_open : frozenset of str
        Fields of `Setting` that the user left open.
    penalties : callable
        Makes the penalties of a setting.
    weigh : callable
        Makes the weights of a problem.
    backend : callable
        Makes the back end of a problem.
    seed : int
        Seed of hidden cells and of the start.
    """

    aligned: Aligned
    given: Setting
    is_open: frozenset[str]
    penalties: Callable[[Setting], Penalties]
    weigh: Callable[[Problem], Mapping[str, float]]
    backend: Callable[[Problem], Backend]
    seed: int


def open_roles(contexts: Sequence[Context]) -> tuple[list[str], list[str]]:
    """Name the hierarchies, and the graphs, whose role is open.

    Parameters
    ----------
    contexts : sequence of Context
        All contexts.

    Returns
    -------
    tuple of two lists of str
        Hierarchies and graphs.
    """
    hierarchies: list[str] = []
    graphs: list[str] = []
    for context in contexts:
        if context.role_is_open:
            found = graphs if context.hierarchy is None else hierarchies
            found.append(context.name)
    return hierarchies, graphs


class Trials:
    """Trials on the same hidden cells.

    Parameters
    ----------
    question : Question
        Contexts and options.
    on_trial : callable, optional
        Called after each trial.
    """

    def __init__(
        self,
        question: Question,
        on_trial: Callable[[Trial], None] = lambda trial: None,
    ) -> None:
        self.question, self.on_trial = question, on_trial
        self.rng = np.random.default_rng(question.seed)
        self.labels = _some_labels(question.aligned, self.rng)
        self.hidden: dict[str, HiddenCells] = {}
        self.tables: dict[str, Context] = {}
        for context in question.aligned.contexts:
            if context.relatives() is None:
                table = context.in_fit(self.labels)
                if table.can_be_completed:
                    table, cells = hide_cells(
                        cast(DescriptiveContext, table),
                        self.labels,
                        SHARE,
                        MOST_CELLS,
                        self.rng,
                    )
                    if len(cells.rows):
                        self.hidden[context.name] = cells
                self.tables[context.name] = table
        self.done: list[Trial] = []

    @property
    def n_hidden(self) -> int:
        """Number of hidden cells."""
        return sum(len(cells.rows) for cells in self.hidden.values())

    @property
    def best(self) -> Trial:
        """The last change that was kept."""
        return next(trial for trial in reversed(self.done) if trial.kept)

    def first_setting(self) -> Setting:
        """Return the setting to try first: counts, as in the paper.

        Returns
        -------
        Setting
            The setting.
        """
        setting = self.in_roles(self.question.given, {})
        if "shrinkage" in self.question.is_open:
            sizes = dict.fromkeys(self.hidden, FIRST_SHRINKAGE)
            setting = replace(setting, shrinkage=sizes)
        return setting

    def in_roles(self, setting: Setting, roles: Mapping[str, str]) -> Setting:
        """Change the roles of a setting, and the length of vectors that suits them.

        Parameters
        ----------
        setting : Setting
            A setting.
        roles : mapping from str to str
            Roles by context.

        Returns
        -------
        Setting
            The setting with these roles.
        """
        setting = replace(setting, roles=dict(roles))
        if "dim" not in self.question.is_open:
            return setting
        aligned = self.question.aligned
        hierarchies, graphs = open_roles(aligned.contexts)
        families = dict.fromkeys((*hierarchies, *graphs), "family")
        dim = longest_useful(aligned, families)
        if any(
            context.relatives() is not None and context in context.parts()
            for context in in_roles(aligned.contexts, roles)
        ):
            dim = max(dim, SHORTEST)
        return replace(setting, dim=dim)

    def problem(
        self, setting: Setting, without: Collection[str] = frozenset()
    ) -> Problem:
        """Pose the problem of a setting, without the hidden cells and some contexts.

        Parameters
        ----------
        setting : Setting
            The setting.
        without : collection of str
            Names of contexts to leave out.

        Returns
        -------
        Problem
            The problem of a trial.
        """
        contexts = [
            self.tables[part.name].changed(shrinkage=setting.shrinkage.get(part.name))
            if part.name in self.tables
            else part.in_fit(self.labels)
            for context in in_roles(self.question.aligned.contexts, setting.roles)
            for part in context.parts()
        ]
        contexts = [each for each in contexts if each.given_name not in without]
        penalties = self.question.penalties(setting)
        return Problem((), (), penalties, setting.dim).over(self.labels, contexts)

    def errors(self, problem: Problem, n_sweeps: int = SWEEPS) -> dict[str, Floats]:
        """Compute how far a short fit is from the hidden cells.

        Parameters
        ----------
        problem : Problem
            What to fit.
        n_sweeps : int
            Sweeps of the fit.

        Returns
        -------
        dict
            Squared errors of the hidden cells, by table.
        """
        backend = self.question.backend(problem)
        weights = dict(self.question.weigh(problem))
        device = DeviceProblem(backend, problem)
        state = cold_fit(device, weights, self.question.seed, n_sweeps)
        W, *factors = device.to_numpy([state.W, *state.factors])
        return {
            name: self.hidden[name].errors(W, factor)
            for name, factor in zip(problem.names, factors, strict=True)
            if name in self.hidden
        }

    def compare(self, change: str, setting: Setting) -> None:
        """Try a change of the best setting, and keep it if it predicts better.

        Parameters
        ----------
        change : str
            What it changes, in words.
        setting : Setting
            The whole setting.
        """
        errors = self.errors(self.problem(setting))
        skills = {name: self.hidden[name].skill(x) for name, x in errors.items()}
        # A table that is hardly better than its means would be shrunk to nothing.
        counted = [x if self.is_predicted(name, x) else 0 for name, x in skills.items()]
        skill = float(np.mean(counted))
        # Tables of noise must not hide what a change does for the others: no mean here.
        kept = not self.done or (skill - self.best.skill) * len(counted) > GAIN
        self.done.append(Trial(change, setting, skill, skills, kept))
        self.on_trial(self.done[-1])

    def is_predicted(self, name: str, skill: float) -> bool:
        """Decide whether a skill on the hidden cells of a table is more than chance.

        Parameters
        ----------
        name : str
            The table.
        skill : float
            The skill.

        Returns
        -------
        bool
            Whether something predicts the table.
        """
        return skill >= max(PREDICTED, CHANCE / len(self.hidden[name].rows))

    def best_shrinkage(self) -> dict[str, float]:
        """Find the shrinkage at which each table was predicted best.

        Returns
        -------
        dict
            Shrinkage by table.
        """
        found = {}
        for name in self.hidden:
            tried = [t for t in self.done if t.setting.roles == self.best.setting.roles]
            winner = max(tried, key=lambda t: t.skills[name])
            found[name] = winner.setting.shrinkage[name]
        return found

    def without_noise(self) -> dict[str, float]:
        """Return the best shrinkage of each table; tables that nothing predicts vanish.

        A table stays if some label is known by nothing else: it would have no vector.

        Returns
        -------
        dict
            Shrinkage by table.
        """
        if "shrinkage" not in self.question.is_open:
            return dict(self.best.setting.shrinkage)
        chosen = self.best_shrinkage()
        noise = {
            name
            for name in chosen
            if not self.is_predicted(name, max(t.skills[name] for t in self.done))
        }
        others: set[str] = set()
        for context in self.question.aligned.contexts:
            if context.name not in noise:
                others.update(context.observed_labels)
        for context in self.question.aligned.contexts:
            if context.name in noise and others.issuperset(context.observed_labels):
                chosen[context.name] = NOISE
        return chosen


def _some_labels(aligned: Aligned, rng: np.random.Generator) -> tuple[str, ...]:
    """All labels, or some of them with their siblings, if there are too many.

    Labels with a table come first. A sample without siblings would have no families.
    """
    labels = aligned.labels
    if len(labels) <= MOST_LABELS:
        return labels
    group = np.arange(len(labels))
    for context in aligned.contexts:
        kinship = context.relatives()
        if context.hierarchy is not None and kinship is not None:
            places = kinship.places(labels, kinship.nodes_for(labels))
            hangs = np.diff(places.indptr) > 0
            first = places.indices[places.indptr[:-1][hangs]]
            group[hangs] = len(labels) + first
            break
    is_described = np.zeros(len(labels), dtype=bool)
    for context in aligned.contexts:
        if context.relatives() is None:
            is_described |= observed_among(context, labels)
    # Groups in random order, those with a table first; then labels group by group.
    names, member = np.unique(group, return_inverse=True)
    order = rng.permutation(len(names)).astype(np.float64)
    order[np.unique(member[is_described])] -= len(names)
    chosen = np.argsort(order[member], kind="stable")[:MOST_LABELS]
    return some_names(labels, np.sort(chosen))
