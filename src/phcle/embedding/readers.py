"""Readers: regressions that predict one field of a table from all that is known.

Each is fitted once without each fold. The mean of these fits predicts gaps, and what
each says of its own fold is out of fold, for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.embedding.predictions import REASONS

TREES = 160
"""Trees of a field, in as many groups as there are folds."""

MOST_ROWS, MOST_SUPPORTED = 50_000, 3_000
"""Most labels that trees, and support vectors, learn from."""

LARGE = 5_000
"""Known cells of a field from which on boosting grows larger trees; on tables of 3,000
labels they made no difference."""

MOST_VALUES = 12
"""Most values of a category that boosting and support vectors read."""

GAPS_AT_ONCE = 2_000
"""Gaps whose leaves are compared at once."""

ROUNDS = 6
"""Least squares with new weights of cells that make absolute errors of squared ones."""

PULL = 30.0
"""Cells that the weights of the whole table count for in those of a field."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A field to learn, and the gaps to fill.

    Attributes
    ----------
    features, target : arrays of shape (known, features) and (known, outputs)
        What is known; a category has an output for each value, from 0 to 1.
    fold : array of int of shape (known,)
        Fold of each known cell.
    gaps : array of shape (gaps, features)
        Features of the unknown cells; those of `without` come last.
    is_class : bool
        Whether the outputs are shares of classes.
    seed : int
        Seed of whatever is drawn.
    without : mapping from int to array of shape (known, more features)
        Features that are made of known cells, for readers that are blind to a fold:
        made without its cells, of all labels. Otherwise the cells that a reader learns
        from would tell it those of the fold.
    """

    features: AnyFloats
    target: Floats
    fold: Ints
    gaps: AnyFloats
    is_class: bool
    seed: int
    without: Mapping[int, AnyFloats] = field(default_factory=dict)

    def seen_by(self, fold: int) -> AnyFloats:
        """Features of the known cells for a reader that is blind to a fold.

        Parameters
        ----------
        fold : int
            The fold; -1 for none.

        Returns
        -------
        array of shape (known, features)
            The features.
        """
        if fold not in self.without:
            return self.features
        return np.hstack([self.features, self.without[fold]])


@dataclass(frozen=True, eq=False)
class Told:
    """What a reader says.

    Attributes
    ----------
    held : array of shape (known, outputs)
        Of the known cells, out of fold.
    gaps : array of shape (gaps, outputs)
        Of the gaps.
    """

    held: Floats
    gaps: Floats


@dataclass(frozen=True, eq=False)
class Forested(Told):
    """What a forest says, how far the values in its leaves are apart, and whose.

    Attributes
    ----------
    held_spread, gap_spread : arrays of shape (known,) and (gaps,)
        Spread of values in the leaves of a cell.
    because, because_share : arrays of shape (gaps, REASONS)
        Known cells that share most leaves with a gap, and their weight.
    """

    held_spread: Floats
    gap_spread: Floats
    because: Ints
    because_share: Floats


Reader = Callable[[Asked], Told]


def grow_forest(asked: Asked, *, leaf: int, n_trees: int = TREES) -> Forested:
    """Ask groups of extremely randomised trees, each blind to one fold.

    Parameters
    ----------
    asked : Asked
        The field.
    leaf : int
        Fewest known cells in a leaf.
    n_trees : int
        Trees of all groups.

    Returns
    -------
    Forested
        What they say, with leaves.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    n_gaps, width = len(asked.gaps), asked.target.shape[1]
    held = asked.target.mean(axis=0) + np.zeros_like(asked.target)
    held_spread = np.zeros(len(asked.fold))
    gaps: list[Floats] = []
    gap_spread: list[Floats] = []
    because = np.zeros((n_gaps, REASONS), dtype=np.int64)
    because_share = np.zeros((n_gaps, REASONS))
    folds = _folds(asked.fold)
    for fold in folds:
        seen = _sample(asked.fold != fold, MOST_ROWS, asked.seed)
        own = np.flatnonzero(asked.fold == fold)
        trees = ExtraTreesRegressor(
            max(n_trees // len(folds), 1),
            min_samples_leaf=leaf,
            max_features=0.4,
            random_state=asked.seed + fold + 1,
        )
        target, features = asked.target[seen], asked.seen_by(fold)
        trees.fit(features[seen], target if width > 1 else target[:, 0])
        held[own], held_spread[own], _ = _read_trees(trees, features[own])
        if not n_gaps:
            continue
        said, spread, leaves = _read_trees(trees, asked.gaps)
        gaps.append(said)
        gap_spread.append(spread)
        if fold == folds[0]:
            known = trees.apply(features[seen])
            near, because_share = _nearest_leaves(known, leaves)
            because = seen[near]
    return Forested(
        held,
        _mean(gaps, (n_gaps, width)),
        held_spread,
        _mean(gap_spread, (n_gaps,)),
        because,
        because_share,
    )


def _read_trees(trees: Any, features: AnyFloats) -> tuple[Floats, Floats, Ints]:
    """Mean, spread, and the leaf of every tree."""
    n = len(features)
    if not n:
        return np.zeros((0, trees.n_outputs_)), np.zeros(0), np.zeros((0, 0), np.int64)
    leaves = np.asarray(trees.apply(features), dtype=np.int64)
    total, squares, inside = 0.0, 0.0, 0.0
    for tree, leaf in zip(trees.estimators_, leaves.T, strict=True):
        said = tree.tree_.value[leaf, :, 0]
        total, squares = total + said, squares + said**2
        inside = inside + tree.tree_.impurity[leaf]
    count = leaves.shape[1]
    mean = np.asarray(total) / count
    between = (np.asarray(squares) / count - mean**2).mean(axis=1)
    return mean, np.sqrt(np.maximum(between + inside / count, 0.0)), leaves


def _nearest_leaves(known: Ints, gaps: Ints) -> tuple[Ints, Floats]:
    """The known cells that share most leaves with each gap, and their weight."""
    n_known, n_trees = known.shape
    start = np.concatenate([[0], np.cumsum(known.max(axis=0) + 1)])
    every = np.repeat(np.arange(n_known), n_trees)
    at = (known + start[:-1]).ravel()
    size = np.bincount(at, minlength=start[-1])
    shares = sp.csr_array(
        (1.0 / (size[at] * n_trees), (at, every)), shape=(start[-1], n_known)
    )
    near = np.zeros((len(gaps), REASONS), dtype=np.int64)
    share = np.zeros((len(gaps), REASONS))
    for begin in range(0, len(gaps), GAPS_AT_ONCE):
        own = gaps[begin : begin + GAPS_AT_ONCE]
        rows = np.repeat(np.arange(len(own)), n_trees)
        places = np.minimum(own + start[:-1], start[-1] - 1).ravel()
        inside = sp.csr_array(
            (np.ones(len(rows)), (rows, places)), shape=(len(own), start[-1])
        )
        both = sp.csr_array(inside @ shares)
        row = np.repeat(np.arange(len(own)), np.diff(both.indptr))
        order = np.lexsort((both.indices, -both.data, row))
        rank = np.arange(len(order)) - both.indptr[row]
        first = rank < REASONS
        near[begin + row[first], rank[first]] = both.indices[order][first]
        share[begin + row[first], rank[first]] = both.data[order][first]
    return near, share


def boosting(asked: Asked) -> Told:
    """Ask scikit-learn's gradient boosting on histograms.

    Parameters
    ----------
    asked : Asked
        The field.

    Returns
    -------
    Told
        What it says.
    """
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

    kind = (
        HistGradientBoostingClassifier
        if asked.is_class
        else HistGradientBoostingRegressor
    )
    is_large = len(asked.target) >= LARGE
    reader = kind(
        max_iter=60 if asked.is_class else 120,
        learning_rate=0.08 if is_large else 0.06,
        max_leaf_nodes=31 if is_large else 12,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=asked.seed,
    )
    return crossfitted(reader, asked, MOST_ROWS)


def support_vectors(asked: Asked) -> Told:
    """Ask scikit-learn's support vectors, with a wide radial kernel.

    Parameters
    ----------
    asked : Asked
        The field.

    Returns
    -------
    Told
        What they say.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    reader = make_pipeline(StandardScaler(), SVR(C=10, epsilon=0.05, gamma=0.01))
    return crossfitted(reader, asked, MOST_SUPPORTED)


def own_reader(estimator: Any) -> Reader:
    """Make a reader of a user's own estimator of scikit-learn.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        The estimator.

    Returns
    -------
    callable
        The reader.
    """
    return lambda asked: crossfitted(estimator, asked, MOST_ROWS)


def crossfitted(estimator: Any, asked: Asked, most: int) -> Told:
    """Fit an estimator once without each fold; an output at a time for a regression.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        A regression, or a classifier for the classes.
    asked : Asked
        The field.
    most : int
        Most known cells to learn from.

    Returns
    -------
    Told
        What it says.
    """
    from sklearn.base import clone, is_classifier

    width = asked.target.shape[1]
    held = np.zeros_like(asked.target) + asked.target.mean(axis=0)
    gaps: list[Floats] = []
    for fold in _folds(asked.fold):
        seen = _sample(asked.fold != fold, most, asked.seed)
        own = np.flatnonzero(asked.fold == fold)
        features = asked.seen_by(fold)
        wanted = np.concatenate([features[own], asked.gaps])
        said = np.zeros((len(wanted), width)) + asked.target[seen].mean(axis=0)
        X, target = features[seen], asked.target[seen]
        if is_classifier(estimator):
            codes = _codes(target)
            if len(np.unique(codes)) > 1:
                fitted = clone(estimator).fit(X, codes)
                shares = np.zeros((len(wanted), max(width, 2)))
                shares[:, fitted.classes_] = fitted.predict_proba(wanted)
                said = shares if width > 1 else shares[:, 1:]
        else:
            for at in np.flatnonzero(np.ptp(target, axis=0) > 0):
                low, high = target[:, at].min(), target[:, at].max()
                reach = 0.0 if asked.is_class else 1.0
                found = clone(estimator).fit(X, target[:, at]).predict(wanted)
                said[:, at] = np.clip(found, low - reach, high + reach)
        held[own] = said[: len(own)]
        gaps.append(said[len(own) :])
    return Told(held, _mean(gaps, (len(asked.gaps), width)))


def _codes(target: Floats) -> Ints:
    """Classes of shares: the largest one, or whether a single one is above a half."""
    if target.shape[1] == 1:
        return (target[:, 0] > 0.5).astype(np.int64)
    return np.asarray(target.argmax(axis=1), np.int64)


def make_team(
    asked: Asked, *, is_boosted: bool, is_supported: bool, own: Mapping[str, Any]
) -> dict[str, Reader]:
    """Choose the readers of a field, beside the forest.

    Parameters
    ----------
    asked : Asked
        The field.
    is_boosted, is_supported : bool
        Whether boosting, and support vectors, may be asked, which takes longer.
    own : mapping from str to estimator
        The user's own readers.

    Returns
    -------
    dict
        Readers by name.
    """
    from sklearn.base import is_classifier

    found: dict[str, Reader] = {}
    if asked.target.shape[1] <= MOST_VALUES:
        if is_boosted:
            found["boosting"] = boosting
        if is_supported:
            found["support vectors"] = support_vectors
    for name, estimator in own.items():
        if asked.is_class or not is_classifier(estimator):
            found[name] = own_reader(estimator)
    return found


def mixing_weights(
    said: Sequence[Floats],
    truth: Floats,
    pull: Floats | None = None,
    *,
    is_robust: bool = False,
) -> Floats:
    """Find weights of readers, none below zero, with sum 1, by least squares.

    Parameters
    ----------
    said : sequence of arrays of shape (cells,)
        What each reader says, out of fold.
    truth : array of shape (cells,)
        What is true.
    pull : array of shape (readers,), optional
        Weights of the whole table, to which these are pulled.
    is_robust : bool, default False
        Whether absolute errors count, in place of squared ones.

    Returns
    -------
    array of shape (readers,)
        The weights.
    """
    from scipy.optimize import nnls  # slow to import

    matrix = np.column_stack(said)
    n = matrix.shape[1]
    counts = np.ones(len(truth))
    weights = np.full(n, 1.0 / n)
    for _ in range(ROUNDS if is_robust else 1):
        root = np.sqrt(counts)
        sure = 1e3 * np.sqrt(len(truth) + 1.0)
        rows: list[Floats] = [root[:, None] * matrix, sure * np.ones((1, n))]
        goal: list[Any] = [root * truth, [sure]]
        if pull is not None:
            # Far readers of one column must not outweigh the pull of another's unit.
            size = np.sqrt(PULL * max(float(np.mean(truth**2)), 1e-12))
            rows.append(size * np.eye(n))
            goal.append(size * pull)
        found, _ = nnls(np.vstack(rows), np.concatenate(goal))
        weights = np.asarray(found / found.sum()) if found.sum() > 0 else weights
        if is_robust:
            error = np.abs(matrix @ weights - truth)
            typical = float(np.median(error)) + 1e-9
            counts = typical / np.maximum(error, typical)
    return weights


def _folds(fold: Ints) -> list[int]:
    """Folds with a known cell outside them."""
    numbers = np.unique(fold).tolist()
    return [int(x) for x in numbers] if len(numbers) > 1 else [-1]


def _sample(is_seen: Any, most: int, seed: int) -> Ints:
    """Positions of known cells to learn from; some of too many."""
    at = np.flatnonzero(is_seen)
    if len(at) > most:
        at = np.sort(np.random.default_rng(seed).choice(at, most, replace=False))
    return at


def _mean(parts: Sequence[Floats], shape: tuple[int, ...]) -> Floats:
    """The mean of equal arrays; zeros without any."""
    return np.asarray(np.zeros(shape) + sum(parts) / max(len(parts), 1))
