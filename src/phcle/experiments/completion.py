"""Attribute completion: the attributes of some labels are hidden and predicted.

Whole labels are hidden, so that nothing but their place in the hierarchy and their
other contexts speaks for them. PHCLE reads the prediction off the label's vector. Its
rivals are the mean of each attribute, the nearest relative in the hierarchy whose
attributes are known, and a ridge regression from each other description. A further one
is a ridge regression from all other contexts, side by side with the same energy.

Options of PHCLE are chosen among the given ones on validation labels, which are drawn
from the known labels of a split; the hidden labels take no part in it. A label that
lacks a context has a shorter vector, so that its predictions stay too near the mean;
"PHCLE, calibrated" stretches them by the factor that fits the validation labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.alignment import Context
from phcle.contexts.taxonomy import Hierarchy
from phcle.errors import ContextError, ConvergenceWarning, OptionError
from phcle.model.estimator import PHCLE
from phcle.uses.zero_shot.frames import pandas_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OPTIONS", "complete_attributes", "summarize_completion"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Options = Mapping[str, Any]

# Dimensions beyond 50 changed little for 50 and for 140 labels. A heavier descriptive
# weight lets attributes that hidden labels lack shape the vectors of known ones.
OPTIONS: tuple[Options, ...] = tuple(
    {
        "dim": 50,
        "ridge": ridge,
        "context_ridge": ridge,
        "descriptive_weight": descriptive_weight,
    }
    for ridge, descriptive_weight in (
        (3.0, 1.0),
        (3.0, 3.0),
        (10.0, 3.0),
        (10.0, 10.0),
        (30.0, 10.0),
        (30.0, 30.0),
    )
)
PENALTIES = np.logspace(-3, 3, 13)  # of the ridge regression


def complete_attributes(
    attributes: DescriptiveContext,
    others: Sequence[Context],
    *,
    share: float = 0.2,
    n_splits: int = 10,
    seed: int = 0,
    options: Options | Sequence[Options] = OPTIONS,
    n_validations: int = 3,
) -> pd.DataFrame:
    """Scores of hidden labels' attributes, a row for every split and method.

    Parameters
    ----------
    attributes
        What is hidden from some labels, and predicted.
    others
        What stays known of all labels: hierarchies, sentence vectors, …
    share
        Of the labels that both sides know, how many are hidden.
    options
        Options of PHCLE, or several of them to choose from in every split.
    n_validations
        Draws of validation labels among the known ones.

    Returns
    -------
    DataFrame
        Columns split, method, r2 (over all hidden values; 0 is the mean of the known
        labels), auc (mean over the attributes that some hidden labels have, being above
        that mean, and some lack), n_hidden, and options (those chosen for PHCLE).
    """
    pandas = pandas_for("complete_attributes")
    if not 0 < share < 1:
        raise OptionError(f"share must be between 0 and 1. Got {share!r} instead.")
    candidates = [options] if isinstance(options, Mapping) else list(options)
    if not candidates:
        raise OptionError("options must hold at least one choice. Got none.")
    if n_validations < 1:
        raise OptionError(
            f"n_validations must be 1 or more. Got {n_validations!r} instead."
        )
    task = _Task(attributes, others)
    rows: list[dict[str, Any]] = []
    for split, (known, hidden) in enumerate(_splits(task, share, n_splits, seed)):
        chosen, stretch = _choose(task, known, candidates, share, n_validations, seed)
        for method, predicted in task.predictions(known, hidden, chosen, stretch):
            r2, auc = _scores(task.values, known, hidden, predicted)
            rows.append(
                {
                    "split": split,
                    "method": method,
                    "r2": r2,
                    "auc": auc,
                    "n_hidden": len(hidden),
                    "options": dict(chosen) if "PHCLE" in method else {},
                }
            )
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def summarize_completion(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error of every method, and PHCLE's lead over it by split.

    `lead` is the mean of PHCLE's score minus the method's; `ahead` counts the splits
    in which it is positive.
    """
    pandas = pandas_for("summarize_completion")
    rows: dict[str, dict[str, float]] = {}
    methods = list(dict.fromkeys(frame["method"]))
    for method in methods:
        row: dict[str, float] = {}
        for score in ("r2", "auc"):
            wide = frame.pivot(index="split", columns="method", values=score)
            own = wide[method].to_numpy()
            lead = wide["PHCLE"].to_numpy() - own
            row[score] = float(own.mean())
            row[f"{score} error"] = float(wide[method].sem())  # NaN for one split
            row[f"{score} lead"] = float(lead.mean())
            row[f"{score} ahead"] = int((lead > 0).sum())
        rows[method] = row
    table: pd.DataFrame = pandas.DataFrame.from_dict(rows, orient="index")
    return table


