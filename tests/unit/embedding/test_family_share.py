"""The mean of a label's family has a share in predicted numbers."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, load

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


def test_a_family_that_knows_more_has_a_share(embedding, hidden):
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


def test_the_share_survives_the_file(embedding, tmp_path):
    embedding.save(tmp_path / "facts.phcle")
    assert prices_of(load(tmp_path / "facts.phcle")) == prices_of(embedding)


@pytest.mark.parametrize("role", ["counts", "family", "both"])
def test_the_family_says_means_and_most_common_values_in_every_role(role):
    edges = [("cat", "felid"), ("lion", "felid"), ("tiger", "felid")]
    edges += [("dog", "canid"), ("wolf", "canid"), ("felid", "all"), ("canid", "all")]
    labels = ["cat", "lion", "tiger", "dog", "wolf"]
    cells = {
        "weight": [4, 100, "", 20, ""],
        "wild": ["no", "yes", "", "no", ""],
        "size": ["small", "large", "", "small", ""],
    }
    looks = DescriptiveContext.from_cells(labels, cells, "looks", log=["weight"])
    tree = RelationalContext.from_hierarchy(edges, labels=labels, role=role)
    model = PHCLE(dim=2, choose=False, calibrate=False)
    cells = model.fit([tree, looks]).embedding_.complete(why=False).cells
    said = {(cell.label, cell.column): cell.family for cell in cells}
    for label in ("tiger", "wolf"):
        assert said[label, "weight"] == pytest.approx(20.0)  # of 4 and 100: geometric
        assert said[label, "wild"] is False
        assert said[label, "size"] == "small"  # a tie, which most labels decide


def test_without_a_hierarchy_the_family_says_nothing():
    cells = {"x": [1, 2, ""], "y": [1, 0, 1]}
    looks = DescriptiveContext.from_cells(["a", "b", "c"], cells, "looks")
    embedding = PHCLE(dim=1, choose=False, calibrate=False).fit(looks).embedding_
    assert [cell.family for cell in embedding.complete().cells] == [None]
