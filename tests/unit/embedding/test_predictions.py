"""What the fit predicts for every cell: honest, stored, and looked up."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from phcle import (
    PHCLE,
    DescriptiveContext,
    RelationalContext,
    completion_skill,
    load,
    suspicious_cells,
)
from phcle.errors import ContextWarning, FileError, OptionError
from phcle.files import read_sealed, write_sealed

N_GROUPS, N_IN_GROUP = 30, 8
N = N_GROUPS * N_IN_GROUP
LABELS = tuple(f"{g}.{i}" for g in range(N_GROUPS) for i in range(N_IN_GROUP))
TREE = [(label, f"group {label.split('.')[0]}") for label in LABELS]
TREE += [(f"group {g}", "all") for g in range(N_GROUPS)]
FORMAT = "phcle.label-embedding", 3


def cells_of(seed=0):
    """Numbers that follow two hidden ones, one that does not do so straight, a truth
    value and a category."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(N_GROUPS, 2)).repeat(N_IN_GROUP, axis=0)
    a, b = (place + rng.normal(size=place.shape)).T
    noise = 0.3 * rng.normal(size=(4, N))
    return {
        "sum": (a + b + noise[0]).tolist(),
        "less": (a - b + noise[1]).tolist(),
        "mass": np.exp(a + noise[2]).tolist(),
        "square": (a * b + noise[3]).tolist(),
        "sign": np.where(a > 0, "yes", "no").tolist(),
        "kind": np.array(list("xyz"))[np.digitize(b, [-0.7, 0.7])].tolist(),
    }


def hidden_table(seed=0):
    """The table with gaps and without the labels of the last groups, and the truth."""
    cells, rng = cells_of(seed), np.random.default_rng(seed + 1)
    known = rng.random((N, len(cells))) > 0.2
    known[-3 * N_IN_GROUP :] = False
    left = {
        title: [x if known[i, j] else None for i, x in enumerate(own)]
        for j, (title, own) in enumerate(cells.items())
    }
    return cells, DescriptiveContext.from_cells(LABELS, left, "table")


def contexts_of(table):
    return [RelationalContext.from_hierarchy(TREE, name="tree"), table]


@pytest.fixture(scope="module")
def model():
    return PHCLE().fit(contexts_of(hidden_table()[1]))


@pytest.fixture(scope="module")
def embedding(model):
    return model.embedding_


def test_intervals_hold_most_truths_and_probabilities_are_about_right(embedding):
    truth = cells_of()
    row = {label: i for i, label in enumerate(LABELS)}
    found = embedding.complete(probabilities=True, why=False).cells
    assert len(found) > 300
    numbers = [x for x in found if x.kind == "number"]
    held = [x.low <= truth[x.column][row[x.label]] <= x.high for x in numbers]
    assert 0.7 < np.mean(held) < 0.9
    assert all(x.low <= x.value <= x.high for x in numbers)
    others = [x for x in found if x.kind != "number"]
    words = {True: "yes", False: "no"}
    right = [
        words.get(x.value, x.value) == truth[x.column][row[x.label]] for x in others
    ]
    assert np.mean(right) == pytest.approx(
        np.mean([x.confidence for x in others]), abs=0.12
    )
    for cell in others:
        if cell.kind == "category":
            assert sum(cell.probabilities.values()) == pytest.approx(1, abs=2e-3)


def test_what_is_not_straight_is_predicted_better_than_by_the_vectors_alone(embedding):
    truth = np.array(cells_of()["square"])
    cells = embedding.complete(columns=["square"], why=False).cells
    asked = [x for x in cells if int(x.label.split(".")[0]) < N_GROUPS - 3]
    rows = [LABELS.index(x.label) for x in asked]
    table = next(x for x in embedding.contexts if x.name == "table")
    at = table.columns.index("square")
    alone = table.predict(embedding.vectors[rows])[:, at]
    ours = np.array([x.value for x in asked])
    assert np.mean((ours - truth[rows]) ** 2) < 0.8 * np.mean(
        (alone - truth[rows]) ** 2
    )


def test_a_range_that_a_column_cannot_leave_is_kept():
    rng = np.random.default_rng(0)
    place = rng.normal(size=N)
    share = np.clip(100 / (1 + np.exp(-3 * place)), 0, 100).round()
    count = np.maximum(np.round(3 * place), 0)
    cells = {"share": share, "count": count, "place": place + 0.1 * rng.normal(size=N)}
    left = {
        x: [v if rng.random() < 0.8 else None for v in own] for x, own in cells.items()
    }
    table = DescriptiveContext.from_cells(LABELS, left, "table")
    found = PHCLE().fit(contexts_of(table)).embedding_.complete(why=False).cells
    for cell in found:
        if cell.column != "place":
            assert cell.low >= -1e-6
            assert cell.value >= -1e-6
        if cell.column == "share":
            assert cell.high <= 100.001