class _Task:
    """The labels that can be hidden, their attributes, and ways to predict these."""

    def __init__(self, attributes: DescriptiveContext, others: Sequence[Context]):
        informed = {label for context in others for label in _labels_of(context)}
        self.labels = tuple(x for x in attributes.observed_labels if x in informed)
        if len(self.labels) < 5:
            raise ContextError(
                f"context {attributes.name!r} shares {len(self.labels)} labels with "
                "the others; completion needs 5 or more, under the same labels."
            )
        self.attributes = attributes
        self.others = list(others)
        self.values = _dense(attributes, self.labels)  # (labels, attributes), NaN
        self.distances = [
            (context.name, _distances(context.hierarchy.hierarchy, self.labels))
            for context in others
            if isinstance(context, RelationalContext) and context.hierarchy is not None
        ]
        self.vectors = [
            (context.name, _dense(context, self.labels))
            for context in others
            if isinstance(context, DescriptiveContext)
        ]
        if len(others) > 1:
            blocks = [_block(context, self.labels) for context in others]
            self.vectors.append(("all contexts", np.hstack(blocks)))

    def predictions(
        self,
        known: Rows,
        hidden: Rows,
        options: Options,
        stretch: float = 1.0,
    ) -> Iterator[tuple[str, Floats]]:
        """Each method's values of the hidden labels: (hidden, attributes)."""
        values = self.values[known]
        means = _means(values)
        by_phcle = self.by_phcle(known, hidden, options)
        yield "PHCLE", by_phcle
        yield "PHCLE, calibrated", means + stretch * (by_phcle - means)
        yield "attribute mean", np.tile(means, (len(hidden), 1))
        for name, distance in self.distances:
            near = distance[np.ix_(hidden, known)]
            yield f"nearest relative ({name})", _nearest_relative(near, values)
        for name, vectors in self.vectors:
            predicted = _ridge(vectors[known], values, vectors[hidden])
            yield f"ridge regression ({name})", predicted

    def by_phcle(
        self,
        known: Rows,
        hidden: Rows,
        options: Options,
    ) -> Floats:
        """Fit all labels without the hidden attributes, and read these off."""
        # A label that no other context knows is never hidden, and stays.
        away = set(self.labels).difference(self.labels[i] for i in known)
        stay = [x for x in self.attributes.labels if x not in away]
        contexts = [self.attributes.rows_for(stay), *self.others]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            embedding = PHCLE(**options).fit(contexts).embedding_
        fitted = next(c for c in embedding.contexts if c.name == self.attributes.name)
        vectors = embedding.select([self.labels[i] for i in hidden]).vectors
        return np.asarray(fitted.predict(vectors))  # type: ignore[union-attr]


def _splits(
    task: _Task, share: float, n_splits: int, seed: int
) -> Iterator[tuple[Rows, Rows]]:
    """Rows of known and of hidden labels, drawn anew for every split."""
    rng = np.random.default_rng(seed)
    for _ in range(n_splits):
        yield _draw(np.arange(len(task.labels)), share, rng)


