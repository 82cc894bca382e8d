from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts.descriptive import confidence_learning as learning
from phcle.contexts.descriptive.confidence import softmax

RNG = np.random.default_rng(0)


def test_shared_chances_are_those_that_scikit_learn_finds(monkeypatch):
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(learning, "CHANCE_FREEDOM", (1e-4, 1e-4))
    steps, prior = RNG.normal(size=(2, 5000))
    columns = RNG.integers(0, 7, 5000)
    chance = 1 / (1 + np.exp(-(0.3 + 0.8 * prior + 1.5 * steps)))
    truth = (RNG.random(5000) < chance).astype(float)
    shared, own, own_slope = learning._chances(columns, prior, steps, truth, 7)
    other = LogisticRegression(C=np.inf).fit(np.column_stack([prior, steps]), truth)
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
    shared, _, own_slope = learning._chances(columns, 0 * steps, steps, truth, 4)
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
    found = learning._values_of_categories(
        groups, columns, np.zeros(n_values, dtype=int), X, truth
    )
    shared, own, own_slope = found
    assert shared[2] + own_slope[0] == pytest.approx(4.0, abs=0.3)
    assert np.abs(own).max() < 0.1


def mixed_table(seed, n_groups=40, n_in_group=10):
    """Numbers, yes or no, a category and a skewed number, by group, with noise."""
    rng = np.random.default_rng(seed)
    n = n_groups * n_in_group
    labels = tuple(f"{i // n_in_group}.{i % n_in_group}" for i in range(n))
    edges = [(label, f"group {label.split('.')[0]}") for label in labels]
    edges += [(f"group {g}", "all") for g in range(n_groups)]

    def by_group(*shape):
        return rng.normal(size=(n_groups, *shape)).repeat(n_in_group, axis=0)

    cells = {f"number {j}": by_group() + 0.5 * rng.normal(size=n) for j in range(6)}
    cells["price"] = np.exp(2 * by_group() + 0.3 * rng.normal(size=n))
    for j in range(4):
        chance = 1 / (1 + np.exp(-3 * by_group()))
        cells[f"truth {j}"] = np.where(rng.random(n) < chance, "yes", "no")
    for j in range(3):
        chance = softmax(2 * by_group(4))
        drawn = (chance.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        cells[f"category {j}"] = np.array(list("abcd"))[drawn]
    return labels, edges, {title: np.asarray(x, object) for title, x in cells.items()}


@pytest.mark.parametrize("role", ["family", "counts"])
@pytest.mark.parametrize("hides", ["cells", "labels"])
def test_chances_and_intervals_hold_for_hidden_cells_of_every_type(role, hides):
    truth: list[bool] = []
    said: list[float] = []
    held: list[bool] = []
    for seed in range(3):
        labels, edges, cells = mixed_table(seed)
        rng = np.random.default_rng(100 + seed)
        shape = (len(labels), len(cells) if hides == "cells" else 1)
        is_hidden = rng.random(shape) < 0.2
        is_hidden = np.broadcast_to(is_hidden, (len(labels), len(cells)))
        left = {
            title: [None if away else x for x, away in zip(own, gone, strict=True)]
            for (title, own), gone in zip(cells.items(), is_hidden.T, strict=True)
        }
        tree = RelationalContext.from_hierarchy(edges, name="tree", role=role)
        table = DescriptiveContext.from_cells(labels, left, "table")
        found = (
            PHCLE(random_state=seed)
            .fit([tree, table])
            .embedding_.complete(why=False, probabilities=True)
        )
        row = {label: i for i, label in enumerate(labels)}
        assert len(found) == is_hidden.sum()
        for cell in found.cells:
            right = cells[cell.column][row[cell.label]]
            if cell.kind == "number":
                assert cell.confidence is None
                held.append(cell.low <= right <= cell.high)
                assert cell.low <= cell.value <= cell.high
                continue
            value = {True: "yes", False: "no"}.get(cell.value, cell.value)
            truth.append(value == right)
            said.append(cell.confidence)
            if cell.kind == "category":
                assert sum(cell.probabilities.values()) == pytest.approx(1)
                assert max(cell.probabilities.values()) == cell.confidence
    # Labels of a group share their values, so the share varies more than cells would.
    assert np.mean(held) == pytest.approx(0.8, abs=0.06)
    order = np.argsort(said)
    for part in np.array_split(order, 3):
        share = np.mean(np.array(truth)[part])
        error = 2 * np.sqrt(share * (1 - share) / len(part))
        assert np.mean(np.array(said)[part]) == pytest.approx(share, abs=0.03 + error)
