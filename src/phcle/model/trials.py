"""Settings, and short fits that predict hidden cells with one or another.

Some known cells of the readable tables are hidden once, so that the skills of all
trials can be compared. `choose` decides by them. `context_help` asks whether a context
helped: it predicts them with and without it, for an embedding with the data that it
stores, and weights="auto" does so for a fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self, cast

import numpy as np

from phcle.answers import ContextHelp, LeftOutContext
from phcle.arrays import Floats
from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import Aligned, observed_among
from phcle.contexts.labels import some_names
from phcle.contexts.protocol import Context, Penalties
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import PhcleWarning, some
from phcle.files.text import of_types
from phcle.model.fit import Solver
from phcle.model.folds import HiddenCells, hide_cells
from phcle.model.problem import DeviceProblem, Problem
from phcle.model.start import first_state
from phcle.model.weights import BACKGROUND, equal_weights
from phcle.options import DEFAULTS
from phcle.progress import counted_progress

NOISE = 1.6
"""Shrinkage of a table that no setting predicts: its factor becomes zero."""

MOST_LABELS = 5_000
"""Most labels of a trial, so that choosing for a large problem does not take long."""

FEWEST_CELLS = 50
"""Fewest hidden cells to judge by. With fewer, chance would choose."""

SWEEPS = 4
"""Sweeps of a trial. Every trial begins anew: one that began where another ended would
remember what that one made of the cells. Further sweeps seldom change their order."""

PREDICTED, CHANCE = 0.01, 6.0
"""A table counts as noise if its skill is below 0.01, or below 6 over the number of its
hidden cells: the best of several trials has that much by chance."""


HELP_SWEEPS = 6
"""Sweeps of a trial. After four, skills differ from those of whole fits by up to 0.02,
after six by up to 0.01 (planted tables)."""

CERTAIN = 2.0
"""A change of the skill counts if it is larger than this many standard errors."""

VISIBLE = 0.01
"""Smallest change of the skill that counts: less rounds to nothing."""


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
        found: Self = of_types(cls, stored)
        return found


@dataclass
class Trials:
    """Trials on the same hidden cells.

    Attributes
    ----------
    aligned : Aligned
        Contexts and labels.
    penalties : Penalties
        The λ's and k.
    weigh : callable
        Makes the weights of a problem.
    options : mapping from str to object
        Options of the fit: where to compute, and the seed.
    labels : tuple of str
        Labels of the trials.
    hidden : dict from str to HiddenCells
        Hidden cells by table.
    tables : dict from str to Context
        Tables without their hidden cells.
    """

    aligned: Aligned
    penalties: Penalties
    weigh: Callable[[Problem], Mapping[str, float]]
    options: Mapping[str, Any]
    labels: tuple[str, ...] = ()
    hidden: dict[str, HiddenCells] = field(default_factory=dict)
    tables: dict[str, Context] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not any(context.may_have_gaps for context in self.aligned.contexts):
            return  # nothing could be hidden
        rng = np.random.default_rng(self.options["random_state"])
        self.labels = _some_labels(self.aligned, rng)
        for context in self.aligned.contexts:
            if context.relatives() is not None:
                continue
            table = context.in_fit(self.labels)
            if table.can_be_completed:
                own = cast(DescriptiveContext, table)
                table, cells = hide_cells(own, self.labels, rng)
                if len(cells.rows):
                    self.hidden[context.name] = cells
            self.tables[context.name] = table

    @property
    def n_hidden(self) -> int:
        """Number of hidden cells of all tables."""
        return sum(len(cells.rows) for cells in self.hidden.values())

    @property
    def nothing_to_judge_by(self) -> str:
        """Why nothing can be measured: how few cells are hidden; else an empty text."""
        if self.n_hidden >= FEWEST_CELLS:
            return ""
        found = f"only {self.n_hidden} cells" if self.n_hidden else "no cell"
        return f"{found} of readable tables could be hidden"

    def errors(
        self,
        setting: Setting,
        without: Collection[str] = frozenset(),
        n_sweeps: int = SWEEPS,
    ) -> dict[str, Floats]:
        """Compute how far a short fit is from the hidden cells.

        Parameters
        ----------
        setting : Setting
            The setting of the fit.
        without : collection of str
            Names of contexts to leave out.
        n_sweeps : int
            Sweeps of the fit.

        Returns
        -------
        dict
            Squared errors of the hidden cells, by table.
        """
        contexts = [
            self.tables[part.name].changed(shrinkage=setting.shrinkage.get(part.name))
            if part.name in self.tables
            else part.in_fit(self.labels)
            for context in in_roles(self.aligned.contexts, setting.roles)
            for part in context.parts()
        ]
        contexts = [each for each in contexts if each.given_name not in without]
        blank = Problem((), (), self.penalties, setting.dim)
        problem = blank.over(self.labels, contexts)
        backend, seed = backend_of(self.options, problem), self.options["random_state"]
        with backend.session():
            device = DeviceProblem(backend, problem)
            start = first_state(device, self.weigh(problem), seed)
            state = Solver(device, tol=0.0).learn(start, max_iter=n_sweeps)
        W, *factors = device.to_numpy([state.W, *state.factors])
        return {
            name: self.hidden[name].errors(W, factor)
            for name, factor in zip(problem.names, factors, strict=True)
            if name in self.hidden
        }

    def skills(self, errors: Mapping[str, Floats]) -> dict[str, float]:
        """Compute the skill on the hidden cells of every table.

        Parameters
        ----------
        errors : mapping
            What `errors` returned.

        Returns
        -------
        dict
            Skill by table: 1 is perfect, 0 is as good as the means.
        """
        return {name: self.hidden[name].skill(own) for name, own in errors.items()}

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


def backend_of(options: Mapping[str, Any], problem: Problem) -> Backend:
    """Make the back end that the options of a fit ask for.

    Parameters
    ----------
    options : mapping from str to object
        All options of the fit.
    problem : Problem
        What will be computed.

    Returns
    -------
    Backend
        The back end.
    """
    names = ("backend", "device", "dtype", "precision")
    asked = {name: options[name] for name in names}
    return choose_backend(**asked, n_pairs=problem.n_pairs)


def _some_labels(aligned: Aligned, rng: np.random.Generator) -> tuple[str, ...]:
    """All labels, or some of them with their siblings, if there are too many.

    Labels with a table come first. A sample without siblings would have no families.
    """
    labels = aligned.labels
    if len(labels) <= MOST_LABELS:
        return labels
    group = np.arange(len(labels))
    trees = (c.relatives() for c in aligned.contexts if c.hierarchy is not None)
    kinship = next(trees, None)
    if kinship is not None:
        places = kinship.places(labels, kinship.nodes_for(labels))
        hangs = np.diff(places.indptr) > 0
        group[hangs] = len(labels) + places.indices[places.indptr[:-1][hangs]]
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


def _left_out(
    trials: Trials,
    setting: Setting,
    progress: Callable[[int, int], None],
) -> ContextHelp:
    """Fit once with all contexts, and once without each of them."""
    if trials.nothing_to_judge_by:
        reason = f"Nothing can be measured: {trials.nothing_to_judge_by}."
        return ContextHelp(None, trials.n_hidden, {}, (), reason)
    names = dict.fromkeys(context.given_name for context in trials.aligned.contexts)
    whole, found = trials.errors(setting, n_sweeps=HELP_SWEEPS), []
    before = trials.skills(whole)
    for n_done, name in enumerate(names, 1):
        progress(n_done, len(names) + 1)
        others = [x for x in before if x != name and trials.is_predicted(x, before[x])]
        if not others:
            words = f"{name}: unknown, because no other table can be predicted"
            own = LeftOutContext(name, None, None, 0.0, {}, "unknown", words)
            found.append(own)
            continue
        errors = trials.errors(setting, [name], HELP_SWEEPS)
        after, variance = trials.skills(errors), 0.0
        for table in others:
            truth, change = trials.hidden[table].truth, errors[table] - whole[table]
            variance += len(truth) * float(change.var()) / float((truth**2).sum()) ** 2
        error = variance**0.5 / len(others)
        # A table that is worse than its means counts as those.
        skill, without = (
            float(np.mean([max(own[table], 0.0) for table in others]))
            for own in (before, after)
        )
        verdict, shown = "no clear effect", f"no clear effect (± {error:.2f})"
        if abs(skill - without) > max(CERTAIN * error, VISIBLE):
            verdict = "helps" if skill > without else "harms"
            shown = f"it {verdict}"
        elif abs(skill - without) < VISIBLE:
            verdict = shown = "no effect"
        words = f"without {name}: {without:.2f} instead of {skill:.2f}: {shown}"
        tables = {table: after[table] for table in others}
        found.append(
            LeftOutContext(name, skill, without, error, tables, verdict, words)
        )
    progress(len(names) + 1, len(names) + 1)
    shown = ", ".join(f"{name} {max(x, 0):.2f}" for name, x in before.items())
    n_hidden = trials.n_hidden
    reason = (
        f"Skill for {n_hidden:,} hidden cells (1 is perfect, 0 is the mean): {shown}."
    )
    return ContextHelp(None, n_hidden, before, tuple(found), reason)


def context_help(
    embedding: LabelEmbedding,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ContextHelp:
    """Measure what each context of an embedding adds to the prediction of hidden cells.

    Parameters
    ----------
    embedding : LabelEmbedding
        A fitted embedding, in memory or loaded.
    progress : callable, optional
        Called with the number of fits that are done and of all fits.

    Returns
    -------
    ContextHelp
        Skill with all contexts and without each of them; `print` shows it in words.

    Examples
    --------
    >>> import numpy as np
    >>> from phcle import PHCLE, DescriptiveContext, context_help
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 20))
    >>> labels = [f"label{i}" for i in range(100)]
    >>> contexts = [
    ...     DescriptiveContext("sizes", labels, list("abcdefghij"), truth[:, :10]),
    ...     DescriptiveContext("prices", labels, list("klmnopqrst"), truth[:, 10:]),
    ...     DescriptiveContext("noise", labels, list("xyz"), rng.normal(size=(100, 3))),
    ... ]
    >>> found = context_help(PHCLE().fit(contexts).embedding_)
    >>> found.contexts[2].verdict
    'no effect'
    """
    stored = tuple(context for context in embedding.contexts if context.labels)
    is_equal = embedding.options.get("weights", "equal") == "equal"
    kept = {c.name: c.weight for c in embedding.contexts}

    def weigh(problem: Problem) -> Mapping[str, float]:
        # Equal weights are split anew among the contexts that are left.
        return equal_weights(problem) if is_equal else kept

    aligned = Aligned(embedding.labels, stored)
    options = {**DEFAULTS, "random_state": embedding.options.get("random_state", 0)}
    trials = Trials(aligned, Penalties(**embedding.penalties), weigh, options)
    chosen: Mapping[str, Any] = embedding.origin.get("chosen", {}).get("setting", {})
    setting = Setting(embedding.dim, shrinkage=chosen.get("shrinkage", {}))
    return _left_out(trials, setting, progress)


def useful_shares(
    trials: Trials, setting: Setting, *, verbose: bool
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Measure what each context adds, for weights="auto".

    A context is useful if hidden cells of other tables are predicted better with it, or
    if its own are predicted: then it has a structure that vectors can hold.

    Parameters
    ----------
    trials : Trials
        Hidden cells and contexts.
    setting : Setting
        The setting of the fit.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    shares : dict
        Share of its weight that each context keeps; empty if nothing can be measured.
    reasons : tuple of str
        A sentence for each context, or one that says why nothing is measured.
    """
    with counted_progress(
        "weighing contexts", enabled=verbose, unit="contexts"
    ) as show:
        found = _left_out(trials, setting, show)
    skills = found.skills
    predicted = {name for name, x in skills.items() if trials.is_predicted(name, x)}
    if not predicted:
        reason = f"Weights are equal: no table can be predicted. {found.reason}"
        warnings.warn(f"weights='auto': {reason}", PhcleWarning, stacklevel=4)
        return {}, (reason,)
    shares = {}
    for own in found.contexts:
        # A tree or a text has no cells of its own to judge it by.
        change = (own.skill or 0.0) - (own.without or 0.0)
        is_seen = own.context not in skills and change > VISIBLE
        helps = own.verdict == "helps" or is_seen or own.context in predicted
        shares[own.context] = 1.0 if helps else 0.0
    contexts = trials.aligned.contexts
    useful = (context for context in contexts if shares[context.name])
    known = set().union(*(context.observed_labels for context in useful))
    for context in contexts:  # labels that are known only there keep a vector
        if not known.issuperset(context.observed_labels):
            shares[context.name] = BACKGROUND
    return shares, tuple(
        f"{own.words}; weight × {shares[own.context]:g}." for own in found.contexts
    )
