"""Readers: regressions that predict one field of a table from all that is known.

Each is fitted once without each fold, and says what it thinks of the cells of that
fold, and once to all known cells. The mean of all these fits fills the gaps: on tables
that are easy to tell the last fit is better alone, on others the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.embedding.predictions import REASONS, all_classes

Reader = Callable[[Ints, Ints, AnyFloats], Floats]

WHOLE = -1
"""In place of a fold: that of gaps, and of fits that have seen all known cells."""

MOST_ROWS = 50_000
"""Most labels that readers learn from."""

LARGE = 5_000
"""Known cells of a field from which on boosting grows larger trees; on tables of 3,000
labels they made no difference."""

GAPS_AT_ONCE = 200
"""Gaps whose leaves are compared at once."""

ROUNDS = 6
"""Least squares with new weights of cells that make absolute errors of squared ones."""

MOST_MIXED = 200_000
"""Most cells by which weights are learned."""

PULL = 30.0
"""Cells that the weights of the whole table count for in those of a field."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A field to learn, and the gaps to fill.

    Attributes
    ----------
    rows : array of int of shape (cells,)
        The labels: those with a known cell come first, then those with a gap.
    features : array of shape (cells, features)
        What readers read.
    target : array of shape (known, outputs)
        What is known; a category has an output for each value, from 0 to 1.
    fold : array of int of shape (cells,)
        Fold of each known cell; `WHOLE` for gaps.
    is_class : bool
        Whether the outputs are shares of classes.
    seed : int
        Seed of whatever is drawn.
    without : mapping from int to array of shape (cells, more features)
        Features that are made of known cells, for readers that are blind to a fold:
        made without its cells. Otherwise the cells that a reader learns from would tell
        it those of the fold.
    plain : mapping from str to array of shape (cells, outputs)
        What needs no reader, of known cells out of fold.
    """

    rows: Ints
    features: AnyFloats
    target: Floats
    fold: Ints
    is_class: bool
    seed: int
    without: Mapping[int, AnyFloats] = field(default_factory=dict)
    plain: Mapping[str, AnyFloats] = field(default_factory=dict)

    def by_folds(self, read: Reader, width: int, most: int = MOST_ROWS) -> Floats:
        """Ask a reader once without each fold, and once with all known cells.

        Parameters
        ----------
        read : callable
            Takes the known cells to learn from, the cells to predict, and features of
            all cells; returns what it says of those to predict: (cells, width).
        width : int
            How many answers it gives for a cell.
        most : int
            Most known cells to learn from; of more, some are drawn.

        Returns
        -------
        array of shape (cells, width)
            What it says of known cells out of fold, and of gaps on average.
        """
        is_gap = self.fold == WHOLE
        total, n_fits = np.zeros((len(self.fold), width)), np.zeros(len(self.fold))
        for fold in np.unique([WHOLE, *self.fold.tolist()]).tolist():
            seen = np.flatnonzero(~is_gap & (self.fold != fold))
            if len(seen) > most:
                rng = np.random.default_rng(self.seed)
                seen = np.sort(rng.choice(seen, most, replace=False))
            features = self.features
            if fold in self.without:
                features = np.hstack([features, self.without[fold]])
            wanted = np.flatnonzero(is_gap | (self.fold == fold))
            if len(seen) and len(wanted):
                total[wanted] += read(seen, wanted, features)
                n_fits[wanted] += 1
        return total / np.maximum(n_fits, 1)[:, None]


@dataclass(frozen=True, eq=False)
class Forest:
    """What a forest says, how far its trees are apart, and whose values it repeats.

    Attributes
    ----------
    said : array of shape (cells, outputs)
        Predictions, of known cells out of fold.
    spread : array of shape (cells,)
        Standard deviation of what the trees say.
    because, because_share : arrays of shape (gaps, REASONS)
        Known cells that share most leaves with a gap, and their weight.
    """

    said: Floats
    spread: Floats
    because: Ints
    because_share: Floats


def extra_trees(seed: int, leaf: int, n_trees: int) -> Any:
    """Make scikit-learn's extremely randomised trees.

    Parameters
    ----------
    seed : int
        Seed of the trees.
    leaf : int
        Fewest known cells in a leaf.
    n_trees : int
        Number of trees.

    Returns
    -------
    estimator of scikit-learn
        A regression of one or several outputs.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    options: dict[str, Any] = {"min_samples_leaf": leaf, "max_features": 0.4}
    return ExtraTreesRegressor(n_trees, random_state=seed, **options)


