"""Finding good options: a search by Optuna against a score on what was held out."""

from phcle.tuning.outcome import Tuned
from phcle.tuning.scores import (
    Candidate,
    CompletionScore,
    FunctionScore,
    Score,
    SoFar,
    ZeroShotScore,
)
from phcle.tuning.search import Tuning, tune

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
