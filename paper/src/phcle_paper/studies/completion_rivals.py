"""Attribute completion without PHCLE: means, nearest relatives, ridge regressions.

A ridge regression sees each other description alone, and all other contexts side by
side with the same energy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from phcle.contexts import (
    Context,
    DescriptiveContext,
    Hierarchy,
    RelationalContext,
)
from phcle.tuning.completion import (
    CompletionTask,
    Floats,
    Rows,
    column_means,
    dense_values,
)

__all__ = [
    "context_block",
    "nearest_relative",
    "neighbours_mean",
    "ridge_regression",
    "rivals",
    "tree_distances",
]

PENALTIES = np.logspace(-3, 3, 13)  # of the ridge regression
NEIGHBOURS = 10  # that `neighbours_mean` looks at


def rivals(
    task: CompletionTask, known: Rows, hidden: Rows, *, by_neighbours: bool = False
) -> Iterator[tuple[str, Floats]]:
    """Each method's values of the hidden labels: (hidden, attributes).

    `by_neighbours` adds the mean over the labels nearest by each description.
    """
    values = task.values[known]
    yield "attribute mean", np.tile(column_means(values), (len(hidden), 1))
    for context in task.others:
        if isinstance(context, RelationalContext) and context.hierarchy is not None:
            distance = tree_distances(context.hierarchy.hierarchy, task.labels)
            near = distance[np.ix_(hidden, known)]
            yield f"nearest relative ({context.name})", nearest_relative(near, values)
    for name, vectors in _features(task):
        predicted = ridge_regression(vectors[known], values, vectors[hidden])
        yield f"ridge regression ({name})", predicted
    for context in task.others if by_neighbours else ():
        if isinstance(context, DescriptiveContext):
            block = context_block(context, task.labels)
            predicted = neighbours_mean(block[hidden], block[known], values)
            yield f"{NEIGHBOURS} nearest ({context.name})", predicted


def tree_distances(hierarchy: Hierarchy, labels: Sequence[str]) -> Floats:
    """Steps between labels over a shared ancestor, infinite if none: (labels,)²."""
    inside = [i for i, label in enumerate(labels) if label in hierarchy.index]
    rows, nodes, steps = hierarchy.ancestor_distances([labels[i] for i in inside])
    up = np.full((len(labels), len(hierarchy.nodes)), np.inf)
    up[np.array(inside)[rows], nodes] = steps
    above = [np.flatnonzero(np.isfinite(row)) for row in up]
    return np.array(
        [
            (up[:, own] + row[own]).min(axis=1, initial=np.inf)
            for row, own in zip(up, above, strict=True)
        ]
    )


def nearest_relative(distance: Floats, values: Floats) -> Floats:
    """Mean over the nearest known labels, column by column where some lack it."""
    predicted = np.tile(column_means(values), (len(distance), 1))
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


def neighbours_mean(vectors: Floats, known_vectors: Floats, values: Floats) -> Floats:
    """Mean over the nearest labels by cosine, of those whose value is known.

    A known vector that is the same array row as the asked one must have NaN values.
    """
    units, known_units = (
        x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
        for x in (vectors, known_vectors)
    )
    cosines = units @ known_units.T  # (asked, known)
    predicted = np.tile(column_means(values), (len(vectors), 1))
    for columns in _columns_alike(values):
        rows = np.flatnonzero(~np.isnan(values[:, columns[0]]))
        if len(rows) == 0:
            continue
        n = min(NEIGHBOURS, len(rows))
        nearest = np.argpartition(-cosines[:, rows], n - 1, axis=1)[:, :n]
        found = values[np.ix_(rows, columns)][nearest]  # (asked, n, columns)
        predicted[:, columns] = found.mean(axis=1)
    return predicted


def ridge_regression(
    known_vectors: Floats, values: Floats, hidden_vectors: Floats
) -> Floats:
    """Ridge regression, its penalty by leave-one-out error on the known labels."""
    from sklearn.linear_model import RidgeCV  # slow to import

    predicted = np.tile(column_means(values), (len(hidden_vectors), 1))
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


def _features(task: CompletionTask) -> Iterator[tuple[str, Floats]]:
    """What a regression may see of the labels: (labels, columns) by name."""
    for context in task.others:
        if isinstance(context, DescriptiveContext):
            yield context.name, dense_values(context, task.labels)
    if len(task.others) > 1:
        blocks = [context_block(context, task.labels) for context in task.others]
        yield "all contexts", np.hstack(blocks)


def context_block(context: Context, labels: Sequence[str]) -> Floats:
    """A context as features: centred, unit energy, a label it lacks at the centre."""
    if isinstance(context, RelationalContext):
        context = context.naming_also(labels)
        rows = np.asarray(context.rows_for(labels).toarray())
        mass = rows.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            values = rows / mass  # NaN where the label has no count
    else:
        values = dense_values(cast(DescriptiveContext, context), labels)
    centred = np.nan_to_num(values - column_means(values), nan=0.0)
    energy = float((centred**2).sum()) / len(labels)
    return np.asarray(centred / (energy**0.5 or 1.0))


def _columns_alike(values: Floats) -> list[Rows]:
    """Columns in groups that are known of the same labels."""
    groups: dict[bytes, list[int]] = {}
    for column, known in enumerate((~np.isnan(values)).T):
        groups.setdefault(known.tobytes(), []).append(column)
    return [np.array(columns) for columns in groups.values()]
