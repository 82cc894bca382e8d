"""Attribute completion on planted data: groups of a tree decide the attributes."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.datasets import WORDNET_FOLDER
from phcle.errors import ContextError, OptionError
from phcle.tuning.completion import (
    CompletionTask,
    column_means,
    draw,
    scores,
)
from phcle_paper.studies import completion, completion_readings
from phcle_paper.studies.completion import DEFAULT, Settings, score_split, splits
from phcle_paper.studies.completion_readings import (
    CHOSEN,
    READINGS,
    Choice,
    Fit,
    choose,
    readings,
)
from phcle_paper.studies.completion_rivals import (
    nearest_relative,
    ridge_regression,
    rivals,
    tree_distances,
)
from phcle_paper.studies.registry import Request, run_study
from phcle_paper.studies.whole_label_rivals import as_cells, cell_rivals

QUICK = {"dim": 6, "max_iter": 20, "calibrate": False}
SETTINGS = Settings(
    datasets=["AWA"],
    share=0.2,
    n_splits=2,
    split_seed=0,
    n_validations=1,
    reference=CHOSEN,
    rivals=[],
    shared=QUICK,
    options=[{}],
)
KNOWN, HIDDEN = np.arange(5, 24), np.arange(5)
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
    return (
        RelationalContext.from_hierarchy(edges, labels=LABELS),
        DescriptiveContext.from_vectors(
            dict(zip(LABELS, vectors, strict=True)), name="sentences"
        ),
    )


@pytest.fixture(scope="module")
def task(attributes, others):
    return CompletionTask(attributes, others)


@pytest.fixture(scope="module")
def rows(task):
    """Two splits, scored."""
    drawn = splits(len(task.labels), 0.2, 2, 0)
    return [score_split(task, SETTINGS, known, hidden) for known, hidden in drawn]


def test_every_method_is_scored_in_every_split(rows):
    methods = [
        *READINGS,
        CHOSEN,
        DEFAULT,
        "attribute mean",
        "nearest relative (hierarchy)",
        "ridge regression (sentences)",
        "ridge regression (all contexts)",
    ]
    for split in rows:
        assert [row["method"] for row in split] == methods
        found = {row["method"]: row for row in split}
        assert found["attribute mean"]["r2"] == pytest.approx(0.0, abs=1e-12)
        assert found["attribute mean"]["auc"] == 0.5
        for method in (*READINGS, CHOSEN, "nearest relative (hierarchy)"):
            assert found[method]["r2"] > 0.4, method
            assert found[method]["auc"] > 0.8, method


def test_a_fifth_of_the_labels_is_hidden_and_the_first_splits_stay():
    few, more = (list(splits(24, 0.2, n, 3)) for n in (1, 3))
    assert len(few[0][1]) == 5
    assert sorted([*few[0][0], *few[0][1]]) == list(range(24))
    np.testing.assert_array_equal(few[0][1], more[0][1])


def test_hidden_attributes_do_not_reach_the_prediction(attributes, others):
    lies = attributes.values.copy()
    lies[HIDDEN] = 1e3
    liar = DescriptiveContext("attributes", LABELS, attributes.columns, lies)
    choices = {reading: Choice(QUICK, 1.5, 0.0) for reading in READINGS}
    honest, lied = (
        {
            **{x: y for x, _, y in readings(own, KNOWN, HIDDEN, choices)},
            **dict(rivals(own, KNOWN, HIDDEN)),
        }
        for own in (CompletionTask(c, others) for c in (attributes, liar))
    )
    for method, values in honest.items():
        np.testing.assert_array_equal(values, lied[method], err_msg=method)


def test_known_labels_are_regressed_on_without_their_attributes(attributes, others):
    twin = DescriptiveContext.from_vectors(
        {
            label: others[1].values[5 if label == LABELS[1] else i]
            for i, label in enumerate(LABELS)
        },
        name="sentences",
    )
    # Labels 1 (hidden) and 5 (known) are of one group; with one sentence too, they
    # are alike in everything but the attributes.
    fit = completion_readings.fit_without(
        CompletionTask(attributes, (others[0], twin)), KNOWN, HIDDEN, QUICK
    )
    np.testing.assert_allclose(fit.vectors[1], fit.vectors[5], atol=1e-3)


def test_options_are_chosen_on_validation_labels(task, monkeypatch):
    options = [{**QUICK, "ridge": 1e6}, {**QUICK, "ridge": 3.0}]
    asked = []
    fit_without = completion_readings.fit_without

    def remember(task, known, hidden, choice):
        asked.append((set(known), set(hidden)))
        return fit_without(task, known, hidden, choice)

    monkeypatch.setattr(completion_readings, "fit_without", remember)
    found = choose(task, KNOWN, options, share=0.2, n_validations=2, seed=0)
    assert found["PHCLE"].options == options[1]
    assert len(asked) == 4
    for known, held in asked:
        assert known.isdisjoint(held)
        assert (known | held) == set(KNOWN)


def test_rivals_for_single_cells_complete_whole_labels(task, monkeypatch):
    monkeypatch.setattr("phcle_paper.studies.cell_rivals.TREES", ((0.2, 50, 2),))
    cells = as_cells(task, HIDDEN)
    n = task.values.shape[1]
    assert np.isnan(cells.left[HIDDEN, :n]).all()
    assert not np.isnan(cells.left[:, n:]).any()
    inner = cells.inner(0.3, np.random.default_rng(0))
    lost = np.isnan(inner.left[KNOWN, :n])
    assert (lost.all(axis=1) == lost.any(axis=1)).all()
    methods = ["family", "iterative", "softimpute", "boosting"]
    for method, predicted in cell_rivals(task, HIDDEN, methods, 0):
        assert predicted.shape == (len(HIDDEN), n)
        r2, _ = scores(task.values, KNOWN, HIDDEN, predicted)
        assert r2 > 0.3, method


def test_the_reading_with_the_best_validation_is_chosen(task):
    choices = {reading: Choice(QUICK, 2.0, 0.1) for reading in READINGS}
    choices["PHCLE, stretched"] = Choice(QUICK, 2.0, 0.3)
    found = {x: (o, y) for x, o, y in readings(task, KNOWN, HIDDEN, choices)}
    assert found[CHOSEN][0]["reading"] == "PHCLE, stretched"
    np.testing.assert_array_equal(found[CHOSEN][1], found["PHCLE, stretched"][1])


def test_stretch_is_the_slope_of_truth_on_prediction(task):
    rest, held = draw(KNOWN, 0.2, np.random.default_rng(0))
    means = column_means(task.values[rest])
    truth = task.values[held]
    third = Fit(means + (truth - means) / 3, np.empty((24, 0)))
    slope = completion_readings._stretch(task.values, [(rest, held)], [third])
    assert slope == pytest.approx(3.0)
    read = third.read("PHCLE, stretched", task.values, rest, held, slope)
    np.testing.assert_allclose(read, truth)


def test_nearest_relatives_are_averaged_and_skip_unknown_values():
    distance = np.array([[2.0, 2.0, 5.0], [np.inf, np.inf, np.inf]])
    values = np.array([[1.0, np.nan], [3.0, np.nan], [8.0, 7.0]])
    # The stranger of the second row gets the means.
    np.testing.assert_allclose(
        nearest_relative(distance, values), [[2.0, 7.0], [4.0, 7.0]]
    )


def test_distance_leads_over_the_nearest_shared_ancestor(others):
    hierarchy = others[0].hierarchy.hierarchy
    labels = ["label 0", "label 4", "label 1", "label 2", "unheard of"]
    distance = tree_distances(hierarchy, labels)
    np.testing.assert_array_equal(distance[0], [0, 2, 4, 6, np.inf])
    np.testing.assert_array_equal(distance, distance.T)


def test_ridge_regression_recovers_a_linear_map_around_gaps():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((60, 3)), rng.standard_normal((4, 3))
    U = rng.standard_normal((3, 2))
    values = X @ U + 1.0
    values[:9, 1] = np.nan
    predicted = ridge_regression(X, values, np.vstack([Z, [[np.nan] * 3]]))
    np.testing.assert_allclose(predicted[:4], Z @ U + 1.0, atol=0.02)
    np.testing.assert_allclose(predicted[4], np.nanmean(values, axis=0))


def test_attributes_with_one_class_among_the_hidden_have_no_auc():
    values = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 0.0], [1.0, 5.0]])
    known, hidden = np.array([0, 1]), np.array([2, 3])
    predicted = np.array([[0.0, 0.1], [1.0, 0.2]])
    _, auc = scores(values, known, hidden, predicted)
    assert auc == 1.0
    r2, auc = scores(values[:, :1], known, hidden, predicted[:, :1])
    assert np.isnan(auc)
    assert r2 == pytest.approx(1 - 1 / 0.5)


def test_sparse_tags_can_be_completed_from_a_hierarchy_alone(edges):
    tags = {
        label: [f"tag {group}"] for label, group in zip(LABELS, GROUPS, strict=True)
    }
    task = CompletionTask(
        DescriptiveContext.from_tags(tags), (RelationalContext.from_hierarchy(edges),)
    )
    found = {x["method"]: x for x in score_split(task, SETTINGS, KNOWN, HIDDEN)}
    assert list(found)[5:] == ["attribute mean", "nearest relative (hierarchy)"]
    assert found["nearest relative (hierarchy)"]["r2"] == pytest.approx(1.0)
    assert found["PHCLE"]["r2"] > 0.5


def test_summary_counts_the_splits_in_which_the_reference_leads(rows):
    found = completion.summaries({"dataset": "AWA"}, rows, share=0.2, reference=CHOSEN)
    summary = {row["method"]: row for row in found}
    ours = [row["r2"] for split in rows for row in split if row["method"] == CHOSEN]
    assert summary[CHOSEN]["r2"] == pytest.approx(np.mean(ours))
    assert "r2_lead" not in summary[CHOSEN]
    assert summary["attribute mean"]["r2_ahead"] == 2
    assert summary["attribute mean"]["r2_lead"] == pytest.approx(np.mean(ours))


def test_wrong_requests_are_refused(task, others):
    asked = {"share": 0.2, "n_validations": 1, "seed": 0}
    with pytest.raises(OptionError, match="share must be between 0 and 1"):
        choose(task, KNOWN, [QUICK], **{**asked, "share": 1.0})
    with pytest.raises(OptionError, match="at least one choice"):
        choose(task, KNOWN, [], **asked)
    with pytest.raises(OptionError, match="n_validations must be 1 or more"):
        choose(task, KNOWN, [QUICK], **{**asked, "n_validations": 0})
    with pytest.raises(ContextError, match="shares 0 labels"):
        CompletionTask(DescriptiveContext.from_tags({"nobody": ["x"]}), others)


@pytest.mark.skipif(
    not (WORDNET_FOLDER / "data.noun").is_file(),
    reason=f"WordNet's files are not in {WORDNET_FOLDER}: apt-get install wordnet-base",
)
def test_the_study_runs_on_real_attributes_and_goes_on_where_it_stopped(
    shared_data, tmp_path, monkeypatch
):
    from phcle.datasets import load_wordnet_nouns
    from phcle_paper.studies.noun_contexts import ATTRIBUTES

    nouns = load_wordnet_nouns()
    animals = ATTRIBUTES["AWA"](nouns, shared_data).labels
    assert len(animals) == 50
    things = ATTRIBUTES["LAD"](nouns, shared_data)
    assert len(things.labels) == 142
    assert "n04405907" in things.labels  # the television set, not the broadcast
    rng = np.random.default_rng(0)
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(
        "".join(f"{x} {' '.join(map(str, rng.normal(size=3)))}\n" for x in animals)
    )
    config = tmp_path / "small.toml"
    config.write_text(
        'datasets = ["AWA"]\nshare = 0.2\nn_splits = 2\nsplit_seed = 0\n'
        f'n_validations = 1\nreference = "{CHOSEN}"\nrivals = ["softimpute"]\n'
        "[shared]\ndim = 5\nmax_iter = 3\ncalibrate = false\n"
        "[[options]]\nridge = 10.0\n"
    )
    told: list[str] = []
    request = Request(shared_data, tmp_path / "out", vectors, tell=told.append)
    monkeypatch.setattr(completion, "load_wordnet_nouns", lambda: nouns)
    # Confidences, which the defaults learn in 20 trials, are not asked for here.
    monkeypatch.setattr("phcle.solver.hidden_trials.MOST_SMALL_TRIALS", 1)
    one, two = (run_study("completion", request, config=config) for _ in range(2))
    assert one["rows"] == two["rows"]
    # and none again
    assert told == [f"completion-awa: {n} of 2 splits" for n in (1, 2)]
    assert {row["dataset"] for row in one["rows"]} == {"AWA"}
    assert (tmp_path / "out" / "completion.md").is_file()
