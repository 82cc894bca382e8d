"""The study: propose options, score them part by part, and keep the trials."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.contexts.alignment import align, match_contexts
from phcle.contexts.base.context import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError
from phcle.files.archive import checksum
from phcle.tuning.outcome import Tuned
from phcle.tuning.scores import Candidate, FunctionScore, Score, SoFar
from phcle.tuning.space import KIND, ROLE, space_for
from phcle.tuning.study_storage import load_optuna, open_study

if TYPE_CHECKING:
    import optuna

__all__ = ["Tuning", "tune"]

STUDY = "phcle"
SEARCH_MARK = "phcle search"
"""Attribute of a study that records its data, ranges and score."""

FULL_TRIALS = 5
"""Trials that are never stopped early; later ones are compared with their median."""

FEWEST = 8
"""Finished trials needed to say which options mattered; fewer would mislead."""


def tune(
    contexts: Iterable[Context],
    score: Score | Callable[[LabelEmbedding], float | Iterable[float]],
    *,
    n_trials: int = 50,
    search: Mapping[str, Any] | None = None,
    storage: str | Path | None = None,
    seed: int = 0,
    prune: bool = True,
    labels: Iterable[str] | None = None,
    names: Mapping[str, str] | None = None,
    on_trial: Callable[[int, float | None], None] | None = None,
) -> Tuned:
    """Search for options of `PHCLE` that give a high score.

    Parameters
    ----------
    contexts : iterable of contexts
        As for `PHCLE.fit`.
    score : Score or callable
        `ZeroShotScore`, `CompletionScore`, or a function of the embedding that returns
        a number (higher is better) or yields several, whose mean counts.
    n_trials : int
        Total number of trials of the study, over all processes.
    search : mapping, optional
        Other ranges, such as `{"ridge": (0.1, 10), "hierarchy_kind": ["path"]}`, and
        fixed options, such as `{"dim": 50}`.
    storage : str or Path, optional
        A file (`study.db` for SQLite, `study.log` for Optuna's journal) or the address
        of a database. Several processes can share it, and an interrupted study
        continues there. By default the study is kept in memory.
    seed : int
        In one process, the same seed gives the same trials.
    prune : bool
        Stop a trial early if the score of its first parts is below the median.
    labels : iterable of str, optional
        As for `PHCLE.fit`.
    names : mapping of str to str, optional
        As for `PHCLE.fit`.
    on_trial : callable, optional
        Called after each trial with the number of trials and the best score so far.

    Returns
    -------
    Tuned
        The best options.

    Examples
    --------
    >>> from phcle import DescriptiveContext, RelationalContext, tune
    >>> edges = [("cat", "felid"), ("lion", "felid"), ("dog", "canid")]
    >>> edges += [("wolf", "canid"), ("felid", "beast"), ("canid", "beast")]
    >>> tree = RelationalContext.from_hierarchy(edges)
    >>> best = tune(
    ...     [tree],
    ...     lambda embedding: dict(embedding.nearest("cat", k=3))["lion"],
    ...     n_trials=2,
    ...     search={"dim": 2, "hierarchy_kind": "ancestors"},
    ... )
    >>> best.n_trials, best.options["dim"]
    (2, 2)
    """
    found = Tuning(
        contexts,
        score if hasattr(score, "so_far") else FunctionScore(score),  # type: ignore[arg-type]
        search=search,
        storage=storage,
        seed=seed,
        prune=prune,
        labels=labels,
        names=names,
    )
    found.run(n_trials, on_trial)
    return found.outcome()


class Tuning:
    """A study that can be run, interrupted and continued; see `tune`.

    Parameters
    ----------
    contexts : iterable of contexts
        As for `PHCLE.fit`.
    score : Score
        What a trial is judged by.
    search : mapping, optional
        Ranges and fixed options; see `tune`.
    storage : str or Path, optional
        Where trials are kept; see `tune`.
    seed : int
        Seed of the proposals.
    prune : bool
        Stop hopeless trials early.
    labels : iterable of str, optional
        As for `PHCLE.fit`.
    names : mapping of str to str, optional
        As for `PHCLE.fit`.
    """

    def __init__(
        self,
        contexts: Iterable[Context],
        score: Score,
        *,
        search: Mapping[str, Any] | None = None,
        storage: str | Path | None = None,
        seed: int = 0,
        prune: bool = True,
        labels: Iterable[str] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        optuna = load_optuna()
        from phcle.tuning.trial_sampler import NumberedSampler

        if seed < 0:
            raise OptionError(f"seed must be 0 or more. Got {seed!r} instead.")
        # Labels are matched once, and not again in every trial.
        matched = match_contexts(contexts, labels=labels, names=names)
        self.labels, self.names = matched.labels, matched.names
        aligned = align(matched.contexts, labels=self.labels, must_inform=False)
        self.contexts = aligned.contexts
        self.score = score
        self.space = space_for(self.contexts, search)
        pruner = (
            optuna.pruners.MedianPruner(n_startup_trials=FULL_TRIALS)
            if prune
            else optuna.pruners.NopPruner()
        )
        with _quietly():
            self.study = open_study(storage, STUDY, NumberedSampler(seed), pruner)
        self._refuse_another_search(storage)

    def run(
        self,
        n_trials: int,
        on_trial: Callable[[int, float | None], None] | None = None,
    ) -> None:
        """Run trials until the study has enough, over all processes.

        The first trial has the default options. Ctrl-C keeps all finished trials.

        Parameters
        ----------
        n_trials : int
            Total number of trials.
        on_trial : callable, optional
            Called after each trial with the number of trials and the best score.
        """
        if n_trials < 1:
            raise OptionError(f"trials must be 1 or more. Got {n_trials!r} instead.")
        if self.n_finished >= n_trials:
            return

        def after(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
            if on_trial is not None:
                on_trial(self.n_finished, self.best_score)
            if self.n_finished >= n_trials:
                study.stop()

        with _quietly():
            # Another process may have begun.
            has_begun = self._trials("WAITING", "RUNNING", "COMPLETE", "PRUNED")
            if self.space.holds(self.space.defaults) and not has_begun:
                self.study.enqueue_trial(self.space.defaults)
            self.study.optimize(self._judge, callbacks=[after])

    def _trials(self, *states: str) -> list[optuna.trial.FrozenTrial]:
        """Trials of all processes in one of these states."""
        trials = self.study.get_trials(deepcopy=False)
        return [trial for trial in trials if trial.state.name in states]

    @property
    def n_finished(self) -> int:
        """Number of trials that were scored or stopped early."""
        return len(self._trials("COMPLETE", "PRUNED"))

    @property
    def best_score(self) -> float | None:
        """The best score so far; None without a finished trial."""
        return max((trial.value for trial in self._trials("COMPLETE")), default=None)

    def candidate(self, parameters: Mapping[str, Any]) -> Candidate:
        """Make contexts and options from the parameters of a trial.

        Parameters
        ----------
        parameters : mapping of str to Any
            Parameters as Optuna keeps them.

        Returns
        -------
        Candidate
            What is fitted in the trial.
        """
        options = self.space.options(parameters)
        kind, role = options.pop(KIND, None), options.pop(ROLE, None)
        contexts = [
            context.of_kind(kind) if kind and context.hierarchy else context
            for context in self.contexts
        ]
        return Candidate(
            tuple(c.in_role(role) if role and c.role_is_open else c for c in contexts),
            {"calibrate": False, **options},  # a trial needs no confidences
            self.labels,
            self.names,
        )

    def outcome(self) -> Tuned:
        """The result so far.

        Returns
        -------
        Tuned
            The best options.
        """
        if self.best_score is None:
            raise OptionError("no trial was finished, so there is nothing to choose.")
        defaults = self.space.defaults
        by_default = (x.value for x in self._trials("COMPLETE") if x.params == defaults)
        trials = self._trials("COMPLETE", "PRUNED")
        # A pruned trial's value is the mean of its first parts.
        scores = [x.value if x.state.name == "COMPLETE" else None for x in trials]
        return Tuned(
            title=self.score.title,
            options=self.space.options(self.study.best_params),
            score=float(self.best_score),
            default_score=next(by_default, None),
            n_trials=len(trials),
            n_pruned=scores.count(None),
            importances=self._importances(),
            scores=tuple(scores),
        )

    def _importances(self) -> dict[str, float]:
        """How much each option mattered, largest first; empty with too few trials."""
        from optuna.importance import get_param_importances

        scores = [trial.value for trial in self._trials("COMPLETE")]
        if len(scores) < FEWEST or len(set(scores)) < 2:
            return {}
        return {name: float(x) for name, x in get_param_importances(self.study).items()}

    def test(self) -> dict[str, float] | None:
        """Score the default and the best options on data that no trial used.

        Returns
        -------
        dict of str to float, or None
            Scores of "default" and "tuned"; None if the score keeps no test data.
        """
        best = self.score.test(self.candidate(self.study.best_params))
        if best is None:
            return None
        default = self.score.test(self.candidate(self.space.defaults))
        assert default is not None  # test data does not depend on options
        return {"default": default, "tuned": best}

    def _judge(self, trial: optuna.Trial) -> float:
        """Score one trial, or stop it early."""
        from optuna import TrialPruned

        candidate = self.candidate(self.space.suggest(trial))
        found = SoFar(-np.inf, is_whole=False)
        for part, found in enumerate(self.score.so_far(candidate)):
            trial.report(found.score, part)
            if not found.is_whole and trial.should_prune():
                raise TrialPruned
        return found.score

    def _refuse_another_search(self, storage: object) -> None:
        """Refuse a storage with trials of other data, ranges or scores."""
        mark = json.dumps(
            {
                "score": self.score.title,
                "search": self.space.as_text(),
                "data": _digest(self.contexts),
            }
        )
        there = self.study.user_attrs.get(SEARCH_MARK)
        if there is None:
            self.study.set_user_attr(SEARCH_MARK, mark)
        elif there != mark:
            one, two = json.loads(there), json.loads(mark)
            changed = [key for key in two if one.get(key) != two[key]]
            raise OptionError(
                f"{storage}: holds trials of another {' and '.join(changed)}; give "
                "another storage, or remove this one."
            )


def _digest(contexts: Iterable[Context]) -> str:
    """A checksum of all names and numbers."""
    names, numbers = [], {}
    for context in contexts:
        names.append([context.name, context.labels, context.columns])
        for i, part in enumerate(context.fingerprint_arrays()):
            stored = part.data if hasattr(part, "indptr") else part
            numbers[f"{context.name}/{i}"] = np.ascontiguousarray(stored)
    return checksum(json.dumps(names), numbers)


@contextmanager
def _quietly() -> Iterator[None]:
    """Hide Optuna's warnings about experimental features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", load_optuna().exceptions.ExperimentalWarning)
        yield
