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
    assert end < min(pmi["gap"], lines["paper, own steps"]["gap"])
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


@pytest.fixture
def measured(benchmarks, tmp_path):
    """What a command of `fit.py` writes as JSON."""
    import fit

    def measured(words):
        file = tmp_path / "measured.json"
        fit.main([*words.split(), "--json", str(file)])
        return json.loads(file.read_text(encoding="utf-8"))

    return measured


@pytest.mark.parametrize("data", ["random", "tree", "table"])
def test_stages_of_a_fit_sum_to_its_time(measured, capsys, data):
    tiny = "--labels 60 --nonzeros 4 --dim 3 --device cpu"
    line = measured(f"stages --data {data} {tiny}")
    assert line["labels"] == 60
    assert line["stages"]["sweeps"] > 0
    assert sum(line["stages"].values()) == pytest.approx(line["seconds"])
    assert line["stages"].keys() == line["cpu_stages"].keys()
    printed = capsys.readouterr().out
    assert "| sweeps | " in printed
    assert "GB host" in printed


def test_choosing_is_compared_with_a_plain_fit(measured, capsys):
    (line,) = measured("choosing --sizes 60 --repeat 1")
    assert line["labels"] == 60
    assert 0 < line["plain"] < line["defaults"]
    assert "| 60 | " in capsys.readouterr().out


def test_transform_times_the_labels_that_arrive_later(measured, capsys):
    tiny = "--known 200 --new 20 --nonzeros 20 --dim 3 --sweeps 60 --device cpu"
    report = measured(f"transform {tiny}")
    assert (report["known"], report["new"], len(report["transform"])) == (200, 20, 3)
    assert "20 new labels beside 200" in capsys.readouterr().out


def test_growth_measures_every_size(measured, monkeypatch):
    import fit

    monkeypatch.setattr(fit, "BASE", {**fit.BASE, "labels": 50, "nonzeros": 5})
    measured("growth --vary dim --sizes 2 4 --sweeps 3")
    monkeypatch.setattr(fit, "VARIED", {"dim": [2, 4], "contexts": [1, 2]})
    lines = measured("growth --sweeps 3")["lines"]
    assert [line["contexts"] for line in lines["contexts"]] == [1, 2]
    assert all(line["fit_cpu_seconds"] > 0 for line in lines["dim"])


@pytest.fixture
def explorer_load(benchmarks):
    for module in ("fastapi", "jinja2", "rapidfuzz", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    import explorer_load

    return explorer_load


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_explorer_load_finds_every_neighbour_and_says_what_it_cost(
    explorer_load, tmp_path, capsys, hierarchy_model
):
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
    explorer_load, tmp_path, capsys, monkeypatch
):
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


def made_up_table(table_rivals):
    """Sixty labels in six groups, which decide a number and a category."""
    import numpy as np

    group = np.arange(60) % 6
    rng = np.random.default_rng(0)
    columns = [
        (10.0 * group + rng.normal(size=60)).tolist(),
        [("low", "high")[x % 2] for x in group],
        rng.normal(size=60).tolist(),
    ]
    return table_rivals.Table(
        "small",
        [f"label {i}" for i in range(60)],
        ["size", "kind", "noise"],
        ["number", "category", "number"],
        np.array(columns, dtype=object).T,
        np.array([[f"group {x}"] for x in group], dtype=object),
    )


def test_tables_judges_every_method_on_the_same_hidden_cells(
    benchmarks, tmp_path, capsys
):
    import pickle

    import table_rivals
    import tables

    given, out = tmp_path / "tables.pickle", tmp_path / "results.jsonl"
    given.write_bytes(pickle.dumps([vars(made_up_table(table_rivals))]))
    methods = ["phcle", "usual", "family", "extra trees"]
    words = ["--pickled", str(given), "--methods", ",".join(methods)]
    tables.main([*words, "--draws", "2", "--out", str(out)])
    lines = [json.loads(x) for x in out.read_text("utf-8").splitlines()]
    assert len(lines) == len(methods) * 2 * 2
    hidden = {}
    for line in lines:
        assert "failed" not in line
        counts = {name: own[:2] for name, own in line["columns"].items()}
        place = line["draw"], line["regime"]
        assert hidden.setdefault(place, counts) == counts
        kind = line["columns"]["kind"]
        size = line["columns"]["size"]
        if line["method"] == "usual":
            assert size[2] == pytest.approx(size[3])
        else:
            assert size[2] < 0.2 * size[3]
            assert kind[2] == kind[1]
    tables.main([*words, "--draws", "2", "--out", str(out)])
    assert len(out.read_text("utf-8").splitlines()) == len(lines)
    capsys.readouterr()
    tables.main(["--report", str(out)])
    printed = capsys.readouterr().out
    assert "| small | numbers | cells | 2 |" in printed
    assert "| small | categories | labels | 2 | **1.000 ± 0.000** |" in printed
    assert "| small | labels | phcle |" in printed


def test_tables_hide_whole_labels_and_leave_no_row_empty(benchmarks):
    import table_rivals
    import tables

    table = made_up_table(table_rivals)
    hidden = tables.draw(table, seed=1)
    whole = hidden["labels"].all(axis=1)
    assert 0 < whole.sum() < 20
    assert (hidden["labels"].any(axis=1) == whole).all()
    assert not hidden["cells"][whole].any()
    assert not hidden["cells"].all(axis=1).any()
    shown = table_rivals.without(table, hidden["cells"] | hidden["labels"])
    assert (shown.known == ~(hidden["cells"] | hidden["labels"])).all()


def test_a_method_that_fails_is_tried_again(benchmarks, tmp_path, monkeypatch, capsys):
    import pickle

    import table_rivals
    import tables

    given, out = tmp_path / "tables.pickle", tmp_path / "results.jsonl"
    given.write_bytes(pickle.dumps([vars(made_up_table(table_rivals))]))
    words = ["--pickled", str(given), "--methods", "family", "--out", str(out)]
    with monkeypatch.context() as broken:
        broken.setitem(tables.METHODS, "family", lambda table, seed: 1 / 0)
        tables.main(words)
    assert "ZeroDivisionError" in capsys.readouterr().out
    tables.main(words)
    assert all("failed" not in x for x in tables.read_lines([out]))


def test_rules_find_a_cell_that_breaks_a_dependency(benchmarks):
    import table_rivals
    import tables

    table = made_up_table(table_rivals)
    table.values[:, 2] = [x[0] for x in table.groups]
    table.kinds[2] = "category"
    table.values[7, 1] = "odd"
    for rule in ("family", "dependencies"):
        (line,) = tables.find_errors(table, {(7, 1)}, rule)
        assert line["found"] == line["wrong"] == 1
