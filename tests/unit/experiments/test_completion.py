"""Attribute completion on planted data: groups of a tree decide the attributes."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.errors import ContextError, OptionError
from phcle.experiments import completion
from phcle.experiments.completion import complete_attributes, summarize_completion

pytest.importorskip("pandas")

QUICK = {"dim": 6, "max_iter": 20}
LABELS = tuple(f"label {i}" for i in range(24))
GROUPS = np.arange(24) % 4


@pytest.fixture(scope="module")
def edges():
    own = [
        (label, f"group {group}") for label, group in zip(LABELS, GROUPS, strict=True)
    ]
    halves = [(f"group {g}", f"half {g // 2}") for g in range(4)]
    return [*own, *halves, ("half 0", "all"), ("half 1", "all")]


@pytest.fixture(scope="module")
def attributes():
    rng = np.random.default_rng(5)
    values = rng.standard_normal((4, 8))[GROUPS] + 0.1 * rng.standard_normal((24, 8))
    values[3, 2] = np.nan
    return DescriptiveContext(
        "attributes", LABELS, tuple(f"attribute {i}" for i in range(8)), values
    )


@pytest.fixture(scope="module")
def others(edges):
    rng = np.random.default_rng(6)
    vectors = rng.standard_normal((4, 12))[GROUPS] + rng.standard_normal((24, 12))
    return [
        RelationalContext.from_hierarchy(edges, labels=LABELS),
        DescriptiveContext.from_vectors(
            dict(zip(LABELS, vectors, strict=True)), name="sentences"
        ),
    ]


def test_every_method_is_scored_in_every_split(attributes, others):
    frame = complete_attributes(attributes, others, n_splits=2, options=QUICK)
    methods = [
        "PHCLE",
        "PHCLE, calibrated",
        "attribute mean",
        "nearest relative (hierarchy)",
        "ridge regression (sentences)",
        "ridge regression (all contexts)",
    ]
    assert list(frame["method"]) == 2 * methods
    assert list(frame.columns) == [
        "split",
        "method",
        "r2",
        "auc",
        "n_hidden",
        "options",
    ]
    assert set(frame["n_hidden"]) == {5}
    mean = frame[frame["method"] == "attribute mean"]
    np.testing.assert_allclose(mean["r2"], 0.0, atol=1e-12)
    np.testing.assert_allclose(mean["auc"], 0.5)
    learned = frame[frame["method"].isin([*methods[:2], methods[3]])]
    assert (learned["r2"] > 0.5).all()
    assert (learned["auc"] > 0.8).all()


def test_same_seed_gives_the_same_scores(attributes, others):
    one, two = (
        complete_attributes(attributes, others, n_splits=1, seed=3, options=QUICK)
        for _ in range(2)
    )
    assert one.equals(two)


def test_hidden_attributes_do_not_reach_the_prediction(attributes, others):
    known, hidden = np.arange(5, 24), np.arange(5)
    lies = attributes.values.copy()
    lies[:5] = 1e3
    liar = DescriptiveContext("attributes", LABELS, attributes.columns, lies)
    predicted = [
        dict(completion._Task(c, others).predictions(known, hidden, QUICK))
        for c in (attributes, liar)
    ]
    for method, values in predicted[0].items():
        np.testing.assert_array_equal(values, predicted[1][method], err_msg=method)


def test_options_are_chosen_on_validation_labels(attributes, others, monkeypatch):
    options = [{**QUICK, "ridge": 1e6}, {**QUICK, "ridge": 3.0}]
    asked = []
    by_phcle = completion._Task.by_phcle

    def remember(self, known, hidden, choice):
        asked.append((set(known), set(hidden)))
        return by_phcle(self, known, hidden, choice)

    monkeypatch.setattr(completion._Task, "by_phcle", remember)
    frame = complete_attributes(
        attributes, others, n_splits=1, options=options, n_validations=2
    )
    assert frame["options"][0] == options[1]
    *validations, (_, tested) = asked
    assert len(validations) == 4
    assert all(tested.isdisjoint(known | held) for known, held in validations)


def test_nearest_relatives_are_averaged_and_skip_unknown_values():
    distance = np.array([[2.0, 2.0, 5.0], [np.inf, np.inf, np.inf]])
    values = np.array([[1.0, np.nan], [3.0, np.nan], [8.0, 7.0]])
    predicted = completion._nearest_relative(distance, values)
    # The stranger of the second row gets the means.
    np.testing.assert_allclose(predicted, [[2.0, 7.0], [4.0, 7.0]])


def test_distance_leads_over_the_nearest_shared_ancestor(others):
    hierarchy = others[0].hierarchy.hierarchy
    labels = ["label 0", "label 4", "label 1", "label 2", "unheard of"]
    distance = completion._distances(hierarchy, labels)
    np.testing.assert_array_equal(distance[0], [0, 2, 4, 6, np.inf])


def test_ridge_regression_recovers_a_linear_map_around_gaps():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((60, 3)), rng.standard_normal((4, 3))
    U = rng.standard_normal((3, 2))
    values = X @ U + 1.0
    values[:9, 1] = np.nan
    predicted = completion._ridge(X, values, np.vstack([Z, [[np.nan] * 3]]))
    np.testing.assert_allclose(predicted[:4], Z @ U + 1.0, atol=0.02)
    np.testing.assert_allclose(predicted[4], np.nanmean(values, axis=0))


def test_attributes_with_one_class_among_the_hidden_have_no_auc():
    values = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 0.0], [1.0, 5.0]])
    known, hidden = np.array([0, 1]), np.array([2, 3])
    predicted = np.array([[0.0, 0.1], [1.0, 0.2]])
    _, auc = completion._scores(values, known, hidden, predicted)
    assert auc == 1.0
    r2, auc = completion._scores(values[:, :1], known, hidden, predicted[:, :1])
    assert np.isnan(auc)
    assert r2 == pytest.approx(1 - 1 / 0.5)


def test_sparse_tags_can_be_completed(edges, others):
    tags = {
        label: [f"tag {group}"] for label, group in zip(LABELS, GROUPS, strict=True)
    }
    context = DescriptiveContext.from_tags(tags)
    frame = complete_attributes(
        context,
        [RelationalContext.from_hierarchy(edges)],
        n_splits=1,
        options=QUICK,
    )
    assert list(frame["method"])[3:] == ["nearest relative (hierarchy)"]
    assert frame["r2"][3] == pytest.approx(1.0)


def test_summary_counts_the_splits_that_phcle_leads(attributes, others):
    frame = complete_attributes(attributes, others, n_splits=2, options=QUICK)
    table = summarize_completion(frame)
    assert table.loc["PHCLE", "r2 lead"] == 0
    assert table.loc["attribute mean", "r2 ahead"] == 2
    assert table.loc["attribute mean", "r2 lead"] == pytest.approx(
        table.loc["PHCLE", "r2"]
    )


def test_wrong_requests_are_refused(attributes, others):
    with pytest.raises(OptionError, match="share must be between 0 and 1"):
        complete_attributes(attributes, others, share=1.0)
    with pytest.raises(OptionError, match="at least one choice"):
        complete_attributes(attributes, others, options=[])
    with pytest.raises(OptionError, match="n_validations must be 1 or more"):
        complete_attributes(attributes, others, n_validations=0)
    stranger = DescriptiveContext.from_tags({"nobody": ["x"]})
    with pytest.raises(ContextError, match="shares 0 labels"):
        complete_attributes(stranger, others)
