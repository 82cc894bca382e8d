"""Completion of single cells without PHCLE, from means to gradient boosting.

Each rival takes a `CellTask` and a random generator, and returns predictions for all
cells. It sees the known cells, the groups above the labels and the other contexts.
Settings are chosen on inner hidden cells, never on those of the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from phcle.contexts.family_means import TIE, FamilyMeans
from phcle.contexts.gaps import Gaps
from phcle_paper.context_values import Floats
from phcle_paper.datasets.patchy_table import CATEGORY, TRUTH, PatchyTable
from phcle_paper.studies.cell_tasks import CellTask

__all__ = ["RIVALS", "family_mean", "gradient_boosting", "overall_mean"]

Setting = TypeVar("Setting")
Rng = np.random.Generator

INNER = 0.1
"""Share of the known cells that settings are chosen on."""
FOLDS = 10  # of labels, for means of groups as features
MOST_FIELDS = 30
"""Fields that settings of the costly rivals are chosen on, drawn if there are more."""
TREES = ((0.1, 100, 20), (0.05, 100, 5), (0.05, 300, 20))
"""Learning rate, number of trees, fewest labels in a leaf."""


def overall_mean(task: CellTask, rng: Rng) -> Floats:
    """The mean of a number, the most common value of a category."""
    return np.tile(task.means, (len(task.left), 1))


def family_mean(task: CellTask, rng: Rng) -> Floats:
    """The mean, or most common value, of the nearest group that has a known cell."""
    return group_means(task.table, task.left)


def group_means(table: PatchyTable, values: Floats) -> Floats:
    """Mean over the nearest group upwards in which a column is known."""
    means = FamilyMeans(Gaps.of(values, None, table.name), table.groups)
    found = means.at(np.arange(len(values)))
    found = np.where(np.isnan(found), means.overall, found)
    return np.asarray(found + TIE * (means.overall - found))


def means_as_features(table: PatchyTable, values: Floats) -> Floats:
    """Group means in which no known cell sees its own value.

    Known cells take the means that ten folds of the labels give without their own fold.
    Leaving out one label at a time would tell a tree the value that was left out.
    """
    found = group_means(table, values)
    fold = np.random.default_rng(0).integers(0, FOLDS, len(values))
    for n in range(FOLDS):
        own = fold == n
        rest = group_means(table, np.where(own[:, None], np.nan, values))
        found[own] = np.where(np.isnan(values[own]), found[own], rest[own])
    return found


def gradient_boosting(task: CellTask, rng: Rng) -> Floats:
    """scikit-learn's boosted trees, a model for each field, gaps as they are."""
    inner = task.inner(INNER, rng)
    fields = _some_fields(task, rng)
    best = _best(inner, ((x, _boosted(inner, x, fields)) for x in TREES), fields)
    return _boosted(task, best, range(len(task.table.fields)))


def _boosted(
    task: CellTask, trees: tuple[float, int, int], fields: Sequence[int]
) -> Floats:
    """Predictions for some fields from the others, groups and groups' means."""
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

    table = task.table
    options = {
        "learning_rate": trees[0],
        "max_iter": trees[1],
        "min_samples_leaf": trees[2],
        "early_stopping": False,
        "random_state": 0,
    }
    groups = _group_codes(table)
    # One column for each field: the number of a category, and every tag.
    plain = np.hstack([_codes(table, i, task.left) for i in range(len(table.fields))])
    widths = [_codes(table, i, task.left).shape[1] for i in range(len(table.fields))]
    owner = np.repeat(np.arange(len(widths)), widths)
    means = means_as_features(table, task.left)
    found = np.tile(task.means, (len(task.left), 1))
    for i in fields:
        field, own = table.fields[i], table.slices[i]
        known = ~np.isnan(task.left[:, own.start])
        features = np.hstack([groups, means[:, own], plain[:, owner != i]])
        features = features[:, ~np.isnan(features[known]).all(axis=0)]
        asked = np.flatnonzero(~known)
        if len(asked) == 0 or features.shape[1] == 0:
            continue
        if field.kind in (TRUTH, CATEGORY):
            codes = _codes(table, i, task.left)[known, 0].astype(int)
            if len(np.unique(codes)) < 2:
                continue
            model = HistGradientBoostingClassifier(**options)
            model.fit(features[known], codes)
            chances = model.predict_proba(features[asked])
            if field.kind == TRUTH:
                found[asked, own.start] = chances[:, 1]
            else:
                found[asked, own] = 0.0
                found[np.ix_(asked, own.start + model.classes_)] = chances
            continue
        for column in range(own.start, own.stop):
            model = HistGradientBoostingRegressor(**options)
            model.fit(features[known], task.left[known, column])
            found[asked, column] = model.predict(features[asked])
    return found


def _codes(table: PatchyTable, i: int, values: Floats) -> Floats:
    """A field as one column of numbers, NaN where unknown; tags as they are."""
    own = values[:, table.slices[i]]
    if table.fields[i].kind != CATEGORY:
        return own
    codes = own.argmax(axis=1).astype(float)
    return np.where(np.isnan(own[:, :1]), np.nan, codes[:, None])


def _group_codes(table: PatchyTable) -> Floats:
    """The number of each label's group at every level, from the top; NaN if none.

    Nodes are numbered along the tree, so that relatives have near numbers and a split
    of the range is one of the tree.
    """
    paths: list[list[int]] = [[] for _ in table.labels]
    for rows, nodes in reversed(table.ancestors[1:]):
        for row, node in zip(rows.tolist(), nodes.tolist(), strict=True):
            paths[row].append(node)
    depth = max(map(len, paths), default=0)
    codes = np.full((len(paths), depth), np.nan)
    for level in range(depth):
        heads = sorted({tuple(x[: level + 1]) for x in paths if len(x) > level})
        place = {head: n for n, head in enumerate(heads)}
        for i, path in enumerate(paths):
            if len(path) > level:
                codes[i, level] = place[tuple(path[: level + 1])]
    return codes


def _some_fields(task: CellTask, rng: Rng) -> Sequence[int]:
    """All fields, or some of them where there are many."""
    n = len(task.table.fields)
    if n <= MOST_FIELDS:
        return range(n)
    return sorted(rng.choice(n, MOST_FIELDS, replace=False).tolist())


def _best(
    inner: CellTask,
    tried: Iterator[tuple[Setting, Floats]],
    fields: Sequence[int],
) -> Setting:
    """The setting whose predictions are best on the inner hidden cells of fields."""
    asked = np.zeros_like(inner.hidden)
    asked[:, fields] = inner.hidden[:, fields]
    inner = CellTask(inner.table, asked, inner.truth)
    return max(((inner.quality(x), n, s) for n, (s, x) in enumerate(tried)))[2]


RIVALS: Mapping[str, tuple[str, Callable[[CellTask, Rng], Floats]]] = {
    "mean": ("most common or mean", overall_mean),
    "family": ("family mean", family_mean),
    "boosting": ("gradient boosting", gradient_boosting),
}
"""Title and function of every rival, the cheap ones first."""
