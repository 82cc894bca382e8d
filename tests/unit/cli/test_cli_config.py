"""Options from a file count like flags, and flags count more."""

from __future__ import annotations

import json

import pytest

TREE = "child,parent\ncat,pet\ndog,pet\npike,fish\ncarp,fish\npet,animal\nfish,animal\n"
LOOKS = "label,fur,fins\ncat,1,0\ndog,1,0\npike,0,1\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree.csv").write_text(TREE)
    (tmp_path / "looks.csv").write_text(LOOKS)
    return tmp_path


def write(text):
    with open("run.toml", "w") as file:  # noqa: PTH123
        file.write(text)


CONFIG = """
[fit]
hierarchy = "tree.csv"
attributes = ["looks.csv"]
weights = { tree = 1, looks = 0.5 }
dim = 3
max-iter = 5
completion = "none"
out = "labels.phcle"

[nearest]
file = "labels.phcle"
labels = ["cat"]
k = 2
json = true
"""


def test_one_file_runs_several_commands(phcle, files):
    write(CONFIG)
    phcle("fit", "--config", "run.toml")
    info = json.loads(phcle("info", "labels.phcle", "--json").stdout)
    assert info["dim"] == 3
    assert info["options"]["max_iter"] == 5
    assert info["options"]["weights"] == {"tree": 1.0, "looks": 0.5}
    found = json.loads(phcle("nearest", "--config", "run.toml").stdout)
    assert len(found["neighbours"]) == 2


def test_a_flag_counts_more_than_the_file(phcle, files):
    write(CONFIG)
    phcle("fit", "--config", "run.toml", "--dim", "2")
    assert json.loads(phcle("info", "labels.phcle", "--json").stdout)["dim"] == 2


def test_a_file_without_tables_is_about_the_command_it_is_given_to(phcle, files):
    write('hierarchy = "tree.csv"\nout = "a.phcle"\ndim = 2\n')
    phcle("fit", "--config", "run.toml")
    assert (files / "a.phcle").exists()


def test_an_unknown_key_is_refused_with_the_nearest_spelling(phcle, files):
    write('hierarchy = "tree.csv"\nout = "a.phcle"\nmax_itr = 2\n')
    found = phcle("fit", "--config", "run.toml", code=2)
    assert "run.toml: fit has no option 'max_itr'" in found.stderr
    assert "'max-iter'" in found.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dim = ", "run.toml: is not TOML"),
        ("[report]\nout = 'x'\n", r"run.toml: has no table [fit]; it has report"),
        ("dim = [2, 3]\nout = 'x'\n", "run.toml, dim: takes one value"),
        ("dim = 'many'\nout = 'x'\nhierarchy = 'tree.csv'", "dim"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_name(phcle, files, text, said):
    write(text)
    found = phcle("fit", "--config", "run.toml", code=2)
    assert said in found.stderr


def test_a_file_that_is_not_there_is_named(phcle):
    said = phcle("fit", "--config", "nothing.toml", code=2).stderr
    assert "nothing.toml: no such file" in said
