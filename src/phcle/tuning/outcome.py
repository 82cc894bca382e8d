"""The result of a search: the best options, and which options mattered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phcle.answers import TuningResult
from phcle.errors import BackendError
from phcle.estimator import PHCLE
from phcle.files.writing import write_whole
from phcle.tuning.space import KIND, ROLE

__all__ = ["Tuned"]


@dataclass(frozen=True)
class Tuned:
    """The best options of a search, and all scores.

    Attributes
    ----------
    title : str
        What was measured, and on what data.
    options : mapping of str to Any
        The best options of `PHCLE`, and `hierarchy_kind` and `role` if there is a
        hierarchy.
    score : float
        Score of the best options.
    default_score : float or None
        Score of the default options before a fit chooses; None if the ranges leave them
        out.
    n_trials : int
        Number of finished trials.
    n_pruned : int
        How many of them were stopped early.
    importances : mapping of str to float
        How much each option mattered; the numbers sum to one, largest first.
    scores : tuple of float or None
        Score of each trial; None if it was stopped early.
    """

    title: str
    options: Mapping[str, Any]
    score: float
    default_score: float | None
    n_trials: int
    n_pruned: int
    importances: Mapping[str, float]
    scores: tuple[float | None, ...]

    @property
    def hierarchy_kind(self) -> str | None:
        """The best way to turn the hierarchy into counts; None without a hierarchy."""
        return self.options.get(KIND)

    @property
    def role(self) -> str | None:
        """The best role of hierarchies and graphs; None if it was not searched."""
        return self.options.get(ROLE)

    def model(self) -> PHCLE:
        """Make a model with the best options.

        Returns
        -------
        PHCLE
            The model, not fitted yet.
        """
        own = {k: v for k, v in self.options.items() if k not in (KIND, ROLE)}
        return PHCLE(**own)

    def answer(
        self, *, test: Mapping[str, float] | None, storage: str, file: str
    ) -> TuningResult:
        """The result as `phcle tune` shows it.

        Parameters
        ----------
        test : mapping of str to float, or None
            What `Tuning.test` returned.
        storage : str
            Where the trials are kept.
        file : str
            The configuration that was written.

        Returns
        -------
        TuningResult
            The result.
        """
        return TuningResult(
            measured=self.title,
            score=self.score,
            default_score=self.default_score,
            trials=self.n_trials,
            pruned=self.n_pruned,
            options=dict(self.options),
            importances=dict(self.importances),
            test=test,
            storage=storage,
            file=file,
        )

    def write_config(
        self, path: str | Path, files: Mapping[str, Any] | None = None
    ) -> None:
        """Write the options to a TOML file for `phcle fit --config`.

        Parameters
        ----------
        path : str or Path
            The file.
        files : mapping of str to Any, optional
            Further entries: the files of the contexts.
        """
        entries = {**(files or {}), **self.options}
        scores = f"{self.score:.6g}, the best of {self.n_trials} trials"
        if self.default_score is not None:
            scores += f"; default options: {self.default_score:.6g}"
        lines = [
            f"# {' '.join(self.title.split())}",
            f"# {scores}",
            "[fit]",
            *(f"{key.replace('_', '-')} = {_toml(x)}" for key, x in entries.items()),
        ]
        with write_whole(Path(path)) as temporary:
            temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def plot(self, path: str | Path) -> None:
        """Draw the score of each trial, and how much each option mattered.

        Parameters
        ----------
        path : str or Path
            The picture; its ending chooses the format, PNG by default.
        """
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


def _plot_scores(
    axes: Any, scores: Sequence[float | None], default: float | None
) -> None:
    done = {i: x for i, x in enumerate(scores, 1) if x is not None}
    numbers, values = list(done), list(done.values())
    axes.plot(numbers, values, "o", markersize=3, label="trial")
    best = np.maximum.accumulate(values)
    axes.step(numbers, best, where="post", label="best so far")
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