def grow_forest(asked: Asked, *, leaf: int, n_trees: int) -> Forest:
    """Ask extremely randomised trees.

    Parameters
    ----------
    asked : Asked
        The field.
    leaf : int
        Fewest known cells in a leaf.
    n_trees : int
        Trees of each fold.

    Returns
    -------
    Forest
        What they say, with leaves.
    """
    trees = extra_trees(asked.seed, leaf, n_trees)
    n_known, width = asked.target.shape
    n_gaps = len(asked.rows) - n_known
    because, because_share = np.zeros((2, n_gaps, REASONS))

    def read(seen: Ints, wanted: Ints, features: AnyFloats) -> Floats:
        trees.fit(features[seen], np.squeeze(asked.target[seen]))
        leaves = trees.apply(features[wanted])
        said = [
            tree.tree_.value[leaf, :, 0]
            for tree, leaf in zip(trees.estimators_, leaves.T, strict=True)
        ]
        if len(wanted) == n_gaps:  # this fit has seen all known cells
            near, because_share[:] = _nearest_leaves(
                trees.apply(features[seen]), leaves
            )
            because[:] = seen[near]
        spread = np.sqrt(np.var(said, axis=0).mean(axis=1, keepdims=True))
        return np.hstack([np.mean(said, axis=0), spread])

    found = asked.by_folds(read, width + 1)
    return Forest(found[:, :-1], found[:, -1], because.astype(int), because_share)


def _nearest_leaves(known: Ints, gaps: Ints) -> tuple[Ints, Floats]:
    """The known cells that share most leaves with each gap, and their weight."""
    from sklearn.preprocessing import OneHotEncoder, normalize

    encoder = OneHotEncoder(handle_unknown="ignore")
    weights = normalize(encoder.fit_transform(known), "l1", axis=0) / known.shape[1]
    near, share = np.zeros((2, len(gaps), REASONS))
    for begin in range(0, len(gaps), GAPS_AT_ONCE):
        part = slice(begin, begin + GAPS_AT_ONCE)
        both = (encoder.transform(gaps[part]) @ weights.T).toarray()
        best = np.argpartition(-both, REASONS - 1, axis=1)[:, :REASONS]
        shares = np.take_along_axis(both, best, axis=1)
        order = np.argsort(-shares, axis=1, kind="stable")
        near[part] = np.take_along_axis(best, order, axis=1)
        share[part] = np.take_along_axis(shares, order, axis=1)
    return near.astype(np.int64), share


def crossfitted(estimator: Any, asked: Asked, most: int = MOST_ROWS) -> Floats:
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
    array of shape (cells, outputs)
        What it says, of known cells out of fold.
    """
    from sklearn.base import clone, is_classifier

    reach = 0.0 if asked.is_class else 1.0

    def read(seen: Ints, wanted: Ints, features: AnyFloats) -> Floats:
        X, target, others = features[seen], asked.target[seen], features[wanted]
        said = np.tile(target.mean(axis=0), (len(wanted), 1))
        if is_classifier(estimator):
            codes = all_classes(target).argmax(axis=1)
            if np.ptp(codes) > 0:
                fitted = clone(estimator).fit(X, codes)
                shares = np.zeros_like(all_classes(said))
                shares[:, fitted.classes_] = fitted.predict_proba(others)
                said = shares[:, -said.shape[1] :]
        else:
            for at in np.flatnonzero(np.ptp(target, axis=0) > 0):
                y = target[:, at]
                found = clone(estimator).fit(X, y).predict(others)
                said[:, at] = np.clip(found, y.min() - reach, y.max() + reach)
        return said

    return asked.by_folds(read, asked.target.shape[1], most)


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
    said: Sequence[AnyFloats],
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

    n = len(said)
    weights = goal = np.full(n, 1.0 / n) if pull is None else pull
    if not len(truth):
        return weights
    step = max(len(truth) // MOST_MIXED, 1)
    matrix, truth = np.column_stack(said)[::step], truth[::step]
    # Far readers of one column must not outweigh the pull of another's unit.
    size = 0.0 if pull is None else np.sqrt(PULL * max(float(np.mean(truth**2)), 1e-12))
    sure = 1e3 * np.sqrt(len(truth) + 1.0)
    counts = np.ones(len(truth))
    for _ in range(ROUNDS if is_robust else 1):
        root = np.sqrt(counts)
        rows = [root[:, None] * matrix, sure * np.ones((1, n)), size * np.eye(n)]
        wanted = [root * truth, [sure], size * goal]
        # In units of the largest row, as older SciPy ends at an absolute tolerance.
        found, _ = nnls(np.vstack(rows) / sure, np.concatenate(wanted) / sure)
        weights = np.asarray(found / found.sum()) if found.sum() > 0 else weights
        error = np.abs(matrix @ weights - truth)
        typical = float(np.median(error)) + 1e-9
        counts = typical / np.maximum(error, typical)
    return weights