def test_predictions_are_the_same_from_the_file_and_on_any_number_of_threads(
    embedding, tmp_path
):
    embedding.save(tmp_path / "a.phcle")
    found = embedding.complete(probabilities=True).cells
    assert load(tmp_path / "a.phcle").complete(probabilities=True).cells == found
    script = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from test_predictions import *\n"
        "PHCLE().fit(contexts_of(hidden_table()[1])).embedding_.save(sys.argv[1])"
    )
    for threads in ("1", "2"):
        path = tmp_path / f"{threads}.phcle"
        subprocess.run(
            [sys.executable, "-c", script, path, Path(__file__).parent],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            check=True,
        )
    one, two = (read_sealed(tmp_path / f"{x}.phcle", *FORMAT, "")[1] for x in "12")
    told = [key for key in one if key.startswith("predictions/")]
    assert told
    for key in told:
        assert one[key].tobytes() == two[key].tobytes(), key


def test_a_known_cell_does_not_tell_its_own_prediction():
    """Readers and intervals of a cell learn from fits that have not seen it."""
    _, table = hidden_table()
    changed = np.array(table.matrix.row(5))
    at = table.columns.index("sum")
    assert not np.isnan(changed[at])

    def told(value):
        values = np.array([table.matrix.row(i) for i in range(len(table.labels))])
        values[5, at] = value
        own = dataclasses.replace(table, matrix=values)
        fitted = PHCLE(choose=False).fit(contexts_of(own)).embedding_
        found = fitted.predictions["table"]
        number = next(
            i for i, x in enumerate(fitted.predicting[0].fields) if x.title == "sum"
        )
        return found.numbers[5, number, 0], fitted.predicting[0]

    # Only through means and scales of all labels may it matter.
    (low, first), (high, second) = told(changed[at]), told(changed[at] + 3.0)
    values = [
        float(step * x.scale[at] + x.offset[at])
        for step, x in ((low, first), (high, second))
    ]
    assert abs(values[1] - values[0]) < 0.6


@pytest.mark.parametrize("role", ["family", "counts"])
def test_noise_is_not_predicted(role):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, 6))
    values[rng.random(values.shape) < 0.2] = np.nan
    table = DescriptiveContext("table", LABELS, tuple("abcdef"), values)
    tree = RelationalContext.from_hierarchy(TREE, name="tree", role=role)
    fitted = PHCLE(choose=False).fit([tree, table]).embedding_
    cells = fitted.complete(why=False).cells
    # Four fifths of all values of a normal distribution are within ±1.28.
    assert np.mean([x.high - x.low for x in cells]) > 0.85 * 2 * 1.28
    columns = completion_skill(fitted).columns
    assert np.mean([x.score for x in columns]) < 0.08


