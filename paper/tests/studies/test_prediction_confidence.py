"""Said and true shares of hidden cells, on planted tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phcle_paper.datasets.patchy_table import (
    CATEGORY,
    NUMBER,
    TRUTH,
    Field,
    PatchyTable,
)
from phcle_paper.studies import cell_tasks, confidence_trials, prediction_confidence
from phcle_paper.studies.cell_tasks import CellTask, draw_cells
from phcle_paper.studies.confidence_trials import (
    CELLS,
    LABELS,
    HiddenCells,
    coverage,
    hidden_task,
    reliability,
)
from phcle_paper.studies.registry import Request, run_study

N = 90
NAMES = tuple(f"label {i}" for i in range(N))
GROUPS = np.arange(N) % 6
EDGES = tuple((x, f"group {i}") for x, i in zip(NAMES, GROUPS, strict=True))
EDGES += tuple((f"group {i}", "all") for i in range(6))
CONFIG = """
datasets = ["planted"]
share = 0.2
seed = 0
[n_splits]
planted = 2
"""


def planted(data, seed):
    """Numbers, truth values and categories that mostly follow the groups."""
    rng = np.random.default_rng(7)
    numbers = GROUPS[:, None] + rng.standard_normal((N, 6))
    truths = (GROUPS[:, None] % 2 == 0) ^ (rng.random((N, 6)) < 0.2)
    codes = np.where(rng.random((N, 6)) < 0.2, rng.integers(3, size=(N, 6)), 0)
    codes = (codes + GROUPS[:, None]) % 3
    fields = [Field(f"number {i}", NUMBER) for i in range(6)]
    fields += [Field(f"truth {i}", TRUTH) for i in range(6)]
    fields += [Field(f"category {i}", CATEGORY, ("x", "y", "z")) for i in range(6)]
    categories = [np.eye(3)[own] for own in codes.T]
    values = np.hstack([numbers, truths, *categories])
    # The last label is in no group.
    table = PatchyTable("traits", NAMES, tuple(fields), values, EDGES[:-7] + EDGES[-6:])
    hidden = draw_cells(table.known, 0.15, np.random.default_rng(seed))
    return CellTask(table, hidden, values)


@pytest.fixture(autouse=True)
def _task(monkeypatch):
    monkeypatch.setitem(cell_tasks.TASKS, "planted", planted)
    monkeypatch.setattr(prediction_confidence, "NEEDS", ())


def trial(said, is_true, labels, inside=np.nan):
    cells = HiddenCells(
        np.asarray(labels),
        np.asarray(said, float),
        np.asarray(is_true, bool),
        np.broadcast_to(np.asarray(inside, float), np.shape(said)),
        np.full(np.shape(said), 0.5),
    )
    return confidence_trials._sums(cells)


def test_what_is_said_and_what_is_true_are_compared_in_bins():
    said = np.repeat([0.25, 0.85], 100)
    is_true = np.r_[np.arange(100) < 25, np.arange(100) < 45]
    low, high = reliability([trial(said, is_true, np.arange(200))])
    assert low["gap"] == pytest.approx(0)
    assert low["error"] == pytest.approx(np.sqrt(0.25 * 0.75 / 99))
    assert high["gap"] == pytest.approx(-0.4)
    assert abs(high["gap"]) > high["allowed"] > 0.03
    assert high["n_cells"] == high["n_labels"] == 100


def test_errors_are_clustered_by_label_over_all_draws():
    said, is_true = np.full(100, 0.55), np.arange(100) < 55
    (apart,) = reliability([trial(said, is_true, np.arange(100))])
    (together,) = reliability([trial(said, is_true, np.arange(100) // 10)])
    assert together["error"] > 2 * apart["error"]
    # The same labels again say little more; other labels would.
    once = trial(said, is_true, np.arange(100))
    (twice,) = reliability([once, once])
    assert twice["error"] == pytest.approx(apart["error"])
    assert twice["n_cells"] == 2 * apart["n_cells"]


def test_coverage_is_the_share_of_numbers_inside_their_intervals():
    inside = np.arange(100) < 80
    found = coverage([trial(np.full(100, 0.5), inside, np.arange(100), inside)])
    assert found["coverage"] == pytest.approx(0.8)
    assert found["coverage_error"] == pytest.approx(np.sqrt(0.16 / 99))
    assert found["width"] == pytest.approx(0.5)
    assert coverage([trial([0.5], [True], [0])]) == {}


def test_whole_labels_lose_all_their_cells_unless_nothing_else_is_known():
    task = hidden_task("planted", LABELS, Path(), 0, 1.0)
    loses = planted(Path(), 0).hidden.any(axis=1)
    assert loses[-1]
    assert (task.hidden.all(axis=1) == loses)[:-1].all()
    assert not task.hidden[-1].any()
    few = hidden_task("planted", LABELS, Path(), 0, 0.2)
    assert few.hidden.all(axis=1).sum() in (17, 18)
    cells = hidden_task("planted", CELLS, Path(), 0, 0.2)
    assert (cells.hidden == planted(Path(), 0).hidden).all()


def test_the_study_judges_every_type_and_keeps_its_results(tmp_path, monkeypatch):
    config = tmp_path / "confidence.toml"
    config.write_text(CONFIG)
    said = []
    request = Request(tmp_path, tmp_path / "out", tell=said.append)
    table = run_study("confidence", request, config=config)
    rows = {(row["type"], row["hidden"]): row for row in table["rows"]}
    assert len(rows) == 6
    assert len(said) == 4
    for (kind, _), row in rows.items():
        assert ("coverage" in row) == (kind == "numbers")
        assert row["ece"] < 0.15
    numbers = rows["numbers", "single cells"]
    assert 0.65 < numbers["coverage"] < 0.95
    assert 0 < numbers["width"] < 1  # narrower than without any prediction
    monkeypatch.setattr(prediction_confidence, "run_trial", None)
    again = run_study("confidence", request, config=config)
    assert again["rows"] == table["rows"]
