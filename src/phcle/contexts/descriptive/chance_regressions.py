"""Two regressions that turn predictions into chances: logistic, and softmax.

All columns share a few weights. Each column may differ from them, at a price, so that
columns with few hidden cells stay near the others.
"""

from __future__ import annotations

import numpy as np

from phcle.arrays import Floats, Ints

CHANCE_FREEDOM, VALUE_FREEDOM = (0.5, 1.0), (0.1, 1.0)
"""How far intercept and slope of one column usually are from those of all: for chances,
and for values of a category. On real tables these predicted hidden cells best."""

CHANCE_FIRST = np.array([0.0, 1.0, 0.0, 0.0])
CHANCE_SHARED_FREEDOM = np.array([1.0, 1.0, 1.0, 0.1])
"""Weights that all columns share before any cell is seen, which make the share of
labels the chance, and how far they usually are from that. Log odds of rare tags are
about -5, so a small weight of their product with the prediction is a large slope."""

VALUE_FIRST = np.array([0.0, 0.0, 3.0])
VALUE_SHARED_FREEDOM = np.array([0.1, 0.3, 3.0])
"""Weights of a category's values before any cell is seen, and how far they usually are
from that: with few cells, the value with the largest predicted share comes first."""

MOST_NEWTON, NEWTON_TOL, SHORTEST = 50, 1e-9, 1e-3
"""Most steps of Newton's method, which ends when the next one would gain less than this
for each cell, and the shortest part of a step that is tried: far from the minimum, a
whole step may lead too far."""


