"""`phcle info`, `nearest`, `describe` and `explain`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from phcle import LabelEmbedding


def test_nearest_json_has_label_name_and_neighbours(phcle, fitted):
    answer = json.loads(phcle("nearest", fitted, "cat", "-k", 2, "--json").stdout)
    assert set(answer) == {"label", "name", "neighbours"}
    assert (answer["label"], answer["name"]) == ("cat", "cat")
    assert len(answer["neighbours"]) == 2
    for near in answer["neighbours"]:
        assert set(near) == {"label", "name", "similarity", "percentile"}


def test_nearest_table_shows_names_and_ids(phcle, fitted):
    assert "King of Beasts (lion)" in phcle("nearest", fitted, "tiger").stdout


def test_unknown_label_exits_with_2_and_suggests_a_spelling(phcle, fitted):
    result = phcle("nearest", fitted, "zebar", code=2)
    assert result.stdout == ""
    assert result.stderr == (
        "phcle: no label 'zebar' in this embedding. Did you mean 'zebra'?\n"
    )


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(phcle, fitted, k):
    result = phcle("nearest", fitted, "cat", "-k", k, code=2)
    assert (
        result.stderr == f"phcle: k must be a whole number above 0. Got {k} instead.\n"
    )


def test_describe_lists_observed_and_predicted_attributes(phcle, fitted):
    answer = json.loads(phcle("describe", fitted, "wolf", "--json").stdout)
    assert answer["name"] == "wolf"
    assert answer["contexts"] == {
        "tree": True,
        "eats": True,
        "looks": False,
        "uses": True,
    }
    assert {x["context"] for x in answer["predicted"]} <= {"looks"}
    assert sum(x["share"] for x in answer["related"]) == pytest.approx(1)
    assert "known in tree, eats, uses" in phcle("describe", fitted, "wolf").stdout


def test_label_with_brackets_is_shown_as_it_is(phcle, zoo):
    (zoo / "odd.csv").write_text("child,parent\n[red]a[/red],x\n:cat:,x\nb,x\n")
    phcle("fit", "--hierarchy", "odd.csv", "--dim", 2, "--out", "odd.phcle", "--quiet")
    shown = phcle("nearest", "odd.phcle", "b").stdout
    assert "[red]a[/red]" in shown
    assert ":cat:" in shown


def test_a_label_cannot_command_the_terminal(phcle, zoo):
    evil = "\x1b]0;owned\x07\x1b[2J"
    LabelEmbedding((evil, "b", "c"), np.eye(3), names={"c": evil}).save("evil.phcle")
    for command in (("nearest", "evil.phcle", "b"), ("describe", "evil.phcle", "c")):
        shown = phcle(*command).stdout
        assert "\x1b" not in shown
        assert "\\x1b]0;owned" in shown


@pytest.mark.parametrize(
    ("file", "message"),
    [("none.phcle", "no such file"), (".", "is a folder"), ("tree.csv", "not a phcle")],
)
def test_file_that_is_no_embedding_is_refused(phcle, file, message):
    assert message in phcle("info", file, code=2).stderr


def test_answers_about_several_labels_are_written_as_csv_and_json(phcle, fitted, zoo):
    (zoo / "some.txt").write_text("dog\nwolf\n")
    asked = ("cat", "some.txt")
    assert (
        "written to near.csv"
        in phcle("nearest", fitted, *asked, "-k", 2, "--out", "near.csv").stdout
    )
    rows = _rows(zoo / "near.csv")
    assert [row["label"] for row in rows] == [
        "cat",
        "cat",
        "dog",
        "dog",
        "wolf",
        "wolf",
    ]
    answer = json.loads(phcle("nearest", fitted, *asked, "-k", 2, "--json").stdout)
    assert rows[0]["nearest"] == answer[0]["neighbours"][0]["label"]
    phcle("nearest", fitted, *asked, "-k", 2, "--out", "near.json")
    assert json.loads((zoo / "near.json").read_text()) == answer

    shown = phcle("describe", fitted, "cat", "dog").stdout
    assert "cat: known in" in shown
    assert "dog: known in" in shown

    phcle("clusters", fitted, "-k", 2, "--out", "clusters.csv")
    rows = _rows(zoo / "clusters.csv")
    assert len(rows) == 7
    assert {row["cluster"] for row in rows} == {"1", "2"}
    assert all(row["cluster_name"] for row in rows)


def _rows(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_files_of_answers_must_have_a_known_ending(phcle, fitted):
    error = phcle("nearest", fitted, "cat", "--out", "x.doc", code=2).stderr
    assert "must be one of .csv, .tsv, .json" in error
    assert "nothing to describe" in phcle("describe", fitted, code=2).stderr