def _draw(rows: Rows, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Rows without, and with, a random share of them."""
    order = rng.permutation(rows)
    n = min(max(1, round(share * len(rows))), len(rows) - 2)
    return np.sort(order[n:]), np.sort(order[:n])


def _choose(
    task: _Task,
    known: Rows,
    candidates: Sequence[Options],
    share: float,
    n_validations: int,
    seed: int,
) -> tuple[Options, float]:
    """The options with the best mean R² on validation labels, and how far to stretch.

    The stretch is the slope of true values on predicted ones, both from the mean.
    """
    rng = np.random.default_rng(seed)
    draws = [_draw(known, share, rng) for _ in range(n_validations)]
    best = (-np.inf, candidates[0], 1.0)
    for options in candidates:
        scores, shared, own = [], 0.0, 0.0
        for rest, held in draws:
            predicted = task.by_phcle(rest, held, options)
            scores.append(_scores(task.values, rest, held, predicted)[0])
            means = _means(task.values[rest])
            truth = np.nan_to_num(task.values[held] - means, nan=0.0)
            guess = np.where(np.isnan(task.values[held]), 0.0, predicted - means)
            guess = np.nan_to_num(guess, nan=0.0)
            shared += float((truth * guess).sum())
            own += float((guess**2).sum())
        score = float(np.mean(scores))
        if score > best[0]:
            best = (score, options, max(shared, 0.0) / own if own > 0 else 1.0)
    return best[1:]


def _scores(
    values: Floats,
    known: Rows,
    hidden: Rows,
    predicted: Floats,
) -> tuple[float, float]:
    """R² over all hidden values, and mean AUC over the attributes that have one."""
    from sklearn.metrics import roc_auc_score  # slow to import

    means = _means(values[known])
    truth = values[hidden]
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


def _labels_of(context: Context) -> tuple[str, ...]:
    """Labels that the context can tell something about."""
    if isinstance(context, RelationalContext) and context.hierarchy is not None:
        fixed = context.hierarchy.labels_are_fixed
        return context.labels if fixed else context.hierarchy.hierarchy.nodes
    return context.observed_labels


def _dense(context: DescriptiveContext, labels: Sequence[str]) -> Floats:
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


def _block(context: Context, labels: Sequence[str]) -> Floats:
    """A context as features: centred, unit energy, a label it lacks at the centre."""
    if isinstance(context, RelationalContext):
        context = context.naming_also(labels)
        rows = np.asarray(context.rows_for(labels).toarray())
        mass = rows.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            values = rows / mass  # NaN where the label has no count
    else:
        values = _dense(context, labels)
    centred = np.nan_to_num(values - _means(values), nan=0.0)
    energy = float((centred**2).sum()) / len(labels)
    return np.asarray(centred / (energy**0.5 or 1.0))


def _means(values: Floats) -> Floats:
    """Means of the columns over known values, NaN where there is none."""
    n_known = (~np.isnan(values)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=0) / n_known)


def _distances(hierarchy: Hierarchy, labels: Sequence[str]) -> Floats:
    """Steps between labels over a shared ancestor, infinite if none: (labels,)²."""
    inside = [i for i, label in enumerate(labels) if label in hierarchy.index]
    rows, nodes, steps = hierarchy.ancestor_distances([labels[i] for i in inside])
    up = np.full((len(labels), len(hierarchy.nodes)), np.inf)
    up[np.array(inside)[rows], nodes] = steps
    return np.array([(up + row).min(axis=1) for row in up])


def _nearest_relative(distance: Floats, values: Floats) -> Floats:
    """Mean over the nearest known labels, column by column where some lack it."""
    predicted = np.tile(_means(values), (len(distance), 1))
    for columns in _columns_alike(values):
        known = ~np.isnan(values[:, columns[0]])
        if not known.any():
            continue
        near = distance[:, known]  # (hidden, known)
        nearest = near == near.min(axis=1, keepdims=True)
        nearest &= np.isfinite(near)
        found = nearest.any(axis=1)
        weights = nearest[found] / nearest[found].sum(axis=1, keepdims=True)
        predicted[np.ix_(found, columns)] = weights @ values[np.ix_(known, columns)]
    return predicted


def _ridge(known_vectors: Floats, values: Floats, hidden_vectors: Floats) -> Floats:
    """Ridge regression, its penalty by leave-one-out error on the known labels."""
    from sklearn.linear_model import RidgeCV  # slow to import

    predicted = np.tile(_means(values), (len(hidden_vectors), 1))
    described = ~np.isnan(known_vectors).any(axis=1)
    ready = ~np.isnan(hidden_vectors).any(axis=1)
    if described.sum() < 3 or not ready.any():
        return predicted
    centre = known_vectors[described].mean(axis=0)
    spread = known_vectors[described] - centre
    length = np.sqrt((spread**2).sum(axis=1).mean()) or 1.0  # penalties are relative
    X, Z = (known_vectors - centre) / length, (hidden_vectors[ready] - centre) / length
    for columns in _columns_alike(values):
        rows = described & ~np.isnan(values[:, columns[0]])
        if rows.sum() < 3:
            continue
        model = RidgeCV(alphas=PENALTIES).fit(X[rows], values[np.ix_(rows, columns)])
        fitted = np.reshape(model.predict(Z), (len(Z), len(columns)))
        predicted[np.ix_(ready, columns)] = fitted
    return predicted


def _columns_alike(values: Floats) -> list[Rows]:
    """Columns in groups that are known of the same labels."""
    groups: dict[bytes, list[int]] = {}
    for column, known in enumerate((~np.isnan(values)).T):
        groups.setdefault(known.tobytes(), []).append(column)
    return [np.array(columns) for columns in groups.values()]