def test_a_column_of_which_nothing_is_known_disturbs_nothing(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 4))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[:, 3] = np.nan
    table = DescriptiveContext("table", LABELS[:60], tuple("abcd"), values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = PHCLE().fit(table).embedding_
        fitted.save(tmp_path / "a.phcle")
        found = fitted.complete().cells
        assert load(tmp_path / "a.phcle").complete().cells == found
        assert all(np.isfinite(x.value) for x in found)
        assert all((x.low is None) == (x.column == "d") for x in found)
        assert "d" not in {x.column for x in suspicious_cells(fitted)}
        assert fitted.complete(columns=["d"], draws=2).cells


def noise_in_genera(n_genera, role):
    """One species of each genus knows all columns, which are noise; others know one."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_genera, 4, 8))
    values[:, 1:, 1:] = np.nan
    labels = tuple(f"{g}.{s}" for g in range(n_genera) for s in range(4))
    edges = [(label, f"genus {label.split('.')[0]}") for label in labels]
    edges += [(f"genus {g}", "all") for g in range(n_genera)]
    return [
        RelationalContext.from_hierarchy(edges, name="tree", role=role),
        DescriptiveContext("table", labels, tuple("abcdefgh"), values.reshape(-1, 8)),
    ]


@pytest.mark.parametrize("role", ["family", "both", "counts"])
def test_hidden_values_do_not_come_back_through_relatives(role):
    """Siblings that know little hold a species' own values; noise looked certain."""
    model = PHCLE(dim=8, choose=False, completion="fast")
    cells = model.fit(noise_in_genera(100, role)).embedding_.complete(why=False).cells
    widths = [cell.high - cell.low for cell in cells]
    assert np.mean(widths) > 0.85 * 2 * 1.28


def test_reasons_name_labels_that_know_the_column_and_the_readers(embedding):
    cell = embedding.complete(columns=["sum"]).cells[0]
    assert cell.why.startswith("like ") or ";" not in cell.why
    assert any(x in cell.why for x in ("forest", "embedding", "boosting", "support"))
    found = embedding.predictions["table"]
    for row, share in zip(found.because[0, 0], found.because_share[0, 0], strict=True):
        assert share == 0 or found.is_known[row, 0]


def test_draws_differ_between_themselves_and_are_the_same_for_a_seed(embedding):
    asked = {"labels": [LABELS[-1], LABELS[-2]], "why": False}
    found = embedding.complete(**asked, draws=40, seed=3).cells
    assert found == embedding.complete(**asked, draws=40, seed=3).cells
    assert found != embedding.complete(**asked, draws=40, seed=4).cells
    assert {x.draw for x in found} == set(range(1, 41))
    plain = {(x.label, x.column): x for x in embedding.complete(**asked).cells}
    drawn = [x for x in found if x.kind == "number"]
    inside = [
        plain[x.label, x.column].low <= x.value <= plain[x.label, x.column].high
        for x in drawn
    ]
    assert 0.65 < np.mean(inside) < 0.95
    with pytest.raises(OptionError, match="draws"):
        embedding.complete(draws=-1)


def test_a_label_added_later_is_predicted_from_its_cells_and_from_its_family(model):
    truth = cells_of()
    table = DescriptiveContext.from_cells(
        ["new"], {"sum": [3.0], "less": [3.0], "mass": [None]}, "table"
    )
    tree = RelationalContext.from_hierarchy([("new", "group 1")], name="tree")
    whole = model.embedding_.joined(model.transform([table, tree]))
    cells = {x.column: x for x in whole.complete(["new"]).cells}
    assert set(cells) == set(truth) - {"sum", "less"}
    assert cells["mass"].low < cells["mass"].value < cells["mass"].high
    assert cells["mass"].value > np.exp(1.5)  # half of both is three


def test_labels_that_were_added_are_in_the_file_with_their_predictions(model, tmp_path):
    tree = RelationalContext.from_hierarchy([("new", "group 1")], name="tree")
    whole = model.embedding_.joined(model.transform([tree]))
    whole.save(tmp_path / "a.phcle")
    found = load(tmp_path / "a.phcle")
    assert found.complete(["new"]).cells == whole.complete(["new"]).cells
    assert found.complete(["new"]).cells[0].low is not None


def test_a_fit_without_predictions_says_so_and_answers_from_the_vectors():
    _, table = hidden_table()
    fitted = PHCLE(completion="none").fit(contexts_of(table)).embedding_
    with pytest.warns(ContextWarning, match="did not predict gaps"):
        cells = fitted.complete(["0.0", LABELS[-1]]).cells
    assert cells
    assert all(x.low is None and x.confidence is None for x in cells)


def test_a_users_own_reader_counts_where_it_is_better():
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, 5))
    values = np.column_stack([values, values @ [1.0, -2.0, 0.5, 3.0, 1.0]])
    hidden = rng.random(N) < 0.3
    values[hidden, 5] = np.nan
    table = DescriptiveContext("table", LABELS, tuple("abcdef"), values)
    fitted = PHCLE().fit([table], readers={"straight": LinearRegression()}).embedding_
    mix = fitted.predictions["table"]
    assert mix.weights[0, 5, mix.readers.index("straight")] > 0.5
    assert "straight" in fitted.complete(columns=["f"]).cells[0].why
    with pytest.raises(OptionError, match="reader 'no'"):
        PHCLE().fit([table], readers={"no": 3})


def test_fast_completion_asks_forests_alone():
    _, table = hidden_table()
    fitted = PHCLE(completion="fast").fit(contexts_of(table)).embedding_
    assert set(fitted.predictions["table"].readers) == {
        "forest",
        "embedding",
        "family",
        "mean",
    }


