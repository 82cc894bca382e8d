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


def test_speed_writes_when_phcle_came_to_the_gap_of_every_method(
    benchmarks, tmp_path, capsys
):
    import speed

    file = tmp_path / "speed.json"
    speed.main(f"--dim 4 --peers pmi --json {file}".split())
    (fit, pmi) = json.loads(file.read_text(encoding="utf-8"))
    assert fit["labels"] == 1000
    assert fit["gap"] < pmi["gap"]
    reached = [
        gap for seconds, gap in fit["timeline"] if seconds < pmi["phcle_seconds"]
    ]
    assert all(gap > pmi["gap"] for gap in reached)
    printed = capsys.readouterr().out
    assert "PHCLE().fit" in printed
    assert "PMI + SVD" in printed


def test_stages_completion_and_refit_are_measured(benchmarks, tmp_path, capsys):
    import fit

    file = tmp_path / "measured.json"
    tiny = "--labels 60 --nonzeros 4 --dim 3 --device cpu"
    fit.main(f"stages --data table {tiny} --json {file}".split())
    line = json.loads(file.read_text(encoding="utf-8"))
    *own, whole = (x["seconds"] for x in line["stages"].values())
    assert line["stages"]["sweeps"]["seconds"] > 0
    assert sum(own) <= whole
    fit.main(["completion", "--labels", "60", "--completion", "fast"])
    fit.main(["refit", "120"])
    printed = capsys.readouterr().out
    assert "| sweeps | " in printed
    assert "60 labels, fast: fit " in printed
    for change in ("5 % new rows", "1 new column", "1 % corrected"):
        assert f"| 120 | {change} | " in printed


def test_search_and_sampled_sweeps_are_measured(benchmarks, tmp_path, capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    import large
    import search

    search.main(["--sizes", "50", "--dim", "4"])
    out = tmp_path / "sampled.jsonl"
    words = f"sampled --labels 200 --dims 4 --seeds 0 --problems tree --out {out}"
    large.main(words.split())
    large.main(words.split())
    (line,) = map(json.loads, out.read_text("utf-8").splitlines())
    assert 0.99 < line["ratio"] < large.MOST
    printed = capsys.readouterr().out
    assert "| 50 | " in printed
    assert "| tree | 200 | 4 | 1 | " in printed


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_explorer_is_measured_with_many_clients(benchmarks, tmp_path, capsys):
    for module in ("fastapi", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    import explorer

    explorer.main(f"--sizes 200 --requests 12 --work {tmp_path}".split())
    found = json.loads(capsys.readouterr().out)
    for clients in explorer.CLIENTS:
        own = found[f"{clients} clients"]
        assert (own["requests"], len(own["by_kind"])) == (12, 6)
        assert 0 < own["p50_p99_ms"][0] <= own["p50_p99_ms"][1]


SIGTYP_LINE = "{0}\t{0}\t{1}\t{1}\tgenus\tfamily\tXX\torder={3}|tone=2 Simple|{2}\n"


def test_every_scoring_of_the_sigtyp_test_is_listed(benchmarks, tmp_path, capsys):
    import table_data

    head = "code\tname\tlatitude\tlongitude\tgenus\tfamily\tcountries\tfeatures\n"
    for name, letter, asked in (
        ("train.csv", "a", "stress=1 Initial"),
        ("dev.csv", "b", "stress=1 Initial"),
        ("test_blinded.csv", "c", "stress=?"),
        ("test_gold.csv", "c", "stress=1 Initial"),
    ):
        lines = [
            SIGTYP_LINE.format(f"{letter}{i}", i, asked, ("1 SOV", "2 SVO")[i % 2])
            for i in range(12)
        ]
        (tmp_path / name).write_text(head + "".join(lines))
    log = tmp_path / "scorings.jsonl"
    for n in (1, 2):
        table_data.main(["sigtyp", str(tmp_path), "--log", str(log)])
        entries = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        assert len(entries) == n
    assert entries[0]["scores"] == {"accuracy": 1.0, "mean over labels": 1.0}
    assert "2 scorings of the test" in capsys.readouterr().out


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
