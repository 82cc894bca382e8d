"""Single cells of a table are hidden: the task of completing them, and its scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle import PHCLE, LabelEmbedding
from phcle.contexts import Context
from phcle.errors import ConvergenceWarning, OptionError, check_choice
from phcle_paper.context_values import Floats, column_means
from phcle_paper.datasets.debian import load_debian
from phcle_paper.datasets.debian_index import INDEX
from phcle_paper.datasets.grambank import load_grambank
from phcle_paper.datasets.pantheria import load_pantheria
from phcle_paper.datasets.patchy_table import CATEGORY, TAGS, TRUTH, PatchyTable
from phcle_paper.datasets.sigtyp import load_sigtyp, read_gold
from phcle_paper.studies.noun_contexts import noun_table

__all__ = ["TASKS", "CellTask", "cell_task", "complete", "draw_cells", "score_of"]

Mask = npt.NDArray[np.bool_]
Row = dict[str, float]

SIGTYP = "sigtyp2020"  # the folder
SIGTYP_SHARE = 0.48
"""Share of a development language's features to hide: what the test hides."""


@dataclass(frozen=True, eq=False)
class CellTask:
    """A table, the cells of it that are hidden, and what they hold.

    Predictions are (labels, columns) arrays in the units of the table: logarithms
    where it has them, and one score for each value of a category.

    Parameters
    ----------
    table : PatchyTable
        The table.
    hidden : array of bool
        Cells to predict: (labels, fields).
    truth : array
        Values (labels, columns), read at hidden cells only.
    scored_by : {"cells", "labels"}, default "cells"
        What scores are pooled over, see `scores`.
    """

    table: PatchyTable
    hidden: Mask
    truth: Floats
    scored_by: str = "cells"

    @cached_property
    def left(self) -> Floats:
        """Values that stay known: (labels, columns)."""
        return self.table.without(self.hidden)

    @cached_property
    def contexts(self) -> list[Context]:
        """What PHCLE may see."""
        return self.table.contexts(self.left)

    @cached_property
    def means(self) -> Floats:
        """Mean of every column over the known cells, 0 where none is known."""
        return np.nan_to_num(column_means(self.left))

    @cached_property
    def spreads(self) -> Floats:
        """Standard deviation of every column over the known cells, 1 if constant."""
        squares = column_means((self.left - self.means) ** 2)
        return np.where(squares > 0, np.sqrt(squares), 1.0)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the values and of the hidden cells."""
        found = sha256("\n".join((*self.table.labels, *self.table.columns)).encode())
        for array in (self.left, self.hidden):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def inner(self, share: float, rng: np.random.Generator) -> CellTask:
        """A task among the known cells, to choose settings by.

        Parameters
        ----------
        share : float
            Share of the known cells to hide.
        rng : numpy.random.Generator
            Source of the draw.

        Returns
        -------
        CellTask
            The task.
        """
        table = replace(self.table, values=self.left)
        return CellTask(table, draw_cells(table.known, share, rng), self.left)

    def predicted_by(self, embedding: LabelEmbedding) -> Floats:
        """Predictions of an embedding that was fitted to `contexts`.

        Numbers that the table has in logs come in the user's units; they are raised to
        the smallest known value first.

        Parameters
        ----------
        embedding : LabelEmbedding
            The embedding.

        Returns
        -------
        array
            Predictions (labels, columns) in the units of the table.
        """
        table = self.table
        fitted = next(x for x in embedding.predicting if x.name == table.name)
        rows = np.array([embedding.row_of[label] for label in table.labels])
        found = embedding.tables[table.name].read(rows).values
        position = {column: i for i, column in enumerate(fitted.columns)}
        # A value without a known cell has no column, and is never predicted.
        rare = np.where(np.isnan(column_means(self.left)), -np.inf, self.means)
        predicted = np.tile(rare, (len(table.labels), 1))
        for i, column in enumerate(table.columns):
            if column in position:
                predicted[:, i] = found[:, position[column]]
        least = np.exp(np.nanmin(self.left, axis=0, initial=np.inf))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(predicted, least))
        return np.where(table.is_log, logs, predicted)

    def right(self, predicted: Floats) -> Floats:
        """1 where a hidden category or truth value is right, 0 where it is wrong.

        (labels, fields), NaN at cells that are not asked and at other fields.

        Parameters
        ----------
        predicted : array
            Predictions (labels, columns) in the units of the table.

        Returns
        -------
        array
            1, 0 or NaN.
        """
        found = np.full(self.hidden.shape, np.nan)
        for i, (field, own) in enumerate(
            zip(self.table.fields, self.table.slices, strict=True)
        ):
            rows = self.hidden[:, i]
            truth, guess = self.truth[rows, own], predicted[rows, own]
            if field.kind == TRUTH:
                found[rows, i] = ((truth > 0.5) == (guess > 0.5))[:, 0]
            elif field.kind == CATEGORY:
                same = truth.argmax(axis=1) == guess.argmax(axis=1)
                # A value without a column can only be missed.
                found[rows, i] = same & (truth.max(axis=1, initial=0) > 0)
        return found

    def scores(self, predicted: Floats) -> dict[str, float]:
        """Scores by name.

        By cells: `r2` of numbers, `accuracy` of categories and truth values, `r2` and
        mean `auc` of tags. By labels: `accuracy`, and the `mean over labels`.

        Parameters
        ----------
        predicted : array
            Predictions (labels, columns) in the units of the table.

        Returns
        -------
        dict
            The scores.
        """
        if self.scored_by == "cells":
            return self._pooled(predicted)
        return {
            name: score_of(sums, n)[0]
            for name, (sums, n) in self.parts(predicted).items()
        }

    def _pooled(self, predicted: Floats) -> dict[str, float]:
        """Over all hidden cells; numbers in units of the spread of their column.

        An R² of 0 is what the mean of the known cells reaches. Tags have one unit.
        """
        right = self.right(predicted)
        found: dict[str, float] = {}
        is_class = ~np.isnan(right)
        if is_class.any():
            found["accuracy"] = float(right[is_class].mean())
        if any(field.kind == TAGS for field in self.table.fields):
            asked = self.hidden[:, self.table.field_of]
            truth = np.where(asked, self.truth, np.nan)
            return scores_against(truth, self.means, predicted)
        asked = (self.hidden & ~is_class)[:, self.table.field_of]
        if asked.any():
            truth = ((self.truth - self.means) / self.spreads)[asked]
            guess = ((predicted - self.means) / self.spreads)[asked]
            found["r2"] = 1 - float(((truth - guess) ** 2).sum() / (truth**2).sum())
        return found

    def parts(self, predicted: Floats) -> dict[str, tuple[Floats, Floats]]:
        """Scores by labels as sums for each label, and what they count.

        Errors are clustered by label, so the share of each label in a score counts.

        Parameters
        ----------
        predicted : array
            Predictions (labels, columns) in the units of the table.

        Returns
        -------
        dict
            Sums and counts (labels,) of every score.
        """
        n = self.hidden.sum(axis=1).astype(float)
        sums = np.nansum(self.right(predicted), axis=1)
        return {
            "accuracy": (sums, n),
            "mean over labels": (sums / np.maximum(n, 1), (n > 0).astype(float)),
        }

    def quality(self, predicted: Floats) -> float:
        """One number to choose settings by: the mean of the scores, by their cells.

        Parameters
        ----------
        predicted : array
            Predictions (labels, columns) in the units of the table.

        Returns
        -------
        float
            More is better.
        """
        right = ~np.isnan(self.right(predicted))
        scores = self._pooled(predicted)
        share = right.sum() / self.hidden.sum()
        return float(
            share * scores.get("accuracy", 0.0) + (1 - share) * scores.get("r2", 0.0)
        )


def score_of(sums: Floats, counts: Floats) -> tuple[float, Floats]:
    """A score from its parts, and how much each label moves it: (labels,).

    The squares of the moves add up to the variance of the score, clustered by label.

    Parameters
    ----------
    sums, counts : array
        Parts of the score by label, see `CellTask.parts`.

    Returns
    -------
    tuple of float and array
        The score, and its moves.
    """
    mean = float(sums.sum() / counts.sum())
    n = max(int((counts > 0).sum()), 2)
    moves = (sums - mean * counts) / counts.sum() * np.sqrt(n / (n - 1))
    return mean, moves


def scores_against(truth: Floats, means: Floats, predicted: Floats) -> Row:
    """R² against given column means, and the mean AUC of the columns.

    Parameters
    ----------
    truth : array
        True values (rows, columns), NaN where not asked for.
    means : array
        What to compare with, one value per column.
    predicted : array
        Predicted values (rows, columns).

    Returns
    -------
    dict
        `r2`, which is 0 for the means, and `auc`, over the columns that some rows have
        more of than the mean, and some less.
    """
    from sklearn.metrics import roc_auc_score  # slow to import

    judged = ~np.isnan(truth)
    centred = np.where(judged, truth - means, 0.0)
    error = np.where(judged, truth - predicted, 0.0)
    total = float((centred**2).sum())
    areas = []
    for column in range(truth.shape[1]):
        rows = judged[:, column]
        is_high = centred[rows, column] > 0
        if is_high.any() and not is_high.all():
            areas.append(roc_auc_score(is_high, predicted[rows, column]))
    return {
        "r2": 1 - float((error**2).sum()) / total if total > 0 else np.nan,
        "auc": float(np.mean(areas)) if areas else np.nan,
    }


def draw_cells(known: Mask, share: float, rng: np.random.Generator) -> Mask:
    """A share of the known cells, each as likely as any other.

    Parameters
    ----------
    known : array of bool
        Known cells.
    share : float
        Share of them to draw.
    rng : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    array of bool
        The cells that were drawn.
    """
    if not 0 < share < 1:
        raise OptionError(f"share must be between 0 and 1. Got {share!r} instead.")
    cells = np.flatnonzero(known)
    hidden = np.zeros(known.shape, dtype=bool)
    hidden.flat[rng.choice(cells, round(share * len(cells)), replace=False)] = True
    return hidden


def complete(task: CellTask, options: Mapping[str, Any] | None = None) -> Floats:
    """Predictions of PHCLE for all cells.

    Parameters
    ----------
    task : CellTask
        The table and its hidden cells.
    options : mapping, optional
        Options of `PHCLE`; by default none.

    Returns
    -------
    array
        Predictions (labels, columns) in the units of the table.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PHCLE(**(options or {})).fit(task.contexts)
    return task.predicted_by(model.embedding_)


