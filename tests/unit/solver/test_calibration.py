from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, load

RNG = np.random.default_rng(0)
N_GROUPS, N_IN_GROUP = 12, 10
LABELS = [f"{g}.{i}" for g in range(N_GROUPS) for i in range(N_IN_GROUP)]
TREE = [(label, f"group {label.split('.')[0]}") for label in LABELS]
TREE += [(f"group {g}", "all") for g in range(N_GROUPS)]
CHANCE = RNG.uniform(0.05, 0.95, (N_GROUPS, 30)).repeat(N_IN_GROUP, axis=0)
"""Labels of a group have each tag with the same chance."""


def contexts(described=LABELS, seed=1):
    has_it = np.random.default_rng(seed).random(CHANCE.shape) < CHANCE
    tags = {
        label: [f"tag {j}" for j in np.flatnonzero(has_it[i])]
        for i, label in enumerate(LABELS)
        if label in set(described)
    }
    return [
        RelationalContext.from_hierarchy(TREE, name="tree"),
        DescriptiveContext.from_tags(tags, name="tags"),
    ], has_it


def chances(embedding, labels, columns):
    """Probability of every tag of labels that the table does not hold."""
    found = {
        (cell.label, cell.column): cell.confidence
        for cell in embedding.complete(labels, min_confidence=1e-12, why=False).cells
    }
    return np.array([[found[label, x] for x in columns] for label in labels])


def test_of_what_is_said_to_be_sure_that_share_is_true():
    """Hidden labels' tags, whose chances are known, against their confidences."""
    hidden = LABELS[::4]
    said, chance = [], []
    for seed in range(4):
        given, has_it = contexts([x for x in LABELS if x not in hidden], seed)
        embedding = PHCLE(dim=20).fit(given).embedding_
        sure = chances(embedding, hidden, [f"tag {j}" for j in range(30)])
        truth = has_it[::4]
        usual = has_it[np.arange(len(LABELS)) % 4 > 0].mean(axis=0)
        assert ((sure - truth) ** 2).mean() < 0.9 * ((usual - truth) ** 2).mean()
        said.append(sure.ravel())
        chance.append(CHANCE[::4].ravel())
    all_said, all_chances = np.concatenate(said), np.concatenate(chance)
    for part in np.array_split(np.argsort(all_said), 5):
        assert all_said[part].mean() == pytest.approx(
            all_chances[part].mean(), abs=0.04
        )


def test_noise_is_no_surer_than_it_is_common():
    described, others = LABELS[:100], LABELS[100:]
    tags = {x: [f"tag {j}" for j in range(20) if RNG.random() < 0.3] for x in described}
    given = [contexts()[0][0], DescriptiveContext.from_tags(tags, name="noise")]
    embedding = PHCLE(dim=10).fit(given).embedding_
    sure = chances(embedding, others, [f"tag {j}" for j in range(20)])
    assert sure.max() < 0.65


def test_a_calibration_survives_the_file(tmp_path):
    given = contexts(LABELS[:-9])[0]
    embedding = PHCLE(dim=5, max_iter=5, tol=0.5).fit(given).embedding_
    embedding.save(tmp_path / "x.phcle")
    found = embedding.complete(why=False).cells
    assert found
    assert load(tmp_path / "x.phcle").complete(why=False).cells == found


@pytest.mark.parametrize(("n", "calibrate"), [(5, True), (len(LABELS) - 1, False)])
def test_without_calibration_no_confidence_is_said(n, calibrate):
    given, _ = contexts(LABELS[:n])
    model = PHCLE(dim=5, calibrate=calibrate).fit(given)
    cells = model.embedding_.complete(LABELS[-1:], why=False).cells
    assert {cell.confidence for cell in cells} <= {None}


def test_a_label_too_little_is_known_of_is_told_apart():
    given, _ = contexts(LABELS[:-1])
    given[0] = RelationalContext.from_hierarchy(
        [*TREE, ("stray", "nowhere"), ("other", "nowhere")], name="tree"
    )
    embedding = PHCLE(dim=20).fit(given).embedding_
    assert embedding.describe("stray").not_predictable == ("tags",)
    told = embedding.describe(LABELS[-1])
    assert told.not_predictable == ()
    assert all(0.02 <= x.confidence <= 1 for x in told.predicted)
    assert all(x.confidence is None for x in told.observed)


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
    given = noise_in_genera(200, role)
    cells = PHCLE(dim=8, choose=False).fit(given).embedding_.complete(why=False).cells
    widths = [cell.high - cell.low for cell in cells]
    # Four fifths of all values of a normal distribution are within ±1.28.
    assert np.mean(widths) > 0.9 * 2 * 1.28


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
    embedding = PHCLE(dim=10, choose=False).fit(given).embedding_
    said = sum(
        cell.confidence
        for cell in embedding.complete(hidden, min_confidence=1e-12, why=False).cells
    )
    assert said == pytest.approx(0.3 * len(hidden), rel=0.3)
