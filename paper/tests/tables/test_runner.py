from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pytest

from phcle_paper.tables import runner
from phcle_paper.tables.runner import reproduce
from phcle_paper.tables.settings import load_shipped, parse

pytestmark = pytest.mark.filterwarnings("ignore::phcle.errors.ConvergenceWarning")


@pytest.fixture
def small(small_table):
    return parse(tomllib.loads(small_table), "small.toml")


@pytest.fixture
def counted(monkeypatch):
    """How many cells were computed."""
    cells = []
    real = runner._evaluate

    def evaluate(*arguments):
        cells.append(arguments[-1])
        return real(*arguments)

    monkeypatch.setattr(runner, "_evaluate", evaluate)
    return cells


def test_a_table_has_the_papers_number_beside_ours(small, small_data, tmp_path):
    table = reproduce(small, small_data, tmp_path, command="phcle-paper table2")
    page = (tmp_path / "table2-apy.md").read_text()
    assert "| ALE | 52.60 / " in page
    assert "Random class splits, 2 of them" in page
    assert "- made up" in page
    assert "WLE is left out" in page
    assert "`phcle-paper table2`" in page
    assert json.loads((tmp_path / "table2-apy.json").read_text()) == table
    header = (tmp_path / "table2-apy.csv").read_text().splitlines()
    assert any(line.startswith("embedding,classifier,paper,ours") for line in header)
    assert {x["embedding"] for x in table["rows"]} == {"ALE", "PHCLE"}
    assert [x["rival"] for x in table["verdicts"]] == ["ALE"] * 4


def test_an_interrupted_run_goes_on_where_it_stopped(
    small, small_data, tmp_path, counted
):
    whole = reproduce(small, small_data, tmp_path)
    assert len(counted) == 12
    path = tmp_path / "table2-apy.cells.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], lines[4][:30]]))  # cut in a line
    counted.clear()
    assert reproduce(small, small_data, tmp_path) == whole
    assert len(counted) == 9


def test_more_splits_keep_the_first_and_other_settings_start_anew(
    small, small_data, tmp_path, counted
):
    reproduce(small, small_data, tmp_path)
    counted.clear()
    more = replace(small, splits=replace(small.splits, random=3))
    assert reproduce(more, small_data, tmp_path)["n_splits"] == 3
    assert len(counted) == 4
    counted.clear()
    said = []
    other = replace(small, splits=replace(small.splits, n_validation=2))
    reproduce(other, small_data, tmp_path, tell=said.append)
    assert "have changed: earlier results are dropped" in said[0]
    assert len(counted) == 12


def test_several_processes_find_the_same(small, small_data, tmp_path):
    one = reproduce(small, small_data, tmp_path / "one")
    two = reproduce(small, small_data, tmp_path / "two", jobs=2)
    assert one["rows"] == two["rows"]


def test_a_generalised_table_has_seen_unseen_and_their_mean(
    small, small_data, tmp_path
):
    table = reproduce(replace(small, generalised=True), small_data, tmp_path)
    page = (tmp_path / "table2-apy-generalised.md").read_text()
    assert "Generalised: seen / unseen / harmonic mean" in page
    for row in table["rows"]:
        assert 0 <= row["harmonic"] <= 100
        low, high = sorted((row["seen"], row["unseen"]))
        assert low - 1e-9 <= row["harmonic"] <= high + 1e-9 or low == 0


def test_verdicts_follow_the_accuracies(small):
    rows = [
        {
            "embedding": name,
            "classifier": classifier,
            "task": task,
            "split": split,
            "accuracy": accuracy + split / 100,
            "variant": "",
            "n_seen": 4,
            "n_unseen": 2,
        }
        for name, accuracy in (("ALE", 0.5), ("PHCLE", 0.4))
        for classifier in ("eszsl", "sje")
        for task, split in (("paper", 0), ("random", 0), ("random", 1))
    ]
    plans = tuple(plan for plan in small.embeddings if plan.name != "WLE")
    table = runner.accuracy_table(replace(small, embeddings=plans), rows)
    assert {x["outcome"] for x in table["verdicts"]} == {"lost"}
    assert [x["clear"] for x in table["verdicts"]] == [False, False, True, True]
    assert table["verdicts"][0]["ahead"] == pytest.approx(-10)
    one = [row for row in rows if row["task"] == "paper"]
    table = runner.accuracy_table(replace(small, embeddings=plans), one)
    assert {x["by"] for x in table["verdicts"]} == {"standard split"}
    assert table["rows"][0]["mean"] is None


def test_table1_counts_and_remarks(small_data, tmp_path):
    reproduce(load_shipped("table1", "apy"), small_data, tmp_path)
    page = (tmp_path / "table1-apy.md").read_text()
    assert "| classes | 22 | 22 |  |" in page
    assert "| attributes | 32 | 64 | differs |" in page


def test_table1_of_the_real_data_equals_the_paper(shared_data, tmp_path):
    table = reproduce(load_shipped("table1", "awa"), shared_data, tmp_path)
    differ = [x["statistic"] for x in table["rows"] if x["paper"] != x["ours"]]
    assert differ == ["features"]
