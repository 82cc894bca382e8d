from __future__ import annotations

import json
import shutil
import sys

import pytest

from phcle_paper.command import main
from phcle_paper.studies.registry import STUDIES
from phcle_paper.tables.settings import TABLES


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def phcle_paper(folder, monkeypatch, capsys):
    """Call the command line; the exit code must be as expected."""

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["phcle-paper", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert (end.value.code or 0) == code
        return capsys.readouterr()

    return call


@pytest.fixture
def apy(folder, small_data):
    """A folder of data that holds aPY alone."""
    shutil.copytree(small_data / "xlsa17" / "APY", folder / "data" / "xlsa17" / "APY")
    return folder / "data"


def test_a_table_is_made_from_a_config(phcle_paper, apy, folder, small_table):
    (folder / "small.toml").write_text(small_table)
    command = (
        *("table2", "--data", apy, "--out", folder / "out"),
        *("--config", folder / "small.toml", "--splits", 2),
    )
    result = phcle_paper(*command, "--json")
    (table,) = json.loads(result.out)
    assert table["n_splits"] == 2
    assert "--splits 2" in table["command"]
    assert (folder / "out" / "table2-apy.md").is_file()
    again = phcle_paper(*command)
    assert "12 of 12 cells are finished already" in again.err
    assert "Random class splits, 2 of them" in again.out


def test_table1_takes_the_data_sets_that_are_there(phcle_paper, apy, folder):
    result = phcle_paper("table1", "--data", apy, "--out", folder / "out")
    assert "aPY, 22 classes" in result.out
    assert "table1-awa: left out" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel2"], "Did you mean 'table2'"),
        (["table2", "--dataset", "awa3"], "Did you mean 'awa'"),
        (["table2", "--dataset", "awa"], "xlsa17/AWA1"),
        (["table2", "--config", "none.toml"], "no such file"),
    ],
)
def test_the_command_says_what_is_wrong(phcle_paper, apy, arguments, message):
    result = phcle_paper(*arguments, "--data", apy, "--out", "o", code=2)
    assert message in result.err


def test_the_command_needs_data(phcle_paper, folder):
    result = phcle_paper("table2", "--data", "none", code=2)
    assert "no such folder" in result.err
    (folder / "empty").mkdir()
    result = phcle_paper("table2", "--data", "empty", code=2)
    assert "holds no data set with features" in result.err


def test_help_names_every_table_and_study(phcle_paper):
    text = " ".join(phcle_paper("--help").out.split())
    for name in (*TABLES, *STUDIES, "all"):
        assert name in text
