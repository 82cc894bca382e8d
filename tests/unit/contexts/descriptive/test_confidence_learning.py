from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts.descriptive import confidence_learning as learning
from phcle.contexts.descriptive.confidence import Curves, softmax
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.embedding.read import read_predictions

RNG = np.random.default_rng(0)


def hidden_numbers(slopes, *, n_labels=30, n_trials=4):
    """Cells of labels that every trial hides, with nearly the same error in each."""
    rng = np.random.default_rng(1)
    shape = (n_labels, len(slopes))
    fitted, errors = rng.normal(size=(2, *shape))
    truth = slopes * fitted + errors
    rows, columns = (np.tile(x.ravel(), n_trials) for x in np.indices(shape))
    again = fitted[rows, columns] + 0.1 * rng.normal(size=len(rows))
    return HiddenPredictions(
        rows,
        columns,
        truth[rows, columns],
        is_alone=np.ones(len(rows), dtype=bool),
        has_it=truth[rows, columns] > 0,
        mean=np.zeros(len(rows)),
        fitted=again,
        support=np.ones(len(rows)),
        presence=np.full(len(rows), 0.5),
        others_have_it=np.ones(len(rows), dtype=bool),
        family=np.full(len(rows), np.nan),
        trial=np.repeat(np.arange(n_trials), fitted.size),
    )


@pytest.mark.parametrize("differ", [False, True])
def test_columns_have_factors_of_their_own_only_if_they_differ(differ):
    slopes = np.repeat([0.1, 1.1] if differ else [0.6, 0.6], 25)
    plain = Curves.plain(0 * slopes, 0 * slopes, 0.0, 0)
    hidden = hidden_numbers(slopes)
    tilt = learning._with_intervals(plain, hidden, np.ones(len(hidden.rows))).tilt
    assert (np.ptp(tilt) > 0) == differ
    assert np.abs(tilt - slopes).mean() < 0.25


def test_a_column_that_its_family_predicts_exactly_teaches_the_others_nothing():
    rng = np.random.default_rng(0)
    columns = np.arange(300) % 3
    x = rng.normal(size=300)
    y = np.where(columns == 0, (1 + 1e-16) * x, 0.5 * x + rng.normal(size=300))
    labels = np.full(3, 100)
    with np.errstate(all="raise"):
        slopes = learning._slopes(columns, x, y, labels, 1.0, toward=0.0)
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize("n_cells", [600, 300_000])
def test_cells_with_an_attribute_weigh_what_the_known_cells_say(n_cells):
    """Trials happened to hide too many labels that have it."""
    has_it = np.arange(n_cells) % 3 == 0
    at = np.arange(n_cells)
    some, weight = learning._some_of_both_sorts(at, has_it, np.full(n_cells, 0.2))
    assert len(some) <= 2 * learning.MOST_OF_A_SORT
    assert len(np.unique(some)) == len(some)
    assert weight[has_it[some]].sum() == pytest.approx(0.2 * n_cells)
    assert weight.sum() == pytest.approx(n_cells)


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


def tags_in_facets(seed, n=400, n_facets=8, n_tags=6):
    """Labels have a tag or two of each facet; of some facets, none is known."""
    rng = np.random.default_rng(seed)
    labels = tuple(f"label {i}" for i in range(n))
    family = rng.integers(0, 20, n)
    edges = [
        (label, f"family {g}") for label, g in zip(labels, family, strict=True)
    ] + [(f"family {g}", "all") for g in range(20)]
    taste = rng.normal(size=(20, 6))[family] + 0.7 * rng.normal(size=(n, 6))
    has_it = np.zeros((n, n_facets, n_tags))
    for facet in range(n_facets):
        logs = 0.9 * taste @ rng.normal(size=(6, n_tags))
        logs += 0.7 * rng.normal(size=n_tags)
        first = (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)
        has_it[np.arange(n), facet, first] = 1.0
        has_it[:, facet][rng.random(logs.shape) < 0.15 * softmax(logs)] = 1.0
    known = (rng.random((n, n_facets)) >= 0.3).repeat(n_tags, axis=1)
    return labels, edges, has_it.reshape(n, -1), known


def test_chances_hold_for_tags_that_are_unknown_together():
    """A tag whose siblings are known is easier to predict than the gaps are."""
    said, truth = [], []
    for seed in range(2):
        labels, edges, has_it, known = tags_in_facets(seed)
        columns = tuple(f"{j // 6}::{j % 6}" for j in range(has_it.shape[1]))
        tree = RelationalContext.from_hierarchy(edges, name="tree")
        given = np.where(known, has_it, np.nan)
        table = DescriptiveContext("tags", labels, columns, given)
        embedding = PHCLE(random_state=seed).fit([tree, table]).embedding_
        tags = next(x for x in embedding.contexts if x.name == "tags")
        read = read_predictions(embedding, tags, embedding.vectors, embedding.labels)
        row = [labels.index(label) for label in embedding.labels]
        said.append(read.chance[~known[row]])
        truth.append(has_it[row][~known[row]])
    chance, right = np.concatenate(said), np.concatenate(truth)
    bins = np.minimum((10 * chance).astype(int), 9)
    for number in range(10):
        own = bins == number
        share = right[own].mean()
        error = 2 * np.sqrt(share * (1 - share) / own.sum())
        assert chance[own].mean() == pytest.approx(share, abs=0.03 + error)


def test_columns_with_gaps_in_the_same_rows_are_hidden_together():
    values = np.random.default_rng(0).normal(size=(200, 6))
    values[::2, 2:5] = np.nan  # c, d and e are unknown together
    values[::3, 5] = np.nan
    labels = tuple(f"label {i}" for i in range(200))
    table = DescriptiveContext("table", labels, tuple("abcdef"), values)
    fitted = table.in_fit(labels)
    _, cells = fitted.hide_cells(0.3, 10**6, np.random.default_rng(1), like_gaps=True)
    hidden = np.zeros((200, 6), dtype=bool)
    hidden[cells.rows, cells.columns] = True
    assert (hidden[:, 2] == hidden[:, 3]).all()
    assert (hidden[:, 2] == hidden[:, 4]).all()
    assert hidden[:, 2].any()
    assert (hidden[:, 0] != hidden[:, 1]).any()  # no gaps, so each for itself
    assert (hidden[1::2, 2] != hidden[1::2, 5]).any()
    _, single = fitted.hide_cells(0.3, 10**6, np.random.default_rng(1))
    assert np.bincount(single.columns)[2:5].min() > 0
    assert set(single.rows[single.columns == 2]) != set(
        single.rows[single.columns == 3]
    )


def test_a_label_that_loses_all_cells_counts_as_not_described():
    values = np.full((100, 4), np.nan)
    values[:, 0] = np.arange(100)
    values[50:, 1:] = 1.0
    labels = tuple(f"label {i}" for i in range(100))
    table = DescriptiveContext("table", labels, tuple("abcd"), values)
    left, cells = table.in_fit(labels).hide_cells(0.3, 10**6, np.random.default_rng(0))
    assert (cells.is_alone == ~left.observed[cells.rows]).all()
    assert cells.is_alone[cells.rows < 50].all()
    assert not cells.is_alone.all()
