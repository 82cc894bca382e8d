from __future__ import annotations

import numpy as np
import pytest

from phcle.contexts.descriptive import chance_regressions as regressions
from phcle.contexts.descriptive.chance_regressions import (
    fit_chances,
    fit_values_of_categories,
)
from phcle.contexts.descriptive.confidence import softmax

RNG = np.random.default_rng(0)


def test_shared_chances_are_those_that_scikit_learn_finds(monkeypatch):
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(regressions, "CHANCE_FREEDOM", (1e-4, 1e-4))
    steps, prior = RNG.normal(size=(2, 5000))
    columns = RNG.integers(0, 7, 5000)
    chance = 1 / (1 + np.exp(-(0.3 + 0.8 * prior + 1.5 * steps)))
    truth = (RNG.random(5000) < chance).astype(float)
    shared, own, own_slope = fit_chances(columns, prior, steps, truth, 7)
    X = np.column_stack([prior, steps, prior * steps])
    other = LogisticRegression(C=np.inf).fit(X, truth)
    expected = (other.intercept_[0], *other.coef_[0])
    assert shared == pytest.approx(expected, abs=0.01)
    assert np.abs(own).max() < 1e-3
    assert np.abs(own_slope).max() < 1e-3


def test_columns_that_differ_get_their_own_curve():
    steps = RNG.normal(size=20_000)
    columns = RNG.integers(0, 4, 20_000)
    slopes = np.array([0.0, 1.0, 2.0, 4.0])
    chance = 1 / (1 + np.exp(-slopes[columns] * steps))
    truth = (RNG.random(20_000) < chance).astype(float)
    shared, _, own_slope = fit_chances(columns, 0 * steps, steps, truth, 4)
    assert shared[2] + own_slope == pytest.approx(slopes, abs=0.15)


def test_values_of_a_category_follow_a_planted_softmax():
    n, n_values = 6000, 3
    shares = softmax(RNG.normal(size=(n, n_values)))
    chance = softmax(4.0 * shares)
    drawn = (chance.cumsum(axis=1) < RNG.random((n, 1))).sum(axis=1)
    truth = np.eye(n_values)[drawn].ravel()
    columns = np.tile(np.arange(n_values), n)
    X = np.column_stack([np.zeros(n * n_values), 0 * columns, shares.ravel()])
    groups = np.repeat(np.arange(n), n_values)
    found = fit_values_of_categories(
        groups, columns, np.zeros(n_values, dtype=int), X, truth
    )
    shared, own, own_slope = found
    assert shared[2] + own_slope[0] == pytest.approx(4.0, abs=0.3)
    assert np.abs(own).max() < 0.1


def test_chances_are_the_minimum_that_scipy_finds():
    from scipy.optimize import minimize

    n, n_cells = 9, 400
    columns = RNG.integers(0, n, n_cells)
    prior, steps = RNG.normal(-2, 1, n)[columns], RNG.normal(0, 3, n_cells)
    truth = (RNG.random(n_cells) < 1 / (1 + np.exp(-prior - 2 * steps))).astype(float)
    far, far_slope = regressions.CHANCE_FREEDOM

    def loss(p):
        shared, own, own_slope = p[:4], p[4 : 4 + n], p[4 + n :]
        slopes = shared[2] + shared[3] * prior + own_slope[columns]
        x = shared[0] + shared[1] * prior + own[columns] + slopes * steps
        away = (shared - regressions.CHANCE_FIRST) / regressions.CHANCE_SHARED_FREEDOM
        penalty = (
            away @ away + own @ own / far**2 + own_slope @ own_slope / far_slope**2
        )
        return np.logaddexp(0, x).sum() - truth @ x + penalty / 2

    start = np.zeros(4 + 2 * n)
    expected = minimize(loss, start, method="BFGS", options={"gtol": 1e-6})
    found = np.concatenate(fit_chances(columns, prior, steps, truth, n))
    assert loss(found) <= loss(expected.x) + 1e-6
    assert found == pytest.approx(expected.x, abs=2e-3)


def test_three_hidden_tags_do_not_make_a_rare_tag_as_likely_as_forty():
    def chance_at_two_steps(n_having):
        # A quarter of the cells two steps above the mean have their rare tag.
        steps = np.concatenate([np.full(4 * n_having, 2.0), np.zeros(3000)])
        truth = (np.arange(len(steps)) < n_having).astype(float)
        columns, prior = np.arange(len(steps)) % 500, np.full(len(steps), -5.0)
        shared, *_ = fit_chances(columns, prior, steps, truth, 500)
        return 1 / (1 + np.exp(-shared @ (1, -5, 2, -10)))

    assert chance_at_two_steps(3) < 0.1
    assert 0.19 < chance_at_two_steps(40) < 0.25


def test_a_cell_of_weight_three_counts_as_three_cells():
    columns = RNG.integers(0, 3, 60)
    prior, steps = RNG.normal(size=(2, 60))
    truth = (RNG.random(60) < 0.4).astype(float)
    weight = RNG.integers(1, 4, 60)
    cells = (columns, prior, steps, truth)
    weighted = fit_chances(*cells, 3, weight.astype(float))
    repeated = fit_chances(*(np.repeat(x, weight) for x in cells), 3)
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_step_too_far_is_shortened():
    """One column of few cells that are all far out: whole Newton steps overshoot."""
    steps = np.array([-30.0, -20.0, 25.0, 40.0] * 5)
    truth = (steps > 0).astype(float)
    columns = np.zeros(20, dtype=int)
    shared, own, own_slope = fit_chances(columns, 0 * steps, steps, truth, 1)
    assert np.isfinite([*shared, *own, *own_slope]).all()
    assert shared[2] + own_slope[0] > 0.1


def test_rare_attributes_may_have_another_slope():
    prior = RNG.choice([-3.0, 0.0], 20_000)
    steps = RNG.normal(size=20_000)
    slopes = np.where(prior < 0, 0.5, 2.0)
    truth = (RNG.random(20_000) < 1 / (1 + np.exp(-prior - slopes * steps))).astype(
        float
    )
    columns = RNG.integers(0, 40, 20_000)  # no column knows it by itself
    shared, _, _ = fit_chances(columns, prior, steps, truth, 40)
    assert shared[2] == pytest.approx(2.0, abs=0.15)
    assert shared[2] - 3 * shared[3] == pytest.approx(0.5, abs=0.15)
