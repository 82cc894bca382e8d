"""A sampler whose proposals depend only on the seed and the number of the trial.

Optuna's sampler has one random state: after an interruption it would start again, and
two processes with the same seed would propose the same options. Here every trial has a
seed of its own, so an interrupted study continues as if it had not stopped, and
processes differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from optuna.samplers import BaseSampler, TPESampler

__all__ = ["NumberedSampler"]

RANDOM_TRIALS = 10
"""Random trials before the sampler learns from earlier ones; Optuna's default."""


class NumberedSampler(BaseSampler):  # type: ignore[misc]
    """Tree-structured Parzen estimator with a new seed for every trial.

    Parameters
    ----------
    seed : int
        Seed of the study.
    """

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
        """Seed the sampler for this trial."""
        self._inner = self._seeded(trial.number)
        self._inner.before_trial(study, trial)

    def infer_relative_search_space(self, study: Any, trial: Any) -> Any:
        """Delegate to the inner sampler."""
        return self._inner.infer_relative_search_space(study, trial)

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> Any:
        """Delegate to the inner sampler."""
        return self._inner.sample_relative(study, trial, search_space)

    def sample_independent(self, study: Any, trial: Any, *args: Any) -> Any:
        """Delegate to the inner sampler."""
        return self._inner.sample_independent(study, trial, *args)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
        """Delegate to the inner sampler."""
        self._inner.after_trial(study, trial, state, values)
