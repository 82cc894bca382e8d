"""The mean of a label's family has a share in predicted numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, load
from phcle.contexts.descriptive.confidence import with_family
from phcle.embedding.family_values import FamilyValues
from phcle.embedding.read import read_predictions
from phcle.solver import calibration

N_GENERA, SIZE = 60, 6
LABELS = [f"kind {i}" for i in range(N_GENERA * SIZE)]
GENUS = np.repeat(np.arange(N_GENERA), SIZE)


def prices(seed=0):
    """Prices that differ by genus, and a column that has nothing to do with it."""
    rng = np.random.default_rng(seed)
    logs = (
        3 + 1.2 * rng.normal(size=N_GENERA)[GENUS] + 0.4 * rng.normal(size=GENUS.size)
    )
    return np.column_stack([np.exp(logs), rng.normal(size=GENUS.size)])


def tree(role="counts"):
    edges = [(x, f"genus {g}") for x, g in zip(LABELS, GENUS, strict=True)]
    edges += [(f"genus {g}", "all") for g in range(N_GENERA)]
    return RelationalContext.from_hierarchy(edges, name="tree", role=role)


def tables(values, role="counts"):
    return [
        DescriptiveContext(
            "facts", LABELS, ["price", "noise"], values, log_columns=("price",)
        ),
        tree(role),
    ]


@pytest.fixture(scope="module")
def hidden():
    return np.random.default_rng(1).random(len(LABELS)) < 0.25


@pytest.fixture(scope="module")
def embedding(hidden):
    """A fit whose five dimensions cannot hold sixty genera."""
    values = prices()
    values[hidden, 0] = np.nan
    return PHCLE(dim=5, choose=False).fit(tables(values)).embedding_


def facts(embedding):
    return next(x for x in embedding.predicting if x.name == "facts")


def prices_of(embedding):
    return {x.label: x for x in embedding.complete(columns=["price"], why=False).cells}


def test_a_family_that_knows_more_has_a_share_in_that_column_alone(embedding, hidden):
    learned = facts(embedding).calibration
    assert 0.5 < learned.gaps.family[0] <= 1
    assert learned.gaps.family[1] < 0.2
    assert learned.gaps.tilt[1] < 0.3 < 0.7 < learned.gaps.tilt[0]  # noise is shrunk
    cells = prices_of(embedding)
    truth = prices()[hidden, 0]
    asked = [LABELS[i] for i in np.flatnonzero(hidden)]

    def error(guess):
        return float(np.sqrt(np.mean((np.log(guess) - np.log(truth)) ** 2)))

    ours = error([cells[x].value for x in asked])
    alone = facts(embedding).predict(embedding.select(asked).vectors)[:, 0]
    assert ours < error(alone)
    assert ours < 1.02 * error([cells[x].family for x in asked])


def test_the_value_of_a_skewed_column_is_about_as_good_as_the_mean_of_the_family(
    embedding, hidden
):
    """It is a median, and a mean has the smaller squared error."""
    values, cells = prices()[:, 0], prices_of(embedding)
    guesses = []
    for i in np.flatnonzero(hidden):
        known = values[(GENUS[i] == GENUS) & ~hidden]
        alone = facts(embedding).predict(embedding[LABELS[i]][None])[0, 0]
        guesses.append((cells[LABELS[i]].value, known.mean(), alone))
    errors = np.array(guesses) - values[hidden, None]
    ours, family, alone = np.sqrt(np.mean(errors**2, axis=0))
    assert ours < 1.05 * family
    assert ours < alone


def test_values_are_inside_their_intervals_which_hold_most_truths(embedding, hidden):
    cells = prices_of(embedding)
    assert all(x.low < x.value < x.high for x in cells.values())
    truth = dict(zip(LABELS, prices()[:, 0], strict=True))
    held = np.mean([x.low <= truth[label] <= x.high for label, x in cells.items()])
    assert 0.65 < held < 0.95


def test_a_tree_that_says_nothing_has_no_share():
    values = np.random.default_rng(3).normal(size=(len(LABELS), 3)) @ np.ones((3, 8))
    values += 0.1 * np.random.default_rng(4).normal(size=values.shape)
    table = DescriptiveContext("facts", LABELS, list("abcdefgh"), values)
    contexts = [table, tree()]
    learned = facts(PHCLE(dim=5, choose=False).fit(contexts).embedding_)
    assert (learned.calibration.gaps.family < 0.05).all()


def test_the_share_survives_the_file(embedding, tmp_path):
    embedding.save(tmp_path / "facts.phcle")
    again = load(tmp_path / "facts.phcle")
    for name in ("tilt", "family"):
        stored, own = (
            getattr(facts(x).calibration.gaps, name) for x in (again, embedding)
        )
        assert stored.tolist() == own.tolist()
    assert prices_of(again) == prices_of(embedding)


def test_one_field_reads_as_all_do_and_a_bare_vector_has_no_family(embedding, hidden):
    context = facts(embedding)
    asked = [LABELS[i] for i in np.flatnonzero(hidden)]
    vectors = embedding.select(asked).vectors
    whole = read_predictions(embedding, context, vectors, asked)
    single = read_predictions(
        embedding, context, vectors, asked, field=context.fields[0]
    )
    np.testing.assert_allclose(single.values[:, 0], whole.values[:, 0])
    bare = read_predictions(embedding, context, vectors, [None] * len(asked))
    without = replace(context.calibration.alone, family=np.zeros(2))
    learned = replace(context.calibration, gaps=without, alone=without)
    plain = replace(context, calibration=learned)
    contexts = tuple(plain if x is context else x for x in embedding.contexts)
    other = replace(embedding, contexts=contexts)
    expected = read_predictions(other, plain, vectors, [None] * len(asked))
    np.testing.assert_allclose(bare.values, expected.values)


def test_families_in_trials_do_not_see_what_a_trial_hides(monkeypatch, hidden):
    values, seen = prices(), []
    values[hidden, 0] = np.nan

    def watch(cells, table):
        seen.append((cells, table))

    monkeypatch.setattr(calibration, "learn_calibration", watch)
    PHCLE(dim=5, choose=False).fit(tables(values))
    ((cells, table),) = seen
    logs = table.on_fit_scale(values)
    for trial in np.unique(cells.trial):
        own = cells.where(cells.trial == trial)
        left = logs.copy()
        left[own.rows, own.columns] = np.nan
        families = own.family * table.scale[own.columns] + own.mean
        for row, column, family in zip(own.rows, own.columns, families, strict=True):
            siblings = left[
                (GENUS[row] == GENUS) & (np.arange(len(left)) != row), column
            ]
            if np.isnan(siblings).all():
                siblings = left[np.arange(len(left)) != row, column]
            assert family == pytest.approx(np.nanmean(siblings), abs=1e-9)


def test_numbers_without_a_family_stay_as_they_are():
    number = np.array([[1.0, 2.0]])
    assert with_family(number, None, 0.5) is number
    found = with_family(number, np.array([[3.0, np.nan]]), 0.5)
    assert found.tolist() == [[2.0, 2.0]]


def test_means_of_some_columns_are_those_of_all(embedding):
    means = FamilyValues(embedding, facts(embedding)).means
    rows = np.arange(len(LABELS))
    np.testing.assert_allclose(means.at(rows, slice(1, 2)), means.at(rows)[:, 1:])
