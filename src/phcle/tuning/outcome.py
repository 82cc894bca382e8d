"""What a study found: the best options, a file for `phcle fit`, and what mattered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.errors import BackendError
from phcle.estimator import PHCLE
from phcle.files.writing import write_whole
from phcle.tuning.space import KIND

if TYPE_CHECKING:
    import optuna

__all__ = ["Tuned", "importances"]

FEWEST = 8
"""Finished trials from which on it is told which options mattered."""


@dataclass(frozen=True)
class Tuned:
    """The best options of a study, and how it went."""

    title: str
    options: Mapping[str, Any]
    """Options of PHCLE, and `hierarchy_kind` where there is a hierarchy."""
    score: float
    default_score: float | None
    """Of default options, beside what is fixed; None where ranges leave them out."""
    n_trials: int
    n_pruned: int
    importances: Mapping[str, float]
    """Share of each parameter in what made trials good; sums to one, largest first."""
    scores: tuple[float | None, ...]
    """By trial; None for one that was stopped early."""

    @property
    def hierarchy_kind(self) -> str | None:
        """How the hierarchy is best turned into counts; None where there is none."""
        return self.options.get(KIND)

    def model(self) -> PHCLE:
        """A model with the best options, not fitted yet."""
        return PHCLE(**{k: v for k, v in self.options.items() if k != KIND})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "measured": self.title,
            "score": self.score,
            "default_score": self.default_score,
            "trials": self.n_trials,
            "pruned": self.n_pruned,
            "options": dict(self.options),
            "importances": dict(self.importances),
        }

    def write_config(
        self, path: str | Path, files: Mapping[str, Any] | None = None
    ) -> None:
        """Write a table [fit] with the options, for `phcle fit --config`.

        `files` are further entries of it: the files of the contexts.
        """
        entries = {**(files or {}), **self.options}
        lines = [
            f"# {_one_line(self.title)}",
            f"# {self.score:.6g}, the best of {self.n_trials} trials"
            + (
                ""
                if self.default_score is None
                else f"; default options: {self.default_score:.6g}"
            ),
            "[fit]",
            *(f"{key.replace('_', '-')} = {_toml(x)}" for key, x in entries.items()),
        ]
        with write_whole(Path(path)) as temporary:
            temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def plot(self, path: str | Path) -> None:
        """A picture of the scores by trial, and of what mattered."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise BackendError(
                "a plot needs Matplotlib: pip install 'phcle[figures]'."
            ) from error
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _plot_scores(left, self.scores, self.default_score)
        _plot_importances(right, self.importances)
        path = Path(path)
        with write_whole(path) as temporary:
            figure.savefig(temporary, format=path.suffix.lstrip(".") or "png", dpi=150)


def importances(study: optuna.Study) -> dict[str, float]:
    """How much each parameter mattered; nothing where too few trials can tell."""
    from optuna.importance import get_param_importances

    finished = [
        x for x in study.get_trials(deepcopy=False) if x.state.name == "COMPLETE"
    ]
    if len(finished) < FEWEST or len({x.value for x in finished}) < 2:
        return {}
    return {name: float(x) for name, x in get_param_importances(study).items()}


def _plot_scores(
    axes: Any, scores: Sequence[float | None], default: float | None
) -> None:
    done = [(i, x) for i, x in enumerate(scores, 1) if x is not None]
    best = float("-inf")
    steps = []
    for _, value in done:
        best = max(best, value)
        steps.append(best)
    numbers = [i for i, _ in done]
    axes.plot(numbers, [x for _, x in done], "o", markersize=3, label="trial")
    axes.step(numbers, steps, where="post", label="best so far")
    if default is not None:
        axes.axhline(default, color="grey", linestyle=":", label="default options")
    axes.set_xlabel("trial")
    axes.set_ylabel("score")
    axes.legend(fontsize="small")


def _plot_importances(axes: Any, found: Mapping[str, float]) -> None:
    axes.set_title("what mattered", fontsize="medium")
    if not found:
        axes.text(0.5, 0.5, "too few trials to tell", ha="center", va="center")
        axes.set_axis_off()
        return
    names = list(found)[::-1]
    axes.barh(names, [found[name] for name in names])
    axes.set_xlabel("share")


def _toml(value: Any) -> str:
    """A value as TOML writes it; texts of JSON are texts of TOML."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_text(key)} = {_toml(x)}" for key, x in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else _text(str(value))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return " ".join(text.split())
