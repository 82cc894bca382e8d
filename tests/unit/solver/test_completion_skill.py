from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, completion_skill, load
from phcle.uses.named_answers import summarise

N = 300


@pytest.fixture(scope="module")
def embedding():
    """A column that follows two others, one that follows the family, and noise."""
    rng = np.random.default_rng(0)
    labels = tuple(f"label {i}" for i in range(N))
    edges = [(label, f"group {i // 10}") for i, label in enumerate(labels)]
    edges += [(f"group {g}", "all") for g in range(N // 10)]
    a, b, noise = rng.normal(size=(3, N))
    by_group = rng.normal(size=N // 10).repeat(10)
    cells = {
        "a": a,
        "b": b,
        "both": a + b,
        "other": a - b,
        "of the family": by_group + 0.1 * rng.normal(size=N),
        "noise": noise,
        "sign": np.where(a + b > 0, "plus", "minus"),
    }
    left = {
        title: [x if rng.random() < 0.8 else None for x in own]
        for title, own in cells.items()
    }
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_cells(labels, left, "table"),
    ]
    return PHCLE().fit(contexts).embedding_


def test_columns_are_scored_beside_simple_rules(embedding):
    found = {x.column: x for x in completion_skill(embedding).columns}
    assert found["both"].score > 0.2  # of labels whose whole rows are hidden, too
    assert found["both"].verdict in ("better", "as good")
    assert found["both"].family < 0.2
    assert found["of the family"].score == pytest.approx(
        found["of the family"].family, abs=0.1
    )
    assert found["noise"].score < 0.1
    assert found["sign"].measure == "share right"
    assert found["sign"].score > found["sign"].usual + 0.04
    for title in ("a", "both", "noise"):
        assert found[title].usual == pytest.approx(0, abs=0.1)


def test_the_fit_keeps_what_it_measured_and_so_does_the_file(embedding, tmp_path):
    embedding.save(tmp_path / "x.phcle")
    for each in (embedding, load(tmp_path / "x.phcle")):
        kept = summarise(each).completion
        assert "better than the best simple rule in" in kept.summary
        assert {x.column for x in kept.columns} >= {"both", "noise", "sign"}
        assert str(kept).count("\n") == len(kept.columns)


@pytest.mark.parametrize("forged", [7, {"columns": 3}, {"columns": [{"a": 1}]}, None])
def test_a_forged_measurement_is_ignored(embedding, forged):
    from dataclasses import replace

    other = replace(embedding, origin={**embedding.origin, "completion": forged})
    assert summarise(other).completion is None


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9])
def test_nearest_labels_are_those_of_a_plain_search(missing):
    from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
    from phcle.contexts.masked import masked_matrix
    from phcle.solver.column_scores import NEIGHBOURS, _nearest

    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, size=(40, 6)).astype(float)  # many equal distances
    values[rng.random(values.shape) < missing] = np.nan
    rows, columns = np.nonzero(~np.isnan(values) & (rng.random(values.shape) < 0.3))
    given = np.zeros(len(rows))
    trial = rng.integers(0, 2, len(rows))
    labels = rng.permutation(50)[:40]
    cells = HiddenPredictions(
        labels[rows], columns, given, given > 0, given, given, given, given, trial
    )
    usual = np.nanmean(values, axis=0)
    found = _nearest(masked_matrix(values, None, "table"), labels, np.ones(6), cells)
    for row, column, number, got in zip(rows, columns, trial, found, strict=True):
        own = values[row].copy()
        own[columns[(rows == row) & (trial == number)]] = np.nan
        squares = (values - own) ** 2
        shared = np.maximum((~np.isnan(squares)).sum(axis=1), 1)
        distance = np.nansum(squares, axis=1) / shared
        distance[np.isnan(squares).all(axis=1)] = np.nan
        distance[row] = np.nan
        order = np.argsort(distance, kind="stable")
        near = [
            values[i, column]
            for i in order
            if not np.isnan(distance[i]) and not np.isnan(values[i, column])
        ]
        expected = np.mean(near[:NEIGHBOURS]) if near else usual[column]
        assert got == pytest.approx(expected)


def test_cells_are_predicted_in_parts(monkeypatch):
    from phcle.contexts.descriptive import hidden_cells

    monkeypatch.setattr(hidden_cells, "AT_ONCE", 3)
    rng = np.random.default_rng(0)
    W, U = rng.normal(size=(5, 4)), rng.normal(size=(6, 4))
    rows, columns = np.divmod(np.arange(30), 6)
    given = np.zeros(30)
    cells = hidden_cells.HiddenCells(rows, columns, given, given > 0)
    np.testing.assert_allclose(cells.predicted(W, U), (W @ U.T).ravel())
    np.testing.assert_allclose(cells.errors(W, U), (W @ U.T).ravel() ** 2)
