"""The benchmarks run, judge every method alike, and write what they promise."""

import json
import math
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytest.importorskip("sklearn")


@pytest.fixture
def benchmarks(monkeypatch):
    """Make the scripts importable, with a smaller product and a single back end."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in (path.stem for path in BENCHMARKS.glob("*.py")):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import fit_speed

    whole = fit_speed.yardstick
    monkeypatch.setattr(fit_speed, "yardstick", lambda: whole(size=50))
    monkeypatch.setattr(fit_speed, "MM_CASES", fit_speed.MM_CASES[:1])
    return BENCHMARKS


def test_fit_speed_writes_finite_gaps_and_the_promised_keys(
    benchmarks, tmp_path, capsys
):
    import fit_speed

    file = tmp_path / "speed.json"
    tiny = "--dim 4 --paper-seconds 0.2 --repeats 1 --reference-tol 1e-2"
    fit_speed.main([*tiny.split(), "--only", "mm,paper,pmi", "--json", str(file)])
    report = json.loads(file.read_text(encoding="utf-8"))

    keys = {"machine", "problem", "reference", "target", "floor", "results"}
    assert report.keys() == keys
    assert {"cpu", "cores", "blas_threads", "versions"} <= report["machine"].keys()
    results = {result["method"]: result for result in report["results"]}
    assert all(math.isfinite(r["gap"]) and r["gflops"] > 0 for r in results.values())
    assert results["mm, NumPy float32"]["reached"]
    constant = results["one constant, for scale"]["gap"]
    assert report["target"] < results["PMI + SVD, scikit-learn"]["gap"] < constant
    assert "PMI + SVD" in capsys.readouterr().out


def test_a_peer_that_fails_is_a_line_of_the_table(benchmarks, monkeypatch):
    import fit_speed
    import peers

    def missing():
        raise ImportError("no module named 'nowhere'")

    def broken():
        return lambda data, dim: 1 / 0

    monkeypatch.setitem(fit_speed.PEERS, "missing", peers.Peer("Missing", missing))
    monkeypatch.setitem(fit_speed.PEERS, "broken", peers.Peer("Broken", broken))
    bench = fit_speed.Bench(2, reference_tol=0.1)
    assert "not installed" in fit_speed.time_peer(bench, "missing").note
    assert "ZeroDivisionError" in fit_speed.time_peer(bench, "broken").note


def test_the_map_undoes_what_a_peer_did_to_the_scale(benchmarks):
    import fit_speed
    import numpy as np

    bench = fit_speed.Bench(2, reference_tol=0.1)
    start = bench.start("spectral")
    W, C = start.W, start.of_contexts[0]
    plain, *_ = fit_speed.judge_mapped(bench, W, C)
    scaled, *_ = fit_speed.judge_mapped(bench, 30 * W, C / 2)
    assert np.isclose(plain["gap"], scaled["gap"], rtol=1e-3)
    assert plain["gap"] <= bench.judge(W, C)["gap"]


def test_memory_reports_time_gap_and_peak(benchmarks, capsys):
    import memory

    memory.main(["--labels", "50", "--dim", "4"])
    printed = capsys.readouterr().out
    assert "50 labels" in printed
    assert "peak resident memory" in printed


def test_completion_reports_time_and_peak_of_every_way(benchmarks, capfd):
    import complete_cells

    complete_cells.main(["--labels", "100", "--dim", "4"])
    printed = capfd.readouterr().out
    for title in ("fit", "load", *complete_cells.WAYS):
        assert f"{title}: " in printed
    assert "cells" in printed


def test_retrieval_reports_ratio_and_recall(benchmarks, tmp_path, capsys):
    pytest.importorskip("faiss", reason="the extra 'index' is not installed")
    import retrieval

    file = tmp_path / "retrieval.json"
    tiny = "--labels 300 --dim 8 --queries 60"
    retrieval.main([*tiny.split(), "--json", str(file)])
    (row,) = json.loads(file.read_text(encoding="utf-8")).values()
    assert row["labels"] == 300
    assert 0.5 < row["recall"] <= 1
    assert row["ratio"] > 0
    assert "recall@10" in capsys.readouterr().out


def test_transform_times_the_labels_that_arrive_later(benchmarks, tmp_path, capsys):
    import transform

    file = tmp_path / "transform.json"
    tiny = "--known 200 --new 20 --nonzeros 20 --dim 3 --sweeps 60 --device cpu"
    transform.main([*tiny.split(), "--json", str(file)])
    report = json.loads(file.read_text(encoding="utf-8"))
    assert (report["known"], report["new"], len(report["transform"])) == (200, 20, 3)
    assert "20 new labels beside 200" in capsys.readouterr().out


def test_growth_measures_every_size_in_a_process_of_its_own(
    benchmarks, tmp_path, monkeypatch
):
    import growth

    monkeypatch.setattr(growth, "run_apart", lambda function, *given: function(*given))
    monkeypatch.setattr(growth, "BASE", {**growth.BASE, "labels": 50, "nonzeros": 5})
    file, picture = tmp_path / "growth.json", tmp_path / "growth.png"
    growth.main(["--vary", "dim", "--sizes", "2", "4", "--sweeps", "3"])
    monkeypatch.setattr(growth, "VARIED", {"dim": [2, 4], "contexts": [1, 2]})
    growth.main(["--sweeps", "3", "--json", str(file), "--plot", str(picture)])
    lines = json.loads(file.read_text(encoding="utf-8"))["lines"]
    assert [line["contexts"] for line in lines["contexts"]] == [1, 2]
    assert all(line["fit_cpu_seconds"] > 0 for line in lines["dim"])
    assert picture.stat().st_size > 1000


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


def test_explorer_load_of_all_pages_writes_json_and_a_table(
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
        assert own["product_ms"] > 0
    assert found["peak_mib_first_map"] <= found["peak_mib"]
    printed = capsys.readouterr().out
    assert "| p50, p99 with 8 clients | " in printed
    assert "300 labels" in printed
