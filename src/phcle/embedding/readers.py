"""Readers: regressions that predict one field of a table from all that is known.

Each is fitted once without each fold. The mean of these fits predicts gaps, and what
each says of its own fold is out of fold, for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.embedding.predictions import REASONS

TREES = 160
"""Trees of a field, in as many groups as there are folds."""

MOST_ROWS = 50_000
"""Most labels that readers learn from."""

LARGE = 5_000
"""Known cells of a field from which on boosting grows larger trees; on tables of 3,000
labels they made no difference."""

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

    def by_folds(self, most: int) -> Iterator[tuple[int, Ints, Ints, AnyFloats]]:
        """Go through the readers, of which each is blind to a fold.

        Parameters
        ----------
        most : int
            Most known cells to learn from; of more, some are drawn.

        Yields
        ------
        tuple
            The fold, the known cells to learn from, those of the fold, and the features
            of all known cells. If all are of one fold, it is −1, which has none.
        """
        numbers = np.unique(self.fold).tolist()
        for fold in numbers if len(numbers) > 1 else [-1]:
            seen = np.flatnonzero(self.fold != fold)
            if len(seen) > most:
                rng = np.random.default_rng(self.seed)
                seen = np.sort(rng.choice(seen, most, replace=False))
            features = self.features
            if self.without:
                features = np.hstack([features, self.without[fold]])
            yield fold, seen, np.flatnonzero(self.fold == fold), features

    @property
    def mean(self) -> Floats:
        """The mean of the known cells, for each of them."""
        return np.asarray(self.target.mean(axis=0) + np.zeros_like(self.target))


@dataclass(frozen=True, eq=False)
class Predicted:
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
class Forested(Predicted):
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
    held, held_spread = asked.mean, np.zeros(len(asked.fold))
    gaps, gap_spread = np.zeros((n_gaps, width)), np.zeros(n_gaps)
    because = np.zeros((n_gaps, REASONS), np.int64)
    because_share = np.zeros((n_gaps, REASONS))
    n_groups = len(np.unique(asked.fold))
    for fold, seen, own, features in asked.by_folds(MOST_ROWS):
        trees = ExtraTreesRegressor(
            max(n_trees // n_groups, 1),
            min_samples_leaf=leaf,
            max_features=0.4,
            random_state=asked.seed + fold + 1,
        )
        target = asked.target[seen]
        trees.fit(features[seen], target if width > 1 else target[:, 0])
        if len(own):
            held[own], held_spread[own] = _read_trees(trees, features[own])
        if n_gaps:
            said, spread = _read_trees(trees, asked.gaps)
            gaps, gap_spread = gaps + said / n_groups, gap_spread + spread / n_groups
            if fold == asked.fold.min() or fold < 0:
                known, leaves = map(trees.apply, (features[seen], asked.gaps))
                near, because_share = _nearest_leaves(known, leaves)
                because = seen[near]
    return Forested(held, gaps, held_spread, gap_spread, because, because_share)


def _read_trees(trees: Any, features: AnyFloats) -> tuple[Floats, Floats]:
    """The mean of all trees, and how far they are apart."""
    total, squares = 0.0, 0.0
    leaves = trees.apply(features)
    for tree, leaf in zip(trees.estimators_, leaves.T, strict=True):
        said = tree.tree_.value[leaf, :, 0]
        total, squares = total + said, squares + said**2
    mean = np.asarray(total) / leaves.shape[1]
    variance = (np.asarray(squares) / leaves.shape[1] - mean**2).mean(axis=1)
    return mean, np.sqrt(np.maximum(variance, 0.0))


def _nearest_leaves(known: Ints, gaps: Ints) -> tuple[Ints, Floats]:
    """The known cells that share most leaves with each gap, and their weight."""
    n_trees = known.shape[1]
    starts = np.cumsum(known.max(axis=0) + 1)
    first = np.concatenate([[0], starts[:-1]])

    def places(leaves: Ints) -> sp.csr_array:
        at = np.minimum(leaves + first, starts[-1] - 1).ravel()
        rows = np.repeat(np.arange(len(leaves)), n_trees)
        shape = (len(leaves), starts[-1])
        return sp.csr_array((np.ones(len(at)), (rows, at)), shape=shape)

    members = places(known).T
    shares = sp.diags_array(1 / np.maximum(members.sum(axis=1) * n_trees, 1)) @ members
    near, share = np.zeros((2, len(gaps), REASONS))
    for begin in range(0, len(gaps), GAPS_AT_ONCE):
        both = sp.csr_array(places(gaps[begin : begin + GAPS_AT_ONCE]) @ shares)
        row, at, data = sp.find(both)
        order = np.lexsort((at, -data, row))
        row, at, data = row[order], at[order], data[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        is_first = rank < REASONS
        near[begin + row[is_first], rank[is_first]] = at[is_first]
        share[begin + row[is_first], rank[is_first]] = data[is_first]
    return near.astype(np.int64), share


def crossfitted(estimator: Any, asked: Asked, most: int = MOST_ROWS) -> Predicted:
    """Fit an estimator once without each fold; an output at a time for a regression.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        A regression, or a classifier for the classes.
    asked : Asked
        The field.
    most : int, optional
        Most known cells to learn from.

    Returns
    -------
    Predicted
        What it says.
    """
    from sklearn.base import clone, is_classifier

    width = asked.target.shape[1]
    reach = 0.0 if asked.is_class else 1.0
    held, gaps = asked.mean, np.zeros((len(asked.gaps), width))
    for _, seen, own, features in asked.by_folds(most):
        wanted = np.concatenate([features[own], asked.gaps])
        X, target = features[seen], asked.target[seen]
        said = np.zeros((len(wanted), width)) + target.mean(axis=0)
        if is_classifier(estimator):
            shares = target if width > 1 else np.hstack([1 - target, target])
            codes = shares.argmax(axis=1)
            if np.ptp(codes) > 0:
                fitted = clone(estimator).fit(X, codes)
                found = np.zeros((len(wanted), shares.shape[1]))
                found[:, fitted.classes_] = fitted.predict_proba(wanted)
                said = found[:, -width:]
        else:
            for at in np.flatnonzero(np.ptp(target, axis=0) > 0):
                y = target[:, at]
                found = clone(estimator).fit(X, y).predict(wanted)
                said[:, at] = np.clip(found, y.min() - reach, y.max() + reach)
        held[own] = said[: len(own)]
        gaps += said[len(own) :] / len(np.unique(asked.fold))
    return Predicted(held, gaps)


def boosting(asked: Asked) -> Any:
    """Make scikit-learn's gradient boosting on histograms.

    Parameters
    ----------
    asked : Asked
        The field.

    Returns
    -------
    estimator of scikit-learn
        A regression, or a classifier for the classes.
    """
    from sklearn import ensemble

    kind: Any = ensemble.HistGradientBoostingRegressor
    if asked.is_class:
        kind = ensemble.HistGradientBoostingClassifier
    is_large = len(asked.target) >= LARGE
    return kind(
        max_iter=60 if asked.is_class else 120,
        learning_rate=0.08 if is_large else 0.06,
        max_leaf_nodes=31 if is_large else 12,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=asked.seed,
    )


def support_vectors() -> Any:
    """Make scikit-learn's support vectors, with a wide radial kernel.

    Returns
    -------
    estimator of scikit-learn
        A regression.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    return make_pipeline(StandardScaler(), SVR(C=10, epsilon=0.05, gamma=0.01))


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
    counts, weights = np.ones(len(truth)), np.full(n, 1.0 / n)
    # Far readers of one column must not outweigh the pull of another's unit.
    size = np.sqrt(PULL * max(float(np.mean(truth**2)), 1e-12))
    size, goal = (0.0, weights) if pull is None else (size, pull)
    sure = 1e3 * np.sqrt(len(truth) + 1.0)
    for _ in range(ROUNDS if is_robust else 1):
        root = np.sqrt(counts)
        rows = [root[:, None] * matrix, sure * np.ones((1, n)), size * np.eye(n)]
        wanted = [root * truth, [sure], size * goal]
        # In units of the largest row, as older SciPy ends at an absolute tolerance.
        found, _ = nnls(np.vstack(rows) / sure, np.concatenate(wanted) / sure)
        weights = np.asarray(found / found.sum()) if found.sum() > 0 else weights
        if is_robust:
            error = np.abs(matrix @ weights - truth)
            typical = float(np.median(error)) + 1e-9
            counts = typical / np.maximum(error, typical)
    return weights