@pytest.mark.parametrize(
    "damage",
    [
        lambda x: x.update({"predictions/0/step": x["predictions/0/step"][:-1]}),
        lambda x: x["predictions/0/because"].fill(10**6),
        lambda x: x["predictions/0/held/rows"].fill(3),
        lambda x: x["predictions/0/held/cell_fold"].fill(9),
        lambda x: x["predictions/0/low"].fill(np.inf),
        lambda x: x.pop("predictions/0/mix"),
        lambda x: x.update({"predictions/0/shares": np.zeros((2, 2), np.float32)}),
    ],
)
def test_forged_predictions_are_refused_when_they_are_loaded(
    embedding, tmp_path, damage
):
    embedding.save(tmp_path / "a.phcle")
    content, tensors = read_sealed(tmp_path / "a.phcle", *FORMAT, "")
    forged = {key: np.array(x) for key, x in tensors.items()}
    damage(forged)
    write_sealed(tmp_path / "b.phcle", *FORMAT, content, forged)
    with pytest.raises(FileError, match="not a complete label embedding"):
        load(tmp_path / "b.phcle")


CHANCE = np.random.default_rng(0).uniform(0.05, 0.95, (N_GROUPS, 20))
"""Labels of a group have each tag with the same chance."""


def tagged(described, seed=1):
    chance = CHANCE.repeat(N_IN_GROUP, axis=0)
    has_it = np.random.default_rng(seed).random(chance.shape) < chance
    tags = {x: np.flatnonzero(has_it[LABELS.index(x)]) for x in described}
    return DescriptiveContext.from_tags(
        {x: [f"tag {j}" for j in own] for x, own in tags.items()}, name="tags"
    ), has_it


def probabilities(embedding, labels, n=20):
    """Probability of every tag of labels that the table does not hold."""
    found = {
        (cell.label, cell.column): cell.confidence
        for cell in embedding.complete(labels, min_confidence=1e-12, why=False).cells
    }
    return np.array(
        [[found.get((x, f"tag {j}"), 0.0) for j in range(n)] for x in labels]
    )


def test_of_tags_that_are_said_to_be_sure_that_share_is_there():
    """Hidden labels' tags, whose probabilities are known, against their confidences."""
    hidden = LABELS[::4]
    said, chance = [], []
    for seed in range(3):
        tags, has_it = tagged([x for x in LABELS if x not in hidden], seed)
        fitted = PHCLE(dim=20).fit(contexts_of(tags)).embedding_
        sure = probabilities(fitted, hidden)
        usual = has_it[np.arange(N) % 4 > 0].mean(axis=0)
        truth = has_it[::4]
        assert ((sure - truth) ** 2).mean() < 0.9 * ((usual - truth) ** 2).mean()
        said.append(sure.ravel())
        chance.append(CHANCE.repeat(2, axis=0).ravel())
    all_said, all_chances = np.concatenate(said), np.concatenate(chance)
    for part in np.array_split(np.argsort(all_said), 5):
        assert all_said[part].mean() == pytest.approx(
            all_chances[part].mean(), abs=0.05
        )


def test_tags_that_are_noise_are_no_surer_than_they_are_common():
    rng = np.random.default_rng(0)
    described, others = LABELS[:200], LABELS[200:]
    tags = {x: [f"tag {j}" for j in range(20) if rng.random() < 0.3] for x in described}
    table = DescriptiveContext.from_tags(tags, name="noise")
    fitted = PHCLE(dim=10).fit(contexts_of(table)).embedding_
    assert probabilities(fitted, others).max() < 0.65


def test_tags_of_one_label_only_do_not_make_others_more_likely():
    """A label hidden in a trial takes its own tag along, which no column then has."""
    rng = np.random.default_rng(0)
    labels = [f"x{i}" for i in range(600)]
    tree = [(x, f"group {i // 20}") for i, x in enumerate(labels)]
    tags = {
        x: [f"only {x}"] + [f"tag {i // 60}" for _ in range(rng.random() < 0.3)]
        for i, x in enumerate(labels)
    }
    hidden = labels[::5]
    given = [
        RelationalContext.from_hierarchy(tree, name="tree"),
        DescriptiveContext.from_tags(
            {x: tags[x] for x in labels if x not in hidden}, name="tags"
        ),
    ]
    fitted = PHCLE(dim=10, choose=False).fit(given).embedding_
    said = sum(
        cell.confidence
        for cell in fitted.complete(hidden, min_confidence=1e-12, why=False).cells
    )
    assert said == pytest.approx(0.3 * len(hidden), rel=0.35)


def test_predictions_of_tags_survive_the_file(tmp_path):
    tags, _ = tagged(LABELS[:-9])
    fitted = PHCLE(dim=5, choose=False).fit(contexts_of(tags)).embedding_
    fitted.save(tmp_path / "x.phcle")
    found = fitted.complete().cells
    assert found
    assert all(cell.why.startswith("like ") for cell in found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(tmp_path / "x.phcle").complete().cells == found
