"""`phcle check`: what files are, what is wrong with them, and the command to run."""

from __future__ import annotations

import json
import shlex

import pytest

from phcle import load


def answered(phcle, *arguments, code=0):
    return json.loads(phcle("check", *arguments, "--json", code=code).stdout)


def test_a_folder_is_enough(phcle):
    found = answered(phcle, ".")["files"]
    assert {file["file"]: file["kind"] for file in found} == {
        "tree.csv": "hierarchy",
        "looks.csv": "attributes",
        "uses.csv": "tags",
        "eats.csv": "edges",
        "names.csv": "names",
    }


@pytest.mark.parametrize("is_printed", [True, False])
def test_the_command_that_it_prints_fits_as_a_folder_does(phcle, zoo, is_printed):
    words = ["phcle", "fit", ".", "--out", "labels.phcle"]
    if is_printed:
        words = shlex.split(phcle("check", ".").stdout.splitlines()[-1])
    phcle(*words[1:], "--quiet", "--dim", 2)
    embedding = load(zoo / "labels.phcle")
    assert {context.name for context in embedding.contexts} >= {"tree", "looks", "uses"}
    assert "King of Beasts" in embedding.names.values()


def test_all_faults_of_all_files_are_listed_at_once_with_lines(phcle, zoo):
    (zoo / "tree.csv").write_text("child,parent\n,felid\ncat,felid\nlion\n")
    (zoo / "uses.csv").write_text("label,tag\n,pet\ndog,pet\ndog,guard\n")
    shown = phcle("check", "tree.csv", "uses.csv", code=2).stdout
    for place in ("tree.csv, line 2", "tree.csv, line 4", "uses.csv, line 2"):
        assert place in shown
    assert "3 faults to repair before a fit." in shown
    assert "Run next" not in shown


def test_suggested_spellings_are_written_for_fit(phcle, zoo):
    (zoo / "looks.csv").write_text("animal,weight\ncats,4\nlion,190\ntigerr,220\n")
    files = ("tree.csv", "looks.csv")
    last = phcle("check", *files, "--write-synonyms", "s.csv").stdout.splitlines()[-1]
    assert last.endswith("--synonyms s.csv")
    assert "cat,cats" in (zoo / "s.csv").read_text()
    phcle(*shlex.split(last)[1:], "--quiet", "--dim", 2)
    assert "cats" not in load(zoo / "labels.phcle").labels


def test_columns_are_shown_with_what_they_hold(phcle):
    looks = next(x for x in answered(phcle, ".")["files"] if x["kind"] == "attributes")
    known = {column["title"]: column["known"] for column in looks["columns"]}
    assert known == {"weight": 5, "stripes": 4}
    assert " ".join(looks) == (
        "file rows kind encoding delimiter columns remarks odd_cells why labels faults"
    )


def test_it_does_not_write_over_an_input(phcle):
    result = phcle("check", "tree.csv", "--write-synonyms", "tree.csv", code=2)
    assert "is an input" in result.stderr


def test_synonyms_of_the_user_are_not_suggested_again(phcle, zoo):
    (zoo / "looks.csv").write_text("animal,weight\ncats,4\nlion,190\nyak,500\n")
    files = ("tree.csv", "looks.csv")
    assert answered(phcle, *files)["match"]["suggestions"]
    (zoo / "s.csv").write_text("label,synonym\ncat,cats\n")
    for arguments in [(*files, "--synonyms", "s.csv"), (*files, "s.csv")]:
        found = answered(phcle, *arguments)
        assert not found["match"]["suggestions"]
        assert "--synonyms s.csv" in found["command"]
