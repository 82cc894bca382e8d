"""The benchmarks run, judge every method alike, and write what they promise."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytest.importorskip("sklearn")


@pytest.fixture
def benchmarks(monkeypatch):
    """Make the scripts importable, with a smaller product and no other processes."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in (path.stem for path in BENCHMARKS.glob("*.py")):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import measuring

    whole = measuring.yardstick
    monkeypatch.setattr(measuring, "yardstick", lambda: whole(size=50))
    monkeypatch.setattr(
        measuring, "run_apart", lambda function, *given: function(*given)
    )
    return BENCHMARKS


def test_speed_writes_when_mm_came_to_the_gap_of_every_method(
    benchmarks, tmp_path, capsys
):
    import speed

    file = tmp_path / "speed.json"
    tiny = f"--dim 4 --limit 0.5 --peers pmi,paper,fit --json {file}"
    speed.main(tiny.split())
    (report,) = json.loads(file.read_text(encoding="utf-8"))
    assert (report["labels"], report["dim"]) == (1000, 4)
    end = report["mm"]["timeline"][-1]["gap"]
    lines = {line["method"]: line for line in report["peers"]}
    pmi = lines["PMI + SVD, scikit-learn"]
    assert end < min(pmi["gap"], lines["paper, safe step"]["gap"])
    assert pmi["times_faster"] == pytest.approx(pmi["seconds"] / pmi["mm_seconds"])
    assert lines["PHCLE().fit, to its own end"]["gap"] < 1.05 * end
    printed = capsys.readouterr().out
    assert "mm is within 5 % of its end" in printed
    assert "PMI + SVD" in printed


def test_a_peer_that_fails_is_a_line_of_the_table(benchmarks, monkeypatch):
    import peers
    import speed

    def missing():
        raise ImportError("no module named 'nowhere'")

    def broken():
        return lambda data, dim: 1 / 0

    monkeypatch.setitem(speed.PEERS, "missing", peers.Peer("Missing", missing))
    monkeypatch.setitem(speed.PEERS, "broken", peers.Peer("Broken", broken))
    assert "not installed" in speed.run_peer(None, 2, "missing")["failed"]
    assert "ZeroDivisionError" in speed.run_peer(None, 2, "broken")["failed"]


def test_the_map_undoes_what_a_peer_did_to_the_scale(benchmarks):
    import numpy as np
    import speed

    problem = speed.hypernym_problem(None, 2)
    weights = speed.equal_weights(problem)
    rng = np.random.default_rng(0)
    start = speed.start_factors(problem, weights, "spectral", rng)
    W, C = start.W, start.of_contexts[0]
    plain = speed.gap_of_peer(problem, W, C)
    scaled = speed.gap_of_peer(problem, 30 * W, C / 2)
    assert np.isclose(plain, scaled, rtol=1e-3)
    assert plain <= speed.objective_terms(problem, W, [C], weights)["gap"]


@pytest.mark.parametrize("data", ["random", "tree", "table"])
def test_stages_of_a_fit_sum_to_its_time(benchmarks, tmp_path, capsys, data):
    import fit

    file = tmp_path / "stages.json"
    tiny = f"stages --data {data} --labels 60 --nonzeros 4 --dim 3 --device cpu"
    fit.main([*tiny.split(), "--json", str(file)])
    line = json.loads(file.read_text(encoding="utf-8"))
    assert line["labels"] == 60
    assert line["stages"]["sweeps"] > 0
    assert sum(line["stages"].values()) == pytest.approx(line["seconds"])
    assert line["stages"].keys() == line["cpu_stages"].keys()
    printed = capsys.readouterr().out
    assert "| sweeps | " in printed
    assert "GB host" in printed


def test_choosing_is_compared_with_a_plain_fit(benchmarks, tmp_path, capsys):
    import fit

    file = tmp_path / "choosing.json"
    fit.main(["choosing", "--sizes", "60", "--repeat", "1", "--json", str(file)])
    (line,) = json.loads(file.read_text(encoding="utf-8"))
    assert line["labels"] == 60
    assert 0 < line["plain"] < line["defaults"]
    assert "| 60 | " in capsys.readouterr().out


def test_completion_reports_time_and_peak_of_every_way(benchmarks, capfd):
    import complete_cells

    complete_cells.main(["--labels", "100", "--dim", "4"])
    printed = capfd.readouterr().out
    for title in ("fit", "load", *complete_cells.WAYS):
        assert f"{title}: " in printed
    assert "cells" in printed


def test_transform_times_the_labels_that_arrive_later(benchmarks, tmp_path, capsys):
    import fit

    file = tmp_path / "transform.json"
    tiny = "--known 200 --new 20 --nonzeros 20 --dim 3 --sweeps 60 --device cpu"
    fit.main(["transform", *tiny.split(), "--json", str(file)])
    report = json.loads(file.read_text(encoding="utf-8"))
    assert (report["known"], report["new"], len(report["transform"])) == (200, 20, 3)
    assert "20 new labels beside 200" in capsys.readouterr().out


def test_growth_measures_every_size(benchmarks, tmp_path, monkeypatch):
    import fit

    monkeypatch.setattr(fit, "BASE", {**fit.BASE, "labels": 50, "nonzeros": 5})
    file = tmp_path / "growth.json"
    fit.main(["growth", "--vary", "dim", "--sizes", "2", "4", "--sweeps", "3"])
    monkeypatch.setattr(fit, "VARIED", {"dim": [2, 4], "contexts": [1, 2]})
    fit.main(["growth", "--sweeps", "3", "--json", str(file)])
    lines = json.loads(file.read_text(encoding="utf-8"))["lines"]
    assert [line["contexts"] for line in lines["contexts"]] == [1, 2]
    assert all(line["fit_cpu_seconds"] > 0 for line in lines["dim"])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_explorer_load_finds_every_neighbour_and_says_what_it_cost(
    benchmarks, tmp_path, capsys, hierarchy_model
):
    for module in ("fastapi", "jinja2", "rapidfuzz", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    import explorer_load

    file = tmp_path / "labels.phcle"
    embedding = hierarchy_model.embedding_
    embedding.select(embedding.labels[:40]).save(file)
    explorer_load.main([str(file), "--requests", "200", "--connections", "3"])
    found = json.loads(capsys.readouterr().out)
    assert found["recall"] == 1
    assert found["requests"] == 200
    assert 0 < found["p50_ms"] <= found["p99_ms"] <= found["most_ms"]
    assert len(found["memory_mib"]) == 11


def test_explorer_load_of_all_pages_writes_json(
    benchmarks, tmp_path, capsys, monkeypatch
):
    for module in ("fastapi", "jinja2", "rapidfuzz", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    import explorer_load
    import many_labels

    monkeypatch.setattr(many_labels, "N_FITTED", 300)
    file = tmp_path / "load.json"
    given = f"--sizes 300 --requests 30 --sketch --work {tmp_path} --json {file}"
    explorer_load.main(given.split())
    (found,) = json.loads(file.read_text("utf-8"))["measured"]
    for clients in (1, 8, 32):
        own = found[f"{clients} clients"]
        assert own["requests"] == 30
        assert 0 < own["p50_ms"] <= own["p99_ms"]
        assert own["gflops"] > 0
    assert found["peak_mib_first_map"] <= found["peak_mib"]
    assert json.loads(capsys.readouterr().out) == found
