"""Attribute completion: hide the attributes of some labels, predict and score them.

Whole labels are hidden. A prediction can then use only their place in a hierarchy and
their other contexts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.contexts.base.context import Context
from phcle.embedding import LabelEmbedding
from phcle.embedding.read import read_predictions
from phcle.errors import ContextError, ConvergenceWarning, OptionError
from phcle.estimator import PHCLE

__all__ = [
    "CompletionTask",
    "Floats",
    "Rows",
    "column_means",
    "dense_values",
    "draw",
    "predict_without",
    "predicted_values",
    "scores",
    "scores_against",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CompletionTask:
    """Attributes that can be hidden, and the other contexts of the same labels.

    Parameters
    ----------
    attributes : DescriptiveContext
        The context whose labels are hidden.
    others : tuple of contexts
        Contexts that stay known for all labels.
    """

    attributes: DescriptiveContext
    others: tuple[Context, ...]

    def __post_init__(self) -> None:
        if len(self.labels) < 5:
            raise ContextError(
                f"context {self.attributes.name!r} shares {len(self.labels)} labels "
                "with the others; completion needs 5 or more, under the same labels."
            )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels with attributes that another context knows too."""
        informed = {label for context in self.others for label in _labels_of(context)}
        return tuple(x for x in self.attributes.observed_labels if x in informed)

    @cached_property
    def values(self) -> Floats:
        """Attributes of these labels: (labels, attributes), NaN where missing."""
        return dense_values(self.attributes, self.labels)

    def without(self, known: Rows) -> DescriptiveContext:
        """The attributes of the known labels alone.

        Parameters
        ----------
        known : array of int
            Positions in `labels` of the labels to keep.

        Returns
        -------
        DescriptiveContext
            The attributes without the other labels of the task.
        """
        # A label that no other context knows is never hidden, so it stays.
        away = set(self.labels).difference(self.labels[i] for i in known)
        return self.attributes.rows_for(
            [x for x in self.attributes.labels if x not in away]
        )


def draw(rows: Rows, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Split rows at random; the second part holds a given share of them.

    Parameters
    ----------
    rows : array of int
        What to split.
    share : float
        Share of the second part, between 0 and 1.
    rng : numpy.random.Generator
        Source of the random order.

    Returns
    -------
    tuple of arrays of int
        Both parts, each in ascending order.
    """
    if not 0 < share < 1:
        raise OptionError(f"share must be between 0 and 1. Got {share!r} instead.")
    order = rng.permutation(rows)
    n = min(max(1, round(share * len(rows))), len(rows) - 2)
    return np.sort(order[n:]), np.sort(order[:n])


def predict_without(
    task: CompletionTask,
    known: Rows,
    hidden: Rows,
    options: Mapping[str, Any],
    labels: Sequence[str] | None = None,
) -> tuple[PHCLE, Floats]:
    """Fit without the attributes of the hidden labels and predict them.

    Parameters
    ----------
    task : CompletionTask
        Attributes and other contexts.
    known, hidden : arrays of int
        Positions in `task.labels`; see `draw`.
    options : mapping
        Options of `PHCLE`.
    labels : sequence of str, optional
        Vocabulary of the fit; by default all labels of the contexts.

    Returns
    -------
    tuple of PHCLE and array
        The fitted model, and the predicted values (hidden, attributes).
    """
    model = PHCLE(**options)
    contexts = [task.without(known), *task.others]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        embedding = model.fit(contexts, labels=labels).embedding_
    asked = [task.labels[i] for i in hidden]
    return model, predicted_values(embedding, task.attributes.name, asked)


def predicted_values(
    embedding: LabelEmbedding, context: str, labels: Sequence[str]
) -> Floats:
    """Values that an embedding predicts for a descriptive context.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that was fitted with the context.
    context : str
        Name of the context.
    labels : sequence of str
        Labels of the embedding.

    Returns
    -------
    array
        Predictions in the user's units: (labels, columns). Where a calibrated context
        holds yes or no, tags or values of a category: their probabilities.
    """
    fitted = next(x for x in embedding.predicting if x.name == context)
    vectors = embedding.select(labels).vectors
    return read_predictions(embedding, fitted, vectors, labels).values


def scores(
    values: Floats, known: Rows, hidden: Rows, predicted: Floats
) -> tuple[float, float]:
    """Score the predictions for hidden labels against the means of known ones.

    Parameters
    ----------
    values : array
        True values of all labels (labels, attributes), NaN where missing.
    known, hidden : arrays of int
        Rows of `values`; see `draw`.
    predicted : array
        Predicted values (hidden, attributes).

    Returns
    -------
    tuple of float
        R² over all hidden values (0 is what the known labels' means reach), and the
        mean AUC over the attributes that some hidden labels have more of than that
        mean, and some less.
    """
    return scores_against(values[hidden], column_means(values[known]), predicted)


def scores_against(
    truth: Floats, means: Floats, predicted: Floats
) -> tuple[float, float]:
    """Score predictions against given column means; see `scores`.

    Parameters
    ----------
    truth : array
        True values (rows, attributes), NaN where not asked for.
    means : array
        What to compare with, one value per attribute.
    predicted : array
        Predicted values (rows, attributes).

    Returns
    -------
    tuple of float
        R² and mean AUC.
    """
    from sklearn.metrics import roc_auc_score  # slow to import

    # A column without a known value cannot be predicted.
    judged = ~np.isnan(truth) & ~np.isnan(means)
    centred = np.where(judged, truth - means, 0.0)
    error = np.where(judged, truth - predicted, 0.0)
    total = float((centred**2).sum())
    r2 = 1 - float((error**2).sum()) / total if total > 0 else np.nan
    areas = []
    for column in range(truth.shape[1]):
        rows = judged[:, column]
        is_high = centred[rows, column] > 0
        if is_high.any() and not is_high.all():
            areas.append(roc_auc_score(is_high, predicted[rows, column]))
    return r2, float(np.mean(areas)) if areas else np.nan


def column_means(values: Floats) -> Floats:
    """Means of the columns over known values.

    Parameters
    ----------
    values : array
        (rows, columns), NaN where missing.

    Returns
    -------
    array
        One mean per column, NaN where no value is known.
    """
    n_known = (~np.isnan(values)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=0) / n_known)


def dense_values(context: DescriptiveContext, labels: Sequence[str]) -> Floats:
    """Values of some labels as a dense array.

    Parameters
    ----------
    context : DescriptiveContext
        Where the values come from.
    labels : sequence of str
        One row each; a label that the context lacks has missing values only.

    Returns
    -------
    array
        (labels, columns), NaN where missing.
    """
    dense = np.full((len(labels), len(context.columns)), np.nan)
    for i, label in enumerate(labels):
        if label in context.index:
            dense[i] = context.matrix.row(context.index[label])
    return dense


def _labels_of(context: Context) -> tuple[str, ...]:
    """Labels that the context can tell something about."""
    if context.hierarchy is not None:
        fixed = context.hierarchy.labels_are_fixed
        return context.labels if fixed else context.hierarchy.hierarchy.nodes
    return context.observed_labels
