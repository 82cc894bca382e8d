from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, completion_skill, load
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.contexts.masked import masked_matrix
from phcle.solver.nearest_rule import NEIGHBOURS, nearest_values
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
    assert found["both"].score > 0.7  # all gaps are in labels with other values
    assert found["both"].verdict == "better"
    assert found["both"].whole_rows == 0
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


@pytest.mark.parametrize(
    ("gaps", "share", "low", "high"),
    [("cells", 0.0, 0.8, 1.0), ("rows", 1.0, -0.5, 0.3), ("none", 0.5, 0.3, 0.7)],
)
def test_scores_are_weighted_like_the_gaps_of_the_table(gaps, share, low, high):
    """`both` follows from other columns; nothing is known of a label without them."""
    rng = np.random.default_rng(1)
    labels = [f"label {i}" for i in range(150)]
    edges = [(label, f"group {rng.integers(10)}") for label in labels]
    a, b = rng.normal(size=(2, len(labels)))
    values = np.column_stack([a, b, a + b, a - b])
    if gaps == "cells":
        values[rng.random(len(labels)) < 0.2, 2] = np.nan
    described = labels[:100] if gaps == "rows" else labels
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext(
            "table", described, ["a", "b", "both", "other"], values[: len(described)]
        ),
    ]
    fitted = PHCLE(dim=8, ridge=1.0).fit(contexts).embedding_
    for found in (summarise(fitted).completion, completion_skill(fitted)):
        columns = {x.column: x for x in found.columns}
        assert columns["both"].whole_rows == pytest.approx(share)
        assert low <= columns["both"].score <= high
        # The other columns have no gaps, so they are scored like the whole table.
        assert columns["a"].whole_rows == pytest.approx(share)
        for each in columns.values():
            assert each.usual == pytest.approx(0, abs=1e-9)


def test_the_nearest_labels_that_know_a_column_are_averaged():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(300, 6))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[rng.random(300) < 0.95, 5] = np.nan  # few labels know it
    scale = rng.uniform(0.5, 2, 6)
    rows, columns = np.nonzero(~np.isnan(values))
    some = np.sort(rng.choice(len(rows), 200, replace=False))
    rows, columns = rows[some], columns[some]
    zeros = np.zeros(len(rows))
    hidden = HiddenPredictions(
        rows + 7, columns, *(zeros,) * 9, rng.integers(2, size=len(rows))
    )
    matrix = masked_matrix(values, None, "table")
    found = nearest_values(matrix, np.arange(300) + 7, scale, hidden)
    for i, (row, column) in enumerate(zip(rows, columns, strict=True)):
        own = values[row].copy()
        own[columns[(rows == row) & (hidden.trial == hidden.trial[i])]] = np.nan
        known = ~np.isnan(values) & ~np.isnan(own)
        away = np.where(known, (values - own) / scale, 0) ** 2
        with np.errstate(invalid="ignore"):
            away = away.sum(axis=1) / known.sum(axis=1)
        away[row] = np.nan
        away[np.isnan(values[:, column])] = np.nan
        nearest = np.argsort(away)[: min(NEIGHBOURS, np.count_nonzero(away >= 0))]
        usual = np.nanmean(values[:, column])
        wanted = values[nearest, column].mean() if len(nearest) else usual
        assert found[i] == pytest.approx(wanted)


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