def _drawn(
    load: Callable[[Path], PatchyTable], share: float, data: Path, seed: int
) -> CellTask:
    """Hide a share of all known cells; a facet of packages with all its tags."""
    table = load(data)
    hidden = draw_cells(table.known, share, np.random.default_rng(seed))
    return CellTask(table, hidden, table.values)


def _sigtyp_dev(data: Path, seed: int) -> CellTask:
    """Hide features of every development language, as many as the test does."""
    found = load_sigtyp(data / SIGTYP)
    rng = np.random.default_rng(seed)
    hidden = np.zeros_like(found.asked)
    for i in np.flatnonzero(found.is_dev):
        hidden[i : i + 1] = draw_cells(found.table.known[i : i + 1], SIGTYP_SHARE, rng)
    return CellTask(found.table, hidden, found.table.values, "labels")


def _sigtyp_test(data: Path, seed: int) -> CellTask:
    """What the shared task asked for; every seed gives the same."""
    found = load_sigtyp(data / SIGTYP)
    gold = read_gold(data / SIGTYP, found.table)
    return CellTask(found.table, found.asked, gold, "labels")


def _debian(data: Path) -> PatchyTable:
    """The thousand packages that most others need, with their tags."""
    return load_debian(data / "debian" / INDEX, most=1000).tag_table()


