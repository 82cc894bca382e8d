"""The search: trials are proposed, judged part by part, and kept."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.contexts.alignment import align
from phcle.contexts.base import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError
from phcle.files.archive import checksum
from phcle.tuning.outcome import Tuned, importances
from phcle.tuning.scores import Candidate, FunctionScore, Score, SoFar
from phcle.tuning.space import KIND, space_for
from phcle.tuning.storage import load_optuna, open_study

if TYPE_CHECKING:
    import optuna

__all__ = ["Tuning", "tune"]

STUDY = "phcle"
SEARCH_MARK = "phcle search"
"""Attribute of a study that says what it searches."""

FULL_TRIALS = 5
"""Trials that are never stopped early, to compare others with."""


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
    """Search options of PHCLE that do well by a score.

    Parameters
    ----------
    contexts
        As for `PHCLE.fit`.
    score
        `ZeroShotScore`, `CompletionScore`, or a function of the embedding that returns
        a number, more being better, or yields several whose mean counts.
    n_trials
        How many trials the study shall have in all, whoever made them.
    search
        Other ranges, `{"ridge": (0.1, 10), "hierarchy_kind": ["path"]}`, and options
        that are not searched, `{"dim": 50}`.
    storage
        A file (`study.db` for SQLite, `study.log` for Optuna's journal) or the address
        of a database. Several processes may share it, and a study that was stopped
        goes on there. Without it the study ends with the process.
    seed
        The same seed gives the same trials, in one process.
    prune
        Stop a trial early when its score by the first parts is below the median.
    labels, names
        As for `PHCLE.fit`.
    on_trial
        Called with the number of trials so far and the best score after each.
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
    """A study of some contexts by some score; see `tune`."""

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
        from phcle.tuning.sampling import NumberedSampler

        if seed < 0:
            raise OptionError(f"seed must be 0 or more. Got {seed!r} instead.")
        self.labels = None if labels is None else tuple(labels)
        self.contexts = align(contexts, labels=self.labels, must_inform=False).contexts
        self.names = dict(names or {})
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
        """Make trials until the study has so many, those of other processes counted.

        The first one has the default options. Ctrl-C leaves all finished trials where
        they are.
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
            if self.space.holds(self.space.defaults) and not self._has_trials():
                self.study.enqueue_trial(self.space.defaults)
            self.study.optimize(self._judge, callbacks=[after])

    def _has_trials(self) -> bool:
        """Whether there are trials that did not fail, of this process or another."""
        trials = self.study.get_trials(deepcopy=False)
        return any(trial.state.name != "FAIL" for trial in trials)

    @property
    def n_finished(self) -> int:
        """Trials of the study that were judged to the end, or stopped early."""
        return sum(
            trial.state.name in ("COMPLETE", "PRUNED")
            for trial in self.study.get_trials(deepcopy=False)
        )

    @property
    def best_score(self) -> float | None:
        """The best score so far; None before there is one."""
        found = [
            trial.value
            for trial in self.study.get_trials(deepcopy=False)
            if trial.state.name == "COMPLETE" and trial.value is not None
        ]
        return max(found, default=None)

    def candidate(self, parameters: Mapping[str, Any]) -> Candidate:
        """The contexts and options that parameters of a trial stand for."""
        options = self.space.options(parameters)
        kind = options.pop(KIND, None)
        return Candidate(
            tuple(
                context.of_kind(kind) if kind and context.hierarchy else context
                for context in self.contexts
            ),
            {"calibrate": False, **options},  # nobody asks for confidences here
            self.labels,
            self.names,
        )

    def outcome(self) -> Tuned:
        """What the study found so far."""
        if self.best_score is None:
            raise OptionError("no trial was finished, so there is nothing to choose.")
        best = self.study.best_trial
        trials = self.study.get_trials(deepcopy=False)
        defaults = self.space.defaults
        by_default = [
            trial.value
            for trial in trials
            if trial.state.name == "COMPLETE" and trial.params == defaults
        ]
        return Tuned(
            title=self.score.title,
            options=self.space.options(best.params),
            score=float(self.best_score),
            default_score=by_default[0] if by_default else None,
            n_trials=self.n_finished,
            n_pruned=sum(trial.state.name == "PRUNED" for trial in trials),
            importances=importances(self.study),
            scores=tuple(
                trial.value if trial.state.name == "COMPLETE" else None
                for trial in trials
                if trial.state.name in ("COMPLETE", "PRUNED")
            ),
        )

    def test(self) -> dict[str, float] | None:
        """Scores of the defaults and of the best on what no trial has seen."""
        best = self.score.test(self.candidate(self.study.best_params))
        if best is None:
            return None
        default = self.score.test(self.candidate(self.space.defaults))
        assert default is not None  # what is kept back does not depend on options
        return {"default": default, "tuned": best}

    def _judge(self, trial: optuna.Trial) -> float:
        """The score of a trial, unless its first parts rule it out."""
        from optuna import TrialPruned

        candidate = self.candidate(self.space.suggest(trial))
        found = SoFar(-np.inf, is_whole=False)
        for part, found in enumerate(self.score.so_far(candidate)):
            trial.report(found.score, part)
            if not found.is_whole and trial.should_prune():
                raise TrialPruned
        return found.score

    def _refuse_another_search(self, storage: object) -> None:
        """Trials of other data, ranges or scores must not be mixed with these."""
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
    """A fingerprint of all names and numbers."""
    names, numbers = [], {}
    for context in contexts:
        names.append([context.name, context.labels, context.columns])
        for i, part in enumerate(context.fingerprint_arrays()):
            stored = part.data if hasattr(part, "indptr") else part
            numbers[f"{context.name}/{i}"] = np.ascontiguousarray(stored)
    return checksum(json.dumps(names), numbers)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without Optuna's notes on what may change in its later versions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", load_optuna().exceptions.ExperimentalWarning)
        yield
