"""A sampler whose proposals depend on the seed and the number of the trial alone.

Optuna's own sampler carries its chance along: after an interruption it would start
over, and two processes with one seed would propose the same. Here every trial gets its
own, so that a study goes on as if it had never stopped, and processes differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from optuna.samplers import BaseSampler, TPESampler

__all__ = ["NumberedSampler"]

RANDOM_TRIALS = 10
"""Trials drawn by chance before what they tell is used."""


class NumberedSampler(BaseSampler):  # type: ignore[misc]
    """Tree-structured Parzen estimator, seeded anew for every trial."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._inner = self._seeded(0)

    def _seeded(self, number: int) -> TPESampler:
        own = np.random.SeedSequence([self.seed, number]).generate_state(1)
        return TPESampler(
            seed=int(own[0]),
            multivariate=True,  # penalties act together
            constant_liar=True,  # other processes are at work
            n_startup_trials=RANDOM_TRIALS,
        )

    def before_trial(self, study: Any, trial: Any) -> None:
        """Take the chance of this trial."""
        self._inner = self._seeded(trial.number)
        self._inner.before_trial(study, trial)

    def infer_relative_search_space(self, study: Any, trial: Any) -> Any:
        """As the inner sampler has it."""
        return self._inner.infer_relative_search_space(study, trial)

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> Any:
        """As the inner sampler has it."""
        return self._inner.sample_relative(study, trial, search_space)

    def sample_independent(self, study: Any, trial: Any, *args: Any) -> Any:
        """As the inner sampler has it."""
        return self._inner.sample_independent(study, trial, *args)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
        """As the inner sampler has it."""
        self._inner.after_trial(study, trial, state, values)
