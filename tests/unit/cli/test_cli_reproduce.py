from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import phcle

WITHOUT_PAPER = """
import sys
sys.modules["phcle_paper"] = None  # as if it were not installed
from phcle.cli import main
main()
"""


def reproduce(*words):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_PAPER, "reproduce", *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", [[], ["table2", "--data", "x", "--quick"]])
def test_without_phcle_paper_the_command_says_how_to_install_it(words):
    done = reproduce(*words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "pip install phcle-paper" in line
    assert "pip install ./paper" in line


def test_the_help_page_names_the_package_too():
    done = reproduce("--help")
    assert done.returncode == 0
    assert "phcle-paper" in done.stdout


def test_only_reproduce_imports_phcle_paper():
    source = Path(phcle.__file__).parent
    naming = [x for x in source.rglob("*.py") if "phcle_paper" in x.read_text()]
    assert naming == [source / "cli" / "app.py"]
