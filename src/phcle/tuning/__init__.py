"""Search for good options with Optuna, by a score on held-out data.

`study` runs trials, `space` says which options are tried, `trial_sampler` proposes
them, `scores` judges a trial, `study_storage` keeps trials, and `outcome` is the
result. `completion` hides attributes of labels and scores their prediction. Modules
here may import everything but `explorer` and `cli`.
"""

from phcle.tuning.outcome import Tuned
from phcle.tuning.scores import (
    Candidate,
    CompletionScore,
    FunctionScore,
    Score,
    SoFar,
    ZeroShotScore,
)
from phcle.tuning.study import Tuning, tune

__all__ = [
    "Candidate",
    "CompletionScore",
    "FunctionScore",
    "Score",
    "SoFar",
    "Tuned",
    "Tuning",
    "ZeroShotScore",
    "tune",
]
