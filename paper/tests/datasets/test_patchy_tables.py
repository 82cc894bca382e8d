"""Loaders of tables with gaps, on small files in the layout of the real ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phcle.errors import FileError
from phcle_paper.datasets.grambank import load_grambank
from phcle_paper.datasets.near_places import great_circle_km, nearest_places
from phcle_paper.datasets.pantheria import load_pantheria
from phcle_paper.datasets.sigtyp import load_sigtyp, read_gold
from phcle_paper.studies.cell_rivals import overall_mean
from phcle_paper.studies.cell_tasks import cell_task
from phcle_paper.studies.registry import Request, run_study

HEAD = "wals_code  name  latitude  longitude genus family  countrycodes  features"
DOUBLE = "Verb-Initial=1 Separate word, no double negation"


def write_sigtyp(folder):
    """Languages of two genera, with every quirk of the real files."""
    folder.mkdir(parents=True)
    files = {
        "train": {
            **{f"a{i}": f"Tone=1 None|Order={1 + i % 2} x (= y)" for i in range(6)},
            "q1": f"{DOUBLE}\tWord&NoDoubleNeg|Tone=2 Simple",
            "q2": f"{DOUBLE}\tPosition_of_negative=3 Third|Tone=2 Simple",
        },
        "dev": dict.fromkeys(
            ("d0", "d1", "d2"), "Tone=1 None|Order=1 x|Verb-Initial=1 Separate word"
        ),
        "test_blinded": {"t1": "Tone=?|Order=1 x", "t2": "tone=?|order=?"},
        "test_gold": {"t1": "Tone=1 None|Order=1 x", "t2": "tone=9 New|order=1 x"},
    }
    for name, languages in files.items():
        lines = [
            f"{code}\tName of {code}\t{i}\t32.5\tNilotic\tNilotic\tUS\t{features}"
            for i, (code, features) in enumerate(languages.items())
        ]
        text = "\n".join([HEAD, *lines]) + "\n"
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")


def test_pantheria_names_every_level_and_takes_logs_of_positive_traits(tmp_path):
    (tmp_path / "traits.csv").write_text(
        "species,mass,eyes\nCanis lupus,100,0\nBos,,3\n"
    )
    (tmp_path / "taxonomy.csv").write_text(
        "species,Genus,Family,Order\nCanis lupus,Canis,Canidae,Carnivora\n"
        "Bos,Bos,Bovidae,Artiodactyla\n"
    )
    table = load_pantheria(tmp_path)
    assert [field.is_log for field in table.fields] == [True, False]
    assert table.values[0].tolist() == [np.log(100), 0]
    assert ("Bos", "genus Bos") in table.edges
    assert ("family Canidae", "order Carnivora") in table.edges
    assert table.attributes(table.values).values[0] == pytest.approx([100, 0])


def test_a_cell_that_is_no_number_is_named(tmp_path):
    (tmp_path / "traits.csv").write_text("species,mass\nCanis lupus,heavy\n")
    with pytest.raises(FileError, match=r"line 2: 'mass' must be a number.*'heavy'"):
        load_pantheria(tmp_path)
    (tmp_path / "traits.csv").write_text("kind,mass\nCanis lupus,1\n")
    with pytest.raises(FileError, match="needs the column 'species'"):
        load_pantheria(tmp_path)


def test_grambank_hangs_languages_below_their_lineage(tmp_path):
    (tmp_path / "features.csv").write_text("language_id,ARTICLE\na,1\nb,\nc,0\n")
    places = "language_id,language_name,latitude,longitude,lineage\n"
    text = places + 'a,A,0,0,"Top, Mid, Low"\nb,B,1,1,"Top, Mid"\nc,C,2,2,\n'
    (tmp_path / "languages.csv").write_text(text)
    table = load_grambank(tmp_path)
    assert table.edges == (("a", "Low"), ("Low", "Mid"), ("Mid", "Top"), ("b", "Mid"))
    assert table.known[:, 0].tolist() == [True, False, True]
    assert table.hierarchy.labels == ("a", "b")
    (tmp_path / "languages.csv").write_text(text.replace("c,C", "d,D"))
    with pytest.raises(FileError, match="have the languages of"):
        load_grambank(tmp_path)


def test_nearest_places_follow_the_great_circle():
    places = np.array([[0.0, 179.5], [0.0, -179.5], [0.0, 0.0], [90.0, 7.0]])
    distance = great_circle_km(places)
    assert distance[0, 1] == pytest.approx(111.2, abs=0.1)
    assert distance[2, 3] == pytest.approx(10007.5, abs=0.1)
    context = nearest_places("abcd", places)
    assert dict(
        zip(context.labels, context.rows_for(("a",)).toarray()[0], strict=True)
    )["b"] == pytest.approx(2 * np.exp(-distance[0, 1] / 500), rel=1e-3)


def test_sigtyp_reads_its_quirks(tmp_path):
    write_sigtyp(tmp_path / "s")
    found = load_sigtyp(tmp_path / "s")
    table = found.table
    titles = [field.title for field in table.fields]
    assert titles == ["order", "position_of_negative", "tone", "verb-initial"]
    assert table.fields[0].values == ("1 x (= y)", "2 x (= y)")
    assert table.fields[3].values == ("1 Separate word, no double negation",)
    assert found.is_dev.sum() == 3
    assert found.asked.sum() == 3
    assert ("genus Nilotic", "family Nilotic") in table.edges
    gold = read_gold(tmp_path / "s", table)
    own = table.slices[2]
    assert gold[table.labels.index("t1"), own].tolist() == [1, 0]
    assert gold[table.labels.index("t2"), own].tolist() == [0, 0]  # no one else has it


def test_a_value_that_nobody_else_has_is_always_missed(tmp_path, rng):
    write_sigtyp(tmp_path / "sigtyp2020")
    task = cell_task("sigtyp-test", tmp_path)
    scores = task.scores(overall_mean(task, rng))
    assert scores["accuracy"] == pytest.approx(2 / 3)
    assert scores["mean over labels"] == pytest.approx((1 + 1 / 2) / 2)


def test_every_scoring_of_the_test_languages_is_recorded(tmp_path):
    write_sigtyp(tmp_path / "sigtyp2020")
    out = tmp_path / "out"
    request = Request(tmp_path, out, methods=["mean", "family"])
    table = run_study("sigtyp", request)
    assert not list(out.glob("*scorings*"))
    assert table["rows"][0]["accuracy_error"] is not None
    test = Request(tmp_path, out, methods=["mean", "family"], split="test")
    for _ in range(2):  # the second time from the saved results
        table = run_study("sigtyp", test)
        assert "the test was scored 2 times, 0 of them by PHCLE" in table["caveats"][-1]
    lines = (out / "sigtyp-test.scorings.jsonl").read_text().splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["mean", "family"]
    assert (out / "sigtyp-test.md").is_file()
    assert (out / "sigtyp.md").is_file()
