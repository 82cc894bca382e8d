"""What attribute completion asks, how labels are hidden, and how answers are scored.

Whole labels are hidden, so that nothing but their place in the hierarchy and their
other contexts speaks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.base import Context
from phcle.errors import ContextError, OptionError

__all__ = [
    "CompletionTask",
    "Floats",
    "Rows",
    "column_means",
    "dense_values",
    "draw",
    "scores",
    "scores_against",
    "splits",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CompletionTask:
    """Attributes that can be hidden, and contexts that stay known of all labels."""

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
        """Attributes of these labels: (labels, attributes), NaN where unknown."""
        return dense_values(self.attributes, self.labels)

    def without(self, known: Rows) -> DescriptiveContext:
        """The attributes of the known labels alone."""
        # A label that no other context knows is never hidden, and stays.
        away = set(self.labels).difference(self.labels[i] for i in known)
        return self.attributes.rows_for(
            [x for x in self.attributes.labels if x not in away]
        )


def splits(
    n_labels: int, share: float, n_splits: int, seed: int
) -> Iterator[tuple[Rows, Rows]]:
    """Rows of known and of hidden labels, drawn anew for every split."""
    rng = np.random.default_rng(seed)
    for _ in range(n_splits):
        yield draw(np.arange(n_labels), share, rng)


def draw(rows: Rows, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Rows without, and with, a random share of them."""
    if not 0 < share < 1:
        raise OptionError(f"share must be between 0 and 1. Got {share!r} instead.")
    order = rng.permutation(rows)
    n = min(max(1, round(share * len(rows))), len(rows) - 2)
    return np.sort(order[n:]), np.sort(order[:n])


def scores(
    values: Floats, known: Rows, hidden: Rows, predicted: Floats
) -> tuple[float, float]:
    """R² over all hidden values, and mean AUC over the attributes that have one.

    An R² of 0 is that of the known labels' means. An attribute has an AUC if some
    hidden labels are above that mean and some are not.
    """
    return scores_against(values[hidden], column_means(values[known]), predicted)


def scores_against(
    truth: Floats, means: Floats, predicted: Floats
) -> tuple[float, float]:
    """The same of any values, NaN where they are not asked for, against the means."""
    from sklearn.metrics import roc_auc_score  # slow to import

    # A column that no known label has cannot be predicted by anybody.
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
    """Means of the columns over known values, NaN where there is none."""
    n_known = (~np.isnan(values)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=0) / n_known)


def dense_values(context: DescriptiveContext, labels: Sequence[str]) -> Floats:
    """Values of the labels, NaN where unknown: (labels, columns)."""
    dense = np.full((len(labels), len(context.columns)), np.nan)
    own = context.rows_for(labels)
    rows = [i for i, label in enumerate(labels) if label in own.index]
    if isinstance(own.values, np.ndarray):
        dense[rows] = own.values
    else:
        dense[rows] = own.values.toarray()
        if own.observed is not None:
            dense[rows] = np.where(own.observed.toarray() > 0, dense[rows], np.nan)
    return dense


def _labels_of(context: Context) -> tuple[str, ...]:
    """Labels that the context can tell something about."""
    if isinstance(context, RelationalContext) and context.hierarchy is not None:
        fixed = context.hierarchy.labels_are_fixed
        return context.labels if fixed else context.hierarchy.hierarchy.nodes
    return context.observed_labels