def fit_chances(
    columns: Ints,
    prior: Floats,
    steps: Floats,
    truth: Floats,
    n: int,
    weight: Floats | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Fit the log odds of having an attribute to how common it is and its prediction.

    The slope of the prediction depends on how common the attribute is: a step of one
    standard deviation says less about a rare one.

    Parameters
    ----------
    columns : array of int of shape (cells,)
        Column of each hidden cell.
    prior : array of shape (cells,)
        Log odds of the share of labels that have the attribute.
    steps : array of shape (cells,)
        Prediction, in standard deviations from the mean.
    truth : array of shape (cells,)
        1 where the label has it, else 0.
    n : int
        Number of columns.
    weight : array of shape (cells,), optional
        How many cells each one stands for. By default one.

    Returns
    -------
    shared : array of shape (4,)
        Intercept, and weights of the prior, of the prediction, and of their product.
    own, own_slope : arrays of shape (columns,)
        How far the intercept and the slope of each column are from these.
    """
    weight = np.ones(len(steps)) if weight is None else weight
    X = np.column_stack([np.ones(len(steps)), prior, steps, prior * steps])
    stiffness = np.array(CHANCE_FREEDOM) ** -2.0
    shared_stiffness = CHANCE_SHARED_FREEDOM**-2.0

    def at(shared: Floats, own: Floats) -> tuple[Floats, float]:
        x = X @ shared + own[columns, 0] + own[columns, 1] * steps
        away = shared - CHANCE_FIRST
        penalty = (away**2 @ shared_stiffness + (own**2 @ stiffness).sum()) / 2
        return x, float(weight @ (np.logaddexp(0, x) - truth * x) + penalty)

    shared, own = CHANCE_FIRST.copy(), np.zeros((n, 2))
    x, value = at(shared, own)
    for _ in range(MOST_NEWTON):
        chance = 1 / (1 + np.exp(-np.clip(x, -50, 50)))
        error, bend = weight * (chance - truth), weight * chance * (1 - chance)
        gradient = error @ X + shared_stiffness * (shared - CHANCE_FIRST)
        own_gradient = _by_column(columns, [error, error * steps], n) + stiffness * own
        move, own_move = _newton_step(
            columns, X, bend, steps, gradient, own_gradient, stiffness
        )
        gain = -float(gradient @ move + (own_gradient * own_move).sum())
        if gain <= NEWTON_TOL * weight.sum():
            break
        length = 1.0
        new, tried = np.inf, (shared, own)
        while new > value - 0.1 * length * gain and length > SHORTEST:
            tried = shared + length * move, own + length * own_move
            x, new = at(*tried)
            length /= 2
        (shared, own), value = tried, new
    return shared, own[:, 0], own[:, 1]


def _newton_step(
    columns: Ints,
    X: Floats,
    bend: Floats,
    steps: Floats,
    gradient: Floats,
    own_gradient: Floats,
    stiffness: Floats,
) -> tuple[Floats, Floats]:
    """Solve for the shared weights and those of all columns at once.

    Columns meet only in the shared weights, so there is a small system for each column,
    and one for the shared weights after the columns are eliminated.
    """
    n, k = len(own_gradient), X.shape[1]
    bent = X * bend[:, None]
    sums = _by_column(columns, [*bent.T, *(bent * steps[:, None]).T], n)
    cross = sums.reshape(n, 2, k)  # own intercept and slope × shared weights
    blocks = cross[:, :, [0, 2]] + np.diag(stiffness)
    right = np.concatenate([cross, own_gradient[:, :, None]], axis=2)
    solved = np.linalg.solve(blocks, right)
    left = bent.T @ X + np.diag(CHANCE_SHARED_FREEDOM**-2.0)
    left -= np.einsum("cij,cik->jk", cross, solved[..., :k])
    target = np.einsum("cij,ci->j", cross, solved[..., k]) - gradient
    move = np.linalg.solve(left, target)
    return move, -solved[..., k] - solved[..., :k] @ move


def _by_column(columns: Ints, values: list[Floats], n: int) -> Floats:
    """Sums over the cells of each column: (columns, values)."""
    return np.stack([np.bincount(columns, x, n) for x in values], axis=1)


def fit_values_of_categories(
    groups: Ints, columns: Ints, number_of: Ints, X: Floats, truth: Floats
) -> tuple[Floats, Floats, Floats]:
    """Fit a softmax over the values of each hidden category.

    Parameters
    ----------
    groups : array of int of shape (cells,)
        Number of the hidden category that a cell belongs to.
    columns : array of int of shape (cells,)
        Column of each cell.
    number_of : array of int of shape (columns,)
        Number of each column's field.
    X : array of shape (cells, 3)
        Log of how common a value is, its prediction in standard deviations from the
        mean, and its prediction as a share.
    truth : array of shape (cells,)
        1 for the value that the label has, else 0.

    Returns
    -------
    shared : array of shape (3,)
        Weights of these.
    own : array of shape (columns,)
        Intercept of each value.
    own_slope : array of shape (fields,)
        How far each field's weight of the share is from the shared one.
    """
    from scipy.optimize import minimize

    order = np.argsort(groups, kind="stable")
    groups, columns, X, truth = groups[order], columns[order], X[order], truth[order]
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    sizes = np.diff(np.r_[starts, len(groups)])
    n, n_fields = len(number_of), int(number_of.max()) + 1
    far, far_slope = VALUE_FREEDOM
    of, shares = number_of[columns], X[:, 2]

    def loss(p: Floats) -> tuple[float, Floats]:
        shared, own, own_slope = p[:3], p[3 : 3 + n], p[3 + n :]
        x = X @ shared + own[columns] + own_slope[of] * shares
        x = x - np.repeat(np.maximum.reduceat(x, starts), sizes)
        total = np.repeat(np.log(np.add.reduceat(np.exp(x), starts)), sizes)
        error = np.exp(x - total) - truth
        away = (shared - VALUE_FIRST) / VALUE_SHARED_FREEDOM**2
        value = truth @ (total - x) + away @ (shared - VALUE_FIRST) / 2
        value += (own @ own / far**2 + own_slope @ own_slope / far_slope**2) / 2
        gradient = np.concatenate(
            [
                error @ X + away,
                np.bincount(columns, error, n) + own / far**2,
                np.bincount(of, error * shares, n_fields) + own_slope / far_slope**2,
            ]
        )
        return float(value), gradient

    start = np.concatenate([VALUE_FIRST, np.zeros(n + n_fields)])
    found = np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)
    return found[:3], found[3 : 3 + n], found[3 + n :]
