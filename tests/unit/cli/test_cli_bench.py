"""`phcle bench`: what a fit costs here."""

from __future__ import annotations

import json
import sys

from other_systems import PRETENDED


def test_bench_tells_time_memory_and_progress_of_every_size(phcle):
    shown = phcle("bench", "--count", 40, "--count", 80, "--dim", 4, "--json").stdout
    lines = json.loads(shown)
    assert [line["labels"] for line in lines] == [40, 80]
    for line in lines:
        assert 0 < line["seconds_near"] <= line["seconds"]
        assert 1 <= line["sweeps_near"] <= line["sweeps"] == len(line["timeline"])
        assert line["timeline"][-1][1] >= line["gap"] * 0.999
        if PRETENDED == "windows" or sys.platform == "win32":
            assert line["peak_mb"] is None
        else:
            assert line["peak_mb"] > 10
        assert line["gflops"] > 0


def test_bench_shows_a_table(phcle):
    shown = phcle("bench", "--count", 30, "--dim", 3).output
    assert "GFLOP/s" in shown
    assert "30" in shown


def test_bench_leaves_memory_out_where_nothing_counts_it(phcle, monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)  # as if it were missing
    [line] = json.loads(phcle("bench", "--count", 30, "--dim", 3, "--json").stdout)
    assert line["peak_mb"] is None


def test_bench_refuses_too_few_labels_and_unknown_modes(phcle):
    assert "2 or more" in phcle("bench", "--count", 1, code=2).output
    assert "'mode' option" in phcle("bench", "--mode", "quick", code=2).output