TASKS: Mapping[str, Callable[[Path, int], CellTask]] = {
    "pantheria": partial(_drawn, lambda data: load_pantheria(data / "pantheria"), 0.1),
    "grambank": partial(_drawn, lambda data: load_grambank(data / "grambank"), 0.2),
    "sigtyp": _sigtyp_dev,
    "sigtyp-test": _sigtyp_test,
    "debian-facets": partial(_drawn, _debian, 0.2),
    "awa": partial(_drawn, partial(noun_table, "AWA"), 0.1),
    "lad": partial(_drawn, partial(noun_table, "LAD"), 0.1),
}
"""Tasks by data set: each takes the folder of all data and a seed."""


def cell_task(dataset: str, data: str | Path, seed: int = 0) -> CellTask:
    """The task of a data set with the cells that a seed draws.

    Fit PHCLE to its `contexts`, then pass the embedding to `predicted_by` and the
    predictions to `scores`.

    Parameters
    ----------
    dataset : str
        One of `TASKS`.
    data : str or Path
        Folder of all data.
    seed : int, default 0
        Seed of the draw; "sigtyp-test" has one draw only.

    Returns
    -------
    CellTask
        The task.
    """
    check_choice("dataset", dataset, TASKS)
    return TASKS[dataset](Path(data), seed)
