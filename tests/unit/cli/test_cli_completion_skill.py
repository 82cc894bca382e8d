"""How good a completion is, and which known cells are suspicious, in the shell."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest
from command_line import call
from patchy_table import WRONG, write_patchy_table

from phcle import load


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """What `phcle fit` says about a patchy table, and its file."""
    folder = tmp_path_factory.mktemp("patchy")
    write_patchy_table(folder)
    file = folder / "patchy.phcle"
    words = ["fit", "--hierarchy", folder / "tree.csv", "--dim", 8, "--out", file]
    words += ["--attributes", folder / "looks.csv"]
    return call(*words).stdout, file


def test_fit_and_info_say_how_good_the_completion_is(phcle, learned):
    said, file = learned
    line = "Completion of 5 columns on hidden cells: better than the best simple"
    assert line in said
    assert line in phcle("info", file).stdout
    answer = json.loads(phcle("info", file, "--json").stdout)["completion"]
    assert {x["column"] for x in answer["columns"]} == {
        *("mass", "length", "noise", "size", "wild")
    }


def test_fit_and_info_say_what_was_chosen(phcle, learned):
    for said in (learned[0], phcle("info", learned[1]).stdout):
        said = " ".join(said.split())
        assert "Chosen: tree as family; 8 dimensions; shrinkage looks" in said
        assert "looks: 'mass' fitted on a log scale" in said
    answer = json.loads(phcle("info", learned[1], "--json").stdout)["chosen"]
    assert answer["setting"]["roles"] == {"tree": "family"}


def test_evaluate_says_what_each_context_adds(phcle, learned):
    command = ("evaluate", learned[1], "--contexts")
    assert "looks: unknown, because no other table" in phcle(*command).stdout
    answer = json.loads(phcle(*command, "--json").stdout)
    tree, looks = answer["contexts"]
    assert tree["without"] < tree["skill"] - 0.1
    assert looks["verdict"] == "unknown"


def test_evaluate_shows_each_column_beside_the_rules(phcle, learned):
    said = phcle("evaluate", learned[1], "--complete").stdout
    assert said.startswith("Completion of 5 columns on hidden cells: better")
    titles = ("column", "cells", "PHCLE", "usual", "family", "PHCLE is")
    assert all(title in said for title in titles)
    assert "size: a simple rule is as good: family" in said
    assert "noise: a simple rule is " in said


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--contexts", "--complete"),
        ("--complete", "--features", "images"),
        ("--contexts", "--features", "images"),
    ],
)
def test_evaluate_needs_one_question(phcle, fitted, flags):
    said = phcle("evaluate", fitted, *flags, code=2).stderr
    assert "give one of --features FOLDER, --contexts and --complete" in said


def test_describe_shows_the_interval_of_a_number(phcle, learned):
    file = learned[1]
    for label in (f"x{i}" for i in range(40)):
        answer = json.loads(phcle("describe", file, label, "--json").stdout)
        numbers = [x for x in answer["predicted"] if x["low"] is not None]
        if numbers:
            break
    (first, *_) = numbers
    assert first["confidence"] is None
    assert first["low"] < first["value"] < first["high"]
    said = phcle("describe", file, label).stdout
    (row,) = [x for x in said.splitlines() if f"predicted   {first['name']} " in x]
    assert " to " in row
    assert "%" not in row


def test_suspicious_cells_are_written(phcle, learned, zoo):
    said = phcle("complete", learned[1], "--suspicious", "--out", "odd.csv").stdout
    with (zoo / "odd.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert said == f"written to odd.csv: {len(rows)} cells\n"
    assert list(rows[0]) == [
        *("label", "column", "value", "chance", "expected", "low", "high", "family")
    ]
    # Odd numbers may come before it.
    (wrong,) = [x for x in rows[:5] if (x["label"], x["column"]) == WRONG]
    assert (wrong["value"], wrong["expected"]) == ("large", "small")
    assert wrong["family"] == "small"
    assert float(wrong["chance"]) < 0.1


@pytest.fixture(scope="module")
def unpredicted(learned):
    """The file of the same fit without what it predicted, as older files are."""
    file = learned[1].with_name("old.phcle")
    replace(load(learned[1]), predictions={}).save(file)
    return file


def test_a_file_without_predictions_is_completed_from_its_vectors(
    phcle, unpredicted, zoo
):
    said = phcle("complete", unpredicted, "--out", "filled.csv")
    assert said.stderr.count("this fit did not predict gaps") == 1
    with (zoo / "filled.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {x["confidence"] + x["low"] for x in rows} == {""}
    sizes = {x["value"] for x in rows if x["column"] == "size"}
    assert sizes == {"small", "medium", "large"}


def test_a_file_without_predictions_says_that_nothing_was_measured(phcle, unpredicted):
    said = phcle("complete", unpredicted, "--suspicious")
    assert "did not predict gaps" in said.stderr
    assert "No known cell" not in said.stdout
    said = phcle("evaluate", unpredicted, "--complete", code=2).stderr
    assert "this fit did not predict gaps" in said
    assert phcle("info", unpredicted).stdout
    assert phcle("describe", unpredicted, "x7").stdout
