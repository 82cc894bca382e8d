from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import phcle
import phcle.cli.app as commands
from phcle.cli.app import app


@pytest.fixture
def without_paper(monkeypatch):
    """The command line of an installation that lacks phcle-paper."""
    own = typer.Typer(cls=app.info.cls)
    own.callback()(lambda: None)
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    commands.add_reproduce(own)
    return own


@pytest.mark.parametrize("words", [[], ["table2", "--data", "x", "--quick"], ["all"]])
def test_without_phcle_paper_the_command_says_how_to_install_it(without_paper, words):
    result = CliRunner().invoke(without_paper, ["reproduce", *words])
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "pip install phcle-paper" in line
    assert "pip install ./paper" in line


def test_the_help_page_names_the_package_too(without_paper):
    result = CliRunner().invoke(without_paper, ["reproduce", "--help"])
    assert result.exit_code == 0
    assert "phcle-paper" in result.stdout


def test_only_reproduce_imports_phcle_paper():
    source = Path(phcle.__file__).parent
    naming = [x for x in source.rglob("*.py") if "phcle_paper" in x.read_text()]
    assert naming == [source / "cli" / "app.py"]
